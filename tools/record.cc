// record: runs suites of cases on an sm_90 GPU and writes what the device returned.
//
// The only program that writes files under tests/vectors. It never overwrites one without --force,
// and writes through a temporary file. `record check` writes nothing: it draws a suite anew and
// compares the device with the simulator.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "tools/device_jobs.h"
#include "tools/tool_main.h"

namespace {

using namespace tcq;

struct Arguments {
  std::string suite;
  std::string in;
  std::string out;
  std::uint64_t seed = 1;
  bool force = false;
};

void refuse_overwriting(const Arguments& args) {
  if (std::filesystem::exists(args.out) && !args.force)
    throw oracle::UsageError(
        fmt::format("{} exists; a recording is replaced with --force only", args.out));
}

int record_suite(const Arguments& args) {
  oracle::Recording recording;
  recording.cases = oracle::suite(args.suite, args.seed);
  if (args.suite == "range") {
    tools::record_trapping_cases(recording.cases, tools::show_progress);
    tools::require_sm90();
  } else {
    tools::require_sm90();
    tools::record_cases(recording.cases, tools::show_progress);
  }
  recording.header = tools::provenance();
  recording.header["suite"] = args.suite;
  recording.header["seed"] = std::to_string(args.seed);
  oracle::write_file(args.out, oracle::serialize(recording));
  fmt::print("{}: {} cases\n", args.out, recording.cases.size());
  return 0;
}

// Inputs come from the file, outputs from the device.
int record_directed(const Arguments& args) {
  if (args.in.empty()) throw oracle::UsageError("directed needs --in FILE with the probes");
  tools::require_sm90();
  oracle::DirectedFile file = oracle::parse_directed(oracle::read_file(args.in));
  for (const auto& [key, value] : tools::provenance()) file.header[key] = value;
  tools::record_probes(file.probes);
  oracle::write_file(args.out, oracle::serialize(file));
  fmt::print("{}: {} probes\n", args.out, file.probes.size());
  return 0;
}

int check_suite(std::string_view name, std::uint64_t seed) {
  const auto start = std::chrono::steady_clock::now();
  oracle::Recording recording;
  recording.cases = oracle::suite(name, seed);
  tools::record_cases(recording.cases, tools::show_progress);
  const oracle::Comparison c = oracle::compare(recording);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{:<12} {:>6} cases {:>10} outputs {:>8} differing bits  seed {}  {:.1f} s\n", name,
             c.cases, c.outputs, c.differing_bits, seed, seconds.count());
  if (c.differing_outputs != 0)
    fmt::print("  {} outputs differ, first: {}\n", c.differing_outputs, c.first_mismatch);
  return c.differing_bits == 0 ? 0 : tools::exit_mismatch;
}

int check(const Arguments& args) {
  tools::require_sm90();
  int status = 0;
  for (const std::string_view name : oracle::suite_names())
    status = std::max(status, check_suite(name, args.seed));
  return status;
}

int run(const Arguments& args) {
  if (args.suite == "check") return check(args);
  if (args.out.empty()) throw oracle::UsageError("--out FILE is missing");
  refuse_overwriting(args);
  return args.suite == "directed" ? record_directed(args) : record_suite(args);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments args;
  CLI::App app("Records what an sm_90 GPU returns for suites of wgmma cases.");
  app.add_option(
         "suite", args.suite,
         "slots, numeric, descriptors, sparse, range; directed (probes from --in); check (all "
         "suites against the simulator, nothing is written)")
      ->required();
  app.add_option("--in", args.in, "directed: file with the probes");
  app.add_option("--out", args.out, "file to write");
  app.add_option("--seed", args.seed, "seed of the suite (default 1)");
  app.add_flag("--force", args.force, "replace an existing recording");
  return tools::tool_main(app, "record", argc, argv, [&] { return run(args); });
}
