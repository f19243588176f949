// A stretch of one execution as seen from outside: who took each step, whom it left waiting, whom it let go on.
//
// Decides nothing: the execution is repeated as replay.h does it, and the warps are asked before and after each step
// whether they can go on. A step of a warp begins with what synchronises, so that its first statement is the one that
// lets others go on. Drawn by oracle/run/timeline.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/async/program.h"
#include "sim/async/schedule.h"

namespace tcq::machine {

// A warp that stands before a statement and cannot go on.
struct Standstill {
  int warp = 0;
  std::int64_t statement = -1;
};

struct TracedStep {
  ScheduleStep step;
  std::vector<Standstill> stopped;    // from here on
  std::vector<Standstill> continued;  // up to here
};

struct Trace {
  std::size_t begin = 0;  // of the execution's steps
  std::size_t all = 0;    // steps of the execution
  std::vector<TracedStep> steps;
  std::vector<Standstill> waiting;  // when the first of them was taken
  bool fits = true;                 // the execution belongs to the program
  bool found = false;               // the last step showed a Fault
};

// Steps [begin, end) of it, or fewer if there are no more.
Trace trace(const Program& program, const Schedule& schedule, std::size_t begin, std::size_t end);

}  // namespace tcq::machine
