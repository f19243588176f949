// Conversions in loops over the host's values give the bits of those through exact numbers.
//
// Of every form that has both ways: all words of at most 16 bits, and of wider ones what rounds, clamps and overflows
// at each power of two, at each exponent, and drawn ones.
#include <algorithm>
#include <set>
#include <span>

#include "sim/alu/conversion.h"
#include "sim/alu/forms.h"
#include "tests/alu/alu_kit.h"

namespace tcq::alu {
namespace {

using Words = std::vector<std::uint64_t>;

bool is_float(ptx::Type type) {
  return type == ptx::Type::F32 || type == ptx::Type::F64 || type == ptx::Type::F16 ||
         type == ptx::Type::BF16;
}

Words all_of_16_bits() {
  Words words;
  for (std::uint64_t word = 0; word < 0x10000; ++word) words.push_back(word);
  return words;
}

// Fractions that are zero, one, a half of every step there can be, and the words next to these.
void add_float(Words& words, std::uint64_t high, int fraction_bits, std::mt19937_64& random) {
  const std::uint64_t all = (std::uint64_t{1} << fraction_bits) - 1;
  for (int bit = 0; bit < fraction_bits; ++bit) {
    const std::uint64_t half = std::uint64_t{1} << bit;
    const std::uint64_t kept = random() & ~(2 * half - 1) & all;
    for (const std::uint64_t fraction : {half - 1, half, half + 1})
      for (const std::uint64_t above : {std::uint64_t{0}, kept, kept | 2 * half, ~(2 * half - 1)})
        words.push_back(high | ((above | fraction) & all));
  }
  words.push_back(high);
  words.push_back(high | all);
  for (int i = 0; i < 8; ++i) words.push_back(high | (random() & all));
}

Words floats(int exponent_bits, int fraction_bits, int every) {
  std::mt19937_64 random(5);
  Words words;
  const std::uint64_t last = (std::uint64_t{1} << exponent_bits) - 1;
  const std::uint64_t bias = last / 2;
  for (std::uint64_t field = 0; field <= last; ++field) {
    const bool is_near =
        field < 2 || last - field < 2 || (field + 160 > bias && field < bias + 160);
    if (!is_near && field % static_cast<std::uint64_t>(every) != 0) continue;
    for (const std::uint64_t sign : {0U, 1U})
      add_float(words, (sign << exponent_bits | field) << fraction_bits, fraction_bits, random);
  }
  return words;
}

Words integers(int bits) {
  std::mt19937_64 random(6);
  Words words = {0};
  for (int top = 0; top < bits; ++top)
    for (int low = 0; low <= top; ++low)
      for (const std::uint64_t middle : {std::uint64_t{0}, ~std::uint64_t{0}, random(), random()}) {
        const std::uint64_t one = std::uint64_t{1} << top, half = std::uint64_t{1} << low;
        const std::uint64_t kept = one | (middle & (one - 1) & ~(half - 1));
        for (const std::uint64_t word : {kept - 1, kept, kept + 1, kept ^ half})
          words.insert(words.end(), {word, 0 - word});
      }
  return words;
}

const Words& words_of(ptx::Type type) {
  static const Words narrow = all_of_16_bits(), f32 = floats(8, 23, 1), f64 = floats(11, 52, 16),
                     word = integers(32), wide = integers(64);
  if (type == ptx::Type::F32) return f32;
  if (type == ptx::Type::F64) return f64;
  if (ptx::bits(type) <= 16) return narrow;
  return ptx::bits(type) == 32 ? word : wide;
}

struct Ways {
  Evaluate exact, direct;
};

Register result(Evaluate evaluate, std::span<const Register> in) {
  Register out;
  void* const targets[] = {out.words.data()};
  const void* const sources[] = {in[0].words.data(), in[1].words.data()};
  std::uint32_t carry = 0;
  evaluate({targets, sources, 0xffffffff, &carry, 1, 2});
  return out;
}

void fill(Register& into, const Words& words, std::size_t first, int bits) {
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::uint64_t word = words[(first + lane) % words.size()];
    if (bits == 64)
      into.set(lane, word);
    else
      into.set(lane, static_cast<std::uint32_t>(bits == 32 ? word : word & 0xffff));
  }
}

// The second source, which only pairs have, is another word.
void expect_equal(const std::string& text, const Ways& ways, ptx::Type to, ptx::Type from) {
  const Words& words = words_of(from);
  Register in[2];
  for (std::size_t first = 0; first < words.size(); first += 32) {
    fill(in[0], words, first, ptx::bits(from));
    fill(in[1], words, first * 7 + 3, ptx::bits(from));
    const Register exact = result(ways.exact, in), direct = result(ways.direct, in);
    if (exact.words == direct.words) continue;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const bool is_wide = ptx::bits(to) == 64;
      const auto wanted = is_wide ? exact.get<std::uint64_t>(lane) : exact.words[lane];
      const auto got = is_wide ? direct.get<std::uint64_t>(lane) : direct.words[lane];
      ASSERT_EQ(got, wanted) << text << " of " << std::hex << words[(first + lane) % words.size()];
    }
  }
}

TEST(ConvertDirect, EqualsTheExactOneInEveryBit) {
  std::size_t both = 0;
  for (const std::string& text : scalar_forms()) {
    const ptx::Form form = ptx::read_form(text);
    if (form.opcode != ptx::Opcode::Cvt) continue;
    const Ways ways = {exact_conversion(form), alu::operation(form).evaluate};
    if (!is_float(form.types[0]) && !is_float(form.types[1]) && ptx::bits(form.types[0]) != 32)
      continue;
    if (ways.exact == nullptr || ways.exact == ways.direct) continue;
    ++both;
    expect_equal(text, ways, form.types[0], form.types[1]);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(both, 400U);
}

// What compiled kernels convert, none of which may fall back to exact numbers.
TEST(ConvertDirect, HasWhatKernelsUse) {
  for (const char* text :
       {"cvt.rn.f32.u32",      "cvt.rn.f32.s32",    "cvt.rn.f32.s64", "cvt.rz.f32.u64",
        "cvt.rn.f32.s8",       "cvt.rn.f64.s32",    "cvt.rm.f64.u64", "cvt.rzi.s32.f32",
        "cvt.rzi.ftz.u32.f32", "cvt.rni.s64.f64",   "cvt.f64.f32",    "cvt.rn.f32.f64",
        "cvt.sat.f32.f32",     "cvt.rmi.f32.f32",   "cvt.rn.f16.f32", "cvt.rn.bf16.f32",
        "cvt.rn.f16x2.f32",    "cvt.rn.bf16x2.f32", "cvt.f32.f16",    "cvt.f32.bf16",
        "cvt.rna.tf32.f32"}) {
    const ptx::Form form = ptx::read_form(text);
    EXPECT_NE(alu::operation(form).evaluate, exact_conversion(form)) << text;
  }
}

TEST(ConvertDirect, LeavesLanesThatDoNotExecute) {
  Outcome before;
  before.first = Register::of<std::uint32_t>({77});
  const Register in = Register::of<std::uint32_t>({3});
  const Outcome after = run("cvt.rn.f32.u32", {in}, 0x00000010, before);
  EXPECT_EQ(after.first.words[3], 77U);
  EXPECT_EQ(after.first.words[4], std::bit_cast<std::uint32_t>(3.0F));
}

}  // namespace
}  // namespace tcq::alu
