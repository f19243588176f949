// Which rules a device's floating-point reductions follow, read off a recording.
//
// For every type and operation: how many elements differ from the simulator, which of the rules
// that sim/num/reduce_float.h can express give every element, and the first differing ones. Example of a line: `reduce add FLOAT32: 0 of 4096 elements differ`.
#pragma once

#include <string>

#include "oracle/recording/recording.h"

namespace tcq::oracle {

// Empty if the recording has no reductions of floats with all bytes.
std::string explain_float_reductions(const Recording& recording);

}  // namespace tcq::oracle
