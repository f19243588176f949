#include "oracle/run/run.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/pending_file.h"
#include "oracle/answer/svg.h"
#include "oracle/answer/words.h"
#include "oracle/gemm/npy.h"
#include "oracle/run/clusters.h"
#include "oracle/run/memory.h"
#include "oracle/run/request.h"
#include "sim/run/inline_calls.h"

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
                                 oracle::quoted(request.kernel), fitting.size(), fitting[0],
                                 fitting[1]));
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

void write_outputs(const Request& request, const Memory& memory, Report& report) {
  for (const Output& output : request.outputs) {
    const Array& array = array_named(memory, output.name);
    const std::string header = npy::header_bytes({array.dtype, false, array.shape});
    PendingFile file(output.path, header.size() + array.bytes);
    file.write(header);
    file.write({reinterpret_cast<const char*>(memory.global.data()) + array.offset, array.bytes});
    file.commit();
    report.written.push_back(output.path);
  }
}

// Without --cluster the cluster is the one that the kernel demands.
tcq::run::Launch launch_of(const Request& request, const tcq::run::Kernel& kernel) {
  tcq::run::Launch launch;
  launch.grid = request.grid;
  launch.block = request.block;
  launch.cluster = request.cluster;
  const auto demanded = tcq::run::required_cluster(kernel);
  if (!request.has_cluster && demanded) launch.cluster = *demanded;
  launch.has_cluster = request.has_cluster || demanded.has_value();
  const std::string refusal = refusal_of(kernel, launch);
  if (!refusal.empty()) throw UsageError(fmt::format("a device refuses this launch: {}", refusal));
  demand_whole_clusters(launch.grid, launch.cluster);
  launch.dynamic_shared = request.shared;
  launch.registers = request.registers;
  launch.whole_grid = may_run_whole(kernel, launch);
  return launch;
}

// Which of the kernel's instructions the run has executed, and the lines of the others, where no copy of a line has been.
void note_executed(const tcq::run::Kernel& kernel, const std::vector<bool>& executed,
                   Report& report) {
  std::map<std::uint32_t, bool> lines;
  for (std::size_t i = 0; i < executed.size(); ++i) {
    const auto& instruction = kernel.instruction(static_cast<ptx::Index>(i));
    const std::uint32_t line = kernel.program->unit.lines.at(instruction.at).line;
    lines[line] = lines[line] || executed[i];
    report.kernel_executed += executed[i] ? 1 : 0;
  }
  report.kernel_instructions = executed.size();
  for (auto at = lines.begin(); at != lines.end();) {
    if (at->second) {
      ++at;
      continue;
    }
    const std::uint32_t first = at->first;
    std::uint32_t last = first;
    for (; at != lines.end() && !at->second; ++at) last = at->first;
    report.lines_not_executed.push_back(first == last ? fmt::format("{}", first)
                                                      : fmt::format("{}-{}", first, last));
  }
}

Report run_request(const Request& request, const std::string& text, const ptx::Program& program,
                   gemm::Progress& progress) {
  std::optional<StoredSchedule> stored;
  if (!request.replay.empty()) stored = read_stored(request.replay);
  const std::string name = kernel_name(request, program);
  auto kernel =
      std::make_shared<const tcq::run::Kernel>(tcq::run::lower(program, name, request.file));
  if (!kernel->refused.empty()) throw UsageError(fmt::format("{}: {}", name, kernel->refused));
  tcq::run::Launch launch = launch_of(request, *kernel);
  launch.executed = std::make_shared<std::vector<bool>>(kernel->ops.size());
  Memory memory = place_arguments(request, *kernel, launch);
  for (const Output& output : request.outputs) array_named(memory, output.name);
  Identity identity = identity_of(text, name, launch, memory);
  if (request.resident != 0) identity.launch += fmt::format(" resident {}", request.resident);
  const Job job{request, kernel, launch, std::move(identity), memory.arrays};
  Report report = stored ? replay_cluster(job, *stored, memory.global, progress)
                         : run_clusters(job, memory.global, progress);
  note_executed(*kernel, *launch.executed, report);
  if (report.timeline) {
    write_whole_file(request.svg, svg_text(*report.timeline));
    report.written.push_back(request.svg);
  }
  if (report.has_results) write_outputs(request, memory, report);
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

// What is left of a text that was cut would run, and leave other bits. A statement that could not be read stops a run where
// it stands.
void demand_whole(const std::string& file, const ptx::Program& program) {
  const std::vector<ptx::Diagnostic>& told = program.unit.diagnostics;
  const bool is_empty = program.functions.empty() && !program.diagnostics.empty();
  if (!is_empty && !program.unit.is_cut) return;
  const ptx::Diagnostic& d = is_empty ? program.diagnostics.front() : told.back();
  throw UsageError(
      fmt::format("{}:{}:{}: {}", shown_path(file), d.at.line, d.at.column, d.message));
}

int answer(std::span<const std::string> words, std::FILE* out, std::FILE* err) {
  const Request request = parse_request(words);
  const std::string text = read_text(request.file);
  const ptx::Program program = tcq::run::load(text);
  demand_whole(request.file, program);
  if (request.list) return fmt::print(out, "{}\n", list_text(program, request.file)), 0;
  if (request.coverage) return fmt::print(out, "{}\n", coverage_text(program, request)), 0;
  gemm::Progress progress(err);
  const Report report = run_request(request, text, program, progress);
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
