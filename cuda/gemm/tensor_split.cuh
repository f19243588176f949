// What the CTAs of a cluster that share one tile do together in the GEMM on tcgen05, each with a part of K.
//
// Each has the sums of its part of K in its own Tensor Memory. The first CTA owns the tile's first wave of rows, the second
// the other: to them every CTA sends its sums of these rows, and the owner adds all in ascending order of K, finishes and
// stores them. Sums travel through the stages, which nobody needs once a CTA's products are complete: ready(w) says so
// of the owner of wave w, in every CTA, and received() counts the bytes that come. A cluster has one tile; nobody
// leaves before all are done (cuda/gemm/tensor_pair.cuh), so that what was sent has arrived. Hopper: cuda/gemm/skinny.cuh.
//
// Run on the machine (tests/run/run_tensor_split_test.cc), not on silicon.
// Source: PTX ISA 9.2, 9.7.9.25.4.1 "cp.async.bulk".
#pragma once

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/ring.cuh"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/bulk.cuh"

namespace tcq::gemm {

template <class C>
struct SplitBarriers {
  std::uint32_t first;

  static constexpr std::uint32_t bytes = sizeof(std::uint64_t);
  __device__ __forceinline__ std::uint32_t received() const { return first; }
  __device__ __forceinline__ std::uint32_t ready(int wave) const {
    return first + static_cast<std::uint32_t>(1 + wave) * bytes;
  }

  __device__ __forceinline__ void start() const {
    ptx::mbarrier_init(received(), 1);
    for (int wave = 0; wave < C::waves_of_tile; ++wave) ptx::mbarrier_init(ready(wave), 1);
    if (static_cast<int>(ptx::cluster_rank()) < C::waves_of_tile)
      ptx::mbarrier_arrive_expect_tx(received(), (C::split - 1) * C::wave_bytes);
  }
};

// The rank of a CTA is the number of its part of K. By one warpgroup.
template <class C>
class SplitSums {
 public:
  __device__ __forceinline__ SplitSums(const SplitBarriers<C>& barriers, std::uint32_t shared)
      : barriers_(barriers),
        shared_(shared),
        rank_(C::split == 1 ? 0 : static_cast<int>(ptx::cluster_rank())) {}

  __device__ __forceinline__ int rank() const { return rank_; }

  __device__ __forceinline__ bool owns(int wave) const { return wave == rank_; }

  // The products of this CTA are complete: who owns a wave takes the others' sums.
  __device__ __forceinline__ void announce() const {
    const int thread = thread_here();
    if (rank_ < C::waves_of_tile && thread < C::split && thread != rank_)
      ptx::mbarrier_arrive_cluster(
          ptx::map_shared(barriers_.ready(rank_), static_cast<std::uint32_t>(thread)));
  }

  // `meet`: of the warpgroup.
  template <int Count, class Meet>
  __device__ __forceinline__ void send(const std::uint32_t (&d)[Count], int wave, Meet meet) const {
    const std::uint32_t from =
        shared_ + static_cast<std::uint32_t>(C::split - 1 + wave) * C::wave_bytes;
    const std::uint32_t own = from + own_word();
#pragma unroll
    for (int r = 0; r < Count; ++r) ptx::store_shared(own + behind(r), d[r]);
    ptx::fence_proxy_async_shared();
    meet();
    if (thread_here() != 0) return;
    while (!ptx::mbarrier_try_wait_cluster(barriers_.ready(wave), 0)) continue;
    const auto owner = static_cast<std::uint32_t>(wave);
    ptx::bulk_send(ptx::map_shared(place(rank_, wave), owner), from, C::wave_bytes,
                   ptx::map_shared(barriers_.received(), owner));
  }

  // What comes from all others, to the sums of the wave that this CTA owns.
  template <int Count>
  __device__ __forceinline__ void add(std::uint32_t (&d)[Count]) const {
    wait(barriers_.received(), 0);
    const std::uint32_t own = own_word();
#pragma unroll
    for (int r = 0; r < Count; ++r) {
      std::uint32_t sum = 0;
#pragma unroll
      for (int from = 0; from < C::split; ++from) {
        const std::uint32_t part =
            from == rank_ ? d[r] : ptx::load_shared(place(from, rank_) + own + behind(r));
        sum = from == 0 ? part : add_sums<C::accumulator>(sum, part);
      }
      d[r] = sum;
    }
  }

 private:
  // Of a wave's words the thread's first, and from there to that of register r.
  __device__ __forceinline__ static std::uint32_t own_word() {
    return static_cast<std::uint32_t>(thread_here()) * float_bytes;
  }
  __device__ __forceinline__ static std::uint32_t behind(int r) {
    return static_cast<std::uint32_t>(r * warpgroup_threads) * float_bytes;
  }
  // Where the owner has the sums of another.
  __device__ __forceinline__ std::uint32_t place(int from, int owner) const {
    return shared_ + static_cast<std::uint32_t>(from < owner ? from : from - 1) * C::wave_bytes;
  }

  SplitBarriers<C> barriers_;
  std::uint32_t shared_;
  int rank_;
};

}  // namespace tcq::gemm
