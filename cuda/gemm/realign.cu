// Launching the kernel whose threads are cuda/gemm/realign_units.h.
#include <algorithm>
#include <array>

#include "cuda/gemm/launch.h"
#include "cuda/gemm/realign.h"
#include "cuda/gemm/realign_units.h"
#include "cuda/ptx/async.cuh"

namespace tcq::gemm {
namespace {

using realign::Task;
using realign::threads;

struct Tasks {
  Task task[max_realign_jobs];
  std::int64_t blocks = 0;  // of all tasks
};

struct Global {
  static __device__ __forceinline__ uint4 load(const std::uint8_t* from) {
    return *reinterpret_cast<const uint4*>(from);
  }
  static __device__ __forceinline__ void store(std::uint8_t* to, uint4 word) {
    *reinterpret_cast<uint4*>(to) = word;
  }
  static __device__ __forceinline__ void copy(std::uint8_t* to, const std::uint8_t* from,
                                              int bytes) {
#pragma unroll 1
    for (int i = 0; i < bytes; ++i) to[i] = from[i];
  }
  static __device__ __forceinline__ std::uint32_t behind(std::uint32_t low, std::uint32_t high,
                                                         unsigned bits) {
    return __funnelshift_r(low, high, bits);
  }
};

// The kernel ahead may still write the operands or read the copies. A grid of fewer blocks takes several each.
__global__ void __launch_bounds__(threads) realign_kernel(const __grid_constant__ Tasks tasks) {
  ptx::grid_wait();
  ptx::grid_launch_dependents();
  const std::int64_t first = tasks.task[0].blocks;
  for (std::int64_t block = blockIdx.x; block < tasks.blocks; block += gridDim.x) {
    const bool second = block >= first;
    realign::copy_units<Global>(tasks.task[second ? 1 : 0], block - (second ? first : 0),
                                threadIdx.x);
  }
}

}  // namespace

cudaError_t prepare_realign() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(realign_kernel));
}

cudaError_t launch_realign(std::span<const RealignJob> jobs, cudaStream_t stream, int sm_limit,
                           bool programmatic) {
  if (jobs.empty()) return cudaSuccess;
  if (jobs.size() > max_realign_jobs) return cudaErrorInvalidValue;
  Tasks tasks;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    tasks.task[i] = realign::task_of(jobs[i]);
    tasks.blocks += tasks.task[i].blocks;
  }
  if (tasks.blocks >= INT32_MAX) return cudaErrorInvalidValue;
  const std::int64_t blocks =
      sm_limit > 0 ? std::min<std::int64_t>(tasks.blocks, sm_limit) : tasks.blocks;
  std::array<cudaLaunchAttribute, 1> attributes = {starts_early()};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = attributes.data();
  config.numAttrs = programmatic ? 1 : 0;
  std::array<void*, 1> arguments = {&tasks};
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(realign_kernel),
                             arguments.data());
}

}  // namespace tcq::gemm
