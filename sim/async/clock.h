// Vector clocks over streams: what a warp knows to have happened.
//
// A stream is anything whose steps happen in one order: the epochs of a warp (an epoch ends with
// each release), its proxy fences, the wgmma-groups of a warpgroup, the bulk groups of a thread, the
// phases of an mbarrier. Something that happened at (stream, tick) happened before a warp's next
// instruction exactly if clock.at(stream) >= tick. Which operations publish and acquire clocks:
// cluster.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace tcq::machine {

using Stream = std::uint32_t;
using Tick = std::uint32_t;

// Of operations that have not completed: no clock reaches it.
inline constexpr Tick never = std::numeric_limits<Tick>::max();

class Clock {
 public:
  Tick at(Stream stream) const { return stream < ticks_.size() ? ticks_[stream] : 0; }

  void raise(Stream stream, Tick tick) {
    if (stream >= ticks_.size()) ticks_.resize(stream + 1);
    ticks_[stream] = std::max(ticks_[stream], tick);
  }

  void lower(Stream stream, Tick tick) {
    if (stream < ticks_.size()) ticks_[stream] = std::min(ticks_[stream], tick);
  }

  void join(const Clock& other) {
    if (ticks_.size() < other.ticks_.size()) ticks_.resize(other.ticks_.size());
    for (std::size_t i = 0; i < other.ticks_.size(); ++i)
      ticks_[i] = std::max(ticks_[i], other.ticks_[i]);
  }

  std::size_t size() const { return ticks_.size(); }

 private:
  std::vector<Tick> ticks_;
};

}  // namespace tcq::machine
