// The lines that the verb equation answers, before they are text or JSON.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "oracle/map/map.h"

namespace tcq::oracle {

// Label and C expression or CuTe string; the labels of CuTe strings begin with "CuTe". Example: {"row",
// "thread/4"} prints as "row = thread/4".
using EquationLines = std::vector<std::pair<std::string, std::string>>;

// Throws UnmodelledError where shared memory is not one linear offset.
EquationLines equation_of(const Map& map);

}  // namespace tcq::oracle
