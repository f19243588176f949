// What `check` says about a statement, in the words of sim/ptx/verdict.h, and what it asks of any operand.
//
// Which checks there are: check.cc (wgmma), check_tcgen05.cc.
#pragma once

#include "oracle/ptx/ptx_statement.h"
#include "sim/ptx/verdict.h"

namespace tcq::oracle {

using ptx::illegal;
using ptx::is_legal;
using ptx::legal;
using ptx::reason_of;
using ptx::sentence_of;
using ptx::unmodelled;
using ptx::Verdict;

// The guard of a statement, if it has one, is a predicate.
Verdict check_guard(const PtxStatement& statement);

// An operand that PTX may compute from numbers, such as 1+1; nobody here does.
bool is_expression(const PtxOperand& operand);

}  // namespace tcq::oracle
