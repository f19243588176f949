// Exact numbers against the host's arithmetic in its four rounding modes, and against a search for the nearest code.
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "sim/alu/exact_arithmetic.h"
#include "sim/num/narrow.h"

namespace tcq::alu {
namespace {

using ptx::Rounding;

constexpr int draws = 20000;

struct Way {
  Rounding rounding;
  int host;
};
constexpr Way ways[] = {{Rounding::Rn, FE_TONEAREST},
                        {Rounding::Rz, FE_TOWARDZERO},
                        {Rounding::Rm, FE_DOWNWARD},
                        {Rounding::Rp, FE_UPWARD}};

template <class T>
using WordOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
template <class T>
constexpr Format host_format = sizeof(T) == 8 ? f64_format : f32_format;

// Any bits, or a value that meets others: near one, near the ends, with few bits.
template <class T>
T draw(std::mt19937_64& random) {
  const std::uint64_t word = random();
  const T sign = word % 2 == 0 ? T{1} : T{-1};
  const int spread = static_cast<int>(word >> 8 & 63U) - 32;
  switch (word >> 1 & 7U) {
    case 0: return std::bit_cast<T>(static_cast<WordOf<T>>(random()));
    case 1: return sign * std::ldexp(T{1}, spread);
    case 2:
      return sign * std::numeric_limits<T>::denorm_min() * static_cast<T>(word >> 16 & 0xffffffU);
    case 3: return sign * std::numeric_limits<T>::max() / static_cast<T>((word >> 16 & 7U) + 1);
    case 4: return word >> 60 == 0 ? sign * std::numeric_limits<T>::infinity() : sign * T{0};
    default:
      return sign * std::ldexp(T{1} + static_cast<T>(random() >> 11) * T{0x1p-53}, spread / 8);
  }
}

template <class T>
Exact exact(T x) {
  return unpack(host_format<T>, std::bit_cast<WordOf<T>>(x));
}

template <class T>
void expect_same(const Exact& found, Rounding rounding, T want, const char* what) {
  const std::uint64_t bits = pack(host_format<T>, found, rounding);
  if (std::isnan(want)) {
    EXPECT_EQ(bits, host_format<T>.nan()) << what;
  } else {
    EXPECT_EQ(bits, std::bit_cast<WordOf<T>>(want))
        << what << " rounding " << static_cast<int>(rounding);
  }
}

template <class T>
struct HostResults {
  T sum, product, fused, quotient, root;
};

template <class T>
HostResults<T> on_host(T x, T y, T z, int mode) {
  const volatile T a = x;
  const volatile T b = y;
  const volatile T c = z;
  std::fesetround(mode);
  const volatile T sum = a + b;
  const volatile T product = a * b;
  const volatile T fused = std::fma(a, b, c);
  const volatile T quotient = a / b;
  const volatile T root = std::sqrt(a);
  std::fesetround(FE_TONEAREST);
  return {sum, product, fused, quotient, root};
}

template <class T>
void expect_host(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < draws && !testing::Test::HasFailure(); ++i) {
    const T x = draw<T>(random);
    const T y = draw<T>(random);
    const T z = i % 3 == 0 ? -x * y : draw<T>(random);
    for (const auto& [rounding, mode] : ways) {
      const HostResults<T> want = on_host(x, y, z, mode);
      expect_same(sum(exact(x), exact(y), rounding), rounding, want.sum, "sum");
      expect_same(product(exact(x), exact(y)), rounding, want.product, "product");
      expect_same(fused(exact(x), exact(y), exact(z), rounding), rounding, want.fused, "fused");
      expect_same(quotient(exact(x), exact(y)), rounding, want.quotient, "quotient");
      expect_same(square_root(exact(x)), rounding, want.root, "root");
    }
  }
}

TEST(ExactFloat, FloatsAreTheHostsInEveryRounding) { expect_host<float>(1); }
TEST(ExactFloat, DoublesAreTheHostsInEveryRounding) { expect_host<double>(2); }

TEST(ExactFloat, DoublesBecomeTheHostsFloats) {
  std::mt19937_64 random(3);
  for (int i = 0; i < draws; ++i) {
    const volatile double x =
        i % 2 == 0 ? draw<double>(random) : double{draw<float>(random)} * (1 + 0x1p-40);
    for (const auto& [rounding, mode] : ways) {
      std::fesetround(mode);
      const volatile auto want = static_cast<float>(x);
      std::fesetround(FE_TONEAREST);
      const double value = x;
      expect_same(exact(value), rounding, static_cast<float>(want), "narrowed");
    }
  }
}

TEST(ExactFloat, HalvesAreThoseOfTheEpilogue) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 10 * draws; ++i) {
    const auto word = std::bit_cast<std::uint32_t>(draw<float>(random));
    for (const Type type : {Type::f16, Type::bf16})
      ASSERT_EQ(pack(format_of(type), unpack(f32_format, word), Rounding::Rn), narrow(type, word))
          << word;
  }
}

// What the rest of the project reads in a code.
double value_of(Type type, std::uint32_t code) {
  const Decoded x = decode_float(type, code);
  return std::ldexp(double{static_cast<double>(x.significand)},
                    x.exponent - float_format(type).fraction_bits);
}

TEST(ExactFloat, EveryCodeIsReadAndWrittenAgain) {
  for (const Type type :
       {Type::f16, Type::bf16, Type::e4m3, Type::e5m2, Type::e2m3, Type::e3m2, Type::e2m1}) {
    const Format f = format_of(type);
    for (std::uint32_t code = 0; code < 2 * f.sign(); ++code) {
      const Exact x = unpack(f, code);
      const Class kind = decode_float(type, code).kind;
      ASSERT_EQ(x.kind, kind) << name(type) << code;
      ASSERT_EQ(pack(f, x, Rounding::Rz), kind == Class::Nan ? f.nan() : code)
          << name(type) << code;
      if (kind == Class::Finite) {
        ASSERT_EQ(std::bit_cast<double>(pack(f64_format, x, Rounding::Rn)), value_of(type, code));
      }
    }
  }
}

// The nearest positive code, of two the even one; beyond the middle to the next power the largest.
std::uint32_t nearest_code(Type type, double x) {
  const Format f = format_of(type);
  std::uint32_t best = 0;
  for (std::uint32_t code = 1; code <= f.largest(); ++code) {
    const double gain = std::fabs(value_of(type, best) - x) - std::fabs(value_of(type, code) - x);
    if (gain > 0 || (gain == 0 && code % 2 == 0)) best = code;
  }
  return best;
}

TEST(ExactFloat, SmallFormatsTakeTheNearestCode) {
  std::mt19937_64 random(5);
  for (const Type type : {Type::e4m3, Type::e5m2, Type::e2m3, Type::e3m2, Type::e2m1}) {
    const Format f = format_of(type);
    const double largest = value_of(type, static_cast<std::uint32_t>(f.largest()));
    for (int i = 0; i < draws / 4; ++i) {
      // Also the middles between codes, where ties are.
      const auto code = static_cast<std::uint32_t>(random() % f.largest());
      const double middle = (value_of(type, code) + value_of(type, code + 1)) / 2;
      const double x =
          i % 2 == 0 ? middle
                     : largest * std::ldexp(static_cast<double>(random() % 4096), -12 - i % 12);
      ASSERT_EQ(pack(f, unpack(f64_format, std::bit_cast<std::uint64_t>(x)), Rounding::Rn, true),
                nearest_code(type, x))
          << name(type) << " " << x;
    }
    const double beyond = 64 * largest;
    EXPECT_EQ(pack(f, unpack(f64_format, std::bit_cast<std::uint64_t>(beyond)), Rounding::Rn, true),
              f.largest());
  }
}

TEST(ExactFloat, TiesGoWhereTheRoundingSays) {
  const Exact tie{5, -1, false};  // 2.5
  const Exact below{5, -1, true};
  EXPECT_EQ(round_shift(5, 1, Rounding::Rn, false), 2U);
  EXPECT_EQ(round_shift(5, 1, Rounding::Rna, false), 3U);
  EXPECT_EQ(round_shift(5, 1, Rounding::Rzi, true), 2U);
  EXPECT_EQ(round_shift(tie.magnitude, 1, Rounding::Rpi, tie.negative), 3U);
  EXPECT_EQ(round_shift(below.magnitude, 1, Rounding::Rpi, below.negative), 2U);
  EXPECT_EQ(round_shift(below.magnitude, 1, Rounding::Rmi, below.negative), 3U);
}

}  // namespace
}  // namespace tcq::alu
