// Basic blocks of a function, where control goes behind each, and where its ways meet again.
//
// Decides what ends a block. The immediate post-dominator of a block is where lanes that went apart at its
// end are together again whichever way they took.
#pragma once

#include "sim/ptx/program.h"

namespace tcq::ptx {

// Onto Program::blocks and edges. Requires: its labels are resolved.
void add_blocks(Program& program, Code& code);

}  // namespace tcq::ptx
