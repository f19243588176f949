#include "tools/record_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "oracle/recording/files.h"
#include "tools/journal.h"

namespace tcq::tools {
namespace {

// Cases without an answer are written as such only if the caller insists.
void write_recording(const RecordingTask& task, std::size_t which, bool insists,
                     TaskResult& result) {
  const SuiteRun& suite = task.suites[which];
  const std::string& path = task.paths[which];
  const auto open = std::ranges::count_if(
      suite.cases, [](const oracle::Case& c) { return !is_answer(c.outcome); });
  if (open != 0 && !insists) {
    result.whole = false;
    result.sentences.push_back(
        fmt::format("{}: not written, {} of {} cases have no answer; the same command tries those",
                    path, open, suite.cases.size()));
    return;
  }
  oracle::Recording recording{task.header, suite.cases};
  recording.header["suite"] = suite.name;
  oracle::write_file(path, oracle::serialize(recording));
  sync_folder(path);
  result.sentences.push_back(
      fmt::format("{}: {} cases, {} without an answer", path, suite.cases.size(), open));
}

}  // namespace

TaskResult carry_out(RecordingTask& task, const Device& device, const RecorderOptions& options,
                     const std::function<void(Recorder&)>& watch) {
  TaskResult result;
  Recorder recorder(task.suites, device, options);
  std::optional<Journal> journal;
  if (!task.journal.empty()) {
    std::vector<std::string> entries;
    journal.emplace(task.journal, task.run, entries);
    for (const std::string& entry : entries) recorder.restore(entry);
    recorder.on_entry = [&journal](std::string_view entry) { journal->append(entry); };
    if (recorder.restored() != 0)
      result.sentences.push_back(fmt::format("{}: {} of {} cases had ended before", task.journal,
                                             recorder.restored(), recorder.cases()));
  }
  watch(recorder);
  result.stages = recorder.run();
  result.contexts = recorder.contexts();
  for (std::size_t i = 0; i < task.paths.size(); ++i)
    write_recording(task, i, options.keep_going, result);
  if (journal && result.whole) journal->remove();
  return result;
}

}  // namespace tcq::tools
