// What a GEMM on tcgen05 should take, on paper: clocks of a kernel of cuda/gemm/tensor_table.h on a problem.
//
// Nothing is fitted and nothing was measured: every figure is a peak that is documented, or an assumption with a name, for
// the first chip to refute. A block of K takes as long as the slowest of three: the tensor cores, shared memory (operands are
// written once and read once; one port serves both), what an SM gets from L2. Waves of tiles follow each other, and all of
// them take no less than memory does; the epilogue hides behind the next tile's products where there are two accumulators,
// but for the last; where there is one, its loads of sums show. Where a kernel promotes, its warpgroups load and add each
// block's sums beside the products, and store D while those run ahead by as many blocks as there are accumulators. Neither
// power (the clock is the data sheet's), nor contention in L2, nor issue by the one thread is modelled. Example: 256 x 256 bf16 by a pair: 512 clocks of the tensor cores a block of 64, 512 of shared memory, 512 of L2.
// Where CTAs share a tile's K, two of them take all others' sums of 64 rows each, as fast as bytes come from L2, and store these.
// Groups count as a batch of equal ones; neither what it takes to look for them nor rows that are stored by threads at
// their ends are modelled. Predictions, written down before anyone measures: cuda/NOTES.md.
#pragma once

#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"

namespace tcq::gemm {

struct TensorAssumptions {
  double shared_bytes =
      128;               // of an SM in a clock, read and written; Hopper's documented 32 banks of 4
  bool one_port = true;  // false: writes by TMA cost reads nothing
  double l2_bytes = 64;  // of an SM in a clock
  double memory_bytes = 8e12;  // in a second: HGX B200's data sheet
  double clocks_per_second =
      1.856e9;  // at which the data sheet's peak is 8192 operations of an SM in a clock
  double tensor_memory_bytes = 512;  // that tcgen05.ld brings in a clock: 4 to each of 128 lanes
  double instructions =
      2;  // of the epilogue for an element of D, one in a clock of each of 128 threads
  double additions = 1;  // of a block's sum in promotion, as `instructions`
  double load =
      100;  // clocks from a promoting warp's tcgen05.ld to its first word, barrier included
  double store = 150;    // clocks of meeting twice for each buffer of D
  double parts = 1000;   // clocks until sums of a part of K are another CTA's, their bytes besides
  double fill = 1500;    // from the first load to the first product
  double launch = 4000;  // of a kernel
};

// Clocks of one SM.
struct TensorTime {
  double tensor = 0;  // a block of K
  double shared = 0;
  double l2 = 0;
  double promotion = 0;
  double loop = 0;      // a tile's products
  double epilogue = 0;  // a tile's
  double parts = 0;     // sums of parts of K on their way
  double waves = 0;
  double memory = 0;  // of the whole problem
  double total = 0;
  double of_peak = 0;  // operations of the problem by those of all SMs in `total`
  double microseconds = 0;

  double shown = 0;  // of a tile's epilogue, what nothing hides but for the last

  bool hides_epilogue() const { return shown <= 0; }
};

// `clusters`: that run at one time. Requires: strides are numbers; the kernel is one on tcgen05 and computes the problem.
TensorTime tensor_time(const Kernel& kernel, const Problem& problem, const Device& device,
                       int clusters, const TensorAssumptions& assumed = {});

}  // namespace tcq::gemm
