// ldmatrix and stmatrix, .m8n8.b16: which half of which register of which thread is which element.
//
// A warp moves 1, 2 or 4 matrices of 8 x 8 16-bit elements. Thread 8j + i supplies the address of
// row i of matrix j; register j of each thread then holds two elements of matrix j. With .trans the
// roles of row and column are exchanged on the register side. Example: thread 13, register 0, part
// 1 holds M0[3][3], and with .trans M0[3][3] as well, while part 0 holds M0[3][2] and with .trans
// M0[2][3].
//
// Source: PTX ISA 9.2, 9.7.14.5.15 "ldmatrix", 9.7.14.5.16 "stmatrix".
#pragma once

#include "sim/isa/base/host_device.h"

namespace tcq::matrix {

struct Slot {
  int lane;
  int reg;
  int part;
  friend constexpr bool operator==(const Slot&, const Slot&) = default;
};

struct Element {
  int matrix;
  int row;
  int col;
  friend constexpr bool operator==(const Element&, const Element&) = default;
};

HOST_DEVICE constexpr bool count_exists(int count) {
  return count == 1 || count == 2 || count == 4;
}

// Shape: lane [0,32), reg [0,count), part [0,2) <-> matrix [0,count), row [0,8), col [0,8).
HOST_DEVICE constexpr Element element(bool transposed, Slot s) {
  const int outer = s.lane / 4;
  const int inner = 2 * (s.lane % 4) + s.part;
  return transposed ? Element{s.reg, inner, outer} : Element{s.reg, outer, inner};
}

HOST_DEVICE constexpr Slot slot(bool transposed, Element e) {
  const int outer = transposed ? e.col : e.row;
  const int inner = transposed ? e.row : e.col;
  return {4 * outer + inner / 2, e.matrix, inner % 2};
}

// The lane whose address operand points at `row` of `matrix`.
HOST_DEVICE constexpr int address_lane(int matrix, int row) { return 8 * matrix + row; }

}  // namespace tcq::matrix
