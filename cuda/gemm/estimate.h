// How long a kernel takes for a problem, estimated: what cuda/gemm/plan.cc compares kernels by.
//
// The estimate never decides about bits other than by the choice of a kernel that splits K. Its
// constants are fitted to runs of all kernels on an H100 and an H200 (cuda/gemm/estimate.cc).
#pragma once

#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"

namespace tcq::gemm {

// Clusters of `size` CTAs that run at one time, one CTA to an SM: a GPC's SMs are seldom a multiple of a larger
// cluster's. Measured: cudaOccupancyMaxActiveClusters on an H200, whose 132 SMs run 39 of 3, 30 of 4 and 15 of 8.
std::int64_t clusters_by_count(int size, int sm_count);

// Blocks of K that the kernel's loop runs over, at least one.
int k_blocks(const Kernel& kernel, const Problem& problem);

// The tiles of all clusters, and the order they are taken in.
Schedule schedule_of(const Kernel& kernel, const Problem& problem);
std::int64_t tiles_of(const Schedule& schedule);

// Has the kernel the promotion and the factors of blocks that the problem wants?
bool promotes_as(const Kernel& kernel, const Problem& problem);

// Has it groups, as the problem has, and has each tile one of them?
bool groups_as(const Kernel& kernel, const Problem& problem);

// Does it make D as FP8 with factors if the problem wants that, of as many columns as share one, and else not?
bool quantizes_as(const Kernel& kernel, const Problem& problem);

// Where TMA brings its factors: may it, and are they one for 128 columns, or for each, as its slots have them?
bool stages_as(const Kernel& kernel, const Problem& problem);

// May K be split into its parts, and has each of them a block?
bool splits_as(const Kernel& kernel, const Problem& problem);

// What is estimated of groups, whose sizes are not known: a batch of equal ones.
Problem as_batch(const Problem& problem);

// Does the estimate hold? A kernel for few columns would do for few rows as well, but stores D a line
// at a time; some were timed on problems up to a size; a cluster of few rows may have CTAs without any.
bool suits(const Kernel& kernel, const Problem& problem);

// With whole tiles. `resident`: clusters that run at one time. Requires: strides are numbers.
double microseconds(const Kernel& kernel, const Problem& problem, const Device& device,
                    int resident);

// With runs of blocks of the last tiles, if these are faster (cuda/gemm/stream_k.h), or whole ones.
struct Estimated {
  double microseconds;
  Runs runs;
};
Estimated estimated(const Kernel& kernel, const Problem& problem, const Device& device,
                    int resident);

// Should the kernel overlap its neighbours in the stream? It gains about a microsecond, but its CTAs
// are then spread less evenly over the SMs.
bool overlaps(const Kernel& kernel, double microseconds);

}  // namespace tcq::gemm
