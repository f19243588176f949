#include "oracle/recording/scalar_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "sim/num/inputs/draw.h"

namespace tcq::oracle {
namespace {

using alu::ScalarForm;
using Word = std::uint64_t;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t warp_size = 32;
constexpr std::uint64_t word_values = 0x100000000;  // of 32 bits

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
    case ScalarRows::Survey:
    case ScalarRows::Dense: break;
  }
  return s.form.types[0] == ptx::Type::F32 && alu::operation(s.form).approximate &&
         (is_single || rows == ScalarRows::Survey);
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

// ---- approximate results ------------------------------------------------------------------------

// The distance of a result from its function, in bounds.
class Judge {
 public:
  Judge(const ScalarCase& e, const ScalarSources& sources)
      : form_(form_of(e)),
        operation_(alu::operation(form_.form)),
        stride_(static_cast<std::size_t>(alu::source_words(form_))),
        words_(sources.words) {}

  double operator()(std::size_t row, std::uint32_t got) const {
    std::array<std::uint32_t, 4> in = {};
    for (std::size_t i = 0; i < stride_; ++i)
      in[i] = static_cast<std::uint32_t>(words_[row * stride_ + i]);
    return operation_.distance(in.data(), got);
  }
  std::string complaint(double distance) const {
    return distance <= 1 ? ""
                         : fmt::format("{:.3g} times the bound of {}", distance, operation_.bound);
  }

 private:
  ScalarForm form_;
  alu::Operation operation_;
  std::size_t stride_;
  std::vector<Word> words_;
};

std::uint32_t number_at(const Bytes& bytes, std::size_t at, std::size_t width) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, width);
  return number;
}

Bytes worst_of(const Judge& judge, const Bytes& results) {
  const std::size_t rows = results.size() / 4;
  std::vector<std::uint32_t> told;
  for (std::size_t first = 0; first < rows; first += survey_group) {
    std::uint32_t worst = 0;
    double worst_distance = -1;
    for (std::uint32_t i = 0; i < survey_group; ++i) {
      const double distance = judge(first + i, number_at(results, 4 * (first + i), 4));
      if (distance > worst_distance) worst = i, worst_distance = distance;
    }
    told.insert(told.end(), {worst, number_at(results, 4 * (first + worst), 4)});
  }
  Bytes bytes(4 * told.size());
  std::memcpy(bytes.data(), told.data(), bytes.size());
  return bytes;
}

// The distance of an output, which tells its row itself in a survey.
double distance_of(const Judge& judge, const ScalarCase& e, std::size_t number, std::uint64_t got) {
  if (e.kind != ScalarRows::Survey) return judge(number, static_cast<std::uint32_t>(got));
  const std::uint64_t row = got % word_values;
  if (row >= survey_group) return INFINITY;
  return judge(number * survey_group + row, static_cast<std::uint32_t>(got / word_values));
}

Prediction within_bounds(const ScalarCase& e, const Inputs& inputs, const ScalarSources& sources) {
  Prediction p;
  p.output.resize(*output_bytes(e, inputs));
  p.refuses = [judge = Judge(e, sources), e, width = output_width(e)](std::size_t at,
                                                                      std::uint64_t got) {
    return judge.complaint(distance_of(judge, e, at / width, got));
  };
  return p;
}

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

Prediction predict(const ScalarCase& e, const Inputs& inputs, const ScalarSources& before) {
  if (alu::operation(form_of(e).form).distance != nullptr) return within_bounds(e, inputs, before);
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

double largest_distance(const ScalarCase& e, const ScalarSources& sources,
                        const std::vector<std::uint8_t>& output) {
  const Judge judge(e, sources);
  const std::size_t width = output_width(e);
  double largest = 0;
  for (std::size_t i = 0; i < output.size() / width; ++i) {
    std::uint64_t got = 0;
    std::memcpy(&got, output.data() + i * width, width);
    largest = std::max(largest, distance_of(judge, e, i, got));
  }
  return largest;
}

std::vector<std::uint8_t> scalar_output(const ScalarCase& e, const ScalarSources& sources,
                                        std::vector<std::uint8_t> results) {
  if (e.kind != ScalarRows::Survey) return results;
  return worst_of(Judge(e, sources), results);
}

std::string describe(const ScalarCase& e, const Inputs&) {
  return fmt::format("{}, {} rows", e.spelling, row_count(e.kind));
}

std::string place(const ScalarCase& e, const Inputs& inputs, std::size_t at) {
  const ScalarForm form = form_of(e);
  const std::size_t number = at / output_width(e);
  if (e.kind == ScalarRows::Survey)
    return fmt::format("the worst of rows {} to {}", number * survey_group,
                       (number + 1) * survey_group - 1);
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

std::size_t output_width(const ScalarCase& e) {
  return e.kind == ScalarRows::Survey ? 8 : width_of(form_of(e));
}

std::size_t scalar_result_bytes(const ScalarCase& e) {
  const ScalarForm form = form_of(e);
  return row_count(e.kind) * results_of_a_row(form) * width_of(form);
}

std::optional<std::size_t> output_bytes(const ScalarCase& e, const Inputs&) {
  if (e.kind == ScalarRows::Survey) return row_count(e.kind) / survey_group * 8;
  return scalar_result_bytes(e);
}

}  // namespace tcq::oracle
