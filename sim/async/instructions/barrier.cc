#include "sim/async/instructions/barrier.h"

#include <algorithm>
#include <bit>

#include "sim/async/access.h"
#include "sim/async/lane_sync.h"
#include "sim/async/mbarrier_slots.h"

namespace tcq::machine {

// --- barriers of the CTA ---------------------------------------------------------------------------

namespace {

NamedBarrier& barrier_at(Cta& cta, int id) { return cta.barriers[static_cast<std::size_t>(id)]; }
const NamedBarrier& barrier_at(const Cta& cta, int id) {
  return cta.barriers[static_cast<std::size_t>(id)];
}

Fault check_id(int id) { return id < 0 || id > 15 ? Fault::BarrierId : Fault::None; }

Fault check_threads(int threads, const Bounds& bounds) {
  const bool whole = threads > 0 && threads % warp_threads == 0;
  return whole && threads <= bounds.cta_threads ? Fault::None : Fault::BarrierThreads;
}

// The first step arrives; a warp that has is going to leave.
std::vector<Touch> touches_of(const Standing& at, int id) {
  return {{.object = barrier_object(at.warp.cta, id),
           .kind = at.warp.arrived ? TouchKind::Wait : TouchKind::Count}};
}

void arrive_at(Step& s, int id, int threads) {
  NamedBarrier& barrier = barrier_at(s.cta(), id);
  const bool whole = threads == 0 && s.c.feed;
  if (threads == 0) threads = s.c.program.launch().threads;
  if (barrier.expected != 0 && barrier.expected != threads)
    return s.c.fail({.fault = Fault::BarrierMismatch, .at = s.place(), .number = barrier.expected});
  barrier.expected = threads;
  barrier.whole = whole;
  barrier.arrived += warp_threads;
  barrier.pending.join(firm_clock(s.warp));
  barrier.pending_assumed.join(s.warp.assumed.known);
  if (s.c.feed) barrier.pending_assumed.join(s.warp.read_since_fence.handed);
  barrier.pending.raise(s.c.streams.make_performed(s.warp.number), s.c.epoch(s.warp.number));
  barrier.pending_lost.join(s.warp.lost);
  barrier.pending_told.join(s.warp.told);
  barrier.pending_fenced.join(s.warp.at_memory_fence);
  next_epoch(s);
  s.warp.awaited_use = barrier.uses;
  const bool completes = s.c.complete_barrier(s.warp.cta, barrier);
  s.c.touches.push_back({.object = barrier_object(s.warp.cta, id),
                         .phase = s.warp.awaited_use,
                         .completes = completes});
}

}  // namespace

Fault BarrierSync::check(const Bounds& bounds) const {
  const Fault fault = check_id(id);
  return fault != Fault::None || threads == 0 ? fault : check_threads(threads, bounds);
}
Fault BarrierArrive::check(const Bounds& bounds) const {
  const Fault fault = check_id(id);
  return fault != Fault::None ? fault : check_threads(threads, bounds);
}

std::vector<Touch> BarrierSync::touches(const Standing& at) const { return touches_of(at, id); }
std::vector<Touch> BarrierArrive::touches(const Standing& at) const { return touches_of(at, id); }

bool BarrierSync::is_blocked(const Standing& at) const {
  return at.warp.arrived && barrier_at(at.cta(), id).uses <= at.warp.awaited_use;
}

Waiting BarrierSync::waiting(const Standing& at) const {
  const NamedBarrier& barrier = barrier_at(at.cta(), id);
  Waiting w = at.waits_for(WaitFor::Barrier);
  w.object = static_cast<std::uint32_t>(id);
  w.expected = barrier.expected;
  w.missing = at.c.missing_at(at.cta(), barrier);
  return w;
}

std::string BarrierSync::text(const Names&) const {
  return threads == 0 ? joined("bar.sync ", id) : joined("bar.sync ", id, ", ", threads);
}
std::string BarrierArrive::text(const Names&) const {
  return joined("bar.arrive ", id, ", ", threads);
}

void BarrierSync::execute(Step& s) const {
  if (!s.all_lanes_take_part()) return;
  if (!s.warp.arrived) {
    arrive_at(s, id, threads);
    s.warp.arrived = true;
    --s.warp.pc;  // it stands before the barrier until all are there
    return;
  }
  const NamedBarrier& barrier = barrier_at(s.cta(), id);
  s.warp.arrived = false;
  learn(s, barrier.done);
  assume(s, barrier.done_assumed);
  s.warp.lost.join(barrier.done_lost);
  s.warp.told.join(barrier.done_told);
  s.warp.at_memory_fence.join(barrier.done_fenced);
  s.c.touches.push_back(
      {.object = barrier_object(s.warp.cta, id), .kind = TouchKind::Wait, .phase = barrier.uses});
}

void BarrierArrive::execute(Step& s) const {
  if (s.all_lanes_take_part()) arrive_at(s, id, threads);
}

void WarpSync::execute(Step& s) const {
  if (s.all_lanes_take_part()) lanes_meet(s.c, s.warp, s.lanes, true);
}

// --- the cluster's barrier -------------------------------------------------------------------------

std::vector<Touch> ClusterArrive::touches(const Standing&) const {
  return {{.object = cluster_object}};
}
std::vector<Touch> ClusterWait::touches(const Standing&) const {
  return {{.object = cluster_object, .kind = TouchKind::Wait}};
}

bool ClusterWait::is_blocked(const Standing& at) const {
  for (std::uint32_t rest = at.lanes & at.warp.cluster_arrived; rest != 0; rest &= rest - 1)
    if (at.warp.cluster_use[static_cast<std::size_t>(std::countr_zero(rest))] ==
        at.c.cluster_barrier.uses)
      return true;
  return false;
}

Waiting ClusterWait::waiting(const Standing& at) const {
  Waiting w = at.waits_for(WaitFor::ClusterBarrier);
  w.expected = static_cast<std::int64_t>(at.c.warps.size());
  w.missing = std::count_if(at.c.warps.begin(), at.c.warps.end(),
                            [&](const Warp& warp) { return !at.c.has_arrived_at_cluster(warp); });
  return w;
}

namespace {

// With .aligned all lanes that live execute it.
bool lanes_may_part(Step& s, bool is_aligned) {
  if (!is_aligned || s.warp.order_of_lanes.is_everybody(s.lanes)) return true;
  s.fail(Fault::WarpDivergent, s.first_lane());
  return false;
}

}  // namespace

std::string ClusterArrive::text(const Names&) const {
  return joined("barrier.cluster.arrive", relaxed ? ".relaxed" : ".release");
}

void ClusterArrive::execute(Step& s) const {
  if (!lanes_may_part(s, aligned)) return;
  if ((s.warp.cluster_arrived & s.lanes) != 0) return s.fail(Fault::ClusterBarrierOrder);
  s.warp.cluster_arrived |= s.lanes;
  NamedBarrier& barrier = s.c.cluster_barrier;
  s.for_each_lane(
      [&](int lane) { s.warp.cluster_use[static_cast<std::size_t>(lane)] = barrier.uses; });
  ++barrier.arrived;
  // A fence.mbarrier_init is itself the release: a relaxed arrival behind it publishes the inits; one behind a fence of the cluster
  // what that fence's warp knew.
  if (relaxed) {
    barrier.pending.join(s.warp.fenced_inits);
    barrier.pending.join(s.warp.at_memory_fence.handed);
    barrier.pending.join(s.warp.at_memory_fence.shared);
    barrier.pending_lost.join(s.warp.at_memory_fence.lost);
  } else {
    hand_on(s, barrier.pending, barrier.pending_lost, cluster_object);
  }
  barrier.pending_lost.join(s.warp.lost);
  barrier.pending_told.join(s.warp.told);
  if (relaxed) {
    barrier.pending_lost.join(s.warp.clock);
    note_weak(s, Fault::ReleaseMissing, false, cluster_object, s.warp.clock);
  }
  next_epoch(s);
  const std::uint32_t use = barrier.uses;
  const bool completes = s.c.complete_cluster_barrier();
  s.c.touches.push_back({.object = cluster_object, .phase = use, .completes = completes});
}

void ClusterWait::execute(Step& s) const {
  if (!lanes_may_part(s, aligned)) return;
  if ((s.lanes & ~s.warp.cluster_arrived & s.warp.order_of_lanes.alive) != 0)
    return s.fail(Fault::ClusterBarrierOrder);
  s.warp.cluster_arrived &= ~s.lanes;
  learn(s, s.c.cluster_barrier.done);
  s.warp.lost.join(s.c.cluster_barrier.done_lost);
  s.warp.told.join(s.c.cluster_barrier.done_told);
  s.warp.tmem.observed.join(s.c.cluster_barrier.done_lost);
  learn_starts(s);
  s.c.touches.push_back(
      {.object = cluster_object, .kind = TouchKind::Wait, .phase = s.c.cluster_barrier.uses});
}

}  // namespace tcq::machine
