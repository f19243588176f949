// The multi-function unit (MUFU): rcp, rsqrt, sqrt, lg2, ex2, sin, cos and tanh of a chip, to the bit.
//
// A function is c0 +- c1 x +- c2 x^2 on the segment that the operand's leading bits choose (mufu_tables.h), x being the bits
// behind them. x^2 lacks the partial products below 2^19; the sum is cut, not rounded. Operands and results are words of a
// Format: f32, f16, bf16, or the upper half of f64. What ptxas puts around the unit (subnormals scaled, the factor before
// sin) is not decided here but in sim/alu/approximate.cc. Example: ex2(0x3f800000) is 2, 0x40000000.
//
// Inferred: segments, widths and the square's missing columns from B. Carlet, "PTX Math" (sm_50 to sm_75); the constants from
// all operands of each segment, of which one set satisfies them
// Measured: tests/vectors/scalar_approx.tcqv; all 2^32 words on an H100, 0 differ (sim/NOTES.md). Not asked of an sm_100
#pragma once

#include <cstdint>

#include "sim/num/mufu_tables.h"
#include "sim/num/round.h"

namespace tcq::mufu {

struct Format {
  int fraction_bits, exponent_bits;
  bool has_subnormals;  // else they are zero

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr std::uint32_t sign() const { return 1u << (fraction_bits + exponent_bits); }
  constexpr std::uint32_t nan() const { return sign() - 1; }
  constexpr std::uint32_t infinity() const { return sign() - (1u << fraction_bits); }
  constexpr std::uint32_t one() const {
    return static_cast<std::uint32_t>(bias()) << fraction_bits;
  }
};
inline constexpr Format f32 = {23, 8, false}, f16 = {10, 5, true}, bf16 = {7, 8, false};
inline constexpr Format f64_upper = {20, 11, false};

inline constexpr int fraction_bits = 23;  // of an operand inside
inline constexpr std::uint32_t fraction_mask = (1u << fraction_bits) - 1;

struct Operand {
  std::uint32_t sign;      // 0, or the format's sign
  std::uint32_t fraction;  // 23 bits behind the leading one
  int exponent;            // 0 of [1, 2)
  bool is_zero, is_infinite, is_nan;
};

constexpr Operand read(std::uint32_t word, const Format& format) {
  const std::uint32_t sign = word & format.sign(), size = word ^ sign;
  const int biased = static_cast<int>(size >> format.fraction_bits);
  std::uint32_t fraction = size << (fraction_bits - format.fraction_bits) & fraction_mask;
  int exponent = biased - format.bias();
  const bool is_subnormal = biased == 0 && format.has_subnormals && fraction != 0;
  if (is_subnormal) {
    const int up = fraction_bits - floor_log2(fraction);
    fraction = fraction << up & fraction_mask;
    exponent = 1 - format.bias() - up;
  }
  return {sign,
          fraction,
          exponent,
          biased == 0 && !is_subnormal,
          size == format.infinity(),
          size > format.infinity()};
}

// Partial product x_i x_j of a square stands in column i + j + 1, that of i = j in column 2 i. Requires: x < 2^18.
constexpr std::uint64_t square(std::uint32_t x) {
  constexpr int first_column = 19;
  constexpr std::uint32_t mask = (1u << first_column) - 1;
  std::uint64_t dropped = 0;
  for (int i = 0; 2 * i < first_column; ++i) {
    const std::uint32_t products = (1u << (2 * i)) + (x >> (i + 1) << (2 * i + 2) & mask);
    if ((x >> i & 1) != 0) dropped += products;
  }
  return std::uint64_t{x} * x - dropped;
}

// As sum * 2^-point. Requires: x has the bits that the function's segments leave.
constexpr std::int64_t interpolate(const Function& f, std::uint32_t segment, std::uint32_t x) {
  const Segment& c = f.segments[segment];
  const auto first = static_cast<std::int64_t>(std::uint64_t{c.c0} << f.c0_shift);
  const auto second = static_cast<std::int64_t>(std::uint64_t{c.c1} * x << f.c1_shift);
  const auto third =
      static_cast<std::int64_t>(c.c2 * (square(x << f.square_shift) >> (2 * f.square_shift)));
  return first + f.c1_sign * second + f.c2_sign * third + f.rounding;
}

// 64 segments: 6 bits choose, 17 are interpolated.
constexpr std::int64_t interpolate_64(const Function& f, std::uint32_t fraction,
                                      std::uint32_t first = 0) {
  return interpolate(f, first + (fraction >> 17), fraction & 0x1ffff);
}

// sum * 2^(exponent - point). Requires: sum >= 0.
constexpr std::uint32_t cut(std::uint32_t sign, std::int64_t sum, int point, int exponent,
                            const Format& to) {
  if (sum == 0) return sign;
  const int leading = floor_log2(static_cast<std::uint64_t>(sum));
  const int top = leading - point + exponent;
  if (top > to.bias()) return sign | to.infinity();
  const int below = 1 - to.bias() - top;  // the smallest normal number
  const int lost = below > 0 ? below : 0;
  if (lost > 0 && (!to.has_subnormals || lost > to.fraction_bits)) return sign;
  const int shift = leading - to.fraction_bits + lost;
  const auto bits = static_cast<std::uint32_t>(shift >= 0 ? sum >> shift : sum << -shift);
  const int biased = lost > 0 ? 0 : top + to.bias() - 1;  // the leading one adds 1
  return sign | ((static_cast<std::uint32_t>(biased) << to.fraction_bits) + bits);
}

// ---- reciprocals and roots ----------------------------------------------------------------------

constexpr std::uint32_t rcp(std::uint32_t word, const Format& format = f32) {
  const Operand x = read(word, format);
  if (x.is_nan) return format.nan();
  if (x.is_zero) return x.sign | format.infinity();
  if (x.is_infinite) return x.sign;
  const std::int64_t sum = interpolate(rcp_function, x.fraction >> 16, x.fraction & 0xffff);
  return cut(x.sign, sum, rcp_function.point, -x.exponent, format);
}

// Odd exponents have segments of their own.
constexpr std::int64_t interpolate_root(const Function& f, const Operand& x) {
  return interpolate_64(f, x.fraction, x.exponent % 2 != 0 ? 64 : 0);
}
constexpr int halved(int exponent) { return (exponent - (exponent & 1)) / 2; }

constexpr std::uint32_t rsqrt(std::uint32_t word, const Format& format = f32) {
  const Operand x = read(word, format);
  if (x.is_nan) return format.nan();
  if (x.is_zero) return x.sign | format.infinity();
  if (x.sign != 0) return format.nan();
  if (x.is_infinite) return 0;
  const bool is_power_of_4 = x.fraction == 0 && x.exponent % 2 == 0;
  const std::int64_t sum =
      is_power_of_4 ? std::int64_t{1} << rsqrt_function.point : interpolate_root(rsqrt_function, x);
  return cut(0, sum, rsqrt_function.point, -halved(x.exponent), format);
}

constexpr std::uint32_t sqrt(std::uint32_t word) {
  const Operand x = read(word, f32);
  if (x.is_nan) return f32.nan();
  if (x.is_zero) return x.sign;
  if (x.sign != 0) return f32.nan();
  if (x.is_infinite) return f32.infinity();
  return cut(0, interpolate_root(sqrt_function, x), sqrt_function.point, halved(x.exponent), f32);
}

// ---- logarithm and powers -----------------------------------------------------------------------

// The fraction's logarithm and the exponent are one sum; its size is cut below 2^-36, then to 24 bits.
constexpr std::uint32_t lg2(std::uint32_t word) {
  constexpr int lost = lg2_function.point - 36;
  const Operand x = read(word, f32);
  if (x.is_nan) return f32.nan();
  if (x.is_zero) return f32.sign() | f32.infinity();
  if (x.sign != 0) return f32.nan();
  if (x.is_infinite) return f32.infinity();
  if (x.fraction == 0 && x.exponent == 0) return 0;
  const std::int64_t sum = interpolate_64(lg2_function, x.fraction) +
                           x.exponent * (std::int64_t{1} << lg2_function.point);
  const std::int64_t size = (sum < 0 ? -sum : sum) >> lost << lost;
  return cut(sum < 0 ? f32.sign() : 0, size, lg2_function.point, 0, f32);
}

// An operand's size as an integer and 23 bits behind the point, cut. Requires: below 2^40.
struct Fixed {
  std::int64_t integer;
  std::uint32_t fraction;
};

constexpr Fixed fixed(const Operand& x) {
  const std::int64_t significand = x.fraction | 1u << fraction_bits;
  const bool is_lost = x.is_zero || x.exponent < -fraction_bits;
  const std::int64_t bits = is_lost           ? 0
                            : x.exponent >= 0 ? significand << x.exponent
                                              : significand >> -x.exponent;
  return {bits >> fraction_bits, static_cast<std::uint32_t>(bits) & fraction_mask};
}

constexpr std::uint32_t ex2(std::uint32_t word, const Format& format = f32) {
  constexpr int largest_exponent = 7;  // beyond it no format holds the power
  const Operand x = read(word, format);
  if (x.is_nan) return format.nan();
  if (x.is_infinite || x.exponent > largest_exponent) return x.sign != 0 ? 0 : format.infinity();
  Fixed f = fixed(x);
  if (x.sign != 0) {
    f.integer = -f.integer;
    if (f.fraction != 0) f.fraction ^= fraction_mask, --f.integer;  // -f - 1 of its last place
  }
  const std::int64_t sum = interpolate_64(ex2_function, f.fraction);
  return cut(0, sum, ex2_function.point, static_cast<int>(f.integer), format);
}

// ---- trigonometry -------------------------------------------------------------------------------

// sin(2 pi (x + quarters / 4)) of x turns. From 2^38 on all are whole.
constexpr std::uint32_t sine_of_turns(std::uint32_t word, std::uint32_t quarters) {
  constexpr int largest_exponent = 38;
  Operand x = read(word, f32);
  if (x.is_nan || x.is_infinite) return f32.nan();
  if (x.exponent > largest_exponent) x.is_zero = true;
  x.exponent += 2;
  const Fixed f = fixed(x);
  const std::uint32_t quadrant = (static_cast<std::uint32_t>(f.integer) + quarters) % 4;
  const std::uint32_t fraction = quadrant % 2 != 0 ? f.fraction ^ fraction_mask : f.fraction;
  const std::uint32_t sign = (quarters == 0 ? x.sign : 0) ^ (quadrant >= 2 ? f32.sign() : 0);
  return cut(sign, interpolate_64(sin_function, fraction), sin_function.point, 0, f32);
}
constexpr std::uint32_t sin_of_turns(std::uint32_t word) { return sine_of_turns(word, 0); }
constexpr std::uint32_t cos_of_turns(std::uint32_t word) { return sine_of_turns(word, 1); }

// Its operand below 2^-8, 1 from 8 on. The segments of an octave are equally wide.
constexpr std::uint32_t tanh(std::uint32_t word, const Format& format = f32) {
  constexpr int interpolated_bits = 17;
  const Operand x = read(word, format);
  if (x.is_nan) return format.nan();
  if (x.is_zero || x.exponent < tanh_first_exponent) return word;
  if (x.exponent > tanh_last_exponent) return x.sign | format.one();
  const int octave = x.exponent - tanh_first_exponent;
  std::uint32_t segment = 0;
  for (int i = 0; i < octave; ++i) segment += 1u << tanh_segments_log2[i];
  const int width = fraction_bits - tanh_segments_log2[octave];
  segment += x.fraction >> width;
  const std::uint32_t behind = (x.fraction & ((1u << width) - 1)) >> (width - interpolated_bits);
  return cut(x.sign, interpolate(tanh_function, segment, behind), tanh_function.point, 0, format);
}

}  // namespace tcq::mufu
