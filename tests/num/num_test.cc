// Laws of sim/num: decoding, aligning and rounding against slow formulations, dot() against
// tests/support/reference_dot.h bit for bit, and what must hold for every input.
//
// `double` appears here as a second way to read a value; nothing is compared with a tolerance.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/isa/wgmma/shape.h"
#include "sim/num/dot.h"
#include "sim/num/inputs/mixture.h"
#include "tests/support/effort.h"
#include "tests/support/reference_dot.h"

namespace tcq {
namespace {

using Words = std::vector<std::uint32_t>;

struct Kind {
  DotTypes types;
  std::string text() const {
    return std::string(name(types.d)) + "." + name(types.a) + "." + name(types.b);
  }
  reference::Spec spec() const {
    return reference::spec(name(types.d), name(types.a), name(types.b));
  }
  bool is_float() const { return tcq::is_float(types.a); }
};

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (int d = 0; d < type_count; ++d)
    for (int a = 0; a < type_count; ++a)
      for (int b = 0; b < type_count; ++b) {
        const DotTypes t{static_cast<Type>(d), static_cast<Type>(a), static_cast<Type>(b)};
        if (wgmma::types_exist(t.d, t.a, t.b)) all.push_back({t});
      }
  return all;
}

std::vector<Kind> float_kinds() {
  std::vector<Kind> floats = kinds();
  std::erase_if(floats, [](const Kind& kind) { return !kind.is_float(); });
  return floats;
}

std::uint32_t dot_of(const Kind& kind, const Words& a, const Words& b, std::uint32_t c,
                     const DotOptions& options = {}) {
  return dot(kind.types, a.data(), b.data(), static_cast<int>(a.size()), c, options);
}

std::uint32_t reference_of(const Kind& kind, const Words& a, const Words& b, std::uint32_t c,
                           const DotOptions& o = {}) {
  return reference::dot(kind.spec(), a, b, c,
                        {.accumulate = o.accumulate,
                         .negate_a = o.negate_a,
                         .negate_b = o.negate_b,
                         .satfinite = o.satfinite});
}

// The inputs of one output of a mixture's tile.
struct Inputs {
  Words a, b;
  std::uint32_t c;
};

Inputs draw_inputs(const Kind& kind, const Mixture& mixture, int row, int col) {
  Inputs in{{}, {}, mixture.c(row, col)};
  for (int k = 0; k < wgmma::stored_k(kind.types.a); ++k) {
    in.a.push_back(mixture.a(row, k));
    in.b.push_back(mixture.b(col, k));
  }
  return in;
}

// Calls visit(inputs) for tiles of every class in turn, up to the first failure.
template <class Visit>
void for_each_input(const Kind& kind, int tiles, int rows, int cols, Visit visit) {
  for (int tile = 0; tile < tiles; ++tile) {
    const auto mixture_class = static_cast<MixtureClass>(tile % mixture_class_count);
    const Mixture mixture(kind.types, wgmma::stored_k(kind.types.a), mixture_class,
                          static_cast<std::uint64_t>(tile) + 77);
    for (int row = 0; row < rows; ++row)
      for (int col = 0; col < cols; ++col) {
        visit(draw_inputs(kind, mixture, row, col));
        if (testing::Test::HasFailure()) return;
      }
  }
}

DotOptions random_options(const Kind& kind, std::mt19937& random) {
  DotOptions o;
  o.accumulate = random() % 8 != 0;
  o.negate_a = kind.is_float() && random() % 4 == 0;
  o.negate_b = kind.is_float() && random() % 4 == 0;
  o.satfinite = wgmma::has_satfinite(kind.types.a) && random() % 2 == 0;
  return o;
}

// --- decoding ------------------------------------------------------------------------------------

double value_of(Type type, const Decoded& x) {
  return std::ldexp(x.significand, x.exponent - float_format(type).fraction_bits);
}

// Reads a word of any format the way the standard defines it.
double standard_value(Type type, std::uint32_t word) {
  const FloatFormat f = float_format(type);
  word >>= f.ignored_low_bits;
  const auto fraction = static_cast<double>(word % (1u << f.fraction_bits));
  const int field = static_cast<int>(word >> f.fraction_bits) % (1 << f.exponent_bits);
  const bool negative = (word >> (f.fraction_bits + f.exponent_bits)) % 2 != 0;
  const double scaled = fraction / (1 << f.fraction_bits);
  const double magnitude =
      field == 0 ? std::ldexp(scaled, 1 - f.bias) : std::ldexp(1 + scaled, field - f.bias);
  return negative ? -magnitude : magnitude;
}

void expect_decodes(Type type, std::uint32_t word) {
  const Decoded x = decode_float(type, word);
  const Decoded minus_x = decode_float(type, word, true);
  ASSERT_EQ(minus_x.significand, -x.significand) << name(type) << std::hex << " " << word;
  ASSERT_EQ(minus_x.negative, !x.negative);
  ASSERT_EQ(minus_x.kind, x.kind);
  ASSERT_EQ(minus_x.exponent, x.exponent);
  if (is_special(x.kind)) {
    ASSERT_EQ(x.significand, 0);
    return;
  }
  ASSERT_EQ(value_of(type, x), standard_value(type, word)) << name(type) << std::hex << " " << word;
  ASSERT_EQ(x.kind == Class::Zero, x.significand == 0);
  ASSERT_EQ(x.negative, std::signbit(standard_value(type, word)));
  ASSERT_EQ(x.exponent == zero_exponent, x.kind == Class::Zero);
  if (x.kind == Class::Finite) {
    ASSERT_GE(x.exponent, 1 - float_format(type).bias) << "normalised";
  }
}

TEST(Decode, AllF16AndBf16AndAll8BitWords) {
  for (std::uint32_t word = 0; word < 0x10000; ++word) {
    expect_decodes(Type::f16, word);
    expect_decodes(Type::bf16, word);
    if (word < 0x100) expect_decodes(Type::e4m3, word);
    if (word < 0x100) expect_decodes(Type::e5m2, word);
  }
}

TEST(Decode, Tf32AndF32OfRandomWords) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const auto word = static_cast<std::uint32_t>(random());
    expect_decodes(Type::f32, word);
    expect_decodes(Type::tf32, word);
    const Decoded kept = decode_float(Type::tf32, word);
    const Decoded cleared = decode_float(Type::tf32, word & ~0x1fffu);
    ASSERT_EQ(kept.significand, cleared.significand);
    ASSERT_EQ(kept.kind, cleared.kind) << "the dropped bits take part in the class";
    if (kept.kind == Class::Finite) {
      ASSERT_EQ(value_of(Type::f32, decode_float(Type::f32, word & ~0x1fffu)),
                value_of(Type::tf32, kept));
    }
  }
}

// How many words of a format are infinite or NaN.
TEST(Decode, CountsOfInfinitiesAndNans) {
  struct Row {
    Type type;
    int infinities, nans;
  };
  for (const Row& row : {Row{Type::f16, 2, 2 * 1023}, Row{Type::bf16, 2, 2 * 127},
                         Row{Type::e5m2, 2, 2 * 3}, Row{Type::e4m3, 0, 2}}) {
    int infinities = 0;
    int nans = 0;
    for (std::uint32_t word = 0; word < 1u << bits(row.type); ++word) {
      infinities += decode_float(row.type, word).kind == Class::Infinite;
      nans += decode_float(row.type, word).kind == Class::Nan;
    }
    EXPECT_EQ(infinities, row.infinities) << name(row.type);
    EXPECT_EQ(nans, row.nans) << name(row.type);
  }
  EXPECT_EQ(decode_float(Type::tf32, 0x7f800001).kind, Class::Infinite);
  EXPECT_EQ(decode_float(Type::tf32, 0x7f802000).kind, Class::Nan);
}

TEST(Decode, Integers) {
  for (int value = -128; value < 128; ++value)
    EXPECT_EQ(decode_integer(Type::s8, static_cast<std::uint32_t>(value)), value);
  for (std::uint32_t word = 0; word < 256; ++word)
    EXPECT_EQ(decode_integer(Type::u8, word), static_cast<int>(word));
  EXPECT_EQ(decode_integer(Type::u8, 0xfffffff0), 0xf0);
  EXPECT_EQ(decode_integer(Type::b1, 3), 1);
  EXPECT_EQ(decode_integer(Type::s32, 0x80000000), -2147483647 - 1);
}

// --- aligning and rounding -----------------------------------------------------------------------

TEST(Align, CutsTheMagnitudeTowardZero) {
  std::mt19937 random(2);
  for (int i = 0; i < 200000; ++i) {
    const int fraction_bits = random() % 2 == 0 ? 20 : 23;
    const auto value = static_cast<std::int32_t>(random() % (1u << 24)) - (1 << 23);
    const int exponent = static_cast<int>(random() % 200) - 100;
    const int max_exponent = exponent + static_cast<int>(random() % 60);
    const int kept = random() % 2 == 0 ? 25 : 13;
    const double exact = std::ldexp(value, kept - fraction_bits - (max_exponent - exponent));
    ASSERT_EQ(align(value, fraction_bits, exponent, kept, max_exponent), std::trunc(exact));
  }
}

TEST(Align, SaturatesTheShiftCount) {
  for (int gap = 0; gap < 9000; ++gap) {
    const std::int32_t lost = align(-0x7fffff, 23, -gap, 25, 0);
    ASSERT_EQ(lost, gap < 25 ? -(0x7fffff * 4 >> gap) : 0) << gap;
  }
}

constexpr Conversion conversions[] = {Conversion::F32TowardZero, Conversion::E8M13TowardZero,
                                      Conversion::F16NearestEven};

// The magnitude that an unsigned word stands for; infinity counts as the next power of two.
double word_value(Conversion conversion, std::uint32_t word) {
  const bool f16 = conversion == Conversion::F16NearestEven;
  return standard_value(f16 ? Type::f16 : Type::f32, word);
}

std::uint32_t step_of(Conversion conversion) {
  return conversion == Conversion::E8M13TowardZero ? 1u << 10 : 1;
}

// `result` must be the neighbour of the exact sum that the conversion names. Sums have fewer than
// 41 bits and exponents above -1074 here, so that `double` holds every one of them exactly.
void expect_rounded(Conversion conversion, std::int64_t sum, int lsb, std::uint32_t result) {
  const bool f16 = conversion == Conversion::F16NearestEven;
  const std::uint32_t sign = f16 ? 0x8000 : 0x80000000;
  const std::uint32_t infinity = f16 ? 0x7c00 : 0x7f800000;
  const std::uint32_t word = result & ~sign;
  const std::uint32_t step = step_of(conversion);
  const double exact = std::ldexp(static_cast<double>(sum < 0 ? -sum : sum), lsb);
  const double low = word_value(conversion, word);
  ASSERT_EQ(result & sign, sum < 0 && word != 0 ? sign : 0) << "sign, and zero is +0";
  ASSERT_EQ(word % step, 0u);
  ASSERT_LE(word, infinity);
  if (!f16) {
    ASSERT_LE(low, exact) << std::hex << result;
    if (word != infinity) {
      ASSERT_LT(exact, word_value(conversion, word + step));
    }
    return;
  }
  // Nearest: no neighbour is nearer, and of two equally near the even word wins.
  const double distance = std::abs(exact - low);
  if (word != infinity) {
    const double up = std::abs(word_value(conversion, word + 1) - exact);
    ASSERT_TRUE(distance < up || (distance == up && word % 2 == 0)) << std::hex << result;
  }
  if (word != 0 && exact < low) {
    const double down = std::abs(exact - word_value(conversion, word - 1));
    ASSERT_TRUE(distance < down || (distance == down && word % 2 == 0)) << std::hex << result;
  }
}

TEST(Round, IsTheNeighbourThatTheConversionNames) {
  std::mt19937_64 random(3);
  for (const Conversion conversion : conversions) {
    for (int i = 0; i < 300000; ++i) {
      auto sum = static_cast<std::int64_t>(random() >> (24 + random() % 40));
      if (random() % 4 == 0) sum = (sum >> 12 << 12) + static_cast<std::int64_t>(random() % 3) - 1;
      if (random() % 2 == 0) sum = -sum;
      const int lsb = conversion == Conversion::F16NearestEven
                          ? static_cast<int>(random() % 90) - 60
                          : static_cast<int>(random() % 300) - 190;
      expect_rounded(conversion, sum, lsb, round_sum(conversion, sum, lsb));
      if (HasFatalFailure()) FAIL() << sum << " * 2^" << lsb;
    }
  }
}

TEST(Round, IsMonotoneAndOdd) {
  std::mt19937_64 random(4);
  for (const Conversion conversion : conversions) {
    for (int i = 0; i < 100000; ++i) {
      const auto sum = static_cast<std::int64_t>(random() >> (25 + random() % 39));
      const int lsb = static_cast<int>(random() % 200) - 165;
      const std::uint32_t here = round_sum(conversion, sum, lsb);
      ASSERT_LE(here, round_sum(conversion, sum + 1, lsb));
      ASSERT_EQ(here, round_sum(conversion, 2 * sum, lsb - 1)) << "depends on the value only";
      if (here != 0) {
        ASSERT_EQ(round_sum(conversion, -sum, lsb),
                  here | (conversion == Conversion::F16NearestEven ? 0x8000u : 0x80000000u));
      }
    }
  }
}

TEST(Round, ReproducesEveryF16AndDoesNotChangeWhatIsExact) {
  for (std::uint32_t word = 0; word < 0x7c00; ++word) {
    const Decoded x = decode_float(Type::f16, word);
    EXPECT_EQ(round_sum(Conversion::F16NearestEven, x.significand, x.exponent - 10), word);
    const Decoded wide = decode_float(Type::f32, word << 14);
    EXPECT_EQ(round_sum(Conversion::F32TowardZero, wide.significand, wide.exponent - 23),
              word << 14);
  }
}

// --- dot() against the reference -----------------------------------------------------------------

TEST(Dot, EqualsTheReferenceOnMixturesOfEveryClassAndKind) {
  std::mt19937 random(5);
  std::size_t outputs = 0;
  for (const Kind& kind : kinds()) {
    const bool slow = kind.types.a == Type::b1;
    for_each_input(kind, tests::effort(slow ? 11 : 22 * mixture_class_count), slow ? 4 : 10, 8,
                   [&](const Inputs& in) {
                     const DotOptions options = random_options(kind, random);
                     ASSERT_EQ(dot_of(kind, in.a, in.b, in.c, options),
                               reference_of(kind, in.a, in.b, in.c, options))
                         << kind.text() << std::hex << " c " << in.c;
                     ++outputs;
                   });
  }
  EXPECT_TRUE(outputs >= tests::effort(300000) || HasFailure()) << outputs;
}

TEST(Dot, EqualsTheReferenceForEveryPairOf8BitFloats) {
  for (const Kind& kind : float_kinds()) {
    if (!is_fp8(kind.types.a)) continue;
    const std::uint32_t c_words[] = {0, kind.types.d == Type::f16 ? 0xc801u : 0x40004c01u};
    for (std::uint32_t a = 0; a < 256; ++a) {
      for (std::uint32_t b = 0; b < 256; ++b) {
        const std::uint32_t c = c_words[(a + b) % 2];
        ASSERT_EQ(dot_of(kind, {a}, {b}, c), reference_of(kind, {a}, {b}, c))
            << kind.text() << std::hex << " a " << a << " b " << b << " c " << c;
      }
    }
  }
}

// --- laws of the sum -----------------------------------------------------------------------------

TEST(FusedSum, PermutingProductsChangesNothing) {
  std::mt19937 random(6);
  for (const Kind& kind : float_kinds()) {
    for_each_input(kind, 44, 4, 4, [&](const Inputs& in) {
      std::vector<std::size_t> order(in.a.size());
      for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
      std::shuffle(order.begin(), order.end(), random);
      Words a, b;
      for (const std::size_t k : order) {
        a.push_back(in.a[k]);
        b.push_back(in.b[k]);
      }
      EXPECT_EQ(dot_of(kind, a, b, in.c), dot_of(kind, in.a, in.b, in.c)) << kind.text();
    });
  }
}

TEST(FusedSum, NegatingAAndCNegatesD) {
  for (const Kind& kind : float_kinds()) {
    const std::uint32_t sign = 1u << (bits(kind.types.d) - 1);
    const std::uint32_t nan = kind.types.d == Type::f16 ? canonical_nan_f16 : canonical_nan_f32;
    for_each_input(kind, 44, 4, 4, [&](const Inputs& in) {
      const std::uint32_t plain = dot_of(kind, in.a, in.b, in.c);
      const std::uint32_t want = plain == 0 || plain == nan ? plain : plain ^ sign;
      DotOptions options;
      options.negate_a = true;
      EXPECT_EQ(dot_of(kind, in.a, in.b, in.c ^ sign, options), want) << kind.text();
      options = {};
      options.negate_b = true;
      EXPECT_EQ(dot_of(kind, in.a, in.b, in.c ^ sign, options), want) << kind.text();
      Words minus_a = in.a;
      for (std::uint32_t& word : minus_a) word ^= 1u << (bits(kind.types.a) - 1);
      EXPECT_EQ(dot_of(kind, minus_a, in.b, in.c ^ sign), want) << kind.text();
    });
  }
}

TEST(FusedSum, ZeroProductsReturnC) {
  std::mt19937 random(7);
  for (const Kind& kind : float_kinds()) {
    const Words zero(static_cast<std::size_t>(wgmma::stored_k(kind.types.a)), 0);
    for (int i = 0; i < 20000; ++i) {
      const std::uint32_t c = static_cast<std::uint32_t>(random()) >> (32 - bits(kind.types.d));
      const Decoded x = decode_float(kind.types.d, c);
      std::uint32_t want = c;
      if (kind.types.d == Type::f32 && is_fp8(kind.types.a)) want &= ~0x3ffu;
      if (want << (33 - bits(kind.types.d)) == 0) want = 0;
      if (x.kind == Class::Infinite) want = c;
      if (x.kind == Class::Nan)
        want = kind.types.d == Type::f16 ? canonical_nan_f16 : canonical_nan_f32;
      ASSERT_EQ(dot_of(kind, zero, zero, c), want) << kind.text() << std::hex << " c " << c;
    }
  }
}

TEST(FusedSum, E8M13ResultsAreFixedPoints) {
  for (const Kind& kind : float_kinds()) {
    if (!is_fp8(kind.types.a) || kind.types.d != Type::f32) continue;
    const Words zero(32, 0);
    for_each_input(kind, 88, 4, 4, [&](const Inputs& in) {
      const std::uint32_t d = dot_of(kind, in.a, in.b, in.c);
      if (d == canonical_nan_f32) return;
      EXPECT_EQ(d & 0x3ff, 0u);
      EXPECT_EQ(dot_of(kind, zero, zero, d), d);
    });
  }
}

TEST(FusedSum, WithoutAccumulateCIsPlusZeroWhateverItHolds) {
  for (const Kind& kind : kinds()) {
    DotOptions off;
    off.accumulate = false;
    for_each_input(kind, 22, 3, 3, [&](const Inputs& in) {
      const std::uint32_t want = dot_of(kind, in.a, in.b, 0);
      EXPECT_EQ(dot_of(kind, in.a, in.b, in.c, off), want) << kind.text();
      EXPECT_EQ(dot_of(kind, in.a, in.b, 0x7fffffffu >> (32 - bits(kind.types.d)), off), want);
    });
  }
}

TEST(FusedSum, NoNegativeZeroLeavesTheUnit) {
  for (const Kind& kind : float_kinds()) {
    const std::uint32_t minus_zero = 1u << (bits(kind.types.d) - 1);
    for_each_input(kind, 110, 4, 4, [&](const Inputs& in) {
      EXPECT_NE(dot_of(kind, in.a, in.b, in.c), minus_zero) << kind.text();
    });
  }
}

// --- integers ------------------------------------------------------------------------------------

TEST(IntegerSum, WrapsOrClampsOnceAtTheEnd) {
  const Words s8_max(32, 127), u8_max(32, 255), s8_min(32, 0x80), ones(256, 1);
  Words half = s8_max;
  std::fill(half.begin() + 16, half.end(), 0x81);
  DotOptions clamp;
  clamp.satfinite = true;
  const Kind s8{{Type::s32, Type::s8, Type::s8}};
  const Kind u8s8{{Type::s32, Type::u8, Type::s8}};
  const Kind b1{{Type::s32, Type::b1, Type::b1}};
  EXPECT_EQ(dot_of(s8, s8_max, s8_max, 0x7fffffff), 0x8007e01fu);
  EXPECT_EQ(dot_of(s8, s8_max, s8_max, 0x7fffffff, clamp), 0x7fffffffu);
  EXPECT_EQ(dot_of(u8s8, u8_max, s8_min, 0), 0xfff01000u);
  EXPECT_EQ(dot_of(u8s8, u8_max, s8_min, 0x80000000, clamp), 0x80000000u);
  EXPECT_EQ(dot_of(u8s8, u8_max, s8_min, 0x80000000), 0x7ff01000u);
  EXPECT_EQ(dot_of(b1, ones, ones, 0x7fffffff), 0x800000ffu);
  EXPECT_EQ(dot_of(s8, s8_max, half, 0x7fffffff, clamp), 0x7fffffffu) << "clamped by halves";
}

// --- dot() at compile time -----------------------------------------------------------------------

constexpr std::uint32_t constexpr_dot(const DotTypes& types, std::initializer_list<std::uint32_t> a,
                                      std::initializer_list<std::uint32_t> b, std::uint32_t c) {
  return dot(types, a.begin(), b.begin(), static_cast<int>(a.size()), c);
}

constexpr DotTypes f16_to_f32{Type::f32, Type::f16, Type::f16};
constexpr DotTypes bf16_to_f32{Type::f32, Type::bf16, Type::bf16};
constexpr DotTypes f16_to_f16{Type::f16, Type::f16, Type::f16};
constexpr DotTypes e4m3_to_f32{Type::f32, Type::e4m3, Type::e4m3};
constexpr DotTypes s8_to_s32{Type::s32, Type::s8, Type::s8};

static_assert(constexpr_dot(f16_to_f32, {0x5800, 0xd800, 0x2400}, {0x5800, 0x5800, 0x2800}, 0) ==
              0x3a000000);
static_assert(constexpr_dot(f16_to_f32, {0x5800, 0xd800, 0x2400}, {0x5800, 0x5800, 0x2400}, 0) ==
              0);
static_assert(constexpr_dot(f16_to_f32, {0x5800, 0xd800, 0xa600}, {0x5800, 0x5800, 0x2800}, 0) ==
              0xba000000);
static_assert(constexpr_dot(bf16_to_f32, {0x1a00, 0x9800}, {0x1a80, 0x1800}, 0) == 0);
static_assert(constexpr_dot(bf16_to_f32, {0x1a00, 0x9780}, {0x1a80, 0x1800}, 0) == 1);
static_assert(constexpr_dot(f16_to_f16, {0x0400, 0x0004}, {0x1000, 0x0001}, 0) == 1);
static_assert(constexpr_dot(f16_to_f16, {0x0400, 0x0002}, {0x1000, 0x0001}, 0) == 0);
static_assert(constexpr_dot(e4m3_to_f32, {0x38}, {0x38}, 0x3f8007ff) == 0x40000000);
static_assert(constexpr_dot(e4m3_to_f32, {0x38}, {0x7f}, 0) == 0x7fffffff);
static_assert(constexpr_dot(s8_to_s32, {0xff, 2}, {3, 0x80}, 300) == 41);

}  // namespace
}  // namespace tcq
