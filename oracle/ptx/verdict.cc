// Verdicts and their texts; see verdict.h.
#include "oracle/ptx/verdict.h"

#include <fmt/format.h>

#include <utility>

#include "oracle/answer/words.h"

namespace tcq::oracle {

Verdict legal() { return {}; }

Verdict illegal(Fault fault, std::string specifics) {
  return {info(fault).kind, fault, std::move(specifics)};
}

Verdict unmodelled(std::string why) { return {FaultKind::Unmodelled, Fault::None, std::move(why)}; }

bool is_legal(const Verdict& verdict) { return verdict.kind == FaultKind::None; }

std::string sentence_of(const Verdict& verdict) {
  if (verdict.fault == Fault::None) return verdict.specifics;
  return fmt::format("{}{}{}", info(verdict.fault).sentence, verdict.specifics.empty() ? "" : "; ",
                     verdict.specifics);
}

std::string reason_of(const Verdict& verdict) {
  if (verdict.fault == Fault::None) return verdict.specifics;
  return fmt::format("{}: {}", info(verdict.fault).name, sentence_of(verdict));
}

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

}  // namespace tcq::oracle
