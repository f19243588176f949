// record: runs suites of cases on a GPU and writes what the device returned.
//
// With provoke the only program that writes files under tests/vectors. Suites of Hopper need a device of
// compute capability 9.0, those of tcgen05 10.0 or 10.3; of the latter none was at hand: what stands
// above sm100_jobs.h is tested with made-up devices, the rest has been compiled, not run. Order of the
// cases, what stops them: recorder.h; processes, time limits, what is a trap: case_runner.h. What has
// ended is in a journal beside the output and is not repeated by the same command, whatever ended the
// last one; a recording is written when all its cases have ended, whole or not at all.
//
// `record check` writes nothing: it draws suites anew and compares the device with the simulator. For
// differing cases of Hopper, and in `record explain --in FILE`, which needs no device, it prints what
// they have in common, where their bytes came from, and which rules reductions of floats follow. `record digest`
// drops outputs that were kept because they differed and no longer do.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "oracle/recording/digest.h"
#include "oracle/recording/directed.h"
#include "oracle/recording/explain.h"
#include "oracle/recording/files.h"
#include "oracle/recording/reduction_rules.h"
#include "oracle/recording/suites.h"
#include "tools/device_jobs.h"
#include "tools/record_task.h"
#include "tools/sm100_jobs.h"
#include "tools/sm90_jobs.h"
#include "tools/tool_main.h"

namespace {

using namespace tcq;

constexpr int exit_no_device = 3;
constexpr int exit_interrupted = 130;

struct Arguments {
  std::string suite;
  std::string in;
  std::string out;
  std::string only;
  std::string stage;
  std::uint64_t seed = 1;
  double limit_s = 30;
  bool force = false;
  bool all_bytes = false;
  bool keep_going = false;
  bool restart = false;

  bool checks() const { return suite == "check"; }
};

// The suites of one command, and where each goes; no paths: nowhere.
struct Task {
  std::vector<std::string> suites;
  std::vector<std::string> paths;
  std::string journal;
};

void refuse_overwriting(const std::string& path, bool force) {
  if (std::filesystem::exists(path) && !force)
    throw oracle::UsageError(
        fmt::format("{} exists; a recording is replaced with --force only", path));
}

// `tcgen05`: which of both devices.
Task task_of(const Arguments& args, bool tcgen05) {
  Task task;
  for (const oracle::SuiteInfo& suite : oracle::suites()) {
    const bool all = args.checks() ? args.only.empty() : args.suite == "tcgen05";
    const std::string& one = args.checks() ? args.only : args.suite;
    if (all ? oracle::is_tcgen05_suite(suite.name) != tcgen05 : suite.name != one) continue;
    task.suites.emplace_back(suite.name);
    if (!args.checks())
      task.paths.push_back(all ? fmt::format("{}/{}.tcqv", args.out, suite.name) : args.out);
  }
  if (!args.checks())
    task.journal = args.suite == "tcgen05" ? args.out + "/tcgen05.journal" : args.out + ".journal";
  for (const std::string& path : task.paths) refuse_overwriting(path, args.force);
  return task;
}

// A wrong name is a usage error with or without a device.
void demand_usable(const Arguments& args) {
  if (!args.checks() && args.out.empty()) throw oracle::UsageError("--out is missing");
  const std::string& named = args.checks() ? args.only : args.suite;
  if (!named.empty() && named != "tcgen05") (void)oracle::draw_suite(named, args.seed);
  if (args.stage.empty()) return;
  (void)tools::parse_stage(args.stage);
  if (!args.checks()) throw oracle::UsageError("--stage is check's: a recording is whole");
}

// A journal belongs to one device and one set of cases.
std::string identity_of(const Arguments& args, const tools::FoundDevice& device) {
  std::string text =
      fmt::format("suite: {}\nseed: {}\ntarget: {}\nall bytes: {}\ncommit: {}", args.suite,
                  args.seed, name(device.target), args.all_bytes, TCQ_COMMIT);
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

bool is_sm100(const tools::FoundDevice& device) { return device.target != Target::sm_90a; }

tools::RecordingTask recording_task(const Arguments& args, const Task& task,
                                    const tools::FoundDevice& device) {
  tools::RecordingTask t;
  for (const std::string& name : task.suites) {
    t.suites.push_back({name, oracle::draw_suite(name, args.seed, device.target)});
    // An explanation needs the bytes; those of tcgen05 are too many to be kept for one.
    const bool all = args.all_bytes || (args.checks() && !is_sm100(device));
    for (oracle::Case& c : t.suites.back().cases) c.keep = c.keep || all;
  }
  if (!args.stage.empty()) keep_stage(t.suites, tools::parse_stage(args.stage));
  t.paths = task.paths;
  t.journal = task.journal;
  t.run = identity_of(args, device);
  t.header = device.header;
  t.header["seed"] = std::to_string(args.seed);
  if (is_sm100(device)) t.header["target"] = name(device.target);
  return t;
}

tools::TaskResult carry_out(const Arguments& args, tools::RecordingTask& recording,
                            const tools::Device& device) {
  tools::RecorderOptions options;
  options.keep_going = args.keep_going;
  options.limits.one = std::chrono::milliseconds(static_cast<long>(1000 * args.limit_s));
  if (args.restart && !recording.journal.empty()) std::filesystem::remove(recording.journal);
  std::optional<Progress> progress;
  return tools::carry_out(recording, device, options, [&](auto& recorder) {
    progress.emplace(recorder.cases(), recorder.restored());
    recorder.on_progress = [&](std::size_t done, tools::Stage stage) { (*progress)(done, stage); };
    recorder.on_trouble = [&](const std::string& sentence) {
      progress->wipe();
      fmt::print(stderr, "  {}\n", sentence);
    };
  });
}

std::string explanation(const oracle::Recording& recording) {
  return oracle::explain_differences(recording) + oracle::explain_float_reductions(recording) +
         oracle::explain_open_mbarriers(recording) + oracle::explain_scalar_forms(recording);
}

int run_task(const Arguments& args, const Task& task, const tools::FoundDevice& device) {
  tools::RecordingTask recording = recording_task(args, task, device);
  const tools::TaskResult result =
      carry_out(args, recording, is_sm100(device) ? tools::sm100_device() : tools::sm90_device());
  bool differs = false, compared = false;
  for (const tools::StageResult& stage : result.stages) {
    fmt::print("{}", describe(stage));
    differs = differs || !stage.holds();
    compared = compared || stage.comparison.cases != 0;
  }
  fmt::print("{} contexts\n", result.contexts);
  for (const std::string& sentence : result.sentences) fmt::print("{}\n", sentence);
  if (!args.checks()) return result.whole ? 0 : tools::exit_mismatch;
  if (differs && !is_sm100(device))
    for (tools::SuiteRun& suite : recording.suites)
      fmt::print("{}:\n{}", suite.name, explanation({{}, std::move(suite.cases)}));
  return differs ? tools::exit_mismatch : compared ? 0 : exit_no_device;
}

// The device that the command is for; whichever there is for `check` of all suites.
std::optional<tools::FoundDevice> find(const Arguments& args) {
  const std::string& named = args.checks() ? args.only : args.suite;
  if (!args.stage.empty())
    return tools::parse_stage(args.stage) == tools::Stage::Hopper ? tools::find_sm90()
                                                                  : tools::find_sm100();
  if (named.empty()) return tools::find_any();
  return named.starts_with("tcgen05") ? tools::find_sm100() : tools::find_sm90();
}

int run_suites(const Arguments& args) {
  demand_usable(args);
  Task task = task_of(args, args.suite == "tcgen05");  // its files are kept without a device, too
  const tools::InterruptGuard guard;
  try {
    const std::optional<tools::FoundDevice> device = find(args);
    if (!device) return exit_no_device;
    if (is_sm100(*device)) task = task_of(args, true);
    return run_task(args, task, *device);
  } catch (const tools::Interrupted&) {
    fmt::print(stderr, "record: interrupted{}\n",
               task.journal.empty()
                   ? ""
                   : "; what has ended is kept, the same command goes on from there");
    return exit_interrupted;
  }
}

// Inputs come from the file, outputs from the device.
int record_directed(const Arguments& args) {
  if (args.out.empty()) throw oracle::UsageError("--out is missing");
  if (args.in.empty()) throw oracle::UsageError("directed needs --in FILE with the probes");
  refuse_overwriting(args.out, args.force);
  tools::require_sm90();
  oracle::DirectedFile file = oracle::parse_directed(oracle::read_file(args.in));
  for (const auto& [key, value] : tools::provenance()) file.header[key] = value;
  tools::record_probes(file.probes);
  oracle::write_file(args.out, oracle::serialize(file));
  fmt::print("{}: {} probes\n", args.out, file.probes.size());
  return 0;
}

int explain(const Arguments& args) {
  const oracle::Recording recording = oracle::parse_recording(oracle::read_file(args.in));
  const oracle::Comparison c = oracle::compare(recording);
  fmt::print("{} cases, {} outputs, {} differ\n{}", c.cases, c.outputs, c.differing_outputs,
             explanation(recording));
  return c.differing_outputs == 0 ? 0 : tools::exit_mismatch;
}

int digest(const Arguments& args) {
  if (args.in.empty() || args.out.empty())
    throw oracle::UsageError("digest needs --in FILE and --out FILE");
  refuse_overwriting(args.out, args.force);
  oracle::Recording recording = oracle::parse_recording(oracle::read_file(args.in));
  const std::size_t dropped = oracle::drop_agreeing_outputs(recording);
  oracle::write_file(args.out, oracle::serialize(recording));
  fmt::print("{}: of {} cases the hashes alone are left\n", args.out, dropped);
  return 0;
}

int run(const Arguments& args) {
  if (args.suite == "digest") return digest(args);
  if (args.suite == "explain") return explain(args);
  return args.suite == "directed" ? record_directed(args) : run_suites(args);
}

std::string list_of_suites() {
  std::string text;
  for (const oracle::SuiteInfo& suite : oracle::suites())
    text += fmt::format("\n  {:<16}{}", suite.name, suite.about);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments args;
  CLI::App app(
      "Records what a GPU returns for suites of cases.\n"
      "Exit status 1: the simulator differs, or cases have no answer; 3: there is no such device, "
      "or\nnothing was compared; 130: interrupted.");
  app.add_option(
         "suite", args.suite,
         "directed (probes from --in); tcgen05 (all of its suites, each into a file in the "
         "folder --out); check (suites against the simulator, nothing is written); explain "
         "(--in FILE, no device); digest (--in FILE without the outputs of scalar forms that no "
         "longer differ, no device); or one of" +
             list_of_suites())
      ->required();
  app.add_flag("--all-bytes", args.all_bytes, "keep every byte: a large file, for studying");
  app.add_option(
      "--in", args.in,
      "directed: file with the probes; explain: a recording with all bytes; digest: a recording");
  app.add_option("--out", args.out, "file to write; tcgen05: folder");
  app.add_option("--only", args.only, "check: this suite only");
  app.add_option(
      "--stage", args.stage,
      "check: the cases of one stage only: sm_90, or of tcgen05 in this order ld-st, cp, "
      "mma, pairs, alloc");
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
  return tools::tool_main(app, "record", argc, argv, [&] { return run(args); });
}
