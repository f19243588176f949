// Pictures of a Map that are no table: memory as it lies, shared and Tensor Memory, and the tile of several warpgroups.
//
// Tables as pictures are table.cc's. A line of shared memory is 128 bytes, in units of 16, which a swizzle moves and
// four banks serve; a line of Tensor Memory is a lane, a cell 32 bits of one column; a tile of D is drawn in blocks of
// 8 x 8, which one warp holds in one or two registers.
#pragma once

#include "oracle/answer/grid_picture.h"
#include "oracle/map/map.h"
#include "oracle/map/marks.h"

namespace tcq::oracle {

// Requires: map.space is SharedMemory, and its places are known.
Picture memory_picture(const Map& map, const Marks& marks);

// It lies in Tensor Memory, in that of a second CTA as well.
bool has_peer(const Map& map);

// Requires: map.space is TensorMemory. Of a pair the first CTA, all 128 lanes, and the columns from the first to the last
// that holds something. Throws UsageError for marks that fit in the second CTA alone.
Picture lanes_picture(const Map& map, const Marks& marks);

// Requires: map.blocks.
Picture block_picture(const Map& map, const Marks& marks);

}  // namespace tcq::oracle
