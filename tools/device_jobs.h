// Running states of the simulator on a GPU: the glue between sim/machine and cuda/probe/wgmma_sm90.h.
//
// record writes what comes back, the live test compares it with execute().
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/recording/directed.h"
#include "oracle/recording/suites.h"
#include "oracle/recording/vectors.h"
#include "sim/machine/wgmma.h"
#include "tools/case_runner.h"

namespace tcq::tools {

struct Job {
  wgmma::Instruction instruction;
  wgmma::State state;
};

// Executes every job on the current device; registers.d of each state becomes what the device
// returned. Throws std::runtime_error with a sentence for every failure of the device.
void run_on_device(std::span<Job> jobs);

// Fills input_hash and outputs of every case from the device. `progress` is called with the number
// done.
void record_cases(std::span<oracle::Case> cases, void (*progress)(std::size_t done));

// The same for the suite `range`, in one child process per case; a case at which the device trapped
// becomes Keep::Trap. Requires: this process has not used the device.
void record_trapping_cases(std::span<oracle::Case> cases, void (*progress)(std::size_t done));

// A state whose output (row 0, column 0) is the probe's; every other operand is 0.
Job job_of(const oracle::Probe& probe);
void record_probes(std::span<oracle::Probe> probes);

// Cases each in a context of its own, as some are expected to trap; `keep` gets what answered or
// trapped. Throws std::runtime_error for everything else. Requires: this process has not used the
// device.
void run_alone(std::size_t cases, const std::function<Attempt(std::size_t)>& run,
               const std::function<void(std::size_t index, const Attempt&)>& keep);

// What `work` returns is an answer, what it throws a trap or a failure.
Attempt attempt_to(const std::function<std::string()>& work);

// Is this an error that the instruction itself causes, in the words of CUDA_CHECK? The process can
// not use the device any more.
bool is_trap(std::string_view sentence);

// A line on a terminal that is wiped again; silent elsewhere.
void show_progress(std::size_t done);

// Throws UsageError unless the current device has compute capability 9.0.
void require_sm90();

// Device, driver and date as header lines of a recording.
std::map<std::string, std::string> provenance();

}  // namespace tcq::tools
