// The ends of warps and CTAs; see cluster.h.
#include <algorithm>

#include "sim/async/access.h"
#include "sim/async/cluster.h"
#include "sim/async/mbarrier_slots.h"
#include "sim/async/tmem_data.h"
#include "sim/async/warpgroups.h"

namespace tcq::machine {
namespace {

// Or known to have, as its lane released it alone.
bool is_over(const ClusterState& c, const Clock& exit, const ExitUse& use) {
  if (use.tick <= exit.at(use.stream)) return true;
  if (use.at.lane < 0 || use.stream != c.streams.epochs(use.at.warp)) return false;
  const Stream lane = c.streams.lane_epochs(use.at.warp, use.at.lane);
  return lane != 0 && use.tick <= exit.at(lane);
}

// Nobody in the CTA has seen the arrival, a peer's commit's or its own one's; disputed if somebody has seen a later one, or that
// the commit was issued, as of its own it always has, whose operations have to be over (they are uses of their own) and behind
// which it arrives at once.
bool may_end_before_commit(ClusterState& c, int cta, const ExitUse& arrival) {
  const Cta& ending = c.cta(cta);
  const bool saw_later = ending.exit.at(arrival.commits) > arrival.commit;
  const ExitUse issue{c.streams.epochs(arrival.at.warp), arrival.issued, arrival.at, {}};
  const bool saw_issue = is_over(c, ending.exit, issue) || is_over(c, ending.exit_lost, issue);
  return !c.stops_at(
      {.fault = saw_later || saw_issue ? Fault::CommitOrderAssumed : Fault::CtaExited,
       .at = arrival.at,
       .cta = cta,
       .bytes = arrival.bytes,
       .number = saw_later ? 0 : 1});
}

// The youngest bulk group that holds a copy, of those that the thread has not waited for; 0: none.
std::uint32_t youngest_group(const BulkThread& thread) {
  for (std::size_t i = thread.groups.size(); i > 0; --i)
    if (!thread.groups[i - 1].empty())
      return thread.committed - static_cast<std::uint32_t>(thread.groups.size() - i);
  return 0;
}

// Of groups the hardware seems to know, also of copies in none. Who waits behind those believes that they are in one.
bool may_end_before_stores(ClusterState& c, const Cta& ending, const BulkThread& thread, int cta) {
  if (thread.uncommitted.empty() && ending.exit.at(thread.read) >= youngest_group(thread))
    return true;
  return !c.stops_at(
      {.fault = thread.waits_for_uncommitted ? Fault::ExitInFlight : Fault::ExitReadAssumed,
       .at = thread.last_store,
       .cta = cta});
}

// What made the use known too weakly. Of a lane's arrival at too narrow a scope that is what lacks: what another lane's
// release leaves out (PTX ISA 8.9) is another way to the same knowledge.
const WeakSync* find_weak_at_exit(const ClusterState& c, const Clock& lost, const ExitUse& use) {
  const WeakSync* found = find_weak(c, lost, -1, use.stream, use.tick);
  if (found == nullptr || found->fault != Fault::LaneReleaseMissing) return found;
  const Stream lane =
      use.at.lane < 0 ? 0 : c.streams.lane_epochs(use.at.warp, use.at.lane);  // released alone
  const auto own =
      std::find_if(c.weak_syncs.begin(), c.weak_syncs.end(), [&](const WeakSync& weak) {
        const bool covers = weak.lost.at(use.stream) >= use.tick ||
                            (lane != 0 && use.stream == c.streams.epochs(use.at.warp) &&
                             weak.lost.at(lane) >= use.tick);
        return covers && weak.fault == Fault::ScopeTooNarrow;
      });
  return own == c.weak_syncs.end() ? found : &*own;
}

// Some arrivals of a phase came and some did not: nobody can have waited for it.
void note_uneven_ends(ClusterState& c, int cta) {
  for (const MbarrierSlot& slot : c.slots) {
    const mbarrier::Mbarrier& state = slot.state;
    if (slot.cta != cta || !slot.live || state.pending == 0 || state.pending == state.expected ||
        is_left_evenly(slot))
      continue;
    const Access& init = c.log[slot.init];
    note_uneven_arrivals(c, slot, {init.statement, init.warp, init.lane});
  }
}

// Whatever uses the CTA's shared memory must be known to have ended by one of its warps.
void end_cta(ClusterState& c, int cta) {
  const Cta& ending = c.cta(cta);
  const auto fail_at = [&](Fault fault, Place at, ByteRange bytes) {
    c.fail({.fault = fault, .at = at, .cta = cta, .bytes = bytes});
  };
  for (const Copy& copy : c.copies) {
    const int issuer = c.warp(copy.warp).cta;
    if (copy.cta != cta && (copy.read == 0 || issuer != cta)) continue;
    if (copy.slot < 0) continue;  // stores: below
    return fail_at(issuer == cta ? Fault::ExitInFlight : Fault::CtaExited,
                   {copy.statement, copy.warp, copy.lane}, copy.box);
  }
  for (const CommitInFlight& commit : c.tcgen05.commits) {
    const Warp& issuer = c.warp(commit.warp);
    if (c.slot(commit.slot).cta != cta) continue;
    const Place at = {commit.statement, commit.warp, commit.lane};
    const Stream commits = issuer.tmem.commits;
    const Tick number = commit.carried.at(commits);
    if (!may_end_before_commit(c, cta, {0, 0, at, {}, true, commits, number, issued_in(c, commit)}))
      return;
  }
  for (const ExitUse& use : ending.exit_uses) {
    if (is_over(c, ending.exit, use)) continue;
    if (use.commits != 0) {
      // Whoever has seen it by a relaxed wait, too, has seen that it came.
      if (!is_over(c, ending.exit_lost, use) && !may_end_before_commit(c, cta, use)) return;
      continue;
    }
    const WeakSync* weak = find_weak_at_exit(c, ending.exit_lost, use);
    if (weak == nullptr)
      return fail_at(use.from_outside ? Fault::CtaExited : Fault::ExitInFlight, use.at, use.bytes);
    if (c.stops_at({.fault = fault_at_exit(*weak),
                    .at = use.at,
                    .cta = cta,
                    .bytes = use.bytes,
                    .hint = weak->at}))
      return;
  }
  for (const Warp& warp : c.warps) {
    if (warp.cta != cta) continue;
    for (const BulkThread& thread : warp.bulk)
      if (!may_end_before_stores(c, ending, thread, cta)) return;
  }
  for (const Warpgroup& group : c.warpgroups)
    for (const Mma& mma : group.mmas)
      if (c.warp(group.first_warp).cta == cta && mma.read != 0 &&
          c.log[mma.read].tick > ending.exit.at(c.log[mma.read].stream))
        return fail_at(Fault::ExitInFlight, {mma.statement, group.first_warp, -1}, {});
  note_uneven_ends(c, cta);
  for (const TmemAllocated& left : c.pool(cta).allocations())
    return c.fail({.fault = Fault::TmemLeaked,
                   .at = left.alloc,
                   .cta = cta,
                   .tmem = {0, tcgen05::tmem_lanes, left.first_column, left.columns}});
}

// A thread that waits before its first group does what loops do, and one that executes what the issuing thread waits by does what
// uniform code does; only where nobody ever has any groups is it a wait for nothing.
void forget_early_waits(ClusterState& c, const Warp& warp) {
  const auto is_early = [&](const Finding& f) {  // of wgmmas, whose groups are the warp's
    return f.at.lane < 0 && f.at.warp == warp.number && warp.order.committed() > 0;
  };
  std::erase_if(c.suspicions, [&](const Finding& f) {
    return f.fault == Fault::WaitForNothing && (is_early(f) || c.is_group_wait(f.at.statement));
  });
}

}  // namespace

void Cluster::finish(Warp& warp) {
  forget_early_waits(state_, warp);
  warp.finished = true;
  --state_.running;
  Cta& cta = state_.cta(warp.cta);
  cta.exit.join(warp.clock);
  cta.exit_lost.join(warp.lost);
  state_.complete_cluster_barrier();
  const Warpgroup& group = warpgroup_of(state_, warp);
  const std::uint64_t executed =
      group.aligned[static_cast<std::size_t>(warp.index % warps_per_warpgroup)] -
      group.first_aligned;
  for (std::uint64_t at = executed; at < group.aligned_statements.size(); ++at) {
    const Warpgroup::Aligned& missed = group.aligned_statements[at];
    const Place place{missed.statement, group.first_warp, -1};
    if (state_.stops_at(finding_of_absent(group, place, missed.registers, warp.number))) return;
  }
  --cta.running_warps;
  for (std::size_t id = 0; id < cta.barriers.size(); ++id) {
    NamedBarrier& barrier = cta.barriers[id];
    const std::uint32_t use = barrier.uses;
    if (barrier.whole && state_.complete_barrier(warp.cta, barrier))
      state_.touches.push_back({.object = barrier_object(warp.cta, static_cast<int>(id)),
                                .phase = use,
                                .completes = true});
  }
  if (cta.running_warps == 0) end_cta(state_, warp.cta);
}

}  // namespace tcq::machine
