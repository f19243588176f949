// provoke: runs both versions of every provoking program on an sm_90 GPU and prints what came out.
//
// Each version runs in a child process of its own: a trap ends no other, and a kernel that never
// returns is killed with its process. `--out FILE` writes the recording provoked.txt: a header as
// other recordings have, then row, program, version, runs, wrong, timeouts and end, separated by
// tabs. Exit status 1 if a correct version showed anything. The programs: cuda/litmus/litmus.h.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>

#include "cuda/litmus/litmus.h"
#include "oracle/recording/provoked.h"
#include "oracle/recording/files.h"
#include "tools/device_jobs.h"
#include "tools/tool_main.h"

namespace {

using namespace tcq;

struct Arguments {
  std::string out;
  std::string only;
  std::uint64_t runs = 200'000;
  int limit_s = 12;
  bool force = false;
};

// What a child left: its text, and how it ended.
struct Ended {
  std::string text;
  enum { Well, Failed, Killed } how = Failed;
};

// In a child: sends what `work` returns, or the sentence of its error, through the pipe.
[[noreturn]] void run_child(const std::function<std::string()>& work, int pipe_end) {
  int status = 0;
  std::string text;
  try {
    text = work();
  } catch (const std::exception& error) {
    text = error.what();
    status = 1;
  }
  if (write(pipe_end, text.data(), text.size()) != static_cast<ssize_t>(text.size())) status = 1;
  _exit(status);
}

// The text until the child closes its end; false if that takes longer than `limit_s`.
bool read_all(int pipe_end, int limit_s, std::string& text) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(limit_s);
  char buffer[4096];
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{pipe_end, POLLIN, 0};
    if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) <= 0) return false;
    const ssize_t got = read(pipe_end, buffer, sizeof buffer);
    if (got <= 0) return true;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

// Requires: this process has not used the device.
Ended in_child(int limit_s, const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe to the child process");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) run_child(work, ends[1]);
  close(ends[1]);
  Ended ended;
  const bool in_time = read_all(ends[0], limit_s, ended.text);
  close(ends[0]);
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (!in_time)
    ended.how = Ended::Killed;
  else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    ended.how = Ended::Well;
  return ended;
}

// The name of the CUDA error in a sentence of CUDA_CHECK.
std::string error_name(const std::string& sentence) {
  const std::size_t at = sentence.find("cudaError");
  if (at == std::string::npos) return "failed";
  return sentence.substr(at, sentence.find(',', at) - at);
}

// Row, program, version, runs, wrong, timeouts; and the end: completed, killed, or a CUDA error.
using Line = std::array<std::string, oracle::provoked_fields>;

bool as_a_correct_one(const Line& line) {
  return line[4] == "0" && line[5] == "0" && line[6] == "completed";
}

std::vector<std::string> at_tabs(const std::string& text) {
  std::vector<std::string> fields;
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t tab = text.find('\t', at);
    fields.push_back(text.substr(at, tab - at));
    at = tab == std::string::npos ? tab : tab + 1;
  }
  return fields;
}

Line run_one(const Arguments& args, const cuda::Provocation& about, cuda::Version version) {
  const Ended ended = in_child(args.limit_s, [&] {
    const cuda::ProvokeCounts c = cuda::run(about, version, args.runs);
    return fmt::format("{}\t{}\t{}", c.runs, c.wrong, c.timeouts);
  });
  Line line = {about.row, about.name, version == cuda::Version::Correct ? "correct" : "mutant",
               "0",       "0",        "0",
               "killed"};
  if (ended.how == Ended::Well) {
    const std::vector<std::string> counts = at_tabs(ended.text);
    for (std::size_t i = 0; i < 3; ++i) line[3 + i] = counts.at(i);
    line[6] = "completed";
  } else if (ended.how == Ended::Failed) {
    fmt::print(stderr, "{} {}: {}\n", about.row, about.name, ended.text);
    line[6] = error_name(ended.text);
  }
  return line;
}

void print_line(const Line& line) {
  fmt::print("{:<4} {:<26} {:<8} {:>9} {:>9} {:>9}  {}\n", line[0], line[1], line[2], line[3],
             line[4], line[5], line[6]);
  std::fflush(stdout);
}

int run(const Arguments& args) {
  if (!args.out.empty() && std::filesystem::exists(args.out) && !args.force)
    throw oracle::UsageError(
        fmt::format("{} exists; a recording is replaced with --force only", args.out));
  const Ended device = in_child(args.limit_s, [] {
    tools::require_sm90();
    return oracle::serialize(oracle::ProvokedFile{tools::provenance(), {}});
  });
  if (device.how != Ended::Well) throw oracle::UsageError(device.text);

  oracle::ProvokedFile recording = oracle::parse_provoked(device.text);
  bool good = true;
  print_line({"row", "program", "version", "runs", "wrong", "timeouts", "end"});
  for (const cuda::Provocation& about : cuda::provocations()) {
    if (!args.only.empty() && args.only != about.row) continue;
    for (const cuda::Version version : {cuda::Version::Correct, cuda::Version::Mutant}) {
      const Line line = run_one(args, about, version);
      print_line(line);
      recording.lines.emplace_back(line.begin(), line.end());
      if (!args.out.empty())  // whatever comes next
        oracle::write_file(args.out, oracle::serialize(recording));
      good = good && (version == cuda::Version::Mutant || as_a_correct_one(line));
    }
  }
  return good ? 0 : tools::exit_mismatch;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments args;
  CLI::App app("Provokes synchronisation bugs on an sm_90 GPU and counts what goes wrong.");
  app.add_option("--out", args.out, "recording to write");
  app.add_option("--only", args.only, "only this row, for example W5");
  app.add_option("--runs", args.runs, "runs of each version (default 200000)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100'000'000}));
  app.add_option("--limit", args.limit_s, "seconds until a version is killed (default 12)")
      ->check(CLI::Range(1, 600));
  app.add_flag("--force", args.force, "replace an existing recording");
  return tools::tool_main(app, "provoke", argc, argv, [&] { return run(args); });
}
