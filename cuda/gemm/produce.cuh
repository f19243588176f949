// The producer of a GEMM kernel: fills the ring with the stages of its CTA's tiles, and where a CTA's tiles lie.
//
// One for all kernels that load with TMA and read their operands from shared memory, whatever multiplies them:
// cuda/gemm/kernel.cuh, cuda/gemm/tensor_kernel.cuh.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <type_traits>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/dynamic.cuh"
#include "cuda/gemm/k_groups.cuh"
#include "cuda/gemm/load.cuh"
#include "cuda/gemm/ring.cuh"
#include "cuda/gemm/tiles.cuh"
#include "cuda/ptx/async.cuh"
#include "sim/isa/base/cluster.h"

namespace tcq::gemm {

struct Rank {
  int row;  // of the CTA in its cluster
  int col;
};

template <class C>
__device__ __forceinline__ Rank own_rank() {
  const int rank = C::cluster == C::split ? 0 : static_cast<int>(ptx::cluster_rank());
  return {rank % C::cluster_m, rank / C::cluster_m};
}

// By a stride, or by answers (cuda/gemm/dynamic.cuh), for which so many lanes of a warp look together.
template <class C, bool Keeps = true, int Lanes = 1, bool Coded = false>
using ClusterTiles = std::conditional_t<
    is_dynamic<C>(), DynamicTiles<C, Lanes>,
    std::conditional_t<
        groups_k<C>(), KGroupTiles<C::block_m * C::cluster_m, C::block_n * C::cluster_n>,
        std::conditional_t<
            streams_k<C>(),
            StreamKTiles<C::block_m * C::cluster_m, C::block_n * C::cluster_n, C::block_k>,
            std::conditional_t<C::grouped && transposes<C>(),
                               TransposedGroupTiles<C::block_m, C::block_n, Keeps, Coded>,
                               Tiles<C::grouped, C::block_m * C::cluster_m,
                                     C::block_n * C::cluster_n, Keeps, Coded>>>>>;

// Of a kernel whose CTAs have shared memory at `shared`.
template <class C>
__device__ __forceinline__ auto cluster_step(std::uint32_t shared, int clusters) {
  if constexpr (groups_k<C>())
    return KGroupStep{clusters, {shared + C::order_offset}};
  else
    return clusters;
}
// Finds that order, by all threads of a CTA.
template <class C, class Step>
__device__ __forceinline__ void start_step(const Arguments& arguments, const Step& step) {
  if constexpr (groups_k<C>()) {
    step.order.find(arguments);
    __syncthreads();
  }
}

// Those that store D's factors of blocks look for their places, too.
template <class C, bool Keeps>
using StoredTiles = ClusterTiles<C, Keeps, 32, quantized_vec_of<C>() != tcgen05::ScaleVec::Default>;

// Those that load also look for the places of A's factors of blocks.
template <class C>
using LoadedTiles = ClusterTiles<C, true, 32, scale_vec_of<C>() != tcgen05::ScaleVec::Default>;

// The blocks along K that a CTA multiplies.
template <class C>
__device__ __forceinline__ BlockRange own_blocks(const Arguments& arguments) {
  if constexpr (C::split == 1)
    return {0, arguments.k_blocks};
  else
    return split_range(arguments.k_blocks, C::split, static_cast<int>(ptx::cluster_rank()));
}

// What a stage has besides tiles of A and B: nothing; and both lie as they are compiled.
struct TilesAlone {
  __device__ __forceinline__ Turned turned() const { return {}; }
  __device__ __forceinline__ std::uint32_t bytes(const TilePlace&, int) const { return 0; }
  __device__ __forceinline__ void load(const TilePlace&, int, std::uint32_t, std::uint32_t,
                                       bool) const {}
};

// By a warp, whose elected lane `leads`: it alone asks for bytes. The others come along, so that what is worked out is
// the warp's: for a lane alone ptxas has more instructions for each block (cuda/NOTES.md, "the producer's warp"). `step`: how a
// cluster comes to its next tile, a number of clusters, an order of groups along K, or answers.
template <class C, class Step, class Besides = TilesAlone>
__device__ __forceinline__ void produce(const OperandMaps& map_a, const OperandMaps& map_b,
                                        const Arguments& arguments, std::uint32_t shared,
                                        const Barriers<C>& barriers, int cluster, const Step& step,
                                        bool leads, Besides besides = {}) {
  const Rank rank = own_rank<C>();
  const Share share_a = {rank.col, C::A::rows / C::sharers_a};
  const Share share_b = {rank.row, C::B::rows / C::sharers_b};
  const std::uint16_t mask_a = multicast_mask(rank.row, C::cluster_m, C::cluster_n);
  const std::uint16_t mask_b = multicast_mask(rank.col * C::cluster_m, 1, C::cluster_m);
  constexpr Edge edge_of_rows = C::grouped ? Edge::Whole : Edge::Cut;  // of D's
  constexpr Edge edge_a = transposes<C>() ? Edge::Cut : edge_of_rows;
  constexpr Edge edge_b = transposes<C>() ? edge_of_rows : Edge::Cut;
  const Turned turned = besides.turned();
  BlockRange blocks = own_blocks<C>(arguments);
  Ring<C::stages> ring;
  [[maybe_unused]] Ring<C::stages> landed;  // of stages in which something is to be cleared
  int filled = 0;                           // stages
  LoadedTiles<C> tiles(arguments, cluster, step);
  TilePlace tile;
  while (tiles.next(tile)) {
    BlocksAlongK along = {};
    if constexpr (has_parts_of_k<C>()) {
      along = along_k<C>(arguments, tile);
      blocks.end = along.count;
    }
    const int m = tile.row + rank.row * C::block_m;
    const int n = tile.col + rank.col * C::block_n;
    for (int block = blocks.first; block < blocks.end; ++block) {
      const bool is_first = filled < C::stages;
      filled += is_first ? 1 : 0;
      const int left_a = is_first ? C::block_m : ends_of<C>(arguments, tile).rows - m;
      const int left_b = is_first ? C::block_n : ends_of<C>(arguments, tile).cols - n;
      wait(barriers.empty(ring.stage), 1 - ring.parity);
      std::uint32_t full = barriers.full(ring.stage);
      if constexpr (groups_k<C>()) {
        if (others_in<C>(along, block).any()) {
          full = barriers.landed(landed.stage);
          landed.advance();
        }
      }
      std::uint32_t bytes = besides.bytes(tile, block);
      as_it_lies<typename C::A, typename C::TurnedA>(turned.a, [&](auto tile_a) {
        bytes += loaded_bytes<decltype(tile_a), edge_a>(left_a, share_a.mn);
      });
      as_it_lies<typename C::B, typename C::TurnedB>(turned.b, [&](auto tile_b) {
        bytes += loaded_bytes<decltype(tile_b), edge_b>(left_b, share_b.mn);
      });
      const std::uint32_t a = shared + static_cast<std::uint32_t>(ring.stage) * C::stage_bytes;
      const int k = k_begin<C>(tile, along) + block * C::block_k;
      if (leads) ptx::mbarrier_arrive_expect_tx(full, bytes);
      as_it_lies<typename C::A, typename C::TurnedA>(turned.a, [&](auto tile_a) {
        load_tile<decltype(tile_a), edge_a, (C::sharers_a > 1)>(map_a, a, m, left_a, k, tile.batch,
                                                                share_a, mask_a, full, leads);
      });
      as_it_lies<typename C::B, typename C::TurnedB>(turned.b, [&](auto tile_b) {
        load_tile<decltype(tile_b), edge_b, (C::sharers_b > 1)>(
            map_b, a + C::A::bytes, n, left_b, k, tile.batch_b, share_b, mask_b, full, leads);
      });
      besides.load(tile, block, a + C::A::bytes + C::B::bytes, full, leads);
      ring.advance();
      __syncwarp();  // a lane that is behind could miss a turn: a parity does not tell the next but one from it
    }
  }
  if (C::producer_stays) {
    // Nobody leaves while a peer, or a commit, may still write to this CTA or arrive here.
    for (int i = 0; i < C::stages; ++i) {
      wait(barriers.empty(ring.stage), 1 - ring.parity);
      ring.advance();
    }
  }
}

}  // namespace tcq::gemm
