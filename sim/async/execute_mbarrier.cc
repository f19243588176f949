// mbarriers: who may use one, what arrivals release, what waits acquire.
#include <algorithm>

#include "sim/async/executor.h"

namespace tcq::machine {

// --- slots -----------------------------------------------------------------------------------------

int Executor::find_slot(const Cluster& cluster, int cta, std::uint32_t address) {
  const auto found = cluster.slot_of_.find(mbarrier_object(cta, address));
  return found == cluster.slot_of_.end() ? -1 : found->second;
}

bool Executor::mbarrier_passes(const Cluster& cluster, const Warp& warp, const MbarrierTryWait& i) {
  const int cta = i.barrier.cta == own_cta ? warp.cta : i.barrier.cta;
  const int index = find_slot(cluster, cta, i.barrier.of(0));
  if (index < 0) return true;  // to fault
  const MbarrierSlot& slot = cluster.slots_[static_cast<std::size_t>(index)];
  return !slot.live || mbarrier::test_parity(slot.state, static_cast<std::uint32_t>(i.parity));
}

bool Executor::is_initialized_for(const MbarrierSlot& slot, Place& init, Fault& fault) const {
  const Access& made = c_.log_[slot.init];
  init = {made.statement, made.warp, made.lane};
  fault = Fault::MbarrierNotInitialized;
  if (warp_.clock.at(slot.fenced) > 0) return true;
  if (made.tick > warp_.clock.at(made.stream)) return false;
  fault = Fault::MbarrierNotVisible;
  return slot.cta == warp_.cta;
}

MbarrierSlot* Executor::usable_slot(const Address& barrier, int lane) {
  const int cta = cta_of(barrier);
  const std::uint32_t address = barrier.of(thread_of(lane));
  if (!cta_runs(cta, lane)) return nullptr;
  if (address % mbarrier::alignment_bytes != 0) {
    fail(Fault::MbarrierUnaligned, lane, address);
    return nullptr;
  }
  const int index = find_slot(c_, cta, address);
  if (index < 0 || !c_.slots_[static_cast<std::size_t>(index)].live) {
    c_.fail({.fault = Fault::MbarrierNotInitialized,
             .at = place(lane),
             .cta = cta,
             .bytes = {address, address + mbarrier::size_bytes}});
    return nullptr;
  }
  MbarrierSlot& slot = c_.slots_[static_cast<std::size_t>(index)];
  Place init;
  Fault fault = Fault::None;
  if (is_initialized_for(slot, init, fault)) return &slot;
  c_.fail({.fault = fault,
           .at = place(lane),
           .earlier = init,
           .cta = cta,
           .bytes = {address, address + mbarrier::size_bytes}});
  return nullptr;
}

MbarrierSlot* Executor::slot_to_complete(const Address& barrier, int lane) {
  MbarrierSlot* slot = usable_slot(barrier, lane);
  if (slot == nullptr || warp_.clock.at(slot->fenced) > 0) return slot;
  const Access& init = c_.log_[slot->init];
  const ByteRange bytes = {slot->address, slot->address + mbarrier::size_bytes};
  if (is_fenced(init, bytes, warp_.clock, c_.streams_)) return slot;
  const bool stops = c_.stops_at({.fault = Fault::MbarrierInitUnfenced,
                                  .at = place(lane),
                                  .earlier = {init.statement, init.warp, init.lane},
                                  .cta = slot->cta,
                                  .bytes = bytes});
  return stops ? nullptr : slot;
}

void Executor::note_completion(MbarrierSlot& slot) {
  slot.done_own = slot.own;
  slot.done_cluster = slot.cluster;
  slot.done_lost = slot.lost;
}

// --- release and acquire ---------------------------------------------------------------------------

void Executor::next_epoch() {
  const Stream stream = c_.streams_.epochs(warp_.number);
  warp_.clock.raise(stream, warp_.clock.at(stream) + 1);
}

void Executor::note_weak(Fault fault, bool waits, std::uint64_t object, const Clock& lost) {
  for (WeakSync& weak : c_.weak_syncs_)
    if (weak.at.statement == number_ && weak.at.warp == warp_.number && weak.object == object)
      return weak.lost.join(lost);
  c_.weak_syncs_.push_back({fault, place(), waits, object, lost});
}

void Executor::release(MbarrierSlot& slot, Scope scope, bool relaxed) {
  slot.lost.join(warp_.lost);
  const bool reaches = slot.cta == warp_.cta || scope == Scope::Cluster;
  if (!relaxed && reaches)
    return (slot.cta == warp_.cta ? slot.own : slot.cluster).join(warp_.clock);
  slot.lost.join(warp_.clock);
  note_weak(relaxed ? Fault::ReleaseMissing : Fault::ScopeTooNarrow, false,
            mbarrier_object(slot.cta, slot.address), warp_.clock);
}

void Executor::acquire(MbarrierSlot& slot, Scope scope, bool relaxed) {
  const std::uint64_t object = mbarrier_object(slot.cta, slot.address);
  warp_.lost.join(slot.done_lost);
  if (relaxed) {
    Clock lost = slot.done_own;
    lost.join(slot.done_cluster);
    lost.raise(slot.phases, slot.state.phase);
    warp_.lost.join(lost);
    return note_weak(Fault::AcquireMissing, true, object, lost);
  }
  warp_.clock.join(slot.done_own);
  warp_.clock.raise(slot.phases, slot.state.phase);
  if (scope == Scope::Cluster) return warp_.clock.join(slot.done_cluster);
  if (slot.done_cluster.size() == 0) return;
  warp_.lost.join(slot.done_cluster);
  note_weak(Fault::ScopeTooNarrow, true, object, slot.done_cluster);
}

// Which weak arrival or wait kept (stream, tick) from somebody who lost it: the own wait before the
// arrivals of others, and those before the waits of others. None: nothing weak did.
const WeakSync* Executor::find_weak(const Cluster& cluster, const Clock& lost, int warp,
                                    Stream stream, Tick tick) {
  if (tick == never || lost.at(stream) < tick) return nullptr;
  const WeakSync* other = nullptr;
  for (const WeakSync& weak : cluster.weak_syncs_) {
    if (weak.lost.at(stream) < tick) continue;
    if (weak.waits && weak.at.warp == warp) return &weak;
    if (other == nullptr || !weak.waits) other = &weak;
  }
  return other;
}

// What a wait shows of execution, whatever it acquires: enough for tcgen05 fences and CTA starts.
void Executor::observe(const MbarrierSlot& slot) {
  warp_.tmem.observed.join(slot.done_own);
  warp_.tmem.observed.join(slot.done_cluster);
  warp_.tmem.observed.join(slot.done_lost);
  learn_starts();
}

// --- instructions ----------------------------------------------------------------------------------

void Executor::execute(const MbarrierInit& i) {
  for_each_lane([&](int lane) {
    if (stopped()) return;
    if (i.barrier.cta != own_cta) return fail(Fault::MbarrierRemote, lane);
    const std::uint32_t address = i.barrier.of(thread_of(lane));
    Cta& cta = c_.ctas_[static_cast<std::size_t>(warp_.cta)];
    if (address % mbarrier::alignment_bytes != 0)
      return fail(Fault::MbarrierUnaligned, lane, address);
    if (!cta.shared.contains(address, mbarrier::size_bytes))
      return fail(Fault::SharedMemoryOutOfRange, lane, address);
    MbarrierSlot slot;
    if (const Fault fault = mbarrier::init(slot.state, i.count); fault != Fault::None)
      return fail(fault, lane, i.count);
    Access access = generic_access(AccessKind::BarrierInit);
    access.lane = static_cast<std::uint8_t>(lane);
    access.lanes = 1u << lane;
    const AccessId id = c_.log_.add(access);
    const Conflict conflict = cta.provenance.record({address, address + mbarrier::size_bytes}, id,
                                                    knowledge(), c_.log_, c_.streams_);
    if (!settle(conflict, id, warp_.cta)) return;
    slot.cta = warp_.cta;
    slot.address = address;
    slot.live = true;
    slot.phases = c_.streams_.make();
    slot.init = id;
    slot.init_warp = warp_.number;
    slot.fenced = c_.streams_.make();
    const auto [entry, fresh] =
        c_.slot_of_.try_emplace(mbarrier_object(warp_.cta, address), c_.slots_.size());
    if (fresh)
      c_.slots_.push_back(std::move(slot));
    else
      c_.slots_[static_cast<std::size_t>(entry->second)] = std::move(slot);
  });
}

void Executor::execute(const MbarrierInval& i) {
  for_each_lane([&](int lane) {
    if (stopped()) return;
    if (i.barrier.cta != own_cta) return fail(Fault::MbarrierRemote, lane);
    MbarrierSlot* slot = usable_slot(i.barrier, lane);
    if (slot == nullptr) return;
    slot->live = false;
    Access access = generic_access(AccessKind::Store);
    access.lane = static_cast<std::uint8_t>(lane);
    access.lanes = 1u << lane;
    const AccessId id = c_.log_.add(access);
    c_.ctas_[static_cast<std::size_t>(warp_.cta)].provenance.overwrite(
        {slot->address, slot->address + mbarrier::size_bytes}, id);
  });
}

// The touches of one step on one mbarrier are one.
void Executor::note_touch(Cluster& cluster, const Touch& touch, const mbarrier::Mbarrier& after) {
  auto& touches = cluster.touches_;
  if (touches.empty() || touches.back().object != touch.object) touches.push_back(touch);
  Touch& noted = touches.back();
  noted.completes = noted.completes || touch.completes;
  noted.pending_after = noted.completes ? 0 : after.pending;
  noted.tx_after = after.tx;
}

// One operation per lane; `touch` says of what kind. `operation` counts on the state and says what is wrong with that.
template <class Operation>
void Executor::count_on(const Address& barrier, Scope scope, Order order, Touch touch,
                        Operation operation) {
  MbarrierSlot* slot = nullptr;
  for_each_lane([&](int lane) {
    if (stopped()) return;
    if (slot == nullptr || !barrier.is_uniform()) {
      slot = reach_cta(cta_of(barrier), lane) ? usable_slot(barrier, lane) : nullptr;
      if (slot == nullptr) return;
      if (order != Order::None) release(*slot, scope, order == Order::Relaxed);
    }
    const std::uint32_t phase = slot->state.phase;
    if (const Fault fault = operation(slot->state); fault != Fault::None) {
      c_.fail({.fault = fault,
               .at = place(lane),
               .cta = slot->cta,
               .bytes = {slot->address, slot->address + mbarrier::size_bytes},
               .number = fault == Fault::MbarrierTxCount ? slot->state.tx
                                                         : std::int64_t{slot->state.expected}});
      return;
    }
    const bool completes = slot->state.phase != phase;
    if (completes) note_completion(*slot);
    touch.completes = completes;
    touch.object = mbarrier_object(slot->cta, slot->address);
    touch.phase = phase;
    note_touch(c_, touch, slot->state);
  });
  if (order != Order::None) next_epoch();
}

void Executor::execute(const MbarrierArrive& i) {
  count_on(
      i.barrier, i.scope, order_of(i.relaxed), {.arrives = true}, [&](mbarrier::Mbarrier& state) {
        return i.drop ? mbarrier::arrive_drop(state, i.count) : mbarrier::arrive(state, i.count);
      });
}

void Executor::execute(const MbarrierArriveExpectTx& i) {
  count_on(i.barrier, i.scope, order_of(i.relaxed), {.arrives = true, .expects = true},
           [&](mbarrier::Mbarrier& state) { return mbarrier::arrive_expect_tx(state, i.bytes); });
}

void Executor::execute(const MbarrierExpectTx& i) {
  count_on(i.barrier, Scope::Cluster, Order::None, {.expects = true},
           [&](mbarrier::Mbarrier& state) { return mbarrier::expect_tx(state, i.bytes); });
}

void Executor::execute(const MbarrierCompleteTx& i) {
  count_on(i.barrier, Scope::Cluster, Order::None, {.copied = i.bytes},
           [&](mbarrier::Mbarrier& state) { return mbarrier::complete_tx(state, i.bytes); });
}

void Executor::execute(const MbarrierTryWait& i) {
  if (i.barrier.cta != own_cta) return fail(Fault::MbarrierRemote, first_lane());
  MbarrierSlot* slot = usable_slot(i.barrier, first_lane());
  if (slot == nullptr) return;
  const std::uint32_t phase = slot->state.phase;
  const std::uint64_t object = mbarrier_object(slot->cta, slot->address);
  c_.touches_.push_back(
      {.object = object, .kind = TouchKind::Wait, .phase = phase, .parity = i.parity});
  ++warp_.waits_passed;
  warp_.last_wait = place();
  const bool seen = std::max(warp_.clock.at(slot->phases), warp_.lost.at(slot->phases)) >= phase;
  warp_.stale_wait = seen ? place() : Place{};
  const bool waited_fresh =
      std::count(warp_.fresh_waits.begin(), warp_.fresh_waits.end(), slot->phases) != 0;
  warp_.stale_is_fresh = phase == 0 && !waited_fresh;
  if (warp_.stale_is_fresh) warp_.fresh_waits.push_back(slot->phases);
  observe(*slot);
  acquire(*slot, i.scope, i.relaxed);
}

void Executor::execute(const MbarrierTestWait& i) {
  if (i.barrier.cta != own_cta) return fail(Fault::MbarrierRemote, first_lane());
  MbarrierSlot* slot = usable_slot(i.barrier, first_lane());
  if (slot == nullptr) return;
  const std::uint64_t object = mbarrier_object(slot->cta, slot->address);
  c_.touches_.push_back(
      {.object = object, .kind = TouchKind::Wait, .phase = slot->state.phase, .parity = i.parity});
  const bool passed = mbarrier::test_parity(slot->state, static_cast<std::uint32_t>(i.parity));
  warp_.predicates[static_cast<std::size_t>(i.predicate)] = passed;
  if (!passed) return;
  warp_.last_wait = place();
  observe(*slot);
  acquire(*slot, i.scope, i.relaxed);
}

void Executor::execute(const FenceMbarrierInit&) {
  for (const MbarrierSlot& slot : c_.slots_) {
    if (slot.init_warp != warp_.number || (lanes_ >> c_.log_[slot.init].lane & 1) == 0) continue;
    warp_.clock.raise(slot.fenced, 1);
    warp_.fenced_inits.raise(slot.fenced, 1);
  }
}

}  // namespace tcq::machine
