// What each Fault means: its kind, one sentence, and where the rule is written.
//
// This file holds instruction forms of wgmma, descriptors and the instructions that move bytes;
// instruction forms of tcgen05 are in fault_tcgen05.h, its words in fault_tcgen05_words.h, what only
// a running program can do wrong is in fault_machine.h; the codes are in fault_code.h. Cause, cure
// and an example of each: oracle/explain/explain.h.
//
// Source: the section named in each entry (PTX ISA 9.2).
#pragma once

#include "sim/isa/fault/fault_code.h"
#include "sim/isa/fault/fault_machine.h"
#include "sim/isa/fault/fault_tcgen05.h"
#include "sim/isa/fault/fault_tcgen05_words.h"

namespace tcq {

HOST_DEVICE constexpr FaultInfo info(Fault fault) {
  using enum FaultKind;
  switch (fault) {
    case Fault::None: return {None, "None", "no fault", ""};
    case Fault::TargetLacksWgmma:
      return {Illegal, "TargetLacksWgmma", "wgmma exists on sm_90a only",
              "9.7.15.5.2 target notes"};
    case Fault::TypesDoNotExist:
      return {Illegal, "TypesDoNotExist", "wgmma has no such combination of D, A and B types",
              "9.7.15.3"};
    case Fault::ShapeM64: return {Illegal, "ShapeM64", "M is always 64", "9.7.15.2"};
    case Fault::ShapeN8:
      return {Illegal, "ShapeN8", "N must be a multiple of 8 in [8, 256]", "9.7.15.2"};
    case Fault::ShapeN16:
      return {Illegal, "ShapeN16",
              "N of integer and b1 types must be 8, 16, 24, 32 or a multiple of 16 up to 256",
              "9.7.15.2"};
    case Fault::ShapeK:
      return {Illegal, "ShapeK",
              "K is fixed by the type: 32 bytes of A per row, twice that in logical K with .sp",
              "9.7.15.2"};
    case Fault::SparseB1: return {Illegal, "SparseB1", "b1 has no sparse form", "9.7.15.6.3"};
    case Fault::RegisterAIsKMajor:
      return {Illegal, "RegisterAIsKMajor",
              "A in registers has no transpose immediate: it is K-major", "9.7.15.5.2"};
    case Fault::MnMajorNeeds16Bit:
      return {Illegal, "MnMajorNeeds16Bit",
              "only f16 and bf16 operands in shared memory can be MN-major", "9.7.15.5.2"};
    case Fault::NegateNeedsFloat:
      return {Illegal, "NegateNeedsFloat", "integer and b1 forms have no scale-a and scale-b",
              "9.7.15.5.2"};
    case Fault::SatfiniteNeedsInt8:
      return {Illegal, "SatfiniteNeedsInt8", ".satfinite exists for s8 and u8 operands only",
              "9.7.15.5.2"};
    case Fault::SelectorOutOfRange:
      return {Illegal, "SelectorOutOfRange",
              "the sparsity selector is 0 or 1 for 16-bit and tf32 types and 0 for 8-bit types",
              "9.7.15.6.3"};
    case Fault::SyncMissing:
      return {Illegal, "SyncMissing", ".sync is mandatory", "9.7.15.5.2; 9.7.16.7; 9.7.16.8"};
    case Fault::AlignedMissing:
      return {Illegal, "AlignedMissing", ".aligned is mandatory (ptxas does not insist)",
              "9.7.15.5.2; 9.7.16.7; 9.7.16.8"};
    case Fault::B1OperationMissing:
      return {Illegal, "B1OperationMissing", "b1 needs .and.popc, the only operation",
              "9.7.15.5.2"};
    case Fault::RegisterCountD:
      return {Illegal, "RegisterCountD",
              "D needs N/2 registers (f32, s32) or N/4 packed registers (f16)", "9.7.15.5.1.1"};
    case Fault::RegisterCountA:
      return {Illegal, "RegisterCountA", "A in registers is always 4 .b32 registers",
              "9.7.15.5.1.1"};
    case Fault::OperandCount:
      return {Illegal, "OperandCount", "wrong number of operands or immediates for this form",
              "9.7.15.5.2; 9.7.16.7 to 9.7.16.12"};
    case Fault::OperandKind:
      return {Illegal, "OperandKind", "operand is of the wrong kind",
              "9.7.15.5.2; 9.7.16.7 to 9.7.16.12"};
    case Fault::ImmediateScale:
      return {Illegal, "ImmediateScale", "scale-a and scale-b are the immediates 1 or -1",
              "9.7.15.5.2"};
    case Fault::ImmediateTranspose:
      return {Illegal, "ImmediateTranspose", "trans-a and trans-b are the immediates 0 or 1",
              "9.7.15.5.2"};
    case Fault::ImmediateScaleD:
      return {Illegal, "ImmediateScaleD", "scale-d is a predicate or the immediate 0 or 1",
              "9.7.15.5.2"};
    case Fault::ImmediateWaitGroup:
      return {Illegal, "ImmediateWaitGroup", "wait_group takes one immediate of 0 or more",
              "9.7.15.7.3"};
    case Fault::InstructionUnknown:
      return {Illegal, "InstructionUnknown",
              "wgmma has mma_async, fence, commit_group and wait_group only", "9.7.15"};
    case Fault::QualifierUnknown:
      return {Illegal, "QualifierUnknown", "this instruction has no such qualifier",
              "9.7.15.5.2; 9.7.16.7 to 9.7.16.12"};
    case Fault::QualifierMissing:
      return {Illegal, "QualifierMissing", "shape and the types of D, A and B are mandatory",
              "9.7.15.5.2"};
    case Fault::QualifierOrder:
      return {Illegal, "QualifierOrder",
              "qualifiers stand in the manual's order, each once (ptxas is lenient)",
              "9.7.15.5.2; 9.7.16.7 to 9.7.16.12"};
    case Fault::StatementMalformed:
      return {Illegal, "StatementMalformed", "not one well-formed PTX statement", "4.3"};
    case Fault::DescriptorUnaligned:
      return {Illegal, "DescriptorUnaligned",
              "start, LBO and SBO must be multiples of 16 bytes: lower bits are not encoded",
              "9.7.15.5.1.2.2"};
    case Fault::DescriptorTooLarge:
      return {Illegal, "DescriptorTooLarge", "start, LBO and SBO must be below 2^18 bytes",
              "9.7.15.5.1.2.2"};
    case Fault::DescriptorBaseOffset:
      return {Illegal, "DescriptorBaseOffset", "base offset must be in [0, 8)", "9.7.15.5.1.2.2"};
    case Fault::UndefinedMetadata:
      return {Undefined, "UndefinedMetadata",
              "a metadata code does not name ascending positions of its chunk", "9.7.15.6.1"};
    case Fault::SharedMemoryOutOfRange:
      return {Undefined, "SharedMemoryOutOfRange",
              "an operand reaches outside the shared memory of the CTA: above it the access traps "
              "(illegal address), below it lie bytes reserved by the system",
              "9.7.15.5.1.2.2; tests/vectors/wgmma_range.tcqv"};
    case Fault::TensorMapRank:
      return {Illegal, "TensorMapRank",
              "a tensor has 1 to 5 dimensions, and at least 3 if it is interleaved",
              "5.5.8; CUDA driver API, cuTensorMapEncodeTiled"};
    case Fault::TensorMapAddress:
      return {Illegal, "TensorMapAddress",
              "the tensor must begin at a multiple of 16 bytes (32 if interleaved by 32B)",
              "5.5.8; CUDA driver API, cuTensorMapEncodeTiled"};
    case Fault::TensorMapDim:
      return {Illegal, "TensorMapDim", "every dimension must be in [1, 2^32]",
              "5.5.8; CUDA driver API, cuTensorMapEncodeTiled"};
    case Fault::TensorMapStride:
      return {Illegal, "TensorMapStride",
              "strides must be multiples of 16 bytes (32 if interleaved by 32B) below 2^40",
              "5.5.8; CUDA driver API, cuTensorMapEncodeTiled"};
    case Fault::TensorMapBox:
      return {Illegal, "TensorMapBox", "every extent of the box must be in [1, 256] elements",
              "5.5.8; CUDA driver API, cuTensorMapEncodeTiled"};
    case Fault::TensorMapInnerBox:
      return {Illegal, "TensorMapInnerBox",
              "the inner extent of the box must be a multiple of 16 bytes",
              "5.5.8; CUDA driver API, cuTensorMapEncodeTiled"};
    case Fault::TensorMapBoxBytes:
      return {Illegal, "TensorMapBoxBytes",
              "a box moves at most 228 KiB, element strides taken off",
              "5.5.8; tests/vectors/tma_edge.tcqv (228 KiB accepted, 229 refused)"};
    case Fault::TensorMapSpan:
      return {Illegal, "TensorMapSpan",
              "the inner extent of the box must not exceed the span of the swizzle",
              "5.5.8; CUDA driver API, cuTensorMapEncodeTiled"};
    case Fault::TensorMapElementStride:
      return {Illegal, "TensorMapElementStride", "element strides must be in [1, 8]",
              "5.5.8; CUDA driver API, cuTensorMapEncodeTiled"};
    case Fault::TensorMapFill:
      return {Illegal, "TensorMapFill", "only floating-point tensors can be filled with NaN",
              "5.5.8; CUDA driver API, cuTensorMapEncodeTiled"};
    case Fault::TargetLacksSwizzleAtoms:
      return {Illegal, "TargetLacksSwizzleAtoms",
              "the 128B swizzles with atoms of 32 or 64 bytes need compute capability 10.0",
              "5.5.7"};
    case Fault::TargetLacksPackedTypes:
      return {Illegal, "TargetLacksPackedTypes",
              "the packed 4-bit and 6-bit types need compute capability 10.0",
              "5.5.8; CUDA driver API, cuTensorMapEncodeTiled"};
    case Fault::UnmodelledInterleave:
      return {Unmodelled, "UnmodelledInterleave", "interleaved layouts are not modelled",
              "5.5.8; CUDA driver API, cuTensorMapEncodeTiled"};
    case Fault::TileUnaligned:
      return {Illegal, "TileUnaligned",
              "the shared-memory address of a tile must be a multiple of 128 bytes",
              "5.5.3.1; tests/vectors/tma_edge.tcqv"};
    case Fault::TileStartUnaligned:
      return {Illegal, "TileStartUnaligned",
              "a box must begin at a multiple of 16 bytes along dimension 0: otherwise the copy "
              "traps (illegal instruction)",
              "9.7.9.27.1.2; tests/vectors/tma_edge.tcqv"};
    case Fault::TileStartNegative:
      return {Illegal, "TileStartNegative",
              "the box of a store or a reduction must not begin before the tensor",
              "9.7.9.27.1.2; CUDA C++ Programming Guide, Tensor Memory Accelerator; "
              "tests/vectors/tma_edge.tcqv"};
    case Fault::TileOutOfTensorMemory:
      return {Undefined, "TileOutOfTensorMemory",
              "dimensions and strides of the tensor map reach outside the tensor's memory",
              "9.7.9.27.1.2"};
    case Fault::ReductionType:
      return {Illegal, "ReductionType", "no such reduction exists for this element type",
              "9.7.9.27.1.3"};
    case Fault::MulticastMask:
      return {Illegal, "MulticastMask",
              "the mask of a multicast names CTAs of the cluster only, and at least one",
              "9.7.9.27.1.2"};
    case Fault::MatrixCount:
      return {Illegal, "MatrixCount", "ldmatrix and stmatrix move 1, 2 or 4 matrices",
              "9.7.14.5.15"};
    case Fault::MatrixRowUnaligned:
      return {Illegal, "MatrixRowUnaligned",
              "the address of a matrix row must be a multiple of 16 bytes", "9.7.14.5.15"};
    default: break;
  }
  const FaultInfo form = tcgen05_info(fault);
  if (form.kind != None) return form;
  const FaultInfo word = tcgen05_word_info(fault);
  if (word.kind != None) return word;
  return machine_info(fault);
}

}  // namespace tcq
