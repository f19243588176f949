#include "oracle/recording/scalar_sources.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "oracle/recording/float_words.h"
#include "oracle/recording/matrix_sources.h"

namespace tcq::oracle {
namespace {

using alu::ScalarForm;
using ptx::Opcode;
using ptx::Type;
using Word = std::uint64_t;

// ---- integers -----------------------------------------------------------------------------------

Word draw_integer(int width, Draw& draw) {
  const Word word = word64(draw);
  constexpr int most_shift = 70;
  switch (draw.below(8)) {
    case 0: return word % 4;
    case 1: return ~(word % 4);
    case 2: return (Word{1} << (width - 1)) + word % 3 - 1;
    case 3: return word % most_shift;
    case 4: return Word{1} << word % static_cast<Word>(width);
    case 5: return low_word(static_cast<int>(word % static_cast<Word>(width)) + 1);
    default: return word;
  }
}

Word related_integer(int width, Word x, Draw& draw) {
  switch (draw.below(4)) {
    case 0: return x;
    case 1: return 0 - x;
    case 2: return ~x;
    default: return x + (Word{1} << draw.below(width));
  }
}

// ---- by type ------------------------------------------------------------------------------------

// The elements of a type: floats of a format, or integers.
struct Elements {
  FloatWords format;  // without exponent: integers
  int width, count;
};

Elements elements_of(Type type) {
  switch (type) {
    case Type::F16: return {f16_words, 16, 1};
    case Type::BF16: return {bf16_words, 16, 1};
    case Type::F16x2: return {f16_words, 16, 2};
    case Type::BF16x2: return {bf16_words, 16, 2};
    case Type::F32:
    case Type::TF32: return {f32_words, 32, 1};
    case Type::F64: return {f64_words, 64, 1};
    case Type::U16x2:
    case Type::S16x2: return {{}, 16, 2};
    default: return {{}, std::clamp(ptx::bits(type), 16, 64), 1};
  }
}

struct Row {
  const ScalarForm& form;
  std::uint32_t number;
  Draw& draw;
  std::span<Word> out;

  Type type(std::size_t i) const { return form.in[i]; }
};

Word fresh(const Elements& e, Draw& draw) {
  return e.format.exponent_bits == 0 ? draw_integer(e.width, draw) : draw_float(e.format, draw);
}

Word related(const Elements& e, Word x, Draw& draw) {
  return e.format.exponent_bits == 0 ? related_integer(e.width, x, draw)
                                     : related_float(e.format, x, draw);
}

// The element at `shift` of source i.
Word element(const Row& row, const Elements& e, std::size_t i, int shift) {
  Draw& draw = row.draw;
  const bool sees_same = i > 0 && row.type(i) == row.type(i - 1);
  const Opcode opcode = row.form.form.opcode;
  const bool is_sum = opcode == Opcode::Fma || opcode == Opcode::Mad;
  const bool is_product = is_sum || opcode == Opcode::Mul || opcode == Opcode::Div;
  const auto before = [&](std::size_t back) { return row.out[i - back] >> shift; };
  if (sees_same && e.format.exponent_bits != 0) {
    if (i == 2 && is_sum && draw.one_in(3)) return cancelling(e.format, before(2), before(1), draw);
    if (i == 2 && is_sum && draw.one_in(4))
      return static_cast<Word>(draw.below(2)) * e.format.sign();
    if (i == 1 && is_product && draw.one_in(6))
      return at_a_limit(e.format, before(1), opcode == Opcode::Div, draw);
  }
  if (sees_same && draw.one_in(3)) return related(e, before(1), draw);
  return fresh(e, draw);
}

Word drawn(const Row& row, std::size_t i) {
  if (row.type(i) == Type::Pred) return static_cast<Word>(row.draw.below(2));
  const Elements e = elements_of(row.type(i));
  Word word = 0;
  for (int part = 0; part < e.count; ++part) {
    const int shift = part * e.width;
    word |= (element(row, e, i, shift) & low_word(e.width)) << shift;
  }
  return word;
}

// Every special value of the first source with every one of the second; the row's number is a number of a pair.
void place_specials(const Row& row) {
  std::uint32_t rest = row.number;
  for (std::size_t i = 0; i < std::min<std::size_t>(row.form.in.size(), 2); ++i) {
    const Elements e = elements_of(row.type(i));
    if (e.format.exponent_bits == 0) return;
    const std::vector<Word> values = special_floats(e.format);
    const auto count = static_cast<std::uint32_t>(values.size());
    if (i == 0 && rest >= (row.form.in.size() > 1 ? count * count : count)) return;
    Word word = 0;
    for (int part = 0; part < e.count; ++part)
      word |= values[(rest + static_cast<std::uint32_t>(part)) % count] << (part * e.width);
    row.out[i] = word;
    rest /= count;
  }
}

// ---- lanes of a warp ----------------------------------------------------------------------------

constexpr Word all_members = 0xffffffff;

void place_shuffle(const Row& row) {
  const Word segments[] = {0, 16, 24, 28, 30, 31};
  Draw warp(mix(row.number / 32));  // most shuffles have one pattern for the warp
  Draw& draw = row.draw.one_in(8) ? row.draw : warp;
  const Word segment = segments[draw.below(6)];
  const Word clamp = row.form.form.get<ptx::Shuffle>() == ptx::Shuffle::Up ? 0 : 31;
  row.out[1] = static_cast<Word>(draw.below(draw.one_in(4) ? 70 : 32));
  row.out[2] = segment * 256 + (draw.one_in(4) ? static_cast<Word>(draw.below(32)) : clamp);
}

// Votes that agree, and values that meet: rarely so in drawn lanes.
void place_agreement(const Row& row) {
  Draw warp(mix(row.number / 32));
  const int kind = warp.below(4);
  const Word value = warp.word();
  if (row.type(0) == Type::Pred) {
    if (kind < 2) row.out[0] = static_cast<Word>(kind);
    if (kind == 2) row.out[0] = row.number % 32 == value % 32 ? 1 : 0;
  } else {
    if (kind == 0) row.out[0] = value;
    if (kind == 1) row.out[0] = value + static_cast<Word>(row.draw.below(3));
  }
}

void place_special_operands(const Row& row) {
  switch (row.form.form.opcode) {
    case Opcode::ShflSync: place_shuffle(row); break;
    case Opcode::VoteSync:
    case Opcode::MatchSync: place_agreement(row); break;
    case Opcode::ReduxSync:
    case Opcode::ElectSync: break;
    case Opcode::Fns:  // other bases have no meaning
      row.out[1] %= 32;
      row.out[2] = static_cast<std::uint32_t>(row.draw.in(-34, 34));
      return;
    default: return;
  }
  row.out[row.form.in.size() - 1] = all_members;
}

// ---- surveys ------------------------------------------------------------------------------------

// From where to where a function is not what its specials or its symmetries say.
struct Domain {
  double low, high;
};

Domain domain_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::Ex2: return {-150, 130};
    case Opcode::Sin:
    case Opcode::Cos: return {-6.5, 6.5};
    case Opcode::Tanh: return {-10, 10};
    case Opcode::Lg2: return {0.5, 2};
    default: return {1, 4};
  }
}

// Rows lie side by side in groups.
constexpr std::uint32_t survey_groups = 256, survey_group = 4096;

void survey(const Row& row) {
  const std::uint32_t group = row.number / survey_group;
  const std::size_t last = row.form.in.size() - 1;
  Draw& draw = row.draw;
  const auto within = [&](const Domain& d, double part) {
    return Word{std::bit_cast<std::uint32_t>(static_cast<float>(d.low + (d.high - d.low) * part))};
  };
  const auto uniform = [&] { return std::ldexp(static_cast<double>(draw.word()), -32); };
  const Domain domain = domain_of(row.form.form.opcode);
  if (group < survey_groups / 2) {  // two binades of one sign
    for (std::size_t i = 0; i < last; ++i) row.out[i] = draw.word();
    row.out[last] = Word{group} << 25 | draw.word() % (1u << 25);
    return;
  }
  const double slice = (group - survey_groups / 2 + uniform()) / (survey_groups / 2);
  for (std::size_t i = 0; i < last; ++i) row.out[i] = within(domain, uniform());
  row.out[last] = within(domain, slice);
}

}  // namespace

std::uint32_t row_count(ScalarRows rows) {
  switch (rows) {
    case ScalarRows::Drawn: return 4096;
    case ScalarRows::EveryHalf: return 65536;
    case ScalarRows::Survey: break;
  }
  return survey_groups * survey_group;
}

void draw_sources(const ScalarForm& form, ScalarRows rows, std::uint64_t seed, std::uint32_t number,
                  std::span<Word> out) {
  if (!form.vectors.empty()) return draw_fragments(form, seed, number, out);
  Draw draw(mix(seed + number));
  const Row row{form, number, draw, out};
  if (rows == ScalarRows::EveryHalf) {
    constexpr Word half = 0xffff;
    out[0] = ptx::bits(form.in[0]) == 16 ? number : number + (number * 40503u & half) * (half + 1);
    return;
  }
  if (rows == ScalarRows::Survey) return survey(row);
  for (std::size_t i = 0; i < form.in.size(); ++i) out[i] = drawn(row, i);
  if (form.in.size() == 1 && ptx::bits(form.in[0]) == 128) out[1] = word64(draw);
  if (form.reads_carry) out.back() = static_cast<Word>(draw.below(2));
  place_specials(row);
  place_special_operands(row);
}

}  // namespace tcq::oracle
