// Random tiles for the numeric tests of tcgen05.mma: every form, one class of weighted inputs each.
//
// draw_tile() hides which generator serves which kind: mixture.h, scaled_mixture.h or
// packed_mixture.h. Rows of A and columns of B are stored one behind the other, products() elements
// each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "sim/num/inputs/mixture.h"
#include "sim/num/inputs/packed_mixture.h"
#include "sim/num/inputs/scaled_mixture.h"
#include "sim/num/tcgen05_dot.h"
#include "tests/support/tcgen05_kinds.h"

namespace tcq::tcgen05 {

struct Tile {
  int rows = 0;
  int cols = 0;
  int k = 0;
  int scales = 0;  // per row and column
  Words a, b, c;
  Bytes scales_a, scales_b;

  DotOperands operands(int row, int col) const {
    return {&a[static_cast<std::size_t>(row * k)], &b[static_cast<std::size_t>(col * k)],
            c[static_cast<std::size_t>(row * cols + col)], scales_a.data() + row * scales,
            scales_b.data() + col * scales};
  }
};

template <class Source>
void draw_elements(const Source& source, Tile& tile) {
  for (int row = 0; row < tile.rows; ++row)
    for (int k = 0; k < tile.k; ++k) tile.a.push_back(source.a(row, k));
  for (int col = 0; col < tile.cols; ++col)
    for (int k = 0; k < tile.k; ++k) tile.b.push_back(source.b(col, k));
  for (int row = 0; row < tile.rows; ++row)
    for (int col = 0; col < tile.cols; ++col) tile.c.push_back(source.c(row, col));
}

inline Tile draw_tile(const DotForm& form, MixtureClass c, std::uint64_t seed, int rows, int cols) {
  const Kind kind = form.opcode.kind;
  const DotTypes types{form.idesc.d, form.idesc.a, form.idesc.b};
  Tile tile{rows, cols, products(kind), scale_count(form.opcode), {}, {}, {}, {}, {}};
  if (is_packed_4bit(kind)) {
    const PackedMixture source(form.idesc.scale_type, scale_block(form.opcode), c, seed);
    draw_elements(source, tile);
    for (int row = 0; row < rows; ++row)
      for (int i = 0; i < tile.scales; ++i) tile.scales_a.push_back(source.scale_a(row, i));
    for (int col = 0; col < cols; ++col)
      for (int i = 0; i < tile.scales; ++i) tile.scales_b.push_back(source.scale_b(col, i));
  } else if (kind == Kind::mxf8f6f4) {
    const ScaledMixture source(types, tile.k, c, seed);
    draw_elements(source, tile);
    for (int row = 0; row < rows; ++row) tile.scales_a.push_back(source.scale_a(row));
    for (int col = 0; col < cols; ++col) tile.scales_b.push_back(source.scale_b(col));
  } else {
    draw_elements(Mixture(types, tile.k, c, seed, tcgen05_dot_traits(kind, types.d)), tile);
  }
  return tile;
}

// The same form with options that its kind has.
inline DotForm with_random_options(DotForm form, std::mt19937& random) {
  const Kind kind = form.opcode.kind;
  form.accumulate = random() % 8 != 0;
  form.idesc.negate_a = kind != Kind::i8 && random() % 4 == 0;
  form.idesc.negate_b = kind != Kind::i8 && random() % 4 == 0;
  form.idesc.saturate = kind == Kind::i8 && random() % 2 == 0;
  const bool scales_c = (kind == Kind::f16 || kind == Kind::tf32) && random() % 4 == 0;
  form.scale_input_d = scales_c ? static_cast<int>(random() % 16) : 0;
  return form;
}

}  // namespace tcq::tcgen05
