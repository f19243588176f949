// The heap of a device, which malloc and free of a kernel take from: 8 MiB behind the variables of the module in global
// memory, as cudaLimitMallocHeapSize has it until somebody sets it.
//
// Blocks lie one behind the other at multiples of 16 bytes, apart, and none is ever given out twice, so that what is
// beyond a block, or in one that was freed, belongs to nobody (HeapBlockMissing). What a block holds before it is
// written nobody defines: bytes 0xcd here. Blocks stay from one cluster of the grid to the next, and are there at its
// end: to free none is no Fault.
//
// Unknown, so that a request beyond the room that is left is not modelled: what a chip finds again of what was freed, and
// how much it keeps for itself. Of more than the whole heap it gives none, a null pointer.
//
// Source: CUDA C++ Programming Guide, Dynamic Global Memory Allocation and Operations (alignment, size, null pointers)
#pragma once

#include <cstdint>

#include "sim/run/executor.h"

namespace tcq::run {

inline constexpr std::uint64_t heap_granule = 16;
inline constexpr std::uint64_t heap_room = std::uint64_t{8} << 20;
inline constexpr std::uint64_t heap_granules = heap_room / heap_granule;

// From Kernel::heap on: the granules that are taken, a byte for each granule, the blocks.
inline constexpr std::uint64_t heap_states = heap_granule;
inline constexpr std::uint64_t heap_blocks = heap_states + heap_granules;
inline constexpr std::uint64_t heap_bytes = heap_blocks + heap_room;

// call (result), malloc, (size); call free, (pointer): of the active lanes, one after the other.
void call_heap(Executor& x);

// Do the bytes, of global memory, lie in one block in use, or not in the heap at all?
bool are_in_block(const Executor& x, std::uint64_t offset, std::uint64_t bytes);

}  // namespace tcq::run
