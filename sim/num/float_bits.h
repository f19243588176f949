// Decoding: the bits of one element -> class, sign, integer significand, exponent.
//
// value = (-1)^negative * significand * 2^(exponent - fraction_bits of the format). Subnormals keep
// the smallest exponent and are neither flushed nor normalised. Example: f16 0x0200 (2^-15) gives
// significand 512, exponent -14. The sum that uses this is fused_sum.h.
//
// Measured: tests/vectors/wgmma_directed.txt (families C, T, I)
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"

namespace tcq {

// Bits of a set, so that the classes of many operands can be or-ed together.
enum class Class : std::uint8_t { Zero = 1, Finite = 2, Infinite = 4, Nan = 8 };

struct Decoded {
  std::int32_t significand;  // with the operand's sign; 0 for zero, infinity and NaN
  std::int16_t exponent;     // zero_exponent if the significand is 0
  Class kind;
  bool negative;
};

// Far below every exponent that a product can have, so that zeros never win a maximum.
inline constexpr int zero_exponent = -8192;

HOST_DEVICE constexpr bool is_special(Class kind) {
  return kind == Class::Infinite || kind == Class::Nan;
}

// Requires: is_float(type). `negate` flips the sign bit first.
HOST_DEVICE constexpr Decoded decode_float(Type type, std::uint32_t word, bool negate = false) {
  const FloatFormat format = float_format(type);
  const std::uint32_t used = word >> format.ignored_low_bits;
  const std::uint32_t fraction_mask = (1u << format.fraction_bits) - 1;
  const std::uint32_t field_mask = (1u << format.exponent_bits) - 1;
  const std::uint32_t fraction = used & fraction_mask;
  const std::uint32_t field = used >> format.fraction_bits & field_mask;
  const bool sign = (used >> (format.fraction_bits + format.exponent_bits) & 1u) != 0;
  const bool negative = sign != negate;

  if (field == field_mask) {
    if (format.specials == Specials::Ieee)
      return {0, zero_exponent, fraction == 0 ? Class::Infinite : Class::Nan, negative};
    if (format.specials == Specials::NanOnly && fraction == fraction_mask)
      return {0, zero_exponent, Class::Nan, negative};
  }
  if (field == 0 && fraction == 0) return {0, zero_exponent, Class::Zero, negative};
  const std::uint32_t hidden = field == 0 ? 0 : fraction_mask + 1;
  const auto magnitude = static_cast<std::int32_t>(fraction | hidden);
  const int exponent = (field == 0 ? 1 : static_cast<int>(field)) - format.bias;
  return {negative ? -magnitude : magnitude, static_cast<std::int16_t>(exponent), Class::Finite,
          negative};
}

// Integer elements: s8 is sign-extended, u8 and b1 are not, s32 is the word itself.
HOST_DEVICE constexpr std::int32_t decode_integer(Type type, std::uint32_t word) {
  switch (type) {
    case Type::s8: return static_cast<std::int32_t>((word & 0xffu) ^ 0x80u) - 0x80;
    case Type::u8: return static_cast<std::int32_t>(word & 0xffu);
    case Type::b1: return static_cast<std::int32_t>(word & 1u);
    default: return static_cast<std::int32_t>(word);
  }
}

}  // namespace tcq
