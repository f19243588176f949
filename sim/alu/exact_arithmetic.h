// Sums, products, quotients and roots of exact numbers, ready to be rounded once: exact_float.h.
//
// Example: pack(f32_format, fused(a, b, c, Rm), Rm) is fma.rm.f32. Bits that do not fit leave a trace in the lowest
// bit, far below every format's last one.
//
// Source: PTX ISA 9.2, 9.7.3 "Floating-Point Instructions" (IEEE 754 in every rounding)
#pragma once

#include <utility>

#include "sim/alu/exact_float.h"

namespace tcq::alu {

inline constexpr Exact exact_nan{0, 0, false, Class::Nan};

constexpr Exact zero(bool negative) { return {0, 0, negative, Class::Zero}; }
constexpr Exact infinity(bool negative) { return {0, 0, negative, Class::Infinite}; }
constexpr Exact negated(Exact x) {
  x.negative = !x.negative;
  return x;
}

// The same number with its highest bit at `position`. Requires: magnitude != 0, no bit is lost.
constexpr Exact at_position(Exact x, int position) {
  const int left = position - (bit_length(x.magnitude) - 1);
  x.magnitude <<= left;
  x.exponent -= left;
  return x;
}

constexpr Uint128 sticky_shift(Uint128 x, int count) {
  if (count > 127) return x != 0 ? 1 : 0;
  const Uint128 kept = x >> count;
  return kept | ((kept << count) != x ? 1U : 0U);
}

constexpr Exact add_finite(Exact x, Exact y) {
  constexpr int highest = 124;  // a carry fits above it, a product of two f64 and guards below it
  if (bit_length(x.magnitude) + x.exponent < bit_length(y.magnitude) + y.exponent) std::swap(x, y);
  x = at_position(x, highest);
  y = at_position(y, highest);
  const Uint128 low = sticky_shift(y.magnitude, x.exponent - y.exponent);
  if (x.negative == y.negative) return {x.magnitude + low, x.exponent, x.negative};
  const bool is_less = x.magnitude < low;
  return {is_less ? low - x.magnitude : x.magnitude - low, x.exponent, x.negative != is_less};
}

// An exact zero of terms of both signs is +0, toward minus infinity -0.
constexpr Exact sum(const Exact& x, const Exact& y, ptx::Rounding rounding) {
  if (x.kind == Class::Nan || y.kind == Class::Nan) return exact_nan;
  if (x.kind == Class::Infinite)
    return y.kind == Class::Infinite && x.negative != y.negative ? exact_nan : x;
  if (y.kind == Class::Infinite) return y;
  const Exact nothing = zero(x.negative == y.negative ? x.negative : rounding == ptx::Rounding::Rm);
  if (x.magnitude == 0) return y.magnitude == 0 ? nothing : y;
  if (y.magnitude == 0) return x;
  const Exact found = add_finite(x, y);
  return found.magnitude == 0 ? nothing : found;
}

constexpr Exact product(const Exact& x, const Exact& y) {
  const bool negative = x.negative != y.negative;
  if (x.kind == Class::Nan || y.kind == Class::Nan) return exact_nan;
  if (x.kind == Class::Infinite || y.kind == Class::Infinite)
    return x.kind == Class::Zero || y.kind == Class::Zero ? exact_nan : infinity(negative);
  if (x.magnitude == 0 || y.magnitude == 0) return zero(negative);
  return {x.magnitude * y.magnitude, x.exponent + y.exponent, negative};
}

constexpr Exact fused(const Exact& x, const Exact& y, const Exact& z, ptx::Rounding rounding) {
  return sum(product(x, y), z, rounding);
}

constexpr Exact quotient(const Exact& x, const Exact& y) {
  const bool negative = x.negative != y.negative;
  if (x.kind == Class::Nan || y.kind == Class::Nan) return exact_nan;
  if (x.kind == Class::Infinite) return y.kind == Class::Infinite ? exact_nan : infinity(negative);
  if (y.kind == Class::Infinite) return zero(negative);
  if (y.magnitude == 0) return x.magnitude == 0 ? exact_nan : infinity(negative);
  if (x.magnitude == 0) return zero(negative);
  const Exact dividend = at_position(x, 125);
  const Uint128 found = dividend.magnitude / y.magnitude;
  const bool is_inexact = found * y.magnitude != dividend.magnitude;
  return {(found << 1) | (is_inexact ? 1U : 0U), dividend.exponent - y.exponent - 1, negative};
}

constexpr Exact square_root(const Exact& x) {
  if (x.kind == Class::Nan || x.kind == Class::Zero) return x;
  if (x.negative) return exact_nan;
  if (x.kind == Class::Infinite) return x;
  Exact scaled = at_position(x, 124);
  if (scaled.exponent % 2 != 0) scaled = at_position(x, 125);
  Uint128 root = 0;
  for (Uint128 bit = Uint128{1} << 62; bit != 0; bit >>= 1)
    if ((root | bit) * (root | bit) <= scaled.magnitude) root |= bit;
  const bool is_inexact = root * root != scaled.magnitude;
  return {(root << 1) | (is_inexact ? 1U : 0U), scaled.exponent / 2 - 1, false};
}

}  // namespace tcq::alu
