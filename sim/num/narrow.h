// f32 -> f16 or bf16, to nearest even: how a result leaves an f32 epilogue.
//
// NaN becomes 0x7fff in both; overflow becomes infinity; subnormals are kept. Not an instruction's
// rounding of a sum: that is round.h. Example: narrow(Type::bf16, 0x3f808000) = 0x3f80, the even
// neighbour of a tie.
//
// Source: PTX ISA 9.2, 9.7.9.22 "cvt" (.rn.f16.f32, .rn.bf16.f32; NaN results are canonical).
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/num/float_bits.h"
#include "sim/num/round.h"

namespace tcq {

inline constexpr std::uint32_t canonical_nan_16 = 0x7fff;  // of f16 and bf16

// The code of `type` nearest to an f32's magnitude, even if a tie, as if exponents went on for ever: those behind the
// largest are the caller's. Requires: the value is finite and not 0.
HOST_DEVICE constexpr std::uint64_t nearest_code(Type type, const Decoded& value) {
  const FloatFormat to = float_format(type);
  const auto magnitude =
      static_cast<std::uint64_t>(value.negative ? -value.significand : value.significand);
  const int lsb = value.exponent - float_format(Type::f32).fraction_bits;
  const int min_quantum = 1 - to.bias - to.fraction_bits;
  const int wanted = floor_log2(magnitude) + lsb - to.fraction_bits;
  const int quantum = wanted > min_quantum ? wanted : min_quantum;
  const int drop = quantum - lsb;
  const std::uint64_t kept =
      drop <= 0 ? magnitude << -drop : nearest_even_shift_right(magnitude, drop);
  // A kept value of 2^fraction_bits and more adds into the exponent.
  return (static_cast<std::uint64_t>(quantum - min_quantum) << to.fraction_bits) + kept;
}

// Requires: type is f16 or bf16. `word` is an f32.
HOST_DEVICE constexpr std::uint32_t narrow(Type type, std::uint32_t word) {
  const FloatFormat to = float_format(type);
  const Decoded value = decode_float(Type::f32, word);
  if (value.kind == Class::Nan) return canonical_nan_16;
  const std::uint32_t sign = value.negative ? 1u << (to.exponent_bits + to.fraction_bits) : 0;
  const std::uint32_t infinity = ((1u << to.exponent_bits) - 1) << to.fraction_bits;
  if (value.kind == Class::Infinite) return sign | infinity;
  if (value.kind == Class::Zero) return sign;
  const std::uint64_t out = nearest_code(type, value);
  return sign | (out >= infinity ? infinity : static_cast<std::uint32_t>(out));
}

}  // namespace tcq
