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
#include <type_traits>

#include "cuda/gemm/config.h"
#include "cuda/gemm/operand_maps.h"
#include "cuda/ptx/async.cuh"

namespace tcq::gemm {

// What a CTA loads, for all, of a tile that others of its cluster read, too: the index-th `mn` rows of A or columns of B.
struct Share {
  int index;
  int mn;
};

// Which operands lie in the other major than that of their tiles as compiled: kernels on tcgen05 take both.
struct Turned {
  bool a = false;
  bool b = false;
};

// Calls `function` with a value of the type of the tile: `Op`, or, turned, `Other`, if that is another one.
template <class Op, class Other, class Function>
__device__ __forceinline__ void as_it_lies(bool turned, Function function) {
  if constexpr (!std::is_same_v<Op, Other>)
    if (turned) return function(Other{});
  function(Op{});
}

// Where a box whose first row is `mn` begins in global memory.
template <class Op>
__device__ __forceinline__ tma::Coordinates box_start(int mn, int k, int batch) {
  return Op::major == Major::K ? tma::Coordinates{{k / packed_elements(Op::type), mn, batch}}
                               : tma::Coordinates{{mn, k, batch}};
}

// Where tiles do not begin at multiples of their rows (groups), a box across the edge is loaded whole.
enum class Edge : std::uint8_t { Cut, Whole };

template <class Op, Edge AtEdge>
inline constexpr bool cuts_rows = AtEdge == Edge::Cut&& Op::major == Major::K;

// Bytes that all shares of `mn` bring of a tile with `left` rows of the matrix from its first one on.
template <class Op, Edge AtEdge>
__device__ __forceinline__ std::uint32_t loaded_bytes(int left, int mn) {
  const int box = Op::mn_of_box(mn);
  const int inside = min(max(left, 0), Op::rows);
  const int rows = cuts_rows<Op, AtEdge> ? inside : (inside + box - 1) / box * box;
  return static_cast<std::uint32_t>(rows) * (Op::bytes / static_cast<std::uint32_t>(Op::rows));
}

// Loads this CTA's share of a tile whose first row is `mn`, for all in `mask` if it is Multicast; by a warp of
// which one lane `leads`, or by one thread.
template <class Op, Edge AtEdge, bool Multicast>
__device__ __forceinline__ void load_tile(const OperandMaps& maps, std::uint32_t shared, int mn,
                                          int left, int k, int batch, Share share,
                                          std::uint16_t mask, std::uint32_t barrier, bool leads) {
  const int box_mn = Op::mn_of_box(share.mn);
#pragma unroll
  for (int i = 0; i < Op::box_count; ++i) {
    if (!Op::splits_rows && i * box_mn >= share.mn) break;
    const int row = share.index * share.mn + i * box_mn;
    const int inside = left - row;
    if (inside <= 0) break;
    const bool is_whole = !cuts_rows<Op, AtEdge> || inside >= box_mn;
    const CUtensorMap* map = is_whole ? &maps.whole : &maps.rest;
    const tma::Coordinates start = box_start<Op>(mn + row, k, batch);
    const std::uint32_t target = shared + Op::offset(row, 0);
    if constexpr (Multicast)
      ptx::tma_load_multicast_by(leads, target, map, start, barrier, mask);
    else
      ptx::tma_load_by(leads, target, map, start, barrier);
  }
}

}  // namespace tcq::gemm
