// What an error says that a Fault stands behind.
#include "oracle/answer/answer.h"

#include <fmt/format.h>

namespace tcq::oracle {

FaultError::FaultError(Fault fault) : FaultError(fault, "") {}

FaultError::FaultError(Fault fault, const std::string& rest)
    : std::runtime_error(fmt::format("{}: {} (PTX ISA 9.2, {}){}", name(info(fault).kind),
                                     info(fault).sentence, info(fault).source, rest)) {}

}  // namespace tcq::oracle
