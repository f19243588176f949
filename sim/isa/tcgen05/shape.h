// Which tcgen05.mma exist: kinds, types, M, N, K, majors and modifiers, per target.
//
// check(MmaOpcode) answers what ptxas can see; check(MmaOpcode, InstructionDescriptor) what only
// the chip sees, because it is a word in a register. Field positions and codes of that word are
// sim/isa/tcgen05/instruction_descriptor.h; collectors and masks are sim/isa/tcgen05/instruction.h. Example: {Kind::f16,
// cta_group = 1} with m = 128, n = 24 is legal and has k = 16; with cta_group = 2 N goes in steps
// of 16, and n = 24 is not.
//
// Source: PTX ISA 9.2, 9.7.16.2.1 "Matrix shape" (table 39), 9.7.16.10.9 "tcgen05.mma
// instructions", 9.7.16.10.1 "Transpose and negate" (tables 51 and 52), 9.7.16.10.3 "Valid
// combinations of swizzle" (table 54), 9.7.16.10.7 "Block scaling" (tables 56 and 57), 9.7.16.10.8
// "Sparse matrices".
// Source: ptxas 13.0 agrees on what it can see (tests/silicon/tcgen05_ptxas_test.cc asks it).
// Inferred: A in Tensor Memory is K-major only, as its layouts put K along columns and no other one
// is drawn; a chip that reads it transposed would refute it. Hence Unmodelled, not illegal.
#pragma once

#include <cstdint>

#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::tcgen05 {

// ---- Targets ------------------------------------------------------------------------------------

HOST_DEVICE constexpr bool has_tcgen05(Target target) {
  switch (target) {
    case Target::sm_100a:
    case Target::sm_100f:
    case Target::sm_103a:
    case Target::sm_103f:
    case Target::sm_110a:
    case Target::sm_110f: return true;
    default: return false;
  }
}

// Features that the family targets (suffix f) leave out.
HOST_DEVICE constexpr bool has_all_of_architecture(Target target) {
  return target == Target::sm_100a || target == Target::sm_103a || target == Target::sm_110a;
}

HOST_DEVICE constexpr bool has_kind_i8(Target target) {
  return target == Target::sm_100a || target == Target::sm_110a;
}

HOST_DEVICE constexpr bool has_k96(Target target) { return target == Target::sm_103a; }

// ---- Opcodes ------------------------------------------------------------------------------------

// .scale_vec::NX; .block16 and .block32 are other names that every target has.
HOST_DEVICE constexpr bool is_scale_vec_x(ScaleVec scale_vec) {
  return scale_vec == ScaleVec::X1 || scale_vec == ScaleVec::X2 || scale_vec == ScaleVec::X4;
}

// Kinds without scale factors have Default only; mxf4nvf4 has no default.
HOST_DEVICE constexpr bool scale_vec_exists(Kind kind, ScaleVec scale_vec) {
  const bool by_default = scale_vec == ScaleVec::Default;
  const bool block32 = scale_vec == ScaleVec::Block32;
  switch (kind) {
    case Kind::mxf8f6f4: return by_default || block32 || scale_vec == ScaleVec::X1;
    case Kind::mxf4: return by_default || block32 || scale_vec == ScaleVec::X2;
    case Kind::mxf4nvf4: return !by_default && scale_vec != ScaleVec::X1;
    default: return by_default;
  }
}

HOST_DEVICE constexpr Fault check(const MmaOpcode& op) {
  if (op.cta_group != 1 && op.cta_group != 2) return Fault::CtaGroupValue;
  if (op.ws && op.cta_group != 1) return Fault::WsCtaGroup;
  if (op.ws && is_block_scaled(op.kind)) return Fault::WsBlockScale;
  if (!scale_vec_exists(op.kind, op.scale_vec)) return Fault::ScaleVecOfKind;
  if (op.ashift && (op.a_place == Place::Smem || op.ws || is_block_scaled(op.kind)))
    return Fault::AshiftForm;
  return Fault::None;
}

// What of an opcode a target lacks.
HOST_DEVICE constexpr Fault check_target(const MmaOpcode& op, Target target) {
  if (!has_tcgen05(target)) return Fault::TargetLacksTcgen05;
  if (op.kind == Kind::i8 && !has_kind_i8(target)) return Fault::TargetLacksKindI8;
  if (op.sparse && is_packed_4bit(op.kind) && !has_all_of_architecture(target))
    return Fault::TargetLacksSparse4Bit;
  if (is_scale_vec_x(op.scale_vec) && !has_all_of_architecture(target))
    return Fault::TargetLacksScaleVec;
  return Fault::None;
}

HOST_DEVICE constexpr Fault check(const MmaOpcode& op, Target target) {
  const Fault fault = check(op);
  return fault != Fault::None ? fault : check_target(op, target);
}

// ---- Shapes -------------------------------------------------------------------------------------

inline constexpr int max_n = 256;

// M of the whole instruction; cta_group::2 splits it over two CTAs.
HOST_DEVICE constexpr bool m_exists(const MmaOpcode& op, int m) {
  if (op.ws) return m == 32 || m == 64 || m == 128;
  const int full = 128 * op.cta_group;
  const bool half_exists = !is_block_scaled(op.kind) || (op.cta_group == 2 && !op.sparse);
  return m == full || (half_exists && m == full / 2);
}

// .ws: powers of two. i8: steps of 8 up to 24 and of 16 above, cta_group::2 of 32.
HOST_DEVICE constexpr bool n_exists(const MmaOpcode& op, int n) {
  if (n < 8 || n > max_n) return false;
  if (op.ws) return n == 64 || n == 128 || (n == 256 && !op.sparse);
  if (op.kind != Kind::i8) return n % (8 * op.cta_group) == 0;
  return n % (16 * op.cta_group) == 0 || (op.cta_group == 1 && (n == 8 || n == 24));
}

HOST_DEVICE constexpr int m_per_cta(const MmaOpcode& op, const InstructionDescriptor& idesc) {
  return idesc.m / op.cta_group;
}

// Products per output: K of the dense instruction, and stored elements per row of a sparse A.
HOST_DEVICE constexpr int stored_k(const MmaOpcode& op, const InstructionDescriptor& idesc) {
  switch (op.kind) {
    case Kind::f16: return 16;
    case Kind::tf32: return 8;
    case Kind::f8f6f4:
    case Kind::i8:
    case Kind::mxf8f6f4: return 32;
    case Kind::mxf4:
    case Kind::mxf4nvf4: return idesc.k96 ? 96 : 64;
  }
  return 0;
}

// Logical elements along K.
HOST_DEVICE constexpr int k(const MmaOpcode& op, const InstructionDescriptor& idesc) {
  return stored_k(op, idesc) * (op.sparse ? 2 : 1);
}

// Stored elements of A that share a scale factor; 0 for kinds without.
HOST_DEVICE constexpr int scale_block(const MmaOpcode& op) {
  return is_block_scaled(op.kind) ? scale_block(op.scale_vec) : 0;
}

// Scale factors per row of A and per column of B: scale_A is M x this.
HOST_DEVICE constexpr int scale_factors(const MmaOpcode& op, const InstructionDescriptor& idesc) {
  return is_block_scaled(op.kind) ? stored_k(op, idesc) / scale_block(op) : 0;
}

// ---- Instruction descriptors --------------------------------------------------------------------

HOST_DEVICE constexpr bool is_f8f6f4(Type type) {
  return is_fp8(type) || is_fp6(type) || type == Type::e2m1;
}

HOST_DEVICE constexpr bool multiplicand_exists(Kind kind, Type type) {
  switch (kind) {
    case Kind::f16: return type == Type::f16 || type == Type::bf16;
    case Kind::tf32: return type == Type::tf32;
    case Kind::f8f6f4:
    case Kind::mxf8f6f4: return is_f8f6f4(type);
    case Kind::i8: return is_int8(type);
    case Kind::mxf4:
    case Kind::mxf4nvf4: return type == Type::e2m1;
  }
  return false;
}

// A and B may differ; D f16 needs f16 operands, or kind f8f6f4.
HOST_DEVICE constexpr bool types_exist(Kind kind, Type d, Type a, Type b) {
  if (!multiplicand_exists(kind, a) || !multiplicand_exists(kind, b)) return false;
  if (kind == Kind::i8) return d == Type::s32;
  if (d == Type::f32) return true;
  if (d != Type::f16) return false;
  return kind == Kind::f8f6f4 || (kind == Kind::f16 && a == Type::f16 && b == Type::f16);
}

// The transpose bits. 4- and 6-bit elements are K-major in every kind.
HOST_DEVICE constexpr bool can_be_mn_major(Kind kind, Type type) {
  return !is_packed_4bit(kind) && bits(type) >= 8;
}

// Columns between the legal N of an MN-major B of 8-bit elements.
HOST_DEVICE constexpr int transposed_n_step(const MmaOpcode& op) { return 16 * op.cta_group; }

HOST_DEVICE constexpr bool selector_exists(const MmaOpcode& op, int selector) {
  const bool chooses = op.sparse && (op.kind == Kind::f16 || op.kind == Kind::tf32);
  return selector == 0 || (chooses && selector > 0 && selector < 4);
}

HOST_DEVICE constexpr bool max_shift_exists(const MmaOpcode& op, int shift) {
  return shift == 0 || (op.ws && (shift == 8 || shift == 16 || shift == 32));
}

HOST_DEVICE constexpr bool scale_type_exists(const MmaOpcode& op, ScaleType type) {
  return type == ScaleType::ue8m0 || (op.kind == Kind::mxf4nvf4 && scale_block(op) == 16);
}

// The first byte of a 32-bit word of scale factors: an instruction's factors start at even bytes if
// they are an even number, and at 0 if they are 4.
HOST_DEVICE constexpr bool scale_id_exists(int factors, int id) {
  if (factors == 0 || factors == 4) return id == 0;
  return id >= 0 && id < 4 && (factors % 2 != 0 || id % 2 == 0);
}

HOST_DEVICE constexpr Fault check_shape(const MmaOpcode& op, const InstructionDescriptor& idesc) {
  if (idesc.sparse != op.sparse) return Fault::SparseBit;
  if (!types_exist(op.kind, idesc.d, idesc.a, idesc.b)) return Fault::TypesOfKind;
  if (!m_exists(op, idesc.m)) return Fault::Tcgen05ShapeM;
  if (op.ashift && idesc.m < 128) return Fault::AshiftM;
  if (!n_exists(op, idesc.n)) return Fault::Tcgen05ShapeN;
  if (idesc.k96 && (!is_packed_4bit(op.kind) || op.sparse)) return Fault::K96Form;
  return Fault::None;
}

HOST_DEVICE constexpr Fault check_modifiers(const MmaOpcode& op,
                                            const InstructionDescriptor& idesc) {
  const bool mn_b = idesc.major_b == Major::MN;
  if ((idesc.major_a == Major::MN && !can_be_mn_major(op.kind, idesc.a)) ||
      (mn_b && !can_be_mn_major(op.kind, idesc.b)))
    return Fault::TransposeOfType;
  if (mn_b && bits(idesc.b) == 8 && idesc.n % transposed_n_step(op) != 0) return Fault::TransposedN;
  if ((idesc.negate_a || idesc.negate_b) && op.kind == Kind::i8) return Fault::NegateOfKind;
  if (idesc.saturate && op.kind != Kind::i8) return Fault::SaturateOfKind;
  if (!selector_exists(op, idesc.selector)) return Fault::MetadataSelector;
  if (!max_shift_exists(op, idesc.max_shift_b)) return Fault::MaxShiftB;
  if (is_block_scaled(op.kind) && !scale_type_exists(op, idesc.scale_type))
    return Fault::ScaleTypeOfKind;
  const int factors = scale_factors(op, idesc);
  if (!scale_id_exists(factors, idesc.scale_a_id) || !scale_id_exists(factors, idesc.scale_b_id))
    return Fault::ScaleId;
  return Fault::None;
}

// K = 96 with this M and N. The manual has pairs of CTAs with M = 256 only.
// Source: PTX ISA 9.2, 9.7.16.2.1, table 39.
HOST_DEVICE constexpr bool k96_documented(const MmaOpcode& op, const InstructionDescriptor& idesc) {
  return op.cta_group == 2 && idesc.m == 256;
}

// Source: CUTLASS's SM103_MXF4_ULTRA_SS_VS and SM103_MXF4_ULTRA_2x1SM_SS_VS
// (cute/arch/mma_sm100_umma.hpp), which its sm_103 builders choose for tiles of 128 rows, too.
// Inferred: that a chip agrees; CUTLASS runs its tests on one, its results are not published.
HOST_DEVICE constexpr bool k96_in_cutlass(const MmaOpcode& op, const InstructionDescriptor& idesc) {
  return op.kind == Kind::mxf4nvf4 && idesc.m <= 128 * op.cta_group && idesc.n % 16 == 0;
}

// Legal as far as anybody says, but what it does no source settles.
HOST_DEVICE constexpr Fault check_modelled(const MmaOpcode& op,
                                           const InstructionDescriptor& idesc) {
  if (idesc.major_a == Major::MN && op.a_place == Place::Tmem)
    return Fault::UnmodelledTransposedTmemA;
  const bool k96_known = k96_documented(op, idesc) || k96_in_cutlass(op, idesc);
  if (idesc.k96 && (!k96_known || is_scale_vec_x(op.scale_vec))) return Fault::UnmodelledK96;
  return Fault::None;
}

HOST_DEVICE constexpr Fault check_forbidden(const MmaOpcode& op,
                                            const InstructionDescriptor& idesc) {
  Fault fault = check(op);
  if (fault == Fault::None) fault = check_shape(op, idesc);
  if (fault == Fault::None) fault = check_modifiers(op, idesc);
  return fault;
}

HOST_DEVICE constexpr Fault check(const MmaOpcode& op, const InstructionDescriptor& idesc) {
  const Fault fault = check_forbidden(op, idesc);
  return fault != Fault::None ? fault : check_modelled(op, idesc);
}

HOST_DEVICE constexpr Fault check(const MmaOpcode& op, const InstructionDescriptor& idesc,
                                  Target target) {
  Fault fault = check_forbidden(op, idesc);
  if (fault == Fault::None) fault = check_target(op, target);
  if (fault == Fault::None && idesc.k96 && !has_k96(target)) fault = Fault::TargetLacksK96;
  return fault != Fault::None ? fault : check_modelled(op, idesc);
}

// ---- Disputes -----------------------------------------------------------------------------------

// Legal per the manual, but another source of NVIDIA is stricter or says otherwise; or the other
// way round.
enum class Dispute : std::uint8_t { LayoutC, Mxf8f6f4M128, I8N24, TmemASmallN, K96M128 };
inline constexpr int dispute_count = 5;

HOST_DEVICE constexpr const char* sentence(Dispute dispute) {
  switch (dispute) {
    case Dispute::LayoutC:
      return "D of a sparse cta_group::2 with M = 128: the manual says layout C, CuTe's atoms have "
             "layout B";
    case Dispute::Mxf8f6f4M128:
      return "kind mxf8f6f4 with cta_group::2 and M = 128: in table 39 of the manual, refused by "
             "CUTLASS";
    case Dispute::I8N24:
      return "kind i8 with N = 24: in table 39 of the manual, refused by CUTLASS";
    case Dispute::TmemASmallN:
      return "A in Tensor Memory with this N: in table 39 of the manual; CUTLASS asks for "
             "multiples "
             "of 16 with M = 128, of 32 with cta_group::2";
    case Dispute::K96M128:
      return "K = 96 with 128 rows: not in table 39 of the manual, which has cta_group::2 with M = "
             "256 only; CUTLASS issues it on sm_103a";
  }
  return "?";
}

// Requires: check(op, idesc) == Fault::None.
HOST_DEVICE constexpr bool is_disputed(Dispute dispute, const MmaOpcode& op,
                                       const InstructionDescriptor& idesc) {
  const bool pair_of_64 = op.cta_group == 2 && idesc.m == 128;
  switch (dispute) {
    case Dispute::LayoutC: return pair_of_64 && op.sparse;
    case Dispute::Mxf8f6f4M128: return pair_of_64 && op.kind == Kind::mxf8f6f4;
    case Dispute::I8N24: return op.kind == Kind::i8 && idesc.n == 24;
    case Dispute::TmemASmallN:
      return op.a_place == Place::Tmem && (op.cta_group == 2 || idesc.m == 128) &&
             idesc.n % (16 * op.cta_group) != 0;
    case Dispute::K96M128: return idesc.k96 && !k96_documented(op, idesc);
  }
  return false;
}

}  // namespace tcq::tcgen05
