// How a tcgen05.mma computes, as facts for `describe`: its sum, its rounding, its scale factors, and
// how sure all that is.
#pragma once

#include "oracle/answer/facts.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::oracle {

// Adds sum, fraction bits, floor, rounding, NaN, subnormals and scale formats; with K = 96 only that
// nobody knows.
void add_arithmetic(Facts& facts, const tcgen05::DotForm& form);

// Adds the weakest grade and the sentence of every reason.
void add_arithmetic_evidence(Facts& facts, const tcgen05::DotForm& form);

}  // namespace tcq::oracle
