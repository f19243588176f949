// Running one case of oracle/recording/experiment.h on an sm_90 GPU: one dispatch to the probes of
// cuda/probe, and what their errors mean.
#pragma once

#include <optional>

#include "oracle/recording/experiment.h"
#include "tools/device_jobs.h"
#include "tools/recorder.h"

namespace tcq::tools {

// On the current device, in this process. Throws std::runtime_error for every failure of the device,
// traps among them; the process can then not use it any more.
void answer_here(oracle::Case& c);

// The current device, if it is one: device_jobs.h.
std::optional<FoundDevice> find_sm90();

// The same in child processes, for a Recorder: traps are answers. Requires: this process has not used
// the device.
Device sm90_device();

}  // namespace tcq::tools
