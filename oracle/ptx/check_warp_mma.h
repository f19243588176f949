// Is a PTX statement of mma.sync legal on a target, and if not, why not.
//
// Decides which operands it has, of how many registers of which types, and which selectors; which shapes go with which
// types is warp_mma.h's, which words and targets warp_mma_words.h's. Where ptxas takes more than the manual (any order, a
// special register inside braces), the manual is followed. Example:
// "mma.sync.aligned.m16n8k32.row.row.s32.s8.s8.s32 ..." is illegal: B is .col.
#pragma once

#include <optional>

#include "oracle/ptx/ptx_statement.h"
#include "oracle/ptx/verdict.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::oracle {

// Requires: statement.opcode is "mma". Without a target that which has the form.
Verdict check_warp_mma(const PtxStatement& statement, std::optional<Target> asked);

}  // namespace tcq::oracle
