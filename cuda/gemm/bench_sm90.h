// Wgmma alone, for benchmarks on Hopper. What they need on any device: cuda/gemm/bench.h.
//
// The ceiling kernel multiplies what lies in shared memory again and again: two warpgroups of an SM,
// m64n256, no loads and no epilogue between. Shared memory does not outlive a kernel, so that each
// launch begins by copying the operands there; that is outside the time, which the SMs take
// themselves, around their loops of wgmmas. Power limits them as it limits a GEMM on such data, if
// the loop is long: what a kernel does besides leaves the tensor cores time to cool.
// How it is timed: tools/bench_ceiling.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sim/isa/base/element.h"

namespace tcq::cuda {

inline constexpr std::size_t ceiling_operand_bytes = 144 * 1024;  // of each SM
inline constexpr unsigned ceiling_warpgroups = 2;

// One warpgroup's loop, from its first wgmma to the end of its last.
struct CeilingLoop {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t clocks = 0;  // of its SM
};

// 2 * products of one launch. `in`: f16, bf16, tf32, s8 or u8.
double ceiling_operations(Type in, int sm_count, int rounds);

// Clocks that the tensor cores of one SM need for its loops, at their peak rate.
double ceiling_tensor_clocks(int rounds);

// One CTA for each SM, `rounds` times through its operands, which lie one SM's behind the other.
// `loops`: one for each warpgroup.
cudaError_t launch_ceiling(Type in, int sm_count, int rounds, const void* operands,
                           CeilingLoop* loops, cudaStream_t stream);

}  // namespace tcq::cuda
