// A dynamic schedule: a grid has a cluster for each tile, and one that runs takes over those that have not begun.
//
// A cluster's first tile is that of its own number. Then one thread of the leader asks for another cluster
// (cuda/ptx/launch_control.cuh), ahead of those who work: answers stand in a ring, in each CTA of the cluster, and whoever walks
// the tiles reads them there. full(s) counts an answer's bytes in each CTA, empty(s), the leader's, that all readers of both
// CTAs have read it. Two answers: while a tile is stored the next one is multiplied and the one behind it loaded; more would
// only be held by clusters that are behind, at the end. The next answer is asked for when the last one is there: in which
// order requests are answered nothing says, and whoever stops at a no must not have another one's yes behind it.
//
// Which cluster computes a tile is open, the tile's bits are not.
//
// Run on the machine (tests/run/run_tensor_dynamic_test.cc), not on silicon.
// Source: PTX ISA 9.2, 9.7.13.17 "clusterlaunchcontrol.try_cancel".
#pragma once

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/leader.cuh"
#include "cuda/gemm/ring.cuh"
#include "cuda/gemm/tiles.cuh"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/launch_control.cuh"
#include "sim/isa/base/cluster.h"

namespace tcq::gemm {

template <class C>
struct Answers {
  std::uint32_t first_barrier;
  std::uint32_t first_answer;

  __device__ __forceinline__ std::uint32_t full(int slot) const {
    return first_barrier + static_cast<std::uint32_t>(slot) * Barriers<C>::bytes;
  }
  __device__ __forceinline__ std::uint32_t empty(int slot) const { return full(C::answers + slot); }
  __device__ __forceinline__ std::uint32_t answer(int slot) const {
    return first_answer + static_cast<std::uint32_t>(slot) * launch_answer_bytes;
  }

  __device__ __forceinline__ void start() const {
    for (int s = 0; s < C::answers; ++s) {
      ptx::mbarrier_init(full(s), 1);
      ptx::mbarrier_init(empty(s), C::answer_readers);
    }
  }

  // Of answer `number` the slot, and the parity of full that it completes.
  __device__ __forceinline__ static int slot_of(int number) { return number % C::answers; }
  __device__ __forceinline__ static std::uint32_t parity_of(int number) {
    return static_cast<std::uint32_t>(number / C::answers % 2);
  }

  // By one thread of each reader: the number of the cluster whose tile comes next, or below 0.
  __device__ __forceinline__ int read(int number) const {
    const int slot = slot_of(number);
    wait_for_all<C>(full(slot), parity_of(number));
    const int first_cta = ptx::canceled_cluster(answer(slot));
    ptx::fence_proxy_async_shared();
    tell_leader<C>(empty(slot));
    return first_cta < 0 ? first_cta : first_cta / C::cluster;
  }

  // By one thread of each CTA, which is a reader as well, until there is no other cluster.
  __device__ __forceinline__ void ask() const {
    const bool leads = is_leader<C>();
    int number = 0;
    do {
      const int slot = slot_of(number);
      if (leads) wait_for_all<C>(empty(slot), 1 - parity_of(number));
      ptx::mbarrier_arrive_expect_tx(full(slot), launch_answer_bytes);
      if constexpr (C::ctas == 1)
        ptx::try_cancel(answer(slot), full(slot));
      else if (leads)
        ptx::try_cancel_for_all(answer(slot), full(slot));
    } while (read(number++) >= 0);
  }
};

// As DenseTiles, by answers. Called by `Lanes` of a warp together: one thread, or all. Between two tiles it keeps how many
// there were, as registers are few where sums stand in them.
template <class C, int Lanes>
class DynamicTiles {
 public:
  __device__ __forceinline__ DynamicTiles(const Arguments& arguments, int first,
                                          const Answers<C>& answers)
      : arguments_(arguments), first_(first), answers_(answers) {}

  __device__ __forceinline__ bool next(TilePlace& tile) {
    const int index = count_ == 0 ? first_ : look();
    ++count_;
    if (index < 0) return false;
    tile = dense_tile<C::block_m * C::cluster_m, C::block_n * C::cluster_n>(arguments_, index);
    return true;
  }

 private:
  __device__ __forceinline__ int look() const {
    int index = 0;
    if (Lanes == 1 || threadIdx.x % Lanes == 0) index = answers_.read(count_ - 1);
    return Lanes == 1 ? index : __shfl_sync(~0u, index, 0);
  }

  const Arguments& arguments_;
  int first_;
  Answers<C> answers_;
  int count_ = 0;
};

}  // namespace tcq::gemm
