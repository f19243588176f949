// Results of two or three floats, exact but for one bit: doubles rounded to odd.
//
// A double that was rounded to odd (inexact results get an odd last bit) can be rounded once more, to any format of
// 51 bits or less and in any direction, as if it were exact. f32, f16 and bf16 never leave the range of a double
// here. Example: odd_sum(1, 2^-60) is the successor of 1, which rounds up to f32 1 + 2^-23 with .rp.
//
// Source: Boldo, Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd"
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "sim/ptx/modifier.h"

namespace tcq::alu {

// `value` is the exact result rounded to nearest, `error` has the sign of exact - value.
inline double to_odd(double value, double error) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool is_exact = !(error < 0 || error > 0) || !std::isfinite(value);
  if (is_exact || bits % 2 != 0) return value;
  return std::bit_cast<double>((error > 0) == (value > 0) ? bits + 1 : bits - 1);
}

inline double odd_sum(double x, double y) {
  const double sum = x + y;
  const double y_part = sum - x;
  const double error = (x - (sum - y_part)) + (y - y_part);
  return to_odd(sum, error);
}

// Requires: x and y are floats, here and below.
inline double odd_quotient(double x, double y) {
  const double quotient = x / y;
  if (y == 0 || !std::isfinite(quotient) || !std::isfinite(y)) return quotient;
  const double rest = std::fma(-quotient, y, x);
  return to_odd(quotient, y < 0 ? -rest : rest);
}

inline double odd_root(double x) {
  const double root = std::sqrt(x);
  return std::isfinite(root) ? to_odd(root, std::fma(-root, root, x)) : root;
}

// A sum that cancels is -0 when rounded down.
template <ptx::Rounding mode>
double signed_zero_sum(double x, double y) {
  const double sum = odd_sum(x, y);
  const bool cancels = sum == 0 && std::signbit(x) != std::signbit(y);
  return mode == ptx::Rounding::Rm && cancels ? -0.0 : sum;
}

template <ptx::Rounding mode>
float to_float(double x) {
  const auto nearest = static_cast<float>(x);
  if constexpr (mode == ptx::Rounding::Rn || mode == ptx::Rounding::None) return nearest;
  const double back = nearest;
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  const bool shrink = mode == ptx::Rounding::Rz   ? std::fabs(back) > std::fabs(x)
                      : mode == ptx::Rounding::Rm ? back > x && back > 0
                                                  : back < x && back < 0;
  const bool grow = mode == ptx::Rounding::Rm   ? back > x && !(back > 0)
                    : mode == ptx::Rounding::Rp ? back < x && !(back < 0)
                                                : false;
  return std::bit_cast<float>(shrink ? bits - 1 : grow ? bits + 1 : bits);
}

// Rounded to 24 bits where no result is subnormal, is it still below the smallest normal number? So asks .ftz.
template <ptx::Rounding mode>
bool is_flushed(double exact) {
  return std::fabs(to_float<mode>(exact * 0x1p64)) < 0x1p-62F;
}

// To odd once more, in 24 bits.
inline float to_odd_float(double x) {
  const float toward_zero = to_float<ptx::Rounding::Rz>(x);
  const bool is_exact =
      !(static_cast<double>(toward_zero) < x || static_cast<double>(toward_zero) > x);
  return is_exact ? toward_zero
                  : std::bit_cast<float>(std::bit_cast<std::uint32_t>(toward_zero) | 1);
}

}  // namespace tcq::alu
