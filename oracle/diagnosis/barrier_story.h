// Sentences about who waits for whom: deadlocks, mbarriers that complete too early or never, the
// hand-over of a stage between roles; and what to change, with its line.
//
// A part of diagnosis.h. Which statements use an mbarrier: barrier_users.h.
#pragma once

#include <string>
#include <vector>

#include "sim/async/finding.h"
#include "sim/async/program.h"

namespace tcq::oracle {

// Everybody who waits, warps that wait alike in one line.
std::string waiting_text(const machine::Program& program, const machine::Finding& finding);

// What to do about a finding with waiting warps.
std::string fix_of_deadlock(const machine::Program& program, const machine::Finding& finding);

// About the mbarrier that a finding names.
std::string fix_of_barrier(const machine::Program& program, const machine::Finding& finding);

// About bytes that were handed on too early or taken too early: where the hand-over stands.
std::string fix_of_hand_over(const machine::Program& program, const machine::Finding& finding);

// The fence.proxy.async behind an access that some lanes only execute; the wait_group between a wgmma
// and a use of its registers, or behind an operation, that leaves it in flight. "": there is none.
std::string narrow_fence(const machine::Program& program, const machine::Place& access);
std::string weak_wait_before(const machine::Program& program, const machine::Place& issued,
                             const machine::Place& use);
std::string weak_wait_behind(const machine::Program& program, const machine::Place& issued);

// One line for each mbarrier that the finding is about: `full[0]: count 1 from gemm.cc:79; ...`.
std::vector<std::string> barrier_lines(const machine::Program& program,
                                       const machine::Finding& finding);

}  // namespace tcq::oracle
