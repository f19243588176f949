// Rows times columns, C -> D: the bits of sim/num's sums at the speed of the machine's vectors.
//
// A chain of instructions runs along the whole K of the lines. What the vectors cannot hold, lane by
// lane, is summed again by fused_sum.h: sums with NaN or infinity among the operands, sums aligned
// below 2^-74 where products below 2^-100 are possible, C below 2^-100, and sums of 16 and more
// products that overflow 32 bits. An infinite or NaN C stays in the vectors. Example: a row {2.0} and a column {3.0} of
// bf16 turn C = 0 into 0x40c00000.
//
// Speed: sim/NOTES.md.
#pragma once

#include <cstdint>

#include "sim/num/fast/instruction.h"
#include "sim/num/fast/lines.h"

namespace tcq::fast {

// The result, and what is added to: word [i][j] of row i and column j, the bits of D's type.
struct Outputs {
  std::uint32_t* words;
  std::int64_t stride;
};

// Requires: lines packed for the same instruction, of the same K.
void advance(const Instruction& in, const Lines& rows, const Lines& columns, const Outputs& d);

// Sparse A: element k of row i meets element met[i * rows.k() + k] of each column. Requires: one
// instruction, columns with K a multiple of the rows'.
void advance_sparse(const Instruction& in, const Lines& rows, const Lines& columns,
                    const std::uint16_t* met, const Outputs& d);

}  // namespace tcq::fast
