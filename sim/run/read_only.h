// Loads that promise that nobody writes their bytes while the kernel runs: ld.global.nc and ldu.
//
// Bytes that the kernel has written before, whoever did and in whatever order, are ReadOnlyWritten; with .L1::no_allocate
// ReadOnlyWrittenUncached. Bytes that no store has reached are fine, whatever lies beside them, and so is a store behind all such loads of
// its bytes, as where a kernel works in place: what came later nobody looks for. Of an earlier cluster those count that it left otherwise
// than it found them.
// Example: "st.global.u32 [%rd1], 5; ld.global.nc.u32 %r1, [%rd1];"
//
// Source: PTX ISA 9.2, 9.7.9.9 "ld.global.nc", 9.7.9.10 "ldu" ("Load read-only data").
#pragma once

#include "sim/run/executor.h"

namespace tcq::run {

inline bool is_read_only(const ptx::Form& form) {
  return form.has(ptx::Flag::Nc) || form.opcode == ptx::Opcode::Ldu;
}

// What a lane of the present instruction has loaded, `bytes` from its address on.
void demand_read_only(Executor& x, int bytes);

}  // namespace tcq::run
