// Is a PTX statement of mma.sync legal on a target, and if not, why not.
//
// Decides how many operands and registers it has; which shapes go with which types is warp_mma.h's. Example:
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
