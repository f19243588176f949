// ldmatrix and stmatrix of bytes: which byte of which register of which thread is which element.
//
// A row is 16 elements behind one address, 16 bytes (4- and 6-bit elements fill its first bytes and are
// widened to a byte each). Rows are those of memory, as in matrix_fragment.h, which has the 8 x 8 matrices of
// 16 bits. .m16n16 of ldmatrix is always transposed: its registers are the fragments of 8-bit A and B of mma
// for operands that lie along M or N. .m8n16 is not: thread 4*row + col/4. .m16n8 of stmatrix, always
// transposed, takes two columns of two rows from a register, as four f32 accumulators are packed. Example: in
// ldmatrix.m16n16.x1.trans thread 13 has, in register 1, rows 4 to 7 of column 11.
//
// Source: PTX ISA 9.2, 9.7.14.5.15 "ldmatrix", 9.7.14.5.16 "stmatrix". Inferred: what the figures there leave
// to the eye, from the layouts of CUTLASS (cute/atom/copy_traits_sm100.hpp) and the bytes that it exchanges
// behind the load (cute/arch/copy_sm100.hpp).
#pragma once

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/matrix_fragment.h"

namespace tcq::matrix {

enum class ByteShape { M16n16, M8n16, M16n8 };  // ldmatrix.trans, ldmatrix, stmatrix.trans

inline constexpr int byte_columns = 16;  // elements of a row

// What the 16 bytes of a row hold: .b8, .b8x16.b4x16_p64, .b8x16.b6x16_p32. Narrow elements lie one behind the other
// from the lowest bit of the first byte on.
// Inferred: a widened element has its bits at the bottom of its byte, zeros above (CUTLASS shifts 4-bit ones to the place
// where mma reads them: cute/atom/mma_traits_sm120.hpp). Never run on silicon here.
enum class Packing { Bytes, B4x16_p64, B6x16_p32 };

HOST_DEVICE constexpr int element_bits(Packing packing) {
  switch (packing) {
    case Packing::Bytes: break;
    case Packing::B4x16_p64: return 4;
    case Packing::B6x16_p32: return 6;
  }
  return 8;
}
// Of a row, that are read; padding follows.
HOST_DEVICE constexpr int packed_bytes(Packing packing) {
  return byte_columns * element_bits(packing) / 8;
}
// The byte of a row in which an element begins, and the element of that byte and the next.
HOST_DEVICE constexpr int first_byte(Packing packing, int col) {
  return col * element_bits(packing) / 8;
}
HOST_DEVICE constexpr int unpacked(Packing packing, int col, int byte, int next) {
  const int bits = element_bits(packing);
  return (next << 8 | byte) >> col * bits % 8 & ((1 << bits) - 1);
}
// The other way: what an element adds to that byte, and, above, to the next one.
HOST_DEVICE constexpr int packed(Packing packing, int col, int element) {
  const int bits = element_bits(packing);
  return (element & ((1 << bits) - 1)) << col * bits % 8;
}

HOST_DEVICE constexpr int rows(ByteShape shape) { return shape == ByteShape::M16n16 ? 16 : 8; }

// Of each thread, for one matrix.
HOST_DEVICE constexpr int registers(ByteShape shape) { return rows(shape) / 8; }

HOST_DEVICE constexpr bool count_exists(ByteShape shape, int count) {
  return count_exists(count) && count * registers(shape) <= 4;
}

// Shape: lane [0,32), reg [0,registers*count), part [0,4) <-> matrix [0,count), row [0,rows), col [0,16).
HOST_DEVICE constexpr Element element(ByteShape shape, Slot s) {
  const int outer = s.lane / 4;
  const int inner = s.lane % 4;
  switch (shape) {
    case ByteShape::M16n16: return {s.reg / 2, 4 * inner + s.part, outer + 8 * (s.reg % 2)};
    case ByteShape::M8n16: return {s.reg, outer, 4 * inner + s.part};
    case ByteShape::M16n8: break;
  }
  return {s.reg, 2 * inner + s.part % 2, outer + 8 * (s.part / 2)};
}

HOST_DEVICE constexpr Slot slot(ByteShape shape, Element e) {
  switch (shape) {
    case ByteShape::M16n16:
      return {4 * (e.col % 8) + e.row / 4, 2 * e.matrix + e.col / 8, e.row % 4};
    case ByteShape::M8n16: return {4 * e.row + e.col / 4, e.matrix, e.col % 4};
    case ByteShape::M16n8: break;
  }
  return {4 * (e.col % 8) + e.row / 2, e.matrix, e.row % 2 + 2 * (e.col / 8)};
}

// The lane whose address operand points at `row` of `matrix`.
HOST_DEVICE constexpr int address_lane(ByteShape shape, int matrix, int row) {
  return rows(shape) * matrix + row;
}

}  // namespace tcq::matrix
