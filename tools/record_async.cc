// record_async: runs suites of TMA and bulk copies, ldmatrix, stmatrix, tensor-map encodings,
// sequences of mbarrier operations and wgmmas in groups on an sm_90 GPU and writes what the device
// returned.
//
// Beside `record` the only program that writes files under tests/vectors. `record_async check`
// writes nothing: it draws every suite anew and compares the device with the simulator, each suite
// in a process of its own, so that a trap ends no other. For differing cases it prints what they
// have in common and where each byte came from, and which rules floating-point reductions follow;
// and for sequences of mbarrier operations that PTX leaves open, what the device did.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "cuda/runtime/launch.h"
#include "oracle/recording/async_float.h"
#include "oracle/recording/async_mbarrier.h"
#include "oracle/recording/async_suites.h"
#include "tools/async_jobs.h"
#include "tools/device_jobs.h"
#include "tools/tool_main.h"

namespace {

using namespace tcq;

struct Arguments {
  std::string suite;
  std::string in;
  std::string out;
  std::string only;
  std::uint64_t seed = 1;
  bool force = false;
  bool all_bytes = false;
};

// The edge suites' cases run in children, which must not inherit a device in use.
void run_cases(std::string_view suite, std::vector<oracle::AsyncCase>& cases) {
  if (std::ranges::count(oracle::async_edge_suite_names(), suite) != 0) {
    tools::record_async_edge_cases(cases, tools::show_progress);
    tools::require_sm90();
  } else {
    tools::require_sm90();
    tools::record_async_cases(cases, tools::show_progress);
  }
}

int record_suite(const Arguments& args) {
  if (args.out.empty()) throw oracle::UsageError("--out FILE is missing");
  if (std::filesystem::exists(args.out) && !args.force)
    throw oracle::UsageError(
        fmt::format("{} exists; a recording is replaced with --force only", args.out));
  oracle::AsyncRecording recording;
  recording.cases = oracle::async_suite(args.suite, args.seed);
  for (oracle::AsyncCase& c : recording.cases) c.keep_bytes = c.keep_bytes || args.all_bytes;
  run_cases(args.suite, recording.cases);
  recording.header = tools::provenance();
  recording.header["suite"] = args.suite;
  recording.header["seed"] = std::to_string(args.seed);
  oracle::write_file(args.out, oracle::serialize(recording));
  fmt::print("{}: {} cases\n", args.out, recording.cases.size());
  return 0;
}

int print_comparison(std::string_view name, const oracle::AsyncRecording& recording) {
  const oracle::Comparison c = oracle::compare(recording);
  fmt::print("{:<14} {:>5} cases {:>9} bytes {:>8} differing bytes\n", name, c.cases, c.outputs,
             c.differing_outputs);
  fmt::print("{}{}{}", oracle::explain_differences(recording),
             oracle::explain_float_reductions(recording),
             oracle::explain_open_mbarriers(recording));
  return c.differing_outputs == 0 ? 0 : tools::exit_mismatch;
}

int check_suite(std::string_view name, std::uint64_t seed) {
  oracle::AsyncRecording recording;
  recording.cases = oracle::async_suite(name, seed);
  run_cases(name, recording.cases);
  return print_comparison(name, recording);
}

// Needs no device: the differences of a recording made with --all-bytes.
int explain(const Arguments& args) {
  const oracle::AsyncRecording recording =
      oracle::parse_async_recording(oracle::read_file(args.in));
  return print_comparison(recording.header.at("suite"), recording);
}

// In a child: the device may be lost at the end of a suite.
int check_in_child(std::string_view name, std::uint64_t seed) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) {
    int status = tools::exit_mismatch;
    try {
      status = check_suite(name, seed);
    } catch (const oracle::UsageError& error) {
      fmt::print("{}: {}\n", name, error.what());
      status = tools::exit_usage;
    } catch (const std::exception& error) {
      fmt::print("{:<14} FAILED: {}\n", name, error.what());
    }
    std::fflush(stdout);
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : tools::exit_mismatch;
}

int check(const Arguments& args) {
  std::vector<std::string_view> names = oracle::async_suite_names();
  for (const std::string_view edge : oracle::async_edge_suite_names()) names.push_back(edge);
  int status = 0;
  for (const std::string_view name : names)
    if (args.only.empty() || args.only == name)
      status = std::max(status, check_in_child(name, args.seed));
  return status;
}

int run(const Arguments& args) {
  if (args.suite == "check") return check(args);
  return args.suite == "explain" ? explain(args) : record_suite(args);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments args;
  CLI::App app(
      "Records what TMA, ldmatrix, stmatrix, mbarriers, groups of wgmmas and the tensor-map "
      "encoder "
      "of an sm_90 GPU do.");
  app.add_option(
         "suite", args.suite,
         "tma_load, tma_convert, tma_store, tma_reduce, tma_multicast, matrix, encode, interleave, "
         "bulk, reduce_float, mbarrier, groups, edge, bulk_edge, mbarrier_edge; "
         "check (all suites against the simulator, nothing is written); explain (--in FILE)")
      ->required();
  app.add_option("--in", args.in, "explain: a recording with all bytes");
  app.add_flag("--all-bytes", args.all_bytes, "keep every byte: a large file, for studying");
  app.add_option("--out", args.out, "file to write");
  app.add_option("--only", args.only, "check: this suite only");
  app.add_option("--seed", args.seed, "seed of the suite (default 1)");
  app.add_flag("--force", args.force, "replace an existing recording");
  return tools::tool_main(app, "record_async", argc, argv, [&] { return run(args); });
}
