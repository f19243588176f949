// What `check` says about a statement, in the words of sim/ptx/verdict.h, and what it asks of any operand.
//
// Which checks there are: check.cc (wgmma), check_tcgen05.cc.
#pragma once

#include <string>
#include <string_view>

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

// Of a placeholder of inline assembly, whose value is not in the text: legal if it is `what`.
Verdict legal_if_it_is(const PtxOperand& placeholder, std::string_view what);

// Adds the conditions of a legal operand to those of its statement.
void add_condition(std::string& conditions, const Verdict& operand);

}  // namespace tcq::oracle
