// What the lanes of one warp know of each other, and which of them know what the warp learnt: the lanes of a compiled
// kernel are threads of their own. Programs written in C++ have warps that are one thread each, and none of this.
//
// A warp's clock (clock.h) holds what some lane of it knows; here stands which. Accesses carry the warp's epoch, and an
// epoch ends wherever lanes meet. Three grades, of two accesses by different lanes i and j of one warp:
//
//   ordered   bar.warp.sync of both, a barrier, or a release by i that j acquired stands between: right
//   met       something at which they waited for each other, and which PTX gives no order of memory (shfl, vote, match,
//             redux, elect, mma, ldmatrix, wgmma and what else is .sync): disputed. So are two volatile accesses
//   apart     nothing: undefined, though the hardware may well have executed both as one
//
// The same grades hold for what comes from outside. Lane i arrives: it hands on what lane i did and knows (hand_on in
// lane_sync.h), and of other lanes what is ordered before; lane i waits: only lane i knows (`parts`) until lanes are
// ordered. Example: all lanes store in epoch 3; shfl.sync ends it, met up to 3; lane 1 loads what lane 0 stored: met. After
// bar.warp.sync in epoch 4 all lanes are ordered up to 4, and the same load is right.
//
// Of two accesses by lanes the bytes decide which lanes they are (provenance.h); one lane is in program order. Where all
// lanes that live take part, a number stands for the pairs of lanes (Meetings), so that the usual warp costs nothing.
//
// Source: PTX ISA 9.2, 8.9 "Ordering of memory operations", 9.7.13.2 "bar.warp.sync" (orders memory among the lanes
// of its mask); 9.7.9.6 "shfl.sync", 9.7.13.9 "vote.sync", 9.7.13.14 "elect.sync" (wait for the lanes, and say nothing
// of memory).
// Inferred: which of the .sync instructions order memory in practice, if any, is not known; refuted by a published kernel
// that shows old bytes behind one. Lanes that have ended need not be ordered behind a full mask; a release by those that
// live does not hand on what they did since.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/async/clock.h"
#include "sim/async/finding.h"

namespace tcq::machine {

// Up to which epoch lanes know each other's accesses.
class Meetings {
 public:
  bool all_know(Tick epoch) const { return epoch <= all_; }
  Tick known(int lane, int of) const {
    return pairs_.empty() ? all_ : std::max(all_, pairs_[index(lane, of)]);
  }
  Tick all() const { return all_; }

  void raise_all(Tick epoch) { all_ = std::max(all_, epoch); }
  void meet_all(Tick epoch) {
    raise_all(epoch);
    pairs_.clear();
  }
  // What one of the lanes knew all of them know, and each other's accesses up to the epoch.
  void meet(std::uint32_t lanes, Tick epoch);
  void learn(std::uint32_t lanes, int of, Tick epoch);

 private:
  static std::size_t index(int lane, int of) { return static_cast<std::size_t>(32 * lane + of); }
  void make_pairs() {
    if (pairs_.empty()) pairs_.assign(std::size_t{32} * 32, all_);
  }

  Tick all_ = 0;
  std::vector<Tick> pairs_;  // empty: all lanes alike
};

// What some lanes learnt of other warps and of copies, and the others did not.
struct LanePart {
  std::uint32_t lanes = 0;
  std::uint32_t met = 0;  // lanes that have met one of them since
  Clock clock;
  Place at;  // where they learnt it
};

struct LaneOrder {
  bool followed = false;  // the lanes are threads of their own
  std::uint32_t alive = ~0u;
  std::uint32_t touched = 0;  // lanes that accessed memory since all were ordered
  Tick last_touch = 0;        // the epoch of the last such access
  Meetings ordered, met;
  Clock common;  // what every lane knows: if there are parts
  std::vector<LanePart> parts;

  bool is_everybody(std::uint32_t lanes) const { return (alive & ~lanes) == 0; }
  void forget_parts() { parts.clear(); }
};

// The verdict on two accesses as to lanes: those of the worst pair, if any.
enum class LaneGrade : std::uint8_t { Ordered, Met, Apart };
struct LanePair {
  LaneGrade grade = LaneGrade::Ordered;
  int earlier = -1, next = -1;  // -1: no lanes to be named
  ByteRange bytes;
};

// Of accesses by one warp.
LanePair grade_of_lanes(const Access& earlier, const Access& next, ByteRange run,
                        const LaneOrder& order);
// Of an access that the warp knows to be over: do the lanes of `next` know it?
LanePair grade_of_parts(const Access& earlier, const Access& next, ByteRange run,
                        const LaneOrder& order);
// The part that knows it.
const LanePart* knowing_part(const LaneOrder& order, Stream stream, Tick tick);

}  // namespace tcq::machine
