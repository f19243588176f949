// The ring of stages between the producer and the consumers, and its mbarriers.
//
// full[s]: the bytes of stage s have landed; empty[s]: every reader is done with it. Kernels with
// more barriers put them behind these. A producer waits for empty with the parity before its own:
// the phase before the first counts as complete.
#pragma once

#include <cstdint>

#include "cuda/gemm/config.h"
#include "cuda/ptx/async.cuh"

namespace tcq::gemm {

// A position in the ring of stages; `parity` is that of the phase which full[stage] completes.
template <int Stages>
struct Ring {
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage < Stages) return;
    stage = 0;
    parity = 1 - parity;
  }
  __device__ __forceinline__ void advance(int count) {
    const int rounds = (stage + count) / Stages;
    stage += count - rounds * Stages;
    if (rounds % 2 != 0) parity = 1 - parity;
  }
};

template <class C>
struct Barriers {
  std::uint32_t first;

  static constexpr std::uint32_t bytes = sizeof(std::uint64_t);
  __device__ __forceinline__ std::uint32_t full(int stage) const {
    return first + static_cast<std::uint32_t>(stage) * bytes;
  }
  __device__ __forceinline__ std::uint32_t empty(int stage) const {
    return full(C::stages + stage);
  }
  // Of groups along K, in turn: the bytes of a stage have landed, in which others clear what is not the tile's, who then
  // complete full (cuda/gemm/ragged.cuh).
  __device__ __forceinline__ std::uint32_t landed(int turn) const {
    return full(2 * C::stages + turn);
  }
  // Those of a kernel's own.
  __device__ __forceinline__ std::uint32_t behind(int number) const {
    return full((groups_k<C>() ? 3 : 2) * C::stages + number);
  }
  // Says that the other consumer has issued its tile (ping-pong).
  __device__ __forceinline__ std::uint32_t turn(int consumer) const { return behind(consumer); }
};

__device__ __forceinline__ void wait(std::uint32_t barrier, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait(barrier, parity)) continue;
}

}  // namespace tcq::gemm
