// Constant expressions: what a text computes before it is run.
//
// Decides precedence, signedness and the bits of literals. Example: "(1 << 4) - 1" is 15, "0f3F800000" is
// the f32 of these bits, "1.5" an f64.
//
// Source: PTX ISA 9.2, 4.5 "Constants"; 64 bits, which wrap
#pragma once

#include <cstdint>

#include "sim/ptx/cursor.h"

namespace tcq::ptx {

struct Constant {
  OperandKind kind = OperandKind::Integer;  // or Float32, Float64
  bool is_unsigned = false;
  std::int64_t value = 0;  // bits
};

// Whether a constant begins at the token; a name does not.
bool begins_constant(const Token& token);

// A whole expression.
Constant read_constant(Cursor& cursor);
// What may follow a sign: no sum, so that "a+4-8" is (a+4)-8.
std::int64_t read_term(Cursor& cursor);

// The offset of name+4-8; 0 if none follows.
std::int64_t read_offset(Cursor& cursor);

}  // namespace tcq::ptx
