// Fragments of wmma: which part of which register of which lane is which element of A, B, C or D.
//
// PTX leaves this open: a kernel may only hand a fragment from wmma.load to wmma.mma to wmma.store, and treat all
// elements alike. Here a fragment is that of the mma.sync products that a wmma.mma is made of (mma_fragment.h), one
// behind the other: m16n16k16 is two m16n8k16. The widest, m8n32k16, is m32n8k16 transposed: A and B change places.
// Registers of f16 beyond those are the first ones again. Example: of m16n16k16, D[3][9] of f32 is in lane 12,
// register 5, as element (3, 1) of the second product.
//
// Source: PTX ISA 9.2, 9.7.14.4.1 "Matrix fragments for WMMA": how many registers, and that the mapping is unspecified.
// Measured: what wmma.load puts where, tests/vectors/statements.tcqv. Inferred: that wmma.mma and wmma.store agree with it.
#pragma once

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/mma_fragment.h"

namespace tcq::wmma {

enum class Matrix : int { A, B, D };  // C lies as D does

struct Shape {
  int m;
  int n;
  int k;
  friend constexpr bool operator==(const Shape&, const Shape&) = default;
};

// A and B change places where N is 32.
HOST_DEVICE constexpr bool is_transposed(Shape s) { return s.n > s.m; }
HOST_DEVICE constexpr Shape transposed(Shape s) {
  return is_transposed(s) ? Shape{s.n, s.m, s.k} : s;
}

// Of one of its products m16n8 or m8n8.
HOST_DEVICE constexpr int tile_rows(Shape s) { return s.m % 16 == 0 ? 16 : 8; }
// Products that share B, and that share A.
HOST_DEVICE constexpr int row_tiles(Shape s) { return s.m / tile_rows(s); }
HOST_DEVICE constexpr int column_tiles(Shape s) { return s.n / warp_mma::n; }

HOST_DEVICE constexpr int tile_registers(Shape s, Matrix x, int element_bits) {
  switch (x) {
    case Matrix::A: return warp_mma::a_registers(tile_rows(s), s.k, element_bits);
    case Matrix::B: return warp_mma::b_registers(s.k, element_bits);
    default: return warp_mma::d_registers(tile_rows(s), element_bits);
  }
}

// Which matrix of the products a matrix is, and how many registers differ.
HOST_DEVICE constexpr Matrix place_of(Shape s, Matrix x) {
  if (!is_transposed(s) || x == Matrix::D) return x;
  return x == Matrix::A ? Matrix::B : Matrix::A;
}
HOST_DEVICE constexpr int distinct_registers(Shape shape, Matrix x, int element_bits) {
  const Shape s = transposed(shape);
  const Matrix place = place_of(shape, x);
  const int tiles = place == Matrix::A   ? row_tiles(s)
                    : place == Matrix::B ? column_tiles(s)
                                         : row_tiles(s) * column_tiles(s);
  return tiles * tile_registers(s, place, element_bits);
}

// As many as an instruction names. Source: PTX ISA 9.2, 9.7.14.4.1: A and B of f16 have eight of any shape.
HOST_DEVICE constexpr int registers(Shape s, Matrix x, int element_bits, bool is_f16) {
  return is_f16 && x != Matrix::D ? 8 : distinct_registers(s, x, element_bits);
}

// Shape: lane [0,32), reg [0,distinct_registers), part [0,parts) <-> rows and columns of the matrix.
HOST_DEVICE constexpr warp_mma::Element element(Shape shape, Matrix x, int element_bits,
                                                warp_mma::Slot slot) {
  const Shape s = transposed(shape);
  const Matrix place = place_of(shape, x);
  const int each = tile_registers(s, place, element_bits);
  const int tile = slot.reg / each;
  slot.reg %= each;
  warp_mma::Element e = {};
  if (place == Matrix::A) {
    e = warp_mma::a_element(tile_rows(s), element_bits, slot);
    e.row += tile_rows(s) * tile;
  } else if (place == Matrix::B) {
    e = warp_mma::b_element(element_bits, slot);
    e.col += warp_mma::n * tile;
  } else {
    e = warp_mma::d_element(element_bits, slot);
    e.row += tile_rows(s) * (tile / column_tiles(s));
    e.col += warp_mma::n * (tile % column_tiles(s));
  }
  return is_transposed(shape) ? warp_mma::Element{e.col, e.row} : e;
}

}  // namespace tcq::wmma
