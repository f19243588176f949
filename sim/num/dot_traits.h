// The arithmetic of each wgmma kind: one row of constants per accumulator and operand type.
//
// Decides how many fraction bits survive alignment, how low the alignment exponent may go, and how
// the sum becomes D. dot.h and everything that describes the arithmetic read it from here.
//
// Measured: tests/vectors/wgmma_directed.txt, tests/vectors/wgmma_numeric.tcqv
#pragma once

#include <cstdint>

#include "sim/isa/element.h"
#include "sim/isa/host_device.h"

namespace tcq {

// How the exact aligned sum is converted to D.
enum class Conversion : std::uint8_t {
  F32TowardZero,    // 24 significant bits, the rest discarded
  E8M13TowardZero,  // 14 significant bits in an f32 word: its low 10 fraction bits are 0
  F16NearestEven,   // rounded once, straight from the sum
};

struct DotTraits {
  int fraction_bits;   // terms are cut to multiples of 2^(E - fraction_bits), E = largest exponent
  int floor_exponent;  // E is at least this
  Conversion conversion;

  friend constexpr bool operator==(const DotTraits&, const DotTraits&) = default;
};

// Floors: smallest exponent of D minus the 7 integer bits of the adder.
inline constexpr int f32_floor_exponent = -126 - 7;
inline constexpr int f16_floor_exponent = -14 - 7;

// Requires: a float accumulator `d` and a float operand type `a` (A and B behave alike).
HOST_DEVICE constexpr DotTraits wgmma_dot_traits(Type d, Type a) {
  const int fraction_bits = is_fp8(a) ? 13 : 25;
  if (d == Type::f16) return {fraction_bits, f16_floor_exponent, Conversion::F16NearestEven};
  return {fraction_bits, f32_floor_exponent,
          is_fp8(a) ? Conversion::E8M13TowardZero : Conversion::F32TowardZero};
}

HOST_DEVICE constexpr const char* name(Conversion conversion) {
  switch (conversion) {
    case Conversion::F32TowardZero: return "toward zero to f32";
    case Conversion::E8M13TowardZero: return "toward zero to E8M13 (14 significant bits)";
    case Conversion::F16NearestEven: return "to nearest even f16, once, from the sum";
  }
  return "?";
}

}  // namespace tcq
