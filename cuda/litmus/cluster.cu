// Two CTAs of a cluster: B7 (exit too early), B8 (a peer not asked), B9 (a scope too narrow).
#include "cuda/litmus/device.cuh"
#include "cuda/ptx/bulk.cuh"
#include "sim/isa/base/host_device.h"

namespace tcq::cuda::provoke {
namespace {

constexpr std::uint32_t cluster = 2;
constexpr std::uint32_t words = 1024;
constexpr std::uint32_t bytes = words * sizeof(std::uint32_t);
constexpr std::uint16_t second_cta = 2;  // a mask
constexpr std::uint16_t both_ctas = 3;

__device__ void sync_cluster() {
  ptx::cluster_arrive();
  ptx::cluster_wait();
}

// ---- B7: CTA 1 exits although CTA 0 still uses its shared memory --------------------------------

enum class Exit { Arrive, ArriveEarly, Multicast, MulticastEarly };

HOST_DEVICE constexpr bool multicasts(Exit v) {
  return v == Exit::Multicast || v == Exit::MulticastEarly;
}

HOST_DEVICE constexpr bool waits(Exit v) { return v == Exit::Arrive || v == Exit::Multicast; }

// CTA 0, late: a copy into CTA 1 or an arrival there. Nothing may land in CTA 0 itself.
template <Exit V>
__device__ bool act_late(const Arguments& arguments, const std::uint32_t* tile,
                         std::uint32_t barrier) {
  spin(60'000);
  if (threadIdx.x == 0) {
    if constexpr (multicasts(V))
      ptx::bulk_load_multicast(ptx::shared_address(tile), arguments.source + tile_words, bytes,
                               barrier, second_cta);
    else
      ptx::mbarrier_arrive_cluster(ptx::map_shared(barrier, 1));
  }
  spin(20'000);
  return holds(tile, words, word_of(poison), threadIdx.x);
}

template <Exit V>
__device__ bool await_peer(Verdict& verdict, const std::uint32_t* tile, std::uint32_t barrier) {
  if (!waits(V)) return true;
  if (!wait_cluster(verdict, barrier, 0)) return true;
  return holds(tile, words, word_of(multicasts(V) ? 1 : poison), threadIdx.x);
}

template <Exit V>
__global__ void __launch_bounds__(group_threads) exit_kernel(Arguments arguments) {
  __shared__ alignas(128) std::uint32_t tile[words];
  __shared__ std::uint64_t barrier;
  __shared__ Verdict verdict;
  const std::uint32_t address = ptx::shared_address(&barrier);
  begin(verdict);
  fill(tile, words, word_of(poison), threadIdx.x);
  ptx::fence_proxy_async_shared();
  if (threadIdx.x == 0) {
    verdict.rounds = 1;
    ptx::mbarrier_init(address, 1);
    ptx::fence_mbarrier_init();
    if (multicasts(V) && ptx::cluster_rank() == 1) ptx::mbarrier_arrive_expect_tx(address, bytes);
  }
  __syncthreads();
  sync_cluster();
  const bool good = ptx::cluster_rank() == 0 ? act_late<V>(arguments, tile, address)
                                             : await_peer<V>(verdict, tile, address);
  note_wrong(verdict, 0, good);
  finish(verdict, arguments.counters);
}

// ---- B8: the stage is multicast to two CTAs, but only one is asked whether it is free -----------

enum class Empty { Correct, LocalOnly };

constexpr std::uint32_t stages = 2;
constexpr std::uint32_t consumer_warps = group_threads / warp_size;

struct Stage {
  alignas(128) std::uint32_t tile[words];
  std::uint64_t full;
  std::uint64_t empty;
};

struct Shared {
  Stage stage[stages];
  Verdict verdict;
};

// By one warp of CTA 0.
__device__ void multicast_all(const Arguments& arguments, Shared& s) {
  for (std::uint32_t r = 0; r < arguments.rounds; ++r) {
    Stage& stage = s.stage[r % stages];
    const std::uint32_t empty = ptx::shared_address(&stage.empty);
    if (!wait_cluster(s.verdict, empty, (r / stages + 1) % 2)) return;
    if (elected())
      ptx::bulk_load_multicast(ptx::shared_address(stage.tile),
                               arguments.source + value_of(r) * tile_words, bytes,
                               ptx::shared_address(&stage.full), both_ctas);
  }
}

// By four warps of each CTA; those of CTA 1 are slow. The next bytes are expected as soon as the
// last ones are there, so that no copy meets a barrier that does not expect it.
template <Empty V>
__device__ void consume_all(const Arguments& arguments, Shared& s) {
  const std::uint32_t rank = ptx::cluster_rank();
  for (std::uint32_t r = 0; r < arguments.rounds; ++r) {
    if (threadIdx.x == 0) s.verdict.rounds = r + 1;
    Stage& stage = s.stage[r % stages];
    const std::uint32_t full = ptx::shared_address(&stage.full);
    if (!wait(s.verdict, full, r / stages % 2)) return;
    if (threadIdx.x == 0) ptx::mbarrier_arrive_expect_tx(full, bytes);
    if (rank == 1) spin(3'000 + 8 * jitter(r));
    note_wrong(s.verdict, r, holds(stage.tile, words, word_of(value_of(r)), threadIdx.x));
    ptx::fence_proxy_async_shared();
    __syncwarp();
    if (elected() && (V == Empty::Correct || rank == 0))
      ptx::mbarrier_arrive_cluster(ptx::map_shared(ptx::shared_address(&stage.empty), 0));
  }
}

template <Empty V>
__global__ void __launch_bounds__(group_threads + warp_size) empty_kernel(Arguments arguments) {
  __shared__ Shared s;
  if (threadIdx.x == 0) {
    for (Stage& stage : s.stage) {
      const std::uint32_t full = ptx::shared_address(&stage.full);
      ptx::mbarrier_init(full, 1);
      ptx::mbarrier_init(ptx::shared_address(&stage.empty),
                         V == Empty::Correct ? 2 * consumer_warps : consumer_warps);
      ptx::fence_mbarrier_init();
      ptx::mbarrier_arrive_expect_tx(full, bytes);
    }
  }
  begin(s.verdict);
  sync_cluster();
  if (threadIdx.x < group_threads)
    consume_all<V>(arguments, s);
  else if (ptx::cluster_rank() == 0)
    multicast_all(arguments, s);
  __syncthreads();
  sync_cluster();
  finish(s.verdict, arguments.counters);
}

// ---- B9: an arrival that releases to its own CTA only ------------------------------------------

enum class Scope { Cluster, Cta };

// CTA 1 writes global memory and arrives in CTA 0, which reads it.
template <Scope V>
__global__ void __launch_bounds__(group_threads) scope_kernel(Arguments arguments) {
  __shared__ std::uint64_t barrier;
  __shared__ Verdict verdict;
  const std::uint32_t rank = ptx::cluster_rank();
  const std::uint32_t address = ptx::shared_address(&barrier);
  std::uint32_t* const message = arguments.sink + (blockIdx.x - rank) * tile_words;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(address, 1);
    ptx::fence_mbarrier_init();
  }
  begin(verdict);
  for (std::uint32_t r = 0; r < arguments.rounds; ++r) {
    if (threadIdx.x == 0) verdict.rounds = r + 1;
    sync_cluster();
    spin(jitter(r));
    if (rank == 1) {
      fill_slowly(message, tile_words, word_of(value_of(r)), threadIdx.x);
      __syncthreads();
      if (threadIdx.x == 0) {
        const std::uint32_t remote = ptx::map_shared(address, 0);
        if constexpr (V == Scope::Cluster)
          ptx::mbarrier_arrive_cluster(remote);
        else
          ptx::mbarrier_arrive_cluster_scope_cta(remote);
      }
    } else if (wait_cluster(verdict, address, r % 2)) {
      note_wrong(verdict, r, holds(message, tile_words, word_of(value_of(r)), threadIdx.x));
    }
    __syncthreads();
    sync_cluster();
  }
  finish(verdict, arguments.counters);
}

}  // namespace

std::vector<Program> cluster_programs() {
  constexpr std::uint32_t five_warps = group_threads + warp_size;
  constexpr const char* trap = "a trap, or bytes in the memory of a later CTA";
  return {
      {{"B8", "local consumers only", "CTA 1 does not arrive on empty, which counts 4 instead of 8",
        "wrong in CTA 1: refilled while it reads"},
       empty_kernel<Empty::Correct>,
       empty_kernel<Empty::LocalOnly>,
       five_warps,
       cluster},
      {{"B9", "scope cta", "the remote arrival has release.cta instead of release.cluster",
        "nothing, or wrong: a word from before the stores"},
       scope_kernel<Scope::Cluster>,
       scope_kernel<Scope::Cta>,
       group_threads,
       cluster},
      {{"B7", "arrive", "CTA 1 exits without waiting for CTA 0's arrival", trap},
       exit_kernel<Exit::Arrive>,
       exit_kernel<Exit::ArriveEarly>,
       group_threads,
       cluster,
       true},
      {{"B7", "multicast", "CTA 1 exits without waiting for CTA 0's copy", trap},
       exit_kernel<Exit::Multicast>,
       exit_kernel<Exit::MulticastEarly>,
       group_threads,
       cluster,
       true},
  };
}

}  // namespace tcq::cuda::provoke
