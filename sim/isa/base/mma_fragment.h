// Fragments of the warp's mma (mma.sync): which part of which register of which lane is which element.
//
// One law for every type: groups of four lanes share a row of A, a column of B, a row of C and D. A register
// holds neighbours along K, four lanes the next ones; further registers of A step rows by 8 first, then K.
// Types of 64 bits have one element to a register, C and D two neighbouring columns to a lane. Not here: the
// quad pairs of .m8n8k4 of f16, sparse forms. Example: m16n8k16 of f16 has A[9][3] in lane 5, register 1,
// part 1, and D[9][3] of f32 in lane 5, register 3.
//
// Source: PTX ISA 9.2, 9.7.14.5 "Matrix multiply-accumulate operation using mma instruction", with the
// fragments of each shape.
// Source: CuTe, cute/atom/mma_traits_sm120.hpp: fp4_shift_A and fp4_shift_B, where elements of 4 bits lie in a byte.
#pragma once

#include "sim/isa/base/host_device.h"

namespace tcq::warp_mma {

inline constexpr int lanes = 32;
inline constexpr int n = 8;
inline constexpr int group_rows = 8;  // rows of A and D, columns of B, between lanes 0 and 28
inline constexpr int group_lanes = 4;

struct Slot {
  int lane;
  int reg;
  int part;
  friend constexpr bool operator==(const Slot&, const Slot&) = default;
};

struct Element {
  int row;
  int col;
  friend constexpr bool operator==(const Element&, const Element&) = default;
};

// Elements in a register; those of 64 bits have registers of their own size.
HOST_DEVICE constexpr int parts(int element_bits) {
  return element_bits > 32 ? 1 : 32 / element_bits;
}

HOST_DEVICE constexpr int a_registers(int m, int k, int element_bits) {
  return m * k / (lanes * parts(element_bits));
}
HOST_DEVICE constexpr int b_registers(int k, int element_bits) {
  return k * n / (lanes * parts(element_bits));
}
HOST_DEVICE constexpr int d_registers(int m, int element_bits) {
  return m * n / (lanes * parts(element_bits));
}

// The lowest bit of an element of 4 or 6 bits in the byte that kinds f8f6f4 and mxf8f6f4 give it: 4 in the middle, 6 at
// the low end.
HOST_DEVICE constexpr int payload_low_bit(int type_bits) { return type_bits == 4 ? 2 : 0; }

// Shape: lane [0,32), reg [0,a_registers), part [0,parts) <-> row [0,m), col [0,k).
HOST_DEVICE constexpr Element a_element(int m, int element_bits, Slot s) {
  const int width = parts(element_bits);
  const int groups = m / group_rows;
  return {s.lane / group_lanes + group_rows * (s.reg % groups),
          s.lane % group_lanes * width + s.part + group_lanes * width * (s.reg / groups)};
}

HOST_DEVICE constexpr Slot a_slot(int m, int element_bits, Element e) {
  const int width = parts(element_bits);
  const int groups = m / group_rows;
  return {group_lanes * (e.row % group_rows) + e.col / width % group_lanes,
          e.row / group_rows + groups * (e.col / (group_lanes * width)), e.col % width};
}

// Shape: lane [0,32), reg [0,b_registers), part [0,parts) <-> row [0,k), col [0,8).
HOST_DEVICE constexpr Element b_element(int element_bits, Slot s) {
  const Element e = a_element(group_rows, element_bits, s);
  return {e.col, e.row};
}

HOST_DEVICE constexpr Slot b_slot(int element_bits, Element e) {
  return a_slot(group_rows, element_bits, {e.col, e.row});
}

// Shape: lane [0,32), reg [0,d_registers), part [0,parts) <-> row [0,m), col [0,8). C lies as D does.
HOST_DEVICE constexpr Element d_element(int element_bits, Slot s) {
  const int value = parts(element_bits) * s.reg + s.part;
  return {s.lane / group_lanes + group_rows * (value / 2), 2 * (s.lane % group_lanes) + value % 2};
}

HOST_DEVICE constexpr Slot d_slot(int element_bits, Element e) {
  const int value = 2 * (e.row / group_rows) + e.col % 2;
  return {group_lanes * (e.row % group_rows) + e.col / 2, value / parts(element_bits),
          value % parts(element_bits)};
}

}  // namespace tcq::warp_mma
