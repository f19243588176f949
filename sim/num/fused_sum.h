// The fused sum: all products of one output and C, aligned, cut, added exactly, rounded once.
//
// Steps, in the hardware's order: specials; exact products p_k at exponent e_a + e_b (not
// renormalised); E = the largest exponent of a non-zero term, at least the floor; every term's
// magnitude cut to a multiple of 2^(E - fraction_bits); one exact integer sum; one rounding
// (round.h). Example (f16 -> f32): 2^14 - 2^14 + 2^-11 has E = 14, keeps 2^-11 = 2^(14 - 25).
//
// Measured: tests/vectors/wgmma_directed.txt (families A-K, S), tests/vectors/wgmma_numeric.tcqv
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/num/dot_traits.h"
#include "sim/num/float_bits.h"
#include "sim/num/round.h"

namespace tcq {

// What the special operands of one sum add up to.
struct SpecialSum {
  bool nan = false;
  bool plus_infinity = false;
  bool minus_infinity = false;

  HOST_DEVICE constexpr void add_infinity(bool negative) {
    (negative ? minus_infinity : plus_infinity) = true;
  }
  HOST_DEVICE constexpr void add_product(const Decoded& a, const Decoded& b) {
    if (a.kind == Class::Nan || b.kind == Class::Nan)
      nan = true;
    else if (a.kind != Class::Infinite && b.kind != Class::Infinite)
      return;
    else if (a.kind == Class::Zero || b.kind == Class::Zero)
      nan = true;
    else
      add_infinity(a.negative != b.negative);
  }
  HOST_DEVICE constexpr void add_value(const Decoded& c) {
    if (c.kind == Class::Nan) nan = true;
    if (c.kind == Class::Infinite) add_infinity(c.negative);
  }
  HOST_DEVICE constexpr bool any() const { return nan || plus_infinity || minus_infinity; }
  HOST_DEVICE constexpr std::uint32_t bits(Conversion conversion) const {
    if (nan || (plus_infinity && minus_infinity)) return nan_bits(conversion);
    return infinity_bits(conversion, minus_infinity);
  }
};

// A term of `fraction_bits` own fraction bits at `exponent`, in units of 2^(E - kept_bits).
// Bit budget of 32 bits: |value| < 2^24; left shifts stay below 2^28 because exponent <= E. That of
// 64 bits: block_scaled_sum.h.
template <class Integer>
HOST_DEVICE constexpr Integer align(Integer value, int fraction_bits, int exponent, int kept_bits,
                                    int max_exponent) {
  constexpr int most = 8 * static_cast<int>(sizeof(Integer)) - 1;
  const int left = kept_bits - fraction_bits - (max_exponent - exponent);
  if (left >= 0) return value * (Integer{1} << left);
  const int right = -left > most ? most : -left;
  return value < 0 ? -(-value >> right) : value >> right;
}

// Operands are decoded once per row and column by the caller; `c` is +0 without accumulation.
// `a` and `b` have `count` products. Type d is C's and D's type.
HOST_DEVICE constexpr std::uint32_t fused_sum(const DotTraits& traits, Type d, Type type_a,
                                              Type type_b, const Decoded* a, const Decoded* b,
                                              int count, const Decoded& c) {
  SpecialSum special;
  int max_exponent = traits.floor_exponent;
  for (int i = 0; i < count; ++i) {
    if (is_special(a[i].kind) || is_special(b[i].kind)) special.add_product(a[i], b[i]);
    const int exponent = a[i].exponent + b[i].exponent;
    if (exponent > max_exponent) max_exponent = exponent;
  }
  special.add_value(c);
  if (special.any()) return special.bits(traits.conversion);
  if (c.exponent > max_exponent) max_exponent = c.exponent;

  const int product_bits = float_format(type_a).fraction_bits + float_format(type_b).fraction_bits;
  std::int64_t sum = align(c.significand, float_format(d).fraction_bits, c.exponent,
                           traits.fraction_bits, max_exponent);
  for (int i = 0; i < count; ++i) {
    sum += align(a[i].significand * b[i].significand, product_bits, a[i].exponent + b[i].exponent,
                 traits.fraction_bits, max_exponent);
  }
  return round_sum(traits.conversion, sum, max_exponent - traits.fraction_bits);
}

}  // namespace tcq
