// Several elements of a register at once: comparisons of pairs, packing, and the first guesses of f64.
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "tests/alu/alu_kit.h"

namespace tcq::alu {
namespace {

using Bits = std::uint32_t;
constexpr Bits nan_f16 = 0x7e00;
constexpr Bits one_f16 = 0x3c00;
constexpr Bits two_f16 = 0x4000;

Register filled(Bits x) { return Register::of<Bits>({x}); }
Bits pair(Bits low, Bits high) { return low | high << 16; }

Bits word_of(const std::string& text, const std::vector<Bits>& operands) {
  std::vector<Register> in;
  for (const Bits word : operands) in.push_back(filled(word));
  return run(text, in, 0xffffffff, {}, 1).first.get<Bits>(7);
}

TEST(Packed, SetComparesEachHalfForItself) {
  const Bits x = pair(one_f16, two_f16);
  const Bits y = pair(two_f16, one_f16);
  EXPECT_EQ(word_of("set.lt.f16x2.f16x2", {x, y}), pair(one_f16, 0));
  EXPECT_EQ(word_of("set.gt.u32.f16x2", {x, y}), pair(0, 0xffff));
  EXPECT_EQ(word_of("set.ge.bf16x2.bf16x2", {pair(0x3f80, 0x4000), pair(0x3f80, 0x4040)}),
            pair(0x3f80, 0));
  EXPECT_EQ(word_of("set.ne.f16x2.f16x2", {pair(nan_f16, one_f16), x}), 0U | one_f16 << 16);
  EXPECT_EQ(word_of("set.neu.f16x2.f16x2", {pair(nan_f16, two_f16), x}), pair(one_f16, 0));
  EXPECT_EQ(word_of("set.eq.ftz.u32.f16x2", {pair(0x0001, 0x0400), 0}), pair(0xffff, 0));
  EXPECT_EQ(word_of("set.lt.u16.f16", {one_f16, two_f16}), 0xffffU);
  EXPECT_EQ(word_of("set.lt.f16.f16", {one_f16, two_f16}), one_f16);
}

TEST(Packed, SetpGivesAPredicateForEachHalf) {
  const Bits x = pair(one_f16, two_f16);
  const Bits y = pair(two_f16, one_f16);
  const Outcome plain = run("setp.lt.f16x2", {filled(x), filled(y)});
  EXPECT_EQ(plain.first.words[0], 0xffffffffU);
  EXPECT_EQ(plain.second.words[0], 0U);
  const Outcome joined =
      run("setp.lt.xor.f16x2", {filled(x), filled(y), Register::mask(0x0000ffff)});
  EXPECT_EQ(joined.first.words[0], 0xffff0000U);
  EXPECT_EQ(joined.second.words[0], 0x0000ffffU);
}

TEST(Packed, PackClampsAndKeepsWhatIsLeftOfC) {
  const auto minus = [](int x) { return static_cast<Bits>(-x); };
  EXPECT_EQ(word_of("cvt.pack.sat.s8.s32.b32", {300, minus(300), 0x12345678}), 0x56787f80U);
  EXPECT_EQ(word_of("cvt.pack.sat.u8.s32.b32", {300, minus(1), 0x12345678}), 0x5678ff00U);
  EXPECT_EQ(word_of("cvt.pack.sat.u16.s32", {70000, 3}), 0xffff0003U);
  EXPECT_EQ(word_of("cvt.pack.sat.s4.s32.b32", {minus(9), 5, 0x00abcdef}), 0xabcdef85U);
}

double guess(const std::string& text, double x) {
  return run(text, {Register::of<double>({x})}, 0xffffffff, {}, 1).first.get<double>(3);
}

TEST(Packed, FirstGuessesOfF64HaveTheUpperHalfAlone) {
  const double third = guess("rcp.approx.ftz.f64", 3.0);
  EXPECT_NEAR(third * 3, 1, 0x1p-20);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(third) & 0xffffffff, 0U);
  EXPECT_NE(third, 1 / 3.0);
  EXPECT_NEAR(guess("rsqrt.approx.ftz.f64", 2.0) * std::sqrt(2.0), 1, 0x1p-20);
  EXPECT_EQ(guess("rcp.approx.ftz.f64", -0x1p-1030), -INFINITY);
  EXPECT_EQ(guess("rcp.approx.ftz.f64", INFINITY), 0);
  EXPECT_TRUE(std::isnan(guess("rsqrt.approx.ftz.f64", -1.0)));
}

// Software, for all of f64.
TEST(Packed, RootsOfF64WithoutFtzHaveAllBits) {
  EXPECT_NEAR(guess("rsqrt.approx.f64", 2.0) * std::sqrt(2.0), 1, 0x1p-51);
  EXPECT_EQ(guess("rsqrt.approx.f64", 0x1p-1074), 0x1p537);
  EXPECT_EQ(guess("rsqrt.approx.f64", 0.0), INFINITY);
}

}  // namespace
}  // namespace tcq::alu
