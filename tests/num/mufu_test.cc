// The multi-function unit against the functions that it approximates, its special values, and what its pieces promise.
// The chip's own answers: tests/vectors/scalar_approx.tcqv.
#include "sim/num/mufu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tcq::mufu {
namespace {

float value(std::uint32_t word) { return std::bit_cast<float>(word); }
std::uint32_t word(float x) { return std::bit_cast<std::uint32_t>(x); }

// Column by column.
std::uint64_t square_of_columns(std::uint32_t x) {
  std::uint64_t sum = 0;
  for (int i = 0; i < 18; ++i)
    for (int j = i; j < 18; ++j) {
      const int column = i == j ? 2 * i : i + j + 1;
      const bool is_one = (x >> i & 1) != 0 && (x >> j & 1) != 0;
      if (is_one && column >= 19) sum += std::uint64_t{1} << column;
    }
  return sum;
}

TEST(Mufu, ASquareLacksItsLowColumns) {
  for (std::uint32_t x = 0; x < 1u << 18; x += 7) ASSERT_EQ(square(x), square_of_columns(x)) << x;
  EXPECT_EQ(square(0x1ffff), square_of_columns(0x1ffff));
}

template <class Function, class Exact>
double worst_error(Function function, Exact exact, float low, float high, bool is_absolute) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> any(low, high);
  double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    const float x = any(random);
    const double want = exact(static_cast<double>(x));
    const double error = std::fabs(value(function(word(x))) - want);
    worst = std::max(worst, is_absolute ? error : error / std::fabs(want));
  }
  return worst;
}

TEST(Mufu, FunctionsAreAsNearAsPtxSays) {
  const auto unary = [](auto f) { return [f](std::uint32_t x) { return f(x, f32); }; };
  EXPECT_LT(worst_error(
                unary(rcp), [](double x) { return 1 / x; }, 1, 4, false),
            0x1p-23);
  EXPECT_LT(worst_error(
                unary(rsqrt), [](double x) { return 1 / std::sqrt(x); }, 1, 4, false),
            0x1p-22);
  EXPECT_LT(worst_error(
                sqrt, [](double x) { return std::sqrt(x); }, 1, 4, false),
            0x1p-23);
  EXPECT_LT(worst_error(
                lg2, [](double x) { return std::log2(x); }, 0.5, 2, true),
            0x1p-22);
  EXPECT_LT(worst_error(
                unary(ex2), [](double x) { return std::exp2(x); }, -126, 127, false),
            0x1p-22);
  EXPECT_LT(worst_error(
                unary(tanh), [](double x) { return std::tanh(x); }, -9, 9, false),
            0x1p-15);
  for (const double quarters : {0.0, 1.0}) {
    const auto function = quarters == 0 ? sin_of_turns : cos_of_turns;
    const auto exact = [&](double x) { return std::sin(M_PI * (2 * x + quarters / 2)); };
    EXPECT_LT(worst_error(function, exact, -1, 1, true), 0x1p-20);
  }
}

TEST(Mufu, SpecialValues) {
  EXPECT_EQ(rcp(0x00000001), 0x7f800000u);  // subnormals are zero
  EXPECT_EQ(rcp(0x807fffff), 0xff800000u);
  EXPECT_EQ(rcp(0x7e800001), 0u);  // so are results
  EXPECT_EQ(rcp(0xff800000), 0x80000000u);
  EXPECT_EQ(rcp(0x3f800000), 0x3f800000u);
  EXPECT_EQ(rcp(0x40000000, f64_upper), 0x3fe00000u);
  EXPECT_EQ(rcp(0x7ff00001, f64_upper), 0x7fffffffu);
  EXPECT_EQ(rsqrt(0x80000000), 0xff800000u);
  EXPECT_EQ(rsqrt(0xbf800000), 0x7fffffffu);
  EXPECT_EQ(rsqrt(0x40800000), 0x3f000000u);
  EXPECT_EQ(sqrt(0x80000000), 0x80000000u);
  EXPECT_EQ(sqrt(0x7f800000), 0x7f800000u);
  EXPECT_EQ(lg2(0x3f800000), 0u);
  EXPECT_EQ(lg2(0x00000000), 0xff800000u);
  EXPECT_EQ(lg2(0x41000000), 0x40400000u);
  EXPECT_EQ(ex2(0xff800000), 0u);
  EXPECT_EQ(ex2(0x43000000), 0x7f800000u);
  EXPECT_EQ(ex2(0xc2fc0000), 0x00800000u);  // 2^-126
  EXPECT_EQ(ex2(0xc2fc0001), 0u);
  EXPECT_EQ(ex2(0x3c00, f16), 0x4000u);
  EXPECT_EQ(ex2(0xcb80, f16), 0x0200u);  // 2^-15 is subnormal
  EXPECT_EQ(ex2(0x4c00, f16), 0x7c00u);
  EXPECT_EQ(ex2(0x7f81, bf16), 0x7fffu);
  EXPECT_EQ(tanh(0x00000001), 0x00000001u);
  EXPECT_EQ(tanh(0xc1000000), 0xbf800000u);
  EXPECT_EQ(tanh(0x8001, f16), 0x8001u);
  EXPECT_EQ(tanh(0x0001, bf16), 0x0001u);
  EXPECT_EQ(sin_of_turns(0x3e800000), 0x3f800000u);
  EXPECT_EQ(cos_of_turns(0x00000000), 0x3f800000u);
  EXPECT_EQ(sin_of_turns(0x80000000), 0x80000000u);
  EXPECT_EQ(sin_of_turns(0x7f800000), 0x7fffffffu);
}

// Words that an H100 answered where neighbouring readings differ.
TEST(Mufu, WordsOfAChip) {
  EXPECT_EQ(lg2(0x3f021cd7), 0xbf79f433u);  // a negative sum is cut as its size
  EXPECT_EQ(lg2(0x3e27d23f), 0xc026fd6du);
  EXPECT_EQ(lg2(0x3f7fc7bd), 0xbaa265beu);
  EXPECT_EQ(ex2(0xcb07, f16), 0x03d9u);  // subnormals are cut
  EXPECT_EQ(tanh(0x3b80003f), 0x3b800000u);
}

}  // namespace
}  // namespace tcq::mufu
