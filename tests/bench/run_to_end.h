// One execution of a cluster, whose warps, copies and commits take turns: for benchmarks.
#pragma once

#include "sim/async/cluster.h"

namespace tcq::machine {

// Until nobody can take a step. False: the program is wrong.
inline bool run_to_end(Cluster& cluster) {
  for (auto agents = cluster.runnable(); !agents.empty(); agents = cluster.runnable())
    for (const AgentId agent : agents)
      if (cluster.is_runnable(agent)) cluster.step(agent);
  return !cluster.finding() && cluster.finished();
}

}  // namespace tcq::machine
