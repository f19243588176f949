// The codes of every way a program can be wrong, and the kinds they fall into.
//
// Kinds are never mixed: illegal (forbidden), undefined (left open by the manual), unmodelled
// (legal, but not measured or not implemented here). Faults are values; nothing throws. What a code
// means: fault.h.
//
// Source: the section that info() names for each code (PTX ISA 9.2).
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"

namespace tcq {

enum class Fault : std::uint8_t {
  None,
  // Instruction forms of wgmma.
  TargetLacksWgmma,
  TypesDoNotExist,
  ShapeM64,
  ShapeN8,
  ShapeN16,
  ShapeK,
  SparseB1,
  RegisterAIsKMajor,
  MnMajorNeeds16Bit,
  NegateNeedsFloat,
  SatfiniteNeedsInt8,
  SelectorOutOfRange,
  // PTX statements of wgmma.
  SyncMissing,
  AlignedMissing,
  B1OperationMissing,
  RegisterCountD,
  RegisterCountA,
  OperandCount,
  OperandKind,
  ImmediateScale,
  ImmediateTranspose,
  ImmediateScaleD,
  ImmediateWaitGroup,
  InstructionUnknown,
  QualifierUnknown,
  QualifierMissing,
  QualifierOrder,
  StatementMalformed,
  // Instruction forms of tcgen05.
  TargetLacksTcgen05,
  TargetLacksKindI8,
  TargetLacksSparse4Bit,
  TargetLacksScaleVec,
  TargetLacksScaleInputD,
  TargetLacksLdRed,
  TargetLacksShift,
  TargetLacksK96,
  CtaGroupValue,
  WsCtaGroup,
  WsBlockScale,
  BlockScaleOfKind,
  ScaleVecOfKind,
  AshiftForm,
  CollectorForm,
  DisableOutputLaneForm,
  ScaleInputDForm,
  ZeroColumnMaskForm,
  LdNum,
  LdRedForm,
  CpMulticastForm,
  // Instruction descriptors of tcgen05.
  SparseBit,
  TypesOfKind,
  Tcgen05ShapeM,
  Tcgen05ShapeN,
  AshiftM,
  K96Form,
  TransposeOfType,
  TransposedN,
  NegateOfKind,
  SaturateOfKind,
  MetadataSelector,
  MaxShiftB,
  ScaleTypeOfKind,
  ScaleId,
  UnmodelledTransposedTmemA,
  UnmodelledK96,
  // PTX statements of tcgen05.
  Tcgen05Unknown,
  Tcgen05QualifierMissing,
  RegisterCountLd,
  RegisterCountMask,
  ImmediateEnableD,
  ImmediateScaleInputD,
  ImmediateIdesc,
  // Matrix descriptors.
  DescriptorUnaligned,
  DescriptorTooLarge,
  DescriptorBaseOffset,
  // Run time.
  UndefinedMetadata,
  SharedMemoryOutOfRange,
  // Tensor maps.
  TensorMapRank,
  TensorMapAddress,
  TensorMapDim,
  TensorMapStride,
  TensorMapBox,
  TensorMapInnerBox,
  TensorMapBoxBytes,
  TensorMapSpan,
  TensorMapElementStride,
  TensorMapFill,
  TargetLacksSwizzleAtoms,
  TargetLacksPackedTypes,
  UnmodelledInterleave,
  // Bulk tensor copies and matrix moves.
  TileUnaligned,
  TileStartUnaligned,
  TileStartNegative,
  TileOutOfTensorMemory,
  ReductionType,
  MulticastMask,
  MatrixCount,
  MatrixRowUnaligned,
  // Words of tcgen05.
  WordReserved,
  DescriptorConstant,
  DescriptorSwizzleCode,
  DescriptorLboMode,
  SwizzleOfOperand,
  UnmodelledSwizzle,
  IdescType,
  IdescM,
  IdescN,
  IdescField,
  IdescScaleId,
  ZeroMaskRange,
  UnmodelledColumnShift,
  TmemAddressRange,
  // The asynchronous machine: wgmma order and registers.
  WgmmaFenceMissing,
  WgmmaShapeChange,
  WgmmaUncommitted,
  AccumulatorInFlight,
  FragmentInFlight,
  RegisterUninitialized,
  WarpgroupDivergent,
  WarpDivergent,
  // Shared memory and proxies.
  SharedUnaligned,
  SharedUninitialized,
  DataRace,
  ProxyFenceMissing,
  ProxyFenceMissingAfterRead,
  ProxyFenceMissingUsed,
  CopyInFlight,
  SourceInFlight,
  ReductionOrder,
  ScopeTooNarrow,
  ReleaseMissing,
  AcquireMissing,
  CtaRankOutOfRange,
  CtaExited,
  CtaNotStarted,
  ExitInFlight,
  TensormapFenceMissing,
  TensormapInUse,
  // mbarriers.
  MbarrierUnaligned,
  MbarrierCount,
  MbarrierNotInitialized,
  MbarrierNotVisible,
  MbarrierInitUnfenced,
  MbarrierReinitialized,
  MbarrierOverwritten,
  MbarrierArrivals,
  MbarrierTxCount,
  MbarrierRemote,
  PhaseStale,
  PhaseOverrun,
  ExpectTxTooSmall,
  // Bulk copies.
  BulkUnaligned,
  BulkBytes,
  CopyRepeated,
  // Barriers and register pools.
  BarrierId,
  BarrierThreads,
  BarrierMismatch,
  ClusterBarrierOrder,
  SetmaxnregCount,
  SetmaxnregDirection,
  RegisterPoolExhausted,
  Deadlock,
  // Tensor Memory.
  UnmodelledTmemOperand,
  UnmodelledShiftEdge,
  TmemAllocSize,
  TmemAllocGrows,
  TmemAllocBlocks,
  TmemOverlap,
  TmemNotAllocated,
  TmemFreed,
  TmemDeallocAddress,
  TmemAllocAfterRelinquish,
  TmemLeaked,
  TmemLaneNotOwned,
  TmemLaneAlignment,
  TmemUninitialized,
  TmemRace,
  TmemWaitMissing,
  TmemNotComplete,
  TmemFenceBeforeMissing,
  TmemFenceAfterMissing,
  TmemAllocAssumed,
  TmemFenceOmitted,
  TmemWaitOmitted,
  TmemOrderAssumed,
  TmemLaneIgnored,
  CommitOrderAssumed,
  Tcgen05Repeated,
  UnmodelledMma,
  // Programs and exploration.
  ResultsDiffer,
  StepLimit,
  ProgramTooLarge,
  ProgramMalformed,
  AllocationsOverlap,
  RegisterOutOfRange,
  GlobalOutOfRange,
  // Legal, but almost surely not meant.
  OperandScrambled,
  SetmaxnregIgnored,
  WaitForNothing,
  // Right, but slow.
  WaitTooStrong,
  FenceUnneeded,
  WgmmaSerialized,
};
inline constexpr int fault_count = static_cast<int>(Fault::WgmmaSerialized) + 1;

// Disputed: undefined by the letter of the manual, but published kernels rely on it; the Fault's source
// says which. Suspect and Slow are no verdicts: the program is right as far as the manual goes.
enum class FaultKind : std::uint8_t {
  None,
  Illegal,
  Undefined,
  Disputed,
  Unmodelled,
  Suspect,
  Slow,
};

// What ends an execution and makes a program wrong; illegal, undefined and unmodelled always do. The
// rest is remembered and reported beside the outcome.
struct Severities {
  bool disputed = false;
  bool suspect = false;
  bool slow = false;
  friend constexpr bool operator==(const Severities&, const Severities&) = default;
};

HOST_DEVICE constexpr bool fails(FaultKind kind, Severities severities) {
  switch (kind) {
    case FaultKind::None: return false;
    case FaultKind::Disputed: return severities.disputed;
    case FaultKind::Suspect: return severities.suspect;
    case FaultKind::Slow: return severities.slow;
    default: return true;
  }
}

struct FaultInfo {
  FaultKind kind;
  const char* name;
  const char* sentence;
  const char* source;
};

HOST_DEVICE constexpr const char* name(FaultKind kind) {
  switch (kind) {
    case FaultKind::None: return "none";
    case FaultKind::Illegal: return "illegal";
    case FaultKind::Undefined: return "undefined";
    case FaultKind::Disputed: return "disputed";
    case FaultKind::Unmodelled: return "unmodelled";
    case FaultKind::Suspect: return "suspect";
    case FaultKind::Slow: return "slow";
  }
  return "?";
}

}  // namespace tcq
