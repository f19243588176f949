// One warp that executes one statement: what every instruction's execute() is handed, and what it asks
// of the rest of the machine.
//
// A Step lives for one statement. What blocks a warp was asked before (is_blocked), so that execution
// never waits. A Fault goes to fail() and ends the run. The rest of what instructions share:
// register_file.h, access.h, mbarrier_slots.h, warpgroups.h, copies.h, tmem_access.h.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "sim/async/cluster_state.h"

namespace tcq::machine {

// Of the warp's lane 0, in the role that it stands in.
inline int role_thread(const ClusterState& c, const Warp& warp) {
  const Segment& segment = c.program.segments()[warp.path[warp.segment]];
  return (warp.index - segment.first_warp) * warp_threads;
}

// A warp before a statement.
struct Standing {
  const ClusterState& c;
  const Warp& warp;
  std::uint32_t number = 0;         // of the statement
  std::uint32_t lanes = all_lanes;  // that are to execute it

  const Cta& cta() const { return c.cta(warp.cta); }
  int cta_of(const Address& address) const {
    return address.cta == own_cta ? warp.cta : address.cta;
  }
  // Where the lane's mbarrier is; a wait is for that of the first lane.
  std::uint32_t address(const Address& barrier, int lane) const {
    return barrier.of(role_thread(c, warp) + lane);
  }
  int first_lane() const { return std::countr_zero(lanes); }
  // What it waits for; the caller fills in the rest.
  Waiting waits_for(WaitFor what) const {
    return {.at = {number, warp.number, -1}, .what = what, .cta = warp.cta};
  }
};

struct Step {
  ClusterState& c;
  Warp& warp;
  const Instruction& what;
  std::uint32_t number = 0;  // of the statement
  std::uint32_t lanes = 0;
  int first_thread = 0;  // of lane 0, in the role

  // --- who executes ---
  int thread_of(int lane) const { return first_thread + lane; }
  Place place(int lane = -1) const {
    return {static_cast<std::int64_t>(number), warp.number, lane};
  }
  int first_lane() const { return std::countr_zero(lanes); }
  template <class Visit>
  void for_each_lane(Visit visit) const {
    visit_lanes(lanes, visit);
  }
  bool all_lanes_take_part() {  // else a Fault
    if (lanes != all_lanes) fail(Fault::WarpDivergent, first_lane());
    return lanes == all_lanes;
  }

  // --- where ---
  Cta& cta() const { return c.cta(warp.cta); }
  int cta_of(const Address& address) const {
    return address.cta == own_cta ? warp.cta : address.cta;
  }
  std::array<std::uint32_t, warp_threads>& reg(int index) const {
    return warp.registers.of_reg[static_cast<std::size_t>(index)];
  }
  Knowledge knowledge() const { return knowledge(warp.clock); }
  Knowledge knowledge(const Clock& clock) const {
    const LaneOrder& order = warp.order_of_lanes;
    const int warps = c.program.warps_per_cta();
    return {clock, warp.at_fence,    lanes, order.followed ? &order : nullptr,
            false, warp.cta * warps, warps};
  }
  Standing standing() const { return {c, warp, number, lanes}; }
  // The instruction itself, for as long as the cluster lives.
  const Instruction* kept() const { return c.keep(what); }

  // --- findings ---
  bool stopped() const { return c.finding.has_value(); }
  void fail(Fault fault, int lane = -1, std::int64_t operand = 0) {
    c.fail({.fault = fault, .at = place(lane), .number = operand});
  }
};

}  // namespace tcq::machine
