// oracle/gemm_reference against chains of simulated wgmmas, and the laws of its epilogue.
#include "oracle/sum/gemm_reference.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>

#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/isa/wgmma/tile.h"
#include "sim/machine/wgmma.h"
#include "sim/num/narrow.h"
#include "sim/num/tcgen05_dot.h"
#include "tests/support/gemm_case.h"

namespace tcq {
namespace {

using oracle::Gemm;

constexpr int tile_n = 8;
constexpr std::array<Type, 5> all_in = {Type::f16, Type::bf16, Type::tf32, Type::s8, Type::u8};

// Writes one operand of an instruction where the descriptor reads it; zeros outside.
void place(SharedMemory& shared, const wgmma::MatrixDescriptor& desc, Type type, int rows, int k,
           const std::function<std::uint32_t(int, int)>& element) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < k; ++j) {
      const std::uint32_t at = wgmma::element_address(
          desc, Major::K, type, {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)});
      oracle::store_element(type, shared.data() + (at - shared.base()), 0, element(i, j));
    }
  }
}

// The sum of one output, by executing whole instructions: a 64 x 8 tile that holds it.
std::uint32_t executed_sum(const GemmCase& x, std::int64_t row, std::int64_t col) {
  const Gemm& g = x.gemm;
  const wgmma::Form form{wgmma::widest_d(g.in), g.in, g.in, tile_n};
  const int step = wgmma::stored_k(g.in);
  const wgmma::MatrixDescriptor desc_a{1024, 0, 256, 0, Swizzle::B32};
  const wgmma::MatrixDescriptor desc_b{8192, 0, 256, 0, Swizzle::B32};
  wgmma::State state;
  state.shared = SharedMemory(shared_base_sm90, 16384);
  state.registers.d.resize(
      static_cast<std::size_t>(128 * wgmma::accumulator_registers(form.d, tile_n)));
  const std::int64_t first_row = row / 64 * 64;
  const std::int64_t first_col = col / tile_n * tile_n;
  for (std::int64_t k = 0; k < g.k; k += step) {
    place(state.shared, desc_a, g.in, 64, step, [&](int i, int j) {
      const bool inside = first_row + i < g.m && k + j < g.k;
      return inside ? oracle::load_element(g.in, x.a.data(), (first_row + i) * g.a.ld + k + j) : 0u;
    });
    place(state.shared, desc_b, g.in, tile_n, step, [&](int i, int j) {
      const bool inside = first_col + i < g.n && k + j < g.k;
      return inside ? oracle::load_element(g.in, x.b.data(), (first_col + i) * g.b.ld + k + j) : 0u;
    });
    const wgmma::Instruction mma{form, 0, encode(desc_a), encode(desc_b), k > 0};
    EXPECT_EQ(wgmma::execute(state, mma), Fault::None);
  }
  const int registers = wgmma::accumulator_registers(form.d, tile_n);
  for (int thread = 0; thread < 128; ++thread) {
    for (int r = 0; r < registers; ++r) {
      const wgmma::Element e = wgmma::accumulator_element(form.d, {thread, r});
      if (first_row + e.row == row && first_col + e.col == col)
        return state.registers.d[static_cast<std::size_t>(thread * registers + r)];
    }
  }
  return 0xdeadbeef;
}

Gemm small(Type in, Type out, std::int64_t m, std::int64_t n, std::int64_t k) {
  return with_strides({.m = m, .n = n, .k = k, .in = in, .out = out});
}

TEST(Gemm_Reference, EqualsAChainOfExecutedInstructions) {
  for (const Type in : all_in) {
    for (const Values values : {Values::Near, Values::Wide, Values::Specials}) {
      const Type out = wgmma::widest_d(in);
      const GemmCase x = make_case(small(in, out, 70, 19, 77), false, values, 7);
      const auto d = x.expected();
      for (const std::int64_t row : {0, 5, 31, 64, 69}) {
        for (const std::int64_t col : {0, 7, 8, 18}) {
          const std::uint32_t got =
              oracle::load_element(out, d.data() + x.d.first, row * x.gemm.d.ld + col);
          EXPECT_EQ(got, executed_sum(x, row, col)) << name(in) << " " << row << " " << col;
        }
      }
    }
  }
}

TEST(Gemm_Reference, VectorsOfSumsEqualTheDefinitionInEveryBit) {
  for (const Type in : all_in) {
    for (const Values values : {Values::Near, Values::Wide, Values::Specials}) {
      const Type out = wgmma::widest_d(in);
      const GemmCase x = make_case(small(in, out, 9, 37, 131), false, values, 11);
      const auto d = x.expected(2);
      for (std::int64_t row = 0; row < x.gemm.m; ++row) {
        for (std::int64_t col = 0; col < x.gemm.n; ++col)
          ASSERT_EQ(oracle::load_element(out, d.data() + x.d.first, row * x.gemm.d.ld + col),
                    oracle::gemm_output(x.gemm, x.data(), 0, row, col))
              << name(in) << " " << row << " " << col;
      }
    }
  }
}

// --- chains of other instructions ------------------------------------------------------------------

struct ChainCase {
  Type a;
  Type b;
  oracle::GemmChain chain;
};

std::vector<ChainCase> chain_cases() {
  using tcgen05::Kind;
  std::vector<ChainCase> out;
  for (const Type d : {Type::f16, Type::f32}) {
    out.push_back({Type::f16, Type::f16, {.d = d}});
    out.push_back({Type::f16, Type::f16, {.kind = Kind::f16, .d = d}});
    for (const Type a : {Type::e4m3, Type::e5m2})
      for (const Type b : {Type::e4m3, Type::e5m2}) out.push_back({a, b, {.d = d}});
    for (const Type a : {Type::e4m3, Type::e5m2, Type::e2m3, Type::e3m2, Type::e2m1})
      for (const Type b : {Type::e4m3, Type::e5m2, Type::e2m3, Type::e3m2, Type::e2m1})
        out.push_back({a, b, {.kind = Kind::f8f6f4, .d = d}});
  }
  out.push_back({Type::bf16, Type::bf16, {.kind = Kind::f16}});
  out.push_back({Type::tf32, Type::tf32, {.kind = Kind::tf32}});
  for (const bool saturate : {false, true}) {
    out.push_back({Type::s8, Type::u8, {.saturate = saturate}});
    out.push_back({Type::u8, Type::s8, {.kind = Kind::i8, .saturate = saturate}});
  }
  return out;
}

// One instruction, asked at the front doors of sim/num.
std::uint32_t stepped(const ChainCase& x, const std::uint32_t* a, const std::uint32_t* b, int count,
                      std::uint32_t c) {
  const Type d = x.chain.d.value_or(wgmma::widest_d(x.a));
  if (!x.chain.kind) return dot({d, x.a, x.b}, a, b, count, c, {.satfinite = x.chain.saturate});
  const tcgen05::InstructionDescriptor idesc{
      .d = d, .a = x.a, .b = x.b, .saturate = x.chain.saturate};
  return tcgen05::dot({{*x.chain.kind}, idesc}, {a, b, c});
}

std::uint32_t chained(const ChainCase& x, const GemmCase& g, std::int64_t row, std::int64_t col) {
  const int step = x.a == Type::tf32 ? 8 : bits(x.a) == 16 ? 16 : 32;
  std::uint32_t total = 0;
  for (const oracle::GemmSegment& s : g.gemm.segments) {
    std::uint32_t sum = 0;
    for (std::int64_t k = 0; k < s.count; k += step) {
      std::array<std::uint32_t, 32> a{};
      std::array<std::uint32_t, 32> b{};
      for (std::int64_t i = 0; i < std::min<std::int64_t>(step, s.count - k); ++i) {
        const auto at = static_cast<std::size_t>(i);
        a[at] = oracle::load_element(x.a, g.a.data(), row * g.gemm.a.ld + s.first + k + i);
        b[at] = oracle::load_element(x.b, g.b.data(), col * g.gemm.b.ld + s.first + k + i);
      }
      sum = stepped(x, a.data(), b.data(), step, sum);
    }
    if (x.chain.d == Type::f16)
      sum = std::bit_cast<std::uint32_t>(static_cast<float>(oracle::element_value(Type::f16, sum)));
    total = s.first == 0 ? sum : oracle::add_f32(total, sum);
  }
  return x.chain.d == Type::f16 ? oracle::add_f32(total, 0) : total;  // one canonical NaN
}

TEST(Gemm_Reference, ChainsOfEveryInstruction) {
  for (const ChainCase& x : chain_cases()) {
    for (const Values values : {Values::Near, Values::Wide, Values::Specials}) {
      const Type out = wgmma::widest_d(x.a);
      Gemm g = small(x.a, out, 5, 9, 203);
      g.in_b = x.b;
      g.chain = x.chain;
      g.segments = {{0, 203}};
      if (is_float(x.a)) g.segments = {{0, 128}, {128, 75}};
      const GemmCase c = make_case(g, false, values, 21);
      const auto d = c.expected(1);
      for (std::int64_t row = 0; row < g.m; ++row) {
        for (std::int64_t col = 0; col < g.n; ++col) {
          const std::uint32_t want = chained(x, c, row, col);
          ASSERT_EQ(oracle::load_element(out, d.data() + c.d.first, row * g.d.ld + col), want)
              << name(x.a) << " " << name(x.b) << " " << row << " " << col;
          ASSERT_EQ(oracle::gemm_output(g, c.data(), 0, row, col), want);
        }
      }
    }
  }
}

// Uniform bits: exponents of the whole range, overflowing sums that stay infinite.
TEST(Gemm_Reference, OverflowingChainsStayInfinite) {
  for (const Type in : {Type::bf16, Type::tf32}) {
    GemmCase x = make_case(small(in, Type::f32, 3, 5, 64), false, Values::Near, 1);
    Draw draw(5);
    for (std::int64_t i = 0; i < 3 * 64; ++i)
      oracle::store_element(in, x.a.data(), i, make_float(in, 120, Fraction::Ones, false, draw));
    for (std::int64_t i = 0; i < 5 * 64; ++i)
      oracle::store_element(in, x.b.data(), i,
                            make_float(in, 20, Fraction::Ones, i % 64 > 20, draw));
    const auto d = x.expected(1);
    for (int i = 0; i < 15; ++i)
      EXPECT_EQ(oracle::load_element(Type::f32, d.data() + x.d.first, i), 0x7f800000u);
  }
}

TEST(Gemm_Reference, ARowDoesNotDependOnM) {
  const GemmCase all = make_case(small(Type::bf16, Type::bf16, 65, 40, 200), true, Values::Wide, 3);
  GemmCase one = all;
  one.gemm.m = 1;
  const auto d = all.expected();
  const auto first = one.expected();
  EXPECT_EQ(std::memcmp(d.data() + all.d.first, first.data() + all.d.first, 40 * 2), 0);
}

TEST(Gemm_Reference, MajorAndStridesMoveBytesOnly) {
  for (const Type in : all_in) {
    const Type out = wgmma::widest_d(in);
    const Gemm k_major = small(in, out, 33, 21, 50);
    Gemm mn_major = k_major;
    mn_major.major_a = mn_major.major_b = Major::MN;
    mn_major.batch = 2;
    mn_major = with_strides(mn_major, 3, 5, 7);
    const GemmCase x = make_case(k_major, false, Values::Near, 2);
    GemmCase y = make_case(mn_major, false, Values::Near, 2);
    for (std::int64_t k = 0; k < 50; ++k) {
      for (std::int64_t i = 0; i < 33; ++i)
        oracle::store_element(in, y.a.data(), y.gemm.a.batch + k * y.gemm.a.ld + i,
                              oracle::load_element(in, x.a.data(), i * 50 + k));
      for (std::int64_t i = 0; i < 21; ++i)
        oracle::store_element(in, y.b.data(), y.gemm.b.batch + k * y.gemm.b.ld + i,
                              oracle::load_element(in, x.b.data(), i * 50 + k));
    }
    const auto want = x.expected();
    const auto got = y.expected();
    for (std::int64_t i = 0; i < 33; ++i) {
      for (std::int64_t j = 0; j < 21; ++j)
        ASSERT_EQ(
            oracle::load_element(out, got.data() + y.d.first, y.gemm.d.batch + i * y.gemm.d.ld + j),
            oracle::load_element(out, want.data() + x.d.first, i * 21 + j));
    }
  }
}

TEST(Gemm_Reference, WritesNothingBetweenAndAroundTheRows) {
  Gemm g{.m = 5, .n = 3, .k = 4, .batch = 2, .in = Type::f16, .out = Type::f16};
  g = with_strides(g, 0, 0, 4);
  const GemmCase x = make_case(g, false, Values::Near, 9, {0, 0, 1});
  const auto d = x.expected();
  std::size_t changed = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const std::size_t element = (i - x.d.first) / 2;
    const bool inside = i >= x.d.first && element < 70 && element % 7 < 3;
    if (!inside) {
      EXPECT_EQ(d[i], 0xa5) << i;
    }
    changed += d[i] != 0xa5 ? 1 : 0;
  }
  EXPECT_GT(changed, 40u);
}

TEST(Gemm_Reference, SegmentsAreAddedInTheirOrder) {
  const std::array<float, 4> a = {1, 16777216, -16777216, 1};
  const std::array<float, 4> b = {1, 1, 1, 1};
  Gemm g = small(Type::tf32, Type::f32, 1, 1, 4);
  float d = 0;
  const auto sum = [&](std::vector<oracle::GemmSegment> segments) {
    g.segments = std::move(segments);
    oracle::compute_gemm(g, {a.data(), b.data()}, &d, 1);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(d),
              oracle::gemm_output(g, {a.data(), b.data()}, 0, 0, 0));
    return d;
  };
  EXPECT_EQ(sum({}), 2.0f);                                // one fused sum
  EXPECT_EQ(sum({{0, 2}, {2, 2}}), 1.0f);                  // 2^24 + 1 is cut to 24 bits
  EXPECT_EQ(sum({{0, 1}, {1, 1}, {2, 1}, {3, 1}}), 1.0f);  // 1 + 2^24 rounds to 2^24
  EXPECT_EQ(sum({{1, 1}, {2, 1}, {0, 1}, {3, 1}}), 2.0f);
}

TEST(Gemm_Reference, WithoutKTheSumIsZero) {
  Gemm g = small(Type::bf16, Type::f32, 2, 2, 0);
  g.beta = 2;
  const std::array<float, 4> c = {1, 2, 3, 4};
  const std::array<float, 2> bias = {10, 20};
  std::array<float, 4> d{};
  oracle::compute_gemm(g, {nullptr, nullptr, c.data(), bias.data()}, d.data(), 1);
  EXPECT_EQ(d, (std::array<float, 4>{12, 24, 16, 28}));
}

// --- the epilogue ----------------------------------------------------------------------------------

std::uint32_t finished(Gemm g, float sum, float c, float bias) {
  g.out = Type::f32;
  return oracle::finish_output(g, {nullptr, nullptr, &c, &bias}, std::bit_cast<std::uint32_t>(sum),
                               0, 0, 0);
}

TEST(Gemm_Epilogue, IsEveryStepRoundedToF32) {
  Gemm g{.in = Type::f16, .alpha = 0.5f, .beta = 2, .activation = Activation::Relu};
  EXPECT_EQ(finished(g, 6, 5, 0.25f), std::bit_cast<std::uint32_t>(13.25f));
  EXPECT_EQ(finished(g, 6, -5, 0.25f), 0u);
  g.activation = Activation::None;
  // beta * C is fused with alpha * sum: 3 * (1 + 2^-23) + -3 keeps the tail.
  g.alpha = 1;
  g.beta = 3;
  EXPECT_EQ(finished(g, -3, std::bit_cast<float>(0x3f800001u), 0),
            std::bit_cast<std::uint32_t>(3.0f / 8388608));
  // The bias is added after that: 2^24 + 1 is lost.
  g.beta = 0;
  EXPECT_EQ(finished(g, 16777216, 0, 1), std::bit_cast<std::uint32_t>(16777216.0f));
}

TEST(Gemm_Epilogue, NaNsAreCanonical) {
  Gemm g{.in = Type::f16, .beta = 1};
  EXPECT_EQ(finished(g, 1, std::bit_cast<float>(0xffc12345u), 0), canonical_nan_f32);
  EXPECT_EQ(finished(g, INFINITY, -INFINITY, 0), canonical_nan_f32);
  for (const Activation a :
       {Activation::Relu, Activation::Gelu, Activation::Silu, Activation::GeluErf}) {
    g.activation = a;
    EXPECT_EQ(finished(g, 1, NAN, 0), canonical_nan_f32);
  }
}

TEST(Gemm_Epilogue, AGatedActivationMakesOneColumnOfTwo) {
  Gemm g{
      .m = 3, .n = 6, .k = 1, .in = Type::bf16, .out = Type::f32, .activation = Activation::Swiglu};
  g.a.ld = g.b.ld = 1;
  g.d.ld = 4;
  const std::array<std::uint16_t, 3> a = {0x3f80, 0xbf80, 0x4000};  // 1, -1, 2
  const std::array<std::uint16_t, 6> b = {0x3f80, 0x4000, 0x4040, 0x4080, 0xbf80, 0x3f00};
  const std::array<float, 6> column = {1, 2, 3, 4, -1, 0.5f};
  const std::array<float, 3> row = {1, -1, 2};
  const std::array<float, 6> bias = {0.5f, 1, 2, 3, 5, 8};
  const oracle::GemmData data = {a.data(), b.data(), nullptr, bias.data()};
  std::array<float, 12> d{};
  oracle::compute_gemm(g, data, d.data(), 1);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const float want = swiglu(row[i] * column[2 * j] + bias[2 * j],
                                row[i] * column[2 * j + 1] + bias[2 * j + 1]);
      EXPECT_EQ(d[4 * i + j], want) << i << " " << j;
      EXPECT_EQ(oracle::gemm_output(g, data, 0, static_cast<std::int64_t>(i),
                                    static_cast<std::int64_t>(j)),
                std::bit_cast<std::uint32_t>(want));
    }
    EXPECT_EQ(d[4 * i + 3], 0) << "nothing between the rows";
  }
}

// More columns than the reference takes at one time.
TEST(Gemm_Epilogue, AGatedActivationOfManyColumns) {
  Gemm g{.m = 1, .n = 1100, .k = 1, .in = Type::bf16, .out = Type::f32};
  g.activation = Activation::Swiglu;
  g.a.ld = g.b.ld = 1;
  g.d.ld = 550;
  const std::uint16_t one = 0x3f80;
  const std::vector<std::uint16_t> b(1100, one);
  std::vector<float> d(1100);
  oracle::compute_gemm(g, {&one, b.data()}, d.data(), 1);
  for (std::size_t j = 0; j < 1100; ++j) EXPECT_EQ(d[j], j < 550 ? swiglu(1, 1) : 0) << j;
}

TEST(Gemm_Epilogue, IntegersBecomeF32ToNearestEven) {
  const Gemm g{.in = Type::s8, .out = Type::f32, .alpha = 1};
  EXPECT_EQ(oracle::finish_output(g, {}, 16777217, 0, 0, 0),
            std::bit_cast<std::uint32_t>(16777216.0f));
  EXPECT_EQ(oracle::finish_output(g, {}, 0xffffffff, 0, 0, 0), std::bit_cast<std::uint32_t>(-1.0f));
}

// --- f32 to 16 bits --------------------------------------------------------------------------------

TEST(Narrow, IsTheNearestOfAll16BitValues) {
  for (const Type type : {Type::f16, Type::bf16}) {
    const std::uint32_t infinity = infinity_of(type);
    for (std::uint32_t word = 0; word < infinity; ++word) {
      const double low = oracle::element_value(type, word);
      const bool last = word + 1 == infinity;
      const double step = low - (word == 0 ? 0 : oracle::element_value(type, word - 1));
      const double high = last ? low + step : oracle::element_value(type, word + 1);
      const auto as_f32 = [](double x) {
        return std::bit_cast<std::uint32_t>(static_cast<float>(x));
      };
      const std::uint32_t middle = as_f32((low + high) / 2);
      const std::uint32_t even = word % 2 == 0 ? word : word + 1;
      ASSERT_EQ(narrow(type, as_f32(low)), word);
      ASSERT_EQ(narrow(type, as_f32(low) | 0x80000000u), word | sign_bit(type));
      // The tie below the least subnormal of bf16 is an f32 subnormal, too.
      ASSERT_EQ(narrow(type, middle), even) << name(type) << " " << word;
      ASSERT_EQ(narrow(type, middle - 1), word) << name(type) << " " << word;
      ASSERT_EQ(narrow(type, middle + 1), word + 1) << name(type) << " " << word;
    }
  }
}

TEST(Narrow, SpecialsAndSigns) {
  for (const Type type : {Type::f16, Type::bf16}) {
    EXPECT_EQ(narrow(type, 0x7f800000), infinity_of(type));
    EXPECT_EQ(narrow(type, 0xff800000), infinity_of(type) | 0x8000u);
    EXPECT_EQ(narrow(type, 0xff800001), canonical_nan_16);
    EXPECT_EQ(narrow(type, 0x80000000), 0x8000u);
    EXPECT_EQ(narrow(type, 0x80000001), 0x8000u);  // a negative value that vanishes keeps its sign
    EXPECT_EQ(narrow(type, 0x7f7fffff), infinity_of(type));
  }
}

TEST(Gemm_Errors, AreSmallForARightResultAndLargeForAWrongOne) {
  const Gemm g = small(Type::bf16, Type::f32, 20, 30, 400);
  const GemmCase x = make_case(g, false, Values::Near, 4);
  auto d = x.expected();
  const auto right = oracle::gemm_errors(g, x.data(), d.data() + x.d.first);
  EXPECT_LT(right.max_relative, 1e-5);
  EXPECT_GT(right.max_absolute, 0);
  d[x.d.first + 3] ^= 0x40;
  EXPECT_GT(oracle::gemm_errors(g, x.data(), d.data() + x.d.first).max_absolute, 0.1);
}

// What is NaN or Inf in D is counted and spoils no figure; nor does all of it being so look exact.
TEST(Gemm_Errors, CountWhatIsNotFinite) {
  const Gemm g = small(Type::bf16, Type::f32, 4, 8, 64);
  const GemmCase x = make_case(g, false, Values::Near, 4);
  auto d = x.expected();
  const auto right = oracle::gemm_errors(g, x.data(), d.data() + x.d.first);
  EXPECT_EQ(right.compared, 32);
  EXPECT_EQ(right.not_finite, 0);
  const std::uint32_t nan = 0x7fc00000, infinity = 0xff800000;
  std::memcpy(d.data() + x.d.first, &nan, 4);
  std::memcpy(d.data() + x.d.first + 4, &infinity, 4);
  const auto wrong = oracle::gemm_errors(g, x.data(), d.data() + x.d.first);
  EXPECT_EQ(wrong.compared, 30);
  EXPECT_EQ(wrong.not_finite, 2);
  EXPECT_LE(wrong.max_absolute, right.max_absolute);
  EXPECT_TRUE(std::isfinite(wrong.root_mean_square));
}

TEST(Gemm_Reference, SaysItsRate) {
  for (const Type in : {Type::bf16, Type::s8}) {
    const Gemm g = small(in, wgmma::widest_d(in), 64, 256, 2048);
    const GemmCase x = make_case(g, false, Values::Near, 4);
    const auto start = std::chrono::steady_clock::now();
    const auto d = x.expected(1);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const double macs = static_cast<double>(g.m) * static_cast<double>(g.n * g.k);
    fmt::print("{}: {:.0f} million MACs a second on one core\n", name(in),
               macs / seconds.count() / 1e6);
    EXPECT_GT(d.size(), 0u);
  }
}

}  // namespace
}  // namespace tcq
