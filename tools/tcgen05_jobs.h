// Running the cases of oracle/tcgen05_case.h on a GPU: the glue to cuda/probe_sm100.h and
// probe_alloc_sm100.h.
//
// Everything here works in child processes, so that a trap ends nothing but its own case and this
// process can fork again; it must not have used the device itself. No device of compute capability
// 10 was at hand: this has been compiled, not run, and only its refusals are tested.
#pragma once

#include <optional>
#include <span>

#include "oracle/tcgen05_case.h"
#include "sim/isa/shape.h"

namespace tcq::tools {

// The current device's target; prints a sentence to stderr and returns nothing if it has none that
// the probes know.
std::optional<Target> find_sm100();

// Fills input_hash, outcome, output and hashes of every case. `progress` is called with the number
// done. Throws std::runtime_error for a failure that is no trap.
void record_tcgen05_cases(std::span<oracle::Tcgen05Case> cases, void (*progress)(std::size_t done));

}  // namespace tcq::tools
