// The operands of a wgmma statement, in the order in which PTX writes them.
//
// Decides which operands and immediates a form has; their legal values are in fault.h. Example:
// tf32 with both operands in shared memory has d, a-desc, b-desc, scale-d, imm-scale-a,
// imm-scale-b.
//
// Source: PTX ISA 9.2, 9.7.15.5.2 and 9.7.15.6.3, "Syntax".
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::wgmma {

enum class Operand : std::uint8_t {
  D,
  ADesc,
  ARegisters,
  BDesc,
  SpMeta,
  SpSelector,
  ScaleD,
  ScaleA,
  ScaleB,
  TransA,
  TransB
};
inline constexpr int operand_count = 11;

// The manual's word.
HOST_DEVICE constexpr const char* name(Operand operand) {
  switch (operand) {
    case Operand::D: return "d";
    case Operand::ADesc: return "a-desc";
    case Operand::ARegisters: return "a";
    case Operand::BDesc: return "b-desc";
    case Operand::SpMeta: return "sp-meta";
    case Operand::SpSelector: return "sp-sel";
    case Operand::ScaleD: return "scale-d";
    case Operand::ScaleA: return "imm-scale-a";
    case Operand::ScaleB: return "imm-scale-b";
    case Operand::TransA: return "imm-trans-a";
    case Operand::TransB: return "imm-trans-b";
  }
  return "?";
}

// What may stand there.
HOST_DEVICE constexpr const char* values(Operand operand) {
  switch (operand) {
    case Operand::D:
    case Operand::ARegisters: return "vector of registers";
    case Operand::ADesc:
    case Operand::BDesc: return ".b64 register";
    case Operand::SpMeta: return ".b32 register";
    case Operand::SpSelector: return "immediate 0 or 1 (8-bit types: 0)";
    case Operand::ScaleD: return ".pred register, or immediate 0 or 1";
    case Operand::ScaleA:
    case Operand::ScaleB: return "immediate 1 or -1";
    case Operand::TransA:
    case Operand::TransB: return "immediate 0 (K-major) or 1 (MN-major)";
  }
  return "?";
}

// True if statements of this form have the operand; the enumerators are in the order of the text.
HOST_DEVICE constexpr bool has_operand(const Form& f, Operand operand) {
  switch (operand) {
    case Operand::D:
    case Operand::BDesc:
    case Operand::ScaleD: return true;
    case Operand::ADesc: return f.a_place == Place::Smem;
    case Operand::ARegisters: return f.a_place == Place::Registers;
    case Operand::SpMeta:
    case Operand::SpSelector: return f.sparse;
    case Operand::ScaleA:
    case Operand::ScaleB: return has_negate(f.a);
    case Operand::TransA: return has_major(f.a) && f.a_place == Place::Smem;
    case Operand::TransB: return has_major(f.b);
  }
  return false;
}

}  // namespace tcq::wgmma
