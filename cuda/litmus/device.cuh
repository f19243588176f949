// What the provoking kernels share: values of a round, bounded waits, exact checks, the verdict.
//
// Round r works with the small integer value_of(r); a tile holds it in every bf16, so that no
// layout matters and every sum is exact. `poison` is a value that no round has. Every wait is
// bounded: a CTA whose wait runs out sets a flag that all its waits look at, and leaves. Waits are
// collective over a warp, so that its lanes stay together.
#pragma once

#include <cstdint>

#include "cuda/litmus/programs.h"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"

namespace tcq::cuda::provoke {

inline constexpr std::uint32_t warp_size = 32;
inline constexpr std::uint32_t group_threads = 128;  // a warpgroup
inline constexpr std::uint32_t all_lanes = ~0u;
inline constexpr long long patience = 40'000'000;  // clock cycles, about 20 ms
inline constexpr std::uint32_t poison = 32;

// 1 to values - 1; two rounds in sequence differ.
__device__ inline std::uint32_t value_of(std::uint32_t round) { return 1 + round % (values - 1); }

// Two bf16 of this small integer: they are the upper half of the f32, twice.
__device__ inline std::uint32_t word_of(std::uint32_t value) {
  return __byte_perm(__float_as_uint(static_cast<float>(value)), 0, 0x3232);
}

// Changes from round to round: many relative timings are tried.
__device__ inline long long jitter(std::uint32_t round) { return round * 37 % 256; }

__device__ inline void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__device__ inline bool elected() { return threadIdx.x % warp_size == 0; }

// In shared memory, what this CTA found.
struct Verdict {
  std::uint32_t wrong[max_rounds];
  std::uint32_t rounds;  // begun
  std::uint32_t timed_out;
};

// By all threads, before anything else; a barrier ends it.
__device__ inline void begin(Verdict& verdict) {
  for (std::uint32_t r = threadIdx.x; r < max_rounds; r += blockDim.x) verdict.wrong[r] = 0;
  if (threadIdx.x == 0) verdict.rounds = verdict.timed_out = 0;
  __syncthreads();
}

// By all threads. Waits a while for copies that a mutant may have left behind, since they must not
// land in the memory of the next CTA.
__device__ inline void finish(Verdict& verdict, Counters* counters) {
  spin(20'000);
  __syncthreads();
  if (threadIdx.x != 0) return;
  unsigned long long wrong = 0;
  for (const std::uint32_t w : verdict.wrong) wrong += w;
  atomicAdd(&counters->runs, verdict.rounds);
  atomicAdd(&counters->wrong, wrong);
  atomicAdd(&counters->timeouts, verdict.timed_out);
}

__device__ inline bool timed_out(const Verdict& verdict) {
  return *static_cast<const volatile std::uint32_t*>(&verdict.timed_out) != 0;
}

// Repeats `attempt` until it is true. The whole warp calls it; false if any lane gave up.
template <class Attempt>
__device__ bool wait_until(Verdict& verdict, Attempt attempt) {
  const long long start = clock64();
  bool done = attempt();
  while (!done && !timed_out(verdict)) {
    if (clock64() - start > patience) verdict.timed_out = 1;
    done = attempt();
  }
  return __all_sync(all_lanes, done) != 0;
}

__device__ inline bool wait(Verdict& verdict, std::uint32_t barrier, std::uint32_t parity) {
  return wait_until(verdict, [=] { return ptx::mbarrier_try_wait(barrier, parity); });
}

__device__ inline bool wait_cluster(Verdict& verdict, std::uint32_t barrier, std::uint32_t parity) {
  return wait_until(verdict, [=] { return ptx::mbarrier_try_wait_cluster(barrier, parity); });
}

// By the 128 threads `thread` of a warpgroup: all words, without bank conflicts.
__device__ inline void fill(std::uint32_t* tile, std::uint32_t words, std::uint32_t word,
                            std::uint32_t thread) {
  volatile std::uint32_t* to = tile;
  for (std::uint32_t i = thread; i < words; i += group_threads) to[i] = word;
}

// Of a block of 1024 words the `i`-th of the eight that belong to a thread of a warpgroup: all lanes of a warp meet in one
// bank, so that the last accesses wait in a long queue.
inline constexpr std::uint32_t slow_block = 1024;
inline constexpr std::uint32_t slow_own = slow_block / group_threads;
__device__ inline std::uint32_t slow_word(std::uint32_t thread, std::uint32_t i) {
  constexpr std::uint32_t banks = slow_block / warp_size;
  return thread % warp_size * banks + thread / warp_size * slow_own + i;
}

// The same words as fill(). Requires: a multiple of slow_block.
__device__ inline void fill_slowly(std::uint32_t* tile, std::uint32_t words, std::uint32_t word,
                                   std::uint32_t thread) {
  volatile std::uint32_t* to = tile;
  for (std::uint32_t base = 0; base < words; base += slow_block)
#pragma unroll
    for (std::uint32_t i = 0; i < slow_own; ++i) to[base + slow_word(thread, i)] = word;
}

// Are all words `word`? Each thread looks at its share; note_wrong() adds up the answers.
__device__ inline bool holds(const std::uint32_t* tile, std::uint32_t words, std::uint32_t word,
                             std::uint32_t thread) {
  const volatile std::uint32_t* from = tile;
  bool good = true;
  for (std::uint32_t i = thread; i < words; i += group_threads) good = good && from[i] == word;
  return good;
}

__device__ inline void note_wrong(Verdict& verdict, std::uint32_t round, bool good) {
  if (!good) verdict.wrong[round] = 1;
}

}  // namespace tcq::cuda::provoke
