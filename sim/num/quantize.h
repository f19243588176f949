// FP8 of a block of wider elements, and the factor that gives them back: an element is about factor * FP8.
//
// factor = the largest finite magnitude of the block by the largest of the type, rounded; at least 2^-126; 1 if all are
// zero; or the next power of two from there on. An element times 1 / factor (rounded once, then the product) goes to the
// nearest FP8, ties to even; what is beyond the largest becomes it, infinities too, a NaN stays one. Example: of a block
// whose largest magnitude is 3.5, e4m3: factor 3.5 / 448 = 0.0078125, and 3.5 becomes 448, 0x7e.
//
// Source: PTX ISA 9.2, 9.7.9.22 "cvt" (.rn.satfinite.e4m3x2.f32: NaN is 0x7f, in both types).
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/num/activation.h"
#include "sim/num/float_bits.h"
#include "sim/num/narrow.h"

namespace tcq {

// Elements of a row beside each other that share a factor, where a row has several.
inline constexpr int quantized_block = 128;

HOST_DEVICE constexpr float largest_fp8(Type type) {
  return type == Type::e4m3 ? 448.0f : 57344.0f;
}

// To nearest even, saturated. Requires: type is e4m3 or e5m2. `word` is an f32.
HOST_DEVICE constexpr std::uint8_t narrow_fp8(Type type, std::uint32_t word) {
  const Decoded value = decode_float(Type::f32, word);
  constexpr std::uint8_t nan = 0x7f;
  const std::uint8_t largest = type == Type::e4m3 ? 0x7e : 0x7b;
  if (value.kind == Class::Nan) return nan;
  const auto sign = static_cast<std::uint8_t>(value.negative ? 0x80 : 0);
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
  const float exact = rounded::divide(largest, largest_fp8(type));
  const float factor = exact < least ? least : exact;
  return power_of_two ? power_of_two_from(factor) : factor;
}

// What an element counts in the search for the largest: not what is no number, nor an infinity.
HOST_DEVICE inline float finite_magnitude(float x) {
  const float magnitude = x < 0 ? -x : x;
  return magnitude <= 0x1.fffffep127f ? magnitude : 0;
}

HOST_DEVICE inline float inverse_of(float factor) { return rounded::divide(1.0f, factor); }

}  // namespace tcq
