// Fragments of mma.m8n8k4 of f16: four products of one warp, each of eight lanes, a quad pair.
//
// Product p is of lanes 4 p to 4 p + 3 and 16 + 4 p to 19 + 4 p, its members 0 to 7. A member has four neighbours of A
// and of B: along K they are its own row of A (column of B); across it those of one k, of the first four rows or the
// last, as it is among the first four members or the last. Of D of f16 a member has its row; of D of f32 two rows in
// turn. C lies as D does. Example: in product 1 D[3][6] of f32 is in lane 7, register 6.
//
// Source: PTX ISA 9.2, 9.7.14.5.1 "Matrix Fragments for mma.m8n8k4 with .f16 floating point type"
#pragma once

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/mma_fragment.h"

namespace tcq::quad_pair {

using warp_mma::Element;
using warp_mma::Slot;

inline constexpr int products = 4;
inline constexpr int side = 8;   // M and N
inline constexpr int depth = 4;  // K
inline constexpr int half = 4;   // members in the low lanes

HOST_DEVICE constexpr int product_of(int lane) { return lane % 16 / half; }
HOST_DEVICE constexpr int member_of(int lane) { return lane % half + half * (lane / 16); }
HOST_DEVICE constexpr int lane_of(int product, int member) {
  return half * product + member % half + 16 * (member / half);
}

// An operand as lines (rows of A, columns of B) and k. Row-major A and column-major B lie along K.
// Shape: member [0,8), value [0,4) <-> row (the line) [0,8), col (k) [0,4).
HOST_DEVICE constexpr Element operand_element(bool along_k, int member, int value) {
  return along_k ? Element{member, value} : Element{value + half * (member / half), member % half};
}

struct Held {
  int member;
  int index;  // of the values of a member, from the low bits of its first register on
  friend constexpr bool operator==(const Held&, const Held&) = default;
};

HOST_DEVICE constexpr Held operand_value(bool along_k, Element e) {
  return along_k ? Held{e.row, e.col} : Held{e.col + half * (e.row / half), e.row % half};
}

// Shape: member [0,8), value [0,8) <-> row [0,8), col [0,8).
HOST_DEVICE constexpr Element d_element(int element_bits, Held v) {
  if (element_bits == 16) return {v.member, v.index};
  return {(v.member & 1) + (v.index & 2) + half * (v.member / half),
          (v.index & 4) + (v.member & 2) + (v.index & 1)};
}

HOST_DEVICE constexpr Held d_value(int element_bits, Element e) {
  if (element_bits == 16) return {e.row, e.col};
  return {(e.row & 1) + (e.col & 2) + half * (e.row / half),
          (e.col & 4) + (e.row & 2) + (e.col & 1)};
}

}  // namespace tcq::quad_pair
