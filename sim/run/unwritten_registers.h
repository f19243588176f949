// Registers that a kernel may read before it has written them, as ptxas leaves them: whatever the file holds. Their values are
// followed (undefined.h) from the first instruction on, and RegisterUninitialized is said where something depends on one, unless
// the result does not (sim/async/undefined_bytes.h).
//
// Which ones these can be follows from the text, over all ways through it; of most kernels none, so that nothing is followed.
// Registers that something asynchronous may own are judged as they are read (sim/async/wgmma_order.h). CC, which addc reads, is
// one of them.
#pragma once

#include "sim/run/kernel.h"
#include "sim/run/warp_state.h"

namespace tcq::run {

// Fills Kernel::unwritten. Requires: operands are listed, and the blocks' edges known.
void list_unwritten(Kernel& kernel);

// At the warp's first instruction; of local memory: local_bytes.h.
void follow_unwritten(const Kernel& kernel, machine::ClusterState& c, machine::Warp& warp,
                      WarpState& state);

}  // namespace tcq::run
