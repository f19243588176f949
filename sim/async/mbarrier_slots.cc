#include "sim/async/mbarrier_slots.h"

#include <algorithm>

#include "sim/async/access.h"
#include "sim/async/lane_sync.h"

namespace tcq::machine {
namespace {

// An init between the fences of its warp and a relaxed arrival at the cluster's barrier, as CUTLASS has it.
bool is_init_assumed(const Step& s, const MbarrierSlot& slot, const Access& made) {
  return s.c.warps[static_cast<std::size_t>(made.warp)].fenced_inits.size() != 0 &&
         is_known(made, bytes_of(slot), s.warp.lost, s.c.streams);
}

bool is_initialized_for(const Step& s, const MbarrierSlot& slot, bool completes, Place& init,
                        Fault& fault) {
  const Access& made = s.c.log[slot.init];
  init = {made.statement, made.warp, made.lane};
  if (s.warp.clock.at(slot.fenced) > 0) return true;
  const bool is_ordered = is_known(made, bytes_of(slot), s.warp.clock, s.c.streams);
  if (is_ordered && slot.cta == s.warp.cta) return true;
  const bool may_see = is_ordered || (!completes && is_init_assumed(s, slot, made));
  fault = may_see ? Fault::MbarrierNotVisible : Fault::MbarrierNotInitialized;
  return false;
}

MbarrierSlot* find_usable(Step& s, const Address& barrier, int lane, bool completes) {
  const int cta = s.cta_of(barrier);
  const std::uint32_t address = barrier.of(s.thread_of(lane));
  if (!cta_runs(s, cta, lane)) return nullptr;
  if (address % mbarrier::alignment_bytes != 0) {
    s.fail(Fault::MbarrierUnaligned, lane, address);
    return nullptr;
  }
  const int index = s.c.find_slot(cta, address);
  if (index < 0 || !s.c.slot(index).live) {
    s.c.fail({.fault = Fault::MbarrierNotInitialized,
              .at = s.place(lane),
              .cta = cta,
              .bytes = {address, address + mbarrier::size_bytes}});
    return nullptr;
  }
  MbarrierSlot& slot = s.c.slot(index);
  Place init;
  Fault fault = Fault::None;
  if (is_initialized_for(s, slot, completes, init, fault)) return &slot;
  const bool stops = s.c.stops_at(
      {.fault = fault, .at = s.place(lane), .earlier = init, .cta = cta, .bytes = bytes_of(slot)});
  return stops ? nullptr : &slot;
}

}  // namespace

MbarrierSlot* usable_slot(Step& s, const Address& barrier, int lane) {
  return find_usable(s, barrier, lane, false);
}

MbarrierSlot* slot_to_complete(Step& s, const Address& barrier, int lane) {
  MbarrierSlot* slot = find_usable(s, barrier, lane, true);
  if (slot == nullptr || s.warp.clock.at(slot->fenced) > 0) return slot;
  const Access& init = s.c.log[slot->init];
  const ByteRange bytes = bytes_of(*slot);
  if (is_fenced(init, bytes, s.warp.clock, s.c.streams)) return slot;
  const bool stops = s.c.stops_at({.fault = Fault::MbarrierInitUnfenced,
                                   .at = s.place(lane),
                                   .earlier = {init.statement, init.warp, init.lane},
                                   .cta = slot->cta,
                                   .bytes = bytes});
  return stops ? nullptr : slot;
}

void note_arrival(MbarrierSlot& slot, int warp, std::uint32_t count, bool is_first) {
  auto at = std::ranges::find(slot.arrived, warp, &WarpArrivals::warp);
  if (at == slot.arrived.end()) at = slot.arrived.insert(at, {.warp = warp});
  at->count += count;
  at->executions += is_first ? 1 : 0;
}

bool is_left_evenly(const MbarrierSlot& slot) {
  if (slot.arrived.empty()) return false;
  const auto arrives_once = [](const WarpArrivals& w) { return w.executions == 1; };
  return std::ranges::all_of(slot.arrived_before, arrives_once) &&
         std::ranges::all_of(slot.arrived, [&](const WarpArrivals& left) {
           return std::ranges::find(slot.arrived_before, left) != slot.arrived_before.end();
         });
}

void note_completion(MbarrierSlot& slot) {
  slot.arrived_before = std::move(slot.arrived);
  slot.arrived.clear();
  slot.done_own = slot.own;
  slot.done_cluster = slot.cluster;
  slot.done_lost = slot.lost;
  slot.completed_by = -1;
}

void note_completion(const Step& s, MbarrierSlot& slot) {
  note_completion(slot);
  slot.completed_by = s.warp.number;
  slot.completed_in = s.warp.clock.at(s.c.streams.epochs(s.warp.number));
}

namespace {

bool knows(const Warp& warp, Stream stream, Tick tick) {
  return std::max(warp.clock.at(stream), warp.lost.at(stream)) >= tick;
}

}  // namespace

void note_if_early(const Step& s, const MbarrierSlot& slot) {
  // Of another CTA's phase a multicast copy tells, which carries no clock.
  if (slot.cta != s.warp.cta) return;
  if (slot.state.phase == 0 || knows(s.warp, slot.phases, slot.state.phase)) return;
  if (slot.completed_by >= 0 &&
      knows(s.warp, s.c.streams.epochs(slot.completed_by), slot.completed_in))
    return;
  note_uneven_arrivals(s.c, slot, s.place(s.first_lane()));
  auto& early = s.c.early_warps;
  if (std::find(early.begin(), early.end(), s.warp.number) == early.end())
    early.push_back(s.warp.number);
}

void note_uneven_arrivals(ClusterState& c, const MbarrierSlot& slot, Place at) {
  const bool is_said = std::any_of(c.suspicions.begin(), c.suspicions.end(), [](const Finding& f) {
    return f.fault == Fault::ArrivalsUneven;
  });
  if (is_said) return;
  c.stops_at({.fault = Fault::ArrivalsUneven, .at = at, .cta = slot.cta, .bytes = bytes_of(slot)});
}

void note_touch(ClusterState& c, const Touch& touch, const mbarrier::Mbarrier& after) {
  auto& touches = c.touches;
  if (touches.empty() || touches.back().object != touch.object) touches.push_back(touch);
  Touch& noted = touches.back();
  noted.completes = noted.completes || touch.completes;
  noted.pending_after = noted.completes ? 0 : after.pending;
  noted.tx_after = after.tx;
}

// --- release and acquire ----------------------------------------------------------------------------

void next_epoch(Step& s) {
  const Stream stream = s.c.streams.epochs(s.warp.number);
  s.warp.clock.raise(stream, s.warp.clock.at(stream) + 1);
}

void note_weak(Step& s, Fault fault, bool waits, std::uint64_t object, const Clock& lost) {
  s.c.weak_syncs.note({fault, s.place(), waits, object, lost});
}

namespace {

// What a relaxed arrival hands on of the fence before it, as a relaxed write does: of a fence of scope .cta to its own CTA alone.
void pass_on_fenced(Step& s, MbarrierSlot& slot) {
  const Word& fence = s.warp.at_memory_fence;
  slot.lost.join(fence.lost);
  Clock& to = slot.cta == s.warp.cta ? slot.own : slot.cluster;
  to.join(fence.handed);
  to.join(fence.shared);
  if (slot.cta != s.warp.cta) return;
  if (const auto own = fence.own.find(slot.cta); own != fence.own.end()) slot.own.join(own->second);
}

// What a fence behind a relaxed wait acquires.
void take_for_fence(Step& s, const MbarrierSlot& slot, Scope scope) {
  Word& read = s.warp.read_since_fence;
  for (Clock* found : {&read.handed, &read.shared, &read.own[s.warp.cta]}) {
    found->join(slot.done_own);
    found->raise(slot.phases, slot.state.phase);
    if (scope == Scope::Cluster && found != &read.own[s.warp.cta]) found->join(slot.done_cluster);
  }
}

}  // namespace

void release(Step& s, MbarrierSlot& slot, Scope scope, bool relaxed) {
  slot.lost.join(s.warp.lost);
  const bool reaches = slot.cta == s.warp.cta || scope == Scope::Cluster;
  if (!relaxed && reaches)
    return hand_on(s, slot.cta == s.warp.cta ? slot.own : slot.cluster, slot.lost, object_of(slot));
  if (relaxed) {
    if (reaches) pass_on_fenced(s, slot);
    slot.lost.join(s.warp.clock);
    return note_weak(s, Fault::ReleaseMissing, false, object_of(slot), s.warp.clock);
  }
  // Whatever the scope, a lane releases for itself (PTX ISA 8.9): what it would hand on is its own.
  Clock handed;
  hand_on(s, handed, slot.lost, object_of(slot));
  slot.lost.join(handed);
  note_weak(s, Fault::ScopeTooNarrow, false, object_of(slot), handed);
}

void acquire(Step& s, MbarrierSlot& slot, Scope scope, bool relaxed) {
  const std::uint64_t object = object_of(slot);
  s.warp.lost.join(slot.done_lost);
  if (relaxed) {
    Clock lost = slot.done_own;
    lost.join(slot.done_cluster);
    lost.raise(slot.phases, slot.state.phase);
    s.warp.lost.join(lost);
    take_for_fence(s, slot, scope);
    return note_weak(s, Fault::AcquireMissing, true, object, lost);
  }
  learn(s, slot.done_own);
  learn(s, s.lanes, slot.phases, slot.state.phase);
  if (scope == Scope::Cluster) return learn(s, slot.done_cluster);
  if (slot.done_cluster.size() == 0) return;
  s.warp.lost.join(slot.done_cluster);
  note_weak(s, Fault::ScopeTooNarrow, true, object, slot.done_cluster);
}

void observe(Step& s, const MbarrierSlot& slot) {
  s.warp.tmem.observed.join(slot.done_own);
  s.warp.tmem.observed.join(slot.done_cluster);
  s.warp.tmem.observed.join(slot.done_lost);
  learn_starts(s);
}

}  // namespace tcq::machine
