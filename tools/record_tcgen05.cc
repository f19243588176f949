// record_tcgen05: runs suites of tcgen05 cases on a GPU of compute capability 10.0 or 10.3 and
// writes what the device returned.
//
// With record, record_async and provoke the only programs that write files under tests/vectors. No
// such device was at hand: it has been compiled, not run, and nothing it would write exists yet.
// Each group of like cases runs in a process of its own, so that a trap ends no other. A file is
// written at the end, through a temporary one: an interrupted run leaves nothing behind.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "oracle/tcgen05_case.h"
#include "oracle/tcgen05_suites.h"
#include "oracle/vectors.h"
#include "tools/device_jobs.h"
#include "tools/tcgen05_jobs.h"
#include "tools/tool_main.h"

namespace {

using namespace tcq;

constexpr int exit_no_device = 3;

struct Arguments {
  std::string suite;
  std::string out;
  std::string only;
  std::uint64_t seed = 1;
  bool force = false;
  bool all_words = false;
};

std::string outcomes(const std::vector<oracle::Tcgen05Case>& cases) {
  const auto count = [&cases](oracle::Tcgen05Outcome outcome) {
    return std::ranges::count(cases, outcome, &oracle::Tcgen05Case::outcome);
  };
  return fmt::format("{} cases, {} timeouts, {} traps", cases.size(),
                     count(oracle::Tcgen05Outcome::Timeout), count(oracle::Tcgen05Outcome::Trap));
}

void refuse_overwriting(const Arguments& args) {
  if (args.out.empty()) throw oracle::UsageError("--out FILE is missing");
  if (std::filesystem::exists(args.out) && !args.force)
    throw oracle::UsageError(
        fmt::format("{} exists; a recording is replaced with --force only", args.out));
}

int record_suite(const Arguments& args) {
  refuse_overwriting(args);
  // A wrong name is a usage error with or without a device.
  (void)oracle::tcgen05_suite(args.suite, args.seed, Target::sm_100a);
  const std::optional<Target> target = tools::find_sm100();
  if (!target) return exit_no_device;
  oracle::Tcgen05Recording recording;
  recording.cases = oracle::tcgen05_suite(args.suite, args.seed, *target);
  for (oracle::Tcgen05Case& c : recording.cases) c.keep_words = args.all_words;
  tools::record_tcgen05_cases(recording.cases, tools::show_progress);
  recording.header = tools::provenance();  // uses the device: no child is started after this
  recording.header["suite"] = args.suite;
  recording.header["seed"] = std::to_string(args.seed);
  recording.header["target"] = name(*target);
  oracle::write_file(args.out, oracle::serialize(recording));
  fmt::print("{}: {}\n", args.out, outcomes(recording.cases));
  return 0;
}

// The one place where outputs of a device meet the simulator. The simulator executes no tcgen05
// instruction yet, so that nothing is compared, and the status says so.
int compare_with_simulator(std::string_view suite, const std::vector<oracle::Tcgen05Case>& cases) {
  fmt::print("{:<6} {}; not compared: the simulator does not execute tcgen05\n", suite,
             outcomes(cases));
  return exit_no_device;
}

int check(const Arguments& args) {
  const std::optional<Target> target = tools::find_sm100();
  if (!target) return exit_no_device;
  int status = 0;
  for (const std::string_view suite : oracle::tcgen05_suite_names()) {
    if (!args.only.empty() && args.only != suite) continue;
    std::vector<oracle::Tcgen05Case> cases = oracle::tcgen05_suite(suite, args.seed, *target);
    tools::record_tcgen05_cases(cases, tools::show_progress);
    status = std::max(status, compare_with_simulator(suite, cases));
  }
  return status;
}

int run(const Arguments& args) {
  if (!args.only.empty()) (void)oracle::tcgen05_suite(args.only, args.seed, Target::sm_100a);
  return args.suite == "check" ? check(args) : record_suite(args);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments args;
  CLI::App app(
      "Records what tcgen05 instructions of a GPU of compute capability 10.0 or 10.3 do.\n"
      "Exit status 3: there is no such device, or nothing to compare with.");
  app.add_option("suite", args.suite,
                 "mma, ldst, cp, shift, alloc; check (all suites against the simulator, nothing is "
                 "written)")
      ->required();
  app.add_flag("--all-words", args.all_words, "keep every word: a large file, for studying");
  app.add_option("--out", args.out, "file to write");
  app.add_option("--only", args.only, "check: this suite only");
  app.add_option("--seed", args.seed, "seed of the suite (default 1)");
  app.add_flag("--force", args.force, "replace an existing recording");
  return tools::tool_main(app, "record_tcgen05", argc, argv, [&] { return run(args); });
}
