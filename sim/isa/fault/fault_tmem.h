// What the Faults of Tensor Memory mean: its allocation, and layouts that no source settles.
//
// Part of info() of fault.h, which says what the members are. Example: TmemAllocSize is illegal.
//
// Source: the section named in each entry (PTX ISA 9.2).
#pragma once

#include "sim/isa/base/host_device.h"
#include "sim/isa/fault/fault_code.h"
#include "sim/isa/fault/fault_tensor_memory.h"

namespace tcq {

HOST_DEVICE constexpr FaultInfo tmem_info(Fault fault) {
  using enum FaultKind;
  switch (fault) {
    case Fault::UnmodelledTmemOperand:
      return {
          Unmodelled, "UnmodelledTmemOperand",
          "no source says how this operand lies in Tensor Memory: A of .ws with M of 64 or 32, "
          "metadata of 64 rows without .ws, at an odd column, with selector 2 or 3, or of .ws with "
          "selector 1",
          "9.7.16.10.5; 9.7.16.10.8"};
    case Fault::UnmodelledShiftEdge:
      return {Unmodelled, "UnmodelledShiftEdge",
              "sources disagree on what a shift writes into lanes 31, 63 and 95", "9.7.16.9.3"};
    case Fault::TmemAllocSize:
      return {Illegal, "TmemAllocSize",
              "an allocation of Tensor Memory has 32, 64, 128, 256 or 512 columns (ptxas takes any "
              "multiple of 32 for dealloc)",
              "9.7.16.7.1"};
    case Fault::TmemAllocGrows:
      return {Illegal, "TmemAllocGrows",
              "an allocation must not ask for more columns than an earlier one of its CTA",
              "9.7.16.7.1"};
    case Fault::TmemAllocBlocks:
      return {Undefined, "TmemAllocBlocks",
              "the allocation does not fit into the free columns: it waits until somebody "
              "deallocates, for ever if nobody does",
              "9.7.16.7.1"};
    case Fault::TmemOverlap:
      return {Illegal, "TmemOverlap",
              "two regions of Tensor Memory that are in use together share columns", "9.7.16.1"};
    case Fault::TmemNotAllocated:
      return {Undefined, "TmemNotAllocated",
              "columns of Tensor Memory are used or deallocated that are not allocated",
              "9.7.16.1; 9.7.16.7.1"};
    default: return tensor_memory_info(fault);
  }
}

}  // namespace tcq
