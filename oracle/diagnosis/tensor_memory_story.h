// The sentences of diagnosis.h that are about Tensor Memory: which cells, what is missing, who holds
// what, and the cure.
//
// Example: "tcgen05.ld.32x32b.x16 {r0..r15}, [lane 0, column 0] at gemm.cc:40 (epilogue, warp 0)
// reads lanes 0-31, columns 0-15; tcgen05.mma... at gemm.cc:31 (mma, thread 32) wrote them, and no
// tcgen05.fence::after_thread_sync stands behind the synchronisation of the two".
#pragma once

#include <string>

#include "sim/async/finding.h"
#include "sim/async/program.h"

namespace tcq::oracle {

bool is_about_tensor_memory(const machine::Finding& finding);

// Requires: is_about_tensor_memory(finding).
std::string tensor_memory_story(const machine::Program& program, const machine::Finding& finding);

// What a deadlock has to do with it, a line each; empty if nothing.
std::string tensor_memory_of_deadlock(const machine::Program& program,
                                      const machine::Finding& finding);

// What to do about a deadlock that a commit lacks in; empty if it is about something else.
std::string fix_of_commit(const machine::Program& program, const machine::Finding& finding);

// `tcgen05.wait::ld` or `wait::st` of a TmemWaitMissing; empty of anything else.
std::string missing_wait(const machine::Program& program, const machine::Finding& finding);

}  // namespace tcq::oracle
