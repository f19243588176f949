// The clusters of a launch, one after the other: in which orders each runs, what is found, what memory is left for the
// next; and one stored execution once more.
//
// A cluster begins with what the first execution of each cluster before it left, so that a replay runs those, once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "oracle/gemm/progress.h"
#include "oracle/run/memory.h"
#include "oracle/run/report.h"
#include "oracle/run/request.h"
#include "oracle/run/schedule.h"

namespace tcq::oracle::run {

struct Job {
  const Request& request;
  std::shared_ptr<const tcq::run::Kernel> kernel;
  tcq::run::Launch launch;
  Identity identity;
  const std::vector<Array>& arrays;
};

// In `global` the memory of the launch, afterwards what the clusters left. Throws UsageError.
Report run_clusters(const Job& job, std::vector<std::uint8_t>& global, gemm::Progress& progress);

// Throws UsageError if the schedule is of another run, or does not fit at one of its steps.
Report replay_cluster(const Job& job, const StoredSchedule& stored,
                      std::vector<std::uint8_t>& global, gemm::Progress& progress);

// The instructions that are not executed, with their lines.
std::vector<std::string> unmodelled_of(const tcq::run::Kernel& kernel);

}  // namespace tcq::oracle::run
