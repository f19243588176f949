// How fast the asynchronous machine is: simulated instructions per second, one instruction being one
// warp's, with provenance on; the whole bug catalogue explored; and main loops of 16 to 1024 K steps.
//
// Wanted on one core: 5 M instructions per second, 2 M of a GEMM's main loop whose results are cached; the catalogue in 20 s on
// two cores. Counters: bookkeeping bytes per byte of shared memory, wanted at most 64. Nothing here gates a change.
#include <benchmark/benchmark.h>

#include "sim/async/explore.h"
#include "tests/async/catalogue.h"
#include "tests/async/catalogue_kit.h"
#include "tests/async/main_loop.h"
#include "tests/bench/run_to_end.h"

namespace tcq::catalogue {
namespace {

constexpr int rounds = 2000;

// Four producer warps write a slot, four consumer warps read it, over mbarriers.
Program ring_of_generic_accesses() {
  Program p({.threads = 256});
  const auto full = p.mbarriers("full", 2);
  const auto empty = p.mbarriers("empty", 2);
  const std::uint32_t slots = p.shared("slots", 2 * 8192);
  Role all = p.warps("all", 0, 8);
  for (std::size_t s = 0; s < 2; ++s)
    all.elect().mbarrier_init(full[s], 128).mbarrier_init(empty[s], 4);
  all.barrier_sync();
  Role producer = p.warps("producer", 0, 4);
  Role consumer = p.warps("consumer", 4, 4);
  producer.move({0, 4}, 7);
  for (int k = 0; k < rounds; ++k) {
    const auto s = static_cast<std::size_t>(k % 2);
    const std::uint32_t at = slots + 8192 * static_cast<std::uint32_t>(s);
    producer.mbarrier_try_wait(empty[s], k / 2 + 1);
    for (std::uint32_t i = 0; i < 4; ++i) producer.store_shared({at + 2048 * i, 16}, 0, 16);
    producer.fence_proxy_async().mbarrier_arrive(full[s]);
    consumer.mbarrier_try_wait(full[s], k / 2);
    for (std::uint32_t i = 0; i < 4; ++i) consumer.load_shared({at + 2048 * i, 16}, 4, 16);
    consumer.fence_proxy_async().elect_per_warp().mbarrier_arrive(empty[s]);
  }
  return p;
}

// The same with words instead of 16 bytes per thread: less data per instruction.
Program ring_of_words() {
  Program p({.threads = 64});
  const Address full = p.mbarrier("full");
  const Address empty = p.mbarrier("empty");
  const std::uint32_t slot = p.shared("slot", 1024);
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(full, 1).mbarrier_init(empty, 1);
  all.barrier_sync();
  Role producer = p.warps("producer", 0, 1);
  Role consumer = p.warps("consumer", 1, 1);
  producer.move({0, 1}, 7);
  for (int k = 0; k < 4 * rounds; ++k) {
    producer.mbarrier_try_wait(empty, k + 1);
    for (std::uint32_t i = 0; i < 8; ++i) producer.store_shared({slot + 128 * i, 4}, 0);
    producer.elect().mbarrier_arrive(full);
    consumer.mbarrier_try_wait(full, k);
    for (std::uint32_t i = 0; i < 8; ++i) consumer.load_shared({slot + 128 * i, 4}, 1);
    consumer.elect().mbarrier_arrive(empty);
  }
  return p;
}

// A producer warp and a warpgroup over a ring of four slots; the wgmmas of one k block stay in flight
// while the next are issued.
Program gemm_mainloop() { return MainLoop{.blocks = 400, .stages = 4, .in_flight = 1}.program(); }

// The same with the widest wgmmas: what they compute is most of its time.
Program wide_mainloop() {
  return MainLoop{.blocks = 50, .stages = 4, .in_flight = 1, .n = 256}.program();
}

enum class Results { Computed, Cached };

// Cached: every wgmma was executed on the same bits before, as when orders are explored.
void run_once(benchmark::State& state, Program (*make)(), Results results = Results::Computed) {
  const Program program = make();
  std::uint64_t instructions = 0;
  std::size_t bookkeeping = 0;
  MmaCache cache;
  if (Cluster first(program, cache, Timing::Latest); !run_to_end(first))
    return state.SkipWithError("the program is wrong");
  for (auto _ : state) {
    if (results == Results::Computed) cache = MmaCache();
    Cluster cluster(program, cache, Timing::Latest);
    if (!run_to_end(cluster)) state.SkipWithError("the program is wrong");
    instructions += cluster.instructions();
    bookkeeping = cluster.bookkeeping_bytes();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
  state.counters["bookkeeping_per_byte"] =
      static_cast<double>(bookkeeping) /
      static_cast<double>(program.shared_end() - shared_base_sm90);
}
BENCHMARK_CAPTURE(run_once, words, ring_of_words)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_once, quadwords, ring_of_generic_accesses)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_once, gemm, gemm_mainloop)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_once, gemm_cached, gemm_mainloop, Results::Cached)
    ->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(run_once, gemm_n256, wide_mainloop)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_once, gemm_n256_cached, wide_mainloop, Results::Cached)
    ->Unit(benchmark::kMillisecond);

void explore_catalogue(benchmark::State& state) {
  std::int64_t programs = 0;
  for (auto _ : state) {
    for (const auto entries :
         {proxy_entries(), tensormap_entries(), descriptor_entries(), wgmma_entries(),
          mbarrier_entries(), cluster_entries(), register_entries()})
      for (const Entry& entry : entries)
        for (const bool mutant : {false, true}) {
          benchmark::DoNotOptimize(explore(entry.make(mutant), {}));
          ++programs;
        }
  }
  state.SetItemsProcessed(programs);
}
BENCHMARK(explore_catalogue)->Unit(benchmark::kMillisecond);

// Three warpgroups, four stages, K of 64 * range: every order that matters, and 21 more executions.
// Wanted: linear in K.
void explore_main_loop(benchmark::State& state) {
  const auto blocks = static_cast<int>(state.range(0));
  const Program program =
      MainLoop{
          .blocks = blocks, .stages = 4, .consumers = 2, .producer_threads = 128, .in_flight = 1}
          .program();
  for (auto _ : state) {
    const Report report = explore(program, {});
    if (report.outcome != Outcome::Right || !report.exhaustive)
      state.SkipWithError("the program is wrong");
  }
  state.SetComplexityN(blocks);
}
BENCHMARK(explore_main_loop)
    ->RangeMultiplier(4)
    ->Range(16, 1024)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);

}  // namespace
}  // namespace tcq::catalogue

BENCHMARK_MAIN();
