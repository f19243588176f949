// What a pair of CTAs does together in the GEMM on tcgen05 (cta_group::2), and one CTA alone.
//
// Both have 128 rows of A and D and half of the columns of B; the CTA of rank 0, the leader, multiplies for both. Its
// full[s] counts the bytes of both: its own producer expects them all, the peer's loads complete there. A commit arrives at
// empty[s] and summed[a] of both CTAs; the epilogue's warps of both arrive at the leader's drained[a]. Nobody leaves before
// both are done: a cluster barrier stands before Tensor Memory is given back. The peer is alive before it is
// allocated, which takes both: another stands before that. The kernel: cuda/gemm/tensor_kernel.cuh.
//
// Run on the machine (tests/run/run_tensor_pair_test.cc), not on silicon.
// Source: PTX ISA 9.2, 9.7.16.7.1 "tcgen05.alloc", 9.7.16.12 "tcgen05.commit", 9.7.9.27.1.2 "cp.async.bulk.tensor".
#pragma once

#include <cuda.h>

#include <cstdint>

#include "cuda/gemm/leader.cuh"
#include "cuda/gemm/produce.cuh"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/tmem.cuh"
#include "sim/isa/base/cluster.h"

namespace tcq::gemm {

template <class C>
__device__ __forceinline__ int own_cluster() {
  return static_cast<int>(blockIdx.x) / C::cluster;
}
template <class C>
__device__ __forceinline__ int all_clusters() {
  return static_cast<int>(gridDim.x) / C::cluster;
}

// All threads of the CTA, or of its cluster.
template <class C>
__device__ __forceinline__ void meet_all() {
  if constexpr (C::cluster == 1) {
    __syncthreads();
  } else {
    ptx::cluster_arrive();
    ptx::cluster_wait();
  }
}

// At the barrier of each CTA.
template <class C>
__device__ __forceinline__ void commit(std::uint32_t barrier) {
  constexpr tcgen05::CommitForm form{.cta_group = C::ctas, .multicast = C::ctas > 1};
  if constexpr (C::ctas == 1)
    ptx::tcgen05_commit<form>(barrier);
  else
    ptx::tcgen05_commit<form>(barrier, multicast_mask(0, 1, C::ctas));
}

// At full[s]: of groups along K each CTA of a pair has a stage to clear for itself, and says so (cuda/gemm/ragged.cuh).
template <class C>
inline constexpr std::uint32_t arrivals_of_stage = groups_k<C>() ? C::ctas : 1;

// What threads of both CTAs have cleared, as well as bytes.
template <class C>
__device__ __forceinline__ void wait_for_stage(std::uint32_t full, std::uint32_t parity) {
  if constexpr (groups_k<C>())
    wait_for_all<C>(full, parity);
  else
    wait(full, parity);
}

// Where the bytes of a pair's stage count: those of both on the leader's full[s], those of a stage in which something is to be
// cleared in each CTA on a barrier of its own.
template <class C>
__device__ __forceinline__ std::uint32_t expect_stage(const Barriers<C>& barriers,
                                                      Ring<C::stages>& landed, int stage, int rank,
                                                      bool to_be_cleared,
                                                      std::uint32_t bytes_besides, bool leads) {
  const std::uint32_t full = barriers.full(stage);
  const std::uint32_t bytes = C::A::bytes + C::B::bytes + bytes_besides;
  if constexpr (groups_k<C>()) {
    if (to_be_cleared) {
      const std::uint32_t own = barriers.landed(landed.stage);
      landed.advance();
      if (leads) ptx::mbarrier_arrive_expect_tx(own, bytes);
      return ptx::map_shared(own, static_cast<std::uint32_t>(rank));
    }
    if (leads && rank == 0) ptx::mbarrier_arrive(full);  // in the peer's stead
  }
  if (leads && rank == 0) ptx::mbarrier_arrive_expect_tx(full, C::ctas * bytes);
  return ptx::map_shared(full, 0);
}

// Loads this CTA's tile, whose first row is `mn`; the bytes count on the leader's barrier.
template <class Op>
__device__ __forceinline__ void load_for_leader(const CUtensorMap& map, std::uint32_t shared,
                                                int mn, int k, int batch, std::uint32_t barrier,
                                                bool leads) {
#pragma unroll
  for (int i = 0; i < Op::box_count; ++i) {
    const int row = i * Op::mn_of_box(Op::rows);
    ptx::tma_load_pair_by(leads, shared + Op::offset(row, 0), &map,
                          box_start<Op>(mn + row, k, batch), barrier);
  }
}

// As produce() of cuda/gemm/produce.cuh, in each CTA.
template <class C, class Step, class Besides>
__device__ __forceinline__ void produce_pair(const CUtensorMap& map_a, const CUtensorMap& map_b,
                                             const Arguments& arguments, std::uint32_t shared,
                                             const Barriers<C>& barriers, int cluster,
                                             const Step& step, bool leads, const Besides& besides) {
  const auto rank = static_cast<int>(ptx::cluster_rank());
  const Turned turned = besides.turned();
  Ring<C::stages> ring;
  Ring<C::stages> landed;  // of stages in which something is to be cleared
  LoadedTiles<C> tiles(arguments, cluster, step);
  TilePlace tile;
  while (tiles.next(tile)) {
    const int m = tile.row + rank * C::block_m;
    const int n = tile.col + rank * C::own_columns;
    const BlocksAlongK along = along_k<C>(arguments, tile);
    for (int block = 0; block < along.count; ++block) {
      wait(barriers.empty(ring.stage), 1 - ring.parity);
      const std::uint32_t counted =
          expect_stage<C>(barriers, landed, ring.stage, rank, others_in<C>(along, block).any(),
                          besides.bytes(tile, block), leads);
      const std::uint32_t a = shared + static_cast<std::uint32_t>(ring.stage) * C::stage_bytes;
      const int k = k_begin<C>(tile, along) + block * C::block_k;
      as_it_lies<typename C::A, typename C::TurnedA>(turned.a, [&](auto tile_a) {
        load_for_leader<decltype(tile_a)>(map_a, a, m, k, tile.batch, counted, leads);
      });
      as_it_lies<typename C::B, typename C::TurnedB>(turned.b, [&](auto tile_b) {
        load_for_leader<decltype(tile_b)>(map_b, a + C::A::bytes, n, k, tile.batch_b, counted,
                                          leads);
      });
      besides.load(tile, block, a + C::A::bytes + C::B::bytes, counted, leads);
      ring.advance();
      __syncwarp();  // as produce() does
    }
  }
  // A commit may still arrive here.
  for (int i = 0; i < C::stages; ++i) {
    wait(barriers.empty(ring.stage), 1 - ring.parity);
    ring.advance();
  }
}

}  // namespace tcq::gemm
