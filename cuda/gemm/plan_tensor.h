// Plans for a device of compute capability 10.x: which kernel on tcgen05 a problem gets.
//
// Of the rows of a table that can compute it, the one that takes the least time on paper (cuda/gemm/tensor_time.h), of equal
// ones that with the largest tile. Example: bf16, 8192 x 8192 on 148 SMs: 1024 tiles of 256 x 256 by 74 pairs are 14 waves,
// 2048 of 128 x 256 by one CTA are 14 as well, which wait for shared memory: the pair's it is. Nothing is fitted: no chip was
// at hand. Few tiles get a kernel whose CTAs share a tile's K, a cluster for each tile, where all fit at one time: bf16,
// 128 x 7168, K of 16384: 56 tiles of 128 columns by 112 CTAs. Not if bits may not depend on M; with a limit of SMs K is
// split as without one, or not at all.
//
// Needs no CUDA: tests plan with a table of their own. Hopper: cuda/gemm/plan.cc, which comes here.
#pragma once

#include <span>

#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"

namespace tcq::gemm {

constexpr bool has_tcgen05(const Device& device) {
  return device.major == 10 && (device.minor == 0 || device.minor == 3);
}

// Of another device: is it Hopper, and is the problem one for it?
Status check_hopper(const Problem& problem, const Device& device);

// Clusters that run at one time; 0: the device cannot run this kernel.
using ClustersAtOnce = int (*)(const Kernel&, const Device&);

// Can the kernel compute the problem, if every pointer is a multiple of 16, on a device that has its instruction?
bool computes_on_tcgen05(const Kernel& kernel, const Problem& problem);

// Completes a plan that has a problem and is not empty: all launches are the one. It reads copies of operands that TMA cannot
// address; without the workspace that holds them check() refuses such pointers and strides. `only`: null, or the one kernel to plan with. WrongArchitecture if the table is empty.
Status plan_on_tcgen05(const Device& device, std::span<const Kernel> table, const Kernel* only,
                       ClustersAtOnce clusters_at_once, Plan& plan);

}  // namespace tcq::gemm
