// What a running program can do wrong with Tensor Memory: kind, sentence and source of each Fault.
//
// Part of info() of fault.h; sim/machine detects them. Sizes of allocations and unmodelled layouts
// are in fault_tmem.h. Example: TmemLeaked is undefined.
//
// Source: the section named in each entry (PTX ISA 9.2).
#pragma once

#include "sim/isa/base/host_device.h"
#include "sim/isa/fault/fault_code.h"

namespace tcq {

HOST_DEVICE constexpr FaultInfo tensor_memory_info(Fault fault) {
  using enum FaultKind;
  switch (fault) {
    case Fault::TmemFreed:
      return {Undefined, "TmemFreed", "columns of Tensor Memory are used after their dealloc",
              "9.7.16.7.1"};
    case Fault::TmemDeallocAddress:
      return {Undefined, "TmemDeallocAddress",
              "a dealloc names an address, a size or a cta_group that no alloc has returned",
              "9.7.16.7.1"};
    case Fault::TmemAllocAfterRelinquish:
      return {Undefined, "TmemAllocAfterRelinquish",
              "a CTA allocates after it gave up the right to", "9.7.16.7.1"};
    case Fault::TmemLeaked:
      return {Undefined, "TmemLeaked",
              "a CTA exits while columns of Tensor Memory are allocated to it", "9.7.16.7.1"};
    case Fault::TmemLaneNotOwned:
      return {
          Undefined, "TmemLaneNotOwned",
          "a warp names lanes of Tensor Memory that it cannot reach: warp w reaches the 32 lanes "
          "from 32 * (w % 4) on",
          "9.7.16.8.1"};
    case Fault::TmemLaneAlignment:
      return {Undefined, "TmemLaneAlignment",
              "the lane of a Tensor Memory address does not suit the shape of the access",
              "9.7.16.8.1; 9.7.16.9.3; 9.7.16.10.5"};
    case Fault::TmemUninitialized:
      return {Undefined, "TmemUninitialized",
              "cells of Tensor Memory are read that nothing has written since their alloc",
              "9.7.16.1; 9.7.16.10.9"};
    case Fault::TmemRace:
      return {Undefined, "TmemRace",
              "two accesses of the same cells of Tensor Memory, at least one of them a write, are "
              "not ordered",
              "9.7.16.6"};
    case Fault::TmemWaitMissing:
      return {Undefined, "TmemWaitMissing",
              "a tcgen05.ld or st may still be in flight: its warp has executed no wait::ld or "
              "wait::st behind it",
              "9.7.16.8.5; 9.7.16.6.4"};
    case Fault::TmemNotComplete:
      return {Undefined, "TmemNotComplete",
              "a tcgen05.mma, cp or shift may still be in flight: no commit that tracks it was "
              "waited for",
              "9.7.16.6.2; 9.7.16.12.1"};
    case Fault::TmemFenceBeforeMissing:
      return {Undefined, "TmemFenceBeforeMissing",
              "threads synchronise about Tensor Memory with no tcgen05.fence::before_thread_sync "
              "in front",
              "9.7.16.11"};
    case Fault::TmemFenceAfterMissing:
      return {Undefined, "TmemFenceAfterMissing",
              "threads synchronise about Tensor Memory with no tcgen05.fence::after_thread_sync "
              "behind",
              "9.7.16.11"};
    case Fault::TmemAllocAssumed:
      return {Disputed, "TmemAllocAssumed",
              "a warp of a pair uses the peer's columns and knows of its own CTA's alloc only: "
              "CUTLASS relies on alloc.cta_group::2 having allocated in both when it returns",
              "9.7.16.7.1"};
    case Fault::TmemFenceOmitted:
      return {Disputed, "TmemFenceOmitted",
              "threads that release and acquire hand Tensor Memory on with a tcgen05 fence left "
              "out: the manual's patterns have both, the pipelines of CUTLASS have none",
              "9.7.16.6.4; 9.7.16.11"};
    case Fault::TmemWaitOmitted:
      return {Disputed, "TmemWaitOmitted",
              "columns are handed on or overwritten behind a tcgen05.ld with no wait::ld; every "
              "value that it loads was used before, which CUTLASS's attention example relies on",
              "9.7.16.8.5; 9.7.16.6.4"};
    case Fault::TmemOrderAssumed:
      return {Disputed, "TmemOrderAssumed",
              "a tcgen05.cp or mma overwrites cells that an earlier mma or cp of its thread may "
              "still use: no pair that the manual orders, but CUTLASS, DeepGEMM and "
              "FlashAttention-4 rely on it",
              "9.7.16.6.2"};
    case Fault::TmemLaneIgnored:
      return {Disputed, "TmemLaneIgnored",
              "a tcgen05.ld or st names lanes of the first 32 for those of its warp: DeepGEMM "
              "relies on hardware that ignores these bits",
              "9.7.16.8.1"};
    case Fault::CommitOrderAssumed:
      return {Disputed, "CommitOrderAssumed",
              "a CTA exits and has seen a later tcgen05.commit of its peer, not this one: DeepGEMM "
              "relies on the commits of a thread arriving in order",
              "9.7.16.12.1; 9.7.13.3"};
    case Fault::Tcgen05Repeated:
      return {Undefined, "Tcgen05Repeated",
              "several lanes of a warp issue a tcgen05 instruction that one thread is to issue",
              "9.7.16.5"};
    case Fault::UnmodelledMma:
      return {Unmodelled, "UnmodelledMma",
              "the asynchronous machine runs dense tcgen05.mma without .ws and .ashift, K = 96 "
              "excepted",
              "9.7.16.10.9"};
    default: return {None, "?", "?", ""};
  }
}

}  // namespace tcq
