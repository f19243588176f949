// For the eyes of whoever looks for the true rule: what the cases of a recording that differ from the
// simulator have in common, and where their bytes came from.
//
// Requires: outputs with all bytes (`record --all-bytes`). Which rules floating-point reductions follow:
// reduction_rules.h. Example of a line: `   12 of   544 cases differ: swizzle 64B`.
#pragma once

#include <string>

#include "oracle/recording/recording.h"

namespace tcq::oracle {

// Which properties the differing cases share, and the first of them byte by byte. Empty if nothing
// differs.
std::string explain_differences(const Recording& recording);

// Of scalar forms that differ their first rows. Empty if there is none.
std::string explain_scalar_forms(const Recording& recording);

// What the device did in the sequences of mbarrier operations whose end is not predicted. Empty if there
// is none.
std::string explain_open_mbarriers(const Recording& recording);

}  // namespace tcq::oracle
