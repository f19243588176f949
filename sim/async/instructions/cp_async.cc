#include "sim/async/instructions/cp_async.h"

#include <algorithm>
#include <cstring>

#include "sim/async/access.h"
#include "sim/async/instructions/lane_bytes.h"
#include "sim/async/lane_sync.h"
#include "sim/async/mbarrier_slots.h"

namespace tcq::machine {
namespace {

// An access that nobody knows to be over. 0: a Fault.
AccessId begin(Step& s, AccessKind kind, const LaneAddresses& where, const LaneStride& stride) {
  Access access = generic_access(s, kind);
  access.tick = never;
  access.loaded = Loaded::Lost;
  access.is_copied = true;
  describe(s.c.log, access, where, stride, s.lanes);
  note_lanes(s, access);
  const AccessId id = s.c.log.add(access);
  return record_lanes(s, where, stride, id) ? id : 0;
}

// From here on, as if it were an access of the warp now.
void land(Step& s, AccessId id) {
  if (id == 0) return;
  Access& access = s.c.log[id];
  note_lanes(s, access);
  access.tick = s.warp.clock.at(access.stream);
  access.fences = s.warp.fences;
  access.loaded = access.kind == AccessKind::Load ? Loaded::Used : Loaded::Lost;
  if (access.kind == AccessKind::Load) access.operation = access.tick;
}

// Whoever knows that the mbarrier's phase is over knows that the access is.
void land_with(Step& s, AccessId id, const MbarrierSlot& slot) {
  if (id == 0) return;
  land(s, id);
  Access& access = s.c.log[id];
  access.stream = slot.phases;
  access.epoch = 0;  // lanes know it as others do: by the mbarrier
  access.tick = slot.state.phase + 1;
  if (access.kind == AccessKind::Load) access.operation = access.tick;
}

}  // namespace

std::string CpAsync::text(const Names&) const {
  return joined("cp.async.shared.global ", to.bytes, ", ", from.bytes);
}

void CpAsync::execute(Step& s) const {
  const LaneStride to_stride = stride_of(to, s.lanes), from_stride = stride_of(from, s.lanes);
  if (!bytes_exist(s, to, to_stride)) return;
  if (from.bytes > 0 && !bytes_exist(s, from, from_stride, to.bytes)) return;
  LaneCopy copy;
  copy.waiting = s.lanes;
  copy.write = begin(s, AccessKind::Store, to, to_stride);
  if (copy.write == 0) return;
  if (from.bytes > 0) copy.read = begin(s, AccessKind::Load, from, from_stride);
  if (s.stopped()) return;
  const auto width = static_cast<std::size_t>(to.bytes);
  const auto read = static_cast<std::size_t>(from.bytes);
  const LaneMemory target(s.c, s.warp.cta, to), source(s.c, s.warp.cta, from);
  s.for_each_lane([&](int lane) {
    std::memset(target.at(lane), 0, width);
    if (read > 0) std::memcpy(target.at(lane), source.at(lane), read);
  });
  s.warp.lane_copies.push_back(copy);
}

void CpAsyncCommit::execute(Step& s) const {
  s.for_each_lane([&](int lane) { ++s.warp.copy_groups[static_cast<std::size_t>(lane)]; });
  for (LaneCopy& copy : s.warp.lane_copies)
    s.for_each_lane([&](int lane) {
      const auto l = static_cast<std::size_t>(lane);
      if (copy.group[l] == 0) copy.group[l] = s.warp.copy_groups[l];
    });
}

std::string CpAsyncWait::text(const Names&) const {
  return all ? "cp.async.wait_all" : joined("cp.async.wait_group ", pending);
}

void CpAsyncWait::execute(Step& s) const {
  const auto is_over = [&](const LaneCopy& copy, int lane) {
    const auto l = static_cast<std::size_t>(lane);
    return all || (copy.group[l] != 0 && s.warp.copy_groups[l] - copy.group[l] >= pending);
  };
  std::erase_if(s.warp.lane_copies, [&](LaneCopy& copy) {
    s.for_each_lane([&](int lane) {
      if (is_over(copy, lane)) copy.waiting &= ~(1u << lane);
    });
    if (copy.waiting != 0) return false;
    land(s, copy.write);
    land(s, copy.read);
    return true;
  });
}

void CpAsyncTrack::execute(Step& s) const {
  const MbarrierSlot* slot = usable_slot(s, barrier, s.first_lane());
  if (slot == nullptr) return;
  const bool has_copies = std::ranges::any_of(
      s.warp.lane_copies, [&](const LaneCopy& copy) { return (copy.waiting & s.lanes) != 0; });
  if (has_copies && s.warp.order_of_lanes.is_everybody(s.lanes))
    s.warp.clock.raise(s.c.streams.make_tracked(s.warp.number), s.c.epoch(s.warp.number));
  std::erase_if(s.warp.lane_copies, [&](LaneCopy& copy) {
    copy.waiting &= ~s.lanes;
    if (copy.waiting != 0) return false;
    land_with(s, copy.write, *slot);
    land_with(s, copy.read, *slot);
    return true;
  });
}

}  // namespace tcq::machine
