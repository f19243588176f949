// The words after `tcq run`, or the JSON object of --spec: a kernel, its launch, its arguments.
//
// Decides options and what may stand beside what; files are opened elsewhere (memory.h). Example:
// `k.ptx --grid 2 --block 128 --arg x=zeros:f32:64x128 --arg 1.5 --out x=x.npy`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/run/launch.h"

namespace tcq::oracle::run {

struct Output {
  std::string name;
  std::string path;
};

struct Request {
  std::string file;
  std::string kernel;  // empty: the only one
  tcq::run::Dim3 grid, block, cluster;
  bool has_cluster = false;
  std::uint32_t shared = 0;
  std::uint32_t registers = 0;
  std::vector<std::string> arguments;
  std::vector<Output> outputs;
  std::uint64_t explore = 0;  // random executions beside the first two
  std::uint64_t seed = 1;
  std::uint64_t sample = 0;             // clusters; 0: all
  std::uint64_t resident = 0;           // of those, how many begin; 0: all
  std::uint64_t limit = 1'000'000'000;  // instructions of an execution
  std::string replay;                   // FILE or FILE:NUMBER of a schedule (schedule.h)
  std::string svg;                      // where the timeline of an execution goes
  bool coverage = false;
  bool list = false;  // the kernels of the file and their parameters
  bool json = false;
};

// Throws UsageError where a grid cannot be cut into such clusters, or the machine has none so large.
void demand_whole_clusters(const tcq::run::Dim3& grid, const tcq::run::Dim3& cluster);

// Throws UsageError.
Request parse_request(std::span<const std::string> words);

}  // namespace tcq::oracle::run
