// The device's quantiser: a warp to a block of one row's 128, a CTA to a larger block. Each element is read twice, the
// second time from a cache.
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

template <Type In>
const void* kernel_for(Type out, bool by_warps) {
  const bool e4m3 = out == Type::e4m3;
  if (by_warps)
    return e4m3 ? reinterpret_cast<const void*>(quantize_kernel<In, Type::e4m3, 32>)
                : reinterpret_cast<const void*>(quantize_kernel<In, Type::e5m2, 32>);
  return e4m3 ? reinterpret_cast<const void*>(quantize_kernel<In, Type::e4m3, quantize_threads>)
              : reinterpret_cast<const void*>(quantize_kernel<In, Type::e5m2, quantize_threads>);
}

const void* kernel_for(const Quantize& q, bool by_warps) {
  switch (q.in) {
    case Type::f32: return kernel_for<Type::f32>(q.out, by_warps);
    case Type::f16: return kernel_for<Type::f16>(q.out, by_warps);
    default: return kernel_for<Type::bf16>(q.out, by_warps);
  }
}

}  // namespace

Status quantize(const Quantize& q, const void* source, void* target, float* factors,
                Stream stream) noexcept {
  if (const Status status = check(q, source, target, factors); status != Status::Ok) return status;
  if (q.rows == 0 || q.columns == 0) return Status::Ok;
  const bool by_warps = q.block == QuantizeBlock::Vector128;
  const std::int64_t at_a_time = by_warps ? quantize_threads / 32 : 1;
  constexpr std::int64_t most_ctas = 1048576;  // each takes several blocks
  const std::int64_t ctas = std::min((blocks_of(q) + at_a_time - 1) / at_a_time, most_ctas);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(ctas));
  config.blockDim = dim3(quantize_threads);
  config.stream = stream;
  Quantize copy = q;
  void* arguments[] = {&copy, &source, &target, &factors};
  return cudaLaunchKernelExC(&config, kernel_for(q, by_warps), arguments) == cudaSuccess
             ? Status::Ok
             : Status::CudaFailed;
}

}  // namespace tcq::gemm
