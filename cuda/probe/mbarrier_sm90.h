// The silicon itself as a function: a sequence of operations on one mbarrier, and what can be seen
// of it after each.
//
// As in cuda/probe/tma_sm90.h: each call is one launch, nothing is checked, so that the device's own
// verdict is seen, and after an error the process can use the device no more. The mbarrier lies in
// the first CTA of the launch; any CTA of the cluster may operate on it. Example:
//
//   const auto answers = probe_mbarrier({{Operation::Init, 1}, {Operation::Arrive, 1}}, 1);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/isa/copy/operands.h"

namespace tcq::cuda {

// Runs `steps` on a cluster of `cluster` CTAs. The mbarrier begins as zeros, `misplaced_by` bytes
// behind a multiple of its alignment.
std::vector<mbarrier::Answer> probe_mbarrier(std::span<const mbarrier::Step> steps, int cluster,
                                             std::uint32_t misplaced_by = 0);

}  // namespace tcq::cuda
