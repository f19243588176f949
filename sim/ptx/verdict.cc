// Verdicts and their texts; see verdict.h.
#include "sim/ptx/verdict.h"

#include <utility>

namespace tcq::ptx {

Verdict legal() { return {}; }

Verdict illegal(Fault fault, std::string specifics) {
  return {info(fault).kind, fault, std::move(specifics)};
}

Verdict unmodelled(std::string why) { return {FaultKind::Unmodelled, Fault::None, std::move(why)}; }

bool is_legal(const Verdict& verdict) { return verdict.kind == FaultKind::None; }

std::string sentence_of(const Verdict& verdict) {
  if (verdict.fault == Fault::None) return verdict.specifics;
  const std::string sentence = info(verdict.fault).sentence;
  return verdict.specifics.empty() ? sentence : sentence + "; " + verdict.specifics;
}

std::string reason_of(const Verdict& verdict) {
  if (verdict.fault == Fault::None) return verdict.specifics;
  return info(verdict.fault).name + (": " + sentence_of(verdict));
}

}  // namespace tcq::ptx
