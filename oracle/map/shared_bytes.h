// What lies at a byte of shared memory: the elements of an operand, their core matrix, and the K step.
//
// The inverse of `bytes`. A byte that the instruction does not read may belong to a later step along K of
// the same tile: the start address moves on, all else stays. Where the start of a step lies follows from
// the layout itself (Addressing of map.h); K-major swizzled tiles have as many steps as their rows have
// room for. Example: with desc=0x4000004000010040 of a K-major bf16 A, byte 0x8b0 is A[9][0] of step 1.
#pragma once

#include <optional>
#include <vector>

#include "oracle/map/map.h"

namespace tcq::oracle {

// 8 rows of 16 bytes, counted along MN and along K from the operand's start.
struct CoreMatrix {
  int mn;
  int k;
  int row;   // of the 8
  int byte;  // of the 16
};

struct ByteElement {
  Coords element;
  int k_step = 0;
  int byte = 0;  // which byte of the element it is
  std::optional<CoreMatrix> core = {};
};

// Those of the first step that has any. Requires: Space::SharedMemory, places known.
std::vector<ByteElement> elements_at_byte(const Map& map, int cta, int byte);

// " in core matrix 1 along M, 0 along K, row 1, byte 0", and for later steps ", of K step 2 (start + 64
// bytes)"; of the first element.
std::string place_in_operand(const Map& map, const ByteElement& at);

// {"mn":1,"k":0,"row":1,"byte":0}
Value core_value(const CoreMatrix& core);

// From the start of a step to that of the next.
int k_step_bytes(const Map& map);

}  // namespace tcq::oracle
