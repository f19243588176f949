// What the Faults of tcgen05's instruction forms, instruction descriptors and statements mean.
//
// Part of info() of fault.h, which says what the members are; the checks are sim/isa/tcgen05/shape.h,
// sim/isa/tcgen05/instruction.h and the statements of `tcq check`. Example: SparseBit is illegal.
//
// Source: the section named in each entry (PTX ISA 9.2).
#pragma once

#include "sim/isa/base/host_device.h"
#include "sim/isa/fault/fault_code.h"

namespace tcq {

// Of kind None for every other Fault.
HOST_DEVICE constexpr FaultInfo tcgen05_info(Fault fault) {
  using enum FaultKind;
  switch (fault) {
    case Fault::TargetLacksTcgen05:
      return {
          Illegal, "TargetLacksTcgen05",
          "tcgen05 exists on sm_100a, sm_103a, sm_110a and their family targets (suffix f) only",
          "9.7.16.10.9.1 target notes"};
    case Fault::TargetLacksKindI8:
      return {Illegal, "TargetLacksKindI8", "kind i8 exists on sm_100a and sm_110a only",
              "9.7.16.10.9.1 target notes"};
    case Fault::TargetLacksSparse4Bit:
      return {Illegal, "TargetLacksSparse4Bit",
              "the sparse forms of kinds mxf4 and mxf4nvf4 need a target with suffix a",
              "9.7.16.10.9.2 target notes"};
    case Fault::TargetLacksScaleVec:
      return {Illegal, "TargetLacksScaleVec",
              ".scale_vec::NX needs a target with suffix a; .block16 and .block32 do not",
              "9.7.16.10.9.1 target notes"};
    case Fault::TargetLacksScaleInputD:
      return {Illegal, "TargetLacksScaleInputD", "scale-input-d does not exist on sm_110",
              "9.7.16.10.9.1 target notes"};
    case Fault::TargetLacksLdRed:
      return {Illegal, "TargetLacksLdRed",
              "tcgen05.ld.red exists on sm_103 and sm_110 targets only", "9.7.16.8.3 target notes"};
    case Fault::TargetLacksShift:
      return {Illegal, "TargetLacksShift", "tcgen05.shift needs a target with suffix a",
              "9.7.16.9.3 target notes"};
    case Fault::TargetLacksK96:
      return {Illegal, "TargetLacksK96", "K = 96 exists on sm_103a only", "9.7.16.2.1.1"};
    case Fault::CtaGroupValue:
      return {Illegal, "CtaGroupValue", "cta_group is 1 or 2", "9.7.16.5.1"};
    case Fault::WsCtaGroup:
      return {Illegal, "WsCtaGroup", ".ws exists with cta_group::1 only", "9.7.16.10.9.3"};
    case Fault::WsBlockScale:
      return {Illegal, "WsBlockScale", ".ws does not exist for the kinds with scale factors",
              "9.7.16.10.9.3"};
    case Fault::BlockScaleOfKind:
      return {Illegal, "BlockScaleOfKind",
              ".block_scale is mandatory for kinds mxf8f6f4, mxf4 and mxf4nvf4, and no other kind "
              "has it",
              "9.7.16.10.9.1"};
    case Fault::ScaleVecOfKind:
      return {Illegal, "ScaleVecOfKind",
              "the kind has no such scale vector: mxf8f6f4 has 1X or block32, mxf4 2X or block32, "
              "mxf4nvf4 must name 2X, 4X, block16 or block32",
              "9.7.16.10.7"};
    case Fault::AshiftForm:
      return {Illegal, "AshiftForm",
              ".ashift needs A in Tensor Memory, a kind without scale factors, and no .ws",
              "9.7.16.10.9.1"};
    case Fault::CollectorForm:
      return {Illegal, "CollectorForm",
              "the collector is that of A without .ws and one of B's four with .ws; .ashift allows "
              "lastuse and discard only",
              "9.7.16.10.9.1"};
    case Fault::DisableOutputLaneForm:
      return {Illegal, "DisableOutputLaneForm",
              "disable-output-lane exists neither with .block_scale nor with .ws", "9.7.16.10.9.1"};
    case Fault::ScaleInputDForm:
      return {Illegal, "ScaleInputDForm",
              "scale-input-d exists for kinds f16 and tf32 without .ws only", "9.7.16.10.9.1"};
    case Fault::ZeroColumnMaskForm:
      return {Illegal, "ZeroColumnMaskForm", "zero-column-mask-desc exists with .ws only",
              "9.7.16.10.9.3"};
    case Fault::LdNum:
      return {Illegal, "LdNum",
              ".num is a power of two and the vector has at most 128 registers: 16x128b ends at "
              "x64, 16x256b at x32",
              "9.7.16.8.2"};
    case Fault::LdRedForm:
      return {Illegal, "LdRedForm",
              "ld.red has shapes 32x32b and 16x32bx2 from x2 on; .abs and .NaN are for f32 only",
              "9.7.16.8.3"};
    case Fault::CpMulticastForm:
      return {Illegal, "CpMulticastForm",
              "64x128b needs .warpx2::02_13 or ::01_23, 32x128b needs .warpx4, the other shapes "
              "have no multicast",
              "9.7.16.9.2"};
    case Fault::SparseBit:
      return {Illegal, "SparseBit", "the sparsity bit of the instruction descriptor must equal .sp",
              "9.7.16.4.2"};
    case Fault::TypesOfKind:
      return {Illegal, "TypesOfKind", "the kind has no such combination of D, A and B types",
              "9.7.16.2.1"};
    case Fault::Tcgen05ShapeM:
      return {Illegal, "Tcgen05ShapeM",
              "M is 64 or 128, with cta_group::2 128 or 256, with .ws 32, 64 or 128; kinds with "
              "scale factors have 128, with cta_group::2 256 and, if dense, 128",
              "9.7.16.2.1"};
    case Fault::Tcgen05ShapeN:
      return {Illegal, "Tcgen05ShapeN",
              "N is a multiple of 8 up to 256, with cta_group::2 of 16; i8: 8, 24 or a multiple of "
              "16, with cta_group::2 of 32; .ws: 64, 128 or, if dense, 256",
              "9.7.16.2.1"};
    case Fault::AshiftM:
      return {Illegal, "AshiftM", ".ashift needs M = 128 or 256", "9.7.16.10.9.1"};
    case Fault::K96Form:
      return {Illegal, "K96Form", "K = 96 exists for dense mxf4 and mxf4nvf4 only", "9.7.16.4.2"};
    case Fault::TransposeOfType:
      return {Illegal, "TransposeOfType", "4-bit and 6-bit elements cannot be MN-major",
              "9.7.16.10.1; 9.7.16.10.3"};
    case Fault::TransposedN:
      return {Illegal, "TransposedN",
              "an MN-major B of 8-bit elements needs N in steps of 16, with cta_group::2 of 32",
              "9.7.16.10.1"};
    case Fault::NegateOfKind:
      return {Illegal, "NegateOfKind", "kind i8 has no negate bits", "9.7.16.10.1"};
    case Fault::SaturateOfKind:
      return {Illegal, "SaturateOfKind", "saturate exists for kind i8 only", "9.7.16.4.2"};
    case Fault::MetadataSelector:
      return {Illegal, "MetadataSelector",
              "the sparsity selector is 0 to 3 for sparse f16 and tf32, and 0 otherwise",
              "9.7.16.10.8"};
    case Fault::MaxShiftB:
      return {Illegal, "MaxShiftB",
              "the maximum shift of B is 0, 8, 16 or 32 with .ws, and 0 without", "9.7.16.4.2"};
    case Fault::ScaleTypeOfKind:
      return {Illegal, "ScaleTypeOfKind",
              "scale factors are ue8m0; mxf4nvf4 with 4X or block16 has ue4m3, too", "9.7.16.10.7"};
    case Fault::ScaleId:
      return {Illegal, "ScaleId",
              "the scale factor id is 0 to 3 for one or three factors, 0 or 2 for two or six, 0 "
              "for four",
              "9.7.16.10.7"};
    case Fault::UnmodelledTransposedTmemA:
      return {Unmodelled, "UnmodelledTransposedTmemA",
              "no source says how an MN-major A lies in Tensor Memory", "9.7.16.10.5"};
    case Fault::UnmodelledK96:
      return {
          Unmodelled, "UnmodelledK96",
          "K = 96 is documented with cta_group::2, M = 256 and .block16 or .block32; CUTLASS has "
          "M = 128, too, as kind mxf4nvf4 with N a multiple of 16; nobody has described more",
          "9.7.16.2.1.1"};
    case Fault::Tcgen05Unknown:
      return {Illegal, "Tcgen05Unknown",
              "tcgen05 has mma, ld, ld.red, st, cp, shift, alloc, dealloc, "
              "relinquish_alloc_permit, commit, wait::ld, wait::st and two fences only",
              "9.7.16"};
    case Fault::Tcgen05QualifierMissing:
      return {Illegal, "Tcgen05QualifierMissing", "a mandatory qualifier is missing",
              "9.7.16.7 to 9.7.16.12"};
    case Fault::RegisterCountLd:
      return {Illegal, "RegisterCountLd",
              "ld and st have num registers for 32x32b, 16x64b and 16x32bx2, 2*num for 16x128b, "
              "4*num for 16x256b",
              "9.7.16.8.2"};
    case Fault::RegisterCountMask:
      return {Illegal, "RegisterCountMask",
              "disable-output-lane has 4 registers, with cta_group::2 8", "9.7.16.10.9.1"};
    case Fault::ImmediateEnableD:
      return {Illegal, "ImmediateEnableD",
              "enable-input-d is a predicate or the immediate 0 or 1 (ptxas takes any)",
              "9.7.16.10.9.1"};
    case Fault::ImmediateScaleInputD:
      return {Illegal, "ImmediateScaleInputD", "scale-input-d is an immediate in [0, 15]",
              "9.7.16.10.9.1"};
    case Fault::ImmediateIdesc:
      return {Illegal, "ImmediateIdesc",
              "the instruction descriptor has 32 bits (ptxas takes any immediate)", "9.7.16.4.2"};
    default: return {None, "?", "?", ""};
  }
}

}  // namespace tcq
