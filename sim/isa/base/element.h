// Element types of matrix operands: PTX name, width, exponent and fraction bits, bias, Inf/NaN
// rule.
//
// Decides how the bits of one element are to be read; sim/num/float_bits.h reads them. Example:
// e4m3 has bias 7, no infinity, and its largest value is 0x7e = 448.
//
// Source: PTX ISA 9.2, 5.2.3 "Alternate floating-point data formats", 9.7.15.3 "wgmma types".
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"

namespace tcq {

enum class Type : std::uint8_t {
  f16,
  bf16,
  tf32,
  e4m3,
  e5m2,
  s8,
  u8,
  b1,
  f32,
  s32,
  e2m3,
  e3m2,
  e2m1
};
inline constexpr int type_count = 13;

// How the all-ones exponent is read.
enum class Specials : std::uint8_t {
  Ieee,     // fraction 0: infinity, else NaN
  NanOnly,  // all ones: NaN, everything else finite (e4m3)
  Finite,   // every code is a number (e2m3, e3m2, e2m1)
};

struct FloatFormat {
  int exponent_bits;
  int fraction_bits;
  int bias;
  int ignored_low_bits;  // storage bits below the fraction that hardware drops (tf32: 13)
  Specials specials;
};

HOST_DEVICE constexpr const char* name(Type type) {
  switch (type) {
    case Type::f16: return "f16";
    case Type::bf16: return "bf16";
    case Type::tf32: return "tf32";
    case Type::e4m3: return "e4m3";
    case Type::e5m2: return "e5m2";
    case Type::s8: return "s8";
    case Type::u8: return "u8";
    case Type::b1: return "b1";
    case Type::f32: return "f32";
    case Type::s32: return "s32";
    case Type::e2m3: return "e2m3";
    case Type::e3m2: return "e3m2";
    case Type::e2m1: return "e2m1";
  }
  return "?";
}

// Unit: bits of one element. 4- and 6-bit elements may lie in wider containers (sim/isa/tcgen05/operand.h).
HOST_DEVICE constexpr int bits(Type type) {
  switch (type) {
    case Type::f16:
    case Type::bf16: return 16;
    case Type::e4m3:
    case Type::e5m2:
    case Type::s8:
    case Type::u8: return 8;
    case Type::e2m3:
    case Type::e3m2: return 6;
    case Type::e2m1: return 4;
    case Type::b1: return 1;
    case Type::tf32:
    case Type::f32:
    case Type::s32: return 32;
  }
  return 0;
}

HOST_DEVICE constexpr bool is_float(Type type) {
  return type != Type::s8 && type != Type::u8 && type != Type::b1 && type != Type::s32;
}

HOST_DEVICE constexpr bool is_fp8(Type type) { return type == Type::e4m3 || type == Type::e5m2; }

HOST_DEVICE constexpr bool is_fp6(Type type) { return type == Type::e2m3 || type == Type::e3m2; }

HOST_DEVICE constexpr bool is_int8(Type type) { return type == Type::s8 || type == Type::u8; }

// Requires: is_float(type).
HOST_DEVICE constexpr FloatFormat float_format(Type type) {
  switch (type) {
    case Type::f16: return {5, 10, 15, 0, Specials::Ieee};
    case Type::bf16: return {8, 7, 127, 0, Specials::Ieee};
    case Type::tf32: return {8, 10, 127, 13, Specials::Ieee};
    case Type::e4m3: return {4, 3, 7, 0, Specials::NanOnly};
    case Type::e5m2: return {5, 2, 15, 0, Specials::Ieee};
    case Type::e2m3: return {2, 3, 1, 0, Specials::Finite};
    case Type::e3m2: return {3, 2, 3, 0, Specials::Finite};
    case Type::e2m1: return {2, 1, 1, 0, Specials::Finite};
    default: return {8, 23, 127, 0, Specials::Ieee};
  }
}

// Elements of `type` that fill `bytes` bytes.
HOST_DEVICE constexpr int elements_in(Type type, int bytes) { return bytes * 8 / bits(type); }

// Elements that share a 32-bit register; part 0 lies in its lowest bits.
HOST_DEVICE constexpr int parts_per_register(Type type) { return 32 / bits(type); }

// The raw bits of one part of a register.
HOST_DEVICE constexpr std::uint32_t register_part(Type type, std::uint32_t word, int part) {
  const int width = bits(type);
  return width == 32 ? word : word >> (part * width) & ((std::uint32_t{1} << width) - 1);
}

// A register with `element` in one part and zeros elsewhere. Requires: element has bits(type) bits.
HOST_DEVICE constexpr std::uint32_t in_register_part(Type type, std::uint32_t element, int part) {
  return element << (part * bits(type) % 32);
}

}  // namespace tcq
