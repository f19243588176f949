// A tile is read, the threads meet at a barrier of the CTA, and a bulk copy overwrites it: P3.
//
// One round: the copy of this round's value has landed; 128 threads read all of it into registers, many loads to
// one bank, so that the last ones wait in a queue; they meet; one thread starts the copy of the next value into the
// same bytes; then the registers are looked at. The next round's value in them is a wrong run. The copy comes from
// global memory, or from shared memory, which is sooner there.
#include "cuda/litmus/device.cuh"
#include "cuda/ptx/bulk.cuh"
#include "sim/isa/base/host_device.h"

namespace tcq::cuda::provoke {
namespace {

enum class Refill {
  FromGlobal,
  FromGlobalNoFence,
  FromShared,
  FromSharedNoFence,
};

HOST_DEVICE constexpr bool is_from_global(Refill v) {
  return v == Refill::FromGlobal || v == Refill::FromGlobalNoFence;
}

HOST_DEVICE constexpr bool fences(Refill v) {
  return v == Refill::FromGlobal || v == Refill::FromShared;
}

constexpr std::uint32_t words = slow_block;
constexpr std::uint32_t bytes = words * sizeof(std::uint32_t);

struct Shared {
  alignas(128) std::uint32_t tile[words];
  alignas(128) std::uint32_t next[words];
  std::uint64_t full;
  Verdict verdict;
};

// Of the round's value, by one thread.
template <Refill V>
__device__ void refill(const Arguments& arguments, Shared& s, std::uint32_t round) {
  const std::uint32_t full = ptx::shared_address(&s.full);
  const std::uint32_t tile = ptx::shared_address(s.tile);
  ptx::mbarrier_arrive_expect_tx(full, bytes);
  if constexpr (is_from_global(V))
    ptx::bulk_load(tile, arguments.source + value_of(round) * tile_words, bytes, full);
  else
    ptx::bulk_send(tile, ptx::shared_address(s.next), bytes, full);
}

template <Refill V>
__global__ void __launch_bounds__(group_threads) refill_kernel(Arguments arguments) {
  __shared__ Shared s;
  const std::uint32_t thread = threadIdx.x;
  const std::uint32_t full = ptx::shared_address(&s.full);
  if (thread == 0) {
    ptx::mbarrier_init(full, 1);
    ptx::fence_mbarrier_init();
  }
  fill(s.next, words, word_of(value_of(0)), thread);
  ptx::fence_proxy_async_shared();
  begin(s.verdict);
  if (thread == 0) refill<V>(arguments, s, 0);
  for (std::uint32_t r = 0; r < arguments.rounds; ++r) {
    if (thread == 0) s.verdict.rounds = r + 1;
    const bool ready = wait(s.verdict, full, r % 2);
    fill(s.next, words, word_of(value_of(r + 1)), thread);
    ptx::fence_proxy_async_shared();
    if (!ptx::bar_red_and(1, group_threads, ready)) break;
    spin(jitter(r));

    const volatile std::uint32_t* tile = s.tile;
    std::uint32_t read[slow_own];
#pragma unroll
    for (std::uint32_t i = 0; i < slow_own; ++i) read[i] = tile[slow_word(thread, i)];
    if constexpr (fences(V)) ptx::fence_proxy_async_shared();
    ptx::bar_sync(1, group_threads);
    if (thread == 0) refill<V>(arguments, s, r + 1);

    bool good = true;
#pragma unroll
    for (const std::uint32_t word : read) good = good && word == word_of(value_of(r));
    note_wrong(s.verdict, r, good);
  }
  finish(s.verdict, arguments.counters);
}

template <Refill Correct, Refill Mutant>
Program program(const char* name) {
  return {{"P3", name, "no fence.proxy.async between ld.shared and the barrier of the CTA",
           "wrong: the next round's value"},
          refill_kernel<Correct>,
          refill_kernel<Mutant>,
          group_threads};
}

}  // namespace

std::vector<Program> refill_programs() {
  using enum Refill;
  return {
      program<FromGlobal, FromGlobalNoFence>("barrier, then refill"),
      program<FromShared, FromSharedNoFence>("barrier, then refill from shared memory"),
  };
}

}  // namespace tcq::cuda::provoke
