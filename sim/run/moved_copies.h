// Copies that stand behind a wgmma.fence and are executed before it.
//
// PTX written by compilers has "mov.f32 %f10, %f9;" of zeros that accumulators begin with between a fence and its first
// wgmma. By the text the fence does not order them; ptxas moves them before it and says nothing (C7519 and its like are
// what it says where it inserts a fence). So they count as executed before the fence: unguarded copies of constants, or of
// registers that nothing between has changed, into registers that nothing between has touched.
//
// Inferred: ptxas 13.0 takes such text without a message, and no wait or fence is inserted.
#pragma once

#include "sim/run/kernel.h"

namespace tcq::run {

// Sets Op::moved. Needs the kernel's ops.
void mark_moved_copies(Kernel& kernel);

}  // namespace tcq::run
