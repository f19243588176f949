// What the threads of the quantiser do: cuda/gemm/quantize.cu launches them.
//
// A team of threads finds the largest of its elements, makes the factor, and converts. Where all lines allow it a thread takes
// runs of eight elements, 16 bytes of a 16-bit type: 16 threads have a block of 128 of a row, of two rows at once, so that as
// many loads are on their way; a CTA has 128 of 128 rows, in registers; and a warp or a CTA a whole row, which it reads a
// second time, from a cache. Elsewhere elements go one by one, and are all read twice.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "cuda/gemm/quantize_blocks.h"
#include "sim/num/quantize.h"

namespace tcq::gemm {

// The threads that have a job, and how they stand before it: `across` beside each other, `down` below each other, each with
// `held` runs in registers (0: reads them twice).
template <QuantizeBlock Block, int Threads, bool Runs>
struct QuantizeTeam {
  static constexpr bool each_row =
      Runs && Block == QuantizeBlock::Vector128;  // has a factor of its own
  static constexpr int rows = quantize_rows(Block, Runs);
  static constexpr int across = Block == QuantizeBlock::Row ? Threads : scale_block / quantize_run;
  static constexpr int down = Threads / across;
  static constexpr int held = Block == QuantizeBlock::Row || !Runs ? 0 : rows / down;
};

struct QuantizeRun {
  float x[quantize_run];
};

// Nothing writes the source meanwhile, so that loads go ahead of stores.
template <Type In>
__device__ __forceinline__ float quantize_load(const void* source, std::int64_t index) {
  if constexpr (In == Type::f32)
    return __ldg(static_cast<const float*>(source) + index);
  else if constexpr (In == Type::bf16)
    return __bfloat162float(__ldg(static_cast<const __nv_bfloat16*>(source) + index));
  else
    return __half2float(__ldg(static_cast<const __half*>(source) + index));
}

template <Type In>
__device__ __forceinline__ float2 quantize_pair(std::uint32_t word) {
  if constexpr (In == Type::bf16)
    return __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(word));
  else
    return __half22float2(reinterpret_cast<const __half2&>(word));
}

template <Type In>
__device__ __forceinline__ QuantizeRun load_whole_run(const void* source, std::int64_t index) {
  if constexpr (In == Type::f32) {
    const auto* at = reinterpret_cast<const float4*>(static_cast<const float*>(source) + index);
    const float4 a = __ldg(at), b = __ldg(at + 1);
    return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
  } else {
    const uint4 words =
        __ldg(reinterpret_cast<const uint4*>(static_cast<const std::uint16_t*>(source) + index));
    const float2 a = quantize_pair<In>(words.x), b = quantize_pair<In>(words.y),
                 c = quantize_pair<In>(words.z), d = quantize_pair<In>(words.w);
    return {a.x, a.y, b.x, b.y, c.x, c.y, d.x, d.y};
  }
}

// A NaN does not count; infinities, which do not either, are looked for only where there is one.
__device__ __forceinline__ float largest_of(const QuantizeRun& run) {
  float largest = 0;
#pragma unroll
  for (const float x : run.x) largest = fmaxf(largest, fabsf(x));
  if (finite_magnitude(largest) == largest) return largest;
  largest = 0;
#pragma unroll
  for (const float x : run.x) largest = fmaxf(largest, finite_magnitude(x));
  return largest;
}

template <Type Out>
inline constexpr __nv_fp8_interpretation_t fp8_kind = Out == Type::e4m3 ? __NV_E4M3 : __NV_E5M2;

template <Type Out>
__device__ __forceinline__ std::uint8_t to_fp8(float value) {
  return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, fp8_kind<Out>);
}

template <Type Out>
__device__ __forceinline__ void store_run(std::uint8_t* target, const QuantizeRun& run,
                                          float inverse) {
  const auto pair = [&](int i) {
    const float2 scaled = {rounded::multiply(run.x[2 * i], inverse),
                           rounded::multiply(run.x[2 * i + 1], inverse)};
    return __nv_cvt_float2_to_fp8x2(scaled, __NV_SATFINITE, fp8_kind<Out>);
  };
  *reinterpret_cast<ushort4*>(target) = make_ushort4(pair(0), pair(1), pair(2), pair(3));
}

// Of a warp: a team of half of one may have no block where the other has.
template <int Threads>
__device__ __forceinline__ unsigned lanes_of_team() {
  constexpr unsigned half = 0xffff;
  if constexpr (Threads >= quantize_warp) return ~0u;
  return (threadIdx.y * blockDim.x + threadIdx.x) % quantize_warp < Threads ? half : ~half;
}

// The largest of all values of `Threads` threads beside each other, in all of them.
template <int Threads>
__device__ __forceinline__ float largest_of_team(float value) {
  constexpr int warp = quantize_warp;
#pragma unroll
  for (int by = (Threads < warp ? Threads : warp) / 2; by > 0; by /= 2)
    value = fmaxf(value, __shfl_xor_sync(lanes_of_team<Threads>(), value, by));
  if constexpr (Threads > warp) {
    __shared__ float of_warps[Threads / warp];
    __syncthreads();  // the block before has been read
    if (threadIdx.x % warp == 0) of_warps[threadIdx.x / warp] = value;
    __syncthreads();
#pragma unroll
    for (const float of_warp : of_warps) value = fmaxf(value, of_warp);
  }
  return value;
}

template <Type In, Type Out, QuantizeBlock Block, int Threads, bool Runs>
struct Quantizer {
  using Team = QuantizeTeam<Block, Threads, Runs>;
  const Quantize& q;
  const void* source;
  std::uint8_t* target;
  float* factors;
  QuantizeStrides s;
  int thread;  // of the team

  // Zeros where there are none.
  __device__ __forceinline__ QuantizeRun load(std::int64_t row, std::int64_t col,
                                              const QuantizeRange& r) const {
    if (row < r.row_end && col < r.col_end) return load_whole_run<In>(source, row * s.source + col);
    return {};
  }
  __device__ __forceinline__ void store(const QuantizeRun& run, float inverse, std::int64_t row,
                                        std::int64_t col, const QuantizeRange& r) const {
    if (row < r.row_end && col < r.col_end)
      store_run<Out>(target + row * s.target + col, run, inverse);
  }
  // Its inverse.
  __device__ __forceinline__ float make_factor(float largest, std::int64_t at, bool stores) const {
    const float factor = block_factor_of(largest, Out, q.power_of_two);
    if (stores) factors[at] = factor;
    return inverse_of(factor);
  }

  // A factor for each row, made by a thread of its own.
  __device__ __forceinline__ void each_row(const QuantizeRange& r) const {
    const std::int64_t col = r.col + thread * quantize_run;
    QuantizeRun run[Team::held];
    float largest = 0;
#pragma unroll
    for (int i = 0; i < Team::held; ++i) run[i] = load(r.row + i, col, r);
    const int mine = thread % Team::held;
#pragma unroll
    for (int i = 0; i < Team::held; ++i) {
      const float of_row = largest_of_team<Threads>(largest_of(run[i]));
      if (i == mine) largest = of_row;
    }
    const float inverse = make_factor(largest, r.factor + mine * factor_below(q),
                                      thread < Team::held && r.row + mine < r.row_end);
#pragma unroll
    for (int i = 0; i < Team::held; ++i)
      store(run[i], __shfl_sync(lanes_of_team<Threads>(), inverse, i, Threads), r.row + i, col, r);
  }

  __device__ __forceinline__ void whole_block(const QuantizeRange& r) const {
    const std::int64_t row = r.row + thread / Team::across;
    const std::int64_t col = r.col + thread % Team::across * quantize_run;
    QuantizeRun run[Team::held];
    float largest = 0;
#pragma unroll
    for (int i = 0; i < Team::held; ++i) run[i] = load(row + i * Team::down, col, r);
#pragma unroll
    for (const QuantizeRun& one : run) largest = fmaxf(largest, largest_of(one));
    const float inverse = make_factor(largest_of_team<Threads>(largest), r.factor, thread == 0);
#pragma unroll
    for (int i = 0; i < Team::held; ++i) store(run[i], inverse, row + i * Team::down, col, r);
  }

  __device__ __forceinline__ void whole_row(const QuantizeRange& r) const {
    constexpr int columns = Threads * quantize_run;
    float largest = 0;
#pragma unroll 4
    for (std::int64_t col = thread * quantize_run; col < r.col_end; col += columns)
      largest = fmaxf(largest, largest_of(load(r.row, col, r)));
    const float inverse = make_factor(largest_of_team<Threads>(largest), r.factor, thread == 0);
#pragma unroll 4
    for (std::int64_t col = thread * quantize_run; col < r.col_end; col += columns)
      store(load(r.row, col, r), inverse, r.row, col, r);
  }

  template <class Visit>
  __device__ __forceinline__ void for_each_element(const QuantizeRange& r, Visit visit) const {
    for (std::int64_t row = r.row + thread / Team::across; row < r.row_end; row += Team::down)
#pragma unroll 8
      for (std::int64_t col = r.col + thread % Team::across; col < r.col_end; col += Team::across)
        visit(target + row * s.target + col, quantize_load<In>(source, row * s.source + col));
  }
  __device__ __forceinline__ void one_by_one(const QuantizeRange& r) const {
    float largest = 0;
    for_each_element(r, [&](auto, float x) { largest = fmaxf(largest, finite_magnitude(x)); });
    const float inverse = make_factor(largest_of_team<Threads>(largest), r.factor, thread == 0);
    for_each_element(
        r, [&](std::uint8_t* to, float x) { *to = to_fp8<Out>(rounded::multiply(x, inverse)); });
  }
};

// Of a CTA the teams stand beside each other along x and below each other along y, of the grid along y and x. Runs: all lines
// consist of runs that can be read and written at once.
template <Type In, Type Out, QuantizeBlock Block, int Threads, bool Runs>
__global__ void __launch_bounds__(Threads > quantize_threads ? Threads : quantize_threads)
    quantize_kernel(const __grid_constant__ Quantize given, const void* source,
                    std::uint8_t* target, float* factors) {
  using Team = QuantizeTeam<Block, Threads, Runs>;
  Quantize q = given;
  q.block = Block;  // which the compiler knows
  const Quantizer<In, Out, Block, Threads, Runs> quantizer{
      q, source, target, factors, strides_of(q), static_cast<int>(threadIdx.x) % Threads};
  const std::int64_t row = (std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y) * Team::rows;
  if (row >= q.rows) return;
  const unsigned beside = blockDim.x / Threads;
#pragma unroll 1
  for (std::int64_t block = blockIdx.y * beside + threadIdx.x / Threads; block < blocks_across(q);
       block += gridDim.y * beside) {
    const QuantizeRange r = range_at(q, row / block_rows(q), block, Team::rows);
    if constexpr (!Runs)
      quantizer.one_by_one(r);
    else if constexpr (Block == QuantizeBlock::Row)
      quantizer.whole_row(r);
    else if constexpr (Team::each_row)
      quantizer.each_row(r);
    else
      quantizer.whole_block(r);
  }
}

}  // namespace tcq::gemm
