// Barriers of the CTA and of the cluster, register pools, branches.
#include <algorithm>
#include <utility>

#include "sim/async/executor.h"

namespace tcq::machine {

// --- barriers of the CTA ---------------------------------------------------------------------------

void Executor::arrive_at(NamedBarrier& barrier, int threads, std::uint64_t object) {
  if (barrier.expected != 0 && barrier.expected != threads)
    return c_.fail({.fault = Fault::BarrierMismatch, .at = place(), .number = barrier.expected});
  barrier.expected = threads;
  barrier.arrived += warp_threads;
  barrier.pending.join(warp_.clock);
  barrier.pending_lost.join(warp_.lost);
  next_epoch();
  warp_.awaited_use = barrier.uses;
  const bool completes = barrier.arrived >= barrier.expected;
  c_.touches_.push_back({.object = object, .phase = barrier.uses, .completes = completes});
  if (!completes) return;
  barrier.done = std::exchange(barrier.pending, {});
  barrier.done_lost = std::exchange(barrier.pending_lost, {});
  barrier.arrived = 0;
  barrier.expected = 0;
  ++barrier.uses;
}

void Executor::execute(const BarrierSync& i) {
  if (!all_lanes_take_part()) return;
  NamedBarrier& barrier =
      c_.ctas_[static_cast<std::size_t>(warp_.cta)].barriers[static_cast<std::size_t>(i.id)];
  const std::uint64_t object = barrier_object(warp_.cta, i.id);
  if (!warp_.arrived) {
    arrive_at(barrier, i.threads == 0 ? c_.program_.launch().threads : i.threads, object);
    warp_.arrived = true;
    --warp_.pc;  // it stands before the barrier until all are there
    return;
  }
  warp_.arrived = false;
  warp_.clock.join(barrier.done);
  warp_.lost.join(barrier.done_lost);
  c_.touches_.push_back({.object = object, .kind = TouchKind::Wait, .phase = barrier.uses});
}

void Executor::execute(const BarrierArrive& i) {
  if (!all_lanes_take_part()) return;
  arrive_at(c_.ctas_[static_cast<std::size_t>(warp_.cta)].barriers[static_cast<std::size_t>(i.id)],
            i.threads, barrier_object(warp_.cta, i.id));
}

void Executor::execute(const WarpSync&) { all_lanes_take_part(); }

// --- barriers of the cluster -----------------------------------------------------------------------

// All warps that have not finished must have arrived.
bool Cluster::complete_cluster_barrier() {
  const bool all = std::all_of(warps_.begin(), warps_.end(), [&](const Warp& warp) {
    return warp.finished ||
           (warp.cluster_arrivals == 1 && warp.cluster_awaited == cluster_barrier_.uses);
  });
  if (!all || cluster_barrier_.arrived == 0) return false;
  cluster_barrier_.done.join(std::exchange(cluster_barrier_.pending, {}));
  cluster_barrier_.done_lost.join(std::exchange(cluster_barrier_.pending_lost, {}));
  cluster_barrier_.arrived = 0;
  ++cluster_barrier_.uses;
  return true;
}

void Executor::execute(const ClusterArrive& i) {
  if (!all_lanes_take_part()) return;
  if (warp_.cluster_arrivals != 0) return fail(Fault::ClusterBarrierOrder);
  warp_.cluster_arrivals = 1;
  warp_.cluster_awaited = c_.cluster_barrier_.uses;
  ++c_.cluster_barrier_.arrived;
  // A fence.mbarrier_init is itself the release: a relaxed arrival behind it publishes the inits.
  c_.cluster_barrier_.pending.join(i.relaxed ? warp_.fenced_inits : warp_.clock);
  c_.cluster_barrier_.pending_lost.join(warp_.lost);
  if (i.relaxed) {
    c_.cluster_barrier_.pending_lost.join(warp_.clock);
    note_weak(Fault::ReleaseMissing, false, cluster_object, warp_.clock);
  }
  next_epoch();
  const std::uint32_t use = c_.cluster_barrier_.uses;
  const bool completes = c_.complete_cluster_barrier();
  c_.touches_.push_back({.object = cluster_object, .phase = use, .completes = completes});
}

void Executor::execute(const ClusterWait&) {
  if (!all_lanes_take_part()) return;
  if (warp_.cluster_arrivals == 0) return fail(Fault::ClusterBarrierOrder);
  warp_.cluster_arrivals = 0;
  warp_.clock.join(c_.cluster_barrier_.done);
  warp_.lost.join(c_.cluster_barrier_.done_lost);
  warp_.tmem.observed.join(c_.cluster_barrier_.done_lost);
  learn_starts();
  c_.touches_.push_back(
      {.object = cluster_object, .kind = TouchKind::Wait, .phase = c_.cluster_barrier_.uses});
}

// --- registers and control -------------------------------------------------------------------------

void Executor::execute(const SetMaxRegisters& i) {
  if (!aligned_in_warpgroup()) return;
  if (warp_.max_registers == 0) return fail(Fault::SetmaxnregIgnored);
  const bool right_way =
      i.increase ? i.count >= warp_.max_registers : i.count <= warp_.max_registers;
  if (!right_way) return fail(Fault::SetmaxnregDirection, -1, warp_.max_registers);
  Cta& cta = c_.ctas_[static_cast<std::size_t>(warp_.cta)];
  const std::int64_t taken = std::int64_t{i.count - warp_.max_registers} * warp_threads;
  c_.touches_.push_back({.object = pool_object(warp_.cta),
                         .kind = TouchKind::Take,
                         .free_before = cta.free_registers,
                         .taken = taken});
  cta.free_registers -= taken;
  warp_.max_registers = i.count;
}

void Executor::execute(const Branch& i) {
  const bool taken =
      i.predicate < 0 || warp_.predicates[static_cast<std::size_t>(i.predicate)] == i.when;
  if (taken) warp_.pc = static_cast<std::size_t>(i.target);
}

}  // namespace tcq::machine
