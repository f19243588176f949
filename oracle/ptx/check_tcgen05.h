// Is a PTX statement of tcgen05 legal on a target, and if not, why not.
//
// Example: "tcgen05.mma.cta_group::3.kind::f16 ..." is illegal: QualifierUnknown. Dispatch and the
// form of the answer are check.cc.
#pragma once

#include "oracle/ptx/ptx_statement.h"
#include "oracle/ptx/verdict.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::oracle {

// Requires: statement.opcode is "tcgen05".
Verdict check_tcgen05(const PtxStatement& statement, Target target);

}  // namespace tcq::oracle
