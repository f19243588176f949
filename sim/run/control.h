// How a group of lanes goes on: branches and joins, ends, and what only moves registers.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/run/executor.h"

namespace tcq::run {

// The warp's state at the kernel's first instruction, its constants in their slots.
void begin_warp(const KernelFeeder& feeder, machine::ClusterState& c, machine::Warp& warp,
                WarpState& state);

// Until the group stands before statements, waits for other lanes, or is gone (no lanes). Groups that it makes or
// sets free go onto `ready`.
void run_group(Executor x, std::vector<Group*>& ready);

// Lanes that wait to meet others go on without them.
std::vector<Group*> part_joins(WarpState& state);

// Were the lanes' predicate false: would they come back to this instruction, with the same operands, and nothing
// that others could see? `Changed`: with other registers, as a loop that counts, which may end by itself.
enum class ComesBack : std::uint8_t { No, Changed, Same };
ComesBack would_come_back(Executor& x, Slot predicate);

}  // namespace tcq::run
