// Decoding a scale factor of block-scaled tcgen05.mma: its byte -> significand and exponent.
//
// value = significand * 2^(exponent - scale_fraction_bits), for both formats. ue8m0 is a bare
// exponent: 00 is 2^-127, not zero, and ff is NaN. ue4m3 is e4m3 without its sign bit, which is
// ignored: b8 means 38, 00 and 80 are zero, 7f and ff are NaN, subnormals keep exponent -6. Example:
// ue4m3 3c is 12 * 2^(0 - 3) = 1.5. Where scale factors lie in Tensor Memory is not decided here.
//
// Source: PTX ISA 9.2, 5.2.3 "Alternate floating-point data formats" (ue8m0, ue4m3); MMA-Sim, arXiv
// 2511.10909, with its tests on a B200 (ignored sign, subnormals, NaN)
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/num/dot_traits.h"
#include "sim/num/float_bits.h"

namespace tcq::tcgen05 {

inline constexpr int scale_fraction_bits = 3;

struct Scale {
  std::int32_t significand;  // 0 for zero and NaN, else up to 15
  std::int32_t exponent;     // zero_exponent if the significand is 0
  bool nan;
};

HOST_DEVICE constexpr Scale decode_scale(ScaleType type, std::uint32_t byte) {
  if (type == ScaleType::ue8m0) {
    constexpr std::uint32_t nan_byte = 0xff;
    if (byte == nan_byte) return {0, zero_exponent, true};
    return {1 << scale_fraction_bits, static_cast<int>(byte) - 127, false};
  }
  const Decoded unsigned_value = decode_float(Type::e4m3, byte & ~(1u << 7));
  return {unsigned_value.significand, unsigned_value.exponent, unsigned_value.kind == Class::Nan};
}

// An operand times a power of two: its significand is left alone, so that alignment sees the sum of
// the exponents; that of a zero stays below every floor. Requires: a scale of ue8m0 that is no NaN.
HOST_DEVICE constexpr Decoded scaled(Decoded x, const Scale& scale) {
  x.exponent = static_cast<std::int16_t>(x.exponent + scale.exponent);
  return x;
}

// Both scale factors and the other operand as large as they get: a zero still loses to every floor.
static_assert(zero_exponent + 2 * 127 + 128 < packed_4bit_floor_exponent);
static_assert(float_format(Type::e4m3).fraction_bits == scale_fraction_bits);

}  // namespace tcq::tcgen05
