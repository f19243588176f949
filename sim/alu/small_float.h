// Values that are not the host's: f16 and bf16 as floats, subnormals flushed.
//
// Every f16 and bf16 is a float, so that comparing and sorting them is a float's. Example: of<HalfF16>(0x3c00) = 1.
//
// Source: PTX ISA 9.2, 9.7.3 "Floating-Point Instructions" (.ftz keeps the sign of what it flushes)
#pragma once

#include <bit>
#include <cstdint>

#include "sim/alu/lanes.h"

namespace tcq::alu {

inline constexpr std::uint32_t sign_bit_f32 = 0x80000000;
inline constexpr std::uint32_t infinity_f32 = 0x7f800000;
inline constexpr std::uint32_t least_normal_f32 = 0x00800000;

constexpr float flush(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const bool is_small = (bits & ~sign_bit_f32) < least_normal_f32;
  return std::bit_cast<float>(is_small ? bits & sign_bit_f32 : bits);
}

constexpr float bf16_value(std::uint32_t word) { return std::bit_cast<float>(word << 16); }

// Bits 10 to 14 are the exponent: moved into place and scaled from bias 15 to bias 127, which subnormals survive.
constexpr float f16_value(std::uint32_t word) {
  constexpr float scale = 0x1p112f;
  const std::uint32_t magnitude = word & 0x7fff;
  const std::uint32_t sign = (word & 0x8000) << 16;
  const float scaled = std::bit_cast<float>(magnitude << 13) * scale;
  const std::uint32_t bits = magnitude >= 0x7c00 ? infinity_f32 | (magnitude & 0x3ff) << 13
                                                 : std::bit_cast<std::uint32_t>(scaled);
  return std::bit_cast<float>(bits | sign);
}

}  // namespace tcq::alu
