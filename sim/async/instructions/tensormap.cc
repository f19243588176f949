#include "sim/async/instructions/tensormap.h"

#include "sim/async/copies.h"

namespace tcq::machine {

Fault TensormapReplace::check(const Bounds& bounds) const { return check_map(map, bounds); }
Fault FenceProxyTensormap::check(const Bounds& bounds) const {
  return direction == TensormapFence::Release ? Fault::None : check_map(map, bounds);
}

void TensormapReplace::writes_global(GlobalWrites& writes) const { writes.add_patch(map, value); }

std::string TensormapReplace::text(const Names& names) const {
  return joined("tensormap.replace [", names.map(map), "]");
}
std::string FenceProxyTensormap::text(const Names& names) const {
  const std::string opcode = "fence.proxy.tensormap::generic";
  return direction == TensormapFence::Release
             ? joined(opcode, ".release", text_of(scope))
             : joined(opcode, ".acquire", text_of(scope), " [", names.map(map), "], 128");
}

void TensormapReplace::execute(Step& s) const {
  const auto& kept = std::get<TensormapReplace>(*s.kept());
  settle(s, map_at(s, map).patch(map_actor(s), &kept.value), map);
}

void FenceProxyTensormap::execute(Step& s) const {
  if (direction == TensormapFence::Acquire) return map_at(s, map).acquire(map_actor(s), scope);
  for (PatchableMap& each : s.c.maps) each.release(map_actor(s), scope);
}

}  // namespace tcq::machine
