// The GEMM kernel: one warpgroup loads tiles with TMA, the others multiply them and store D.
//
// Persistent: a cluster walks the tiles of cuda/gemm/arguments.h. Stages go round in a ring; full[s] says
// that a stage's bytes have landed in this CTA, empty[s] that every consumer of the cluster is done
// with it (a stage may be refilled by any CTA that shares the operand). The consumers never meet:
// each waits for stages and stores its own rows, so that one stores while the other multiplies.
//
// D[i][j] is the chain over ascending K of wgmmas, the first without accumulation, or of FP8 chains of one stage each,
// promoted (cuda/gemm/promote.cuh), and then the epilogue: neither tile nor cluster nor stages enter (oracle/sum/gemm_reference.h computes the bits).
//
// Shapes: cuda/gemm/config.h. The epilogue: cuda/gemm/epilogue.cuh, store.cuh. Launching: cuda/gemm/launch.h.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/finish.cuh"
#include "cuda/gemm/multiply.cuh"
#include "cuda/gemm/produce.cuh"
#include "cuda/gemm/promote.cuh"
#include "cuda/gemm/ragged.cuh"
#include "cuda/gemm/ring.cuh"
#include "cuda/gemm/staged.cuh"
#include "cuda/gemm/store.cuh"
#include "cuda/gemm/stream_k.cuh"
#include "cuda/gemm/tiles.cuh"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/wgmma.cuh"
#include "sim/isa/base/cluster.h"

namespace tcq::gemm {

template <class C>
__device__ __forceinline__ void start_barriers(const Barriers<C>& barriers) {
  constexpr std::uint32_t warps = C::readers * warpgroup_threads / 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(barriers.full(s), 1);
      ptx::mbarrier_init(barriers.empty(s), warps * C::cluster);
      if (groups_k<C>()) ptx::mbarrier_init(barriers.landed(s), 1);
    }
    // By every warp: else one that is late could miss a turn, and a parity does not tell the next but one from it.
    for (int c = 0; C::ping_pong && c < C::consumers; ++c)
      ptx::mbarrier_init(barriers.turn(c), warpgroup_threads / 32);
    ptx::fence_mbarrier_init();
  }
}

template <class C>
__device__ __forceinline__ void sync_all() {
  if constexpr (C::cluster > 1) {
    ptx::cluster_arrive_relaxed();  // what start_barriers() fenced is all that peers need
    ptx::cluster_wait();
  } else {
    __syncthreads();
  }
}

// --- the consumers ---------------------------------------------------------------------------------

// Every warp tells every CTA of the cluster. Relaxed: to release costs 1000 clocks and no run has
// shown a need for it, though PTX's memory model wants it (NOTES.md, "the protocol").
template <class C>
__device__ __forceinline__ void release(std::uint32_t empty) {
  const std::uint32_t lane = threadIdx.x % 32;
  if constexpr (C::cluster == 1) {
    if (lane == 0) ptx::mbarrier_arrive(empty);
  } else {
    if (lane < C::cluster) ptx::mbarrier_arrive_cluster_relaxed(ptx::map_shared(empty, lane));
  }
}

// The first Steps instructions along K of one stage.
template <class C, int Steps = C::steps>
__device__ __forceinline__ void multiply(Accumulators<C>& d, std::uint32_t stage, StagePart part,
                                         bool first) {
  constexpr wgmma::Extent extent_a = operand_extent(C::form, wgmma::Multiplicand::A);
  constexpr wgmma::Extent extent_b = operand_extent(C::form, wgmma::Multiplicand::B);
  const std::uint64_t a = advance(C::A::descriptor(extent_a), stage + part.rows);
  const std::uint64_t b = advance(C::B::descriptor(extent_b), stage + C::A::bytes + part.columns);
#pragma unroll
  for (int step = 0; step < Steps; ++step) {
#pragma unroll
    for (int wave = 0; wave < C::waves; ++wave)
      ptx::mma<C::form>(d[wave], further(a, C::A::offset(wave * warpgroup_rows, step)),
                        further(b, C::B::offset(0, step)), !first || step > 0);
  }
}

// Instructions along K of a tile's last stage: the others would add zeros.
template <class C>
__device__ __forceinline__ int last_steps(const BlocksAlongK& along) {
  constexpr int step = wgmma::stored_k(C::in);
  return (along.left + step - 1) / step;
}

// What lies behind the first instructions along K.
template <class C>
__device__ __forceinline__ StagePart behind_steps(StagePart part, int steps) {
  const auto count = static_cast<std::uint32_t>(steps);
  return {part.rows + count * C::A::offset(0, 1), part.columns + count * C::B::offset(0, 1)};
}

// multiply() for a number of steps that the kernel is told; at least one.
template <class C, int Steps = C::steps>
__device__ __forceinline__ void multiply_steps(Accumulators<C>& d, std::uint32_t stage,
                                               StagePart part, bool first, int steps) {
  if constexpr (Steps > 1) {
    if (steps < Steps) return multiply_steps<C, Steps - 1>(d, stage, part, first, steps);
  }
  ptx::wgmma_fence();
  multiply<C, Steps>(d, stage, part, first);
  ptx::wgmma_commit_group();
}

// The product of one tile. `issued` is called when the last wgmma is on its way.
template <class C, class Issued>
__device__ __forceinline__ void accumulate(Accumulators<C>& d, Ring<C::stages>& ring,
                                           const BlocksAlongK& along, std::uint32_t shared,
                                           const Barriers<C>& barriers, StagePart part,
                                           Issued issued) {
  const int blocks = along.count;
  const int last = last_steps<C>(along);
  const int skipped = groups_k<C>() ? along.ahead / wgmma::stored_k(C::in) : 0;
  if (groups_k<C>()) clear(d);  // a group may have no K
  int before = 0;
  for (int block = 0; block < blocks; ++block) {
    wait(barriers.full(ring.stage), ring.parity);
    const std::uint32_t stage = shared + static_cast<std::uint32_t>(ring.stage) * C::stage_bytes;
    const int steps = block + 1 < blocks ? C::steps : last;
    const int ahead = groups_k<C>() && block == 0 ? skipped : 0;
    multiply_steps<C>(d, stage, behind_steps<C>(part, ahead), block == 0, steps - ahead);
    ptx::wgmma_wait_group<1>();
    if (block > 0) release<C>(barriers.empty(before));
    before = ring.stage;
    ring.advance();
  }
  issued();
  ptx::wgmma_wait_group<0>();
  if (!groups_k<C>() || blocks > 0) release<C>(barriers.empty(before));
#pragma unroll
  for (int wave = 0; wave < C::waves; ++wave) ptx::pin(d[wave]);
}

// What a consumer multiplies of a stage, and which part of the tile that is, where consumers work together.
template <class C>
__device__ __forceinline__ StagePart part_of_stage(int consumer) {
  const auto number = static_cast<std::uint32_t>(consumer);
  if constexpr (C::beside)
    return {0, number * C::B::offset(C::consumer_columns, 0)};
  else
    return {number * C::A::offset(C::consumer_rows, 0)};
}
template <class C>
__device__ __forceinline__ TilePlace part_of_tile(const TilePlace& tile, int consumer) {
  return C::beside ? own_part<C>(tile, 0, consumer * C::consumer_columns)
                   : own_part<C>(tile, consumer * C::consumer_rows);
}

template <class C>
using OwnFactors = std::conditional_t<
    stages_factors<C>(), StagedFactors<C>,
    TileFactors<C::waves, ColumnFactors<C::promotion, C::consumer_columns, warpgroup_threads>>>;

template <class C>
__device__ __forceinline__ void start_factors(OwnFactors<C>& factors, const Arguments& arguments,
                                              const TilePlace& tile, int consumer) {
  const int first = has_parts_of_k<C>() ? tile.k_first / scale_block : 0;
  const FragmentAt at = {
      tile.row,   tile.col,     tile.rows_end, arguments.n,
      tile.batch, tile.batch_b, first,         along_k<C>(arguments, tile).count};
  if constexpr (stages_factors<C>())
    factors.start(arguments.block_factors_a, arguments.block_factors_b, consumer * C::consumer_rows,
                  at);
  else
    factors.start(arguments.block_factors_a, arguments.block_factors_b, at);
}

// The same of FP8 that promotes, with the tile's factors on their way. `Behind`: if the consumers have registers for the products of
// two blocks, and they do. `look` finds the next tile: while the last products are on their way, where that takes but a few
// instructions; a walk over groups would stand in the loop and cost 1 to 2 % (measured; cuda/NOTES.md, "the producer's warp").
template <class C, bool Behind, class Begin, class Look>
__device__ __forceinline__ void accumulate_promoted(Accumulators<C>& d, Ring<C::stages>& ring,
                                                    std::uint32_t shared,
                                                    const Barriers<C>& barriers, StagePart part,
                                                    OwnFactors<C>& factors, Begin begin,
                                                    Look look) {
  Ring<C::stages> read = ring;
  using Operands =
      std::conditional_t<stages_factors<C>(), DescribedOperands<C>, AddressedOperands<C>>;
  StageReader<C, C::waves, Operands> reader(ring, barriers, shared, part);
  const auto multiply_wave = [&](int wave, auto& sums) { reader.multiply(wave, sums); };
  const auto done = [&](int) {
    release<C>(barriers.empty(read.stage));
    read.advance();
  };
  constexpr bool looks_in_loop = stages_factors<C>() && !C::grouped;
  if constexpr (stages_factors<C>()) {
    const auto reach = [&] { reader.reach(); };
    const auto look_in_loop = [&] {
      if constexpr (looks_in_loop) look();
    };
    if constexpr (multiplies_ahead<C>)
      promote_ahead(d, factors, begin, reach, multiply_wave, done, look_in_loop);
    else
      promote_staged(d, factors, begin, reach, multiply_wave, done, look_in_loop);
  } else {
    constexpr bool behind =
        Behind && C::consumers == 2 && C::waves == 1 && C::consumer_columns <= 128;
    promote<behind>(d, factors, multiply_wave, done);
  }
  if constexpr (!looks_in_loop) look();
}

// A tile's factors are asked for before the tile ahead is stored, so that they are there when its first sums are. Of more
// waves there are no registers for both.
template <class C>
inline constexpr bool asks_ahead = C::promotion != Promotion::None&& C::waves == 1;

template <class C, bool Behind>
__device__ __forceinline__ void consume_ahead(const CUtensorMap& map_d, const CUtensorMap& map_tail,
                                              const Arguments& arguments, std::uint32_t shared,
                                              const Barriers<C>& barriers, int consumer,
                                              ClusterTiles<C>& tiles, Staging<C>& staging) {
  const auto number = static_cast<std::uint32_t>(consumer);
  const std::uint32_t bias = shared + C::bias_offset + number * C::bias_bytes;
  OwnFactors<C> factors(shared + C::factor_offset + number * C::factor_bytes, number + 1);
  Ring<C::stages> ring;
  TilePlace next;
  bool is_there = tiles.next(next);
  const auto start_next = [&] {
    if (!is_there) return;
    next = part_of_tile<C>(next, consumer);
    start_factors<C>(factors, arguments, next, consumer);
  };
  start_next();
  while (is_there) {
    Accumulators<C> d;
    const TilePlace tile = next;
    const OwnBias<C> own = prepare<C>(arguments, tile);
    stage<C>(arguments, own, bias);
    accumulate_promoted<C, Behind>(
        d, ring, shared, barriers, part_of_stage<C>(consumer), factors,
        [&] { take_sums<C>(d, arguments, tile, consumer); },
        [&] { is_there = next_ahead<C>(tiles, next); });
    const bool leaves = leaves_sums<C>(arguments, factors);
    is_there = complete_next<C>(tiles, next, is_there);
    start_next();
    if (leaves) {
      leave_sums<C>(d, arguments, consumer);
      continue;
    }
    store_tile<C>(d, map_d, map_tail, arguments, staging, bias, tile);
  }
}

template <class C, bool Behind = true, class Step = int>
__device__ __forceinline__ void consume(const CUtensorMap& map_d, const CUtensorMap& map_tail,
                                        const Arguments& arguments, std::uint32_t shared,
                                        const Barriers<C>& barriers, int consumer, int cluster,
                                        const Step& step) {
  Ring<C::stages> ring;
  const auto number = static_cast<std::uint32_t>(consumer);
  Staging<C> staging(shared + C::store_offset + number * C::store_buffers * C::store_bytes,
                     consumer);
  const std::uint32_t bias = shared + C::bias_offset + number * C::bias_bytes;
  if constexpr (C::ping_pong) {
    const bool leads = threadIdx.x % 32 == 0;
    // The first turn is consumer 0's: the phase before the first counts as complete.
    std::uint32_t parity = consumer == 0 ? 1 : 0;
    // Dense: every second tile by its number. Groups are looked for one after the other, also the other's, which along K
    // have blocks of their own number.
    constexpr bool looks = C::grouped || groups_k<C>();
    if (!groups_k<C>()) ring.advance(consumer * arguments.k_blocks);
    auto tiles = [&] {
      if constexpr (looks)
        return ClusterTiles<C>(arguments, cluster, step);
      else
        return ClusterTiles<C>(arguments, cluster + consumer * step, 2 * step);
    }();
    TilePlace place;
    const auto pass = [&] {
      if (!tiles.next(place)) return false;
      if (groups_k<C>()) ring.advance(along_k<C>(arguments, place).count);
      return true;
    };
    if (looks && consumer == 1 && !pass()) return staging.drain();
    while (tiles.next(place)) {
      Accumulators<C> d;
      const TilePlace tile = own_part<C>(place, 0);
      const OwnBias<C> own = prepare<C>(arguments, tile);
      wait(barriers.turn(consumer), parity);
      parity = 1 - parity;
      stage<C>(arguments, own, bias);
      accumulate<C>(d, ring, along_k<C>(arguments, tile), shared, barriers, {0}, [&] {
        if (leads) ptx::mbarrier_arrive(barriers.turn(1 - consumer));
      });
      if (!groups_k<C>()) ring.advance(arguments.k_blocks);
      store_tile<C>(d, map_d, map_tail, arguments, staging, bias, tile);
      if (looks && !pass()) break;
    }
  } else if constexpr (asks_ahead<C>) {
    ClusterTiles<C> tiles(arguments, cluster, step);
    consume_ahead<C, Behind>(map_d, map_tail, arguments, shared, barriers, consumer, tiles,
                             staging);
  } else {
    [[maybe_unused]] OwnFactors<C> factors(shared + C::factor_offset + number * C::factor_bytes,
                                           number + 1);
    ClusterTiles<C> tiles(arguments, cluster, step);
    TilePlace place;
    while (tiles.next(place)) {
      Accumulators<C> d;
      const TilePlace tile = part_of_tile<C>(place, consumer);
      const OwnBias<C> own = prepare<C>(arguments, tile);
      stage<C>(arguments, own, bias);
      if constexpr (C::promotion == Promotion::None) {
        accumulate<C>(d, ring, along_k<C>(arguments, tile), shared, barriers,
                      part_of_stage<C>(consumer), [] {});
      } else {
        start_factors<C>(factors, arguments, tile, consumer);
        accumulate_promoted<C, Behind>(
            d, ring, shared, barriers, part_of_stage<C>(consumer), factors,
            [&] { take_sums<C>(d, arguments, tile, consumer); }, [] {});
        if (leaves_sums<C>(arguments, factors)) {
          leave_sums<C>(d, arguments, consumer);
          continue;
        }
      }
      store_tile<C>(d, map_d, map_tail, arguments, staging, bias, tile);
    }
  }
  staging.drain();
}

// --- the kernel ------------------------------------------------------------------------------------

// `besides`: of what shared memory has, what a stage has besides tiles (produce()).
template <class C, class Besides>
__device__ __forceinline__ void work(const OperandMaps& map_a, const OperandMaps& map_b,
                                     const CUtensorMap& map_d, const CUtensorMap& map_tail,
                                     const Arguments& arguments, const Besides& besides) {
  extern __shared__ __align__(swizzle_atom_bytes) std::uint8_t memory[];
  const std::uint32_t shared = ptx::shared_address(memory);
  const Barriers<C> barriers{shared + C::barrier_offset};
  const int cluster = static_cast<int>(blockIdx.x) / C::cluster;
  const int clusters = static_cast<int>(gridDim.x) / C::cluster;
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  const int warpgroup = warp * 32 / warpgroup_threads;
  if (threadIdx.x == 0) {
    ptx::prefetch_map(&map_a.whole);
    ptx::prefetch_map(&map_b.whole);
    ptx::prefetch_map(&map_a.rest);
    ptx::prefetch_map(&map_b.rest);
    ptx::prefetch_map(&map_d);
  }
  start_barriers<C>(barriers);
  sync_all<C>();
  ptx::grid_launch_dependents();
  ptx::grid_wait();
  const auto step = cluster_step<C>(shared, clusters);
  start_step<C>(arguments, step);
  if (warpgroup == 0) {
    ptx::setmaxnreg_dec<C::producer_registers>();
    if (warp == 0)
      produce<C>(map_a, map_b, arguments, shared, barriers, cluster, step, ptx::elect_one(),
                 besides(shared));
    if constexpr (groups_k<C>())
      if (warp > 0) clear_others<C>(arguments, shared, barriers, cluster, step);
  } else {
    ptx::setmaxnreg_inc<C::consumer_registers>();
    consume<C>(map_d, map_tail, arguments, shared, barriers, warpgroup - 1, cluster, step);
  }
}

template <class C>
__global__ void __launch_bounds__(C::threads, C::resident)
    kernel(const __grid_constant__ OperandMaps map_a, const __grid_constant__ OperandMaps map_b,
           const __grid_constant__ CUtensorMap map_d, const __grid_constant__ CUtensorMap map_tail,
           const __grid_constant__ Arguments arguments) {
  work<C>(map_a, map_b, map_d, map_tail, arguments, [](std::uint32_t) { return TilesAlone{}; });
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1)
    staged_kernel(const __grid_constant__ OperandMaps map_a,
                  const __grid_constant__ OperandMaps map_b,
                  const __grid_constant__ CUtensorMap map_d,
                  const __grid_constant__ CUtensorMap map_tail,
                  const __grid_constant__ Arguments arguments,
                  const __grid_constant__ TensorOperands operands) {
  if (threadIdx.x == 32) {
    ptx::prefetch_map(&operands.scales_a);
    ptx::prefetch_map(&operands.scales_b);
  }
  work<C>(map_a, map_b, map_d, map_tail, arguments,
          [&](std::uint32_t shared) { return FactorLoads<C>(operands, arguments, shared); });
}

}  // namespace tcq::gemm
