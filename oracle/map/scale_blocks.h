// Scale factors in memory: which byte of global or shared memory holds factor s of row m.
//
// Blocks of 128 rows x 4 factors, 512 bytes each, are what cuBLAS and CUTLASS lay out, what a bulk copy
// brings unchanged, and what one tcgen05.cp moves into Tensor Memory (maps_cp.cc; the copies there are
// maps_tcgen05.h). Global memory has the blocks of the whole matrix, shared memory those of one
// instruction. Blocks of 8 rows x 4 factors are a library's, in global memory only. All arithmetic is sim/isa/tmem/scale_layout.h. Example: with 8 factors along K factor 5 of
// row 77 is byte 729, by in=global as by in=smem.
#pragma once

#include <cstdint>

#include "oracle/map/map.h"
#include "sim/isa/tmem/scale_layout.h"

namespace tcq::oracle {

// Of the blocks that the copies of one CTA read: in a split buffer both halves of N side by side.
std::uint32_t scale_source_byte(const tcgen05::ScaleBuffer& buffer, int factors,
                                tcgen05::ScaleFactor factor);

struct ScaleBlocks {
  std::string_view matrix;      // "SFA"
  tcgen05::ScaleBuffer buffer;  // of one CTA
  int cta_group;
  int rows;     // of the map
  int factors;  // along K
  std::uint32_t start_bytes;
  bool global;
  bool small = false;  // in global memory, blocks of 8 rows
};

Map map_of(const ScaleBlocks& blocks);

}  // namespace tcq::oracle
