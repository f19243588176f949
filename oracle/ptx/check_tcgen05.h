// Is a PTX statement of tcgen05 legal on a target, and if not, why not.
//
// Example: "tcgen05.mma.cta_group::3.kind::f16 ..." is illegal: QualifierUnknown. Dispatch and the
// form of the answer are check.cc.
#pragma once

#include <span>

#include "oracle/ptx/ptx_statement.h"
#include "oracle/ptx/verdict.h"
#include "sim/isa/tcgen05/instruction.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::oracle {

// The place of A and the optional operands of an mma, which the opcode does not say.
void complete(tcgen05::MmaForm& form, std::span<const PtxOperand> given);

// Requires: statement.opcode is "tcgen05".
Verdict check_tcgen05(const PtxStatement& statement, Target target);

}  // namespace tcq::oracle
