#include "oracle/recording/scalar_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "sim/num/inputs/draw.h"

namespace tcq::oracle {
namespace {

using alu::ScalarForm;
using Word = std::uint64_t;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t warp_size = 32;

ScalarForm form_of(const ScalarCase& e) { return *alu::read_scalar_form(e.spelling); }

constexpr bool is_wide(ptx::Type type) { return ptx::bits(type) == 128; }

std::size_t width_of(const ScalarForm& s) { return static_cast<std::size_t>(alu::result_bytes(s)); }
std::size_t results_of_a_row(const ScalarForm& s) {
  return static_cast<std::size_t>(alu::result_count(s));
}

// May the form have these rows?
bool fits(const ScalarForm& s, ScalarRows rows) {
  const bool is_single = s.in.size() == 1 && !s.reads_carry;
  switch (rows) {
    case ScalarRows::Drawn: return true;
    case ScalarRows::EveryHalf:
      return is_single && (ptx::bits(s.in[0]) == 16 || ptx::bits(s.in[0]) == 32);
    case ScalarRows::Survey: break;
  }
  return s.form.types[0] == ptx::Type::F32 && s.form.has(ptx::Slot::Precision);
}

// ---- a warp of cells ----------------------------------------------------------------------------

// A register of 32 lanes, whatever its type.
struct Cells {
  alignas(16) std::array<Word, 2 * warp_size> words = {};

  void put(ptx::Type type, std::size_t lane, const Word* from) {
    auto* const narrow = reinterpret_cast<std::uint32_t*>(words.data());
    const int bits = ptx::bits(type);
    if (type == ptx::Type::Pred)
      narrow[0] |= static_cast<std::uint32_t>(*from != 0) << lane;
    else if (is_wide(type))
      words[2 * lane] = from[0], words[2 * lane + 1] = from[1];
    else if (bits == 64)
      words[lane] = *from;
    else
      narrow[lane] = static_cast<std::uint32_t>(*from) & (bits <= 16 ? 0xffff : 0xffffffff);
  }

  Word get(ptx::Type type, std::size_t lane, int half) const {
    const auto* const narrow = reinterpret_cast<const std::uint32_t*>(words.data());
    if (type == ptx::Type::Pred) return narrow[0] >> lane & 1;
    if (is_wide(type)) return words[2 * lane + static_cast<std::size_t>(half)];
    return ptx::bits(type) == 64 ? words[lane] : narrow[lane];
  }
};

// The rows of one warp through the ALU.
class Warp {
 public:
  static constexpr std::size_t most_sources = 16,
                               most_results = 4;  // those of mma.sync m16n8k16 of f64

  explicit Warp(const ScalarForm& s) : s_(s), evaluate_(alu::operation(s.form).evaluate) {}

  // Appends what the rows give.
  void run(const Word* rows, std::size_t stride, Bytes& out) {
    load(rows, stride);
    std::array<void*, most_results> to = {};
    for (std::size_t i = 0; i < most_results; ++i) to[i] = out_[i].words.data();
    std::array<const void*, most_sources> from = {};
    for (std::size_t i = 0; i < sources_; ++i) from[i] = in_[i].words.data();
    evaluate_({to.data(), from.data(), 0xffffffff, &carry_, static_cast<int>(s_.out.size()),
               static_cast<int>(sources_)});
    for (std::size_t lane = 0; lane < warp_size; ++lane) store(lane, out);
  }

 private:
  void load(const Word* rows, std::size_t stride) {
    in_ = {};
    out_ = {};
    carry_ = 0;
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      const Word* word = rows + lane * stride;
      sources_ = 0;
      for (const ptx::Type type : s_.in) {
        if (sources_ == 3 && s_.immediate) put_immediate(lane);
        in_[sources_++].put(type, lane, word);
        word += is_wide(type) ? 2 : 1;
      }
      if (sources_ == 3 && s_.immediate) put_immediate(lane);
      if (s_.reads_carry) carry_ |= static_cast<std::uint32_t>(has_carry(*word)) << lane;
    }
  }

  // Rows tell of a borrow where one is said, the condition code of a carry; each is the other's opposite.
  bool has_carry(Word told) const { return (told % 2 != 0) == (s_.chain == alu::Chain::Carry); }

  void put_immediate(std::size_t lane) {
    const Word word = *s_.immediate;
    in_[sources_++].put(ptx::Type::B32, lane, &word);
  }

  void store(std::size_t lane, Bytes& out) const {
    const std::size_t width = width_of(s_);
    const auto append = [&](Word word) {
      for (std::size_t i = 0; i < width; ++i)
        out.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
    };
    for (std::size_t i = 0; i < s_.out.size(); ++i)
      for (int half = 0; half < (is_wide(s_.out[i]) ? 2 : 1); ++half)
        append(out_[i].get(s_.out[i], lane, half));
    if (s_.sets_carry) append(has_carry(carry_ >> lane) ? 1 : 0);
  }

  const ScalarForm& s_;
  alu::Evaluate evaluate_;
  std::array<Cells, most_sources> in_;
  std::array<Cells, most_results> out_;
  std::size_t sources_ = 0;
  std::uint32_t carry_ = 0;
};

}  // namespace

void fields(Fields& io, ScalarCase& e) {
  constexpr std::uint64_t longest = 64;
  std::vector<std::uint8_t> text(e.spelling.begin(), e.spelling.end());
  io.list(text, 1, longest, "length of a form", 1);
  e.spelling.assign(text.begin(), text.end());
  if (!io.reads()) return;
  const auto form = alu::read_scalar_form(e.spelling);
  io.demand(form && fits(*form, e.kind), "recording holds a scalar form that is not known");
}

ScalarSources state(const ScalarCase& e, const Inputs& inputs) {
  const ScalarForm form = form_of(e);
  const auto stride = static_cast<std::size_t>(alu::source_words(form));
  const std::uint32_t rows = row_count(e.kind);
  ScalarSources sources{std::vector<Word>(rows * stride)};
  for (std::uint32_t row = 0; row < rows; ++row)
    draw_sources(form, e.kind, inputs.seed, row,
                 std::span<Word>(sources.words).subspan(row * stride, stride));
  return sources;
}

std::uint64_t hash_inputs(const ScalarSources& sources) {
  std::uint64_t hash = sources.words.size();
  for (const Word word : sources.words) hash = mix(hash ^ word);
  return hash;
}

Prediction predict(const ScalarCase& e, const Inputs&, const ScalarSources& before) {
  return {Fault::None, scalar_results(e, before)};
}

std::vector<std::uint8_t> scalar_results(const ScalarCase& e, const ScalarSources& sources) {
  const ScalarForm form = form_of(e);
  const auto stride = static_cast<std::size_t>(alu::source_words(form));
  Warp warp(form);
  Bytes results;
  results.reserve(scalar_result_bytes(e));
  for (std::uint32_t row = 0; row < row_count(e.kind); row += warp_size)
    warp.run(sources.words.data() + row * stride, stride, results);
  return results;
}

std::string describe(const ScalarCase& e, const Inputs&) {
  return fmt::format("{}, {} rows", e.spelling, row_count(e.kind));
}

std::string place(const ScalarCase& e, const Inputs& inputs, std::size_t at) {
  const ScalarForm form = form_of(e);
  const std::size_t number = at / output_width(e);
  const std::size_t row = number / results_of_a_row(form);
  std::vector<Word> words(static_cast<std::size_t>(alu::source_words(form)));
  draw_sources(form, e.kind, inputs.seed, static_cast<std::uint32_t>(row), words);
  return fmt::format("row {} ({:#x}) result {}", row, fmt::join(words, ", "),
                     number % results_of_a_row(form));
}

Properties properties(const ScalarCase& e, const Inputs&) {
  const ScalarForm form = form_of(e);
  Properties all = {std::string(ptx::row_of(form.form.opcode).name)};
  for (std::size_t begin = e.spelling.find('.'); begin != std::string::npos;) {
    const std::size_t end = e.spelling.find('.', begin + 1);
    all.push_back(e.spelling.substr(begin, end - begin));
    begin = end;
  }
  return all;
}

std::size_t output_width(const ScalarCase& e) { return width_of(form_of(e)); }

std::size_t scalar_result_bytes(const ScalarCase& e) {
  const ScalarForm form = form_of(e);
  return row_count(e.kind) * results_of_a_row(form) * width_of(form);
}

std::optional<std::size_t> output_bytes(const ScalarCase& e, const Inputs&) {
  return scalar_result_bytes(e);
}

}  // namespace tcq::oracle
