// Which forms of the tcgen05 instructions exist: everything their PTX opcodes say.
//
// One struct per instruction, with check(form) and check(form, target) for all. MmaForm adds to
// MmaOpcode what is no concern of shapes: the collector, and which optional operands are given.
// Spelling: sim/isa/tcgen05/syntax.h; operands: sim/isa/tcgen05/operands.h. Example: LdForm{LdShape::S16x256b, 32} is
// legal and has 128 registers; num = 64 is not.
//
// Source: PTX ISA 9.2, 9.7.16.7 "Tensor Memory allocation", 9.7.16.8 "Tensor Memory and register
// load/store", 9.7.16.9 "Data movement", 9.7.16.10.9 "tcgen05.mma instructions", 9.7.16.11
// "tcgen05.fence", 9.7.16.12 "tcgen05.commit".
// Source: ptxas 13.0 agrees over the whole cross product (tests/silicon/tcgen05_ptxas_test.cc asks it).
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/ld_shape.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::tcgen05 {

// ---- mma ----------------------------------------------------------------------------------------

// Which buffer may keep an operand for later instructions: A's, or with .ws one of B's four.
enum class CollectorBuffer : std::uint8_t { None, A, B0, B1, B2, B3 };
inline constexpr int collector_buffer_count = 6;

HOST_DEVICE constexpr const char* name(CollectorBuffer buffer) {
  switch (buffer) {
    case CollectorBuffer::None: return "";
    case CollectorBuffer::A: return "a";
    case CollectorBuffer::B0: return "b0";
    case CollectorBuffer::B1: return "b1";
    case CollectorBuffer::B2: return "b2";
    case CollectorBuffer::B3: return "b3";
  }
  return "?";
}

enum class CollectorUse : std::uint8_t { Fill, Use, LastUse, Discard };
inline constexpr int collector_use_count = 4;

HOST_DEVICE constexpr const char* name(CollectorUse use) {
  switch (use) {
    case CollectorUse::Fill: return "fill";
    case CollectorUse::Use: return "use";
    case CollectorUse::LastUse: return "lastuse";
    case CollectorUse::Discard: return "discard";
  }
  return "?";
}

// Without a buffer nothing is written: ::a::discard, with .ws ::b0::discard.
struct Collector {
  CollectorBuffer buffer = CollectorBuffer::None;
  CollectorUse use = CollectorUse::Discard;

  friend constexpr bool operator==(const Collector&, const Collector&) = default;
};

struct MmaForm {
  MmaOpcode opcode;
  Collector collector = {};
  bool disable_output_lane = false;  // has the operand
  bool scale_input_d = false;
  bool zero_column_mask = false;

  friend constexpr bool operator==(const MmaForm&, const MmaForm&) = default;
};

HOST_DEVICE constexpr bool collector_exists(const MmaForm& f) {
  if (f.collector.buffer == CollectorBuffer::None) return true;
  const bool of_a = f.collector.buffer == CollectorBuffer::A;
  const bool keeps_for_later =
      f.collector.use == CollectorUse::Fill || f.collector.use == CollectorUse::Use;
  return of_a != f.opcode.ws && !(f.opcode.ashift && keeps_for_later);
}

HOST_DEVICE constexpr bool scale_input_d_exists(Kind kind) {
  return kind == Kind::f16 || kind == Kind::tf32;
}

// Values of scale-input-d: D is multiplied by 2 to the minus this.
inline constexpr int max_scale_input_d = 15;

// Registers of the disable-output-lane vector: a bit per lane.
HOST_DEVICE constexpr int disable_output_lane_registers(const MmaOpcode& op) {
  return 4 * op.cta_group;
}

HOST_DEVICE constexpr Fault check(const MmaForm& f) {
  const Fault fault = check(f.opcode);
  if (fault != Fault::None) return fault;
  if (!collector_exists(f)) return Fault::CollectorForm;
  const bool ws = f.opcode.ws;
  if (f.disable_output_lane && (ws || is_block_scaled(f.opcode.kind)))
    return Fault::DisableOutputLaneForm;
  if (f.scale_input_d && (ws || !scale_input_d_exists(f.opcode.kind)))
    return Fault::ScaleInputDForm;
  if (f.zero_column_mask && !ws) return Fault::ZeroColumnMaskForm;
  return Fault::None;
}

HOST_DEVICE constexpr Fault check(const MmaForm& f, Target target) {
  Fault fault = check(f);
  if (fault == Fault::None) fault = check_target(f.opcode, target);
  if (fault != Fault::None) return fault;
  const bool sm_110 = target == Target::sm_110a || target == Target::sm_110f;
  return f.scale_input_d && sm_110 ? Fault::TargetLacksScaleInputD : Fault::None;
}

// ---- ld, st -------------------------------------------------------------------------------------

inline constexpr int max_ld_registers = 128;

// Registers per thread, packed or not.
HOST_DEVICE constexpr int registers(LdShape shape, int num) {
  return num * registers_per_repetition(shape);
}

// .num is a power of two, and the vector has at most 128 registers.
HOST_DEVICE constexpr bool num_exists(LdShape shape, int num) {
  const bool power_of_two = num > 0 && (num & (num - 1)) == 0;
  return power_of_two && num <= max_ld_registers && registers(shape, num) <= max_ld_registers;
}

// Has the operand immHalfSplitoff.
HOST_DEVICE constexpr bool has_half_split(LdShape shape) { return shape == LdShape::S16x32bx2; }

struct LdForm {
  LdShape shape = LdShape::S32x32b;
  int num = 1;
  bool pack = false;  // .pack::16b

  friend constexpr bool operator==(const LdForm&, const LdForm&) = default;
};

struct StForm {
  LdShape shape = LdShape::S32x32b;
  int num = 1;
  bool unpack = false;  // .unpack::16b

  friend constexpr bool operator==(const StForm&, const StForm&) = default;
};

enum class RedOp : std::uint8_t { Min, Max };
inline constexpr int red_op_count = 2;
HOST_DEVICE constexpr const char* name(RedOp op) { return op == RedOp::Min ? "min" : "max"; }

enum class RedType : std::uint8_t { U32, S32, F32 };
inline constexpr int red_type_count = 3;
HOST_DEVICE constexpr const char* name(RedType type) {
  switch (type) {
    case RedType::U32: return "u32";
    case RedType::S32: return "s32";
    case RedType::F32: return "f32";
  }
  return "?";
}

struct LdRedForm {
  LdShape shape = LdShape::S32x32b;
  int num = 2;
  RedOp op = RedOp::Min;
  bool abs = false;
  bool nan = false;
  RedType type = RedType::F32;

  friend constexpr bool operator==(const LdRedForm&, const LdRedForm&) = default;
};

HOST_DEVICE constexpr Fault check(const LdForm& f) {
  return num_exists(f.shape, f.num) ? Fault::None : Fault::LdNum;
}
HOST_DEVICE constexpr Fault check(const StForm& f) {
  return num_exists(f.shape, f.num) ? Fault::None : Fault::LdNum;
}
HOST_DEVICE constexpr Fault check(const LdRedForm& f) {
  const bool shape_exists = f.shape == LdShape::S32x32b || f.shape == LdShape::S16x32bx2;
  if (!shape_exists || f.num < 2 || ((f.abs || f.nan) && f.type != RedType::F32))
    return Fault::LdRedForm;
  return num_exists(f.shape, f.num) ? Fault::None : Fault::LdNum;
}

HOST_DEVICE constexpr bool has_ld_red(Target target) {
  return has_tcgen05(target) && target != Target::sm_100a && target != Target::sm_100f;
}

// ---- cp, shift ----------------------------------------------------------------------------------

enum class CpSize : std::uint8_t { S128x256b, S4x256b, S128x128b, S64x128b, S32x128b };
inline constexpr int cp_size_count = 5;

HOST_DEVICE constexpr const char* name(CpSize size) {
  switch (size) {
    case CpSize::S128x256b: return "128x256b";
    case CpSize::S4x256b: return "4x256b";
    case CpSize::S128x128b: return "128x128b";
    case CpSize::S64x128b: return "64x128b";
    case CpSize::S32x128b: return "32x128b";
  }
  return "?";
}

enum class CpMulticast : std::uint8_t { None, Warpx2_02_13, Warpx2_01_23, Warpx4 };
inline constexpr int cp_multicast_count = 4;

HOST_DEVICE constexpr const char* name(CpMulticast multicast) {
  switch (multicast) {
    case CpMulticast::None: return "";
    case CpMulticast::Warpx2_02_13: return "warpx2::02_13";
    case CpMulticast::Warpx2_01_23: return "warpx2::01_23";
    case CpMulticast::Warpx4: return "warpx4";
  }
  return "?";
}

// The source's format, if it is widened to 8 bits on the way.
enum class CpSource : std::uint8_t { Same, B4x16_p64, B6x16_p32 };
inline constexpr int cp_source_count = 3;

HOST_DEVICE constexpr const char* name(CpSource source) {
  switch (source) {
    case CpSource::Same: return "";
    case CpSource::B4x16_p64: return "b4x16_p64";
    case CpSource::B6x16_p32: return "b6x16_p32";
  }
  return "?";
}

struct CpForm {
  CpSize size = CpSize::S128x256b;
  CpMulticast multicast = CpMulticast::None;
  CpSource source = CpSource::Same;
  int cta_group = 1;

  friend constexpr bool operator==(const CpForm&, const CpForm&) = default;
};

// Shapes of fewer than 128 rows are copied to several groups of 32 lanes; 4x256b is no such shape.
HOST_DEVICE constexpr bool multicast_exists(CpSize size, CpMulticast multicast) {
  switch (size) {
    case CpSize::S64x128b:
      return multicast == CpMulticast::Warpx2_02_13 || multicast == CpMulticast::Warpx2_01_23;
    case CpSize::S32x128b: return multicast == CpMulticast::Warpx4;
    default: return multicast == CpMulticast::None;
  }
}

struct ShiftForm {
  int cta_group = 1;

  friend constexpr bool operator==(const ShiftForm&, const ShiftForm&) = default;
};

HOST_DEVICE constexpr Fault check_cta_group(int cta_group) {
  return cta_group == 1 || cta_group == 2 ? Fault::None : Fault::CtaGroupValue;
}

HOST_DEVICE constexpr Fault check(const CpForm& f) {
  const Fault fault = check_cta_group(f.cta_group);
  if (fault != Fault::None) return fault;
  return multicast_exists(f.size, f.multicast) ? Fault::None : Fault::CpMulticastForm;
}
HOST_DEVICE constexpr Fault check(const ShiftForm& f) { return check_cta_group(f.cta_group); }

// ---- Allocation, completion, order --------------------------------------------------------------

struct AllocForm {
  int cta_group = 1;
  bool shared_cta = true;  // false: dst is a generic address

  friend constexpr bool operator==(const AllocForm&, const AllocForm&) = default;
};

struct DeallocForm {
  int cta_group = 1;

  friend constexpr bool operator==(const DeallocForm&, const DeallocForm&) = default;
};

struct RelinquishForm {
  int cta_group = 1;

  friend constexpr bool operator==(const RelinquishForm&, const RelinquishForm&) = default;
};

struct CommitForm {
  int cta_group = 1;
  bool multicast = false;      // has the operand ctaMask
  bool shared_cluster = true;  // false: mbar is a generic address

  friend constexpr bool operator==(const CommitForm&, const CommitForm&) = default;
};

struct WaitForm {
  bool st = false;  // wait::st, not wait::ld

  friend constexpr bool operator==(const WaitForm&, const WaitForm&) = default;
};

struct FenceForm {
  bool after = false;  // after_thread_sync, not before_thread_sync

  friend constexpr bool operator==(const FenceForm&, const FenceForm&) = default;
};

HOST_DEVICE constexpr Fault check(const AllocForm& f) { return check_cta_group(f.cta_group); }
HOST_DEVICE constexpr Fault check(const DeallocForm& f) { return check_cta_group(f.cta_group); }
HOST_DEVICE constexpr Fault check(const RelinquishForm& f) { return check_cta_group(f.cta_group); }
HOST_DEVICE constexpr Fault check(const CommitForm& f) { return check_cta_group(f.cta_group); }
HOST_DEVICE constexpr Fault check(const WaitForm&) { return Fault::None; }
HOST_DEVICE constexpr Fault check(const FenceForm&) { return Fault::None; }

// ---- Who issues ---------------------------------------------------------------------------------

// Executed by all lanes of one warp; all others by one thread. With cta_group::2 allocations are
// made by one warp in each CTA of the pair.
//
// Source: PTX ISA 9.2, 9.7.16.5 "Issue granularity", table 46.
template <class Form>
HOST_DEVICE constexpr bool is_issued_by_warp(const Form&) {
  return false;
}
HOST_DEVICE constexpr bool is_issued_by_warp(const LdForm&) { return true; }
HOST_DEVICE constexpr bool is_issued_by_warp(const LdRedForm&) { return true; }
HOST_DEVICE constexpr bool is_issued_by_warp(const StForm&) { return true; }
HOST_DEVICE constexpr bool is_issued_by_warp(const AllocForm&) { return true; }
HOST_DEVICE constexpr bool is_issued_by_warp(const DeallocForm&) { return true; }
HOST_DEVICE constexpr bool is_issued_by_warp(const RelinquishForm&) { return true; }
HOST_DEVICE constexpr bool is_issued_by_warp(const WaitForm&) { return true; }

// ---- Targets of all but mma ---------------------------------------------------------------------

template <class Form>
HOST_DEVICE constexpr Fault check(const Form& f, Target target) {
  const Fault fault = check(f);
  if (fault != Fault::None) return fault;
  return has_tcgen05(target) ? Fault::None : Fault::TargetLacksTcgen05;
}

HOST_DEVICE constexpr Fault check(const LdRedForm& f, Target target) {
  const Fault fault = check(f);
  if (fault != Fault::None) return fault;
  if (!has_tcgen05(target)) return Fault::TargetLacksTcgen05;
  return has_ld_red(target) ? Fault::None : Fault::TargetLacksLdRed;
}

HOST_DEVICE constexpr Fault check(const ShiftForm& f, Target target) {
  const Fault fault = check(f);
  if (fault != Fault::None) return fault;
  if (!has_tcgen05(target)) return Fault::TargetLacksTcgen05;
  return has_all_of_architecture(target) ? Fault::None : Fault::TargetLacksShift;
}

}  // namespace tcq::tcgen05
