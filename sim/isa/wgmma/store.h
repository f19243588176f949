// How a 16-bit D leaves the registers by stmatrix.x4: which row of D each lane's address is.
//
// Four consecutive registers of D (two elements each) are 16 rows of a warp and 16 columns: four
// matrices of 8 x 8, first down, then right. Registers 4j to 4j + 3 hold columns 16j to 16j + 15.
// Example: thread 41 (lane 9 of warp 1) addresses row 25, columns 0 to 7; thread 57 row 25,
// columns 8 to 15.
//
// Inferred: composed of accumulator_element() and matrix::element(), which are measured;
// tests/isa/fragment_test.cc compares every element.
#pragma once

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/matrix_fragment.h"
#include "sim/isa/wgmma/fragment.h"

namespace tcq::wgmma {

inline constexpr int column_group = 8;     // columns that four 32-bit registers of a thread span
inline constexpr int store_registers = 4;  // of one stmatrix.x4
inline constexpr int store_columns = 16;

// The first element of the 16 bytes that this thread's address points at; col is 0 or 8.
HOST_DEVICE constexpr Element store_element(int thread) {
  const int lane = thread % 32;
  const int matrix = lane / 8;
  return {16 * (thread / 32) + 8 * (matrix % 2) + lane % 8, 8 * (matrix / 2)};
}

// The same for stmatrix.x2.trans, which stores D's transpose: two registers of a 16-bit D hold 8 of
// its columns, which become 8 rows of 16 bytes on either side. Lanes 16 to 31 repeat 0 to 15. The
// element counts rows and columns of the transpose. Example: thread 41 (lane 9 of warp 1): row 1,
// columns 24 to 31.
HOST_DEVICE constexpr Element store_transposed_element(int thread) {
  const int lane = thread % 16;
  return {lane % 8, 16 * (thread / 32) + 8 * (lane / 8)};
}

}  // namespace tcq::wgmma
