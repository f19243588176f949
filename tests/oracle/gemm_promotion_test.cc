// FP8's promotion and factors in the reference: chains of 128 of K, each predicted alone, added here by hand.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "oracle/sum/gemm_reference.h"
#include "tests/support/gemm_case.h"

namespace tcq {
namespace {

using oracle::Gemm;

constexpr std::int64_t m = 21, n = 270, k = 300, blocks = 3;

float word(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// Of A: rows by blocks of K. Of B: blocks of K by columns, or by 128 of them.
std::vector<float> random_factors(std::size_t count, std::uint64_t seed) {
  Draw draw(seed);
  std::vector<float> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(
        word(make_float(Type::f32, draw.in(-4, 3), Fraction::Uniform, draw.one_in(4), draw)));
  return out;
}

GemmCase promoted_case() {
  Gemm g{.m = m, .n = n, .k = k, .in = Type::e4m3, .in_b = Type::e5m2, .out = Type::f32};
  g.promotes = true;
  return make_case(with_strides(g), false, Values::Near, 5);
}

// The f32 of a chain over one block of K.
std::vector<float> chain(const GemmCase& x, std::int64_t block) {
  Gemm g = x.gemm;
  g.promotes = g.scales_blocks = false;
  g.segments = {{block * 128, std::min<std::int64_t>(128, k - block * 128)}};
  std::vector<float> d(static_cast<std::size_t>(m * n));
  oracle::compute_gemm(g, {x.a.data(), x.b.data()}, d.data(), 1);
  return d;
}

void expect_equal(const GemmCase& x, const oracle::GemmData& data, const std::vector<float>& want) {
  std::vector<float> d(want.size());
  oracle::compute_gemm(x.gemm, data, d.data(), 1);
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(d[i]), std::bit_cast<std::uint32_t>(want[i])) << i;
  for (const std::int64_t row : {0, 20})
    for (const std::int64_t col : {0, 127, 128, 269})
      EXPECT_EQ(oracle::gemm_output(x.gemm, data, 0, row, col),
                std::bit_cast<std::uint32_t>(want[static_cast<std::size_t>(row * n + col)]));
}

TEST(GemmPromotion, ChainsOf128AreFusedWithTheirFactors) {
  GemmCase x = promoted_case();
  const auto a = random_factors(m * blocks, 1);
  const auto b = random_factors(3 * blocks, 2);
  x.gemm.scales_blocks = true;
  x.gemm.factors_a = {.line_step = blocks, .block_step = 1};
  x.gemm.factors_b = {.line_step = 1, .block_step = 3, .per = 128};
  std::vector<float> want(static_cast<std::size_t>(m * n));
  for (std::int64_t block = 0; block < blocks; ++block) {
    const auto sums = chain(x, block);
    for (std::int64_t i = 0; i < m * n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const float factor = a[static_cast<std::size_t>(i / n * blocks + block)] *
                           b[static_cast<std::size_t>(block * 3 + i % n / 128)];
      want[at] = std::fma(factor, sums[at], want[at]);
    }
  }
  expect_equal(x, {x.a.data(), x.b.data(), nullptr, nullptr, a.data(), b.data()}, want);
}

TEST(GemmPromotion, FactorsOfRowsAndColumnsMeetThePromotedSum) {
  GemmCase x = promoted_case();
  const auto a = random_factors(m, 3);
  const auto b = random_factors(n, 4);
  x.gemm.factors_a = x.gemm.factors_b = {.line_step = 1};
  std::vector<float> want(static_cast<std::size_t>(m * n));
  for (std::int64_t block = 0; block < blocks; ++block) {
    const auto sums = chain(x, block);
    for (std::size_t i = 0; i < want.size(); ++i) want[i] += sums[i];
  }
  for (std::int64_t i = 0; i < m * n; ++i)
    want[static_cast<std::size_t>(i)] *=
        a[static_cast<std::size_t>(i / n)] * b[static_cast<std::size_t>(i % n)];
  expect_equal(x, {x.a.data(), x.b.data(), nullptr, nullptr, a.data(), b.data()}, want);
}

// Each part of K is promoted by itself.
TEST(GemmPromotion, PartsOfKArePromotedAndThenAdded) {
  GemmCase x = promoted_case();
  x.gemm.segments = {{0, 256}, {256, 44}};
  const auto first = chain(x, 0), second = chain(x, 1), third = chain(x, 2);
  std::vector<float> want;
  for (std::size_t i = 0; i < first.size(); ++i) want.push_back((first[i] + second[i]) + third[i]);
  expect_equal(x, {x.a.data(), x.b.data()}, want);
}

}  // namespace
}  // namespace tcq
