// How one CTA brings its share of an operand's tile to shared memory, for itself and its peers.
//
// Rows that lie outside the matrix are not asked for: TMA takes longer for one of these than for one inside
// (cuda/NOTES.md, "rows outside"). So boxes outside are left out, and the one across the edge has a map of its own
// height. What then stands in a stage's other rows is of a stage before it; each row of A and column of B enters its own
// row or column of D alone, and those are not stored. Only the first stages of a CTA, before which nothing
// stands there, are loaded whole.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "cuda/gemm/config.h"
#include "cuda/gemm/operand_maps.h"
#include "cuda/ptx/async.cuh"

namespace tcq::gemm {

// Where one of this CTA's boxes of a tile whose first row is `mn` begins in global memory.
template <class Op>
__device__ __forceinline__ tma::Coordinates box_start(int mn, int box, int k, int batch) {
  const int at = mn + box * static_cast<int>(Op::rows_per_cta_box);
  return Op::major == Major::K ? tma::Coordinates{{k / packed_elements(Op::type), at, batch}}
                               : tma::Coordinates{{at, k, batch}};
}

// Rows of A, or columns of B, of a tile.
template <class Op>
inline constexpr int tile_rows =
    static_cast<int>(Op::rows_per_cta_box* Op::boxes_per_cta) * Op::peers;

// Where tiles do not begin at multiples of their rows (groups), a box across the edge is loaded whole.
enum class Edge : std::uint8_t { Cut, Whole };

template <class Op, Edge AtEdge>
inline constexpr bool cuts_rows = AtEdge == Edge::Cut&& Op::major == Major::K;

// Bytes that the shares of all peers bring of a tile with `left` rows of the matrix from its first one on.
template <class Op, Edge AtEdge>
__device__ __forceinline__ std::uint32_t loaded_bytes(int left) {
  constexpr int box = static_cast<int>(Op::rows_per_cta_box);
  const int inside = min(max(left, 0), tile_rows<Op>);
  const int rows = cuts_rows<Op, AtEdge> ? inside : (inside + box - 1) / box * box;
  return static_cast<std::uint32_t>(rows) * (Op::bytes / static_cast<std::uint32_t>(tile_rows<Op>));
}

// Loads this CTA's share of a tile whose first row is `mn`, for all peers.
template <class Op, Edge AtEdge>
__device__ __forceinline__ void load_tile(const OperandMaps& maps, std::uint32_t shared, int mn,
                                          int left, int k, int batch, int share, std::uint16_t mask,
                                          std::uint32_t barrier) {
#pragma unroll
  for (std::uint32_t i = 0; i < Op::boxes_per_cta; ++i) {
    const std::uint32_t first = static_cast<std::uint32_t>(share) * Op::boxes_per_cta + i;
    const std::uint32_t row = first * Op::rows_per_cta_box;
    const int inside = left - static_cast<int>(row);
    if (inside <= 0) break;
    const bool is_whole =
        !cuts_rows<Op, AtEdge> || inside >= static_cast<int>(Op::rows_per_cta_box);
    const CUtensorMap* map = is_whole ? &maps.whole : &maps.rest;
    const tma::Coordinates start = box_start<Op>(mn, static_cast<int>(first), k, batch);
    const std::uint32_t target = shared + Op::offset(static_cast<int>(row), 0);
    if constexpr (Op::peers > 1)
      ptx::tma_load_multicast<3>(target, map, start, barrier, mask);
    else
      ptx::tma_load<3>(target, map, start, barrier);
  }
}

}  // namespace tcq::gemm
