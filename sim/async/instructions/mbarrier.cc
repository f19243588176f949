#include "sim/async/instructions/mbarrier.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "sim/async/access.h"
#include "sim/async/mbarrier_slots.h"

namespace tcq::machine {
namespace {

AccessId add_lane_access(Step& s, AccessKind kind, std::uint32_t lanes) {
  Access access = generic_access(s, kind);
  access.lane = static_cast<std::uint8_t>(std::countr_zero(lanes));
  access.lanes = lanes;
  return s.c.log.add(access);
}

// The step's lanes that name the same mbarrier.
std::uint32_t lanes_of(const Step& s, const Address& barrier, std::uint32_t address) {
  std::uint32_t lanes = 0;
  s.for_each_lane([&](int lane) {
    if (barrier.of(s.thread_of(lane)) == address) lanes |= 1u << lane;
  });
  return lanes;
}

}  // namespace

// --- init, inval -----------------------------------------------------------------------------------

std::string MbarrierInit::text(const Names& names) const {
  return joined("mbarrier.init [", names.at(barrier), "], ", count);
}
std::string MbarrierInval::text(const Names& names) const {
  return joined("mbarrier.inval [", names.at(barrier), "]");
}

void MbarrierInit::execute(Step& s) const {
  s.for_each_lane([&](int lane) {
    if (s.stopped()) return;
    if (barrier.cta != own_cta) return s.fail(Fault::MbarrierRemote, lane);
    const std::uint32_t address = barrier.of(s.thread_of(lane));
    if (address % mbarrier::alignment_bytes != 0)
      return s.fail(Fault::MbarrierUnaligned, lane, address);
    if (!s.cta().shared.contains(address, mbarrier::size_bytes))
      return s.fail(Fault::SharedMemoryOutOfRange, lane, address);
    MbarrierSlot slot;
    if (const Fault fault = mbarrier::init(slot.state, count); fault != Fault::None)
      return s.fail(fault, lane, count);
    const std::uint32_t lanes = lanes_of(s, barrier, address);
    if (lane != std::countr_zero(lanes)) return;
    if (lanes != 1u << lane && s.c.stops_at({.fault = Fault::MbarrierInitRepeated,
                                             .at = s.place(lane),
                                             .cta = s.warp.cta,
                                             .number = std::popcount(lanes)}))
      return;
    const AccessId id = add_lane_access(s, AccessKind::BarrierInit, lanes);
    if (!record(s, id, s.warp.cta, {address, address + mbarrier::size_bytes})) return;
    slot.cta = s.warp.cta;
    slot.address = address;
    slot.live = true;
    slot.phases = s.c.streams.make();
    slot.init = id;
    slot.init_warp = s.warp.number;
    slot.fenced = s.c.streams.make();
    const auto [entry, fresh] =
        s.c.slot_of.try_emplace(mbarrier_object(s.warp.cta, address), s.c.slots.size());
    if (fresh)
      s.c.slots.push_back(std::move(slot));
    else
      s.c.slot(entry->second) = std::move(slot);
  });
}

void MbarrierInval::execute(Step& s) const {
  s.for_each_lane([&](int lane) {
    if (s.stopped()) return;
    if (barrier.cta != own_cta) return s.fail(Fault::MbarrierRemote, lane);
    MbarrierSlot* slot = usable_slot(s, barrier, lane);
    if (slot == nullptr) return;
    slot->live = false;
    const AccessId id = add_lane_access(s, AccessKind::Store, 1u << lane);
    s.cta().provenance.overwrite(bytes_of(*slot), id);
  });
}

// --- counting --------------------------------------------------------------------------------------

namespace {

enum class Order : std::uint8_t { None, Relaxed, Release };  // what an operation may publish
Order order_of(bool relaxed) { return relaxed ? Order::Relaxed : Order::Release; }

// Lanes whose operations the open phase takes. It is over with the last of them, and the others count in the next one.
template <class Operation>
std::uint32_t lanes_of_phase(mbarrier::Mbarrier state, std::uint32_t lanes, Operation operation) {
  const std::uint32_t phase = state.phase;
  std::uint32_t rest = lanes;
  while (rest != 0 && state.phase == phase) {
    if (operation(state) != Fault::None) return lanes;
    rest &= rest - 1;
  }
  return lanes & ~rest;
}

// One operation per lane; `touch` says of what kind. `operation` counts on the state and says what is
// wrong with that.
template <class Operation>
void count_on(Step& s, const Address& barrier, Scope scope, Order order, Touch touch,
              Operation operation, LaneBytes* states = nullptr) {
  MbarrierSlot* slot = nullptr;
  const MbarrierSlot* arrived_on = nullptr;
  std::uint32_t arrived_in = 0;
  Step releases = s;
  releases.lanes = 0;
  s.for_each_lane([&](int lane) {
    if (s.stopped()) return;
    if (slot == nullptr || !barrier.is_uniform()) {
      slot = reach_cta(s, s.cta_of(barrier), lane) ? usable_slot(s, barrier, lane) : nullptr;
      if (slot == nullptr) return;
      releases.lanes = 0;
    }
    if (order != Order::None && (releases.lanes >> lane & 1) == 0) {
      note_if_early(s, *slot);
      releases.lanes = lanes_of_phase(slot->state, s.lanes & ~0u << lane, operation);
      release(releases, *slot, scope, order == Order::Relaxed);
    }
    const std::uint32_t phase = slot->state.phase;
    const std::uint32_t pending = slot->state.pending;
    const std::uint64_t before = mbarrier::state_word(slot->state);
    if (states != nullptr)
      std::memcpy((*states)[static_cast<std::size_t>(lane)].data(), &before, sizeof before);
    if (const Fault fault = operation(slot->state); fault != Fault::None) {
      s.c.fail({.fault = fault,
                .at = s.place(lane),
                .cta = slot->cta,
                .bytes = bytes_of(*slot),
                .number = fault == Fault::MbarrierTxCount ? slot->state.tx
                                                          : std::int64_t{slot->state.expected}});
      return;
    }
    const bool completes = slot->state.phase != phase;
    if (touch.arrives) {
      const bool is_first = arrived_on != slot || arrived_in != phase;
      note_arrival(*slot, s.warp.number, completes ? pending : pending - slot->state.pending,
                   is_first);
      arrived_on = slot;
      arrived_in = phase;
    }
    if (completes) note_completion(s, *slot);
    touch.completes = completes;
    touch.object = object_of(*slot);
    touch.phase = phase;
    note_touch(s.c, touch, slot->state);
  });
  if (order != Order::None) next_epoch(s);
}

}  // namespace

namespace {

// One for each mbarrier that the lanes count on, in their order.
std::vector<Touch> counts_on(const Standing& at, const Address& barrier, Touch touch) {
  std::vector<Touch> touches;
  for (std::uint32_t rest = at.lanes; rest != 0; rest &= rest - 1) {
    touch.object = mbarrier_object(at.cta_of(barrier), at.address(barrier, std::countr_zero(rest)));
    if (touches.empty() || touches.back().object != touch.object) touches.push_back(touch);
    if (barrier.is_uniform()) break;
  }
  return touches;
}

}  // namespace

std::vector<Touch> MbarrierArrive::touches(const Standing& at) const {
  return counts_on(at, barrier, {.arrives = true});
}
std::vector<Touch> MbarrierArriveExpectTx::touches(const Standing& at) const {
  return counts_on(at, barrier, {.arrives = true, .expects = true});
}
std::vector<Touch> MbarrierExpectTx::touches(const Standing& at) const {
  return counts_on(at, barrier, {.expects = true});
}
std::vector<Touch> MbarrierCompleteTx::touches(const Standing& at) const {
  return counts_on(at, barrier, {.copied = bytes});
}

std::string MbarrierArrive::text(const Names& names) const {
  return joined("mbarrier.arrive", drop ? "_drop" : "", completes ? "" : ".noComplete",
                relaxed ? ".relaxed" : ".release", text_of(scope), " [", names.at(barrier), "]");
}
std::string MbarrierArriveExpectTx::text(const Names& names) const {
  return joined("mbarrier.arrive", drop ? "_drop" : "", ".expect_tx",
                relaxed ? ".relaxed" : ".release", text_of(scope), " [", names.at(barrier), "], ",
                bytes);
}
std::string MbarrierExpectTx::text(const Names& names) const {
  return joined("mbarrier.expect_tx [", names.at(barrier), "], ", bytes);
}
std::string MbarrierCompleteTx::text(const Names& names) const {
  return joined("mbarrier.complete_tx [", names.at(barrier), "], ", bytes);
}

void MbarrierArrive::execute(Step& s) const {
  const auto arrive = [&](mbarrier::Mbarrier& state) {
    if (!completes) return mbarrier::arrive_without_completing(state, count, drop);
    return drop ? mbarrier::arrive_drop(state, count) : mbarrier::arrive(state, count);
  };
  count_on(s, barrier, scope, order_of(relaxed), {.arrives = true}, arrive, states);
}

void MbarrierArriveExpectTx::execute(Step& s) const {
  count_on(
      s, barrier, scope, order_of(relaxed), {.arrives = true, .expects = true},
      [&](mbarrier::Mbarrier& state) { return mbarrier::arrive_expect_tx(state, bytes, drop); },
      states);
}

void MbarrierExpectTx::execute(Step& s) const {
  count_on(s, barrier, Scope::Cluster, Order::None, {.expects = true},
           [&](mbarrier::Mbarrier& state) { return mbarrier::expect_tx(state, bytes); });
}

void MbarrierCompleteTx::execute(Step& s) const {
  count_on(s, barrier, Scope::Cluster, Order::None, {.copied = bytes},
           [&](mbarrier::Mbarrier& state) { return mbarrier::complete_tx(state, bytes); });
}

// --- waits -----------------------------------------------------------------------------------------

namespace {

Touch wait_on(const Standing& at, const Address& barrier, int parity) {
  const std::uint32_t address = at.address(barrier, at.first_lane());
  return {.object = mbarrier_object(at.cta_of(barrier), address),
          .kind = TouchKind::Wait,
          .parity = parity};
}

}  // namespace

std::vector<Touch> MbarrierTryWait::touches(const Standing& at) const {
  return {wait_on(at, barrier, parity)};
}
std::vector<Touch> MbarrierTestWait::touches(const Standing& at) const {
  return {wait_on(at, barrier, parity)};
}

namespace {

bool is_phase_open(const Standing& at, const Address& barrier, int parity) {
  const int index = at.c.find_slot(at.cta_of(barrier), at.address(barrier, at.first_lane()));
  if (index < 0) return false;  // to fault
  const MbarrierSlot& slot = at.c.slot(index);
  return slot.live && !mbarrier::test_parity(slot.state, static_cast<std::uint32_t>(parity));
}

Waiting waiting_for_phase(const Standing& at, const Address& barrier, int parity) {
  Waiting w = at.waits_for(WaitFor::Mbarrier);
  w.object = at.address(barrier, at.first_lane());
  w.parity = parity;
  const int index = at.c.find_slot(at.warp.cta, w.object);
  if (index < 0) return w;
  const MbarrierSlot& slot = at.c.slot(index);
  w.phase = slot.state.phase;
  w.missing = slot.state.pending;
  w.expected = slot.state.expected;
  w.tx_bytes = slot.state.tx;
  w.copies_in_flight = std::count_if(at.c.copies.begin(), at.c.copies.end(),
                                     [&](const Copy& copy) { return copy.slot == index; });
  return w;
}

}  // namespace

bool MbarrierTryWait::is_blocked(const Standing& at) const {
  return is_phase_open(at, barrier, parity);
}
bool MbarrierTestWait::is_blocked(const Standing& at) const {
  return goes_last && is_phase_open(at, barrier, parity);
}

Waiting MbarrierTryWait::waiting(const Standing& at) const {
  return waiting_for_phase(at, barrier, parity);
}
Waiting MbarrierTestWait::waiting(const Standing& at) const {
  return waiting_for_phase(at, barrier, parity);
}

Fault MbarrierTestWait::check(const Bounds&) const { return check_predicate(predicate); }

std::string MbarrierTryWait::text(const Names& names) const {
  return joined("mbarrier.try_wait.parity", relaxed ? ".relaxed" : ".acquire", text_of(scope), " [",
                names.at(barrier), "], ", parity);
}
std::string MbarrierTestWait::text(const Names& names) const {
  return joined("mbarrier.test_wait.parity", relaxed ? ".relaxed" : ".acquire", text_of(scope),
                " p", predicate, ", [", names.at(barrier), "], ", parity);
}

namespace {

// A wait that has passed: whether it told its warp anything new.
void note_wait(Step& s, const MbarrierSlot& slot) {
  const std::uint32_t phase = slot.state.phase;
  ++s.warp.waits_passed;
  const bool seen = std::max(s.warp.clock.at(slot.phases), s.warp.lost.at(slot.phases)) >= phase;
  s.warp.stale_wait = seen ? s.place() : Place{};
  const bool waited_fresh =
      std::count(s.warp.fresh_waits.begin(), s.warp.fresh_waits.end(), slot.phases) != 0;
  s.warp.stale_is_fresh = phase == 0 && !waited_fresh;
  if (s.warp.stale_is_fresh) s.warp.fresh_waits.push_back(slot.phases);
}

}  // namespace

void MbarrierTryWait::execute(Step& s) const {
  if (barrier.cta != own_cta) return s.fail(Fault::MbarrierRemote, s.first_lane());
  MbarrierSlot* slot = usable_slot(s, barrier, s.first_lane());
  if (slot == nullptr) return;
  const std::uint32_t phase = slot->state.phase;
  const std::uint64_t object = object_of(*slot);
  s.c.touches.push_back(
      {.object = object, .kind = TouchKind::Wait, .phase = phase, .parity = parity});
  s.warp.last_wait = s.place();
  note_wait(s, *slot);
  observe(s, *slot);
  acquire(s, *slot, scope, relaxed);
}

void MbarrierTestWait::execute(Step& s) const {
  if (barrier.cta != own_cta) return s.fail(Fault::MbarrierRemote, s.first_lane());
  MbarrierSlot* slot = usable_slot(s, barrier, s.first_lane());
  if (slot == nullptr) return;
  const std::uint64_t object = object_of(*slot);
  s.c.touches.push_back(
      {.object = object, .kind = TouchKind::Wait, .phase = slot->state.phase, .parity = parity});
  const bool passed = mbarrier::test_parity(slot->state, static_cast<std::uint32_t>(parity));
  s.warp.predicates[static_cast<std::size_t>(predicate)] = passed;
  if (!passed) return;
  s.warp.last_wait = s.place();
  if (goes_last) note_wait(s, *slot);
  observe(s, *slot);
  acquire(s, *slot, scope, relaxed);
}

// --- the fence of inits ----------------------------------------------------------------------------

void FenceMbarrierInit::execute(Step& s) const {
  for (const MbarrierSlot& slot : s.c.slots) {
    if (slot.init_warp != s.warp.number || (s.lanes >> s.c.log[slot.init].lane & 1) == 0) continue;
    s.warp.clock.raise(slot.fenced, 1);
    s.warp.fenced_inits.raise(slot.fenced, 1);
  }
}

}  // namespace tcq::machine
