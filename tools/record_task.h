// Suites of cases carried out to the end: journal, recorder, files.
//
// What ended in an earlier run comes from the journal; each case that ends goes there at once. A
// recording is written when all its cases have the device's answer, whole or not at all; the journal
// goes when no recording is open any more. What order and what stops: recorder.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/recorder.h"

namespace tcq::tools {

struct RecordingTask {
  std::vector<SuiteRun> suites;
  std::vector<std::string> paths;  // of each suite's recording; empty: none is written
  std::string journal;             // its path; empty: none
  std::string run;                 // what the journal belongs to: device, seed, ...
  oracle::Header header;           // of the recordings, without suite
};

struct TaskResult {
  std::vector<StageResult> stages;
  std::vector<std::string> sentences;  // about each file
  bool whole = true;                   // every recording is written
  int contexts = 0;
};

// `watch` may take the recorder's callbacks but on_entry before it runs. Throws Interrupted,
// UsageError (a journal of another run), BadFile and std::runtime_error.
TaskResult carry_out(RecordingTask& task, const Device& device, const RecorderOptions& options,
                     const std::function<void(Recorder&)>& watch);

}  // namespace tcq::tools
