// The GEMM kernel for few rows of D: the weights are wgmma's A, the rows of D its B.
//
// It computes the transpose of D's tile, 128 columns of D by Tokens rows, so that wgmma's 64 rows are
// filled by weights, and writes it transposed back. K is split among the Split CTAs of a cluster;
// each sends the sums of all but its own slice of rows to their owners, who add them in ascending
// order of K. One tile for each cluster: a small problem is over after one wave, and two CTAs of an SM
// hide each other's beginning and end.
//
// D[i][j] is the sum, in ascending order and f32, of Split chains of wgmmas (gemm_kernel.cuh), and
// then the epilogue.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/gemm_arguments.h"
#include "cuda/gemm_config.h"
#include "cuda/gemm_epilogue.cuh"
#include "cuda/gemm_ring.cuh"
#include "cuda/ptx.cuh"
#include "cuda/ptx_async.cuh"
#include "cuda/ptx_bulk.cuh"
#include "cuda/wgmma.cuh"
#include "sim/isa/wgmma_store.h"

namespace tcq::gemm {

template <Type In, Type Out, int Consumers, int Tokens, int Split, int Stages>
struct SkinnyConfig {
  static constexpr Type in = In;
  static constexpr Type out = Out;
  static constexpr Type accumulator = Type::f32;
  static constexpr int tokens = Tokens;  // rows of D
  static constexpr int split = Split;
  static constexpr int stages = Stages;
  static constexpr int consumers = Consumers;
  static constexpr int weights = consumers * warpgroup_rows;  // columns of D
  static constexpr int consumer_threads = consumers * warpgroup_threads;
  static constexpr int threads = consumer_threads + 32;

  using A = OperandTile<In, Major::K, weights, 1>;
  using B = OperandTile<In, Major::K, Tokens, 1>;
  static constexpr int block_k = A::block_k;
  static constexpr int steps = block_k / wgmma::stored_k(In);
  static constexpr wgmma::Form form = {.d = accumulator, .a = In, .b = In, .n = Tokens};
  static constexpr int registers = wgmma::accumulator_registers(accumulator, Tokens);
  static_assert(bits(Out) == 16, "others are stored element by element");

  // Rows of D whose sums a CTA of the cluster completes: whole groups of columns of wgmma's D.
  static constexpr int groups = Tokens / wgmma::column_group;
  static constexpr int owners = Split < groups ? Split : groups;
  static constexpr int slice_tokens = Tokens / owners;
  static constexpr int slice_registers = registers / owners;
  static_assert(slice_registers * owners == registers && groups / owners * owners == groups);
  static constexpr std::uint32_t slice_bytes =
      slice_registers * warpgroup_threads * static_cast<std::uint32_t>(sizeof(float));

  static constexpr std::uint32_t stage_bytes = A::bytes + B::bytes;
  // In place of the stages, once all are read: what is sent, then what is stored.
  static constexpr std::uint32_t send_bytes = Split > 1 ? owners* slice_bytes : 0;
  static constexpr std::uint32_t store_bytes = slice_tokens * swizzle_bytes;
  static_assert(consumers * (send_bytes + store_bytes) <= Stages * stage_bytes);
  static constexpr std::uint32_t receive_offset = Stages * stage_bytes;
  static constexpr std::uint32_t receive_bytes = (Split - 1) * slice_bytes;  // of a consumer
  static constexpr std::uint32_t barrier_offset = receive_offset + consumers * receive_bytes;
  static constexpr int barriers = 2 * Stages + consumers;
  static constexpr std::uint32_t shared_bytes =
      barrier_offset + barriers * static_cast<std::uint32_t>(sizeof(std::uint64_t));
  static_assert(shared_bytes <= max_shared_bytes);
  static constexpr int resident = 2 * (shared_bytes + 1024) <= 228 * 1024 ? 2 : 1;
};

// The weights of the first stages, while the kernel before this one still runs: they are in L2 when
// they may be loaded, and if that kernel writes them, L2 has them new.
template <class C>
__device__ __forceinline__ void prefetch_weights(const CUtensorMap& map_w, const TileAt& tile,
                                                 BlockRange range) {
  for (int block = range.first; block < range.end && block < range.first + C::stages; ++block)
    ptx::tma_prefetch(&map_w, {{block * C::block_k, tile.row * C::weights, tile.batch}});
}

template <class C>
__device__ __forceinline__ void produce_skinny(const CUtensorMap& map_w, const CUtensorMap& map_x,
                                               std::uint32_t shared, const Barriers<C>& barriers,
                                               const TileAt& tile, BlockRange range) {
  Ring<C::stages> ring;
  for (int block = range.first; block < range.end; ++block) {
    wait(barriers.empty(ring.stage), 1 - ring.parity);
    const std::uint32_t full = barriers.full(ring.stage);
    const std::uint32_t stage = shared + static_cast<std::uint32_t>(ring.stage) * C::stage_bytes;
    const int k = block * C::block_k;
    ptx::mbarrier_arrive_expect_tx(full, C::stage_bytes);
    ptx::tma_load<3>(stage, &map_w, {{k, tile.row * C::weights, tile.batch}}, full);
    ptx::tma_load<3>(stage + C::A::bytes, &map_x, {{k, tile.col * C::tokens, tile.batch}}, full);
    ring.advance();
  }
}

template <class C>
using Sums = std::uint32_t[C::registers];

template <class C>
__device__ __forceinline__ void accumulate_skinny(Sums<C>& d, std::uint32_t shared,
                                                  const Barriers<C>& barriers, int consumer,
                                                  int blocks) {
  constexpr wgmma::Extent extent_a = operand_extent(C::form, wgmma::Multiplicand::A);
  constexpr wgmma::Extent extent_b = operand_extent(C::form, wgmma::Multiplicand::B);
  const std::uint32_t rows_at =
      static_cast<std::uint32_t>(consumer) * C::A::offset(warpgroup_rows, 0);
  Ring<C::stages> ring;
  int last = 0;
  const bool releases = threadIdx.x % 32 == 0;
  for (int block = 0; block < blocks; ++block) {
    wait(barriers.full(ring.stage), ring.parity);
    const std::uint32_t stage = shared + static_cast<std::uint32_t>(ring.stage) * C::stage_bytes;
    const std::uint64_t a = wgmma::advance(C::A::descriptor(extent_a), stage + rows_at);
    const std::uint64_t b = wgmma::advance(C::B::descriptor(extent_b), stage + C::A::bytes);
    ptx::wgmma_fence();
#pragma unroll
    for (int step = 0; step < C::steps; ++step)
      ptx::mma<C::form>(d, wgmma::advance(a, C::A::offset(0, step)),
                        wgmma::advance(b, C::B::offset(0, step)), block > 0 || step > 0);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();
    if (block > 0 && releases) ptx::mbarrier_arrive(barriers.empty(last));
    last = ring.stage;
    ring.advance();
  }
  ptx::wgmma_wait_group<0>();
  ptx::pin(d);
}

// Exchanges slices: each owner then holds the sums of all CTAs in `total`.
template <class C>
__device__ __forceinline__ void exchange(const Sums<C>& d, float (&total)[C::slice_registers],
                                         std::uint32_t shared, const Barriers<C>& barriers,
                                         int consumer, int rank) {
  const std::uint32_t thread = threadIdx.x % warpgroup_threads;
  const auto warpgroup = static_cast<std::uint32_t>(consumer);
  const std::uint32_t send = shared + warpgroup * C::send_bytes;
  const std::uint32_t receive = shared + C::receive_offset + warpgroup * C::receive_bytes;
  const std::uint32_t word = thread * static_cast<std::uint32_t>(sizeof(float));
  constexpr std::uint32_t row = warpgroup_threads * static_cast<std::uint32_t>(sizeof(float));
  const std::uint32_t barrier = barriers.full(2 * C::stages + consumer);
  ptx::bar_sync(1, C::consumer_threads);  // nobody reads the stages any more
#pragma unroll
  for (int r = 0; r < C::registers; ++r)
    ptx::store_shared(send + static_cast<std::uint32_t>(r) * row + word, d[r]);
  ptx::fence_proxy_async_shared();
  ptx::cluster_wait();  // every CTA's mbarriers are ready
  ptx::bar_sync(2 + warpgroup, warpgroup_threads);
  if (thread < C::owners && static_cast<int>(thread) != rank) {
    const auto sender = static_cast<std::uint32_t>(rank);
    const std::uint32_t place = sender < thread ? sender : sender - 1;
    ptx::bulk_send(ptx::map_shared(receive + place * C::slice_bytes, thread),
                   send + thread * C::slice_bytes, C::slice_bytes,
                   ptx::map_shared(barrier, thread));
  }
  if (rank >= C::owners) return;
  wait(barrier, 0);
  const std::uint32_t own = send + static_cast<std::uint32_t>(rank) * C::slice_bytes;
#pragma unroll
  for (int r = 0; r < C::slice_registers; ++r) {
    const std::uint32_t at = static_cast<std::uint32_t>(r) * row + word;
    float sum = 0;
#pragma unroll
    for (int from = 0; from < C::split; ++from) {
      const int place = from < rank ? from : from - 1;
      const std::uint32_t part =
          from == rank ? own : receive + static_cast<std::uint32_t>(place) * C::slice_bytes;
      const float value = __uint_as_float(ptx::load_shared(part + at));
      sum = from == 0 ? value : rounded::add(sum, value);
    }
    total[r] = sum;
  }
}

// Rows [first, first + slice_tokens) of D, columns `col` to col + 63.
template <class C>
__device__ __forceinline__ void store_skinny(const float (&total)[C::slice_registers],
                                             const CUtensorMap& map_d, std::uint32_t buffer,
                                             int consumer, int first, int col, int batch) {
  const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
  const wgmma::Element place = wgmma::store_transposed_element(thread);
#pragma unroll
  for (int r = 0; r < C::slice_registers; r += 4) {
    const std::uint32_t packed[2] = {pack<C::out>(total[r], total[r + 1]),
                                     pack<C::out>(total[r + 2], total[r + 3])};
    ptx::stmatrix<ptx::Trans::Yes>(staged(buffer, place.row + 2 * r, 2 * place.col), packed);
  }
  ptx::fence_proxy_async_shared();
  ptx::bar_sync(2 + static_cast<std::uint32_t>(consumer), warpgroup_threads);
  if (thread == 0) {
    ptx::tma_store<3>(&map_d, {{col, first, batch}}, buffer);
    ptx::bulk_commit_group();
    ptx::bulk_wait_group<0>();
  }
}

template <class C>
__device__ __forceinline__ void consume_skinny(const CUtensorMap& map_d, std::uint32_t shared,
                                               const Barriers<C>& barriers, const TileAt& tile,
                                               int blocks, int rank) {
  const int consumer = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / warpgroup_threads, 0);
  Sums<C> d;
  accumulate_skinny<C>(d, shared, barriers, consumer, blocks);
  float total[C::slice_registers];
  if constexpr (C::split > 1) {
    exchange<C>(d, total, shared, barriers, consumer, rank);
  } else {
    ptx::bar_sync(1, C::consumer_threads);
#pragma unroll
    for (int r = 0; r < C::slice_registers; ++r) total[r] = __uint_as_float(d[r]);
  }
  if (rank >= C::owners) return;
  const std::uint32_t buffer =
      shared + C::consumers * C::send_bytes + static_cast<std::uint32_t>(consumer) * C::store_bytes;
  store_skinny<C>(total, map_d, buffer, consumer, tile.col * C::tokens + rank * C::slice_tokens,
                  tile.row * C::weights + consumer * warpgroup_rows, tile.batch);
}

template <class C>
__global__ void __launch_bounds__(C::threads, C::resident)
    skinny_kernel(const __grid_constant__ CUtensorMap map_w,
                  const __grid_constant__ CUtensorMap map_x,
                  const __grid_constant__ CUtensorMap map_d,
                  const __grid_constant__ CUtensorMap /*unused*/,
                  const __grid_constant__ Arguments arguments) {
  extern __shared__ __align__(swizzle_atom_bytes) std::uint8_t memory[];
  const std::uint32_t shared = ptx::shared_address(memory);
  const Barriers<C> barriers{shared + C::barrier_offset};
  const int rank = C::split == 1 ? 0 : static_cast<int>(ptx::cluster_rank());
  const TileAt tile = tile_at(arguments.schedule, static_cast<int>(blockIdx.x) / C::split);
  const BlockRange range = split_range(arguments.k_blocks, C::split, rank);
  ptx::grid_launch_dependents();
  if (threadIdx.x == 0) {
    ptx::prefetch_map(&map_w);
    ptx::prefetch_map(&map_x);
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(barriers.full(s), 1);
      ptx::mbarrier_init(barriers.empty(s), C::consumer_threads / 32);
    }
    for (int c = 0; C::split > 1 && c < C::consumers; ++c) {
      ptx::mbarrier_init(barriers.full(2 * C::stages + c), 1);
      ptx::mbarrier_arrive_expect_tx(barriers.full(2 * C::stages + c), C::receive_bytes);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if constexpr (C::split > 1) ptx::cluster_arrive();
  if (threadIdx.x < C::consumer_threads) {
    ptx::grid_wait();
    consume_skinny<C>(map_d, shared, barriers, tile, range.end - range.first, rank);
  } else {
    if (threadIdx.x == C::consumer_threads) {
      prefetch_weights<C>(map_w, tile, range);
      ptx::grid_wait();
      produce_skinny<C>(map_w, map_x, shared, barriers, tile, range);
    }
    __syncwarp();
    if constexpr (C::split > 1) ptx::cluster_wait();
  }
  if constexpr (C::split > 1) {
    // What this CTA sends is read from here until it has arrived.
    ptx::cluster_arrive();
    ptx::cluster_wait();
  }
}

}  // namespace tcq::gemm
