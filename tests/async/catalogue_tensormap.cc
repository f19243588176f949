// Row P7: a tensor map that is patched while a program runs, as grouped GEMMs do.
#include "tests/async/catalogue.h"
#include "tests/async/catalogue_kit.h"

namespace tcq::catalogue {
namespace {

constexpr std::uint32_t tile_bytes = 8 * 64;

// 64 x 8 bytes as one box.
tma::TensorMap byte_map(std::uint64_t address) {
  tma::TensorMap map;
  map.type = tma::DataType::UInt8;
  map.rank = 2;
  map.address = address;
  map.dims[0] = map.box[0] = 64;
  map.dims[1] = map.box[1] = 8;
  map.stride_bytes[0] = 64;
  return map;
}

// One thread loads three tiles of different tensors through one map, over a slot of one stage.
enum class PatchAt { BehindTheWait, BeforeTheWait };
Program patched_in_a_loop(PatchAt where) {
  constexpr int tiles = 3;
  Program p({.threads = 64});
  const Address full = p.mbarrier("full");
  const Address empty = p.mbarrier("empty");
  const std::uint32_t slot = p.shared("slot", tile_bytes);
  const std::uint64_t in = p.global(small_numbers(tiles * tile_bytes));
  const std::uint64_t out = result_buffer(p, tiles * 128);
  const int map = p.tensor(byte_map(in), "map of A");
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(full, 1).mbarrier_init(empty, 32).fence_mbarrier_init();
  all.barrier_sync();
  Role producer = p.warps("producer", 0, 1).elect();
  Role consumer = p.warps("consumer", 1, 1);
  for (int k = 0; k < tiles; ++k) {
    const auto at = static_cast<std::uint64_t>(k);
    const bool early = where == PatchAt::BeforeTheWait;
    if (!early) producer.mbarrier_try_wait(empty, k + 1);
    if (k > 0) {
      producer.tensormap_replace(map, byte_map(in + at * tile_bytes));
      producer.fence_tensormap_release().fence_tensormap_acquire(map);
    }
    if (early) producer.mbarrier_try_wait(empty, k + 1);
    producer.mbarrier_arrive_expect_tx(full, tile_bytes).tensor_load(map, {}, slot, full);
    consumer.mbarrier_try_wait(full, k).load_shared({slot, 4}, 0).fence_proxy_async();
    consumer.mbarrier_arrive(empty).store_global(out + at * 128, 4, {0, 1});
  }
  producer.mbarrier_try_wait(empty, tiles + 1);
  return p;
}

Program p7a(bool mutant) {
  return patched_in_a_loop(mutant ? PatchAt::BeforeTheWait : PatchAt::BehindTheWait);
}

// One warp patches, another one copies; an mbarrier stands between them.
struct TwoWarps {
  bool release = true;
  bool order = true;
  bool acquire = true;
  bool acquire_early = false;  // before the wait instead of behind it
};
Program patched_by_another_warp(const TwoWarps& o) {
  Program p({.threads = 64});
  const Address patched = p.mbarrier("patched");
  const Address full = p.mbarrier("full");
  const std::uint32_t slot = p.shared("slot", tile_bytes);
  const std::uint64_t in = p.global(small_numbers(2 * tile_bytes));
  const std::uint64_t out = result_buffer(p, 128);
  const int map = p.tensor(byte_map(in), "map of A");
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(patched, 1).mbarrier_init(full, 1).fence_mbarrier_init();
  all.barrier_sync();
  Role patcher = p.warps("patcher", 0, 1).elect();
  patcher.tensormap_replace(map, byte_map(in + tile_bytes));
  if (o.release) patcher.fence_tensormap_release();
  patcher.mbarrier_arrive(patched);
  Role loader = p.warps("loader", 1, 1);
  if (o.acquire && o.acquire_early) loader.fence_tensormap_acquire(map);
  if (o.order) loader.mbarrier_try_wait(patched, 0);
  if (o.acquire && !o.acquire_early) loader.fence_tensormap_acquire(map);
  loader.elect().mbarrier_arrive_expect_tx(full, tile_bytes).tensor_load(map, {}, slot, full);
  loader.mbarrier_try_wait(full, 0).load_shared({slot, 4}, 0).store_global(out, 4, {0, 1});
  return p;
}

Program p7b(bool mutant) { return patched_by_another_warp({.acquire = !mutant}); }
Program p7c(bool mutant) { return patched_by_another_warp({.release = !mutant}); }
Program p7d(bool mutant) { return patched_by_another_warp({.order = !mutant}); }
Program p7e(bool mutant) { return patched_by_another_warp({.acquire_early = mutant}); }

// The epilogue stores two tiles through one map; the store reads map and tile until its group has.
Program p7f(bool mutant) {
  Program p({.threads = 32});
  const std::uint32_t tile = p.shared("tile", tile_bytes);
  const std::uint64_t out = result_buffer(p, 2 * tile_bytes);
  const int map = p.tensor(byte_map(out), "map of D");
  Role all = p.warps("epilogue", 0, 1);
  all.move({0, 4}, 7).store_shared({tile, 16}, 0, 16).fence_proxy_async().warp_sync();
  Role one = all.elect();
  one.tensor_store(map, {}, tile).bulk_commit();
  if (!mutant) one.bulk_wait_read(0);
  one.tensormap_replace(map, byte_map(out + tile_bytes));
  one.fence_tensormap_release().fence_tensormap_acquire(map);
  one.tensor_store(map, {}, tile).bulk_commit().bulk_wait(0);
  return p;
}

// CTA 0 patches for both CTAs.
struct TwoCtas {
  Scope release = Scope::Cluster;
  Scope acquire = Scope::Cluster;
};
Program patched_by_another_cta(const TwoCtas& o) {
  Program p({.cluster = 2, .threads = 32});
  const Address full = p.mbarrier("full");
  const std::uint32_t slot = p.shared("slot", tile_bytes);
  const std::uint64_t in = p.global(small_numbers(2 * tile_bytes));
  const std::uint64_t out = result_buffer(p, 256);
  const int map = p.tensor(byte_map(in), "map of A");
  Role all = p.warps("all", 0, 1);
  all.elect().mbarrier_init(full, 1).fence_mbarrier_init();
  p.warps("patcher", 0, 1, 0).elect().tensormap_replace(map, byte_map(in + tile_bytes));
  p.warps("patcher", 0, 1, 0).elect().fence_tensormap_release(o.release);
  p.warps("meet", 0, 1).cluster_arrive().cluster_wait();
  for (int cta = 0; cta < 2; ++cta) {
    Role loader = p.warps("loader", 0, 1, cta);
    loader.fence_tensormap_acquire(map, o.acquire);
    loader.elect().mbarrier_arrive_expect_tx(full, tile_bytes).tensor_load(map, {}, slot, full);
    loader.mbarrier_try_wait(full, 0).load_shared({slot, 4}, 0);
    loader.store_global(out + 128 * static_cast<unsigned>(cta), 4, {0, 1});
  }
  return p;
}

Program p7g(bool mutant) {
  return patched_by_another_cta({.release = mutant ? Scope::Cta : Scope::Cluster});
}
Program p7h(bool mutant) {
  return patched_by_another_cta({.acquire = mutant ? Scope::Cta : Scope::Cluster});
}

// The thread commits a group and waits until it has been read: of loads there is nothing in it.
Program p7i(bool mutant) {
  Program p({.threads = 32});
  const Address full = p.mbarrier("full");
  const std::uint32_t slot = p.shared("slot", tile_bytes);
  const std::uint64_t in = p.global(small_numbers(2 * tile_bytes));
  const int map = p.tensor(byte_map(in), "map of A");
  Role all = p.warps("all", 0, 1);
  all.elect().mbarrier_init(full, 1).fence_mbarrier_init();
  Role one = all.elect();
  one.mbarrier_arrive_expect_tx(full, tile_bytes).tensor_load(map, {}, slot, full);
  one.bulk_commit().bulk_wait_read(0);
  if (!mutant) one.mbarrier_try_wait(full, 0);
  one.tensormap_replace(map, byte_map(in + tile_bytes));
  one.mbarrier_try_wait(full, 0);
  return p;
}

constexpr Entry entries[] = {
    {"P7a", "the map is patched before the copy that uses it has been waited for",
     Fault::TensormapInUse, p7a, "patches map of A, and cp.async.bulk.tensor [slot], map of A"},
    {"P7b", "no acquire fence in the thread that copies", Fault::TensormapFenceMissing, p7b,
     "put fence.proxy.tensormap::generic.acquire.gpu [map of A], 128 before"},
    {"P7c", "no release fence in the thread that patches", Fault::TensormapFenceMissing, p7c,
     "put fence.proxy.tensormap::generic.release.gpu behind"},
    {"P7d", "both fences, and nothing that orders the two threads", Fault::DataRace, p7d,
     "patched it, and nothing orders the two"},
    {"P7e", "the acquire fence stands before the wait", Fault::TensormapFenceMissing, p7e,
     "since it was ordered behind the release"},
    {"P7f", "the map of a store is patched without wait_group.read", Fault::TensormapInUse, p7f,
     "patches map of D, and cp.async.bulk.tensor map of D"},
    {"P7g", "the release fence has scope .cta, the copy is another CTA's", Fault::ScopeTooNarrow,
     p7g, "release.cta at"},
    {"P7h", "the acquire fence has scope .cta, the patch is another CTA's", Fault::ScopeTooNarrow,
     p7h, "acquire.cta [map of A], 128 at"},
    {"P7i", "the map of a load is patched behind a wait for bulk groups, which hold no load",
     Fault::TensormapDrainAssumed, p7i, "map of A"},
};

}  // namespace

std::span<const Entry> tensormap_entries() { return entries; }

}  // namespace tcq::catalogue
