// Which steps depend on their order, judged by what they touched (touch.h): what the
// reduction of explore.h rests on.
//
// Data needs no judgement here: unordered accesses are Faults whatever order they were executed in.
// Inferred: from what the operations do to an mbarrier, a barrier and a register pool; refuted by a
// program for which every_order.h finds what explore() does not.
#pragma once

#include <vector>

#include "sim/async/touch.h"

namespace tcq::machine {

// Do two executed touches, `a` first, depend on their order?
bool depends(const Touch& a, const Touch& b);

// Could `b` have been taken in the state before `a`? Waits only pass on the parity they ask for.
bool may_be_exchanged(const Touch& a, const Touch& b);

// Does an executed step wake a sleeping one that would touch `next`?
bool wakes(const std::vector<Touch>& executed, const std::vector<Touch>& next);

}  // namespace tcq::machine
