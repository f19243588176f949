#include "oracle/recording/statement_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "oracle/recording/case_draw.h"
#include "oracle/recording/float_words.h"
#include "oracle/recording/kernel_prediction.h"
#include "oracle/recording/statement_rows.h"
#include "oracle/recording/suites.h"

namespace tcq::oracle {
namespace {

using Word = std::uint64_t;

constexpr std::size_t memory_bytes = std::size_t{statement_ctas} * statement_cta_bytes;

const StatementRow& row_of(const StatementCase& e) { return *find_statement(e.name); }

// ---- drawn memory -------------------------------------------------------------------------------

// Without exponent: integers.
FloatWords format_of(Elements elements) {
  switch (elements) {
    case Elements::F16: return f16_words;
    case Elements::BF16: return bf16_words;
    case Elements::F32: return f32_words;
    case Elements::F64: return f64_words;
    default: return {0, 0};
  }
}

std::size_t bytes_of(Elements elements) {
  switch (elements) {
    case Elements::F16:
    case Elements::BF16: return 2;
    case Elements::Bits64:
    case Elements::F64: return 8;
    default: return 4;
  }
}

Word integer(std::size_t bytes, Draw& draw) {
  const Word word = word64(draw);
  const auto top = static_cast<int>(8 * bytes - 1);
  switch (draw.below(6)) {
    case 0: return word % 4 - 1;
    case 1: return (Word{1} << top) + word % 3 - 1;
    default: return word;
  }
}

Word element(Elements elements, Draw& draw) {
  const FloatWords format = format_of(elements);
  if (format.exponent_bits == 0) return integer(bytes_of(elements), draw);
  static const auto specials = [](const FloatWords& f) { return special_floats(f); };
  if (!draw.one_in(3)) return draw_float(format, draw);
  const std::vector<Word> values = specials(format);
  return values[static_cast<std::size_t>(draw.below(static_cast<int>(values.size())))];
}

// What a thread finds in its word of x or g and what it brings meet as a pair: now and then one is near the other.
void relate(Elements elements, Draw& draw, const std::uint8_t* old, std::uint8_t* brought) {
  const FloatWords format = format_of(elements);
  const std::size_t width = bytes_of(elements);
  if (format.exponent_bits == 0) return;
  for (std::size_t at = 0; at < 16; at += width) {
    if (!draw.one_in(3)) continue;
    Word word = 0;
    std::memcpy(&word, old + at, width);
    word = related_float(format, word, draw);
    std::memcpy(brought + at, &word, width);
  }
}

std::vector<std::uint8_t> known_but_x() {
  std::vector<std::uint8_t> known(memory_bytes, 0xff);
  for (std::size_t cta = 0; cta < statement_ctas; ++cta)
    std::fill_n(known.begin() + static_cast<std::ptrdiff_t>(cta * statement_cta_bytes),
                statement_shared_bytes, std::uint8_t{0});
  return known;
}

}  // namespace

void fields(Fields& io, StatementCase& e) {
  name_field(io, e.name, "length of a statement");
  io.demand(!io.reads() || find_statement(e.name) != nullptr,
            "recording holds a statement that is not known");
}

KernelMemory state(const StatementCase& e, const Inputs& inputs) {
  const Elements elements = row_of(e).elements;
  const std::size_t width = bytes_of(elements);
  KernelMemory memory{std::vector<std::uint8_t>(memory_bytes), statement_text(row_of(e))};
  std::uint8_t* const bytes = memory.bytes.data();
  for (std::size_t at = 0; at < memory_bytes; at += width) {
    Draw draw(mix(inputs.seed) ^ at);
    const Word word = element(elements, draw);
    std::memcpy(bytes + at, &word, width);
  }
  constexpr std::size_t g = 2 * statement_shared_bytes, words = g + statement_shared_bytes;
  for (std::size_t cta = 0; cta < statement_ctas; ++cta)
    for (std::size_t thread = 0; thread < statement_threads; ++thread) {
      std::uint8_t* const own = bytes + cta * statement_cta_bytes;
      Draw draw(mix(inputs.seed + 1) ^ (cta * statement_threads + thread));
      const std::uint8_t* const old =
          own + (e.name.find("global") != e.name.npos ? g : 0) + 16 * thread;
      relate(elements, draw, old, own + words + 32 * thread);
    }
  return memory;
}

Prediction predict(const StatementCase& e, const Inputs&, KernelMemory before) {
  run::Launch launch;
  launch.grid = launch.cluster = {statement_ctas};
  launch.block = {statement_threads};
  Prediction p =
      predict_kernel(before.text, e.name, std::move(launch), before.bytes, row_of(e).map);
  if (!p.output.empty() && row_of(e).is_x_open) p.known = known_but_x();
  return p;
}

std::string describe(const StatementCase& e, const Inputs&) { return e.name; }

std::string place(const StatementCase&, const Inputs&, std::size_t at) {
  constexpr const char* names[] = {"x", "y", "g"};
  const std::size_t cta = at / statement_cta_bytes, within = at % statement_cta_bytes;
  if (within < 3 * statement_shared_bytes) {
    const std::size_t offset = within % statement_shared_bytes;
    return fmt::format("CTA {} thread {} {} byte {}", cta, offset / 16,
                       names[within / statement_shared_bytes], offset % 16);
  }
  const std::size_t offset = within - 3 * statement_shared_bytes;
  return fmt::format("CTA {} thread {} word {} byte {}", cta, offset / 32, offset % 32 / 8,
                     offset % 8);
}

Properties properties(const StatementCase& e, const Inputs&) {
  return {e.name.substr(0, e.name.find_first_of(". ")), e.name};
}

std::size_t output_bytes(const StatementCase&, const Inputs&) { return memory_bytes; }

std::vector<Case> statements(std::uint64_t seed) {
  constexpr int rounds_of_floats = 4;
  std::vector<Case> cases;
  for (const StatementRow& row : statement_rows()) {
    std::uint64_t hash = seed;
    for (const char letter : row.name) hash = mix(hash ^ static_cast<unsigned char>(letter));
    const bool is_float = format_of(row.elements).exponent_bits != 0;
    for (int round = 0; round < (is_float ? rounds_of_floats : 1); ++round) {
      Case& c = cases.emplace_back(StatementCase{row.name});
      c.seed = mix(hash + static_cast<std::uint64_t>(round));
    }
  }
  return cases;
}

}  // namespace tcq::oracle
