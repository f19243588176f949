// The sums of a tile that one cluster begins and the next one ends (StreamK of arguments.h): left in memory, and taken from
// there.
//
// A CTA's sums lie as its threads have them: word after word of a consumer, each of all its threads beside each other. A
// warp takes what the same warp of the same consumer has left, in the CTA of the same rank, so that nobody else need be waited
// for. Who waits has a higher number than who is waited for, and who leaves sums has waited for nobody: CTAs begin in the order of
// their numbers (as every GPU so far does, though no document says so), so that this ends, whatever else the device does.
// How tiles are dealt: StreamKTiles of tiles.cuh. When, and where memory comes from: stream_k.h.
#pragma once

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/tiles.cuh"
#include "cuda/ptx/basic.cuh"

namespace tcq::gemm {

// Of a consumer of CTA `cta`.
template <class C>
class LeftSums {
 public:
  __device__ __forceinline__ LeftSums(const StreamK& dealt, int cta, int consumer)
      : dealt_(dealt), consumer_(cta * C::consumers + consumer), thread_(thread_here()) {
    // Addresses are worked out here, not held while a tile is multiplied.
    asm volatile("mov.b32 %0, %0;" : "+r"(consumer_));
    asm volatile("mov.b32 %0, %0;" : "+r"(thread_));
  }

  __device__ __forceinline__ void leave(const Accumulators<C>& d) const {
    std::uint32_t* const words = own_words();
#pragma unroll
    for (int i = 0; i < count; ++i) words[i * warpgroup_threads] = d[i / of_wave][i % of_wave];
    __syncwarp();
    if (leads()) ptx::store_release(flag(), dealt_.left);
  }

  // Clears the flag behind it: a launch out of a graph has the same value each time.
  __device__ __forceinline__ void take(Accumulators<C>& d) const {
    // By vote: ptxas would take what follows a loop that lanes may leave one by one to be no warp's, and spill.
    while (!__all_sync(~0u, ptx::load_acquire(flag()) == dealt_.left)) {
    }
    const std::uint32_t* const words = own_words();
#pragma unroll
    for (int i = 0; i < count; ++i)
      ptx::load_global(words + i * warpgroup_threads, d[i / of_wave][i % of_wave]);
    __syncwarp();  // which a vote is not: it orders no memory
    if (leads()) *flag() = 0;
  }

 private:
  static constexpr int of_wave = C::consumer_columns * warpgroup_rows / warpgroup_threads;
  static constexpr int count = C::waves * of_wave;

  __device__ __forceinline__ static bool leads() { return threadIdx.x % 32 == 0; }
  __device__ __forceinline__ std::uint32_t* own_words() const {
    return dealt_.sums + std::int64_t{consumer_} * count * warpgroup_threads + thread_;
  }
  __device__ __forceinline__ std::uint64_t* flag() const {
    return dealt_.flags + consumer_ * (warpgroup_threads / 32) + thread_ / 32;
  }

  const StreamK& dealt_;
  int consumer_;
  int thread_;
};

// What the cluster before has summed of the tile's K, if it began it.
template <class C>
__device__ __forceinline__ void take_sums(Accumulators<C>& d, const Arguments& arguments,
                                          const TilePlace& tile, int consumer) {
  if constexpr (streams_k<C>()) {
    if (tile.k_first > 0)
      LeftSums<C>(arguments.stream_k, static_cast<int>(blockIdx.x) - C::cluster, consumer).take(d);
  }
}

// For the next cluster, which goes on with the tile.
template <class C>
__device__ __forceinline__ void leave_sums(const Accumulators<C>& d, const Arguments& arguments,
                                           int consumer) {
  if constexpr (streams_k<C>())
    LeftSums<C>(arguments.stream_k, static_cast<int>(blockIdx.x), consumer).leave(d);
}

// Of other kernels no tile is left, and the next one is found at once.
template <class C, class Factors>
__device__ __forceinline__ bool leaves_sums(const Arguments& arguments, const Factors& factors) {
  if constexpr (streams_k<C>()) return factors.end() < arguments.k_blocks;
  return false;
}
template <class C, class Tiles>
__device__ __forceinline__ bool next_ahead(Tiles& tiles, TilePlace& next) {
  if constexpr (streams_k<C>())
    return tiles.next_whole(next);
  else
    return tiles.next(next);
}
template <class C, class Tiles>
__device__ __forceinline__ bool complete_next(Tiles& tiles, TilePlace& next, bool found) {
  if constexpr (streams_k<C>())
    return tiles.complete(next, found);
  else
    return found;
}

}  // namespace tcq::gemm
