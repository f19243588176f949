// Loops that wait by looking at memory, with whatever loads, votes, clocks and stores of equal values they do it: a round that
// has changed nothing, neither registers nor memory, comes back to itself until bytes change that it looked at.
//
// Example: `do { v = ld.volatile(flags + lane); t = clock64(); } while (vote.any(v == 0) && t - begin < limit)`. While a round
// changes nothing its clock stands still, so that a time limit ends no wait: time is not modelled.
#pragma once

#include "sim/run/executor.h"

namespace tcq::run {

// Before a strong access is issued: waits for nothing, unless it would begin a round once more.
void wait_for_change(Executor& x, machine::LaneAtomic& access);

// Behind a statement: what it found, or that something was done. False: it changed nothing.
bool note_round(Executor& x, const machine::Statement& statement);

// What a thread reads of the clock, in steps. One that is asked again and again between two looks at memory goes on: such a
// loop waits for the clock.
std::uint64_t clock_of(Executor& x);

}  // namespace tcq::run
