// Asking the warps around each step; see trace.h.
#include "sim/async/trace.h"

#include <algorithm>

#include "sim/async/cluster.h"
#include "sim/async/replay.h"

namespace tcq::machine {
namespace {

// The statement before which each warp cannot go on; -1: it can, or has ended.
std::vector<std::int64_t> standstills(const Cluster& cluster) {
  const Program& program = cluster.program();
  std::vector<std::int64_t> at(
      static_cast<std::size_t>(program.launch().cluster * program.warps_per_cta()), -1);
  for (std::size_t warp = 0; warp < at.size(); ++warp)
    if (!cluster.is_runnable(warp)) at[warp] = cluster.next_statement_number(warp);
  return at;
}

void compare(const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after,
             TracedStep& step) {
  for (std::size_t warp = 0; warp < before.size(); ++warp) {
    if (before[warp] == after[warp]) continue;
    const int number = static_cast<int>(warp);
    if (before[warp] >= 0) step.continued.push_back({number, before[warp]});
    if (after[warp] >= 0) step.stopped.push_back({number, after[warp]});
  }
}

// False if it does not fit.
bool followed(Cluster& cluster, const ScheduleStep& step) {
  if (cluster.finding()) return false;
  if (step.kind == StepKind::Data) return cluster.advance_data(step.what);
  if (!cluster.is_runnable(step.what)) return false;
  std::vector<ScheduleStep> taken;
  record_step(cluster, step.what, taken);
  return taken[0].statement == step.statement;
}

}  // namespace

Trace trace(const Program& program, const Schedule& schedule, std::size_t begin, std::size_t end) {
  const std::vector<ScheduleStep>& steps = schedule.execution.steps;
  Trace result;
  result.begin = std::min(begin, steps.size());
  result.all = steps.size();
  MmaCache cache;
  Cluster cluster(program, cache, schedule.execution.timing, schedule.max_instructions,
                  schedule.contents);
  cluster.fail_on(schedule.fails);
  if (!schedule.left_out.empty()) cluster.leave_out(schedule.left_out);
  if (schedule.late_at) cluster.look_late(*schedule.late_at);
  std::vector<std::int64_t> before;
  for (std::size_t i = 0; i < std::min(end, steps.size()); ++i) {
    const bool shown = i >= result.begin;
    if (i == result.begin) {
      before = standstills(cluster);
      for (std::size_t warp = 0; warp < before.size(); ++warp)
        if (before[warp] >= 0) result.waiting.push_back({static_cast<int>(warp), before[warp]});
    }
    result.fits = followed(cluster, steps[i]);
    if (!result.fits) return result;
    if (!shown) continue;
    result.steps.push_back({steps[i], {}, {}});
    result.found = cluster.finding().has_value();
    if (result.found) return result;  // nobody can go on behind it
    std::vector<std::int64_t> after = standstills(cluster);
    compare(before, after, result.steps.back());
    before = std::move(after);
  }
  return result;
}

}  // namespace tcq::machine
