// What a stage holds of other groups than its tile's, along K: zeros, where TMA has brought what the groups ahead and behind have.
//
// Groups begin and end anywhere, blocks at multiples of k_step(). The warps beside the one that produces clear the first block's head
// and the last one's rest: such a stage's bytes complete a barrier of a ring of its own, landed, and who has cleared completes full[s],
// so that consumers know nothing of it. A product with zero adds nothing (sim/num/round.h), and what other groups have there may be NaN. A thread clears
// 16 bytes of a row that lies along K, in MN-major tiles 16 bytes of one k.
#pragma once

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/leader.cuh"
#include "cuda/gemm/produce.cuh"
#include "cuda/gemm/ring.cuh"
#include "cuda/gemm/tiles.cuh"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "sim/isa/base/register_bytes.h"
#include "sim/isa/base/swizzle.h"
#include "sim/isa/base/tile_offset.h"

namespace tcq::gemm {

inline constexpr int piece_bytes = 16;  // that a thread clears at a time

// Of 16 bytes at shared address `address` those from `from` up to `to`.
__device__ __forceinline__ void clear_bytes(std::uint32_t address, int from, int to) {
  std::uint32_t words[4] = {};
  if (to - from < piece_bytes) {
    ptx::load_shared(address, words);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      words[i] &= ~register_bytes(from - i * bytes_of_register, to - i * bytes_of_register);
  }
  ptx::store_shared(address, words);
}

// Of an operand's tile at shared address `tile`, its K from `first` up to `end`; by so many threads.
template <class Op>
__device__ __forceinline__ void clear_k(std::uint32_t tile, int first, int end, int thread,
                                        int threads) {
  const auto place = [&](int mn, int k) {
    const std::uint32_t at = tile_offset_bytes(
        Op::tile(), {static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(k)});
    return swizzle_function(Op::swizzle).apply(tile + at);
  };
  if constexpr (Op::major == Major::K) {
    first = first * bits(Op::type) / 8;
    end = end * bits(Op::type) / 8;
    for (int row = thread; row < Op::rows; row += threads)
      for (int begin = first / piece_bytes * piece_bytes; begin < end; begin += piece_bytes)
        clear_bytes(place(row, begin), max(first - begin, 0), min(end - begin, piece_bytes));
  } else {
    constexpr int pieces = Op::rows * bits(Op::type) / 8 / piece_bytes;
    for (int i = thread; i < (end - first) * pieces; i += threads)
      clear_bytes(place(i % pieces * piece_bytes, first + i / pieces), 0, piece_bytes);
  }
}

// Of both operands in a stage that has landed; by so many threads, of which none goes on before all have.
template <class C>
__device__ __forceinline__ void clear_stage(std::uint32_t stage, const OthersInBlock& others,
                                            Turned turned, int thread, int threads) {
  const auto clear_both = [&](int first, int end) {
    as_it_lies<typename C::A, typename C::TurnedA>(
        turned.a, [&](auto tile) { clear_k<decltype(tile)>(stage, first, end, thread, threads); });
    as_it_lies<typename C::B, typename C::TurnedB>(turned.b, [&](auto tile) {
      clear_k<decltype(tile)>(stage + C::A::bytes, first, end, thread, threads);
    });
  };
  if (others.first != others.ahead) clear_both(others.first, others.ahead);
  if (others.behind != others.end) clear_both(others.behind, others.end);
  ptx::fence_proxy_async_shared();
  ptx::bar_sync(C::consumers + 2, threads);  // behind those of store.cuh
}

// A CTA has cleared what was to be cleared of its stage.
template <class C>
__device__ __forceinline__ void tell_full(std::uint32_t full) {
  if constexpr (on_tcgen05<C>())
    tell_leader<C>(full);
  else
    ptx::mbarrier_arrive(full);
}

// Of all tiles of a cluster, by the producer's warpgroup from `Warp` on.
template <class C, int Warp = 1>
__device__ __forceinline__ void clear_others(const Arguments& arguments, std::uint32_t shared,
                                             const Barriers<C>& barriers, int cluster,
                                             const KGroupStep& step, Turned turned = {}) {
  constexpr int threads = warpgroup_threads - Warp * 32;
  const int thread = static_cast<int>(threadIdx.x) - Warp * 32;
  Ring<C::stages> landed;
  const auto clear_block = [&](const BlocksAlongK& along, int block, int stage) {
    const OthersInBlock others = others_in<C>(along, block);
    if (!others.any()) return;
    wait(barriers.landed(landed.stage), landed.parity);
    landed.advance();
    clear_stage<C>(shared + static_cast<std::uint32_t>(stage) * C::stage_bytes, others, turned,
                   thread, threads);
    if (thread == 0) tell_full<C>(barriers.full(stage));
  };
  Ring<C::stages> ring;
  ClusterTiles<C> tiles(arguments, cluster, step);
  TilePlace tile;
  while (tiles.next(tile)) {
    const BlocksAlongK along = along_k<C>(arguments, tile);
    if (along.count == 0) continue;
    clear_block(along, 0, ring.stage);
    if (along.count > 1) {
      ring.advance(along.count - 1);
      clear_block(along, along.count - 1, ring.stage);
    }
    ring.advance();
  }
}

}  // namespace tcq::gemm
