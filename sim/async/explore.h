// Running a program in every order the hardware may choose, or in many.
//
// A program is right only if every execution ends, without a Fault, with the same bits in global
// memory. Small programs are explored exhaustively: two steps are exchanged only where that can
// matter (dynamic partial-order reduction with sleep sets, on the mbarriers, barriers and register
// pools that steps touch; data of shared and of global memory needs no exchange, because unordered
// accesses are Faults whatever order they were executed in; only reductions that do not commute are
// not, and get ReductionOrder). Beyond the bound on executions, and on request, seeded random
// executions follow. Example:
//
//   const Report report = explore(program, {});
//   if (report.outcome != Outcome::Right) print(oracle::report_text(program, report));
//
// Which steps may be exchanged: touch_order.h, happened_before.h; a finding once more: replay.h.
//
// Source: Flanagan and Godefroid, "Dynamic partial-order reduction for model checking software",
// POPL 2005; sleep sets: Godefroid, LNCS 1032.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/async/finding.h"
#include "sim/async/program.h"
#include "sim/async/schedule.h"

namespace tcq::machine {

struct ExploreOptions {
  std::uint64_t max_executions = 2000;  // of the exhaustive part
  bool eager = true;                    // then one in which all data moves at once
  std::uint64_t random_executions = 20;
  std::uint64_t max_instructions = 10'000'000;  // of one execution
  std::uint64_t max_total_instructions = 200'000'000;
  std::uint64_t seed = 1;
  Severities fails = {};   // what makes a program wrong beside the undefined
  bool bits_may_differ = false;  // executions that leave other bytes of global memory are no Fault
  bool names_right = true;       // the schedule of a right program can be replayed, too: reads all of its memory once
  bool whole_global = true;      // Report::global, a copy of all of it; else only what has changed
  bool find_slow = false;        // also ask which waits and fences could go: costs a run for each
};

enum class Outcome : std::uint8_t { Right, Wrong, Refused };

struct Report {
  Outcome outcome = Outcome::Right;
  ProgramFault refused;              // of a program that was not run
  std::optional<Finding> finding;    // the first Fault; none if only the bits differ
  std::optional<Finding> behind;     // of a race of a load: what ended the execution that went on (unused_loads.h)
  std::vector<Finding> suspicions;   // Disputed, Suspect and Slow, unless they fail
  std::vector<std::uint8_t> global;  // after the first execution: whole_global
  GlobalChanges changes;             // the same, against the memory of the launch
  std::size_t cancelled = 0;         // clusters that it was handed by try_cancel
  std::vector<std::uint8_t> other_global;  // bits_may_differ: after the first that left others; empty: none
  std::optional<Schedule> other_schedule;  // of that one, against the first
  std::size_t differs_at = 0;              // the first byte of those
  std::uint64_t executions = 0;
  std::uint64_t instructions = 0;
  bool exhaustive = false;  // every order that matters was executed
  std::size_t bookkeeping_bytes = 0;
  Schedule schedule;  // of the execution that showed the finding; without one: of the first
};

Report explore(const Program& program, const ExploreOptions& options);

}  // namespace tcq::machine
