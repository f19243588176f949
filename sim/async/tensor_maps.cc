#include "sim/async/tensor_maps.h"

#include <algorithm>

namespace tcq::machine {

MapVerdict PatchableMap::patch(const MapActor& actor, const tma::TensorMap* value) {
  if (patched() && !is_ordered(actor.knows)) return unordered();
  MapVerdict verdict;
  for (const Use& use : uses_) {
    if (actor.knows.at(use.stream) >= use.tick) continue;
    if (use.drained_tick == never || actor.knows.at(use.drained) < use.drained_tick)
      return {.gap = MapGap::InUse, .earlier = use.at};
    verdict = {.gap = MapGap::DrainAssumed, .earlier = use.at};
  }
  uses_.clear();
  acquires_.clear();
  value_ = value;
  patch_at_ = actor.at;
  cta_ = actor.cta;
  stream_ = actor.stream;
  tick_ = actor.knows.at(actor.stream);
  any_scope_ = wide_scope_ = {.missing = actor.lanes, .at = {}};
  return verdict;
}

void PatchableMap::release(const MapActor& actor, Scope scope) {
  if (!patched() || actor.stream != stream_) return;
  const auto count = [&](Release& release) {
    if (release.missing == 0) return;
    release.missing &= ~actor.lanes;
    release.at = actor.at;
    if (release.missing == 0) release.tick = actor.knows.at(stream_);
  };
  count(any_scope_);
  if (scope == Scope::Cluster) count(wide_scope_);
}

// It serves only if the release, and with it the patch, is known by now.
void PatchableMap::acquire(const MapActor& actor, Scope scope) {
  if (!patched() || !release_for(actor.cta).is_known(stream_, actor.knows)) return;
  const bool is_narrow = scope == Scope::Cta && actor.cta != cta_;
  const bool known = std::any_of(acquires_.begin(), acquires_.end(), [&](const Acquire& a) {
    return a.stream == actor.stream && a.is_narrow == is_narrow;
  });
  if (known) return;
  const Tick tick = actor.knows.at(actor.stream);
  acquires_.push_back({actor.cta, actor.stream, tick, is_narrow, actor.at});
}

const PatchableMap::Acquire* PatchableMap::find_acquire(const MapActor& actor,
                                                        bool is_narrow) const {
  const auto found = std::find_if(acquires_.begin(), acquires_.end(), [&](const Acquire& a) {
    return a.cta == actor.cta && a.is_narrow == is_narrow && actor.knows.at(a.stream) >= a.tick;
  });
  return found == acquires_.end() ? nullptr : &*found;
}

MapVerdict PatchableMap::check_use(const MapActor& actor) const {
  if (!patched()) return {};
  if (!is_ordered(actor.knows)) return unordered();
  if (!release_for(actor.cta).is_known(stream_, actor.knows)) {
    if (any_scope_.is_known(stream_, actor.knows))
      return {.gap = MapGap::NarrowRelease, .earlier = patch_at_, .hint = any_scope_.at};
    return {.gap = MapGap::Release, .earlier = patch_at_};
  }
  if (find_acquire(actor, false) != nullptr) return {};
  if (const Acquire* narrow = find_acquire(actor, true))
    return {.gap = MapGap::NarrowAcquire, .earlier = patch_at_, .hint = narrow->at};
  return {.gap = MapGap::Acquire, .earlier = patch_at_};
}

void PatchableMap::begin_use(std::uint64_t copy, Stream stream, Place at) {
  uses_.push_back({copy, stream, never, at});
}

// Whoever knows this tick of the stream knows the earlier ones.
void PatchableMap::end_use(std::uint64_t copy, Tick tick) {
  for (Use& use : uses_) {
    if (use.copy != copy) continue;
    use.tick = tick;
    const Stream stream = use.stream;
    std::erase_if(uses_, [&](const Use& other) {
      return other.stream == stream && other.tick <= tick && other.copy != copy;
    });
    return;
  }
}

void PatchableMap::drain(int warp, int lane, Stream epochs, Tick now) {
  for (Use& use : uses_) {
    if (use.at.warp != warp || use.at.lane != lane || use.drained_tick != never) continue;
    use.drained = epochs;
    use.drained_tick = now;
  }
}

}  // namespace tcq::machine
