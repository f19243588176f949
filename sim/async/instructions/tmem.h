// tcgen05 on data: ld, st, cp, shift and mma.
//
// Order is checked when an instruction is issued, against what its warp knows then; the data moves
// later: each has one more member, move(), for that (tmem_data.h). Which cells a shape touches is
// sim/isa's business.
//
// Source: PTX ISA 9.2, 9.7.16.6, 9.7.16.8, 9.7.16.9, 9.7.16.10.9.
// Inferred: a use of a register that a ld fills waits for its value and orders nothing else; st
// takes its registers when it is issued; shift moves all lanes from its address on. An address of ld
// or st with the lane bits of warp 0 is taken as the warp's own, which is disputed: DeepGEMM 54e22612
// passes lane 0, and lane 16 for 16x256b, in every warp of its epilogues ("the hardware will ignore
// the warp index bits", sm100_store_cd.cuh, sm100_store_cd_swap_ab.cuh). Other foreign lanes are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/async/instructions/clause.h"
#include "sim/isa/tcgen05/fragment.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tmem/operand.h"

namespace tcq::machine {

class TmemData;  // tmem_data.h

// One warp; registers from `reg` on.
struct Tcgen05Ld {
  tcgen05::Fragment fragment;
  TmemOperand from;
  int reg = 0;

  static constexpr None touches{}, is_blocked{}, waiting{}, writes_global{};
  RegisterRange range() const { return {reg, tcgen05::registers(fragment)}; }
  RegisterUse registers() const { return {range(), from.registers()}; }
  Fault check(const Bounds&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
  Fault move(TmemData&) const;
};
struct Tcgen05St {
  tcgen05::Fragment fragment;
  TmemOperand to;
  int reg = 0;

  static constexpr None touches{}, is_blocked{}, waiting{}, writes_global{};
  RegisterRange range() const { return {reg, tcgen05::registers(fragment)}; }
  RegisterUse registers() const { return {range(), to.registers()}; }
  Fault check(const Bounds&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
  Fault move(TmemData&) const;
};

// One thread, as all below.
struct Tcgen05Cp {
  tcgen05::CpShape shape = tcgen05::CpShape::S128x256b;
  TmemOperand to;
  SmemOperand from;
  int cta_group = 1;

  static constexpr None touches{}, is_blocked{}, waiting{}, writes_global{};
  RegisterUse registers() const { return {to.registers()}; }
  Fault check(const Bounds&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
  Fault move(TmemData&) const;
};
struct Tcgen05Shift {
  TmemOperand at;
  int cta_group = 1;

  static constexpr None touches{}, is_blocked{}, waiting{}, writes_global{};
  RegisterUse registers() const { return {at.registers()}; }
  Fault check(const Bounds&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
  Fault move(TmemData&) const;
};

// What few of them have.
struct MmaOptions {
  TmemOperand metadata;             // opcode.sparse
  int scale_input_d = 0;            // D counts as D * 2^-this
  std::vector<std::uint32_t> kept;  // lanes of D that are not written: disable_words(); empty: none
  bool masks_columns = false;       // .ws, by the descriptor zero_columns
  std::uint64_t zero_columns = 0;
};

struct Tcgen05Mma {
  tcgen05::MmaOpcode opcode;
  tcgen05::InstructionDescriptor idesc;
  TmemOperand d;
  SmemOperand a;       // unless opcode.a_place is Tmem
  TmemOperand a_tmem;  // then
  SmemOperand b;
  bool accumulate = false;
  TmemOperand scale_a;  // block-scaled kinds
  TmemOperand scale_b;
  MmaOptions options;

  static constexpr None touches{}, is_blocked{}, waiting{}, writes_global{};
  RegisterUse registers() const {
    return {d.registers(), a_tmem.registers(), scale_a.registers(), scale_b.registers(),
            options.metadata.registers()};
  }
  bool keeps(int tmem_lane) const {
    return !options.kept.empty() &&
           (options.kept[static_cast<std::size_t>(tmem_lane / 32)] >> (tmem_lane % 32) & 1) != 0;
  }
  tcgen05::TmemMetadata metadata_form() const {
    return {tcgen05::datapath(opcode, idesc.m), opcode.kind, idesc.selector, opcode.ws};
  }
  Fault check(const Bounds&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
  Fault move(TmemData&) const;
};

}  // namespace tcq::machine
