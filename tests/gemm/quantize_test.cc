// The quantiser of FP8 operands on the host: factors and elements of every block, what is rounded how, what is refused.
// Its kernel: tests/run/run_quantize_test.cc.
#include "cuda/gemm/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "cuda/gemm/quantize_blocks.h"
#include "sim/num/float_bits.h"
#include "sim/num/inputs/draw.h"
#include "sim/num/quantize.h"

namespace tcq::gemm {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::uint8_t fp8(Type type, float x) {
  return narrow_quantized(type, std::bit_cast<std::uint32_t>(x));
}

double value(Type type, std::uint8_t code) {
  const Decoded d = decode_float(type, code);
  return std::ldexp(d.significand, d.exponent - float_format(type).fraction_bits);
}

TEST(Quantize_Fp8, IsTheNearestOfAllCodes) {
  Draw draw(3);
  for (const Type type : {Type::e4m3, Type::e5m2, Type::e2m1}) {
    const int largest = type == Type::e2m1 ? 7 : type == Type::e4m3 ? 0x7e : 0x7b;
    for (int i = 0; i < 20000; ++i) {
      const float x = std::bit_cast<float>(
          make_float(Type::f32, draw.in(-20, 17), Fraction::Uniform, draw.one_in(2), draw));
      const double magnitude = std::abs(static_cast<double>(x));
      int best = 0;
      for (int code = 0; code <= largest; ++code) {
        const double here = std::abs(value(type, static_cast<std::uint8_t>(code)) - magnitude);
        const double there = std::abs(value(type, static_cast<std::uint8_t>(best)) - magnitude);
        if (here < there || (here == there && code % 2 == 0)) best = code;
      }
      EXPECT_EQ(fp8(type, x), best | (x < 0 ? 1 << (bits(type) - 1) : 0)) << x;
    }
  }
}

TEST(Quantize_Fp8, TiesSubnormalsAndWhatIsBeyond) {
  EXPECT_EQ(fp8(Type::e4m3, 17), 0x58);  // between 16 and 18: the even one
  EXPECT_EQ(fp8(Type::e4m3, 19), 0x5a);
  EXPECT_EQ(fp8(Type::e4m3, 0x1p-10f), 0);
  EXPECT_EQ(fp8(Type::e4m3, 0x1.8p-9f), 2);
  EXPECT_EQ(fp8(Type::e4m3, 448), 0x7e);
  EXPECT_EQ(fp8(Type::e4m3, 1e30f), 0x7e);
  EXPECT_EQ(fp8(Type::e4m3, -infinity), 0xfe);
  EXPECT_EQ(fp8(Type::e5m2, infinity), 0x7b);
  EXPECT_EQ(fp8(Type::e5m2, 61440), 0x7b);
  EXPECT_EQ(fp8(Type::e4m3, nan), 0x7f);
  EXPECT_EQ(fp8(Type::e5m2, -nan), 0x7f);
  EXPECT_EQ(fp8(Type::e4m3, -0.0f), 0x80);
  EXPECT_EQ(fp8(Type::e4m3, 1e-44f), 0);
  EXPECT_EQ(fp8(Type::e2m1, 2.5f), 4);  // between 2 and 3: the even one
  EXPECT_EQ(fp8(Type::e2m1, -0.75f), 0xa);
  EXPECT_EQ(fp8(Type::e2m1, -infinity), 0xf);
  EXPECT_EQ(fp8(Type::e2m1, -nan), 7);
}

TEST(Quantize_Fp8, Factors) {
  EXPECT_EQ(block_factor_of(3.5f, Type::e4m3, false), 3.5f / 448);
  EXPECT_EQ(block_factor_of(3.5f, Type::e4m3, true), 0.0078125f);
  EXPECT_EQ(block_factor_of(3.6f, Type::e4m3, true), 0.015625f);
  EXPECT_EQ(block_factor_of(1, Type::e5m2, false), 1.0f / 57344);
  EXPECT_EQ(block_factor_of(0, Type::e4m3, true), 1);
  EXPECT_EQ(block_factor_of(1e-40f, Type::e4m3, false), 0x1p-126f);
  EXPECT_EQ(finite_magnitude(-2), 2);
  EXPECT_EQ(finite_magnitude(infinity), 0);
  EXPECT_EQ(finite_magnitude(nan), 0);
}

TEST(Quantize_Codes, OfUe4m3AreTheNearest) {
  Draw draw(4);
  constexpr auto ue4m3 = tcgen05::ScaleType::ue4m3;
  for (int i = 0; i < 20000; ++i) {
    const float x = std::bit_cast<float>(
        make_float(Type::f32, draw.in(-14, 10), Fraction::Uniform, false, draw));
    const int nearest = std::clamp<int>(fp8(Type::e4m3, x), 1, 0x7e);
    const float factor = nearest_ue4m3(x);
    EXPECT_EQ(static_cast<double>(factor), value(Type::e4m3, static_cast<std::uint8_t>(nearest)));
    EXPECT_EQ(code_of_factor(factor, ue4m3), nearest) << x;
  }
  for (int code = 1; code <= 0x7e; ++code) {  // themselves, and what lies between two of them
    const auto here = static_cast<float>(value(Type::e4m3, static_cast<std::uint8_t>(code)));
    EXPECT_EQ(nearest_ue4m3(here), here);
    if (code == 0x7e) continue;
    const auto next = static_cast<float>(value(Type::e4m3, static_cast<std::uint8_t>(code + 1)));
    EXPECT_EQ(nearest_ue4m3((here + next) / 2), code % 2 == 0 ? here : next);
  }
}

TEST(Quantize_Codes, OfABlock) {
  using enum tcgen05::ScaleType;
  const auto code = [](float largest, Type type, tcgen05::ScaleType of) {
    return code_of_factor(coded_factor_of(largest, type, of), of);
  };
  EXPECT_EQ(code(3.5f, Type::e4m3, ue8m0), 120);  // 2^-7
  EXPECT_EQ(code(3.6f, Type::e4m3, ue8m0), 121);
  EXPECT_EQ(code(6, Type::e2m1, ue8m0), 127);
  EXPECT_EQ(code(0, Type::e5m2, ue8m0), 127);
  EXPECT_EQ(code(1e-45f, Type::e5m2, ue8m0), 1);
  EXPECT_EQ(code(std::numeric_limits<float>::max(), Type::e2m1, ue8m0), 253);
  EXPECT_EQ(code(3.5f, Type::e2m1, ue4m3), 0x31);  // 0.5625
  EXPECT_EQ(code(0, Type::e2m1, ue4m3), 0x38);
  EXPECT_EQ(code(1e-30f, Type::e2m1, ue4m3), 1);
  EXPECT_EQ(code(1e30f, Type::e2m1, ue4m3), 0x7e);
}

// Of 300 x 200: element (row, col), and its block's factor.
TEST(Quantize_Host, BlocksAndStrides) {
  Draw draw(5);
  constexpr std::int64_t rows = 300, columns = 200;
  for (int block = 0; block < quantize_block_count; ++block) {
    for (const Major major : {Major::K, Major::MN}) {
      Quantize q{.rows = rows, .columns = columns, .in = Type::f32};
      q.block = static_cast<QuantizeBlock>(block);
      q.major_factors = major;
      q.ld_source = 203;
      q.ld_target = 211;
      q.ld_factors = (major == Major::K ? factor_blocks(q) : factor_lines(q)) + 3;
      std::vector<float> source(rows * 203);
      for (float& x : source) x = static_cast<float>(draw.in(-1000, 1000)) * 0.37f;
      std::vector<std::uint8_t> target(rows * 211, 0xaa);
      std::vector<float> factors(4000, -1);
      ASSERT_EQ(quantize_on_host(q, source.data(), target.data(), factors.data()), Status::Ok);
      const int down = q.block == QuantizeBlock::Block128 ? 128 : 1;
      const int across = q.block == QuantizeBlock::Row ? 1000 : 128;
      for (std::int64_t row = 0; row < rows; row += 7) {
        for (std::int64_t col = 0; col < columns; ++col) {
          float largest = 0;
          for (std::int64_t r = row / down * down;
               r < std::min<std::int64_t>(rows, row / down * down + down); ++r)
            for (std::int64_t c = col / across * across;
                 c < std::min<std::int64_t>(columns, col / across * across + across); ++c)
              largest = std::max(largest, std::abs(source[static_cast<std::size_t>(r * 203 + c)]));
          const std::int64_t line = row / down, kb = col / across;
          const auto at = static_cast<std::size_t>(major == Major::K ? line * q.ld_factors + kb
                                                                     : kb * q.ld_factors + line);
          ASSERT_EQ(factors[at], largest / 448);
          ASSERT_EQ(target[static_cast<std::size_t>(row * 211 + col)],
                    fp8(Type::e4m3,
                        source[static_cast<std::size_t>(row * 203 + col)] * (1 / factors[at])));
        }
        EXPECT_EQ(target[static_cast<std::size_t>(row * 211 + columns)], 0xaa);
      }
      EXPECT_EQ(std::count(factors.begin(), factors.end(), -1.0f),
                4000 - factor_lines(q) * factor_blocks(q));
    }
  }
}

TEST(Quantize_Host, SixteenBitsAndSpecials) {
  Quantize q{.rows = 1, .columns = 4, .in = Type::f16, .out = Type::e5m2};
  const std::uint16_t halves[] = {0x3c00, 0x7c00, 0xfe00, 0x8001};  // 1, infinity, NaN, -2^-24
  std::uint8_t target[4];
  float factor = 0;
  ASSERT_EQ(quantize_on_host(q, halves, target, &factor), Status::Ok);
  EXPECT_EQ(factor, 1.0f / 57344);
  EXPECT_EQ(target[0], 0x7b);
  EXPECT_EQ(target[1], 0x7b);
  EXPECT_EQ(target[2], 0x7f);
  EXPECT_EQ(target[3], fp8(Type::e5m2, -0x1p-24f * (1 / factor)));
  q.in = Type::bf16;
  const std::uint16_t bf16s[] = {0, 0x8000, 0, 0};
  ASSERT_EQ(quantize_on_host(q, bf16s, target, &factor), Status::Ok);
  EXPECT_EQ(factor, 1);
  EXPECT_EQ(target[1], 0x80);
}

TEST(Quantize_Check, WhatIsWrongIsNamed) {
  const float at[4] = {};
  Quantize q{.rows = 3, .columns = 5};
  EXPECT_EQ(check(q, at, at, at), Status::Ok);
  EXPECT_EQ(check(q, nullptr, at, at), Status::NullPointer);
  EXPECT_EQ(
      check(q, at, at, reinterpret_cast<const float*>(reinterpret_cast<std::uintptr_t>(at) + 2)),
      Status::Misaligned);
  const auto with = [&](auto change) {
    Quantize other = q;
    change(other);
    return check(other, at, at, at);
  };
  EXPECT_EQ(with([](Quantize& x) { x.rows = -1; }), Status::NegativeSize);
  EXPECT_EQ(with([](Quantize& x) { x.columns = std::int64_t{1} << 31; }), Status::SizeTooLarge);
  EXPECT_EQ(with([](Quantize& x) { x.in = Type::e4m3; }), Status::UnsupportedTypes);
  EXPECT_EQ(with([](Quantize& x) { x.out = Type::s8; }), Status::UnsupportedTypes);
  EXPECT_EQ(with([](Quantize& x) { x.block = static_cast<QuantizeBlock>(3); }),
            Status::UnsupportedTypes);
  EXPECT_EQ(with([](Quantize& x) { x.ld_source = 4; }), Status::LeadingDimensionTooSmall);
  EXPECT_EQ(with([](Quantize& x) { x.ld_target = 4; }), Status::LeadingDimensionTooSmall);
  EXPECT_EQ(with([](Quantize& x) { x.ld_factors = 0; }), Status::LeadingDimensionTooSmall);
  EXPECT_EQ(with([](Quantize& x) { x.ld_source = std::int64_t{1} << 57; }), Status::SizeTooLarge);
  q.rows = 0;
  EXPECT_EQ(check(q, nullptr, nullptr, nullptr), Status::Ok);
}

// A run is 16 bytes of a 16-bit source and 8 of the target.
TEST(Quantize_Launch, RunsWhereAllLinesAllowThem) {
  alignas(16) std::array<std::uint8_t, 64> bytes{};
  const Quantize q{.rows = 4, .columns = 24};
  const auto runs = [&](Quantize of, int from = 0, int to = 0) {
    return quantize_teams(of, bytes.data() + from, bytes.data() + to).runs;
  };
  const auto with = [&](auto change) {
    Quantize of = q;
    change(of);
    return of;
  };
  EXPECT_TRUE(runs(q));
  EXPECT_TRUE(runs(q, 16, 8));
  EXPECT_FALSE(runs(q, 8, 0));
  EXPECT_FALSE(runs(q, 0, 4));
  EXPECT_FALSE(runs(with([](Quantize& of) { of.columns = 20, of.ld_source = of.ld_target = 24; })));
  EXPECT_FALSE(runs(with([](Quantize& of) { of.ld_source = 28; })));
  EXPECT_FALSE(runs(with([](Quantize& of) { of.ld_target = 28; })));
  EXPECT_TRUE(runs(with([](Quantize& of) { of.in = Type::f32, of.ld_source = 28; })));
}

// As long as a CTA's threads can.
TEST(Quantize_Launch, TeamsHoldTheirRows) {
  const auto threads = [](std::int64_t columns, Type in = Type::bf16) {
    return quantize_teams({.rows = 1, .columns = columns, .in = in, .block = QuantizeBlock::Row},
                          nullptr, nullptr)
        .threads;
  };
  EXPECT_EQ(threads(8), 32);
  EXPECT_EQ(threads(2048), 32);
  EXPECT_EQ(threads(2056), 64);
  EXPECT_EQ(threads(4104), 128);
  EXPECT_EQ(threads(8200), 256);
  EXPECT_EQ(threads(20000), 256);
  EXPECT_EQ(threads(4096, Type::f32), 128);
  EXPECT_EQ(threads(2049), 256);  // no runs
}

// Every block is some team's, and no CTA is without any.
TEST(Quantize_Launch, GridsHoldAllBlocks) {
  Draw draw(6);
  for (int i = 0; i < 300; ++i) {
    const auto block = static_cast<QuantizeBlock>(i % quantize_block_count);
    const Quantize q{.rows = draw.in(1, 700), .columns = draw.in(1, 9000), .block = block};
    const bool runs = draw.one_in(2);
    const QuantizeTeams teams{quantize_teams(q, nullptr, nullptr).threads, runs};
    const QuantizeGrid grid = quantize_grid(q, teams);
    const std::int64_t lines = std::int64_t{grid.below} * quantize_rows(block, runs);
    EXPECT_GE(grid.ctas_beside * grid.beside, shape_of(q).across);
    EXPECT_LT((grid.ctas_beside - 1) * grid.beside, shape_of(q).across);
    EXPECT_GE(grid.ctas_below * lines, q.rows);
    EXPECT_LT((grid.ctas_below - 1) * lines, q.rows);
    EXPECT_EQ(static_cast<int>(grid.beside * grid.below) * teams.threads,
              teams.threads <= quantize_warp ? quantize_threads : teams.threads);
  }
  const Quantize wide{.rows = 1, .columns = std::int64_t{1} << 31};
  EXPECT_EQ(quantize_grid(wide, {quantize_threads_of_vector, true}).ctas_beside, 65535u);
}

}  // namespace
}  // namespace tcq::gemm
