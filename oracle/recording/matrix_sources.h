// What the fragments of a warp hold for mma.sync: matrices drawn so that rival readings of the sum differ.
//
// Decides values by row, column and place along K alone; where they lie among lanes says sim/isa/base/mma_fragment.h. Floats
// come from the mixture that WGMMA was recorded with; the last quarter of the warps asks in which groups the products are
// summed: two large ones that cancel, or one and C, and small ones elsewhere along K, of which a sum keeps only what its
// group keeps. Example: of f16, 2^8 * 2^4 at 3 and -2^8 * 2^4 at 9 with 2^-14 at 12 gives 2^-14 or 0.
#pragma once

#include <cstdint>
#include <span>

#include "sim/alu/forms.h"

namespace tcq::oracle {

// The registers of one lane: lane row % 32 of warp row / 32. Requires: the form has vectors.
void draw_fragments(const alu::ScalarForm& form, std::uint64_t seed, std::uint32_t row,
                    std::span<std::uint64_t> out);

}  // namespace tcq::oracle
