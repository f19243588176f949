// What `tcq run` answers, as values, and its one rendering as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/answer/value.h"

namespace tcq::oracle::run {

struct FindingText {
  std::string fault;
  std::string severity;
  std::string at;  // the statement and where it stands
  std::string happened;
  std::string fix;
  std::string source;
  std::string text;  // all of it
  std::uint64_t cluster = 0;
  bool is_unmodelled = false;
};

struct Report {
  std::string kernel;
  std::uint64_t clusters = 0;  // of the grid
  std::uint64_t ran = 0;
  std::uint64_t executions = 0;
  std::uint64_t instructions = 0;
  bool exhaustive = true;
  bool interrupted = false;
  std::vector<FindingText> findings;    // that end an execution
  std::vector<FindingText> suspicions;  // disputed, suspect, slow
  std::vector<std::string>
      unmodelled;  // instructions of the kernel that are not executed, with their lines
  std::vector<std::string> approximate;  // opcodes whose bits are not the chip's, with their bounds
  std::vector<std::string> written;      // files

  int status() const;
};

std::string text_of(const Report& report);
Value value_of(const Report& report);

}  // namespace tcq::oracle::run
