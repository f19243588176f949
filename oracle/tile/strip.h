// One element's way in one picture: TMA box -> shared memory -> descriptor -> instruction.
//
// What `tcq layout MNEMONIC A|B ... row=R col=C --svg FILE` draws, for wgmma and tcgen05: the tile in the boxes that
// write it, the 1024 bytes of shared memory around the element in 16-byte units, the descriptor of the instruction
// that reads it, and the element in that instruction's part of the tile. Positions come from the layout and
// sim/isa/base/canonical_layout.h.
#pragma once

#include <cstdint>

#include "oracle/answer/drawing.h"
#include "oracle/tile/operand_layout.h"

namespace tcq::oracle {

// Unit: elements of the tile, mn a row of A or a column of B.
struct TileElement {
  std::uint32_t mn;
  std::uint32_t k;
};

// Requires: the element is in the tile.
Drawing strip_of(const OperandLayout& layout, TileElement element);

}  // namespace tcq::oracle
