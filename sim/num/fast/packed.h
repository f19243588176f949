// Kinds mxf4 and mxf4nvf4: rows times columns, C -> D, the bits of sim/num/block_scaled_sum.h at the
// speed of the machine's vectors.
//
// One instruction: 64 elements of 4 bits a line, in four groups, each with its scale factor. Sums
// that the vectors cannot hold are made by block_scaled_sum(), lane by lane: NaN scale factors, and
// results that are subnormal or overflow. Example: 1 * 1 at scales 1 and 2 turns C = 0 into 2.
//
// Speed: sim/NOTES.md. Every other kind: chain.h.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/num/block_scaled_sum.h"
#include "sim/num/fast/chain.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::fast {

// decode_packed_row() of block_scaled_sum.h, from a table of elements.
tcgen05::PackedRow packed_row(const std::uint32_t* words, bool negate,
                              tcgen05::ScaleType scale_type, const std::uint8_t* scales,
                              int scale_block);

// Lines in the engine's form: halves as f32, and what their groups are scaled by.
class PackedLines {
 public:
  PackedLines(Side side, int count);

  // Decodes one line.
  void set(int line, const tcgen05::PackedRow& row);

  int count() const { return static_cast<int>(rows_.size()); }
  const tcgen05::PackedRow& row(int line) const { return rows_[static_cast<std::size_t>(line)]; }

  // Of a row: [k] and [group]. Of a panel of 32 columns: [k][column] and [group][column].
  const float* halves(int first) const;
  const float* significands(int first) const;
  const std::int32_t* exponents(int first) const;
  const std::int32_t* nonzero(int first) const;

 private:
  std::size_t groups_at(int line) const;

  Side side_;
  std::vector<tcgen05::PackedRow> rows_;
  std::vector<float> halves_;
  std::vector<float> significands_;
  std::vector<std::int32_t> exponents_;
  std::vector<std::int32_t> nonzero_;
};

// Requires: a packed kind, lines decoded for `form`.
void advance_packed(const tcgen05::DotForm& form, const PackedLines& rows,
                    const PackedLines& columns, const Outputs& d);

}  // namespace tcq::fast
