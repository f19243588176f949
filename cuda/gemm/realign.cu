// Launching the kernels whose threads are cuda/gemm/realign_units.h and turn_units.h.
#include <algorithm>
#include <array>
#include <type_traits>

#include "cuda/gemm/launch.h"
#include "cuda/gemm/realign.h"
#include "cuda/gemm/realign_units.h"
#include "cuda/gemm/turn_units.h"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"

namespace tcq::gemm {
namespace {

// Of a launch; a grid of fewer blocks takes several each.
template <class Task>
struct Tasks {
  Task task[max_realign_jobs];
  int count = 0;
  std::int64_t blocks = 0;  // of all tasks

  void add(const Task& more) {
    task[count++] = more;
    blocks += more.blocks;
  }
};

struct Global : ptx::Funnel {
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
  static __device__ __forceinline__ std::uint8_t byte(const std::uint8_t* from) { return *from; }
  static __device__ __forceinline__ std::uint32_t bytes_of(std::uint32_t low, std::uint32_t high,
                                                           unsigned selector) {
    return __byte_perm(low, high, selector);
  }
};

// Calls `block_of` with a task and a number of its blocks. The kernel ahead may still write the operands or read the copies.
template <class Task, class BlockOf>
__device__ __forceinline__ void for_each_block(const Tasks<Task>& tasks, BlockOf block_of) {
  ptx::grid_wait();
  ptx::grid_launch_dependents();
  const std::int64_t first = tasks.task[0].blocks;
  for (std::int64_t block = blockIdx.x; block < tasks.blocks; block += gridDim.x) {
    const bool second = block >= first;
    block_of(tasks.task[second ? 1 : 0], block - (second ? first : 0));
  }
}

__global__ void __launch_bounds__(realign::threads)
    realign_kernel(const __grid_constant__ Tasks<realign::Task> tasks) {
  for_each_block(tasks, [](const realign::Task& task, std::int64_t block) {
    realign::copy_units<Global>(task, block, threadIdx.x);
  });
}

template <int Bytes>
__global__ void __launch_bounds__(turn::threads)
    turn_kernel(const __grid_constant__ Tasks<turn::Task> tasks) {
  __shared__ __align__(turn::tile_bytes) std::uint8_t shared[turn::shared_bytes<Bytes>];
  const auto thread = static_cast<int>(threadIdx.x);
  for_each_block(tasks, [&](const turn::Task& task, std::int64_t block) {
    const turn::TileAt tile = turn::tile_of<Bytes>(task, block);
    turn::load_tile<Bytes, Global>(task, tile, thread, shared);
    __syncthreads();
    turn::store_tile<Bytes, Global>(task, tile, thread, shared);
    __syncthreads();
  });
}

template <class Task>
const void* kernel_for(const Tasks<Task>& tasks) {
  if constexpr (std::is_same_v<Task, realign::Task>)
    return reinterpret_cast<const void*>(realign_kernel);
  else if (tasks.task[0].job.turned_bytes == 1)
    return reinterpret_cast<const void*>(turn_kernel<1>);
  else if (tasks.task[0].job.turned_bytes == 2)
    return reinterpret_cast<const void*>(turn_kernel<2>);
  else
    return reinterpret_cast<const void*>(turn_kernel<4>);
}

template <class Task>
cudaError_t launch(Tasks<Task> tasks, int threads, cudaStream_t stream, int sm_limit,
                   bool programmatic) {
  if (tasks.count == 0) return cudaSuccess;
  const std::int64_t blocks =
      sm_limit > 0 ? std::min<std::int64_t>(tasks.blocks, sm_limit) : tasks.blocks;
  std::array<cudaLaunchAttribute, 1> attributes = {starts_early()};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream;
  config.attrs = attributes.data();
  config.numAttrs = programmatic ? 1 : 0;
  std::array<void*, 1> arguments = {&tasks};
  return cudaLaunchKernelExC(&config, kernel_for(tasks), arguments.data());
}

}  // namespace

cudaError_t prepare_realign() {
  for (const void* kernel : {reinterpret_cast<const void*>(realign_kernel),
                             reinterpret_cast<const void*>(turn_kernel<1>),
                             reinterpret_cast<const void*>(turn_kernel<2>),
                             reinterpret_cast<const void*>(turn_kernel<4>)}) {
    cudaFuncAttributes attributes{};
    const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t launch_realign(std::span<const RealignJob> jobs, cudaStream_t stream, int sm_limit,
                           bool programmatic) {
  if (jobs.size() > max_realign_jobs) return cudaErrorInvalidValue;
  Tasks<realign::Task> straight;
  Tasks<turn::Task> turned;
  for (const RealignJob& job : jobs) {
    if (job.turned_bytes == 0)
      straight.add(realign::task_of(job));
    else
      turned.add(turn::task_of(job));
  }
  if (straight.blocks >= INT32_MAX || turned.blocks >= INT32_MAX) return cudaErrorInvalidValue;
  const cudaError_t error = launch(straight, realign::threads, stream, sm_limit, programmatic);
  if (error != cudaSuccess) return error;
  return launch(turned, turn::threads, stream, sm_limit, programmatic);
}

}  // namespace tcq::gemm
