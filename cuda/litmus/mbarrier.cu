// A ring of two stages between a producer warp (bulk loads) and four consumer warps: P3, B1 to B5.
//
// One round fills one stage, in two halves with a pause between them, and every consumer warp
// compares all words it reads with the round's value. The last consumer warp is slow.
#include "cuda/litmus/device.cuh"
#include "cuda/ptx/bulk.cuh"
#include "sim/isa/base/host_device.h"

namespace tcq::cuda::provoke {
namespace {

enum class Ring {
  Correct,
  NoFence,
  Uses,  // a second correct version: values are looked at before the stage is released
  UsesNoFence,
  ExpectHalf,
  ExpectDouble,
  EmptyNeedsOneMore,
  EmptyNeedsOne,
  ParityStays,
  EveryLaneCopies,
  Clears,  // a third correct version: consumers clear the stage after reading it
  ClearsOneWordMore,
  ClearsTwoWordsMore,
};

constexpr std::uint32_t stages = 2;
constexpr std::uint32_t consumer_warps = group_threads / warp_size;
constexpr std::uint32_t stage_words = 1024;
constexpr std::uint32_t half_bytes = stage_words / 2 * sizeof(std::uint32_t);

// `full` follows the tile directly: one word more is its first half, two are all of it.
struct Stage {
  alignas(128) std::uint32_t tile[stage_words];
  std::uint64_t full;
  std::uint64_t empty;
};

struct Shared {
  Stage stage[stages];
  Verdict verdict;
};

HOST_DEVICE constexpr std::uint32_t expected_bytes(Ring v) {
  if (v == Ring::ExpectHalf) return half_bytes;
  return v == Ring::ExpectDouble ? 4 * half_bytes : 2 * half_bytes;
}

HOST_DEVICE constexpr std::uint32_t empty_arrivals(Ring v) {
  if (v == Ring::EmptyNeedsOne) return 1;
  return v == Ring::EmptyNeedsOneMore ? consumer_warps + 1 : consumer_warps;
}

HOST_DEVICE constexpr bool clears(Ring v) {
  return v == Ring::Clears || v == Ring::ClearsOneWordMore || v == Ring::ClearsTwoWordsMore;
}

HOST_DEVICE constexpr std::uint32_t words_too_many(Ring v) {
  if (v == Ring::ClearsTwoWordsMore) return 2;
  return v == Ring::ClearsOneWordMore ? 1 : 0;
}

HOST_DEVICE constexpr bool uses_first(Ring v) { return v == Ring::Uses || v == Ring::UsesNoFence; }

HOST_DEVICE constexpr bool fences(Ring v) { return v != Ring::NoFence && v != Ring::UsesNoFence; }

template <Ring V>
__device__ void produce(const Arguments& arguments, Shared& s) {
  for (std::uint32_t r = 0; r < arguments.rounds; ++r) {
    Stage& stage = s.stage[r % stages];
    const std::uint32_t full = ptx::shared_address(&stage.full);
    const std::uint32_t tile = ptx::shared_address(stage.tile);
    const std::uint32_t* source = arguments.source + value_of(r) * tile_words;
    if (!wait(s.verdict, ptx::shared_address(&stage.empty), (r / stages + 1) % 2)) return;
    if (elected()) ptx::mbarrier_arrive_expect_tx(full, expected_bytes(V));
    __syncwarp();
    if (V == Ring::EveryLaneCopies || elected()) ptx::bulk_load(tile, source, half_bytes, full);
    spin(1'000);
    if (V == Ring::EveryLaneCopies || elected())
      ptx::bulk_load(tile + half_bytes, source, half_bytes, full);
  }
}

__device__ inline void release(Stage& stage) {
  __syncwarp();
  if (elected()) ptx::mbarrier_arrive(ptx::shared_address(&stage.empty));
}

// All loads are issued before the arrival. The values are looked at after it, or before it, and
// then the loads have ended: the verdict is a store that the arrival releases.
template <Ring V>
__device__ void read_and_release(Stage& stage, std::uint32_t word, Verdict& verdict,
                                 std::uint32_t round) {
  static_assert(stage_words == slow_block);
  const volatile std::uint32_t* tile = stage.tile;
  std::uint32_t words[slow_own];
#pragma unroll
  for (std::uint32_t i = 0; i < slow_own; ++i) words[i] = tile[slow_word(threadIdx.x, i)];
  if constexpr (clears(V)) {
    ptx::bar_sync(1, group_threads);
    fill(stage.tile, stage_words + words_too_many(V), word_of(poison), threadIdx.x);
  }
  if constexpr (fences(V)) ptx::fence_proxy_async_shared();
  if constexpr (!uses_first(V)) release(stage);
  bool good = true;
#pragma unroll
  for (const std::uint32_t w : words) good = good && w == word;
  note_wrong(verdict, round, good);
  if constexpr (uses_first(V)) release(stage);
}

template <Ring V>
__device__ void consume(const Arguments& arguments, Shared& s) {
  for (std::uint32_t r = 0; r < arguments.rounds; ++r) {
    if (threadIdx.x == 0) s.verdict.rounds = r + 1;
    Stage& stage = s.stage[r % stages];
    const std::uint32_t parity = V == Ring::ParityStays ? 0 : r / stages % 2;
    bool ready = wait(s.verdict, ptx::shared_address(&stage.full), parity);
    if constexpr (clears(V)) ready = ptx::bar_red_and(1, group_threads, ready);
    if (!ready) return;
    if (threadIdx.x / warp_size == consumer_warps - 1) spin(2'500 + 8 * jitter(r));
    read_and_release<V>(stage, word_of(value_of(r)), s.verdict, r);
  }
}

template <Ring V>
__global__ void __launch_bounds__(group_threads + warp_size) ring_kernel(Arguments arguments) {
  __shared__ Shared s;
  if (threadIdx.x == 0) {
    for (Stage& stage : s.stage) {
      ptx::mbarrier_init(ptx::shared_address(&stage.full), 1);
      ptx::mbarrier_init(ptx::shared_address(&stage.empty), empty_arrivals(V));
    }
    ptx::fence_mbarrier_init();
  }
  if (threadIdx.x < group_threads) {
    for (Stage& stage : s.stage) fill(stage.tile, stage_words, word_of(poison), threadIdx.x);
    ptx::fence_proxy_async_shared();
  }
  begin(s.verdict);
  if (threadIdx.x < group_threads)
    consume<V>(arguments, s);
  else
    produce<V>(arguments, s);
  finish(s.verdict, arguments.counters);
}

template <Ring Mutant, Ring Correct = Ring::Correct>
Program program(const Provocation& about) {
  return {about, ring_kernel<Correct>, ring_kernel<Mutant>, group_threads + warp_size};
}

}  // namespace

std::vector<Program> mbarrier_programs() {
  return {
      program<Ring::NoFence>({"P3", "ld.shared then refill",
                              "no fence.proxy.async between ld.shared and the arrival on empty",
                              "wrong: the next round's value"}),
      program<Ring::UsesNoFence, Ring::Uses>(
          {"P3", "used, then refill",
           "no fence.proxy.async; the values were looked at before the arrival on empty",
           "nothing: the loads have ended"}),
      program<Ring::ExpectHalf>({"B1", "expect_tx too small", "half of the bytes are expected",
                                 "wrong: the second half has not landed; timeouts later"}),
      program<Ring::ExpectDouble>({"B1", "expect_tx too large",
                                   "twice the bytes are expected than are copied",
                                   "timeout: full never completes"}),
      program<Ring::EmptyNeedsOneMore>({"B2", "count too large",
                                        "empty is initialised with 5 arrivals, 4 come",
                                        "timeout: empty never completes"}),
      program<Ring::EmptyNeedsOne>({"B2", "count too small",
                                    "empty is initialised with 1 arrival, 4 come",
                                    "wrong: refilled under the slow warp"}),
      program<Ring::ParityStays>({"B3", "parity not flipped",
                                  "full is always awaited with parity 0",
                                  "wrong: read before the load; timeouts"}),
      program<Ring::ClearsOneWordMore, Ring::Clears>(
          {"B4", "store onto the barrier",
           "clearing the stage writes one word more, the first of the mbarrier behind it",
           "timeout: the barrier is no barrier any more"}),
      program<Ring::ClearsTwoWordsMore, Ring::Clears>(
          {"B4", "store onto both halves",
           "clearing the stage writes two words more, all of the mbarrier behind it",
           "timeout: the barrier is no barrier any more"}),
      program<Ring::EveryLaneCopies>({"B5", "32 copies", "all 32 lanes issue the copies",
                                      "timeout: the tx-count is never 0 again"}),
  };
}

}  // namespace tcq::cuda::provoke
