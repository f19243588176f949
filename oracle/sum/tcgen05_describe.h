// The verbs list and describe for tcgen05; instructions.cc dispatches.
#pragma once

#include <string>
#include <vector>

#include "oracle/answer/answer.h"

namespace tcq::oracle {

// The mnemonics of --family (tcgen05, tcgen05.ld, tcgen05.mma.f16, ...) that --arch has; throws
// UsageError for another family, FaultError if the target has none.
std::vector<std::string> tcgen05_list(const Question& question);

Answer describe_tcgen05(const Question& question);

}  // namespace tcq::oracle
