// Closed forms as the verb equation prints them: labelled lines, their text and their JSON.
//
// The forms themselves are linear_map.h's. Example: {"row", "thread/4"} prints as "row = thread/4",
// a CuTe string as "CuTe (thread, value) -> row + 64*col: ((4,8),2):((2,1),64)".
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/isa/base/swizzle.h"

namespace tcq::oracle {

// Label and C expression or CuTe string; the labels of CuTe strings begin with "CuTe".
using EquationLines = std::vector<std::pair<std::string, std::string>>;

std::string equation_text(const EquationLines& lines);

// An object: the labels with _ for blanks, "cute" for CuTe strings and "cute_logical_k" for those
// that go to logical k.
std::string equation_json(const EquationLines& lines);

// SwizzleFunction::apply() of x, as C, and the function in CuTe's words: "Swizzle<3,4,3>".
std::string swizzled_expression(const SwizzleFunction& f, std::uint32_t base_offset);
std::string cute_swizzle(const SwizzleFunction& f);

}  // namespace tcq::oracle
