// Rounding: an exact sum, sum * 2^lsb_exponent, -> the bits of D.
//
// A result of zero is always +0. Toward-zero conversions still overflow to infinity. Example: the
// sum -3 at lsb_exponent -151 is -1.5 * 2^-150, below half the smallest f32: +0.
//
// Measured: tests/vectors/wgmma_directed.txt (families D, J, K, O)
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/num/dot_traits.h"

namespace tcq {

inline constexpr std::uint32_t canonical_nan_f32 = 0x7fffffff;
inline constexpr std::uint32_t canonical_nan_f16 = 0x7fff;

// What a conversion writes: precision of the value kept, and the format of the word.
struct OutputFormat {
  int significant_bits;  // kept of a normal result
  int fraction_bits;     // of the word
  int exponent_bits;
  int min_quantum;  // exponent of the smallest step kept
};

HOST_DEVICE constexpr OutputFormat output_format(Conversion conversion) {
  switch (conversion) {
    case Conversion::F32TowardZero: return {24, 23, 8, -149};
    case Conversion::E8M13TowardZero: return {14, 23, 8, -139};
    case Conversion::F16NearestEven: return {11, 10, 5, -24};
  }
  return {};
}

// Position of the highest set bit. Requires: value != 0.
HOST_DEVICE constexpr int floor_log2(std::uint64_t value) { return 63 - __builtin_clzll(value); }

HOST_DEVICE constexpr std::uint64_t shift_right(std::uint64_t value, int count) {
  return count > 63 ? 0 : value >> count;
}

HOST_DEVICE constexpr std::uint64_t nearest_even_shift_right(std::uint64_t value, int count) {
  if (count > 63) return 0;
  const std::uint64_t kept = value >> count;
  const std::uint64_t rest = value - (kept << count);
  const std::uint64_t half = std::uint64_t{1} << (count - 1);
  return kept + ((rest > half || (rest == half && kept % 2 != 0)) ? 1 : 0);
}

// Bits of infinity in the word's format, sign included.
HOST_DEVICE constexpr std::uint32_t infinity_bits(Conversion conversion, bool negative) {
  const OutputFormat f = output_format(conversion);
  const std::uint32_t exponent = ((1u << f.exponent_bits) - 1) << f.fraction_bits;
  return exponent | (negative ? 1u << (f.fraction_bits + f.exponent_bits) : 0u);
}

HOST_DEVICE constexpr std::uint32_t nan_bits(Conversion conversion) {
  return conversion == Conversion::F16NearestEven ? canonical_nan_f16 : canonical_nan_f32;
}

// Bit budget: |sum| < 2^63; the callers' sums stay below 2^33 (fused_sum.h) and 2^49
// (block_scaled_sum.h), and the value of one step above 2^-1074.
HOST_DEVICE constexpr std::uint32_t round_sum(Conversion conversion, std::int64_t sum,
                                              int lsb_exponent) {
  if (sum == 0) return 0;
  const OutputFormat f = output_format(conversion);
  const bool negative = sum < 0;
  const auto magnitude = static_cast<std::uint64_t>(negative ? -sum : sum);
  const int exponent = floor_log2(magnitude) + lsb_exponent;
  const int wanted = exponent - (f.significant_bits - 1);
  const int quantum = wanted > f.min_quantum ? wanted : f.min_quantum;
  const int drop = quantum - lsb_exponent;
  std::uint64_t kept = drop <= 0 ? magnitude << -drop
                       : conversion == Conversion::F16NearestEven
                           ? nearest_even_shift_right(magnitude, drop)
                           : shift_right(magnitude, drop);
  if (kept == 0) return 0;
  // Widen to the word's fraction; a kept value of 2^fraction_bits and more adds into the exponent.
  const int widen = f.fraction_bits + 1 - f.significant_bits;
  const std::uint64_t steps_above_min = static_cast<std::uint64_t>(quantum - f.min_quantum);
  const std::uint64_t word = (steps_above_min << f.fraction_bits) + (kept << widen);
  const std::uint32_t infinity = infinity_bits(conversion, false);
  const std::uint32_t unsigned_bits =
      word >= infinity ? infinity : static_cast<std::uint32_t>(word);
  return unsigned_bits | (negative ? 1u << (f.fraction_bits + f.exponent_bits) : 0u);
}

}  // namespace tcq
