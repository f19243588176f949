// The silicon itself as a function: wgmmas in groups, wait_group N, and the accumulators that it
// covers, read while younger groups may be in flight.
//
// Writes the PTX of a kernel with the whole sequence and runs it on one warpgroup. Which
// accumulators are read behind the wait is the caller's business. As in cuda/probe/wgmma_sm90.h: layouts come
// from the caller; A and B lie in shared memory, whose image begins at tile_shared_base
// (cuda/probe/tma_sm90.h). Example: one group of one wgmma is
// {form, {{false, 0, true, desc_a, desc_b}, {true}}, 1, 0, {0}}.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/isa/copy/operands.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::cuda {

struct GroupsProgram {
  wgmma::Form form;                                // A in shared memory, dense, the same for all
  std::vector<wgmma::GroupsStatement> statements;  // the last one is a commit
  int accumulators = 1;
  int pending = 0;           // N of wait_group
  std::vector<int> covered;  // accumulators that are read behind the wait
};

// `d` holds all accumulators before, one after the other, thread-major as in cuda/probe/wgmma_sm90.h, and
// becomes what the device computed: the covered ones as they were behind wait_group N, the others
// as they were at the end. The size of `shared` is a multiple of 16.
void probe_groups(const GroupsProgram& program, std::span<const std::uint8_t> shared,
                  std::span<std::uint32_t> d);

// The kernel's text, without descriptors; ptxas -arch=sm_90a accepts it.
std::string groups_ptx(const GroupsProgram& program);

}  // namespace tcq::cuda
