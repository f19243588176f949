// Elements as people write them: decimals <-> bits of a type.
//
// A decimal is rounded once, to the nearest even element; what lies beyond the largest one is refused.
// Words with a point, a sign or a signed exponent, inf and nan are decimals where hex is expected, too.
// Example: "1.0" is 38 of e4m3, 3f80 of bf16.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/isa/base/element.h"

namespace tcq::oracle {

bool looks_decimal(std::string_view word);

// Throws UsageError; `what` names the element.
std::uint32_t parse_decimal(std::string_view word, Type type, std::string_view what);

// The value of an element, exactly: an f32 has few enough bits. inf and nan included.
double element_value(Type type, std::uint32_t element);

// The shortest decimal that gives the same element back: "1.5", "-inf".
std::string decimal_text(Type type, std::uint32_t element);

}  // namespace tcq::oracle
