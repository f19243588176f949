// Copies that stand behind a wgmma.fence and count as executed before it.
//
// Compilers take constants for values without a place: PTX that comes out of LLVM has the zeros that accumulators begin
// with ("mov.b32 %r10, %r9;") behind the fence of a source that sets them before it, in the same block, behind the wait for
// the first stage, or behind the first wgmma, if they belong to the second. By the text no fence orders them; ptxas moves
// them, drops them, or inserts what is missing (C7519 and, behind a wgmma in flight, C7517, a wait: slow, and right). So
// they count as executed before the last fence wherever nobody could tell: unguarded copies of constants, or of registers
// that nothing since the fence has changed on any way there. Whatever computes stays where it is, and what stands behind a
// wgmma.wait_group: that is another round, whose fence would be missed by nobody else.
//
// Inferred: ptxas 13.0 takes such text, and the SASS has fence and wait where they belong.
#pragma once

#include "sim/run/kernel.h"

namespace tcq::run {

// Sets Op::moved. Needs the kernel's ops.
void mark_moved_copies(Kernel& kernel);

}  // namespace tcq::run
