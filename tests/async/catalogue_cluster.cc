// Rows B between the CTAs of a cluster: multicast, remote arrivals, exits.
#include "tests/async/catalogue.h"
#include "tests/async/catalogue_kit.h"

namespace tcq::catalogue {
namespace {

// --- remote arrivals -------------------------------------------------------------------------------

struct RemoteOptions {
  Scope arrive = Scope::Cluster;
  Scope wait = Scope::Cluster;
  bool meet_at_end = true;
  bool releases = true;
  bool acquires = true;
};

// CTA 1 writes into CTA 0's memory and arrives on CTA 0's mbarrier; CTA 0 waits and reads.
Program remote(const RemoteOptions& o) {
  Program p({.cluster = 2, .threads = 32});
  const Address done = p.mbarrier("done");
  const std::uint32_t data = p.shared("data", 128);
  const std::uint64_t out = result_buffer(p, 128);
  Role all = p.warps("all", 0, 1);
  all.elect().mbarrier_init(done, 32).fence_mbarrier_init();
  all.cluster_arrive().cluster_wait();
  Role sender = p.warps("sender", 0, 1, 1);
  sender.move({0, 1}, 5).store_shared(Address(data, 4).in(0), 0);
  sender.add(MbarrierArrive{done.in(0), 1, o.arrive, !o.releases, false});
  Role receiver = p.warps("receiver", 0, 1, 0);
  receiver.add(MbarrierTryWait{done, 0, o.wait, !o.acquires}).load_shared({data, 4}, 0);
  receiver.store_global(out, 4, {0, 1});
  if (o.meet_at_end) p.warps("end", 0, 1).cluster_arrive().cluster_wait();
  return p;
}

Program b9a(bool mutant) { return remote({.arrive = mutant ? Scope::Cta : Scope::Cluster}); }
Program b9b(bool mutant) { return remote({.wait = mutant ? Scope::Cta : Scope::Cluster}); }
Program b9c(bool mutant) { return remote({.releases = !mutant}); }
Program b9d(bool mutant) { return remote({.acquires = !mutant}); }

// CTA 0 has nothing to wait for: only the barrier at the end keeps it alive.
Program b7a(bool mutant) {
  Program p({.cluster = 2, .threads = 32});
  const std::uint32_t data = p.shared("data", 128);
  Role all = p.warps("all", 0, 1);
  all.cluster_arrive().cluster_wait();
  p.warps("sender", 0, 1, 1).move({0, 1}, 5).store_shared(Address(data, 4).in(0), 0);
  if (!mutant) p.warps("end", 0, 1).cluster_arrive().cluster_wait();
  return p;
}

// --- multicast -------------------------------------------------------------------------------------

struct MulticastOptions {
  bool count_peer = true;        // empty expects the consumers of both CTAs
  std::uint32_t expected = 256;  // bytes: both halves
  bool meet_at_end = true;
  bool drain = true;  // the producer waits for its last slots
  Scope release = Scope::Cluster;
};

// Each CTA's producer brings one half of the slot to both CTAs.
Program multicast(const MulticastOptions& o) {
  constexpr int blocks = 3;
  Program p({.cluster = 2, .threads = 64});
  const Address full = p.mbarrier("full");
  const Address empty = p.mbarrier("empty");
  const std::uint32_t slot = p.shared("slot", 256);
  const std::uint64_t in = p.global(small_numbers(256 * blocks));
  const std::uint64_t out = result_buffer(p, 2 * 128 * blocks);
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(full, 1).mbarrier_init(empty, o.count_peer ? 64 : 32);
  all.elect().fence_mbarrier_init();
  all.cluster_arrive().cluster_wait();
  for (int cta = 0; cta < 2; ++cta) {
    const auto half = 128 * static_cast<std::uint32_t>(cta);
    Role producer = p.warps("producer", 0, 1, cta).elect();
    Role consumer = p.warps("consumer", 1, 1, cta);
    for (int k = 0; k < blocks; ++k) {
      producer.mbarrier_try_wait(empty, k + 1, Scope::Cluster);
      producer.mbarrier_arrive_expect_tx(full, o.expected);
      producer.bulk_load(in + 256 * static_cast<unsigned>(k) + half, slot + half, 128, full, 0b11);
      consumer.mbarrier_try_wait(full, k).load_shared({slot, 8}, 0, 8).fence_proxy_async();
      consumer.mbarrier_arrive(empty.in(cta), Scope::Cluster);
      if (o.count_peer) consumer.mbarrier_arrive(empty.in(1 - cta), o.release);
      consumer.store_global(out + static_cast<unsigned>(128 * (2 * k + cta)), 4, {1, 1});
    }
    if (o.drain) producer.mbarrier_try_wait(empty, blocks + 1, Scope::Cluster);
  }
  if (o.meet_at_end) p.warps("end", 0, 2).cluster_arrive().cluster_wait();
  return p;
}

Program b8(bool mutant) { return multicast({.count_peer = !mutant}); }
Program b1c(bool mutant) { return multicast({.expected = mutant ? 128u : 256u}); }
Program b9e(bool mutant) { return multicast({.release = mutant ? Scope::Cta : Scope::Cluster}); }
Program b7b(bool mutant) { return multicast({.meet_at_end = !mutant, .drain = !mutant}); }

// One warp of each CTA reads what the other one wrote, behind the barrier of the cluster.
Program met(bool relaxed, bool remote) {
  Program p({.cluster = 2, .threads = 64});
  const std::uint32_t data = p.shared("data", 128);
  const std::uint64_t out = result_buffer(p, 256);
  p.warps("all", 0, 2).cluster_arrive().cluster_wait();
  for (int cta = 0; cta < 2; ++cta) {
    const Address at = remote ? Address(data, 4).in(1 - cta) : Address(data, 4);
    p.warps("writer", 0, 1, cta).move({0, 1}, 5).store_shared(at, 0);
    p.warps("both", 0, 2, cta).add(ClusterArrive{relaxed}).cluster_wait();
    Role reader = p.warps("reader", 1, 1, cta).load_shared({data, 4}, 1);
    reader.store_global(out + static_cast<unsigned>(128 * cta), 4, {1, 1});
  }
  return p;
}
Program b15a(bool mutant) { return met(mutant, false); }
Program b15b(bool mutant) { return met(mutant, true); }

// One thread arrives twice at the cluster barrier.
Program b13(bool mutant) {
  Program p({.cluster = 2, .threads = 32});
  Role all = p.warps("all", 0, 1);
  all.cluster_arrive();
  if (!mutant) all.cluster_wait();
  all.cluster_arrive().cluster_wait();
  return p;
}

// --- distributed shared memory ---------------------------------------------------------------------

// CTA 0 sends a row to CTA 1 and then writes its source again.
Program b14(bool mutant) {
  Program p({.cluster = 2, .threads = 32});
  const Address full = p.mbarrier("full");
  const Address taken = p.mbarrier("taken");
  const std::uint32_t source = p.shared("source", 128);
  const std::uint32_t target = p.shared("target", 128);
  const std::uint64_t out = result_buffer(p, 128);
  Role all = p.warps("all", 0, 1);
  all.elect().mbarrier_init(full, 1).mbarrier_init(taken, 32).fence_mbarrier_init();
  all.cluster_arrive().cluster_wait();
  Role sender = p.warps("sender", 0, 1, 0);
  sender.move({0, 1}, 5).store_shared({source, 4}, 0).fence_proxy_async().warp_sync();
  sender.elect().bulk_send(source, Address(target).in(1), 128, full.in(1));
  if (!mutant) sender.mbarrier_try_wait(taken, 0, Scope::Cluster);
  sender.move({0, 1}, 6).store_shared({source, 4}, 0);
  Role receiver = p.warps("receiver", 0, 1, 1);
  receiver.elect().mbarrier_arrive_expect_tx(full, 128);
  receiver.mbarrier_try_wait(full, 0).load_shared({target, 4}, 0);
  receiver.mbarrier_arrive(taken.in(0), Scope::Cluster).store_global(out, 4, {0, 1});
  p.warps("end", 0, 1).cluster_arrive().cluster_wait();
  return p;
}

// --- launch control ----------------------------------------------------------------------------------

// The CTA of rank 0 asks twice for both, who store the second answer. At once: the two may be answered either way round.
Program b16(bool at_once) {
  Program p({.cluster = 2, .threads = 32});
  const std::vector<Address> full = p.mbarriers("full", 2);
  const std::uint32_t answers = p.shared("answers", 2 * launch_answer_bytes);
  const std::uint64_t out = result_buffer(p, 2 * 128);
  p.set_pending({{2, 0, 0, 1}, {4, 0, 0, 1}});
  Role all = p.warps("all", 0, 1);
  for (const Address& f : full) all.elect().mbarrier_init(f, 1);
  all.elect().fence_mbarrier_init();
  all.cluster_arrive().cluster_wait();
  const auto second = answers + launch_answer_bytes;
  for (int cta = 0; cta < 2; ++cta) {
    Role warp = p.warps("warp", 0, 1, cta);
    warp.elect().mbarrier_arrive_expect_tx(full[0], 16).mbarrier_arrive_expect_tx(full[1], 16);
    if (cta == 0) warp.elect().try_cancel(answers, full[0], 0b11);
    if (!at_once) warp.mbarrier_try_wait(full[0], 0);
    if (cta == 0) warp.elect().try_cancel(second, full[1], 0b11);
    if (at_once) warp.mbarrier_try_wait(full[0], 0);
    warp.mbarrier_try_wait(full[1], 0).load_shared({second, 0}, 0);
    warp.store_global(out + static_cast<unsigned>(128 * cta), 4, {0, 1});
  }
  p.warps("end", 0, 1).cluster_arrive().cluster_wait();
  return p;
}

constexpr Entry entries[] = {
    {"B1c", "the peer's multicast bytes are not expected", Fault::ExpectTxTooSmall, b1c,
     "expect the bytes of all copies"},
    {"B7a", "a CTA exits while its peer still writes to it", Fault::CtaExited, b7a,
     "cluster barrier before exit"},
    {"B7b", "a CTA exits while its peer still multicasts to it", Fault::CtaExited, b7b,
     "cluster barrier before exit"},
    {"B8", "empty counts the consumers of the own CTA only", Fault::CopyInFlight, b8, "of CTA 1"},
    {"B9a", "the remote arrive has scope .cta", Fault::ScopeTooNarrow, b9a, ".release.cluster"},
    {"B9c", "the remote arrive is relaxed", Fault::ReleaseMissing, b9c,
     "write .release at catalogue_cluster.cc"},
    {"B9d", "the wait for a remote arrive is relaxed", Fault::AcquireMissing, b9d,
     "write .acquire at catalogue_cluster.cc"},
    {"B9b", "the wait for a remote arrive has scope .cta", Fault::ScopeTooNarrow, b9b,
     ".acquire.cluster"},
    {"B9e", "a slot is given back to another CTA at scope .cta", Fault::ScopeAssumed, b9e,
     ".release.cluster"},
    {"B15a", "bytes of the own CTA behind a relaxed barrier.cluster", Fault::ReleaseAssumed, b15a,
     "leave .relaxed out"},
    {"B15b", "bytes of another CTA behind a relaxed barrier.cluster", Fault::ReleaseMissing, b15b,
     "write .release"},
    {"B13", "barrier.cluster.arrive twice without a wait", Fault::ClusterBarrierOrder, b13,
     "do not alternate"},
    {"B14", "the source of a DSMEM copy is rewritten before it has landed", Fault::SourceInFlight,
     b14, "source"},
    {"B16", "a second try_cancel before the first one is answered", Fault::ResultsDiffer, b16,
     "different bytes"},
};

}  // namespace

std::span<const Entry> cluster_entries() { return entries; }

}  // namespace tcq::catalogue
