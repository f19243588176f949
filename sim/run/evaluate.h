// Instructions that only move registers, carried out for lanes of a warp.
#pragma once

#include <cstdint>

#include "sim/run/executor.h"

namespace tcq::run {

// By the function that computes the form. A cvt reads the low bits of a wider register, and fills one.
void evaluate(Executor& x, const Op& op, std::uint32_t lanes);

// The bits of the sources one behind the other, and so to the destinations; the first has the lowest.
void repack(Executor& x, const Op& op, std::uint32_t lanes);

}  // namespace tcq::run
