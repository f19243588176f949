// The order in which cases go to a device, what stops them, and what is kept.
//
// Instructions of sm_90 are one stage. Those of tcgen05 build on one another: what moves images of Tensor Memory (ld, st), then cp and shift, then
// mma of one CTA, then all of pairs, then allocations, which block. A stage in which a case did not
// answer, or answered otherwise than the simulator, rests on a wrong assumption of somebody; what
// builds on it is not run unless the caller insists. Within a stage all cases are run, unless
// too many fail. Every case that ends goes to the journal before the next counts; an entry of an
// earlier run is a case that is not repeated, unless its probe failed. How a case is run is the
// device's (case_runner.h, sm90_jobs.h, sm100_jobs.h); nothing here needs CUDA.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "oracle/recording/recording.h"
#include "tools/case_runner.h"

namespace tcq::tools {

enum class Stage : std::uint8_t { Hopper, LdSt, Cp, Mma, Pairs, Alloc };
inline constexpr int stage_count = 6;

Stage stage_of(const oracle::Case& c);
const char* name(Stage stage);
// One word, as a command has it: "ld-st".
const char* word(Stage stage);
// Throws UsageError, with the words that there are.
Stage parse_stage(std::string_view word);

// An answer is the bytes of the output. A control answers nothing; it may be empty.
struct Device {
  std::function<void()> open;
  std::function<Attempt(const oracle::Case&)> run;
  std::function<Attempt(const oracle::Case&)> control;
};

struct SuiteRun {
  std::string name;
  std::vector<oracle::Case> cases;
};

// Leaves the cases of one stage.
void keep_stage(std::vector<SuiteRun>& suites, Stage stage);

struct RecorderOptions {
  bool keep_going = false;
  int max_failures = 16;  // unexpected cases of a stage
  Limits limits;
};

struct StageResult {
  Stage stage = Stage::LdSt;
  std::size_t cases = 0;
  std::size_t unexpected = 0;  // neither completed nor ended as the simulator says
  std::array<std::size_t, oracle::outcome_count> outcomes = {};
  oracle::Comparison comparison;  // with the simulator, of the cases of this run and earlier ones
  std::string stopped;            // why cases were not run; "" if none was left out

  // Every case was run, none is unexpected, and nothing differs.
  bool holds() const;
};

// One line, and a second one where something differs or was stopped.
std::string describe(const StageResult& result);

// "311 of 1864 cases, mma of one CTA, 7 s, about 34 s left"
std::string progress_line(std::size_t done, std::size_t total, Stage stage, double seconds,
                          double seconds_left);

class Recorder {
 public:
  // Every case of the suites becomes NotRun. They outlive the recorder.
  Recorder(std::span<SuiteRun> suites, Device device, RecorderOptions options);

  // An entry that on_entry got in an earlier run. Throws BadFile if it is of another case.
  void restore(std::string_view entry);

  // Gets an entry for the journal, of each case with an answer; what it does, it has done when it returns.
  std::function<void(std::string_view entry)> on_entry = [](std::string_view) {};
  // Gets a sentence about every case that is unexpected.
  std::function<void(const std::string& sentence)> on_trouble = [](const std::string&) {};
  // Gets the number of cases that ended, in this run and earlier ones.
  std::function<void(std::size_t done, Stage stage)> on_progress = [](std::size_t, Stage) {};

  // Runs what has not ended. Throws Interrupted; what has ended by then is in the suites.
  std::vector<StageResult> run();

  std::size_t cases() const { return order_.size(); }
  std::size_t restored() const { return restored_; }
  int contexts() const { return runner_.contexts(); }

 private:
  struct Place {
    std::size_t suite;
    std::size_t index;
  };

  CaseDevice on_places(Device device) const;
  oracle::Case& at(std::size_t place) const;
  StageResult run_stage(Stage stage, const std::string& blocked);
  // Is the case as expected?
  bool finish(std::size_t place, Attempt attempt, StageResult& result);
  bool count(std::size_t place, StageResult& result) const;

  std::span<SuiteRun> suites_;
  RecorderOptions options_;
  std::vector<Place> order_;  // all cases, suite by suite
  CaseRunner runner_;
  std::size_t restored_ = 0;
  std::size_t done_ = 0;
};

}  // namespace tcq::tools
