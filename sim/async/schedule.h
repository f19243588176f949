// One execution of a program as a plain value: everything in it that was chosen. replay.h repeats
// it; as text: oracle/diagnosis/schedule_text.h.
//
// Chosen are the order in which warps step and copies and commits in flight complete, when data in
// flight moves (Timing, and Cluster::advance_data in random executions), and the bound on
// instructions and which severities end an execution. All else follows from the state, the result of an mbarrier.test_wait too: it and
// where a warp stands are kept only to notice a schedule that does not belong to the program.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/async/agent.h"
#include "sim/async/undefined_bytes.h"
#include "sim/async/unused_loads.h"
#include "sim/isa/fault/fault.h"

namespace tcq::machine {

class Program;

// When data of stores and wgmmas moves, if nothing forces it: as soon or as late as possible.
enum class Timing : std::uint8_t { Earliest, Latest };

// Agent: a warp runs to its next synchronising statement, or a copy or commit completes.
// Data: one of the operations in flight moves its data.
enum class StepKind : std::uint8_t { Agent, Data };
enum class TestResult : std::uint8_t { None, False, True };

struct ScheduleStep {
  StepKind kind = StepKind::Agent;
  std::uint64_t what = 0;              // AgentId, or the choice of advance_data
  std::int64_t statement = -1;         // warps: the one it stands before
  TestResult test = TestResult::None;  // warps: what that found, if it is a test_wait
  friend bool operator==(const ScheduleStep&, const ScheduleStep&) = default;
};

struct Execution {
  Timing timing = Timing::Latest;
  std::vector<ScheduleStep> steps;
  friend bool operator==(const Execution&, const Execution&) = default;
};

struct Schedule {
  std::uint64_t program = 0;  // fingerprint()
  std::uint64_t max_instructions = 0;
  Severities fails = {};
  Execution execution;
  std::optional<Execution> against;       // ResultsDiffer: the other one
  RacingLoads left_out = {};              // unused_loads.h; such a schedule is not written down
  std::optional<Contents> contents = {};  // undefined_bytes.h; nor is such a one
  std::optional<std::int64_t> late_at = {};  // late_words.h; nor is such a one
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// Equal for equal programs. Names and source lines do not count: they change nothing.
std::uint64_t fingerprint(const Program& program);

}  // namespace tcq::machine
