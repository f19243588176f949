// The arithmetic of each wgmma and tcgen05.mma kind: one row of constants per kind and accumulator.
//
// Decides how many fraction bits survive alignment, how low the alignment exponent may go, and how
// the sum becomes D. dot.h, tcgen05_dot.h and everything that describes the arithmetic read it from
// here. How sure the rows of tcgen05 are: tcgen05_evidence.h.
//
// Measured: tests/vectors/wgmma_directed.txt, tests/vectors/wgmma_numeric.tcqv (wgmma)
// Source: MMA-Sim, arXiv 2511.10909, with its tests on a B200 (tcgen05)
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"

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

// Kinds mxf4 and mxf4nvf4 add whole groups of products: their adder has 13 integer bits.
// Inferred: floors are the smallest exponent of D minus those integer bits, which fits every chip
// whose floors were measured; for D = f16 a published port says -133 instead.
inline constexpr int packed_4bit_floor_exponent = -126 - 13;

// Requires: a floating-point kind and a D type that it has. A and B types change nothing.
HOST_DEVICE constexpr DotTraits tcgen05_dot_traits(tcgen05::Kind kind, Type d) {
  if (d == Type::f16) return {25, f16_floor_exponent, Conversion::F16NearestEven};
  if (tcgen05::is_packed_4bit(kind))
    return {35, packed_4bit_floor_exponent, Conversion::F32TowardZero};
  return {25, f32_floor_exponent, Conversion::F32TowardZero};
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
