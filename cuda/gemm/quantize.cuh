// What the threads of the quantiser do: cuda/gemm/quantize.cu launches them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "cuda/gemm/quantize_blocks.h"
#include "sim/num/quantize.h"

namespace tcq::gemm {

inline constexpr int quantize_threads = 256;

template <Type In>
__device__ __forceinline__ float quantize_load(const void* source, std::int64_t index) {
  if constexpr (In == Type::f32)
    return static_cast<const float*>(source)[index];
  else if constexpr (In == Type::bf16)
    return __bfloat162float(static_cast<const __nv_bfloat16*>(source)[index]);
  else
    return __half2float(static_cast<const __half*>(source)[index]);
}

template <Type Out>
__device__ __forceinline__ std::uint8_t to_fp8(float value) {
  return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, Out == Type::e4m3 ? __NV_E4M3 : __NV_E5M2);
}

// The largest of all threads' values, in all of them. Team: a warp, or all of the CTA.
template <int Team>
__device__ __forceinline__ float largest_of_team(float value) {
#pragma unroll
  for (int by = 16; by > 0; by /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, by));
  if constexpr (Team > 32) {
    __shared__ float of_warps[Team / 32];
    __syncthreads();  // the block before has been read
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
    __syncthreads();
#pragma unroll
    for (int warp = 0; warp < Team / 32; ++warp) value = fmaxf(value, of_warps[warp]);
  }
  return value;
}

template <Type In, Type Out, int Team>
__global__ void __launch_bounds__(quantize_threads)
    quantize_kernel(const __grid_constant__ Quantize q, const void* source, std::uint8_t* target,
                    float* factors) {
  const QuantizeStrides s = strides_of(q);
  const int thread = static_cast<int>(threadIdx.x) % Team;
  constexpr int teams = quantize_threads / Team;
  const std::int64_t all = blocks_of(q);
  for (std::int64_t number = std::int64_t{blockIdx.x} * teams + threadIdx.x / Team; number < all;
       number += std::int64_t{gridDim.x} * teams) {
    const QuantizeRange r = range_of(q, number);
    float largest = 0;
    for (std::int64_t row = r.row; row < r.row_end; ++row)
      for (std::int64_t col = r.col + thread; col < r.col_end; col += Team)
        largest = fmaxf(largest, finite_magnitude(quantize_load<In>(source, row * s.source + col)));
    const float factor = block_factor_of(largest_of_team<Team>(largest), Out, q.power_of_two);
    const float inverse = inverse_of(factor);
    if (thread == 0) factors[r.factor] = factor;
    for (std::int64_t row = r.row; row < r.row_end; ++row)
      for (std::int64_t col = r.col + thread; col < r.col_end; col += Team)
        target[row * s.target + col] = to_fp8<Out>(
            rounded::multiply(quantize_load<In>(source, row * s.source + col), inverse));
  }
}

}  // namespace tcq::gemm
