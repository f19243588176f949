#include "sim/async/copies.h"

#include <algorithm>
#include <utility>

#include "sim/async/access.h"
#include "sim/async/mbarrier_slots.h"

namespace tcq::machine {

SharedMemory CopyData::source() const {
  SharedMemory memory(copy.box.begin, static_cast<std::uint32_t>(copy.captured.size()));
  std::copy(copy.captured.begin(), copy.captured.end(), memory.data());
  return memory;
}

namespace {

void move(ClusterState& c, const Copy& copy) {
  copy.move(*copy.what, CopyData{copy, c.global.bytes(), c});
}

}  // namespace

void complete_load(ClusterState& c, AgentId id) {
  Copy& copy = *c.find_copy(id);
  move(c, copy);
  if (asks_launch(copy)) c.touches.push_back(launch_touch);
  MbarrierSlot& slot = c.slot(copy.slot);
  const Place at{copy.statement, copy.warp, copy.lane};
  const ByteRange barrier = bytes_of(slot);
  if (!slot.live)
    return c.fail(
        {.fault = Fault::MbarrierNotInitialized, .at = at, .cta = slot.cta, .bytes = barrier});
  const std::uint32_t phase = slot.state.phase;
  if (const Fault fault = mbarrier::complete_tx(slot.state, copy.bytes); fault != Fault::None)
    return c.fail(
        {.fault = fault, .at = at, .cta = slot.cta, .bytes = barrier, .number = slot.state.tx});
  const Tick tick = phase + 1;
  const bool completes = slot.state.phase != phase;
  const int issuer = c.warp(copy.warp).cta;
  slot.lost.raise(c.cta(issuer).start, 1);
  if (completes) note_completion(slot);
  note_touch(
      c, {.object = object_of(slot), .phase = phase, .completes = completes, .copied = copy.bytes},
      slot.state);
  c.log[copy.write].tick = tick;
  if (copy.global_read != 0) c.log[copy.global_read].tick = tick;
  end_map_use(c, copy, tick);
  c.note_exit_use(copy.cta, {slot.phases, tick, at, copy.box, issuer != copy.cta});
  if (copy.read != 0) {
    c.log[copy.read].tick = tick;
    c.note_exit_use(issuer, {slot.phases, tick, at, copy.box, false});
  }
  c.drop_copy(id);
}

void read_source(ClusterState& c, AgentId id) {
  Copy& copy = *c.find_copy(id);
  if (copy.is_read) return;
  copy.is_read = true;
  const SharedMemory& shared = c.cta(copy.cta).shared;
  const std::uint8_t* first = shared.data() + (copy.box.begin - shared.base());
  copy.captured.assign(first, first + (copy.box.end - copy.box.begin));
}

void write_destination(ClusterState& c, AgentId id) {
  Copy& copy = *c.find_copy(id);
  if (copy.is_written) return;
  copy.is_written = true;
  move(c, copy);
  copy.captured.clear();
}

// --- tensor maps -----------------------------------------------------------------------------------

MapActor map_actor(const Step& s) {
  return {s.place(s.first_lane()), s.warp.cta, s.lanes, s.c.streams.epochs(s.warp.number),
          s.warp.clock};
}

bool settle(Step& s, const MapVerdict& verdict, int map) {
  Finding finding;
  finding.at = s.place(s.first_lane());
  finding.earlier = verdict.earlier;
  finding.hint = verdict.hint;
  finding.map = map;
  switch (verdict.gap) {
    case MapGap::None: return true;
    case MapGap::Unordered:
      finding.fault = Fault::DataRace;
      is_known_too_weakly(s, verdict.stream, verdict.tick, finding.fault, finding.hint);
      break;
    case MapGap::Release:
    case MapGap::Acquire:
      finding.fault = Fault::TensormapFenceMissing;
      finding.missing =
          verdict.gap == MapGap::Release ? TensormapFence::Release : TensormapFence::Acquire;
      break;
    case MapGap::NarrowRelease:
    case MapGap::NarrowAcquire: finding.fault = Fault::ScopeTooNarrow; break;
    case MapGap::InUse: finding.fault = Fault::TensormapInUse; break;
    case MapGap::DrainAssumed: finding.fault = Fault::TensormapDrainAssumed; break;
  }
  return !s.c.stops_at(std::move(finding));
}

bool may_use_map(Step& s, int map) {
  if (!settle(s, map_at(s, map).check_use(map_actor(s)), map)) return false;
  const Fault fault = tma::check(*map_at(s, map).value(), s.c.program.launch().capability);
  if (fault != Fault::None) s.fail(fault, s.first_lane());
  return fault == Fault::None;
}

void note_map(Step& s, Copy& copy, int map) {
  copy.map_number = map;
  copy.map = map_at(s, map).value();
  if (!map_at(s, map).is_patched()) return;
  const Access& access = s.c.log[copy.slot >= 0 ? copy.write : copy.read];
  map_at(s, map).begin_use(copy.id, access.stream, {copy.statement, copy.warp, copy.lane});
}

void end_map_use(ClusterState& c, const Copy& copy, Tick tick) {
  if (copy.map_number < 0) return;
  PatchableMap& map = c.maps[static_cast<std::size_t>(copy.map_number)];
  if (map.is_patched()) map.end_use(copy.id, tick);
}

}  // namespace tcq::machine
