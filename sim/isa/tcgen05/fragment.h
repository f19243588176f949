// tcgen05.ld and tcgen05.st: (lane, register, half) of one warp <-> cell of Tensor Memory.
//
// Cells count from the instruction's address. Warp w of a warpgroup reaches the 32 lanes from 32 * w
// on and all columns. Which forms exist, and their register vectors: sim/isa/tcgen05/instruction.h. The
// plain forms move one cell per register; .pack::16b (ld) and .unpack::16b (st) move the low halves
// of two neighbouring columns. Example: .16x256b.x2, lane 13, register 7 is tmem_lane 11,
// tmem_column 11. tcgen05.ld.red has the map of the ld of its shape.
//
// Source: PTX ISA 9.2, 9.7.16.2.3 "Data movement shape", 9.7.16.8.1 "Access restrictions".
// Source: CuTe layouts of SM100_TMEM_LOAD_* and SM100_TMEM_STORE_* (cute/atom/copy_traits_sm100.hpp):
// equal for every shape, num, packed and not.
// Inferred: the 16-lane shapes may start at lane 0 or 16 of a warp's lanes, as the second of two
// interleaved accumulators starts at 16. Which bits .unpack::16b leaves in the high half of a cell
// is open. ld.red: the data registers are those of ld, as its text names no other layout.
#pragma once

#include "sim/isa/base/host_device.h"
#include "sim/isa/tcgen05/ld_shape.h"
#include "sim/isa/tmem/layout.h"

namespace tcq::tcgen05 {

// One ld or st as its map sees it.
struct Fragment {
  LdShape shape;
  int num;              // of .num: 1 for .x1
  bool packed = false;  // .pack::16b, .unpack::16b
  int half_split = 0;   // immHalfSplitoff of .16x32bx2, in columns
};

// A place in the registers of one warp. Half 0 is the low one; plain forms have half 0 only.
struct FragmentSlot {
  int lane;
  int reg;
  int half = 0;
  friend constexpr bool operator==(const FragmentSlot&, const FragmentSlot&) = default;
};

HOST_DEVICE constexpr int halves(const Fragment& f) { return f.packed ? 2 : 1; }

HOST_DEVICE constexpr int registers(const Fragment& f) {
  return f.num * registers_per_repetition(f.shape);
}

// Lanes of Tensor Memory that the shape covers.
HOST_DEVICE constexpr int fragment_lanes(LdShape shape) {
  return shape == LdShape::S32x32b ? 32 : 16;
}

// Columns that one run of cells covers: .16x32bx2 has two such runs, half_split apart.
HOST_DEVICE constexpr int run_columns(const Fragment& f) {
  const int lanes_per_run = f.shape == LdShape::S16x32bx2 ? 32 : fragment_lanes(f.shape);
  return registers(f) * halves(f) * 32 / lanes_per_run;
}

// Columns from the address to the last cell touched.
HOST_DEVICE constexpr int footprint_columns(const Fragment& f) {
  return run_columns(f) + (f.shape == LdShape::S16x32bx2 ? f.half_split : 0);
}

// Every slot has a cell of its own. Otherwise two threads share cells: both load the same bits, and
// a store leaves open whose bits stay.
HOST_DEVICE constexpr bool is_one_to_one(const Fragment& f) {
  return f.shape != LdShape::S16x32bx2 || f.half_split >= run_columns(f);
}

// The cell of a slot without the split of .16x32bx2; a packed slot's columns lie side by side.
HOST_DEVICE constexpr Cell run_cell(const Fragment& f, FragmentSlot s) {
  const int g = s.lane / 4;
  const int q = s.lane % 4;
  Cell cell = {s.lane, s.reg};
  switch (f.shape) {
    case LdShape::S32x32b: break;
    case LdShape::S16x64b: cell = {g + 8 * (q % 2), 2 * s.reg + q / 2}; break;
    case LdShape::S16x128b: cell = {g + 8 * (s.reg % 2), 4 * (s.reg / 2) + q}; break;
    case LdShape::S16x256b:
      cell = {g + 8 * (s.reg / 2 % 2), 8 * (s.reg / 4) + 2 * q + s.reg % 2};
      break;
    case LdShape::S16x32bx2: cell = {s.lane % 16, s.reg}; break;
  }
  return {cell.tmem_lane, halves(f) * cell.tmem_column + s.half};
}

// Shape: lane [0, 32), reg [0, registers()), half [0, halves()) -> tmem_lane
// [0, fragment_lanes()), tmem_column [0, footprint_columns()); a bijection onto the cells with
// holds_fragment() if is_one_to_one(). Packed slots are the low 16 bits of their cell.
HOST_DEVICE constexpr Cell fragment_cell(const Fragment& f, FragmentSlot s) {
  Cell cell = run_cell(f, s);
  if (f.shape == LdShape::S16x32bx2) cell.tmem_column += s.lane / 16 * f.half_split;
  return cell;
}

// True if a register holds the cell.
HOST_DEVICE constexpr bool holds_fragment(const Fragment& f, Cell cell) {
  if (cell.tmem_lane < 0 || cell.tmem_lane >= fragment_lanes(f.shape)) return false;
  const int column = cell.tmem_column;
  if (column >= 0 && column < run_columns(f)) return true;
  return f.shape == LdShape::S16x32bx2 && column >= f.half_split && column < footprint_columns(f);
}

// Requires: holds_fragment(f, cell), is_one_to_one(f).
HOST_DEVICE constexpr FragmentSlot fragment_slot(const Fragment& f, Cell cell) {
  const bool second = f.shape == LdShape::S16x32bx2 && cell.tmem_column >= f.half_split;
  const int in_run = cell.tmem_column - (second ? f.half_split : 0);
  const int half = in_run % halves(f);
  const int column = in_run / halves(f);
  const int lane = cell.tmem_lane;
  switch (f.shape) {
    case LdShape::S32x32b: break;
    case LdShape::S16x64b: return {4 * (lane % 8) + lane / 8 + 2 * (column % 2), column / 2, half};
    case LdShape::S16x128b: return {4 * (lane % 8) + column % 4, lane / 8 + 2 * (column / 4), half};
    case LdShape::S16x256b:
      return {4 * (lane % 8) + column % 8 / 2, 4 * (column / 8) + 2 * (lane / 8) + column % 2,
              half};
    case LdShape::S16x32bx2: return {lane + (second ? 16 : 0), column, half};
  }
  return {lane, column, half};
}

// --- Warps ----------------------------------------------------------------------------------------

inline constexpr int lanes_per_warp = 32;

// The first lane of Tensor Memory that a warp reaches; `warp` counts in the CTA or the warpgroup.
HOST_DEVICE constexpr int first_tmem_lane(int warp) { return lanes_per_warp * (warp % 4); }

// The warp of a warpgroup that reaches a lane.
HOST_DEVICE constexpr int warp_of_tmem_lane(int tmem_lane) { return tmem_lane / lanes_per_warp; }

// True if the lane of an address suits shape and warp.
HOST_DEVICE constexpr bool is_lane_base(LdShape shape, int warp, int tmem_lane) {
  const int offset = tmem_lane - first_tmem_lane(warp);
  return offset == 0 || (offset == 16 && fragment_lanes(shape) == 16);
}

}  // namespace tcq::tcgen05
