// Allocation of Tensor Memory: which sizes exist, and in which order they may be asked for.
//
// Decides about one tcgen05.alloc; what several of them leave free is sim/async/tmem_plan.h.
// Example: 256 columns, then 32; after the 32 no 64 may follow, even if the 256 were freed.
//
// Source: PTX ISA 9.2, 9.7.16.1 "Tensor Memory", 9.7.16.7.1 "tcgen05.alloc, dealloc".
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tmem/layout.h"

namespace tcq::tcgen05 {

inline constexpr int tmem_allocation_unit = 32;

HOST_DEVICE constexpr bool is_allocation_size(std::int64_t columns) {
  return columns >= tmem_allocation_unit && columns <= tmem_columns &&
         (columns & (columns - 1)) == 0;
}

// The largest allocation of at most `columns` columns; 0 if there is none.
HOST_DEVICE constexpr int largest_allocation(int columns) {
  int size = 0;
  for (int next = tmem_allocation_unit; next <= columns && next <= tmem_columns; next *= 2)
    size = next;
  return size;
}

// The smallest allocation of at least `columns` columns. Requires: columns <= tmem_columns.
HOST_DEVICE constexpr int smallest_allocation(int columns) {
  int size = tmem_allocation_unit;
  while (size < columns) size *= 2;
  return size;
}

// Faults: TmemAllocSize, TmemAllocGrows. `smallest_before` is the smallest size that the CTA has
// asked for so far, tmem_columns if it has asked for none.
HOST_DEVICE constexpr Fault check_allocation(int columns, int smallest_before) {
  if (!is_allocation_size(columns)) return Fault::TmemAllocSize;
  return columns > smallest_before ? Fault::TmemAllocGrows : Fault::None;
}

}  // namespace tcq::tcgen05
