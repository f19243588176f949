// Register fragments of wgmma: (thread, register, part) <-> (row, column) of D, of A in registers,
// and of the sparse metadata.
//
// Threads are numbered in the warpgroup, [0, 128). A warp owns 16 rows; thread l of a warp owns row
// l / 4 and its neighbour 8 below. Example: D f32, thread 75, register 9 holds D[34][23].
// Parts: elements narrower than 32 bits share a register, part 0 in its lowest bits.
//
// Source: PTX ISA 9.2, 9.7.15.5.1.1 "Register fragments", 9.7.15.6.2 "Sparse metadata".
// Measured: tests/vectors/wgmma_slots.tcqv, tests/vectors/wgmma_sparse.tcqv
#pragma once

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"

namespace tcq::wgmma {

inline constexpr int threads_per_warpgroup = 128;
inline constexpr int a_registers = 4;

struct Slot {
  int thread;
  int reg;
  int part = 0;
  friend constexpr bool operator==(const Slot&, const Slot&) = default;
};

struct Element {
  int row;
  int col;
  friend constexpr bool operator==(const Element&, const Element&) = default;
};

// Registers per thread that hold D of n columns.
HOST_DEVICE constexpr int accumulator_registers(Type d, int n) { return n * bits(d) / 64; }

// Shape: Slot thread [0,128), reg [0, accumulator_registers), part [0, parts) <-> Element row
// [0,64), col [0,n): a bijection for every n.
HOST_DEVICE constexpr Element accumulator_element(Type d, Slot slot) {
  const int value = slot.reg * parts_per_register(d) + slot.part;
  return {16 * (slot.thread / 32) + slot.thread % 32 / 4 + 8 * (value / 2 % 2),
          8 * (value / 4) + 2 * (slot.thread % 4) + value % 2};
}

HOST_DEVICE constexpr Slot accumulator_slot(Type d, Element e) {
  const int value = 4 * (e.col / 8) + 2 * (e.row / 8 % 2) + e.col % 2;
  const int parts = parts_per_register(d);
  return {32 * (e.row / 16) + 4 * (e.row % 8) + e.col % 8 / 2, value / parts, value % parts};
}

// A in registers: col counts stored elements along K (A.sp: of the compressed row).
// Shape: reg [0,4), part [0, parts) <-> row [0,64), col [0, 256 / bits(a)): a bijection.
HOST_DEVICE constexpr Element a_element(Type a, Slot slot) {
  const int parts = parts_per_register(a);
  return {16 * (slot.thread / 32) + slot.thread % 32 / 4 + 8 * (slot.reg % 2),
          (4 * (slot.reg / 2) + slot.thread % 4) * parts + slot.part};
}

HOST_DEVICE constexpr Slot a_slot(Type a, Element e) {
  const int parts = parts_per_register(a);
  const int word = e.col / parts;
  return {32 * (e.row / 16) + 4 * (e.row % 8) + word % 4, e.row / 8 % 2 + 2 * (word / 4),
          e.col % parts};
}

// Sparse metadata: one 4-bit code per chunk of logical K, in one 32-bit register of some threads.
struct MetadataChunk {
  int row;
  int chunk;  // logical k / chunk_elements(a)
  friend constexpr bool operator==(const MetadataChunk&, const MetadataChunk&) = default;
};

struct MetadataSlot {
  int thread;
  int nibble;  // [0, 8), nibble 0 in the lowest bits
  friend constexpr bool operator==(const MetadataSlot&, const MetadataSlot&) = default;
};

// Logical elements along K that one metadata code covers: 1:2 for tf32, 2:4 otherwise.
HOST_DEVICE constexpr int chunk_elements(Type a) { return a == Type::tf32 ? 2 : 4; }

// Codes per row of A: K of the sparse instruction / chunk_elements.
HOST_DEVICE constexpr int chunks_per_row(Type a) { return bits(a) == 8 ? 16 : 8; }

// True if `thread`'s metadata register is read. 16- and 32-bit types read half the threads, chosen
// by the selector (sp-sel); 8-bit types read all.
HOST_DEVICE constexpr bool metadata_is_read(Type a, int selector, int thread) {
  return bits(a) == 8 || thread % 4 / 2 == selector;
}

// Requires: metadata_is_read(a, selector, slot.thread).
HOST_DEVICE constexpr MetadataChunk metadata_chunk(Type a, MetadataSlot slot) {
  const int row = 16 * (slot.thread / 32) + slot.thread % 32 / 4;
  if (bits(a) == 8) return {row + 8 * (slot.thread % 2), 8 * (slot.thread % 4 / 2) + slot.nibble};
  return {row + 8 * (slot.nibble / 4), 4 * (slot.thread % 2) + slot.nibble % 4};
}

// Of the 16 rows of one warp, as mma.sp has them too. `first`: of each four lanes the first that tells. Elements of 8 bits and
// less give a lane eight chunks of one row, others four of each of two rows.
HOST_DEVICE constexpr MetadataSlot warp_metadata_slot(int bits, int first, MetadataChunk c) {
  const int lane = 4 * (c.row % 8) + first;
  if (bits <= 8) return {lane + c.row / 8 + 2 * (c.chunk / 8), c.chunk % 8};
  return {lane + c.chunk / 4, 4 * (c.row / 8) + c.chunk % 4};
}

HOST_DEVICE constexpr MetadataSlot metadata_slot(Type a, int selector, MetadataChunk c) {
  const int first = bits(a) == 8 ? 0 : 2 * selector;
  const MetadataSlot s = warp_metadata_slot(bits(a), first, {c.row % 16, c.chunk});
  return {32 * (c.row / 16) + s.thread, s.nibble};
}

}  // namespace tcq::wgmma
