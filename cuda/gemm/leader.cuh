// Barriers of a pair's leader, the CTA of rank 0, which threads of both CTAs arrive at; of one CTA alone its own.
#pragma once

#include <cstdint>

#include "cuda/gemm/ring.cuh"
#include "cuda/ptx/async.cuh"

namespace tcq::gemm {

template <class C>
__device__ __forceinline__ bool is_leader() {
  return C::ctas == 1 || ptx::cluster_rank() == 0;
}

// For what threads of both CTAs, or an instruction of the other one, have done.
template <class C>
__device__ __forceinline__ void wait_for_all(std::uint32_t barrier, std::uint32_t parity) {
  if constexpr (C::ctas == 1)
    wait(barrier, parity);
  else
    while (!ptx::mbarrier_try_wait_cluster(barrier, parity)) continue;
}
template <class C>
__device__ __forceinline__ void tell_leader(std::uint32_t barrier) {
  if constexpr (C::ctas == 1)
    ptx::mbarrier_arrive(barrier);
  else
    ptx::mbarrier_arrive_cluster(ptx::map_shared(barrier, 0));
}

}  // namespace tcq::gemm
