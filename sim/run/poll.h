// Loops that wait by looking at memory, with whatever loads, votes, clocks and stores of equal values they do it: a round that
// has changed nothing, neither registers nor memory, comes back to itself until bytes change that it looked at.
//
// Example: `do { v = ld.volatile(flags + lane); t = clock64(); } while (vote.any(v == 0) && t - begin < limit)`. While a round
// changes nothing its clock stands still, so that a time limit ends no wait: time is not modelled.
#pragma once

#include <cstdint>
#include <span>

#include "sim/run/executor.h"

namespace tcq::run {

// Before a strong access is issued: waits for nothing, unless it would begin a round once more.
void wait_for_change(Executor& x, machine::LaneAtomic& access);

// Behind a statement: what it found, or that something was done. False: it changed nothing.
bool note_round(Executor& x, const machine::Statement& statement);
// The same of a plain access.
bool note_round(Executor& x, bool stores);

// Does a group look for a change of the word that a lane, which waits to meet it, was the last to change? A lock, whose owner
// has left the loop: threads make progress whatever others of their warp do.
// Source: CUDA C++ Programming Guide, Independent Thread Scheduling; PTX names no place where lanes meet again. Nobody has
// asked a device.
bool waits_for_own_lanes(const WarpState& state);

// Rounds of several warps, with barriers and exchanges through shared memory in them, that look at global memory: as Triton's
// loops for a lock of another CTA. Once all warps stand as they stood before, and only looks in vain were between, nothing
// within the cluster ends them.
class VainRounds {
 public:
  // Behind a statement of one of the warps.
  bool repeat(const Executor& x, const machine::Statement& statement,
              std::span<const WarpState> warps);

 private:
  std::uint64_t looks_ = 0;  // since anything else was done
  std::uint64_t kept_ = 0;   // how all stood then; 0: nobody has asked
};

// What a thread reads of the clock, in steps. One that is asked again and again between two looks at memory goes on: such a
// loop waits for the clock.
std::uint64_t clock_of(Executor& x);

}  // namespace tcq::run
