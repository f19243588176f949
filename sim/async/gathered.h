// A wgmma reads shared memory once all four warps of its warpgroup have issued it.
//
// PTX orders what another warp of the warpgroup stored by a barrier only. Kernels are published that have none: each warp
// stores, each executes fence.proxy.async, and the wgmma follows (FlashMLA's last page, tutorials of CUTLASS with
// cp.async). Such a write is WarpgroupOrderAssumed, disputed: it is over and fenced when its own warp issues the wgmma,
// whichever of the two warps comes first. Not fenced by then, or stored behind the own part, it stays the race that it is.
//
// Inferred: the chip waits for the four warps. An H100, asked once (no recording): with a part of B stored and fenced by
// one warp up to 200,000 clocks after the others, 0 of 1.5 M outputs missed it. Refuted by an output that does.
// Likewise what a warp loaded before its part of a wgmma counts as loaded for whoever has waited for that wgmma, and for
// those that it then tells: one thread of a warpgroup frees a slot that all have read (CUTLASS's blockwise and sparse main
// loops, whose scale factors and metadata are loaded to registers). Overwriting it is WarpgroupOrderAssumed, disputed; what
// was stored, and what is loaded behind the part, stays the race that it is.
#pragma once

#include "sim/async/step.h"

namespace tcq::machine {

// Of a write and a wgmma's read that nothing orders, `finding`: assumed, if they are of one warpgroup and the writer has
// fenced before its part of the wgmma; or if that part is still to come, when note_issued() asks again.
bool assume_gathered(ClusterState& c, const Conflict& conflict, AccessId access, Finding& finding);

// The step's warp issues its part.
void note_issued(Step& s, Mma& mma);

// Of the oldest wgmma of the group, which is over.
void note_gathered(Warpgroup& group);

// The step's warp has waited for the wgmmas before this number.
void note_waited(Step& s, Warpgroup& group, std::uint64_t end);

}  // namespace tcq::machine
