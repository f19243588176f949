// `tcq mma` for an instruction on registers: a line of its sources -> its results, by sim/alu.
//
// Decides how sources and results stand in a line: a register each, fixed-width hex or decimals; of packed types the
// word, or its two elements with a comma between them, the low one first. What they are is sim/alu's: every form of
// sm_90a, those that the chip approximates too. Example: `ex2.approx.ftz.f32` of 3f800000 is "40000000 = 2".
#pragma once

#include <string>
#include <string_view>

#include "oracle/answer/answer.h"
#include "oracle/sum/tcgen05_mma.h"

namespace tcq::oracle {

// Is it an opcode that sim/alu computes for a lane alone? Not one of matrices or of a whole warp.
bool is_scalar(std::string_view opcode);

// One line. Requires: is_scalar(). Throws UsageError.
Answer scalar_line(std::string_view opcode, std::string_view line, LineStyle style);

// How sure the answers are on a target, for stderr, once. Requires: is_scalar().
std::string scalar_evidence(std::string_view opcode, Target target);

}  // namespace tcq::oracle
