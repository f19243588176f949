// How one CTA brings its share of an operand's tile to shared memory, for itself and its peers.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "cuda/gemm/config.h"
#include "cuda/ptx/async.cuh"

namespace tcq::gemm {

// Where one of this CTA's boxes of a tile whose first row is `mn` begins in global memory.
template <class Op>
__device__ __forceinline__ tma::Coordinates box_start(int mn, int box, int k, int batch) {
  const int at = mn + box * static_cast<int>(Op::rows_per_cta_box);
  return Op::major == Major::K ? tma::Coordinates{{k / packed_elements(Op::type), at, batch}}
                               : tma::Coordinates{{at, k, batch}};
}

// Loads this CTA's share of a tile whose first row is `mn`, for all peers.
template <class Op>
__device__ __forceinline__ void load_tile(const CUtensorMap& map, std::uint32_t shared, int mn,
                                          int k, int batch, int share, std::uint16_t mask,
                                          std::uint32_t barrier) {
#pragma unroll
  for (std::uint32_t i = 0; i < Op::boxes_per_cta; ++i) {
    const std::uint32_t first = static_cast<std::uint32_t>(share) * Op::boxes_per_cta + i;
    const std::uint32_t row = first * Op::rows_per_cta_box;
    const tma::Coordinates start = box_start<Op>(mn, static_cast<int>(first), k, batch);
    const std::uint32_t target = shared + Op::offset(static_cast<int>(row), 0);
    if constexpr (Op::peers > 1)
      ptx::tma_load_multicast<3>(target, &map, start, barrier, mask);
    else
      ptx::tma_load<3>(target, &map, start, barrier);
  }
}

}  // namespace tcq::gemm
