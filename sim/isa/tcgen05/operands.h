// The operands of a tcgen05 statement, in the order in which PTX writes them.
//
// Decides which operands a form has and what may stand there; vector lengths are
// sim/isa/tcgen05/instruction.h. Example: mma.sp of kind f16 with A in shared memory has [d], a-desc,
// b-desc, [sp-meta], idesc, enable-input-d.
//
// Source: PTX ISA 9.2, 9.7.16.7 to 9.7.16.12, "Syntax" of each instruction.
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/tcgen05/instruction.h"

namespace tcq::tcgen05 {

enum class Operand : std::uint8_t {
  D,
  ADesc,
  ATmem,
  BDesc,
  SpMeta,
  Idesc,
  DisableOutputLane,
  ScaleA,
  ScaleB,
  EnableInputD,
  ScaleInputD,
  ZeroColumnMask,
  Loaded,
  Stored,
  Reduced,
  Taddr,
  HalfSplit,
  SourceDesc,
  AllocDst,
  AllocTaddr,
  Columns,
  Mbar,
  CtaMask
};
inline constexpr int operand_count = 23;

// The manual's word; brackets are part of the operand.
HOST_DEVICE constexpr const char* name(Operand operand) {
  switch (operand) {
    case Operand::D: return "[d]";
    case Operand::ADesc: return "a-desc";
    case Operand::ATmem: return "[a]";
    case Operand::BDesc: return "b-desc";
    case Operand::SpMeta: return "[sp-meta]";
    case Operand::Idesc: return "idesc";
    case Operand::DisableOutputLane: return "disable-output-lane";
    case Operand::ScaleA: return "[scale-A]";
    case Operand::ScaleB: return "[scale-B]";
    case Operand::EnableInputD: return "enable-input-d";
    case Operand::ScaleInputD: return "scale-input-d";
    case Operand::ZeroColumnMask: return "zero-column-mask-desc";
    case Operand::Loaded:
    case Operand::Stored: return "r";
    case Operand::Reduced: return "redval";
    case Operand::Taddr: return "[taddr]";
    case Operand::HalfSplit: return "immHalfSplitoff";
    case Operand::SourceDesc: return "s-desc";
    case Operand::AllocDst: return "[dst]";
    case Operand::AllocTaddr: return "taddr";
    case Operand::Columns: return "nCols";
    case Operand::Mbar: return "[mbar]";
    case Operand::CtaMask: return "ctaMask";
  }
  return "?";
}

// What may stand there.
HOST_DEVICE constexpr const char* values(Operand operand) {
  switch (operand) {
    case Operand::D:
    case Operand::ATmem:
    case Operand::SpMeta:
    case Operand::ScaleA:
    case Operand::ScaleB:
    case Operand::Taddr: return "[.b32 register] or [.b32 register + immediate]";
    case Operand::ADesc:
    case Operand::BDesc:
    case Operand::SourceDesc:
    case Operand::ZeroColumnMask: return ".b64 register or immediate";
    case Operand::Idesc: return ".b32 register or immediate of 32 bits";
    case Operand::DisableOutputLane:
    case Operand::Stored: return "vector of .b32 registers";
    case Operand::Loaded: return "vector of .b32 registers or _";
    case Operand::EnableInputD: return ".pred register, or immediate 0 or 1";
    case Operand::ScaleInputD: return "immediate in [0, 15]";
    case Operand::Reduced: return ".b32 register";
    case Operand::HalfSplit: return "immediate";
    case Operand::AllocDst:
    case Operand::Mbar: return "address in shared memory";
    case Operand::AllocTaddr: return ".b32 register or immediate, without brackets";
    case Operand::Columns: return ".b32 register, or immediate 32, 64, 128, 256 or 512";
    case Operand::CtaMask: return ".b16 register";
  }
  return "?";
}

// Cells of Tensor Memory, as an address in brackets.
HOST_DEVICE constexpr bool is_tmem_address(Operand operand) {
  switch (operand) {
    case Operand::D:
    case Operand::ATmem:
    case Operand::SpMeta:
    case Operand::ScaleA:
    case Operand::ScaleB:
    case Operand::Taddr: return true;
    default: return false;
  }
}

struct OperandList {
  static constexpr int capacity = 10;
  Operand items[capacity] = {};
  int size = 0;

  HOST_DEVICE constexpr void add(Operand operand) { items[size++] = operand; }
  HOST_DEVICE constexpr void add_if(bool given, Operand operand) {
    if (given) add(operand);
  }
};

HOST_DEVICE constexpr OperandList operands(const MmaForm& f) {
  const bool scaled = is_block_scaled(f.opcode.kind);
  OperandList list;
  list.add(Operand::D);
  list.add(f.opcode.a_place == Place::Tmem ? Operand::ATmem : Operand::ADesc);
  list.add(Operand::BDesc);
  list.add_if(f.opcode.sparse, Operand::SpMeta);
  list.add(Operand::Idesc);
  list.add_if(f.disable_output_lane, Operand::DisableOutputLane);
  list.add_if(scaled, Operand::ScaleA);
  list.add_if(scaled, Operand::ScaleB);
  list.add(Operand::EnableInputD);
  list.add_if(f.scale_input_d, Operand::ScaleInputD);
  list.add_if(f.zero_column_mask, Operand::ZeroColumnMask);
  return list;
}

HOST_DEVICE constexpr OperandList operands(const LdForm& f) {
  OperandList list;
  list.add(Operand::Loaded);
  list.add(Operand::Taddr);
  list.add_if(has_half_split(f.shape), Operand::HalfSplit);
  return list;
}

HOST_DEVICE constexpr OperandList operands(const LdRedForm& f) {
  OperandList list;
  list.add(Operand::Loaded);
  list.add(Operand::Reduced);
  list.add(Operand::Taddr);
  list.add_if(has_half_split(f.shape), Operand::HalfSplit);
  return list;
}

HOST_DEVICE constexpr OperandList operands(const StForm& f) {
  OperandList list;
  list.add(Operand::Taddr);
  list.add_if(has_half_split(f.shape), Operand::HalfSplit);
  list.add(Operand::Stored);
  return list;
}

HOST_DEVICE constexpr OperandList operands(const CpForm&) {
  OperandList list;
  list.add(Operand::Taddr);
  list.add(Operand::SourceDesc);
  return list;
}

HOST_DEVICE constexpr OperandList operands(const ShiftForm&) {
  OperandList list;
  list.add(Operand::Taddr);
  return list;
}

HOST_DEVICE constexpr OperandList operands(const AllocForm&) {
  OperandList list;
  list.add(Operand::AllocDst);
  list.add(Operand::Columns);
  return list;
}

HOST_DEVICE constexpr OperandList operands(const DeallocForm&) {
  OperandList list;
  list.add(Operand::AllocTaddr);
  list.add(Operand::Columns);
  return list;
}

HOST_DEVICE constexpr OperandList operands(const CommitForm& f) {
  OperandList list;
  list.add(Operand::Mbar);
  list.add_if(f.multicast, Operand::CtaMask);
  return list;
}

HOST_DEVICE constexpr OperandList operands(const RelinquishForm&) { return {}; }
HOST_DEVICE constexpr OperandList operands(const WaitForm&) { return {}; }
HOST_DEVICE constexpr OperandList operands(const FenceForm&) { return {}; }

// Registers that a vector operand has; 0 for operands that are no vectors.
HOST_DEVICE constexpr int vector_registers(const MmaForm& f) {
  return f.disable_output_lane ? disable_output_lane_registers(f.opcode) : 0;
}
HOST_DEVICE constexpr int vector_registers(const LdForm& f) { return registers(f.shape, f.num); }
HOST_DEVICE constexpr int vector_registers(const StForm& f) { return registers(f.shape, f.num); }
HOST_DEVICE constexpr int vector_registers(const LdRedForm& f) { return registers(f.shape, f.num); }
template <class Form>
HOST_DEVICE constexpr int vector_registers(const Form&) {
  return 0;
}

}  // namespace tcq::tcgen05
