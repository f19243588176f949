// What an error says that a Fault stands behind.
#include "oracle/answer/answer.h"

#include <fmt/format.h>

namespace tcq::oracle {
namespace {

std::string sentence_of(const FaultInfo& about, const std::string& rest) {
  if (about.kind == FaultKind::Unmodelled)
    return fmt::format("not modelled: {}{}", about.sentence, rest);
  return fmt::format("{}: {} ({}){}", name(about.kind), about.sentence, about.source, rest);
}

}  // namespace

FaultError::FaultError(Fault fault, const std::string& rest)
    : std::runtime_error(sentence_of(info(fault), rest)),
      status_(info(fault).kind == FaultKind::Unmodelled ? Status::Unmodelled : Status::No) {}

}  // namespace tcq::oracle
