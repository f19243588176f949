// Running states of the simulator on a GPU: the glue between sim/machine and cuda/probe/wgmma_sm90.h.
//
// And what every recorder says of the device itself. Cases of suites: sm90_jobs.h.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/recording/directed.h"
#include "sim/machine/wgmma.h"

namespace tcq::tools {

struct Job {
  wgmma::Instruction instruction;
  wgmma::State state;
};

// Executes every job on the current device; registers.d of each state becomes what the device
// returned. Throws std::runtime_error with a sentence for every failure of the device.
void run_on_device(std::span<Job> jobs);

// A state whose output (row 0, column 0) is the probe's; every other operand is 0.
Job job_of(const oracle::Probe& probe);
void record_probes(std::span<oracle::Probe> probes);

// Is this an error that the instruction itself causes, in the words of CUDA_CHECK? The process can
// not use the device any more.
bool is_trap(std::string_view sentence);

struct FoundDevice {
  Target target = Target::sm_90a;
  oracle::Header header;  // device, driver, date
};

// The current device, asked for in a child process, whose `target_of` names its target or throws why it
// will not do: then the sentence goes to stderr, and nothing is returned. Throws Interrupted.
std::optional<FoundDevice> find_device(const std::function<Target()>& target_of);

// Throws UsageError unless the current device has compute capability 9.0.
void require_sm90();

// Device, driver and date as header lines of a recording.
std::map<std::string, std::string> provenance();

}  // namespace tcq::tools
