// A cvt from or to floats as the words that matter, and the two ways in which it is computed.
//
// exact_conversion() has all of them, through exact numbers: the reference. direct_conversion() has those that kernels
// are full of, in loops over the host's own values, for speed; tests/alu/convert_direct_test.cc holds
// each against the reference. Example: {F32, U32, Rz} is cvt.rz.f32.u32.
//
// Source: PTX ISA 9.2, 9.7.9.22 "cvt"
#pragma once

#include <cstdint>
#include <type_traits>

#include "sim/alu/lanes.h"
#include "sim/ptx/form.h"

namespace tcq::alu {

struct Conversion {
  ptx::Type to = ptx::Type::None, from = ptx::Type::None;
  ptx::Rounding mode = ptx::Rounding::Rn;
  ptx::Saturate saturate = ptx::Saturate::None;
  bool flushes = false, relu = false;

  friend constexpr bool operator==(const Conversion&, const Conversion&) = default;
};

Evaluate exact_conversion(const ptx::Form& form);     // convert_float.cc
Evaluate direct_conversion(const Conversion& asked);  // convert_direct.cc; null: there is none

// 8 and 16 bits extend to the whole cell: a register of 16 bits is read by its low half.
template <class D>
using Widened = std::conditional_t<sizeof(D) == 1 && std::is_signed_v<D>, std::int16_t, D>;

// for_integer(), and bytes.
template <class Make>
Evaluate with_bytes(ptx::Type type, Make make) {
  if (type == ptx::Type::U8 || type == ptx::Type::B8) return make(std::uint8_t{});
  return type == ptx::Type::S8 ? make(std::int8_t{}) : for_integer(type, make);
}

}  // namespace tcq::alu
