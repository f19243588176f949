// What atom and red make of a value in memory.
//
// Source: PTX ISA 9.2, 9.7.13.5 "atom". Floating point sums are rounded to nearest; f32 flushes subnormals in global memory and
// keeps them in shared; f16 and bf16 need .noftz.
// Measured: tests/vectors/statements.tcqv: zeros, subnormals and NaN of each; a NaN of f64 is the operand's in global memory,
// as in a bulk reduction (sim/num/reduce_float.h), and the old one made quiet in shared, where a loop of cas adds.
#pragma once

#include <cstdint>

#include "sim/ptx/modifier.h"
#include "sim/ptx/types.h"

namespace tcq::run {

// One element: memory becomes what the operation says of it, b and c.
using Update = void (*)(std::uint8_t* memory, const std::uint8_t* b, const std::uint8_t* c);

// Null: not modelled. `is_shared`: in shared memory, of whichever CTA.
Update update_of(ptx::Operation operation, ptx::Type type, bool is_shared);

}  // namespace tcq::run
