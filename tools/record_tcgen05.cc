// record_tcgen05: runs suites of tcgen05 cases on a GPU of compute capability 10.0 or 10.3 and
// writes what the device returned.
//
// With record, record_async and provoke the only programs that write files under tests/vectors. No
// such device was at hand: what stands above tcgen05_jobs.h is tested with made-up devices, the rest
// has been compiled, not run. Order of the cases, what stops them: tcgen05_recorder.h; processes,
// time limits, what is a trap: case_runner.h. What has ended is in a journal beside the output and
// is not repeated by the same command, whatever ended the last one; a recording is written when all
// its cases have ended, whole or not at all.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "oracle/recording/tcgen05_suites.h"
#include "tools/tcgen05_jobs.h"
#include "tools/tcgen05_task.h"
#include "tools/tool_main.h"

namespace {

using namespace tcq;

constexpr int exit_no_device = 3;
constexpr int exit_interrupted = 130;

struct Arguments {
  std::string suite;
  std::string out;
  std::string only;
  std::uint64_t seed = 1;
  double limit_s = 30;
  bool force = false;
  bool all_words = false;
  bool keep_going = false;
  bool restart = false;
};

// The suites of one command, and where each goes; no paths: nowhere.
struct Task {
  std::vector<std::string> suites;
  std::vector<std::string> paths;
  std::string journal;
};

Task task_of(const Arguments& args) {
  Task task;
  if (args.suite != "check" && args.suite != "all") {
    task = {{args.suite}, {args.out}, args.out + ".journal"};
  } else {
    for (const std::string_view name : oracle::tcgen05_suite_names()) {
      if (args.suite == "check" && !args.only.empty() && args.only != name) continue;
      task.suites.emplace_back(name);
      if (args.suite == "all")
        task.paths.push_back(fmt::format("{}/tcgen05_{}.tcqv", args.out, name));
    }
    if (args.suite == "all") task.journal = args.out + "/tcgen05.journal";
  }
  if (args.suite != "check" && args.out.empty()) throw oracle::UsageError("--out is missing");
  // A wrong name is a usage error with or without a device.
  const std::string& named = args.suite == "check" ? args.only : task.suites.front();
  if (!named.empty()) (void)oracle::tcgen05_suite(named, args.seed, Target::sm_100a);
  for (const std::string& path : task.paths)
    if (std::filesystem::exists(path) && !args.force)
      throw oracle::UsageError(
          fmt::format("{} exists; a recording is replaced with --force only", path));
  return task;
}

// A journal belongs to one device and one set of cases.
std::string identity_of(const Arguments& args, const tools::FoundDevice& device) {
  std::string text =
      fmt::format("suite: {}\nseed: {}\ntarget: {}\nall words: {}\ncommit: {}", args.suite,
                  args.seed, name(device.target), args.all_words, TCQ_COMMIT);
  for (const auto& [key, value] : device.header)
    if (key != "date") text += fmt::format("\n{}: {}", key, value);
  return text;
}

// A line that replaces itself; on a terminal only.
class Progress {
 public:
  Progress(std::size_t total, std::size_t before)
      : total_(total), before_(before), shown_(isatty(STDERR_FILENO) != 0) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { wipe(); }
  void wipe() const {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  void operator()(std::size_t done, tools::Stage stage) const {
    if (!shown_) return;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    const auto here = static_cast<double>(done - before_);
    const double left = passed.count() / here * static_cast<double>(total_ - done);
    fmt::print(stderr, "\r\033[K{}",
               tools::progress_line(done, total_, stage, passed.count(), left));
  }

 private:
  std::size_t total_;
  std::size_t before_;
  bool shown_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

tools::RecordingTask recording_task(const Arguments& args, const Task& task,
                                    const tools::FoundDevice& device) {
  tools::RecordingTask t;
  for (const std::string& name : task.suites) {
    t.suites.push_back({name, oracle::tcgen05_suite(name, args.seed, device.target)});
    for (oracle::Tcgen05Case& c : t.suites.back().cases) c.keep_words = args.all_words;
  }
  t.paths = task.paths;
  t.journal = task.journal;
  t.run = identity_of(args, device);
  t.header = device.header;
  t.header["seed"] = std::to_string(args.seed);
  t.header["target"] = name(device.target);
  return t;
}

tools::TaskResult carry_out(const Arguments& args, const Task& task,
                            const tools::FoundDevice& device) {
  tools::RecordingTask recording = recording_task(args, task, device);
  tools::RecorderOptions options;
  options.keep_going = args.keep_going;
  options.limits.one = std::chrono::milliseconds(static_cast<long>(1000 * args.limit_s));
  if (args.restart && !task.journal.empty()) std::filesystem::remove(task.journal);
  std::optional<Progress> progress;
  return tools::carry_out(recording, tools::sm100_device(), options, [&](auto& recorder) {
    progress.emplace(recorder.cases(), recorder.restored());
    recorder.on_progress = [&](std::size_t done, tools::Stage stage) { (*progress)(done, stage); };
    recorder.on_trouble = [&](const std::string& sentence) {
      progress->wipe();
      fmt::print(stderr, "  {}\n", sentence);
    };
  });
}

int run_task(const Arguments& args, const Task& task, const tools::FoundDevice& device) {
  const tools::TaskResult result = carry_out(args, task, device);
  bool differs = false, compared = false;
  for (const tools::StageResult& stage : result.stages) {
    fmt::print("{}", describe(stage));
    differs = differs || !stage.holds();
    compared = compared || stage.comparison.cases != 0;
  }
  fmt::print("{} contexts\n", result.contexts);
  for (const std::string& sentence : result.sentences) fmt::print("{}\n", sentence);
  if (task.journal.empty()) return differs ? tools::exit_mismatch : compared ? 0 : exit_no_device;
  return result.whole ? 0 : tools::exit_mismatch;
}

int run(const Arguments& args) {
  const Task task = task_of(args);
  const tools::InterruptGuard guard;
  try {
    const std::optional<tools::FoundDevice> device = tools::find_sm100();
    if (!device) return exit_no_device;
    return run_task(args, task, *device);
  } catch (const tools::Interrupted&) {
    fmt::print(stderr, "record_tcgen05: interrupted{}\n",
               task.journal.empty()
                   ? ""
                   : "; what has ended is kept, the same command goes on from there");
    return exit_interrupted;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments args;
  CLI::App app(
      "Records what tcgen05 instructions of a GPU of compute capability 10.0 or 10.3 do.\n"
      "Stages in order: ld and st; cp and shift; mma of one CTA; pairs of CTAs; allocations. One "
      "that is\nnot as expected stops those behind it.\n"
      "Exit status 1: the simulator differs, or cases have no answer; 3: there is no such device, "
      "or\nnothing was compared; 130: interrupted.");
  app.add_option("suite", args.suite,
                 "mma, ldst, cp, shift, alloc; all (each into a file in the folder --out); check "
                 "(all suites against the simulator, nothing is written)")
      ->required();
  app.add_flag("--all-words", args.all_words, "keep every word: a large file, for studying");
  app.add_option("--out", args.out, "file to write; all: folder");
  app.add_option("--only", args.only, "check: this suite only");
  app.add_option("--seed", args.seed, "seed of the suite (default 1)");
  app.add_option("--limit", args.limit_s,
                 "seconds for one case, its assembling included, until it counts as hung "
                 "(default 30)")
      ->check(CLI::Range(0.1, 3600.0));
  app.add_flag("--keep-going", args.keep_going,
               "run what builds on a stage that is not as expected, and write cases without an "
               "answer as such");
  app.add_flag("--restart", args.restart, "throw the journal of an earlier run away");
  app.add_flag("--force", args.force, "replace an existing recording");
  return tools::tool_main(app, "record_tcgen05", argc, argv, [&] { return run(args); });
}
