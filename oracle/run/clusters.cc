#include "oracle/run/clusters.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "oracle/answer/answer.h"
#include "oracle/diagnosis/diagnosis.h"
#include "oracle/diagnosis/instruction_text.h"
#include "oracle/diagnosis/schedule_text.h"
#include "oracle/explain/explain.h"
#include "oracle/run/timeline.h"
#include "sim/async/explore.h"
#include "sim/async/replay.h"
#include "sim/run/pending_clusters.h"

namespace tcq::oracle::run {
namespace {

using tcq::run::PendingClusters;

FindingText text_of(const machine::Program& program, const machine::Finding& finding,
                    std::uint64_t cluster) {
  FindingText f;
  const FaultInfo& about = info(finding.fault);
  f.fault = about.name;
  f.severity = name(about.kind);
  f.is_unmodelled = about.kind == FaultKind::Unmodelled;
  if (finding.at.statement >= 0) f.at = place_text(program, finding.at);
  if (finding.at.statement >= 0) f.lines = lines_of(program, finding.at);
  if (finding.earlier.statement >= 0) f.earlier_lines = lines_of(program, finding.earlier);
  f.happened = what_happened(program, finding);
  f.fix = what_to_do(program, finding);
  f.source = about.source;
  f.text = diagnosis(program, finding);
  f.cluster = f.last_cluster = cluster;
  f.statements = {finding.at.statement};
  return f;
}

bool waits_outside(const machine::Finding& finding) {
  return finding.fault == Fault::Deadlock &&
         std::any_of(finding.waiting.begin(), finding.waiting.end(), [](const machine::Waiting& w) {
           return w.what == machine::WaitFor::Memory && w.cta == machine::global_memory;
         });
}

// The execution, or the one that went on behind a race of a load.
bool needs_others(const machine::Report& found) {
  return (found.finding && waits_outside(*found.finding)) ||
         (found.behind && waits_outside(*found.behind));
}

// Clusters are run one after the other: a warp that looks at global memory again and again may wait for one that
// comes later, which is no deadlock of the kernel.
void note_other_clusters(FindingText& f, const machine::Finding& finding, std::uint64_t clusters) {
  if (!waits_outside(finding) || clusters < 2) return;
  f.severity = "unmodelled";
  f.is_unmodelled = true;
  f.happened =
      "a warp waits for bytes of global memory that nothing in its cluster writes: it may wait for "
      "what another "
      "cluster does, and clusters are run one after the other";
  f.fix = "launch a grid of one cluster, or give the memory as the other clusters leave it";
  f.text = f.happened + "\n" + f.text;
}

// The clusters that are run: all, or a sample spread over the grid.
std::vector<std::uint64_t> clusters_to_run(std::uint64_t sample, std::uint64_t count) {
  constexpr std::uint64_t most = 1u << 20;
  if ((sample == 0 ? count : sample) > most)
    throw UsageError(
        fmt::format("the grid has {} clusters, one after the other: expected --sample N "
                    "with at most {} of them",
                    count, most));
  const std::uint64_t wanted = sample == 0 ? count : std::min(sample, count);
  std::vector<std::uint64_t> clusters;
  for (std::uint64_t i = 0; i < wanted; ++i) clusters.push_back(i * count / wanted);
  return clusters;
}

machine::ExploreOptions options_of(const Request& request) {
  machine::ExploreOptions options;
  options.max_executions = 1;
  options.random_executions = request.explore;
  options.max_instructions = request.limit;
  options.max_total_instructions = request.limit * (3 + request.explore);
  options.seed = request.seed;
  options.bits_may_differ = true;
  options.names_right = !request.svg.empty();
  return options;
}

bool cancels(const tcq::run::Kernel& kernel) {
  for (ptx::Index i = 0; i < kernel.code->instructions.count; ++i)
    if (kernel.program->form_of(kernel.instruction(i)).opcode ==
        ptx::Opcode::ClusterlaunchcontrolTryCancel)
      return true;
  return false;
}

// Nobody is left to be cancelled.
bool begin_all(const Request& request, std::uint64_t clusters) {
  const std::uint64_t run = request.sample == 0 ? clusters : std::min(request.sample, clusters);
  return request.resident == 0 || request.resident >= run;
}

Report report_of(const Job& job) {
  Report report;
  report.kernel = job.identity.kernel;
  report.clusters = tcq::run::clusters(job.launch);
  report.unmodelled = unmodelled_of(*job.kernel);
  report.approximate = job.kernel->approximations;
  report.never_cancels = cancels(*job.kernel) && begin_all(job.request, report.clusters);
  return report;
}

// Beyond, what is printed would be larger than anybody reads.
constexpr std::size_t most_steps = 1 << 20;

bool can_be_stored(const machine::Schedule& s) {
  return s.left_out.empty() && !s.contents && !s.late_at &&
         s.execution.steps.size() + (s.against ? s.against->steps.size() : 0) <= most_steps;
}

void add_finding(Report& report, const machine::Program& program, const machine::Finding& finding,
                 StoredSchedule stored) {
  report.findings.push_back(text_of(program, finding, stored.cluster));
  if (stored.cluster < report.clusters)
    note_other_clusters(report.findings.back(), finding, report.clusters);
  if (can_be_stored(stored.schedule)) report.findings.back().schedule = std::move(stored);
}

// The picture of --svg, where it is asked for: of the first cluster, or of one with a finding.
void draw_timeline(const Job& job, const machine::Program& program,
                   const machine::Schedule& schedule, std::uint64_t cluster,
                   const std::optional<machine::Finding>& finding, Report& report) {
  if (job.request.svg.empty() || (report.timeline && !finding)) return;
  const std::string title =
      fmt::format("{}, cluster {}, data as {} as it may: {}", report.kernel, cluster,
                  schedule.execution.timing == machine::Timing::Latest ? "late" : "early",
                  finding ? info(finding->fault).name : "nothing undefined");
  report.timeline =
      timeline_of(program, schedule, {title, finding ? what_happened(program, *finding) : ""},
                  finding.has_value());
}

machine::Report explored(const machine::Program& program, const machine::ExploreOptions& options) {
  machine::Report found = machine::explore(program, options);
  if (found.outcome == machine::Outcome::Refused)
    throw UsageError(fmt::format("{}: {}", found.refused.what, info(found.refused.fault).sentence));
  return found;
}

machine::Report explore_cluster(const machine::Program& program,
                                const machine::ExploreOptions& options, Report& report) {
  machine::Report found = explored(program, options);
  ++report.ran;
  report.executions += found.executions;
  report.instructions += found.instructions;
  report.exhaustive = report.exhaustive && found.exhaustive;
  return found;
}

using Lent = std::shared_ptr<machine::LaunchMemory>;

Lent memory_of(std::vector<std::uint8_t>& global) {
  auto memory = std::make_shared<machine::LaunchMemory>();
  memory->bytes = std::move(global);
  return memory;
}

// The launch of the next of them.
tcq::run::Launch launch_of_next(const Job& job, const PendingClusters& clusters) {
  tcq::run::Launch launch = job.launch;
  launch.pending = clusters.share();
  return launch;
}

// What the clusters before the stored one leave, which then is the next of `clusters`. False if it was interrupted.
bool run_before(const Job& job, const StoredSchedule& stored, const Lent& memory, Report& report,
                PendingClusters& clusters, gemm::Progress& progress) {
  machine::ExploreOptions once;
  once.max_executions = 1;
  once.eager = false;
  once.whole_global = false;
  once.random_executions = 0;
  once.max_instructions = once.max_total_instructions = stored.schedule.max_instructions;
  progress.begin("clusters", static_cast<std::int64_t>(stored.cluster) + 1);
  while (!clusters.is_done() && clusters.next() != stored.cluster) {
    if (!progress.at(static_cast<std::int64_t>(report.ran))) return false;
    const std::uint64_t cluster = clusters.next();
    machine::Report found = explore_cluster(
        make_program(job.kernel, launch_of_next(job, clusters), cluster, memory), once, report);
    if (found.finding)
      throw UsageError(fmt::format("--replay: cluster {} before it does not end as it did: {}",
                                   cluster, info(found.finding->fault).name));
    machine::apply(found.changes, *memory);
    clusters.ran(found.cancelled);
  }
  if (clusters.is_done())
    throw UsageError(
        fmt::format("--replay: the schedule is of cluster {}, which is not among those that run",
                    stored.cluster));
  return true;
}

machine::Program together_program(const Job& job, const std::vector<std::uint8_t>& global) {
  tcq::run::Launch launch = job.launch;
  launch.whole_grid = true;
  return make_program(job.kernel, std::move(launch), 0, global);
}

// Beyond, it would take as long again as the clusters did.
constexpr std::uint64_t most_together = 20'000'000;

bool should_run_together(const Job& job, const Report& report) {
  const bool is_clean = report.findings.empty() && !report.interrupted;
  return is_clean && begin_all(job.request, report.clusters) && job.request.sample == 0 &&
         report.instructions <= most_together && may_run_together(*job.kernel, job.launch);
}

bool counts_together(const machine::Finding& finding, bool is_needed) {
  const FaultKind kind = info(finding.fault).kind;
  return is_needed || (kind != FaultKind::Unmodelled && finding.fault != Fault::Deadlock);
}

bool is_known(const std::vector<FindingText>& list, const FindingText& found) {
  return std::ranges::any_of(
      list, [&](const FindingText& f) { return f.fault == found.fault && f.fix == found.fix; });
}

// A byte of global memory as a user knows it.
struct Place {
  std::string array;  // empty: outside all, where the kernel's own variables lie
  std::string element;
  std::uint64_t end = 0;  // of the array, or of what lies between two
};

Place place_of(const std::vector<Array>& arrays, std::uint64_t byte) {
  Place outside{"", "a variable of the module", ~std::uint64_t{0}};
  for (const Array& array : arrays) {
    if (array.offset > byte) outside.end = std::min(outside.end, array.offset);
    if (byte < array.offset || byte - array.offset >= array.bytes) continue;
    std::int64_t elements = 1;
    for (const std::int64_t extent : array.shape) elements *= extent;
    const auto element = (byte - array.offset) * static_cast<std::uint64_t>(elements) / array.bytes;
    return {array.name, fmt::format("{}[{}]", array.name, element), array.offset + array.bytes};
  }
  return outside;
}

// The first byte that two executions left different, in an array or a variable of which nothing is said yet.
std::optional<Place> first_difference(const std::vector<Array>& arrays,
                                      const std::vector<std::uint8_t>& a,
                                      const std::vector<std::uint8_t>& b,
                                      const std::vector<FindingText>& known) {
  for (std::uint64_t begin = 0; begin < a.size();) {
    const auto from = static_cast<std::ptrdiff_t>(begin);
    const auto at = std::mismatch(a.begin() + from, a.end(), b.begin() + from).first;
    if (at == a.end()) break;
    Place place = place_of(arrays, static_cast<std::uint64_t>(at - a.begin()));
    const auto names = [&](const FindingText& f) {
      return f.fault == info(Fault::ResultsDiffer).name && f.array == place.array;
    };
    if (std::ranges::none_of(known, names)) return place;
    begin = place.end;
  }
  return std::nullopt;
}

// That atomics come in one order or another is no fault of a kernel: sums of floats and lists to which threads append
// differ by right.
FindingText difference_text(const Place& place, const std::string& between, const char* whose,
                            std::uint64_t number) {
  const FaultInfo& about = info(Fault::ResultsDiffer);
  FindingText f;
  f.fault = about.name;
  f.severity = name(about.kind);
  f.array = place.array;
  f.happened = fmt::format(
      "{} leave different bits, the first at {}: no access is undefined, the {} come to their "
      "atomics or flags in another order",
      between, place.element, whose);
  f.fix = fmt::format(
      "none, where the order is meant to be open (sums of floats by atomics, appended lists); else "
      "fix the order of the {}, or give each its own place",
      whose);
  f.source = about.source;
  f.text = fmt::format("{} {}\n{}\nfix: {}\nsource: {}", f.severity, f.fault, f.happened, f.fix,
                       f.source);
  f.cluster = f.last_cluster = number;
  return f;
}

// Of one cluster, with what repeats both executions.
void add_difference(const Job& job, std::uint64_t byte, StoredSchedule stored, Report& report) {
  FindingText f =
      difference_text(place_of(job.arrays, byte), "two executions", "warps", stored.cluster);
  if (can_be_stored(stored.schedule)) f.schedule = std::move(stored);
  add_suspicion(report.suspicions, std::move(f));
}

// Of an array in which one cluster alone has shown it, nothing more.
void note_differences(const Job& job, const machine::Report& found, bool is_needed,
                      const std::vector<std::uint8_t>& in_turn, Report& report) {
  std::string between = "two executions of all clusters at once";
  std::optional<Place> place;
  if (!found.other_global.empty())
    place = first_difference(job.arrays, found.global, found.other_global, report.suspicions);
  if (!place && !is_needed) {
    between = "the clusters one after the other and all of them at once";
    place = first_difference(job.arrays, in_turn, found.global, report.suspicions);
  }
  if (place) report.suspicions.push_back(difference_text(*place, between, "CTAs", report.clusters));
}

// All clusters at once, from the memory of the launch: what one does to another's bytes. Where it is needed because one waits
// for another, it also says what memory is left.
void run_together(const Job& job, const std::vector<std::uint8_t>& initial, bool is_needed,
                  std::vector<std::uint8_t>& global, Report& report) {
  const machine::Program program = together_program(job, initial);
  machine::Report found = explored(program, options_of(job.request));
  const std::uint64_t number = report.clusters;  // behind the last
  if (found.finding && !counts_together(*found.finding, is_needed)) return;
  report.together = found.executions;
  for (const machine::Finding& f : found.suspicions) {
    FindingText text = text_of(program, f, number);
    if (!is_known(report.suspicions, text)) report.suspicions.push_back(std::move(text));
  }
  if (!found.finding) note_differences(job, found, is_needed, global, report);
  if (found.finding || is_needed)
    draw_timeline(job, program, found.schedule, number, found.finding, report);
  if (found.finding)
    add_finding(report, program, *found.finding,
                {job.identity, job.request.sample, number, std::move(found.schedule)});
  else if (is_needed)
    global = std::move(found.global);
}

}  // namespace

std::vector<std::string> unmodelled_of(const tcq::run::Kernel& kernel) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < kernel.problems.size(); ++i)
    if (!kernel.problems[i].empty() && std::ranges::find(lines, kernel.texts[i]) == lines.end())
      lines.push_back(kernel.texts[i]);  // once, however often its function was put in
  return lines;
}

Report run_clusters(const Job& job, std::vector<std::uint8_t>& global, gemm::Progress& progress) {
  Report report = report_of(job);
  const auto chosen = clusters_to_run(job.request.sample, report.clusters);
  PendingClusters clusters(chosen, job.request.resident);
  std::vector<std::uint8_t> initial;
  if (may_run_together(*job.kernel, job.launch)) initial = global;
  const Lent memory = memory_of(global);
  machine::ExploreOptions options = options_of(job.request);
  options.whole_global = false;
  bool is_needed = false;
  progress.begin("clusters", static_cast<std::int64_t>(chosen.size()));
  while (!clusters.is_done()) {
    if (!progress.at(static_cast<std::int64_t>(report.ran + report.cancelled))) {
      report.interrupted = true;
      break;
    }
    const std::uint64_t cluster = clusters.next();
    const machine::Program program =
        make_program(job.kernel, launch_of_next(job, clusters), cluster, memory);
    machine::Report found = explore_cluster(program, options, report);
    is_needed = needs_others(found) && should_run_together(job, report);
    if (is_needed) break;
    for (const machine::Finding& f : found.suspicions)
      add_suspicion(report.suspicions, text_of(program, f, cluster));
    draw_timeline(job, program, found.schedule, cluster, found.finding, report);
    if (found.finding) {
      add_finding(report, program, *found.finding,
                  {job.identity, job.request.sample, cluster, std::move(found.schedule)});
      break;
    }
    if (found.other_schedule)
      add_difference(job, found.differs_at,
                     {job.identity, job.request.sample, cluster, std::move(*found.other_schedule)},
                     report);
    machine::apply(found.changes, *memory);
    report.cancelled += found.cancelled;
    clusters.ran(found.cancelled);
  }
  global = std::move(memory->bytes);
  if (is_needed) {
    report.ran = report.executions = 0;
    report.suspicions.clear();
  }
  if (should_run_together(job, report)) run_together(job, initial, is_needed, global, report);
  report.has_results = report.findings.empty() && !report.interrupted;
  return report;
}

Report replay_cluster(const Job& job, const StoredSchedule& stored,
                      std::vector<std::uint8_t>& global, gemm::Progress& progress) {
  demand_same(job.identity, stored);
  Report report = report_of(job);
  report.replayed = stored.cluster;
  const bool is_together =
      stored.cluster == report.clusters && may_run_together(*job.kernel, job.launch);
  const Lent memory = memory_of(global);
  PendingClusters clusters(clusters_to_run(stored.sample, report.clusters), job.request.resident);
  report.interrupted = !is_together && !run_before(job, stored, memory, report, clusters, progress);
  report.exhaustive = false;
  if (report.interrupted) {
    global = std::move(memory->bytes);
    return report;
  }
  const machine::Program program =
      is_together ? together_program(job, memory->bytes)
                  : make_program(job.kernel, launch_of_next(job, clusters), stored.cluster, memory);
  const machine::Replay again = machine::replay(program, stored.schedule);
  if (again.misfit == machine::Misfit::OtherProgram)
    throw UsageError(
        fmt::format("--replay: the clusters before cluster {} leave other memory than they did",
                    stored.cluster));
  if (again.misfit != machine::Misfit::None)
    throw UsageError("--replay: " + misfit_text(stored.schedule, again));
  ++report.ran;
  report.executions += stored.schedule.against ? 2 : 1;
  report.instructions += again.instructions;
  for (const machine::Finding& f : again.suspicions)
    add_suspicion(report.suspicions, text_of(program, f, stored.cluster));
  draw_timeline(job, program, stored.schedule, stored.cluster, again.finding, report);
  const bool only_differs = again.finding && again.finding->fault == Fault::ResultsDiffer;
  if (only_differs)
    add_difference(job, again.finding->number, stored, report);
  else if (again.finding)
    add_finding(report, program, *again.finding, stored);
  report.has_results = !again.finding || only_differs;
  global = again.global;
  return report;
}

}  // namespace tcq::oracle::run
