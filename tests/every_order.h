// Every order of a program's steps, the slow way: what the explorer's reduction is held against.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "oracle/instruction_text.h"
#include "sim/machine/cluster.h"

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
    if (!end.finding() && !end.finished()) end.report_deadlock();
    if (!end.finding()) end.report_unwritten_reads();
    if (!end.finding()) end.finish_stores();
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

// Initialisation and the first barrier of three warps, in one order: they are the same in all
// programs.
inline Cluster behind_the_prologue(const Program& program, MmaCache& cache) {
  Cluster cluster(program, cache, Timing::Latest);
  for (const AgentId agent : {0, 0, 1, 2, 0, 1, 2}) cluster.step(agent);
  return cluster;
}

inline std::string listing(const Program& program) {
  std::string text;
  for (const Segment& segment : program.segments())
    for (const Statement& statement : segment.statements)
      text += segment.name + ": " + oracle::instruction_text(program, statement.what) + "\n";
  return text;
}

}  // namespace tcq
