// Running the cases of oracle/recording/async_case.h on a GPU: the glue to cuda/probe/tma_sm90.h,
// cuda/probe/bulk_sm90.h, cuda/probe/mbarrier_sm90.h and cuda/probe/groups_sm90.h.
#pragma once

#include <span>

#include "oracle/recording/async_case.h"

namespace tcq::tools {

// Fills input_hash, outcome, output and hashes of every case from the current device. `progress` is
// called with the number done. Throws std::runtime_error for every failure of the device.
void record_async_cases(std::span<oracle::AsyncCase> cases, void (*progress)(std::size_t done));

// The same in one child process per case; where the device reports an error the outcome is a trap.
// Requires: this process has not used the device.
void record_async_edge_cases(std::span<oracle::AsyncCase> cases,
                             void (*progress)(std::size_t done));

}  // namespace tcq::tools
