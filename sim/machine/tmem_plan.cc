// Runs the steps of a plan one by one; see tmem_plan.h.
#include "sim/machine/tmem_plan.h"

#include <algorithm>

#include "sim/isa/tmem_allocation.h"

namespace tcq::tcgen05 {
namespace {

bool overlap(TmemColumns a, TmemColumns b) { return a.start < b.end() && b.start < a.end(); }

TmemAllocation* live(TmemPlan& plan, const std::string& name) {
  for (TmemAllocation& allocation : plan.allocations)
    if (!allocation.freed && allocation.name == name) return &allocation;
  return nullptr;
}

int used_columns(const TmemPlan& plan) {
  int used = 0;
  for (const TmemAllocation& allocation : plan.allocations)
    used += allocation.freed ? 0 : allocation.at.columns;
  return used;
}

std::optional<int> first_fit(const TmemPlan& plan, int columns) {
  for (const TmemColumns& run : free_columns(plan))
    if (run.columns >= columns) return run.start;
  return std::nullopt;
}

Fault allocate(TmemPlan& plan, const TmemStep& step, int& smallest_before) {
  const Fault fault = check_allocation(step.columns, smallest_before);
  if (fault != Fault::None) return fault;
  const std::optional<int> start = step.start ? step.start : first_fit(plan, step.columns);
  if (!start || *start + step.columns > tmem_columns) return Fault::TmemAllocBlocks;
  const TmemColumns at = {*start, step.columns};
  for (const TmemAllocation& other : plan.allocations)
    if (!other.freed && overlap(at, other.at)) return Fault::TmemOverlap;
  smallest_before = step.columns;
  plan.allocations.push_back({step.allocation, at, {}});
  plan.peak_columns = std::max(plan.peak_columns, used_columns(plan));
  return Fault::None;
}

Fault add_part(TmemPlan& plan, const TmemStep& step) {
  TmemAllocation* whole = live(plan, step.allocation);
  if (whole == nullptr) return Fault::TmemNotAllocated;
  const int behind = whole->parts.empty() ? whole->at.start : whole->parts.back().at.end();
  const TmemColumns at = {step.start ? whole->at.start + *step.start : behind, step.columns};
  if (at.end() > whole->at.end()) return Fault::TmemNotAllocated;
  for (const TmemPart& other : whole->parts)
    if (overlap(at, other.at)) return Fault::TmemOverlap;
  whole->parts.push_back({step.part, at});
  return Fault::None;
}

Fault release(TmemPlan& plan, const TmemStep& step) {
  TmemAllocation* allocation = live(plan, step.allocation);
  if (allocation == nullptr) return Fault::TmemNotAllocated;
  allocation->freed = true;
  return Fault::None;
}

Fault run_step(TmemPlan& plan, const TmemStep& step, int& smallest_before) {
  switch (step.action) {
    case TmemStep::Action::Allocate: return allocate(plan, step, smallest_before);
    case TmemStep::Action::Part: return add_part(plan, step);
    case TmemStep::Action::Free: break;
  }
  return release(plan, step);
}

}  // namespace

TmemPlan run_plan(std::span<const TmemStep> steps) {
  TmemPlan plan;
  int smallest_before = tmem_columns;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Fault fault = run_step(plan, steps[i], smallest_before);
    if (fault != Fault::None) plan.findings.push_back({i, fault});
  }
  int largest = 0;
  for (const TmemColumns& run : free_columns(plan)) largest = std::max(largest, run.columns);
  plan.next_at_most = largest_allocation(std::min(largest, smallest_before));
  return plan;
}

std::vector<TmemColumns> free_columns(const TmemPlan& plan) {
  std::vector<TmemColumns> used;
  for (const TmemAllocation& allocation : plan.allocations)
    if (!allocation.freed) used.push_back(allocation.at);
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

}  // namespace tcq::tcgen05
