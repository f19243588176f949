// FP8, or e2m1, of a block of wider elements, and the factor that gives them back: an element is about factor * its code.
//
// factor = the largest finite magnitude of the block by the largest of the type, rounded; at least 2^-126; 1 if all are
// zero; or the next power of two from there on. An element times 1 / factor (rounded once, then the product) goes to the
// nearest of the type, ties to even; what is beyond the largest becomes it, infinities too; a NaN stays one, and is the
// largest of e2m1, which has none. Example: of a block whose largest magnitude is 3.5, e4m3: factor 3.5 / 448 = 0.0078125, and
// 3.5 becomes 448, 0x7e.
//
// A factor that is a byte, as tcgen05 multiplies by it, is that power of two (ue8m0), or the nearest of ue4m3, ties to
// even, from its least that is not 0 up to its largest. Example: largest magnitude 3.5, e2m1, ue4m3: 0.5833 becomes
// 0.5625, 0x31; 3.5 / 0.5625 = 6.2 becomes 6, 7.
//
// Source: PTX ISA 9.2, 9.7.9.22 "cvt" (.rn.satfinite.e4m3x2.f32: NaN is 0x7f, in both types; e2m1x2: the largest).
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/num/activation.h"
#include "sim/num/float_bits.h"
#include "sim/num/narrow.h"

namespace tcq {

// Elements of a row beside each other that share a factor, where a row has several.
inline constexpr int quantized_block = 128;

// Requires, here and below: type is e4m3, e5m2 or e2m1.
HOST_DEVICE constexpr float largest_quantized(Type type) {
  if (type == Type::e2m1) return 6.0f;
  return type == Type::e4m3 ? 448.0f : 57344.0f;
}

// To nearest even, saturated. `word` is an f32.
HOST_DEVICE constexpr std::uint8_t narrow_quantized(Type type, std::uint32_t word) {
  const Decoded value = decode_float(Type::f32, word);
  const bool has_nan = type != Type::e2m1;
  const std::uint8_t largest = !has_nan ? 7 : type == Type::e4m3 ? 0x7e : 0x7b;
  if (value.kind == Class::Nan) return has_nan ? 0x7f : largest;
  const auto sign = static_cast<std::uint8_t>(value.negative ? 1 << (bits(type) - 1) : 0);
  if (value.kind == Class::Zero) return sign;
  if (value.kind == Class::Infinite) return sign | largest;
  const std::uint64_t out = nearest_code(type, value);
  return sign | (out > largest ? largest : static_cast<std::uint8_t>(out));
}

// The next power of two, itself if it is one. Requires: positive, normal, at most 2^127.
HOST_DEVICE inline float power_of_two_from(float x) {
  constexpr std::uint32_t fraction = 0x7fffff;
  const auto word = __builtin_bit_cast(std::uint32_t, x);
  return __builtin_bit_cast(float, (word + fraction) & ~fraction);
}

// `largest` is the block's largest finite magnitude.
HOST_DEVICE inline float block_factor_of(float largest, Type type, bool power_of_two) {
  if (largest == 0) return 1;
  constexpr float least = 0x1p-126f;
  const float exact = rounded::divide(largest, largest_quantized(type));
  const float factor = exact < least ? least : exact;
  return power_of_two ? power_of_two_from(factor) : factor;
}

// What an element counts in the search for the largest: not what is no number, nor an infinity.
HOST_DEVICE inline float finite_magnitude(float x) {
  const float magnitude = x < 0 ? -x : x;
  return magnitude <= 0x1.fffffep127f ? magnitude : 0;
}

HOST_DEVICE inline float inverse_of(float factor) { return rounded::divide(1.0f, factor); }

// --- factors that are bytes ------------------------------------------------------------------------

inline constexpr float least_normal_ue4m3 = 0x1p-6f;
inline constexpr float least_ue4m3 = 0x1p-9f;
// Fraction bits that f32 has besides, and the difference of the biases.
inline constexpr int besides_ue4m3 =
    float_format(Type::f32).fraction_bits - float_format(Type::e4m3).fraction_bits;
inline constexpr int rebias_ue4m3 = float_format(Type::f32).bias - float_format(Type::e4m3).bias;

// Requires: x is not below 0.
HOST_DEVICE inline float nearest_ue4m3(float x) {
  constexpr float spaced = 0x1p14f;  // here f32's neighbours are least_ue4m3 apart
  if (x < least_normal_ue4m3) {
    const float nearest = rounded::add(rounded::add(x, spaced), -spaced);
    return nearest < least_ue4m3 ? least_ue4m3 : nearest;
  }
  constexpr float largest = largest_quantized(Type::e4m3);
  if (x >= largest) return largest;
  constexpr int dropped = besides_ue4m3;
  const auto word = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t up = (1u << (dropped - 1)) - 1 + (word >> dropped & 1);
  return __builtin_bit_cast(float, (word + up) & ~((1u << dropped) - 1));
}

// Of a block whose largest finite magnitude is `largest`.
HOST_DEVICE inline float coded_factor_of(float largest, Type type, tcgen05::ScaleType code) {
  if (code == tcgen05::ScaleType::ue8m0) return block_factor_of(largest, type, true);
  return largest == 0 ? 1 : nearest_ue4m3(rounded::divide(largest, largest_quantized(type)));
}

// The byte of such a factor.
HOST_DEVICE inline std::uint8_t code_of_factor(float factor, tcgen05::ScaleType code) {
  const auto word = __builtin_bit_cast(std::uint32_t, factor);
  constexpr int exponent_at = float_format(Type::f32).fraction_bits;
  if (code == tcgen05::ScaleType::ue8m0) return static_cast<std::uint8_t>(word >> exponent_at);
  if (factor < least_normal_ue4m3)
    return static_cast<std::uint8_t>(rounded::multiply(factor, 1 / least_ue4m3));
  constexpr std::uint32_t before = rebias_ue4m3 << float_format(Type::e4m3).fraction_bits;
  return static_cast<std::uint8_t>((word >> besides_ue4m3) - before);
}

}  // namespace tcq
