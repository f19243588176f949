// The suites of bulk copies without a tensor map, and of floating-point reductions.
//
// A part of async_suites.h, which names and documents them.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/recording/async_case.h"

namespace tcq::oracle {

std::vector<AsyncCase> bulk_copies(std::uint64_t seed);
std::vector<AsyncCase> float_reductions(std::uint64_t seed);
std::vector<AsyncCase> bulk_edges(std::uint64_t seed);

}  // namespace tcq::oracle
