// What atom and red make of a value in memory.
//
// Source: PTX ISA 9.2, 9.7.13.5 "atom". Floating point sums are rounded to nearest; f32 in global memory keeps
// subnormals, f16 and bf16 need .noftz.
// Inferred: NaN, zeros and subnormals of f16 and bf16 as in bulk reductions (sim/num/reduce_float.h).
#pragma once

#include <cstdint>

#include "sim/ptx/modifier.h"
#include "sim/ptx/types.h"

namespace tcq::run {

// One element: memory becomes what the operation says of it, b and c.
using Update = void (*)(std::uint8_t* memory, const std::uint8_t* b, const std::uint8_t* c);

// Null: not modelled.
Update update_of(ptx::Operation operation, ptx::Type type);

}  // namespace tcq::run
