// What only a running program can do wrong: kind, sentence and source of each such Fault.
//
// Read fault.h first; the codes are in fault_code.h, and sim/machine detects them.
//
// Source: the section named in each entry (PTX ISA 9.2).
#pragma once

#include "sim/isa/fault/fault_code.h"
#include "sim/isa/fault/fault_tmem.h"

namespace tcq {

HOST_DEVICE constexpr FaultInfo machine_info(Fault fault) {
  using enum FaultKind;
  switch (fault) {
    case Fault::WgmmaFenceMissing:
      return {
          Undefined, "WgmmaFenceMissing",
          "a wgmma uses registers of its accumulator or of A with no wgmma.fence since the last "
          "access to them, or with none at all",
          "9.7.15.7.1"};
    case Fault::WgmmaShapeChange:
      return {Undefined, "WgmmaShapeChange",
              "wgmmas of different shapes follow each other on one accumulator with no wgmma.fence "
              "in between",
              "9.7.15.7.1"};
    case Fault::WgmmaUncommitted:
      return {Undefined, "WgmmaUncommitted",
              "a wgmma is in no group: without commit_group no wait_group covers it", "9.7.15.7.2"};
    case Fault::AccumulatorInFlight:
      return {
          Undefined, "AccumulatorInFlight",
          "an accumulator is read or written before a wait_group covers the wgmma that writes it",
          "9.7.15.7.3"};
    case Fault::FragmentInFlight:
      return {
          Undefined, "FragmentInFlight",
          "a register of A is read or written before a wait_group covers the wgmma that reads it",
          "9.7.15.7.3"};
    case Fault::RegisterUninitialized:
      return {Undefined, "RegisterUninitialized", "a register is read that nothing has written",
              "9.7.15.5.2"};
    case Fault::WarpgroupDivergent:
      return {Undefined, "WarpgroupDivergent",
              "the four warps of a warpgroup do not execute the same aligned instruction",
              "9.7.15.1"};
    case Fault::WarpDivergent:
      return {Undefined, "WarpDivergent",
              "an instruction of the whole warp is executed by some of its lanes only",
              "9.7.15.5.2"};
    case Fault::SharedUnaligned:
      return {Illegal, "SharedUnaligned",
              "a shared-memory address is no multiple of the size of the access", "6.4.1"};
    case Fault::SharedUninitialized:
      return {Undefined, "SharedUninitialized",
              "bytes of shared memory are read that nothing has written", "8.9"};
    case Fault::DataRace:
      return {Undefined, "DataRace",
              "two accesses of the same bytes, at least one of them a write, are not ordered",
              "8.9"};
    case Fault::ProxyFenceMissing:
      return {Undefined, "ProxyFenceMissing",
              "bytes written through the generic proxy are accessed through the async proxy, and "
              "the writing thread executed no fence.proxy.async in between",
              "8.6; 9.7.13.4"};
    case Fault::ProxyFenceMissingAfterRead:
      return {
          Undefined, "ProxyFenceMissingAfterRead",
          "bytes read through the generic proxy are overwritten through the async proxy with no "
          "fence.proxy.async in between",
          "8.6; 9.7.13.4"};
    case Fault::ProxyFenceMissingUsed:
      return {Disputed, "ProxyFenceMissingUsed",
              "bytes that a thread read and whose values it used are overwritten through the async "
              "proxy with no fence.proxy.async in between",
              "8.6; 9.7.13.4; relied on by CUTLASS, sm90_mma_tma_gmma_rs_warpspecialized.hpp (A is "
              "copied to registers and its slot released); tests/vectors/provoked.txt, row P3: 0 "
              "wrong of 202752 runs"};
    case Fault::CopyInFlight:
      return {Undefined, "CopyInFlight",
              "bytes are accessed that an asynchronous copy may still be writing", "9.7.9.27.1.2"};
    case Fault::SourceInFlight:
      return {Undefined, "SourceInFlight",
              "bytes are overwritten that an asynchronous operation may still read",
              "9.7.9.27.2.2; 9.7.15.7.3"};
    case Fault::ReductionOrder:
      return {Disputed, "ReductionOrder",
              "two reductions of the same bytes come in any order, and their result can depend on "
              "it: a rounded sum, or two different operations",
              "8.9; 9.7.9.25.4.2; relied on by FlashAttention-3's backward pass (dQ is summed by "
              "f32 reductions unless deterministic)"};
    case Fault::ScopeTooNarrow:
      return {Undefined, "ScopeTooNarrow",
              "accesses of two CTAs are ordered by a release or an acquire of scope .cta only",
              "8.5; 9.7.13.15"};
    case Fault::ReleaseMissing:
      return {Undefined, "ReleaseMissing",
              "an arrival is .relaxed: whoever waits for it knows nothing of what came before it",
              "8.9; 9.7.13.15"};
    case Fault::AcquireMissing:
      return {Undefined, "AcquireMissing",
              "a wait is .relaxed: what was released by the arrivals it waited for stays unknown",
              "8.9; 9.7.13.15"};
    case Fault::CtaRankOutOfRange:
      return {Illegal, "CtaRankOutOfRange", "the cluster has no CTA of this rank", "9.7.9.27.1.2"};
    case Fault::CtaExited:
      return {Undefined, "CtaExited", "shared memory of a CTA is accessed that may have exited",
              "9.7.13.3"};
    case Fault::CtaNotStarted:
      return {Undefined, "CtaNotStarted",
              "a statement reaches another CTA of the cluster that may not have started: its warp "
              "has seen nothing that the CTA did",
              "9.7.16.7.1; 9.7.13.3; CUDA C++ Programming Guide, Distributed Shared Memory"};
    case Fault::ExitInFlight:
      return {Undefined, "ExitInFlight",
              "a CTA exits while asynchronous operations still use its shared memory",
              "9.7.9.25.2"};
    case Fault::TensormapFenceMissing:
      return {
          Undefined, "TensormapFenceMissing",
          "a copy uses a patched tensor map with no fence.proxy.tensormap release by the thread "
          "that patched it, or no acquire by its own",
          "9.7.13.4; 9.7.9.28"};
    case Fault::TensormapInUse:
      return {Undefined, "TensormapInUse",
              "a tensor map is patched while a copy that nobody has waited for may still read it",
              "9.7.9.27.2.2; 9.7.9.28"};
    case Fault::MbarrierUnaligned:
      return {Illegal, "MbarrierUnaligned", "an mbarrier is 8 bytes at a multiple of 8",
              "9.7.13.15.1"};
    case Fault::MbarrierCount:
      return {Illegal, "MbarrierCount", "an mbarrier expects 1 to 2^20 - 1 arrivals",
              "9.7.13.15.2"};
    case Fault::MbarrierNotInitialized:
      return {Undefined, "MbarrierNotInitialized",
              "an mbarrier is used that is not initialised, or whose init is not ordered before "
              "the use",
              "9.7.13.15.9"};
    case Fault::MbarrierNotVisible:
      return {
          Undefined, "MbarrierNotVisible",
          "a CTA uses an mbarrier of another one with no fence.mbarrier_init and cluster barrier "
          "since its init",
          "9.7.13.4"};
    case Fault::MbarrierInitUnfenced:
      return {
          Disputed, "MbarrierInitUnfenced",
          "a copy or a commit completes on an mbarrier of its CTA whose init was followed by "
          "neither fence.mbarrier_init nor fence.proxy.async",
          "8.6; 9.7.13.4; relied on by Triton (ProxyFenceInsertion.cpp leaves InitBarrierOp out; "
          "fence.mbarrier_init for several CTAs only) and ThunderKittens (init_semaphore, then "
          "__syncthreads)"};
    case Fault::MbarrierReinitialized:
      return {Undefined, "MbarrierReinitialized",
              "a live mbarrier is initialised again without mbarrier.inval", "9.7.13.15.9"};
    case Fault::MbarrierOverwritten:
      return {Undefined, "MbarrierOverwritten", "a live mbarrier is accessed as ordinary data",
              "9.7.13.15.1"};
    case Fault::MbarrierArrivals:
      return {Undefined, "MbarrierArrivals",
              "an mbarrier gets more arrivals than its phase still expects", "9.7.13.15.2"};
    case Fault::MbarrierTxCount:
      return {Undefined, "MbarrierTxCount",
              "the tx-count of an mbarrier leaves [-(2^20 - 1), 2^20 - 1]", "9.7.13.15.2"};
    case Fault::MbarrierRemote:
      return {Illegal, "MbarrierRemote",
              "init, inval, test_wait and try_wait take an mbarrier of the own CTA only",
              "9.7.13.15.8"};
    case Fault::PhaseStale:
      return {Undefined, "PhaseStale",
              "a wait asks for the parity of a wrong phase: it passes on one this warp had already "
              "seen complete, or waits for one that does not come",
              "9.7.13.15.16"};
    case Fault::PhaseOverrun:
      return {
          Undefined, "PhaseOverrun",
          "an mbarrier completed two phases or more while a warp still waits for the first of them",
          "9.7.13.15.16"};
    case Fault::ExpectTxTooSmall:
      return {Undefined, "ExpectTxTooSmall",
              "a phase completed before all the bytes it stands for have landed: fewer were "
              "expected than are copied",
              "9.7.13.15.5"};
    case Fault::BulkUnaligned:
      return {Illegal, "BulkUnaligned", "addresses of a bulk copy must be multiples of 16 bytes",
              "9.7.9.25.4.1"};
    case Fault::BulkBytes:
      return {Illegal, "BulkBytes",
              "the size of a bulk copy must be a multiple of 16 bytes below 2^20", "9.7.9.25.4.1"};
    case Fault::CopyRepeated:
      return {Undefined, "CopyRepeated", "several lanes of a warp issue the same copy",
              "9.7.9.27.1.2"};
    case Fault::BarrierId:
      return {Illegal, "BarrierId", "a CTA has the barriers 0 to 15", "9.7.13.1"};
    case Fault::BarrierThreads:
      return {Illegal, "BarrierThreads",
              "a barrier takes a positive multiple of 32 threads, no more than the CTA has",
              "9.7.13.1"};
    case Fault::BarrierMismatch:
      return {Undefined, "BarrierMismatch", "one use of a barrier is given different thread counts",
              "9.7.13.1"};
    case Fault::ClusterBarrierOrder:
      return {Undefined, "ClusterBarrierOrder", "barrier.cluster.arrive and .wait do not alternate",
              "9.7.13.3"};
    case Fault::SetmaxnregCount:
      return {Illegal, "SetmaxnregCount", "setmaxnreg takes a multiple of 8 in [24, 256]",
              "9.7.19.5"};
    case Fault::SetmaxnregDirection:
      return {Undefined, "SetmaxnregDirection",
              "setmaxnreg.inc below or .dec above what the warp holds", "9.7.19.5"};
    case Fault::RegisterPoolExhausted:
      return {Undefined, "RegisterPoolExhausted",
              "setmaxnreg.inc asks for more registers than the CTA can ever release", "9.7.19.5"};
    case Fault::Deadlock:
      return {Undefined, "Deadlock", "nothing can proceed: every unfinished warp waits", "9.7.13"};
    case Fault::ResultsDiffer:
      return {Undefined, "ResultsDiffer", "two allowed executions give different bits", "8.9"};
    case Fault::StepLimit:
      return {Unmodelled, "StepLimit",
              "the program did not end within the given number of instructions",
              "none: a bound of the simulator"};
    case Fault::ProgramTooLarge:
      return {Illegal, "ProgramTooLarge", "a size of the program exceeds what the hardware has",
              "CUDA C++ Programming Guide, compute capabilities"};
    case Fault::ProgramMalformed:
      return {Illegal, "ProgramMalformed",
              "an operand names something that the program does not have",
              "none: a check of the simulator"};
    case Fault::AllocationsOverlap:
      return {Illegal, "AllocationsOverlap", "two allocations of shared memory overlap",
              "none: a check of the simulator"};
    case Fault::RegisterOutOfRange:
      return {Illegal, "RegisterOutOfRange", "a register number is not below what the thread holds",
              "9.7.19.5"};
    case Fault::GlobalOutOfRange:
      return {Undefined, "GlobalOutOfRange", "an access reaches outside global memory", "8.2"};
    case Fault::OperandScrambled:
      return {Suspect, "OperandScrambled",
              "the descriptor does not read the tile that the copy wrote: elements come from other "
              "places of the tensor",
              "9.7.15.5.1.2; 5.5.7"};
    case Fault::SetmaxnregIgnored:
      return {Suspect, "SetmaxnregIgnored",
              "setmaxnreg has no effect: the register count at launch is not bounded (ptxas C7508)",
              "9.7.19.5"};
    case Fault::WaitForNothing:
      return {Suspect, "WaitForNothing",
              "a wait_group has nothing to wait for: its own thread has committed no group",
              "9.7.9.27.2.2; 9.7.15.7.3"};
    case Fault::WaitTooStrong:
      return {Slow, "WaitTooStrong",
              "a wait could leave more groups in flight and the program would still be right",
              "9.7.15.7.3"};
    case Fault::FenceUnneeded:
      return {Slow, "FenceUnneeded", "without this fence the program would still be right",
              "9.7.13.4"};
    case Fault::WgmmaSerialized:
      return {Slow, "WgmmaSerialized",
              "ptxas serialises these wgmmas: it cannot keep their registers in flight together",
              "9.7.15.7.3"};
    default: return tmem_info(fault);
  }
}

}  // namespace tcq
