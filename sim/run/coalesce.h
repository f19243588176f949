// Accumulators that a kernel only hands on: which registers of its text are one register.
//
// PTX written by compilers copies the accumulator of one wgmma into the registers of the next, "mov.b32 %r2, %r1;",
// while the first is in flight. No such copy is executed: ptxas gives both one register. So is it here, where the
// copy may be left out: D vectors of equal length, copied element by element, whose registers are never alive
// together. A register that somebody still reads keeps its own place, and its copy is what PTX says it is: a read.
//
// Inferred: ptxas leaves out every copy that liveness lets it leave out. One that it executes waits for the wgmma.
#pragma once

#include <vector>

#include "sim/run/kernel.h"

namespace tcq::run {

// By register of the function: the register whose slot it has, mostly itself. Needs words_of_register.
std::vector<ptx::Index> coalesced_registers(const Kernel& kernel);

}  // namespace tcq::run
