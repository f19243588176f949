// What lanes learn and hand on when they synchronise; what a warp then knows of them: lane_order.h.
//
// Every instruction that acquires learns, every one that releases hands on. Where all lanes that live take part, and in
// programs whose warps are one thread, that is a join of clocks and nothing else.
#pragma once

#include "sim/async/step.h"

namespace tcq::machine {

// Lanes of a compiled kernel wait for each other; `orders`: and are ordered, as by bar.warp.sync.
// A meeting of lanes, or one that orders them, would change nothing.
inline bool have_met(const Warp& warp, bool orders) {
  const LaneOrder& order = warp.order_of_lanes;
  if (!order.parts.empty()) return false;
  return order.touched == 0 || (!orders && order.met.all_know(order.last_touch));
}
void lanes_meet(ClusterState& c, Warp& warp, std::uint32_t lanes, bool orders);

// The step's lanes acquire.
void learn(Step& s, const Clock& clock);
void learn(Step& s, std::uint32_t lanes, Stream stream, Tick tick);

// Behind a barrier of the CTA: the warp goes by what relaxed reads of others found, and what rests on that alone is told apart.
void assume(Step& s, const Clock& found);
Clock firm_clock(const Warp& warp);  // without it

// The step's lanes release: what they know goes to `to`. What other lanes of the warp did or learnt does not; it is
// lost, and the weak sync that lost it is this statement.
void hand_on(Step& s, Clock& to, Clock& lost, std::uint64_t object);

// The step's lanes access memory, each of them as a thread of its own: for how the access is to be met.
void note_lanes(Step& s, Access& access);

}  // namespace tcq::machine
