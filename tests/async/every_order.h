// Every order of a program's steps, the slow way: what the explorer's reduction is held against.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>

#include "oracle/diagnosis/diagnosis.h"
#include "oracle/diagnosis/instruction_text.h"
#include "sim/async/cluster.h"
#include "sim/async/explore.h"
#include "sim/async/replay.h"

namespace tcq {

using namespace machine;

struct Outcomes {
  std::set<std::string> results;  // global memory
  bool faults = false;
  std::uint64_t executions = 0;
};

// Depth first over all steps of all agents, with no reduction at all.
inline void try_everything(const Cluster& cluster, Outcomes& out) {
  const std::vector<AgentId> agents = cluster.runnable();
  if (agents.empty()) {
    Cluster end = cluster;
    end_execution(end);
    ++out.executions;
    out.faults = out.faults || end.finding();
    if (!end.finding()) out.results.emplace(end.global().begin(), end.global().end());
    return;
  }
  for (const AgentId agent : agents) {
    Cluster next = cluster;
    next.step(agent);
    try_everything(next, out);
  }
}

inline std::string listing(const Program& program) {
  std::string text;
  for (const Segment& segment : program.segments())
    for (const Statement& statement : segment.statements)
      text += segment.name + ": " + oracle::instruction_text(program, statement.what) + "\n";
  return text;
}

// A program explored both ways.
struct BothWays {
  bool is_right = false;  // without the reduction: one result and no Fault
  Outcomes outcomes;
  Report report;
};

// `prologue`: the agents that step first, in one order, because the programs differ only behind it.
inline BothWays explore_both_ways(const Program& program, std::initializer_list<AgentId> prologue) {
  MmaCache cache;
  Cluster cluster(program, cache, Timing::Latest);
  for (const AgentId agent : prologue) cluster.step(agent);
  BothWays both;
  try_everything(cluster, both.outcomes);
  both.is_right = !both.outcomes.faults && both.outcomes.results.size() == 1;
  both.report = explore(program, {.random_executions = 0});
  EXPECT_EQ(both.report.outcome == Outcome::Right, both.is_right)
      << listing(program) << oracle::report_text(program, both.report);
  if (!both.is_right || both.report.outcome != Outcome::Right) return both;
  EXPECT_TRUE(both.report.exhaustive);
  EXPECT_EQ(std::string(both.report.global.begin(), both.report.global.end()),
            *both.outcomes.results.begin());
  return both;
}

// Initialisation and the first barrier of three warps.
inline constexpr std::initializer_list<AgentId> three_warps_prologue = {0, 0, 1, 2, 0, 1, 2};

}  // namespace tcq
