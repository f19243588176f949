// How fast the asynchronous machine is: simulated instructions per second, one instruction being one
// warp's, with provenance on; and the whole bug catalogue explored.
//
// Wanted on one core: 5 M instructions per second; the catalogue in 20 s on two cores. Counters:
// bookkeeping bytes per byte of shared memory, wanted at most 64. The GEMM's time is that of its exact
// arithmetic, unless that is cached. Nothing here gates a change.
#include <benchmark/benchmark.h>

#include "sim/machine/explore.h"
#include "tests/catalogue.h"
#include "tests/catalogue_kit.h"

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

// The mainloop of a GEMM: a producer warp copies tiles of A and B, a warpgroup multiplies them, over
// a ring of four slots; the wgmmas of one k block stay in flight while the next are issued.
Program gemm_mainloop() {
  constexpr int stages = 4;
  constexpr int blocks = 400;
  Program p({.threads = 160});
  const auto full = p.mbarriers("full", stages);
  const auto empty = p.mbarriers("empty", stages);
  const std::uint32_t a = p.shared("A", stages * a_bytes, 1024);
  const std::uint32_t b = p.shared("B", stages * b_bytes, 1024);
  const int map_a = f16_tensor(p, 64, 64 * blocks, 64);
  const int map_b = f16_tensor(p, mma_n, 64 * blocks, mma_n);
  const std::uint64_t out = result_buffer(p);
  Role all = p.warps("all", 0, 5);
  for (std::size_t s = 0; s < stages; ++s)
    all.elect().mbarrier_init(full[s], 1).mbarrier_init(empty[s], 4);
  all.elect().fence_mbarrier_init();
  all.barrier_sync();
  Role producer = p.warps("producer", 4, 1).elect();
  Role consumer = p.warps("consumer", 0, 4);
  for (int k = 0; k < blocks; ++k) {
    const auto s = static_cast<std::size_t>(k % stages);
    const auto slot = static_cast<std::uint32_t>(s);
    producer.mbarrier_try_wait(empty[s], k / stages + 1);
    producer.mbarrier_arrive_expect_tx(full[s], a_bytes + b_bytes);
    producer.tensor_load(map_a, {{64 * k, 0}}, a + slot * a_bytes, full[s]);
    producer.tensor_load(map_b, {{64 * k, 0}}, b + slot * b_bytes, full[s]);
    consumer.mbarrier_try_wait(full[s], k / stages).wgmma_fence();
    for (std::uint32_t step = 0; step < 4; ++step)
      consumer.wgmma(mma(descriptor(a + slot * a_bytes + 32 * step),
                         descriptor(b + slot * b_bytes + 32 * step), k > 0 || step > 0),
                     d_registers);
    consumer.wgmma_commit().wgmma_wait(1);
    if (k > 0)
      consumer.elect_per_warp().mbarrier_arrive(empty[static_cast<std::size_t>((k - 1) % stages)]);
  }
  consumer.wgmma_wait(0);
  store_result(consumer, out);
  return p;
}

enum class Results { Computed, Cached };

// Cached: every wgmma was executed on the same bits before, as when orders are explored.
void run_once(benchmark::State& state, Program (*make)(), Results results = Results::Computed) {
  const Program program = make();
  std::uint64_t instructions = 0;
  std::size_t bookkeeping = 0;
  MmaCache cache;
  for (auto _ : state) {
    if (results == Results::Computed) cache = MmaCache();
    Cluster cluster(program, cache, Timing::Latest);
    for (auto agents = cluster.runnable(); !agents.empty(); agents = cluster.runnable())
      for (const AgentId agent : agents)
        if (cluster.is_runnable(agent)) cluster.step(agent);
    if (cluster.finding() || !cluster.finished()) state.SkipWithError("the program is wrong");
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

}  // namespace
}  // namespace tcq::catalogue

BENCHMARK_MAIN();
