// An execution of a cluster as a picture: a row for each warp, a column for each step, who waited and who let it go on.
//
// Decides which steps of a long execution are drawn (where something was found its end, else its beginning) and how:
// a box is a step and says the line at which it begins, a grey box is a wait, an arrow goes from the step that ended it.
// The steps themselves: sim/async/trace.h. docs/run.md shows one.
#pragma once

#include <string>

#include "oracle/answer/drawing.h"
#include "sim/async/program.h"
#include "sim/async/schedule.h"
#include "sim/async/trace.h"

namespace tcq::oracle::run {

struct Captions {
  std::string title;
  std::string remark;  // what was found; may be empty
};

// `to_its_end`: of a long execution the last steps.
Drawing timeline_of(const machine::Program& program, const machine::Schedule& schedule,
                    const Captions& captions, bool to_its_end);

Drawing drawing_of(const machine::Program& program, const machine::Trace& trace,
                   const Captions& captions);

}  // namespace tcq::oracle::run
