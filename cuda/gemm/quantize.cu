// The device's quantiser: which kernel has a matrix, and its launch. What the threads do: quantize.cuh.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime_api.h>

#include <algorithm>

#include "cuda/gemm/guard.h"
#include "cuda/gemm/quantize.cuh"
#include "cuda/gemm/quantize.h"

namespace tcq::gemm {
namespace {

template <Type In, Type Out, bool Runs>
const void* kernel_for(QuantizeBlock block, int team) {
  using enum QuantizeBlock;
  if (block == Vector128)
    return reinterpret_cast<const void*>(
        quantize_kernel<In, Out, Vector128, quantize_threads_of_vector, Runs>);
  if (block == Block128)
    return reinterpret_cast<const void*>(
        quantize_kernel<In, Out, Block128, quantize_threads_of_block, Runs>);
  return team == quantize_warp
             ? reinterpret_cast<const void*>(quantize_kernel<In, Out, Row, quantize_warp, Runs>)
             : reinterpret_cast<const void*>(quantize_kernel<In, Out, Row, quantize_threads, Runs>);
}

template <Type In, bool Runs>
const void* kernel_for(const Quantize& q, int team) {
  return q.out == Type::e4m3 ? kernel_for<In, Type::e4m3, Runs>(q.block, team)
                             : kernel_for<In, Type::e5m2, Runs>(q.block, team);
}

template <bool Runs>
const void* kernel_for(const Quantize& q, int team) {
  switch (q.in) {
    case Type::f32: return kernel_for<Type::f32, Runs>(q, team);
    case Type::f16: return kernel_for<Type::f16, Runs>(q, team);
    default: return kernel_for<Type::bf16, Runs>(q, team);
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
  Quantize copy = q;
  void* arguments[] = {&copy, &source, &target, &factors};
  const void* kernel =
      teams.runs ? kernel_for<true>(q, teams.threads) : kernel_for<false>(q, teams.threads);
  return cudaLaunchKernelExC(&config, kernel, arguments) == cudaSuccess ? Status::Ok
                                                                        : Status::CudaFailed;
}

}  // namespace tcq::gemm
