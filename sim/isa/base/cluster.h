// CTAs of a cluster as TMA names them, the multicast mask; how large an answer of launch control is.
//
// Source: PTX ISA 9.2, 9.7.9.27.1.2 "cp.async.bulk.tensor" (bit i of the mask is the CTA of rank i); 9.7.13.17
// "clusterlaunchcontrol.try_cancel" (16 bytes).
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"

namespace tcq {

inline constexpr int max_cluster = 16;  // of which 8 are portable

// That try_cancel brings to shared memory, at a multiple of them.
inline constexpr std::uint32_t launch_answer_bytes = 16;

// The bits of `count` CTAs from rank `first` on, each `step` ranks after the last. Requires: all of
// them below max_cluster.
HOST_DEVICE constexpr std::uint16_t multicast_mask(int first, int step, int count) {
  std::uint32_t mask = 0;
  for (int i = 0; i < count; ++i) mask |= 1u << (first + i * step);
  return static_cast<std::uint16_t>(mask);
}

}  // namespace tcq
