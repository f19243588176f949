// Rows P: the generic and the async proxy.
#include "tests/async/catalogue.h"
#include "tests/async/catalogue_kit.h"

namespace tcq::catalogue {
namespace {

constexpr std::uint32_t f16_ones = 0x3c003c00;

// 128 threads write A and B (no swizzle needed for constant data), then wgmma reads them.
// `fence`: which threads fence; `where`: before or behind the barrier.
enum class Fencing { EveryThread, Nobody, IssuerOnly, LoopOf };
Program written_operands(Fencing fencing, int rounds = 1) {
  Program p({.threads = 128});
  const std::uint32_t a = p.shared("A", a_bytes, 1024);
  const std::uint32_t b = p.shared("B", b_bytes, 1024);
  const std::uint64_t out = result_buffer(p);
  Role math = p.warps("math", 0, 4);
  math.move({8, 4}, f16_ones);
  for (std::uint32_t at = 0; at < a_bytes; at += 128 * 16) math.store_shared({a + at, 16}, 8, 16);
  math.store_shared({b, 8}, 8, 8);
  if (fencing == Fencing::EveryThread) math.fence_proxy_async();
  if (fencing == Fencing::LoopOf)
    for (int i = 0; i < rounds; ++i) math.fence_proxy_async();
  math.barrier_sync();
  if (fencing == Fencing::IssuerOnly) math.elect().fence_proxy_async();
  math.move(d_registers, 0).wgmma_fence();
  math.wgmma(mma(descriptor(a), descriptor(b), true), d_registers).wgmma_commit().wgmma_wait(0);
  store_result(math, out);
  return p;
}

Program p1(bool mutant) {
  return written_operands(mutant ? Fencing::Nobody : Fencing::EveryThread);
}
Program p4(bool mutant) {
  return written_operands(mutant ? Fencing::IssuerOnly : Fencing::EveryThread);
}
Program p5(bool mutant) { return written_operands(Fencing::LoopOf, mutant ? 0 : 1); }

// The epilogue: stmatrix, a fence on one side of the barrier or on none, then one thread stores the tile.
enum class Stands { Before, Behind, Nowhere };
Program stored_tile(Stands fence) {
  Program p({.threads = 128});
  const std::uint32_t tile = p.shared("C", a_bytes, 1024);
  const int map = f16_tensor(p, 64, 64, 64, Swizzle::None);
  Role math = p.warps("epilogue", 0, 4);
  math.move({0, 4}, f16_ones);
  for (std::uint32_t at = 0; at < a_bytes; at += 128 * 16) math.stmatrix({tile + at, 16}, 0, 4);
  if (fence == Stands::Before) math.fence_proxy_async();
  math.barrier_sync();
  if (fence == Stands::Behind) math.fence_proxy_async();
  math.elect().tensor_store(map, {{0, 0}}, tile).bulk_commit().bulk_wait(0);
  return p;
}
Program p2(bool mutant) { return stored_tile(mutant ? Stands::Nowhere : Stands::Before); }
Program p2b(bool mutant) { return stored_tile(mutant ? Stands::Behind : Stands::Before); }

// A consumer reads its slot through the generic proxy, then the producer's copy refills it.
Program refilled(bool fenced, bool used) {
  Program p({.threads = 64});
  const Address full = p.mbarrier("full");
  const Address empty = p.mbarrier("empty");
  const std::uint32_t slot = p.shared("slot", 128);
  const std::uint64_t in = p.global(small_numbers(256));
  const std::uint64_t out = result_buffer(p, 256);
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(full, 1).mbarrier_init(empty, 32).fence_mbarrier_init();
  all.barrier_sync();
  Role producer = p.warps("producer", 0, 1).elect();
  Role consumer = p.warps("consumer", 1, 1);
  for (int k = 0; k < 2; ++k) {
    producer.mbarrier_try_wait(empty, k + 1).mbarrier_arrive_expect_tx(full, 128);
    producer.bulk_load(in + 128 * static_cast<unsigned>(k), slot, 128, full);
    consumer.mbarrier_try_wait(full, k).load_shared({slot, 4}, 0);
    if (used) consumer.copy({1, 1}, 0);
    if (fenced) consumer.fence_proxy_async();
    consumer.mbarrier_arrive(empty).store_global(out + 128 * static_cast<unsigned>(k), 4, {0, 1});
  }
  producer.mbarrier_try_wait(empty, 1);
  return p;
}

Program p3a(bool mutant) { return refilled(!mutant, false); }
Program p3b(bool mutant) { return refilled(!mutant, true); }

// Every thread reads the slot, meets the others at a barrier of the CTA, and uses the value behind it.
Program p3c(bool mutant) {
  Program p({.threads = 64});
  const Address full = p.mbarrier("full");
  const std::uint32_t slot = p.shared("slot", 256);
  const std::uint64_t in = p.global(small_numbers(512));
  const std::uint64_t out = result_buffer(p, 512);
  Role all = p.warps("all", 0, 2);
  all.in_warps(1).elect().mbarrier_init(full, 1).fence_mbarrier_init();
  all.barrier_sync();
  for (int k = 0; k < 2; ++k) {
    const auto at = 256 * static_cast<unsigned>(k);
    Role one = all.in_warps(1).elect();
    one.mbarrier_arrive_expect_tx(full, 256).bulk_load(in + at, slot, 256, full);
    all.mbarrier_try_wait(full, k).load_shared({slot, 4}, 0);
    if (!mutant) all.fence_proxy_async();
    all.barrier_sync();
    all.copy({1, 1}, 0).store_global(out + at, 4, {1, 1});
  }
  return p;
}

// An mbarrier of another CTA is used before its init is visible there.
Program p6a(bool mutant) {
  Program p({.cluster = 2, .threads = 32});
  const Address done = p.mbarrier("done");
  Role all = p.warps("all", 0, 1);
  all.elect().mbarrier_init(done, 1);
  if (!mutant) all.elect().fence_mbarrier_init();
  all.cluster_arrive().cluster_wait();
  p.warps("sender", 0, 1, 1).elect().mbarrier_arrive(done.in(0), Scope::Cluster);
  p.warps("receiver", 0, 1, 0).mbarrier_try_wait(done, 0, Scope::Cluster);
  p.warps("end", 0, 1).cluster_arrive().cluster_wait();
  return p;
}

// A copy by another warp completes on an mbarrier with no barrier behind its init.
Program p6b(bool mutant) {
  Program p({.threads = 64});
  const Address full = p.mbarrier("full");
  const std::uint32_t slot = p.shared("slot", 128);
  const std::uint64_t in = p.global(small_numbers(128));
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(full, 1).fence_mbarrier_init();
  if (!mutant) all.barrier_sync();
  Role producer = p.warps("producer", 1, 1).elect();
  producer.mbarrier_arrive_expect_tx(full, 128).bulk_load(in, slot, 128, full);
  p.warps("consumer", 0, 1).mbarrier_try_wait(full, 0).load_shared({slot, 4}, 0);
  return p;
}

// A copy of the own CTA completes on an mbarrier whose init stayed in the generic proxy.
Program p6c(bool mutant) {
  Program p({.threads = 64});
  const Address full = p.mbarrier("full");
  const std::uint32_t slot = p.shared("slot", 128);
  const std::uint64_t in = p.global(small_numbers(128));
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(full, 1);
  if (!mutant) all.elect().fence_proxy_async();
  all.barrier_sync();
  Role producer = p.warps("producer", 1, 1).elect();
  producer.mbarrier_arrive_expect_tx(full, 128).bulk_load(in, slot, 128, full);
  p.warps("consumer", 0, 2).mbarrier_try_wait(full, 0).load_shared(slot, 0);
  return p;
}

// The same with a commit, of nothing.
Program p6d(bool mutant) {
  Program p({.threads = 32});
  const Address done = p.mbarrier("done");
  Role one = p.warps("one", 0, 1);
  one.elect().mbarrier_init(done, 1);
  if (!mutant) one.elect().fence_mbarrier_init();
  one.elect().tcgen05_commit(done);
  one.mbarrier_try_wait(done, 0);
  return p;
}

constexpr Entry entries[] = {
    {"P1", "no fence.proxy.async between st.shared and wgmma", Fault::ProxyFenceMissing, p1,
     "executed no fence.proxy.async since"},
    {"P2", "no fence.proxy.async between stmatrix and the TMA store", Fault::ProxyFenceMissing, p2,
     "stmatrix"},
    {"P2b", "the fence stands behind the barrier", Fault::ProxyFenceByReader, p2b,
     "only the thread that accesses the bytes"},
    {"P3", "no fence.proxy.async between ld.shared and the refill",
     Fault::ProxyFenceMissingAfterRead, p3a, "before the arrival that hands the bytes on"},
    {"P3b", "the same, but the values are used before the arrival", Fault::ProxyFenceMissingUsed,
     p3b, "has used the values"},
    {"P4", "only one thread executes the fence", Fault::ProxyFenceMissing, p4,
     "in every thread that writes"},
    {"P5", "the fence sits in a loop of no rounds", Fault::ProxyFenceMissing, p5, "st.shared"},
    {"P6a", "no fence.mbarrier_init before a remote arrive", Fault::MbarrierNotVisible, p6a,
     "fence.mbarrier_init"},
    {"P6b", "no barrier between mbarrier.init and the copy that uses it",
     Fault::MbarrierNotInitialized, p6b, "mbarrier.init"},
    {"P6c", "no fence behind mbarrier.init for the async proxy", Fault::MbarrierInitUnfenced, p6c,
     "fence.mbarrier_init.release.cluster"},
    {"P6d", "no fence behind mbarrier.init before tcgen05.commit", Fault::MbarrierInitUnfenced, p6d,
     "tcgen05.commit"},
    {"P3c", "as P3, with a barrier of the CTA between", Fault::ProxyFenceMissingPerformed, p3c,
     "before a barrier of its CTA"},
};

}  // namespace

std::span<const Entry> proxy_entries() { return entries; }

}  // namespace tcq::catalogue
