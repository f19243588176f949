// Runs the steps of a plan one by one; see tmem_plan.h.
#include "sim/async/tmem_plan.h"

#include <algorithm>
#include <utility>

#include "sim/isa/tmem/allocation.h"

namespace tcq::tcgen05 {
namespace {

bool overlap(TmemColumns a, TmemColumns b) { return a.start < b.end() && b.start < a.end(); }

// A plan that is being run. Live allocations are at most 16 (32 columns each of 512), so that the
// work of a step does not grow with the steps before it.
struct Run {
  TmemPlan plan = {};
  std::vector<std::size_t> live = {};  // of plan.allocations, in the order of time
  int smallest_before = tmem_columns;
};

TmemAllocation* find_live(Run& run, const std::string& name) {
  for (const std::size_t i : run.live)
    if (run.plan.allocations[i].name == name) return &run.plan.allocations[i];
  return nullptr;
}

std::vector<TmemColumns> live_columns(const Run& run) {
  std::vector<TmemColumns> used;
  for (const std::size_t i : run.live) used.push_back(run.plan.allocations[i].at);
  return used;
}

int sum(const std::vector<TmemColumns>& regions) {
  int columns = 0;
  for (const TmemColumns& at : regions) columns += at.columns;
  return columns;
}

// The gaps between regions, lowest first.
std::vector<TmemColumns> gaps(std::vector<TmemColumns> used) {
  std::sort(used.begin(), used.end(),
            [](const TmemColumns& a, const TmemColumns& b) { return a.start < b.start; });
  used.push_back({tmem_columns, 0});
  std::vector<TmemColumns> runs;
  int next = 0;
  for (const TmemColumns& at : used) {
    if (at.start > next) runs.push_back({next, at.start - next});
    next = at.end();
  }
  return runs;
}

std::optional<int> first_fit(const std::vector<TmemColumns>& used, int columns) {
  for (const TmemColumns& run : gaps(used))
    if (run.columns >= columns) return run.start;
  return std::nullopt;
}

Fault allocate(Run& run, const TmemStep& step) {
  const Fault fault = check_allocation(step.columns, run.smallest_before);
  if (fault != Fault::None) return fault;
  std::vector<TmemColumns> used = live_columns(run);
  const std::optional<int> start = step.start ? step.start : first_fit(used, step.columns);
  if (!start || *start + step.columns > tmem_columns) return Fault::TmemAllocBlocks;
  const TmemColumns at = {*start, step.columns};
  for (const TmemColumns& other : used)
    if (overlap(at, other)) return Fault::TmemOverlap;
  run.smallest_before = step.columns;
  run.live.push_back(run.plan.allocations.size());
  run.plan.allocations.push_back({step.allocation, at, {}});
  used.push_back(at);
  run.plan.peak_columns = std::max(run.plan.peak_columns, sum(used));
  return Fault::None;
}

Fault add_part(Run& run, const TmemStep& step) {
  TmemAllocation* whole = find_live(run, step.allocation);
  if (whole == nullptr) return Fault::TmemNotAllocated;
  const int behind = whole->parts.empty() ? whole->at.start : whole->parts.back().at.end();
  const TmemColumns at = {step.start ? whole->at.start + *step.start : behind, step.columns};
  if (at.end() > whole->at.end()) return Fault::TmemNotAllocated;
  for (const TmemPart& other : whole->parts)
    if (overlap(at, other.at)) return Fault::TmemOverlap;
  whole->parts.push_back({step.part, at});
  return Fault::None;
}

Fault release(Run& run, const TmemStep& step) {
  TmemAllocation* allocation = find_live(run, step.allocation);
  if (allocation == nullptr) return Fault::TmemNotAllocated;
  allocation->freed = true;
  std::erase(run.live, static_cast<std::size_t>(allocation - run.plan.allocations.data()));
  return Fault::None;
}

Fault run_step(Run& run, const TmemStep& step) {
  switch (step.action) {
    case TmemStep::Action::Allocate: return allocate(run, step);
    case TmemStep::Action::Part: return add_part(run, step);
    case TmemStep::Action::Free: break;
  }
  return release(run, step);
}

}  // namespace

TmemPlan run_plan(std::span<const TmemStep> steps) {
  Run run;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Fault fault = run_step(run, steps[i]);
    if (fault != Fault::None) run.plan.findings.push_back({i, fault});
  }
  int largest = 0;
  for (const TmemColumns& gap : gaps(live_columns(run))) largest = std::max(largest, gap.columns);
  run.plan.next_at_most = largest_allocation(std::min(largest, run.smallest_before));
  return std::move(run.plan);
}

std::vector<TmemColumns> free_columns(const TmemPlan& plan) {
  std::vector<TmemColumns> used;
  for (const TmemAllocation& allocation : plan.allocations)
    if (!allocation.freed) used.push_back(allocation.at);
  return gaps(std::move(used));
}

}  // namespace tcq::tcgen05
