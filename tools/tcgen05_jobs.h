// Running one case of oracle/recording/tcgen05_case.h on a GPU: the glue to cuda/probe/tcgen05_sm100.h and
// cuda/probe/alloc_sm100.h, and what their errors mean.
//
// Everything here works in child processes (case_runner.h): the process that calls must not have
// used the device itself. No device of compute capability 10 was at hand: this has been compiled,
// not run; what is above it runs in tests with made-up devices.
#pragma once

#include <optional>

#include "oracle/recording/container.h"
#include "sim/isa/wgmma/shape.h"
#include "tools/tcgen05_recorder.h"

namespace tcq::tools {

struct FoundDevice {
  Target target = Target::sm_100a;
  oracle::Header header;  // device, driver, date
};

// The current device; prints a sentence to stderr and returns nothing if the probes do not know it.
std::optional<FoundDevice> find_sm100();

Tcgen05Device sm100_device();

}  // namespace tcq::tools
