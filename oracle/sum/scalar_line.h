// `tcq mma` for an instruction on registers: a line of its sources -> its results, by sim/alu.
//
// Decides how sources and results stand in a line: a register each, fixed-width hex or decimals; of packed types the
// word, or its two elements with a comma between them, the low one first. What they are is sim/alu's: every form of
// sm_90a that a chip was asked for, those that it approximates too, and no other. Example: `ex2.approx.ftz.f32` of 3f800000 is "40000000 = 2".
#pragma once

#include <string>
#include <string_view>

#include "oracle/answer/answer.h"
#include "oracle/sum/tcgen05_mma.h"

namespace tcq::oracle {

// Is it one of alu::scalar_forms() that a lane computes alone? Not one of matrices or of a whole warp.
bool is_scalar(std::string_view opcode);

// Throws UnmodelledError for any other opcode of sim/ptx that is not of matrices: for what no chip was asked, no such
// instruction among it, for what asks other lanes, and for what computes nothing.
void refuse_unrecorded(std::string_view opcode);

// One line; with Style::Json also how sure it is on a target. Requires: is_scalar(). Throws UsageError.
Answer scalar_line(std::string_view opcode, std::string_view line, LineStyle style,
                   Target target = Target::sm_90a);

// How sure the answers are on a target, for stderr, once. Requires: is_scalar().
std::string scalar_evidence(std::string_view opcode, Target target);

}  // namespace tcq::oracle
