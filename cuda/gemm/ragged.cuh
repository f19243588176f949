// What a stage holds of other groups than its tile's, along K: zeros, where TMA has brought what the groups ahead and behind have.
//
// Groups begin and end anywhere, blocks where TMA can begin. The consumers of a stage clear the first block's head and the last
// one's rest when it has landed, meet, and multiply: a product with zero adds nothing (sim/num/round.h), and what other groups have
// there may be NaN. A thread clears 16 bytes of a row that lies along K, in MN-major tiles 16 bytes of one k.
#pragma once

#include <cstdint>

#include "cuda/gemm/config.h"
#include "cuda/gemm/tiles.cuh"
#include "cuda/ptx/basic.cuh"
#include "sim/isa/base/swizzle.h"
#include "sim/isa/base/tile_offset.h"

namespace tcq::gemm {

// Of an operand's tile at shared address `tile`, its K from `first` up to `end`; by so many threads.
template <class Op>
__device__ __forceinline__ void clear_k(std::uint32_t tile, int first, int end, int thread,
                                        int threads) {
  constexpr int piece = 16;  // bytes
  const auto place = [&](int mn, int k) {
    const std::uint32_t at = tile_offset_bytes(
        Op::tile(), {static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(k)});
    return swizzle_function(operand_swizzle).apply(tile + at);
  };
  constexpr std::uint32_t zeros[4] = {};
  if constexpr (Op::major == Major::K) {
    constexpr int pieces = static_cast<int>(swizzle_bytes) / piece;
    first = first * bits(Op::type) / 8;
    end = end * bits(Op::type) / 8;
    for (int i = thread; i < Op::rows * pieces; i += threads) {
      const int begin = i % pieces * piece;
      const int from = max(first - begin, 0);
      const int to = min(end - begin, piece);
      if (from >= to) continue;
      const std::uint32_t address = place(i / pieces, begin);
      if (to - from == piece)
        ptx::store_shared(address, zeros);
      else
        for (int byte = from; byte < to; ++byte)
          ptx::store_shared_byte(address + static_cast<std::uint32_t>(byte), 0);
    }
  } else {
    constexpr int pieces = Op::rows * bits(Op::type) / 8 / piece;
    for (int i = thread; i < (end - first) * pieces; i += threads)
      ptx::store_shared(place(i % pieces * piece, first + i / pieces), zeros);
  }
}

// All consumers that read one stage.
template <class C>
__device__ __forceinline__ void meet_readers() {
  const std::uint32_t own = C::readers == 1 ? threadIdx.x / warpgroup_threads : 0;
  ptx::bar_sync(C::consumers + 2 + own,
                C::readers * warpgroup_threads);  // behind those of store.cuh
}

// Of both operands in a stage, by all consumers that read it, of which none multiplies before. Without groups along K, and where
// groups begin and end with what is multiplied, nothing.
template <class C>
__device__ __forceinline__ void clear_others(std::uint32_t stage, const BlocksAlongK& along,
                                             int block) {
  if constexpr (groups_k<C>()) {
    // The first instructions of the last block, of all of them where sums are promoted.
    constexpr int together = C::promotion == Promotion::None ? wgmma::stored_k(C::in) : C::block_k;
    const bool is_last = block + 1 == along.count;
    const int head = block == 0 ? along.ahead : 0;
    const int rest = is_last ? along.left % together : 0;
    if (head == 0 && rest == 0) return;
    constexpr int threads = C::readers * warpgroup_threads;
    const int thread = static_cast<int>(threadIdx.x) % threads;
    const auto clear_both = [&](int first, int end) {
      clear_k<typename C::A>(stage, first, end, thread, threads);
      clear_k<typename C::B>(stage + C::A::bytes, first, end, thread, threads);
    };
    if (head != 0) clear_both(0, head);
    if (rest != 0) clear_both(along.left, C::block_k);
    ptx::fence_proxy_async_shared();
    meet_readers<C>();
  }
}

}  // namespace tcq::gemm
