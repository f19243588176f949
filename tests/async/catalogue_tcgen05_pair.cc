// Rows T: tcgen05 with cta_group::2, over the two CTAs of a pair.
#include "tests/async/catalogue.h"
#include "tests/async/catalogue_tcgen05_kit.h"

namespace tcq::catalogue {
namespace {

struct Slip {
  std::uint16_t commit_to = 3;  // ranks; 0: the own CTA only
  bool commit_to_peer_only = false;
  bool sync_before_dealloc = true;
  bool peer_deallocs = true;
  bool release_cluster = true;
  bool peer_is_sent_both = false;  // A and B by CTA 0; else it loads its own
  bool frees_peer = false;         // by a second commit
  bool peer_waits = true;          // for that
};

// The peer's warp has read D and hands it back for another tile.
struct HandBack {
  Scope scope = Scope::Cluster;
  bool fences = true;
  bool relaxed = false;
  bool waits = true;  // tcgen05.wait::ld
  bool uses = false;  // every value
};

void cluster_sync(Role& role) { role.cluster_arrive().cluster_wait(); }

// M = 256: each CTA loads its halves of A and B, CTA 0 issues, both read their rows of D.
Program pair_of_ctas(const Slip& slip) {
  Tcgen05Tile t({.cluster = 2, .threads = 64});
  const Address ready = t.p.mbarrier("ready"), freed = t.p.mbarrier("freed");
  Role start = t.p.warps("start", 0, 2);
  Role load = t.p.warps("load", 0, 1).elect();
  Role fill = slip.peer_is_sent_both ? t.p.warps("fill", 0, 1, 0).elect() : load;
  Role tell = t.p.warps("tell", 0, 1).elect();
  Role issue = t.p.warps("issue", 0, 1, 0).elect();
  Role read = t.p.warps("read", 1, 1, 0);
  Role read_peer = t.p.warps("read", 1, 1, 1);
  Role last = t.p.warps("last", 0, 2);

  start.elect().mbarrier_init(t.full, 1).mbarrier_init(t.done, 1).mbarrier_init(ready, 2);
  start.elect().mbarrier_init(freed, 1).fence_mbarrier_init();
  cluster_sync(start);
  start.in_warps(1).tcgen05_alloc(t.slot, 32, 2);
  cluster_sync(start);
  start.barrier_sync().load_shared({t.slot, 0}, address_register);

  load.mbarrier_arrive_expect_tx(t.full, tcgen05_a_bytes + tcgen05_b_bytes);
  fill.bulk_load(t.in, t.a, tcgen05_a_bytes, t.full).bulk_load(t.in, t.b, tcgen05_b_bytes, t.full);
  if (slip.peer_is_sent_both) {
    fill.mbarrier_try_wait(t.full, 0);
    fill.bulk_send(t.a, Address(t.a).in(1), tcgen05_a_bytes, t.full.in(1));
    fill.bulk_send(t.b, Address(t.b).in(1), tcgen05_b_bytes, t.full.in(1));
  }
  tell.mbarrier_try_wait(t.full, 0);
  tell.mbarrier_arrive(ready.in(0), slip.release_cluster ? Scope::Cluster : Scope::Cta);

  issue.mbarrier_try_wait(ready, 0, Scope::Cluster);
  Tcgen05Mma mma = f16_mma(t.a, t.b, false);
  mma.opcode.cta_group = 2;
  mma.idesc.m = 256;
  issue.tcgen05_mma(mma);
  mma.accumulate = true;
  issue.tcgen05_mma(mma);
  issue.tcgen05_commit(slip.commit_to_peer_only ? t.done.in(1) : t.done, 2, slip.commit_to);
  if (slip.frees_peer) issue.tcgen05_commit(freed, 2, 3);

  const std::uint64_t out_of_peer = result_buffer(t.p, 2 * 64 * 4 * tmem_n);
  for (Role* role : {&read, &read_peer}) {
    role->mbarrier_try_wait(t.done, 0).tcgen05_fence_after();
    role->tcgen05_ld(all_of_d, at_column(0, 32), 0).tcgen05_wait_ld().tcgen05_fence_before();
    role->store_global(role == &read ? t.out : out_of_peer, 4 * tmem_n, {0, tmem_n});
  }
  // What was sent has arrived, as the mma behind the peer's arrival is over.
  if (slip.peer_is_sent_both) read.elect().store_shared({t.a, 4}, 0);
  if (slip.frees_peer) read.mbarrier_try_wait(freed, 0);
  if (slip.frees_peer && slip.peer_waits) read_peer.mbarrier_try_wait(freed, 0);
  if (slip.sync_before_dealloc) cluster_sync(last);
  if (slip.peer_deallocs)
    last.in_warps(1).tcgen05_dealloc(tmem_base, 32, 2);
  else
    t.p.warps("leader", 0, 1, 0).tcgen05_dealloc(tmem_base, 32, 2);
  return t.p;
}

// Two tiles in the columns of both CTAs: the leader multiplies again once both have read.
Program handed_back(const HandBack& how) {
  Tcgen05Tile t({.cluster = 2, .threads = 64});
  const Address ready = t.p.mbarrier("ready"), again = t.p.mbarrier("again");
  Role start = t.p.warps("start", 0, 2);
  Role load = t.p.warps("load", 0, 1).elect();
  Role issue = t.p.warps("issue", 0, 1, 0).elect();
  Role read = t.p.warps("read", 1, 1);
  Role last = t.p.warps("last", 0, 2);

  start.elect().mbarrier_init(t.full, 1).mbarrier_init(t.done, 1).mbarrier_init(ready, 2);
  start.elect().mbarrier_init(again, 2).fence_mbarrier_init();
  cluster_sync(start);
  start.in_warps(1).tcgen05_alloc(t.slot, 32, 2);
  cluster_sync(start);
  start.barrier_sync().load_shared({t.slot, 0}, address_register);

  load.mbarrier_arrive_expect_tx(t.full, tcgen05_a_bytes + tcgen05_b_bytes);
  load.bulk_load(t.in, t.a, tcgen05_a_bytes, t.full).bulk_load(t.in, t.b, tcgen05_b_bytes, t.full);
  load.mbarrier_try_wait(t.full, 0).mbarrier_arrive(ready.in(0), Scope::Cluster);

  issue.mbarrier_try_wait(ready, 0, Scope::Cluster);
  Tcgen05Mma mma = f16_mma(t.a, t.b, false);
  mma.opcode.cta_group = 2;
  mma.idesc.m = 256;
  issue.tcgen05_mma(mma).tcgen05_commit(t.done, 2, 3);
  read.mbarrier_try_wait(t.done, 0).tcgen05_fence_after();
  read.tcgen05_ld(all_of_d, at_column(0, 32), 0);
  if (how.waits) read.tcgen05_wait_ld();
  if (how.uses) read.copy({tmem_n, tmem_n}, 0);
  if (how.fences) read.tcgen05_fence_before();
  read.elect().add(
      MbarrierArrive{.barrier = again.in(0), .scope = how.scope, .relaxed = how.relaxed});
  issue.mbarrier_try_wait(again, 0, how.scope);
  if (how.fences) issue.tcgen05_fence_after();
  issue.tcgen05_mma(mma).tcgen05_commit(t.done, 2, 3);
  read.mbarrier_try_wait(t.done, 1).tcgen05_fence_after();
  cluster_sync(last);
  last.in_warps(1).tcgen05_dealloc(tmem_base, 32, 2);
  return t.p;
}

struct Order {
  bool started = true;         // a cluster barrier before alloc, of relaxed arrivals
  bool before_arrive = false;  // alloc between the arrival and the wait
  bool synced = true;          // one before dealloc
  bool relinquish_last = false;
};

// Allocation alone: nothing but the hardware makes the two CTAs meet.
Program allocation(const Order& order) {
  Program p({.cluster = 2, .threads = 32});
  const std::uint32_t slot = p.shared("tmem_address", 4);
  Role all = p.warps("all", 0, 1);
  if (order.started) all.add(ClusterArrive{true});
  if (order.started && !order.before_arrive) all.cluster_wait();
  all.tcgen05_alloc(slot, 64, 2).load_shared({slot, 0}, address_register);
  if (order.before_arrive) all.cluster_wait();
  if (!order.relinquish_last) all.tcgen05_relinquish(2);
  if (order.synced) cluster_sync(all);
  all.tcgen05_dealloc(tmem_base, 64, 2);
  if (order.relinquish_last) all.tcgen05_relinquish(2);
  return p;
}

// CTA 0 stores to CTA 1, which has nothing to do but to be there.
Program remote_store(bool started) {
  Program p({.cluster = 2, .threads = 32});
  const std::uint32_t data = p.shared("data", 128);
  Role all = p.warps("all", 0, 1);
  if (started) all.add(ClusterArrive{true}).cluster_wait();
  p.warps("writer", 0, 1, 0).move({0, 1}, 7).store_shared(Address(data, 4).in(1), 0);
  Role end = p.warps("end", 0, 1);
  cluster_sync(end);
  return p;
}

Program t3g(bool mutant) { return allocation({.synced = !mutant}); }
Program t16a(bool mutant) { return allocation({.started = !mutant}); }
Program t16b(bool mutant) { return allocation({.before_arrive = mutant}); }
Program t16c(bool mutant) { return allocation({.relinquish_last = mutant}); }
Program t16d(bool mutant) { return remote_store(!mutant); }
Program t3h(bool mutant) { return pair_of_ctas({.sync_before_dealloc = !mutant}); }
Program t3i(bool mutant) { return pair_of_ctas({.peer_deallocs = !mutant}); }
Program t8c(bool mutant) {
  return pair_of_ctas({.commit_to = mutant ? std::uint16_t{1} : std::uint16_t{3}});
}
Program t8d(bool mutant) {
  return pair_of_ctas(
      {.commit_to = mutant ? std::uint16_t{0} : std::uint16_t{3}, .commit_to_peer_only = mutant});
}
Program t8f(bool mutant) {
  return handed_back(mutant ? HandBack{.scope = Scope::Cta, .fences = false} : HandBack{});
}
Program t8g(bool mutant) { return handed_back({.fences = !mutant, .relaxed = true}); }
Program t8h(bool mutant) {
  return handed_back({.scope = mutant ? Scope::Cta : Scope::Cluster, .waits = !mutant});
}
Program t8i(bool mutant) {
  return handed_back(
      {.scope = mutant ? Scope::Cta : Scope::Cluster, .waits = !mutant, .uses = true});
}
Program t8e(bool mutant) { return pair_of_ctas({.release_cluster = !mutant}); }
Program t8j(bool mutant) {
  return pair_of_ctas({.release_cluster = !mutant, .peer_is_sent_both = true});
}

Program t8k(bool mutant) { return pair_of_ctas({.frees_peer = true, .peer_waits = !mutant}); }

constexpr Entry entries[] = {
    {"T3g", "dealloc not ordered behind the peer's alloc", Fault::TmemNotAllocated, t3g,
     "nothing orders it behind tcgen05.alloc.cta_group::2"},
    {"T3h", "no cluster barrier between the last use and dealloc", Fault::TmemNotComplete, t3h,
     "mma -> dealloc is not an ordered pair"},
    {"T3i", "dealloc.cta_group::2 by one CTA only", Fault::TmemLeaked, t3i,
     "columns 0-31 of CTA 1 still allocated at exit"},
    {"T16a", "alloc.cta_group::2 with no cluster barrier before it", Fault::CtaNotStarted, t16a,
     "which may not have started"},
    {"T16b", "alloc.cta_group::2 between arrive and wait of the cluster barrier",
     Fault::CtaNotStarted, t16b, "put barrier.cluster.arrive (.relaxed is enough)"},
    {"T16c", "relinquish.cta_group::2 behind dealloc, when the peer may have left",
     Fault::CtaExited, t16c, "tcgen05.relinquish_alloc_permit"},
    {"T16d", "a store into a CTA that may not have started", Fault::CtaNotStarted, t16d,
     "its warp has seen nothing that CTA 1 did"},
    {"T8c", "a commit that is not multicast to the peer", Fault::Deadlock, t8c,
     "arrives on it in other CTAs only"},
    {"T8d", "a commit to the wrong CTA's barrier", Fault::Deadlock, t8d, ".multicast::cluster"},
    {"T8e", "the peer says that its operands are there at scope .cta", Fault::ScopeAssumed, t8e,
     ".release.cluster"},
    {"T8f", "the peer hands D back at scope .cta, with no tcgen05 fence", Fault::ScopeAssumed, t8f,
     "has scope .cta, which does not reach another CTA"},
    {"T8g", "the peer hands D back by a relaxed arrival, with no tcgen05 fence",
     Fault::TmemFenceBeforeMissing, t8g, "put tcgen05.fence::before_thread_sync behind"},
    {"T8h", "the peer hands D back at scope .cta, with no wait::ld", Fault::TmemWaitMissing, t8h,
     "orders the value, not the release"},
    {"T8i", "the peer hands D back at scope .cta, all values used and no wait::ld",
     Fault::TmemWaitOmitted, t8i, "put tcgen05.wait::ld behind"},
    {"T8j",
     "the peer says at scope .cta that it was sent its operands, whose source is overwritten",
     Fault::ScopeAssumed, t8j, ".release.cluster"},
    {"T8k", "the peer ends with no wait for a commit that it knows was issued",
     Fault::CommitOrderAssumed, t8k, "tcgen05.commit"},
};

}  // namespace

std::span<const Entry> tcgen05_pair_entries() { return entries; }

}  // namespace tcq::catalogue
