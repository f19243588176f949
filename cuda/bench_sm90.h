// What a benchmark needs on the device: random normal matrices, and the rate of wgmma alone.
//
// The ceiling kernel multiplies what lies in shared memory again and again: two warpgroups of an SM,
// m64n256, no loads from global memory, no epilogue. Power limits it as it limits a GEMM on such
// data, so that a GEMM's share of it says what loading and storing cost.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sim/isa/element.h"

namespace tcq::cuda {

// Floats: N(0, 1). Integers of 8 bits: N(0, 32) rounded; of u8 the magnitude.
void fill_normal(Type type, void* data, std::size_t count, std::uint64_t seed, cudaStream_t stream);

// 2 * products of one launch. `in`: f16, bf16, tf32, s8 or u8.
double ceiling_operations(Type in, int sm_count, int rounds);

// One CTA for each SM, `rounds` times through the stages in shared memory; `sink` takes one word.
cudaError_t launch_ceiling(Type in, int sm_count, int rounds, std::uint32_t* sink,
                           cudaStream_t stream);

}  // namespace tcq::cuda
