// A number of any format, exact: what cvt reads and, rounded once, writes.
//
// decode_number() reads a word of a type, encode_number() rounds to another one. Example: of cvt.rn.bf16.f32 the word
// 3f808000 is 0x808000 * 2^-23 and becomes 3f80, the even neighbour.
//
// Source: PTX ISA 9.2, 9.7.9.22 "cvt"
#pragma once

#include <cstdint>

#include "sim/ptx/modifier.h"
#include "sim/ptx/types.h"

namespace tcq::alu {

enum class NumberKind : std::uint8_t { Finite, Infinite, Nan };

// (-1)^negative * magnitude * 2^exponent
struct Number {
  NumberKind kind = NumberKind::Finite;
  bool negative = false;
  std::uint64_t magnitude = 0;
  int exponent = 0;
};

struct Target {
  ptx::Type type;
  ptx::Rounding mode;
  bool is_finite = false;  // .satfinite: infinity and what overflows become the largest number
};

// Words of one element; what lies above it does not count. x2 types: decode their elements.
Number decode_number(ptx::Type type, std::uint64_t word);
std::uint64_t encode_number(const Target& target, const Number& number);

// To an integer in one of the directions rni, rzi, rmi, rpi; the sign of zero stays.
Number integral(ptx::Rounding mode, const Number& number);

// The nearest value of an integer type; 0 of NaN, 2^(bits - 1) where a type of 64 bits is read or written.
std::uint64_t encode_integer(ptx::Type type, ptx::Type from, const Number& number);

}  // namespace tcq::alu
