// Floats as exact numbers, and their one rounding: any format of registers, any rounding of PTX.
//
// unpack() reads the bits of a format, pack() writes them: the way of every conversion, and of the operations that the
// host does not have. Formats are those of sim/isa/base/element.h and f64. Example: pack(f16_format, {1, -25}, Rp) is
// 0x0001, the smallest subnormal.
//
// Source: PTX ISA 9.2, 5.2.3 "Alternate floating-point data formats", 9.7.9.22 "cvt"
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/num/float_bits.h"
#include "sim/ptx/modifier.h"

namespace tcq::alu {

__extension__ using Uint128 = unsigned __int128;

struct Format {
  int exponent_bits;
  int fraction_bits;
  Specials specials = Specials::Ieee;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  // Of the smallest step.
  constexpr int min_quantum() const { return 1 - bias() - fraction_bits; }
  constexpr std::uint64_t sign() const {
    return std::uint64_t{1} << (exponent_bits + fraction_bits);
  }
  constexpr std::uint64_t hidden() const { return std::uint64_t{1} << fraction_bits; }
  // Exponent field of ones: infinity where there is one.
  constexpr std::uint64_t top() const { return sign() - hidden(); }
  constexpr std::uint64_t largest() const {
    if (specials == Specials::Ieee) return top() - 1;
    return sign() - (specials == Specials::NanOnly ? 2 : 1);
  }
  // The NaN that a result is: all ones but the sign. Requires: there is one.
  constexpr std::uint64_t nan() const { return sign() - 1; }
};

constexpr Format format_of(tcq::Type type) {
  const FloatFormat f = float_format(type);
  return {f.exponent_bits, f.fraction_bits, f.specials};
}
inline constexpr Format f32_format = format_of(tcq::Type::f32);
inline constexpr Format f16_format = format_of(tcq::Type::f16);
inline constexpr Format bf16_format = format_of(tcq::Type::bf16);
inline constexpr Format tf32_format = format_of(tcq::Type::tf32);
inline constexpr Format f64_format{11, 52};

// (-1)^negative * magnitude * 2^exponent. The lowest bit of a magnitude of 64 bits and more may stand for all that
// was lost below it.
struct Exact {
  Uint128 magnitude = 0;
  int exponent = 0;
  bool negative = false;
  Class kind = Class::Finite;  // Zero: magnitude 0
};

constexpr int bit_length(Uint128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? 128 - std::countl_zero(high)
                   : 64 - std::countl_zero(static_cast<std::uint64_t>(x));
}

constexpr Exact unpack(const Format& f, std::uint64_t bits) {
  const bool negative = (bits & f.sign()) != 0;
  const std::uint64_t field = (bits & f.top()) >> f.fraction_bits;
  const std::uint64_t fraction = bits & (f.hidden() - 1);
  const std::uint64_t word = bits & (f.sign() - 1);
  if (f.specials == Specials::Ieee && word >= f.top())
    return {0, 0, negative, fraction == 0 ? Class::Infinite : Class::Nan};
  if (f.specials == Specials::NanOnly && word == f.nan()) return {0, 0, negative, Class::Nan};
  if (word == 0) return {0, 0, negative, Class::Zero};
  const std::uint64_t steps = field == 0 ? 0 : field - 1;
  return {field == 0 ? fraction : fraction | f.hidden(), f.min_quantum() + static_cast<int>(steps),
          negative, Class::Finite};
}

// Whether what is cut off a magnitude makes it one step larger.
constexpr bool rounds_up(ptx::Rounding rounding, bool negative, bool is_odd, Uint128 rest,
                         Uint128 half) {
  using enum ptx::Rounding;
  switch (rounding) {
    case Rz:
    case Rzi: return false;
    case Rm:
    case Rmi: return negative && rest != 0;
    case Rp:
    case Rpi: return !negative && rest != 0;
    case Rna: return rest >= half;
    default: return rest > half || (rest == half && is_odd);
  }
}

// magnitude / 2^drop, an integer. Requires: magnitude < 2^127, and the result fits.
constexpr Uint128 round_shift(Uint128 magnitude, int drop, ptx::Rounding rounding, bool negative) {
  if (drop <= 0) return magnitude << -drop;
  drop = std::min(drop, 127);
  const Uint128 kept = magnitude >> drop;
  const Uint128 half = Uint128{1} << (drop - 1);
  const Uint128 rest = magnitude & (half + (half - 1));
  return kept + (rounds_up(rounding, negative, (kept & 1U) != 0, rest, half) ? 1U : 0U);
}

// What a result beyond the largest number is.
constexpr std::uint64_t overflow_bits(const Format& f, ptx::Rounding rounding, bool negative,
                                      bool satfinite) {
  using enum ptx::Rounding;
  const bool stays =
      rounding == Rz || (rounding == Rm && !negative) || (rounding == Rp && negative);
  if (satfinite || stays || f.specials == Specials::Finite) return f.largest();
  return f.specials == Specials::Ieee ? f.top() : f.nan();
}

// The bits of a number in a format. A NaN is canonical, positive; a format without NaN makes it its largest number.
constexpr std::uint64_t pack(const Format& f, const Exact& x, ptx::Rounding rounding,
                             bool satfinite = false) {
  const std::uint64_t sign = x.negative ? f.sign() : 0;
  if (x.kind == Class::Nan) return f.specials == Specials::Finite ? f.largest() : f.nan();
  if (x.kind == Class::Infinite) {
    if (satfinite || f.specials == Specials::Finite) return sign | f.largest();
    return sign | (f.specials == Specials::Ieee ? f.top() : f.nan());
  }
  if (x.magnitude == 0) return sign;
  const int wanted = bit_length(x.magnitude) - 1 + x.exponent - f.fraction_bits;
  const int quantum = std::max(wanted, f.min_quantum());
  const Uint128 kept = round_shift(x.magnitude, quantum - x.exponent, rounding, x.negative);
  // A kept value of 2^fraction_bits and more adds into the exponent.
  const int steps = std::min(quantum - f.min_quantum(), 1 << f.exponent_bits);
  const Uint128 word = (static_cast<Uint128>(steps) << f.fraction_bits) + kept;
  if (word > f.largest()) return sign | overflow_bits(f, rounding, x.negative, satfinite);
  return sign | static_cast<std::uint64_t>(word);
}

// Subnormals become zeros of their sign.
constexpr std::uint64_t flush(const Format& f, std::uint64_t bits) {
  return (bits & f.top()) == 0 ? bits & f.sign() : bits;
}

}  // namespace tcq::alu
