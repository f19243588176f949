// Tensor maps: patches, fences, and who may use a map as it is; the rules are in tensor_maps.h.
#include "sim/async/executor.h"

namespace tcq::machine {

MapActor Executor::map_actor() const {
  return {place(first_lane()), warp_.cta, lanes_, c_.streams_.epochs(warp_.number), warp_.clock};
}

void Executor::execute(const TensormapReplace& i) {
  const MapVerdict verdict = map_at(i.map).patch(map_actor(), &i.value);
  settle(verdict, i.map);
}

void Executor::execute(const FenceProxyTensormap& i) {
  if (i.direction == TensormapFence::Acquire) return map_at(i.map).acquire(map_actor(), i.scope);
  for (PatchableMap& map : c_.maps_) map.release(map_actor(), i.scope);
}

// False if the verdict is a Fault.
bool Executor::settle(const MapVerdict& verdict, int map) {
  Finding finding;
  finding.at = place(first_lane());
  finding.earlier = verdict.earlier;
  finding.hint = verdict.hint;
  finding.map = map;
  switch (verdict.gap) {
    case MapGap::None: return true;
    case MapGap::Unordered:
      finding.fault = Fault::DataRace;
      is_known_too_weakly(verdict.stream, verdict.tick, finding.fault, finding.hint);
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
  }
  c_.fail(std::move(finding));
  return false;
}

bool Executor::may_use_map(int map) {
  if (!settle(map_at(map).check_use(map_actor()), map)) return false;
  const Fault fault = tma::check(*map_at(map).value());
  if (fault != Fault::None) fail(fault, first_lane());
  return fault == Fault::None;
}

void Executor::note_map(Copy& copy, int map) {
  copy.map_number = map;
  copy.map = map_at(map).value();
  if (!map_at(map).is_patched()) return;
  const Access& access = c_.log_[copy.slot >= 0 ? copy.write : copy.read];
  map_at(map).begin_use(copy.id, access.stream, {copy.statement, copy.warp, copy.lane});
}

void Executor::end_map_use(Cluster& c, const Copy& copy, Tick tick) {
  if (copy.map_number < 0) return;
  PatchableMap& map = c.maps_[static_cast<std::size_t>(copy.map_number)];
  if (map.is_patched()) map.end_use(copy.id, tick);
}

}  // namespace tcq::machine
