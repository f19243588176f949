// What the threads of the quantiser do: cuda/gemm/quantize.cu launches them.
//
// A team of threads finds the largest of its elements, makes the factor, and converts. Where all lines allow it a thread takes
// runs of eight elements, 16 bytes of a 16-bit type, and keeps them as they are in registers: 16 threads have a block of 128 of a
// row, of two rows at once, so that as many loads are on their way; a CTA has 128 of 128 rows; and a warp or a CTA a whole row, which
// it reads a second time if it is too long. Elsewhere elements go one by one, and are all read twice.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <type_traits>

#include "cuda/gemm/quantize_blocks.h"
#include "cuda/ptx/async.cuh"
#include "sim/num/quantize.h"

namespace tcq::gemm {

// The threads that have a job, and how they stand before it: `across` beside each other, `down` below each other, each with
// `held` runs in registers (0: reads them twice).
template <Type In, QuantizeBlock Block, int Threads, bool Runs>
struct QuantizeTeam {
  static constexpr bool is_row = Block == QuantizeBlock::Row;
  static constexpr bool each_row =
      Runs && Block == QuantizeBlock::Vector128;  // has a factor of its own
  static constexpr int rows = quantize_rows(Block, Runs);
  static constexpr int across = is_row ? Threads : scale_block / quantize_run;
  static constexpr int down = Threads / across;
  static constexpr int held = !Runs ? 0 : is_row ? quantize_runs_of_row(In) : rows / down;
  static constexpr int cta = Threads > quantize_warp ? Threads : quantize_threads;
  static constexpr int resident =
      (each_row && In != Type::f32 ? 1536 : 1024) / cta;  // CTAs of an SM
};

// As they lie: converted, those of 16 bits would take twice the registers, and an SM would have too few loads on their way.
template <Type In>
struct QuantizeRun {
  uint4 words;
};
template <>
struct QuantizeRun<Type::f32> {
  float4 first;
  float4 second;
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
using QuantizePair = std::conditional_t<In == Type::bf16, __nv_bfloat162, __half2>;

template <Type In>
using QuantizeElement = std::conditional_t<In == Type::f32, float, std::uint16_t>;

template <Type In>
__device__ __forceinline__ QuantizeRun<In> load_whole_run(const QuantizeElement<In>* at) {
  if constexpr (In == Type::f32) {
    const auto* fours = reinterpret_cast<const float4*>(at);
    return {__ldg(fours), __ldg(fours + 1)};
  } else {
    return {__ldg(reinterpret_cast<const uint4*>(at))};
  }
}

// The `Pair`th of four.
template <int Pair, Type In>
__device__ __forceinline__ float2 pair_of(const QuantizeRun<In>& run) {
  if constexpr (In == Type::f32) {
    const float4& four = Pair < 2 ? run.first : run.second;
    return Pair % 2 == 0 ? float2{four.x, four.y} : float2{four.z, four.w};
  } else {
    const std::uint32_t word = Pair == 0   ? run.words.x
                               : Pair == 1 ? run.words.y
                               : Pair == 2 ? run.words.z
                                           : run.words.w;
    const auto pair = reinterpret_cast<const QuantizePair<In>&>(word);
    if constexpr (In == Type::bf16)
      return __bfloat1622float2(pair);
    else
      return __half22float2(pair);
  }
}

template <class Visit, Type In>
__device__ __forceinline__ void for_each_pair(const QuantizeRun<In>& run, Visit visit) {
  visit(pair_of<0>(run));
  visit(pair_of<1>(run));
  visit(pair_of<2>(run));
  visit(pair_of<3>(run));
}

template <Type In>
__device__ __forceinline__ QuantizePair<In> larger_of(std::uint32_t a, std::uint32_t b) {
  const auto pair = [](const std::uint32_t& word) {
    return __habs2(reinterpret_cast<const QuantizePair<In>&>(word));
  };
  return __hmax2(pair(a), pair(b));
}

// Of magnitudes, infinities among them; a NaN does not count, unless all are.
template <Type In>
__device__ __forceinline__ float largest_of_any(const QuantizeRun<In>& run) {
  if constexpr (In == Type::f32) {
    float largest = 0;
    for_each_pair(run, [&](float2 x) { largest = fmaxf(largest, fmaxf(fabsf(x.x), fabsf(x.y))); });
    return largest;
  } else {
    const auto both =
        __hmax2(larger_of<In>(run.words.x, run.words.y), larger_of<In>(run.words.z, run.words.w));
    return fmaxf(__low2float(both), __high2float(both));
  }
}

template <Type In>
__device__ __forceinline__ float largest_of_finite(const QuantizeRun<In>& run) {
  float largest = 0;
  for_each_pair(run, [&](float2 x) {
    largest = fmaxf(largest, fmaxf(finite_magnitude(x.x), finite_magnitude(x.y)));
  });
  return largest;
}

template <Type Out>
inline constexpr __nv_fp8_interpretation_t fp8_kind = Out == Type::e4m3 ? __NV_E4M3 : __NV_E5M2;

template <Type Out>
__device__ __forceinline__ std::uint8_t to_fp8(float value) {
  return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, fp8_kind<Out>);
}

template <Type Out, Type In>
__device__ __forceinline__ void store_run(std::uint8_t* target, const QuantizeRun<In>& run,
                                          float inverse) {
  const auto pair = [&](float2 x) {
    const float2 scaled = {rounded::multiply(x.x, inverse), rounded::multiply(x.y, inverse)};
    return __nv_cvt_float2_to_fp8x2(scaled, __NV_SATFINITE, fp8_kind<Out>);
  };
  *reinterpret_cast<ushort4*>(target) = make_ushort4(pair(pair_of<0>(run)), pair(pair_of<1>(run)),
                                                     pair(pair_of<2>(run)), pair(pair_of<3>(run)));
}

// The largest of all values of `Threads` threads beside each other, in all of them. Two teams of half a warp meet here, too.
template <int Threads>
__device__ __forceinline__ float largest_of_team(float value) {
  constexpr int warp = quantize_warp;
#pragma unroll
  for (int by = (Threads < warp ? Threads : warp) / 2; by > 0; by /= 2)
    value = fmaxf(value, __shfl_xor_sync(~0u, value, by));
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

// A thread's runs of a block: the first in source and target, how many there are, and from each to the next.
template <Type In>
struct QuantizeRuns {
  const QuantizeElement<In>* source;
  std::uint8_t* target;
  int count;
  std::int64_t source_step;
  std::int64_t target_step;

  // Zeros where there are none.
  __device__ __forceinline__ QuantizeRun<In> load(int i) const {
    if (i < count) return load_whole_run<In>(source + i * source_step);
    return {};
  }
  template <Type Out>
  __device__ __forceinline__ void store(int i, const QuantizeRun<In>& run, float inverse) const {
    if (i < count) store_run<Out>(target + i * target_step, run, inverse);
  }
};

template <Type In, Type Out, QuantizeBlock Block, int Threads, bool Runs>
struct Quantizer {
  using Team = QuantizeTeam<In, Block, Threads, Runs>;
  using Run = QuantizeRun<In>;
  const QuantizeShape& s;
  const void* source;
  std::uint8_t* target;
  float* factors;
  unsigned thread;  // of the team

  // Its inverse.
  __device__ __forceinline__ float make_factor(float largest, std::int64_t at, bool stores) const {
    const float factor = block_factor_of(largest, Out, s.power_of_two);
    if (stores) factors[at] = factor;
    return inverse_of(factor);
  }

  // Those of a row are beside each other, else below each other.
  __device__ __forceinline__ QuantizeRuns<In> runs_of(const QuantizeRange& r) const {
    constexpr bool along = Team::is_row;
    constexpr unsigned step = along ? Threads * quantize_run : Team::each_row ? 1 : Team::down;
    const unsigned row = r.row + (Team::each_row ? 0 : thread / Team::across);
    const unsigned col = r.col + thread % Team::across * quantize_run;
    const bool inside = row < r.row_end && col < r.col_end;
    const unsigned left = !inside ? 0 : along ? r.col_end - col : r.row_end - row;
    return {static_cast<const QuantizeElement<In>*>(source) + row * s.ld_source + col,
            target + row * s.ld_target + col, static_cast<int>((left + step - 1) / step),
            along ? step : step * s.ld_source, along ? step : step * s.ld_target};
  }

  // The largest finite magnitude of the team's, of which `each` calls its argument with every run: infinities are looked for only
  // where there is one.
  template <class Each>
  static __device__ __forceinline__ float largest_of(Each each) {
    float largest = 0;
    each([&](const Run& run) { largest = fmaxf(largest, largest_of_any(run)); });
    largest = largest_of_team<Threads>(largest);
    if (!__any_sync(~0u, finite_magnitude(largest) != largest)) return largest;
    largest = 0;
    each([&](const Run& run) { largest = fmaxf(largest, largest_of_finite(run)); });
    return largest_of_team<Threads>(largest);
  }

  // A factor for each row, made by a thread of its own.
  __device__ __forceinline__ void each_row(const QuantizeRange& r, std::int64_t factor) const {
    const QuantizeRuns<In> runs = runs_of(r);
    Run run[Team::held];
    float largest = 0;
#pragma unroll
    for (int i = 0; i < Team::held; ++i) run[i] = runs.load(i);
    const unsigned mine = thread % Team::held;
#pragma unroll
    for (unsigned i = 0; i < Team::held; ++i) {
      const float of_row = largest_of([&](auto visit) { visit(run[i]); });
      if (i == mine) largest = of_row;
    }
    const float inverse = make_factor(largest, factor + mine * s.factor_below,
                                      thread < Team::held && r.row + mine < r.row_end);
#pragma unroll
    for (int i = 0; i < Team::held; ++i)
      runs.template store<Out>(i, run[i], __shfl_sync(~0u, inverse, i, Threads));
  }

  // One for all that the team holds.
  __device__ __forceinline__ void whole_block(const QuantizeRange& r, std::int64_t factor) const {
    const QuantizeRuns<In> runs = runs_of(r);
    Run run[Team::held];
#pragma unroll
    for (int i = 0; i < Team::held; ++i) run[i] = runs.load(i);
    const float largest = largest_of([&](auto visit) {
#pragma unroll
      for (const Run& one : run) visit(one);
    });
    const float inverse = make_factor(largest, factor, leads(r));
#pragma unroll
    for (int i = 0; i < Team::held; ++i) runs.template store<Out>(i, run[i], inverse);
  }

  // A row of more than that.
  __device__ __forceinline__ void long_row(const QuantizeRange& r, std::int64_t factor) const {
    const QuantizeRuns<In> runs = runs_of(r);
    const float largest = largest_of([&](auto visit) {
#pragma unroll 4
      for (int i = 0; i < runs.count; ++i) visit(runs.load(i));
    });
    const float inverse = make_factor(largest, factor, leads(r));
#pragma unroll 4
    for (int i = 0; i < runs.count; ++i) runs.template store<Out>(i, runs.load(i), inverse);
  }

  template <class Visit>
  __device__ __forceinline__ void for_each_element(const QuantizeRange& r, Visit visit) const {
    for (std::int64_t row = r.row + thread / Team::across; row < r.row_end; row += Team::down)
#pragma unroll 8
      for (std::int64_t col = r.col + thread % Team::across; col < r.col_end; col += Team::across)
        visit(target + row * s.ld_target + col, quantize_load<In>(source, row * s.ld_source + col));
  }
  __device__ __forceinline__ void one_by_one(const QuantizeRange& r, std::int64_t factor) const {
    float largest = 0;
    for_each_element(r, [&](auto, float x) { largest = fmaxf(largest, finite_magnitude(x)); });
    const float inverse = make_factor(largest_of_team<Threads>(largest), factor, leads(r));
    for_each_element(
        r, [&](std::uint8_t* to, float x) { *to = to_fp8<Out>(rounded::multiply(x, inverse)); });
  }

  __device__ __forceinline__ bool leads(const QuantizeRange& r) const {
    return thread == 0 && r.row < r.row_end;
  }
};

// The kernel ahead may still write the source or read the target. The compiler would ask for the source before: what nothing writes
// it need not keep behind a wait.
__device__ __forceinline__ const void* behind_kernel_ahead(const void* source) {
  ptx::grid_wait();
  asm volatile("" : "+l"(source) : : "memory");
  return source;
}

// Of a CTA the teams stand beside each other along x and below each other along y, of the grid along y and x. Runs: all lines
// consist of runs that can be read and written at once.
template <Type In, Type Out, QuantizeBlock Block, int Threads, bool Runs>
__global__ void __launch_bounds__(QuantizeTeam<In, Block, Threads, Runs>::cta,
                                  QuantizeTeam<In, Block, Threads, Runs>::resident)
    quantize_kernel(const __grid_constant__ QuantizeShape s, const void* source,
                    std::uint8_t* target, float* factors) {
  using Team = QuantizeTeam<In, Block, Threads, Runs>;
  const Quantizer<In, Out, Block, Threads, Runs> quantizer{s, behind_kernel_ahead(source), target,
                                                           factors, threadIdx.x % Threads};
  ptx::grid_launch_dependents();
  const unsigned row = (blockIdx.x * blockDim.y + threadIdx.y) * Team::rows;
  const unsigned beside = blockDim.x / Threads;
  // All teams of a CTA take as many turns, some with nothing to do, so that a warp stays together.
#pragma unroll 1
  for (unsigned first = blockIdx.y * beside; first < s.across; first += gridDim.y * beside) {
    const unsigned number = first + threadIdx.x / Threads;
    const QuantizeRange r = range_at(s, Block, row, number, Team::rows);
    const std::int64_t factor = s.factor(row / rows_of(Block), number);
    if constexpr (!Runs)
      quantizer.one_by_one(r, factor);
    else if constexpr (Team::each_row)
      quantizer.each_row(r, factor);
    else if (Team::is_row && r.col_end > Team::held * Threads * quantize_run)
      quantizer.long_row(r, factor);
    else
      quantizer.whole_block(r, factor);
  }
}

}  // namespace tcq::gemm
