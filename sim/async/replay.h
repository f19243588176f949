// Repeating one execution of a program exactly, step by step as a Schedule says.
//
//   const Report report = explore(program, {});
//   const Replay again = replay(program, report.schedule);
//   // again.finding is *report.finding, member by member; of a right program again.global is
//   // report.global
//
// A schedule that does not belong to the program, or is no whole execution, is refused with the step
// that does not fit; the sentences: oracle/diagnosis/schedule_text.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/async/finding.h"
#include "sim/async/program.h"
#include "sim/async/schedule.h"
#include "sim/async/touch.h"

namespace tcq::machine {

class Cluster;

// Why a schedule was not followed to its end.
enum class Misfit : std::uint8_t {
  None,
  ProgramRefused,   // check(program) says why
  OtherProgram,     // the fingerprints differ
  NotRunnable,      // nobody of this number can take a step here
  OtherStatement,   // the warp stands before another one
  OtherTest,        // the test_wait finds something else
  NothingInFlight,  // no data that could move
  EndsEarly,        // the last step is taken and others are possible
  GoesOn,           // the execution ended before
};

struct Replay {
  Misfit misfit = Misfit::None;
  bool in_against = false;  // the misfit: in which execution, at which step
  std::size_t step = 0;
  std::optional<Finding> finding;
  std::vector<Finding> suspicions;   // of this execution
  std::vector<std::uint8_t> global;  // at its end
  std::uint64_t instructions = 0;
};

Replay replay(const Program& program, const Schedule& schedule);

// The agent steps, and the schedule has it.
const std::vector<Touch>& record_step(Cluster& cluster, AgentId agent,
                                      std::vector<ScheduleStep>& steps);

// No step is left: deadlock, reads of bytes that were never written, and stores in flight.
void end_execution(Cluster& cluster);

// ResultsDiffer, at the first byte of global memory that two executions left different.
Finding results_differ(std::size_t byte);

}  // namespace tcq::machine
