// Division of indices by a number that is known long before them: where a quotient must not wait for a chip's
// subroutine. Example: Divisor(7).quotient(48) is 6.
//
// With 2^(shift - 1) < value <= 2^shift the factor exceeds 2^(31 + shift) / value by less than 1, which a dividend
// below 2^31 makes less than 1 / value of the quotient. Tested beside division: tests/isa/divisor_test.cc.
//
// Source: Granlund and Montgomery, "Division by Invariant Integers using Multiplication", PLDI 1994.
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"

namespace tcq {

// Requires: dividend >= 0, and a power of two.
HOST_DEVICE constexpr int remainder_of_power(int dividend, int power) {
  return dividend & (power - 1);
}

struct Divisor {
  int value;
  std::uint32_t factor;  // 2^(31 + shift) / value, rounded up
  int shift = 0;

  constexpr Divisor() : Divisor(1) {}
  // By 1, if the number is 0: of nothing, which has no index.
  constexpr explicit Divisor(int number) : value(number > 0 ? number : 1) {
    while ((std::int64_t{1} << shift) < value) ++shift;
    const std::uint64_t power = std::uint64_t{1} << (31 + shift);
    const auto divisor = static_cast<std::uint64_t>(value);
    factor = static_cast<std::uint32_t>((power + divisor - 1) / divisor);
  }
  // Requires: dividend >= 0.
  HOST_DEVICE constexpr int quotient(int dividend) const {
    return static_cast<int>(static_cast<std::uint64_t>(dividend) * factor >> (31 + shift));
  }
};

}  // namespace tcq
