// The silicon itself as a function: a sequence of Tensor Memory allocations, and which of them had
// to wait.
//
// One warp of a CTA executes the steps in order; with cta_group::2 one warp of each CTA of a pair
// does. Between two steps, before the first and behind the last stands a barrier of all threads of
// both CTAs. alloc blocks until its columns are free, which nobody else would ever make true: a
// second warp watches the clock, and when a step takes too long it frees the oldest live allocation
// and reports the step as blocked. If nothing is left to free, the kernel does not end: a trap of its
// own would look like one of the instruction. In the end everything is freed. Example: {alloc 256},
// {alloc 512} blocks in its second step until the first 256 columns are freed.
//
// Host code; failures as in cuda/probe/tcgen05_sm100.h. No device of compute capability 10 was at hand: this has
// been compiled, not run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/isa/tmem/alloc_step.h"

namespace tcq::cuda {

using tcgen05::AllocStep;
using tcgen05::max_alloc_steps;

struct AllocResult {
  std::uint32_t address = 0;  // alloc
  std::uint32_t cycles = 0;   // of the step
  std::uint32_t blocked = 0;  // the watching warp had to free this many allocations
  std::uint32_t skipped = 0;  // dealloc of what the watching warp had freed already
};

// One result for each step, of CTA 0 and then, with cta_group 2, of CTA 1.
// Requires: cta_group is 1 or 2; `allocation` of every dealloc is an earlier alloc, each once; at
// most max_alloc_steps steps.
std::vector<AllocResult> probe_alloc(int cta_group, std::span<const AllocStep> steps);

}  // namespace tcq::cuda
