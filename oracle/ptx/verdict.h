// What `check` says about one statement: legal, or the Fault and the numbers of this statement.
//
// Example: illegal(Fault::ShapeN8, "got 12") is told as "ShapeN8: N must be a multiple of 8 in
// [8, 256]; got 12". Which checks there are: check.cc (wgmma), check_tcgen05.cc.
#pragma once

#include <string>

#include "oracle/ptx/ptx_statement.h"
#include "sim/isa/fault/fault.h"

namespace tcq::oracle {

struct Verdict {
  FaultKind kind = FaultKind::None;  // None: legal
  Fault fault = Fault::None;
  std::string specifics;
};

Verdict legal();

// Of the Fault's own kind: an Unmodelled one is not called illegal. None: legal.
Verdict illegal(Fault fault, std::string specifics = {});

// For what has no Fault.
Verdict unmodelled(std::string why);

bool is_legal(const Verdict& verdict);

// The sentence of the Fault and the specifics, without its name.
std::string sentence_of(const Verdict& verdict);

// "NAME: SENTENCE; SPECIFICS".
std::string reason_of(const Verdict& verdict);

// The guard of a statement, if it has one, is a predicate.
Verdict check_guard(const PtxStatement& statement);

// An operand that PTX may compute from numbers, such as 1+1; nobody here does.
bool is_expression(const PtxOperand& operand);

}  // namespace tcq::oracle
