// A Schedule as text, for a file that repeats a finding; and why one could not be followed.
//
// The container of recordings (container.h) with one line per step, in the order they were taken:
//
//   tcq schedule 1
//   cases: 6                     steps, then size and checksum of what stands behind the empty line
//   ...
//
//   program 7c1f6c1be5f2a8d3     fingerprint(program)
//   limit 10000000               instructions of one execution
//   fails 0                      what ends one beside undefined: disputed 1, suspect 2, slow 4
//   execution latest             when data moves that nothing forces: earliest or latest
//   w0@0                         warp 0, which stands before statement 0, takes a step
//   w1@9=0                       the same; statement 9 is a test_wait, and its predicate is false
//   c3.2>0                       the 2nd copy that warp 3 issued, into CTA 0, completes
//   k3.2>1                       the same of a tcgen05.commit
//   d77                          one operation in flight moves its data: Cluster::advance_data(77)
//   against latest               another execution, which left other bits (ResultsDiffer): its steps
//   w0@0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/recording/container.h"
#include "sim/async/replay.h"

namespace tcq::oracle {

std::string schedule_text(const machine::Schedule& schedule);

// The inverse. Throws BadFile with the line that is wrong: truncated, damaged, another version.
machine::Schedule parse_schedule(std::string_view text);

// The steps alone, a blank between each two: "w0@0 w1@9=0 c3.2>0". The inverse throws BadFile with the step that is
// wrong.
std::string steps_text(std::span<const machine::ScheduleStep> steps);
std::vector<machine::ScheduleStep> parse_steps(std::string_view text);

std::string_view name(machine::Timing timing);  // earliest, latest

// One line: at which step a schedule does not fit the program, and why. Empty: it does.
std::string misfit_text(const machine::Schedule& schedule, const machine::Replay& replay);

}  // namespace tcq::oracle
