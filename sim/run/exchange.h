// shfl, vote, match, redux and elect whose lanes stand at different instructions: nvcc takes a branch on the lane out of a loop, and
// each copy of the loop has its own shfl.sync.
//
// They are one exchange where the words are the same and the mask has the same value. Example: lane 0 stands at
// "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1", the others at "shfl.sync.bfly.b32 %r9, %r8, 1, 31, -1".
//
// Source: PTX ISA 9.2, 9.7.9.6 ("have executed shfl.sync with the same qualifiers and same membermask value"), 9.7.13.9 to 9.7.13.15.
// Measured: values go from arm to arm, of all five (tests/vectors/statements.tcqv, rows "in two branches"). bfly beside idx, and shfl
// beside vote, hang: an H200 was asked once, no recording.
#pragma once

#include <span>
#include <vector>

#include "sim/run/executor.h"

namespace tcq::run {

// Lanes that stand at one of the instructions.
struct Place {
  const Op* op = nullptr;
  std::uint32_t lanes = 0;
};

// The lanes of each mask that the groups name meet: they may be there together and wait for others all the same.
void meet(const Executor& x, const std::vector<Group*>& groups);

// The instructions at which the groups stand.
std::vector<Place> places_of(const Executor& x, const std::vector<Group*>& groups);

// Requires: all of one Form, which Op::evaluate computes.
void exchange_apart(Executor& x, std::span<const Place> places);

// Each lane that executes one of these, or a bar.warp.sync, is in its own mask; false: a Fault.
// Source: PTX ISA 9.2, 9.7.13.2 "bar.warp.sync" (undefined "if the executing thread is not in the membermask"); so 9.7.9.6 "shfl.sync",
// 9.7.13.9 "vote.sync", 9.7.13.10 "match.sync", 9.7.13.12 "redux.sync", 9.7.13.14 "elect.sync".
bool demand_members(Executor& x, std::uint32_t active);

}  // namespace tcq::run
