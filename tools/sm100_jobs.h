// Running one case of oracle/recording/tcgen05_case.h on a GPU of compute capability 10: the glue to
// cuda/probe/tcgen05_sm100.h and cuda/probe/alloc_sm100.h, and what their errors mean.
//
// Everything here works in child processes (case_runner.h): the process that calls must not have
// used the device itself. No device of compute capability 10 was at hand: this has been compiled,
// not run; what is above it runs in tests with made-up devices.
#pragma once

#include <optional>

#include "tools/device_jobs.h"
#include "tools/recorder.h"

namespace tcq::tools {

// The current device, if the probes know it: device_jobs.h.
std::optional<FoundDevice> find_sm100();
// One of either kind.
std::optional<FoundDevice> find_any();

Device sm100_device();

}  // namespace tcq::tools
