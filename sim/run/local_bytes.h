// Which bytes of a warp's local memory nothing defines: those that the thread has not written, and those that it has filled with such
// values.
//
// A load of the former is followed like a register that nothing has written (undefined.h), and LocalUninitialized where something
// depends on it. What alloca gives once more holds what was there.
//
// Source: PTX ISA 9.2, 5.1.5 "Local State Space" (no initial contents).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/run/executor.h"
#include "sim/run/undefined.h"

namespace tcq::run {

// Of one lane.
struct LocalRange {
  int lane = 0;
  std::uint64_t at = 0;
  int count = 0;
};

// At the warp's first instruction.
void begin_local(const machine::ClusterState& c, WarpState& state);
// What a store leaves; beyond the end of local memory nothing, which is a Fault of the store.
void mark_local(Executor& x, const LocalRange& range, Undefined value);
// The read that the bytes go back to: of those that were filled, else of those that nothing has written. None: they are defined.
std::optional<std::uint32_t> local_from(Executor& x, const LocalRange& range);

}  // namespace tcq::run
