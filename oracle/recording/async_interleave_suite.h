// The suite of interleaved tensor maps: what cuTensorMapEncodeTiled makes of them.
//
// A part of async_suites.h, which names and documents it.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/recording/async_case.h"

namespace tcq::oracle {

std::vector<AsyncCase> interleaved_maps(std::uint64_t seed);

}  // namespace tcq::oracle
