#include "oracle/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>

#include "oracle/answer/answer.h"
#include "oracle/answer/pending_file.h"
#include "oracle/answer/words.h"
#include "oracle/diagnosis/diagnosis.h"
#include "oracle/diagnosis/instruction_text.h"
#include "oracle/explain/explain.h"
#include "oracle/gemm/npy.h"
#include "oracle/gemm/progress.h"
#include "oracle/run/memory.h"
#include "oracle/run/report.h"
#include "oracle/run/request.h"
#include "sim/async/explore.h"
#include "sim/ptx/decode.h"

namespace tcq::oracle {
namespace {

using namespace run;

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UsageError(fmt::format("{}: cannot be read", shown_path(path)));
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string kernel_name(const Request& request, const ptx::Program& program) {
  const auto names = tcq::run::entry_names(program);
  if (names.empty())
    throw UsageError(fmt::format("{}: has no kernel (.entry)", shown_path(request.file)));
  if (request.kernel.empty()) {
    if (names.size() == 1) return std::string(names[0]);
    throw UsageError(fmt::format("{}: has {} kernels: expected --kernel NAME, for example {}",
                                 shown_path(request.file), names.size(), names[0]));
  }
  std::vector<std::string_view> fitting;
  for (const std::string_view name : names) {
    if (name == request.kernel) return std::string(name);
    if (name.find(request.kernel) != name.npos) fitting.push_back(name);
  }
  if (fitting.size() == 1) return std::string(fitting[0]);
  if (fitting.size() > 1)
    throw UsageError(fmt::format("--kernel {}: {} kernels have that in their names: {}, {}",
                                 oracle::quoted(request.kernel), fitting.size(), fitting[0], fitting[1]));
  throw_unknown("kernel", request.kernel, names);
}

std::string list_text(const ptx::Program& program, const std::string& path) {
  std::string text;
  for (const std::string_view name : tcq::run::entry_names(program)) {
    const tcq::run::Kernel kernel = tcq::run::lower(program, name, path);
    text += fmt::format("{}\n", name);
    for (const tcq::run::Parameter& p : parameters_of(kernel))
      text += fmt::format("  {:4} bytes at {:4}  .{:4} {}\n", p.bytes, p.offset, ptx::name(p.type),
                          p.name);
    text += fmt::format("  {} instructions, {} bytes of static shared memory\n", kernel.ops.size(),
                        kernel.shared_end - kernel.shared_begin);
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::vector<std::string> unmodelled_of(const tcq::run::Kernel& kernel) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < kernel.problems.size(); ++i)
    if (!kernel.problems[i].empty()) lines.push_back(kernel.texts[i]);
  return lines;
}

const char* severity_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::Unmodelled: return "unmodelled";
    case FaultKind::Disputed: return "disputed";
    case FaultKind::Suspect: return "suspect";
    case FaultKind::Slow: return "slow";
    default: return "undefined";
  }
}

FindingText text_of(const machine::Program& program, const machine::Finding& finding,
                    std::uint64_t cluster) {
  FindingText f;
  const FaultInfo& about = info(finding.fault);
  f.fault = about.name;
  f.severity = severity_of(about.kind);
  f.is_unmodelled = about.kind == FaultKind::Unmodelled;
  if (finding.at.statement >= 0) f.at = place_text(program, finding.at);
  f.happened = what_happened(program, finding);
  f.fix = what_to_do(program, finding);
  f.source = about.source;
  f.text = diagnosis(program, finding);
  f.cluster = cluster;
  return f;
}

// Clusters are run one after the other: a warp that looks at global memory again and again may wait for one that
// comes later, which is no deadlock of the kernel.
void note_other_clusters(FindingText& f, const machine::Finding& finding, std::uint64_t clusters) {
  const bool waits_outside =
      finding.fault == Fault::Deadlock &&
      std::any_of(finding.waiting.begin(), finding.waiting.end(), [](const machine::Waiting& w) {
        return w.what == machine::WaitFor::Memory && w.cta == machine::global_memory;
      });
  if (!waits_outside || clusters < 2) return;
  f.severity = "unmodelled";
  f.is_unmodelled = true;
  f.happened =
      "a warp waits for bytes of global memory that nothing in its cluster writes: it may wait for "
      "what another "
      "cluster does, and clusters are run one after the other";
  f.fix = "launch a grid of one cluster, or give the memory as the other clusters leave it";
  f.text = f.happened + "\n" + f.text;
}

// The clusters that are run: all, or `sample` spread over the grid.
std::vector<std::uint64_t> clusters_to_run(const Request& request, std::uint64_t count) {
  constexpr std::uint64_t most = 1u << 20;
  if ((request.sample == 0 ? count : request.sample) > most)
    throw UsageError(
        fmt::format("the grid has {} clusters, one after the other: expected --sample N "
                    "with at most {} of them",
                    count, most));
  const std::uint64_t wanted = request.sample == 0 ? count : std::min(request.sample, count);
  std::vector<std::uint64_t> clusters;
  for (std::uint64_t i = 0; i < wanted; ++i) clusters.push_back(i * count / wanted);
  return clusters;
}

void write_outputs(const Request& request, const Memory& memory,
                   const std::vector<std::uint8_t>& global, Report& report) {
  for (const Output& output : request.outputs) {
    const Array& array = array_named(memory, output.name);
    const std::string header = npy::header_bytes({array.dtype, false, array.shape});
    PendingFile file(output.path, header.size() + array.bytes);
    file.write(header);
    file.write({reinterpret_cast<const char*>(global.data()) + array.offset, array.bytes});
    file.commit();
    report.written.push_back(output.path);
  }
}

machine::ExploreOptions options_of(const Request& request) {
  machine::ExploreOptions options;
  options.max_executions = 1;
  options.random_executions = request.explore;
  options.max_instructions = request.limit;
  options.max_total_instructions = request.limit * (3 + request.explore);
  options.seed = request.seed;
  return options;
}

Report run_clusters(const Request& request, std::shared_ptr<const tcq::run::Kernel> kernel,
                    const tcq::run::Launch& launch, Memory& memory, gemm::Progress& progress) {
  Report report;
  report.clusters = tcq::run::clusters(launch);
  report.unmodelled = unmodelled_of(*kernel);
  report.approximate = kernel->approximations;
  const std::vector<std::uint64_t> clusters = clusters_to_run(request, report.clusters);
  progress.begin("clusters", static_cast<std::int64_t>(clusters.size()));
  for (const std::uint64_t cluster : clusters) {
    if (!progress.at(static_cast<std::int64_t>(report.ran))) {
      report.interrupted = true;
      break;
    }
    const machine::Program program = make_program(kernel, launch, cluster, memory.global);
    machine::Report found = machine::explore(program, options_of(request));
    if (found.outcome == machine::Outcome::Refused)
      throw UsageError(
          fmt::format("{}: {}", found.refused.what, info(found.refused.fault).sentence));
    ++report.ran;
    report.executions += found.executions;
    report.instructions += found.instructions;
    report.exhaustive = report.exhaustive && found.exhaustive;
    for (const machine::Finding& f : found.suspicions)
      report.suspicions.push_back(text_of(program, f, cluster));
    if (found.finding) {
      report.findings.push_back(text_of(program, *found.finding, cluster));
      note_other_clusters(report.findings.back(), *found.finding, report.clusters);
      break;
    }
    memory.global = std::move(found.global);
  }
  return report;
}

Report run_request(const Request& request, const ptx::Program& program, gemm::Progress& progress) {
  const std::string name = kernel_name(request, program);
  auto kernel =
      std::make_shared<const tcq::run::Kernel>(tcq::run::lower(program, name, request.file));
  if (!kernel->refused.empty()) throw UsageError(fmt::format("{}: {}", name, kernel->refused));
  tcq::run::Launch launch;
  launch.grid = request.grid;
  launch.block = request.block;
  launch.cluster = request.cluster;
  launch.dynamic_shared = request.shared;
  launch.registers = request.registers;
  Memory memory = place_arguments(request, *kernel, launch);
  for (const Output& output : request.outputs) array_named(memory, output.name);
  Report report = run_clusters(request, kernel, launch, memory, progress);
  report.kernel = name;
  if (report.findings.empty() && !report.interrupted)
    write_outputs(request, memory, memory.global, report);
  return report;
}

std::string coverage_text(const ptx::Program& program, const Request& request) {
  const tcq::run::Kernel kernel =
      tcq::run::lower(program, kernel_name(request, program), request.file);
  const auto lines = unmodelled_of(kernel);
  std::string text = fmt::format("{} of {} instructions are executed",
                                 kernel.ops.size() - lines.size(), kernel.ops.size());
  for (const std::string& line : lines) text += "\nnot executed: " + line;
  return text;
}

int answer(std::span<const std::string> words, std::FILE* out, std::FILE* err) {
  const Request request = parse_request(words);
  const std::string text = read_text(request.file);
  const ptx::Program program = ptx::load(text);
  if (program.functions.empty() && !program.diagnostics.empty())
    throw UsageError(fmt::format("{}:{}:{}: {}", shown_path(request.file),
                                 program.diagnostics[0].at.line, program.diagnostics[0].at.column,
                                 program.diagnostics[0].message));
  if (request.list) return fmt::print(out, "{}\n", list_text(program, request.file)), 0;
  if (request.coverage) return fmt::print(out, "{}\n", coverage_text(program, request)), 0;
  gemm::Progress progress(err);
  const Report report = run_request(request, program, progress);
  fmt::print(out, "{}\n", request.json ? json_text(value_of(report)) : text_of(report));
  return report.status();
}

}  // namespace

int answer_run(std::span<const std::string> words, std::FILE* out, std::FILE* err) {
  try {
    return answer(words, out, err);
  } catch (const UsageError& error) {
    fmt::print(err, "tcq: {}\n", terminal_text(error.what()));
  } catch (const FileError& error) {
    fmt::print(err, "tcq: {}\n", terminal_text(error.what()));
  } catch (const std::bad_alloc&) {
    fmt::print(err, "tcq: no memory for a run of this size\n");
  }
  return static_cast<int>(Status::Usage);
}

}  // namespace tcq::oracle
