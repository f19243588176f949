// What `tcq run` answers, as values, and its one rendering as text and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oracle/answer/drawing.h"
#include "oracle/answer/value.h"
#include "oracle/run/schedule.h"

namespace tcq::oracle::run {

struct FindingText {
  std::string fault;
  std::string severity;
  std::string at;                  // the statement and where it stands
  std::vector<std::string> lines;  // of it: its own, then where each inlined function was called
  std::vector<std::string> earlier_lines;  // the same of what it meets
  std::string happened;
  std::string fix;
  std::string source;
  std::string array;  // of ResultsDiffer: whose bits differ
  std::string text;   // all of it
  std::uint64_t cluster = 0, last_cluster = 0;
  std::uint64_t clusters = 1;            // that show it
  std::vector<std::int64_t> statements;  // of the kernel, that show it
  std::vector<std::string> also;         // `at` of those behind the first
  bool is_unmodelled = false;
  std::optional<StoredSchedule> schedule;  // of what ended an execution
};

// Into the one of the list that says the same of the same line of the source; else one more.
void add_suspicion(std::vector<FindingText>& list, FindingText found);

struct Report {
  std::string kernel;
  std::uint64_t clusters = 0;  // of the grid
  std::uint64_t ran = 0;
  std::uint64_t cancelled = 0;  // of those that did not begin: handed out by try_cancel
  bool never_cancels = false;   // the kernel has a try_cancel, and all clusters begin
  std::uint64_t executions = 0;
  std::uint64_t together = 0;  // executions of all clusters at once
  std::uint64_t instructions = 0;
  std::uint64_t kernel_instructions = 0;        // of its text, with functions put in
  std::uint64_t kernel_executed = 0;            // of them, by some thread in some execution
  std::vector<std::string> lines_not_executed;  // of the PTX, "12" or "12-20"
  bool exhaustive = true;
  bool interrupted = false;
  bool has_results = false;               // the arrays are what an execution left at its end
  std::optional<std::uint64_t> replayed;  // the cluster of the one execution that was asked for
  std::vector<FindingText> findings;      // that end an execution
  std::vector<FindingText> suspicions;    // disputed, suspect, slow
  std::vector<std::string>
      unmodelled;  // instructions of the kernel that are not executed, with their lines
  std::vector<std::string> approximate;  // opcodes whose bits may not be the chip's, and why
  std::vector<std::string> written;      // files
  std::optional<Drawing>
      timeline;  // if asked for: of what showed the finding, else of the first execution

  int status() const;
};

std::string text_of(const Report& report);
Value value_of(const Report& report);

}  // namespace tcq::oracle::run
