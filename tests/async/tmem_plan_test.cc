// Plans for Tensor Memory: sizes, order, places, overlaps and what stays free.
#include "sim/async/tmem_plan.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "sim/isa/tmem/allocation.h"

namespace tcq::tcgen05 {
namespace {

using enum TmemStep::Action;

TmemStep alloc(const std::string& name, int columns) { return {Allocate, name, "", {}, columns}; }
TmemStep alloc_at(const std::string& name, int start, int columns) {
  return {Allocate, name, "", start, columns};
}
TmemStep part(const std::string& name, const std::string& part, int start, int columns) {
  return {Part, name, part, start, columns};
}
TmemStep release(const std::string& name) { return {Free, name}; }

// The Fault of each step.
std::vector<Fault> faults(const std::vector<TmemStep>& steps) {
  std::vector<Fault> all(steps.size(), Fault::None);
  for (const TmemFinding& finding : run_plan(steps).findings) all[finding.step] = finding.fault;
  return all;
}

constexpr Fault kNone = Fault::None;

TEST(Tmem_Allocation, SizesArePowersOfTwoFrom32To512) {
  const std::set<int> sizes = {32, 64, 128, 256, 512};
  for (int columns = -512; columns <= 1024; ++columns)
    EXPECT_EQ(is_allocation_size(columns), sizes.contains(columns)) << columns;
  for (int columns = 0; columns <= 600; ++columns) {
    const auto above = sizes.upper_bound(columns);
    EXPECT_EQ(largest_allocation(columns), above == sizes.begin() ? 0 : *std::prev(above));
  }
}

TEST(Tmem_Allocation, SizesNeverGrow) {
  for (const int before : {32, 64, 128, 256, 512})
    for (const int columns : {32, 64, 128, 256, 512})
      EXPECT_EQ(check_allocation(columns, before),
                columns > before ? Fault::TmemAllocGrows : Fault::None);
  EXPECT_EQ(check_allocation(96, 32), Fault::TmemAllocSize);
}

TEST(Tmem_Plan, AllocationsFollowEachOther) {
  const TmemPlan plan = run_plan(std::vector{alloc("a", 256), alloc("b", 128), alloc("c", 32)});
  EXPECT_TRUE(plan.findings.empty());
  ASSERT_EQ(plan.allocations.size(), 3u);
  EXPECT_EQ(plan.allocations[1].at, (TmemColumns{256, 128}));
  EXPECT_EQ(plan.allocations[2].at, (TmemColumns{384, 32}));
  EXPECT_EQ(free_columns(plan), (std::vector<TmemColumns>{{416, 96}}));
  EXPECT_EQ(plan.peak_columns, 416);
  EXPECT_EQ(plan.next_at_most, 32);
}

TEST(Tmem_Plan, FreedColumnsAreGivenAgain) {
  const TmemPlan plan =
      run_plan(std::vector{alloc("a", 256), alloc("b", 256), release("a"), alloc("c", 128)});
  EXPECT_TRUE(plan.findings.empty());
  EXPECT_EQ(plan.allocations[2].at, (TmemColumns{0, 128}));
  EXPECT_EQ(plan.peak_columns, 512);
}

TEST(Tmem_Plan, AFragmentedMemoryBlocksWhatWouldFitInAll) {
  const std::vector<TmemStep> steps = {alloc("a", 128), alloc("b", 128), alloc("c", 128),
                                       alloc("d", 128), release("a"),    release("c")};
  const TmemPlan plan = run_plan(steps);
  EXPECT_EQ(free_columns(plan), (std::vector<TmemColumns>{{0, 128}, {256, 128}}));
  EXPECT_EQ(plan.next_at_most, 128);
  EXPECT_EQ(faults({alloc_at("a", 128, 256), alloc("b", 256)}),
            (std::vector{kNone, Fault::TmemAllocBlocks}));
}

TEST(Tmem_Plan, EveryFaultIsNamedAtItsStep) {
  EXPECT_EQ(faults({alloc("a", 192)}), (std::vector{Fault::TmemAllocSize}));
  EXPECT_EQ(faults({alloc("a", 16)}), (std::vector{Fault::TmemAllocSize}));
  EXPECT_EQ(faults({alloc("a", 64), alloc("b", 128)}), (std::vector{kNone, Fault::TmemAllocGrows}));
  EXPECT_EQ(faults({alloc("a", 64), release("a"), alloc("b", 128)}),
            (std::vector{kNone, kNone, Fault::TmemAllocGrows}));
  EXPECT_EQ(faults({alloc("a", 512), alloc("b", 32)}),
            (std::vector{kNone, Fault::TmemAllocBlocks}));
  EXPECT_EQ(faults({alloc_at("a", 384, 256)}), (std::vector{Fault::TmemAllocBlocks}));
  EXPECT_EQ(faults({alloc("a", 256), alloc_at("b", 128, 256)}),
            (std::vector{kNone, Fault::TmemOverlap}));
  EXPECT_EQ(faults({release("a")}), (std::vector{Fault::TmemNotAllocated}));
  EXPECT_EQ(faults({alloc("a", 32), release("a"), release("a")}),
            (std::vector{kNone, kNone, Fault::TmemNotAllocated}));
  EXPECT_EQ(faults({part("a", "x", 0, 8)}), (std::vector{Fault::TmemNotAllocated}));
}

TEST(Tmem_Plan, PartsLieInsideAndApart) {
  EXPECT_EQ(faults({alloc("a", 256), part("a", "x", 0, 128), part("a", "y", 128, 128)}),
            (std::vector{kNone, kNone, kNone}));
  EXPECT_EQ(faults({alloc("a", 256), part("a", "x", 0, 128), part("a", "y", 127, 1)}),
            (std::vector{kNone, kNone, Fault::TmemOverlap}));
  EXPECT_EQ(faults({alloc("a", 256), part("a", "x", 129, 128)}),
            (std::vector{kNone, Fault::TmemNotAllocated}));
  const TmemPlan plan = run_plan(std::vector<TmemStep>{
      alloc("a", 128), alloc("b", 128), part("b", "x", 3, 5), {Part, "b", "y", {}, 4}});
  EXPECT_EQ(plan.allocations[1].parts[0].at, (TmemColumns{131, 5}));
  EXPECT_EQ(plan.allocations[1].parts[1].at, (TmemColumns{136, 4}));
}

// Whatever the order of steps: live allocations never overlap, and used plus free is everything.
TEST(Tmem_Plan, UsedAndFreeColumnsAreAllColumns) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<TmemStep> steps;
    for (int i = 0; i < 24; ++i) {
      const std::string name(1, static_cast<char>('a' + random() % 8));
      if (random() % 3 == 0)
        steps.push_back(release(name));
      else
        steps.push_back(alloc(name, 32 << random() % 3));
    }
    const TmemPlan plan = run_plan(steps);
    std::vector<int> owners(tmem_columns);
    for (const TmemAllocation& a : plan.allocations)
      for (int column = a.at.start; !a.freed && column < a.at.end(); ++column)
        ++owners.at(static_cast<std::size_t>(column));
    for (const TmemColumns& run : free_columns(plan))
      for (int column = run.start; column < run.end(); ++column)
        ++owners.at(static_cast<std::size_t>(column));
    for (const int count : owners) ASSERT_EQ(count, 1);
  }
}

}  // namespace
}  // namespace tcq::tcgen05
