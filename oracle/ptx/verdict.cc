// What is asked of any operand; see verdict.h.
#include "oracle/ptx/verdict.h"

#include <fmt/format.h>

#include "oracle/answer/words.h"

namespace tcq::oracle {

Verdict check_guard(const PtxStatement& statement) {
  if (!statement.guard) return legal();
  PtxOperand guard = *statement.guard;
  guard.negated = false;
  return is_register(guard, {RegisterClass::Pred})
             ? legal()
             : illegal(Fault::OperandKind,
                       fmt::format("the guard is {}, expected a predicate", quoted(guard.text)));
}

bool is_expression(const PtxOperand& operand) {
  return operand.kind == PtxOperand::Kind::Other &&
         operand.text.find_first_of("()+*/-<>?:&|^~") != std::string_view::npos;
}

Verdict legal_if_it_is(const PtxOperand& placeholder, std::string_view what) {
  return {FaultKind::None, Fault::None, fmt::format("{} is {}", placeholder.text, what)};
}

void add_condition(std::string& conditions, const Verdict& operand) {
  if (operand.specifics.empty()) return;
  conditions += (conditions.empty() ? "" : ", ") + operand.specifics;
}

}  // namespace tcq::oracle
