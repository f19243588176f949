// The device's quantiser: which kernel has a matrix, and its launch. What the threads do: quantize.cuh.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime_api.h>

#include <algorithm>

#include "cuda/gemm/guard.h"
#include "cuda/gemm/launch.h"
#include "cuda/gemm/quantize.cuh"
#include "cuda/gemm/quantize.h"

namespace tcq::gemm {
namespace {

template <Type In, Type Out, QuantizeBlock Block, int Threads, bool Runs>
const void* quantizer() {
  return reinterpret_cast<const void*>(quantize_kernel<In, Out, Block, Threads, Runs>);
}

// Of the teams that quantize_threads_of_row() chooses.
template <Type In, Type Out, bool Runs>
const void* kernel_for_row(int threads) {
  using enum QuantizeBlock;
  if constexpr (Runs) {
    if (threads == 2 * quantize_warp) return quantizer<In, Out, Row, 2 * quantize_warp, Runs>();
    if (threads == 4 * quantize_warp) return quantizer<In, Out, Row, 4 * quantize_warp, Runs>();
  }
  return threads == quantize_warp ? quantizer<In, Out, Row, quantize_warp, Runs>()
                                  : quantizer<In, Out, Row, quantize_threads, Runs>();
}

template <Type In, Type Out, bool Runs>
const void* kernel_for(QuantizeBlock block, int threads) {
  using enum QuantizeBlock;
  if (block == Vector128) return quantizer<In, Out, Vector128, quantize_threads_of_vector, Runs>();
  if (block == Block128) return quantizer<In, Out, Block128, quantize_threads_of_block, Runs>();
  return kernel_for_row<In, Out, Runs>(threads);
}

template <Type In, bool Runs>
const void* kernel_for(const Quantize& q, int threads) {
  return q.out == Type::e4m3 ? kernel_for<In, Type::e4m3, Runs>(q.block, threads)
                             : kernel_for<In, Type::e5m2, Runs>(q.block, threads);
}

template <bool Runs>
const void* kernel_for(const Quantize& q, int threads) {
  switch (q.in) {
    case Type::f32: return kernel_for<Type::f32, Runs>(q, threads);
    case Type::f16: return kernel_for<Type::f16, Runs>(q, threads);
    default: return kernel_for<Type::bf16, Runs>(q, threads);
  }
}

}  // namespace

Status quantize(const Quantize& q, const void* source, void* target, float* factors,
                Stream stream) noexcept {
  if (const Status status = check(q, source, target, factors); status != Status::Ok) return status;
  if (q.rows == 0 || q.columns == 0) return Status::Ok;
  const QuantizeTeams teams = quantize_teams(q, source, target);
  const QuantizeGrid grid = quantize_grid(q, teams);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid.ctas_below, grid.ctas_beside);
  config.blockDim = dim3(static_cast<unsigned>(teams.threads) * grid.beside, grid.below);
  config.stream = stream;
  cudaLaunchAttribute early = starts_early();
  config.attrs = &early;
  config.numAttrs = q.programmatic_launch ? 1 : 0;
  QuantizeShape shape = shape_of(q);
  void* arguments[] = {&shape, &source, &target, &factors};
  const void* kernel =
      teams.runs ? kernel_for<true>(q, teams.threads) : kernel_for<false>(q, teams.threads);
  return cudaLaunchKernelExC(&config, kernel, arguments) == cudaSuccess ? Status::Ok
                                                                        : Status::CudaFailed;
}

}  // namespace tcq::gemm
