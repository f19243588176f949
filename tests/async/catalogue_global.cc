// Rows G: global memory that one kernel writes and reads.
#include <string>

#include "tests/async/catalogue.h"
#include "tests/async/catalogue_kit.h"

namespace tcq::catalogue {
namespace {

enum class HandOn { Right, NotAtAll, TooEarly, Relaxed };

// A warp leaves 32 words in global memory, another one fetches them.
Program words(HandOn how) {
  Program p({.threads = 64});
  const Address done = p.mbarrier("done");
  const std::uint64_t data = p.global(small_numbers(128));
  const std::uint64_t out = result_buffer(p, 128);
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(done, 32);
  all.barrier_sync();
  Role writer = p.warps("writer", 0, 1);
  writer.move({0, 1}, 7);
  if (how == HandOn::TooEarly) writer.mbarrier_arrive(done);
  writer.store_global(data, 4, {0, 1});
  if (how == HandOn::Relaxed) writer.add(MbarrierArrive{done, 1, Scope::Cta, true, false});
  if (how == HandOn::Right || how == HandOn::NotAtAll) writer.mbarrier_arrive(done);
  Role reader = p.warps("reader", 1, 1);
  if (how != HandOn::NotAtAll) reader.mbarrier_try_wait(done, 0);
  reader.load_global(data, 4, {0, 1}).store_global(out, 4, {0, 1});
  return p;
}

Program g1a(bool mutant) { return words(mutant ? HandOn::NotAtAll : HandOn::Right); }
Program g1b(bool mutant) { return words(mutant ? HandOn::TooEarly : HandOn::Right); }
Program g1c(bool mutant) { return words(mutant ? HandOn::Relaxed : HandOn::Right); }

// A partial result is written by threads and fetched by a copy, as in a split along K.
Program g2(bool mutant) {
  Program p({.threads = 64});
  const Address full = p.mbarrier("full");
  const std::uint32_t slot = p.shared("slot", 128);
  const std::uint64_t data = p.global(small_numbers(128));
  const std::uint64_t out = result_buffer(p, 128);
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(full, 1).fence_mbarrier_init();
  Role writer = p.warps("writer", 0, 1);
  writer.move({0, 1}, 7).store_global(data, 4, {0, 1});
  if (!mutant) writer.fence_proxy_async();
  p.warps("all", 0, 2).barrier_sync();
  Role reader = p.warps("reader", 1, 1);
  reader.elect().mbarrier_arrive_expect_tx(full, 128).bulk_load(data, slot, 128, full);
  reader.mbarrier_try_wait(full, 0).load_shared({slot, 4}, 0).store_global(out, 4, {0, 1});
  return p;
}

// A tile is stored by a copy and read back by other threads.
Program g3(bool mutant) {
  Program p({.threads = 64});
  const std::uint32_t tile = p.shared("tile", 128);
  const std::uint64_t data = p.global(small_numbers(128));
  const std::uint64_t out = result_buffer(p, 128);
  Role writer = p.warps("writer", 0, 1);
  writer.move({0, 1}, 7).store_shared({tile, 4}, 0).fence_proxy_async().warp_sync();
  writer.elect().bulk_store(tile, data, 128).bulk_commit();
  mutant ? writer.elect().bulk_wait_read(0) : writer.elect().bulk_wait(0);
  p.warps("all", 0, 2).barrier_sync();
  p.warps("reader", 1, 1).load_global(data, 4, {0, 1}).store_global(out, 4, {0, 1});
  return p;
}

// A copy reads bytes that a thread overwrites afterwards.
Program g4(bool mutant) {
  Program p({.threads = 64});
  const Address full = p.mbarrier("full");
  const std::uint32_t slot = p.shared("slot", 128);
  const std::uint64_t data = p.global(small_numbers(128));
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(full, 1).fence_mbarrier_init();
  all.barrier_sync();
  Role loader = p.warps("loader", 0, 1).elect();
  loader.mbarrier_arrive_expect_tx(full, 128).bulk_load(data, slot, 128, full);
  p.warps("all", 0, 2).barrier_sync();
  Role writer = p.warps("writer", 1, 1);
  if (!mutant) writer.mbarrier_try_wait(full, 0);
  writer.move({0, 1}, 7).store_global(data, 4, {0, 1});
  if (mutant) writer.mbarrier_try_wait(full, 0);
  return p;
}

// Two warps add a tile each to the same sums.
Program g5(bool mutant) {
  Program p({.threads = 64});
  const std::uint32_t tiles = p.shared("tiles", 256);
  const std::uint64_t sums = result_buffer(p, 128);
  const tma::DataType type = mutant ? tma::DataType::Float32 : tma::DataType::UInt32;
  for (int warp = 0; warp < 2; ++warp) {
    Role one = p.warps("warp " + std::to_string(warp), warp, 1);
    const std::uint32_t tile = tiles + 128 * static_cast<std::uint32_t>(warp);
    one.move({0, 1}, 0x3f800000).store_shared({tile, 4}, 0).fence_proxy_async().warp_sync();
    one.elect().bulk_reduce(tile, sums, 128, tma::Reduction::Add, type).bulk_commit().bulk_wait(0);
  }
  return p;
}

constexpr Entry entries[] = {
    {"G1a", "no wait between st.global and ld.global", Fault::DataRace, g1a,
     "nothing orders the two"},
    {"G1b", "the writer arrives before its st.global", Fault::DataRace, g1b, "st.global"},
    {"G1c", "the writer's arrival is relaxed", Fault::ReleaseMissing, g1c, "global memory ["},
    {"G2", "no fence.proxy.async between st.global and the copy", Fault::ProxyFenceMissing, g2,
     "in every thread that writes"},
    {"G3", "wait_group.read before others read what was stored", Fault::CopyInFlight, g3,
     "without .read"},
    {"G4", "the source of a copy is overwritten before it has landed", Fault::SourceInFlight, g4,
     "may still be reading"},
    {"G5", "sums of f32 instead of u32", Fault::ReductionOrder, g5, "which comes first"},
};

}  // namespace

std::span<const Entry> global_entries() { return entries; }

}  // namespace tcq::catalogue
