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

#include "sim/isa/copy/mbarrier.h"

namespace tcq::cuda {

struct MbarrierStep {
  mbarrier::Operation operation = mbarrier::Operation::Init;
  std::uint32_t number = 0;
  std::uint32_t issuer = 0;  // rank of the CTA that executes it; 0 for Init
};

inline constexpr std::uint32_t no_pending_count = 0xffffffff;

struct MbarrierAnswer {
  std::uint32_t passes = 0;  // test_wait.parity: 1 if that of parity 0 is true, 2 if that of 1
  // Of the state that an arrival of CTA 0 returned; no_pending_count otherwise.
  std::uint32_t pending_count = no_pending_count;
};

// Runs `steps` on a cluster of `cluster` CTAs. The mbarrier begins as zeros, `misplaced_by` bytes
// behind a multiple of its alignment.
std::vector<MbarrierAnswer> probe_mbarrier(std::span<const MbarrierStep> steps, int cluster,
                                           std::uint32_t misplaced_by = 0);

}  // namespace tcq::cuda
