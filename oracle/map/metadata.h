// Metadata codes of a sparse row as people type them: one hex digit per chunk, chunk 0 first.
//
// Example: codes=44e44444 for K = 32 of f16 gives chunk 2 the code 0xe (positions 2 and 3).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/isa/base/element.h"

namespace tcq::oracle {

// Throws UsageError for the wrong number of digits. Codes may be any: check_codes() is the caller's
// choice.
std::vector<std::uint32_t> parse_codes(std::string_view word, Type a);

// Throws FaultError for codes that PTX leaves undefined.
void check_codes(const std::vector<std::uint32_t>& codes, Type a);

// Logical k that stored element `col` may stand for: one for a known code, else all that some
// defined code names, ascending. `codes` is empty if they are not known.
std::vector<int> logical_ks(Type a, int col, const std::vector<std::uint32_t>& codes);

}  // namespace tcq::oracle
