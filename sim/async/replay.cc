#include "sim/async/replay.h"

#include <algorithm>

#include "sim/async/cluster.h"

namespace tcq::machine {
namespace {

// A step touches what its first statement is about.
TestResult test_result(const std::vector<Touch>& touches) {
  if (touches.empty()) return TestResult::None;  // it was a Fault, or not for this warp
  const Touch& touch = touches.front();
  return mbarrier::test_parity({.phase = touch.phase}, static_cast<std::uint32_t>(touch.parity))
             ? TestResult::True
             : TestResult::False;
}

// The step as it is taken now; `wanted` says by whom.
Misfit take(Cluster& cluster, const ScheduleStep& wanted) {
  if (wanted.kind == StepKind::Data)
    return cluster.advance_data(wanted.what) ? Misfit::None : Misfit::NothingInFlight;
  if (!cluster.is_runnable(wanted.what)) return Misfit::NotRunnable;
  std::vector<ScheduleStep> taken;
  record_step(cluster, wanted.what, taken);
  if (taken[0].statement != wanted.statement) return Misfit::OtherStatement;
  return taken[0].test == wanted.test ? Misfit::None : Misfit::OtherTest;
}

// Takes all steps; `at` is left at the one that does not fit.
Misfit follow(Cluster& cluster, const Execution& execution, std::size_t& at) {
  for (at = 0; at < execution.steps.size(); ++at) {
    if (cluster.finding() || cluster.runnable().empty()) return Misfit::GoesOn;
    const Misfit misfit = take(cluster, execution.steps[at]);
    if (misfit != Misfit::None) return misfit;
  }
  return cluster.runnable().empty() ? Misfit::None : Misfit::EndsEarly;
}

Misfit run(const Program& program, const Schedule& schedule, const Execution& execution,
           MmaCache& cache, Replay& out) {
  Cluster cluster(program, cache, execution.timing, schedule.max_instructions,
                  schedule.contents);
  cluster.fail_on(schedule.fails);
  if (!schedule.left_out.empty()) cluster.leave_out(schedule.left_out);
  if (schedule.late_at) cluster.look_late(*schedule.late_at);
  const Misfit misfit = follow(cluster, execution, out.step);
  if (misfit != Misfit::None) return misfit;
  end_execution(cluster);
  out.finding = cluster.finding();
  out.suspicions = cluster.suspicions();
  out.global = cluster.global();
  out.instructions = cluster.instructions();
  return Misfit::None;
}

}  // namespace

Replay replay(const Program& program, const Schedule& schedule) {
  Replay refused;
  if (check(program).fault != Fault::None)
    refused.misfit = Misfit::ProgramRefused;
  else if (fingerprint(program) != schedule.program)
    refused.misfit = Misfit::OtherProgram;
  if (refused.misfit != Misfit::None) return refused;
  MmaCache cache;
  Replay first;
  if (schedule.against) {
    first.in_against = true;
    first.misfit = run(program, schedule, *schedule.against, cache, first);
    if (first.misfit != Misfit::None) return first;
  }
  Replay shown;
  shown.misfit = run(program, schedule, schedule.execution, cache, shown);
  const bool both = schedule.against && shown.misfit == Misfit::None && !shown.finding;
  if (!both) return shown;
  const auto byte =
      std::mismatch(first.global.begin(), first.global.end(), shown.global.begin()).first;
  if (byte != first.global.end())
    shown.finding = results_differ(static_cast<std::size_t>(byte - first.global.begin()));
  return shown;
}

const std::vector<Touch>& record_step(Cluster& cluster, AgentId agent,
                                      std::vector<ScheduleStep>& steps) {
  const Instruction* next = cluster.next_instruction(agent);
  const bool is_test = next != nullptr && std::holds_alternative<MbarrierTestWait>(*next);
  steps.push_back({.what = agent, .statement = cluster.next_statement_number(agent)});
  const std::vector<Touch>& touches = cluster.step(agent);
  if (is_test) steps.back().test = test_result(touches);
  return touches;
}

void end_execution(Cluster& cluster) {
  if (!cluster.finding() && !cluster.finished()) cluster.report_deadlock();
  if (!cluster.finding()) cluster.report_unwritten_reads();
  if (!cluster.finding()) cluster.finish_stores();
}

Finding results_differ(std::size_t byte) {
  Finding finding;
  finding.fault = Fault::ResultsDiffer;
  finding.number = static_cast<std::int64_t>(byte);
  return finding;
}

}  // namespace tcq::machine
