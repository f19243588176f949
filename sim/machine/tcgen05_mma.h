// Multiplying one tile as one tcgen05.mma does: every bit of D from the elements of A, B and C.
//
// Operands are matrices of raw element bits and scale factor bytes: where they lie in shared or
// Tensor Memory, and which element of B the metadata of a sparse A selects, is decided elsewhere;
// so is which forms exist. Each output is one sum of sim/num/tcgen05_dot.h. Example: kind mxf4,
// M = 128, N = 8: a has 128 x 64 words, b 8 x 64, scales_a 128 x 2 bytes, scales_b 8 x 2, d 128 x 8.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/isa/fault/fault.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::tcgen05 {

// M and N are form.idesc.m and form.idesc.n; K is products(kind) stored elements, sparse or dense.
struct MmaTile {
  DotForm form;
  std::vector<std::uint32_t> a;           // [row][stored k]
  std::vector<std::uint32_t> b;           // [column][k], k up to twice the stored K if sparse
  std::vector<std::uint8_t> scales_a;     // [row][block], block-scaled kinds only
  std::vector<std::uint8_t> scales_b;     // [column][block]
  std::vector<std::uint16_t> selected_k;  // [row][stored k], sparse only: the k of B that it meets

  friend bool operator==(const MmaTile&, const MmaTile&) = default;
};

// `d` is C before and D after, [row][column]. Faults: those of check_modelled(); `d` is unchanged
// then. Requires: sizes as above, every selected k inside a column of b.
Fault multiply(const MmaTile& tile, std::vector<std::uint32_t>& d);

}  // namespace tcq::tcgen05
