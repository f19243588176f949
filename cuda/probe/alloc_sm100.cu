// The kernel and the launch behind cuda/probe/alloc_sm100.h.
#include <cuda_runtime.h>

#include <stdexcept>

#include "cuda/probe/alloc_sm100.h"
#include "cuda/probe/tcgen05_sm100.h"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/tmem.cuh"
#include "cuda/runtime/launch.h"

namespace tcq::cuda {
namespace {

constexpr int kWarpThreads = 32;
constexpr unsigned kAllLanes = 0xffffffff;
constexpr long long kPatience = 20'000'000;  // clock cycles, about a hundredth of a second

struct Arguments {
  const AllocStep* steps;
  AllocResult* results;
  std::uint32_t count;
};

// What the two warps tell each other. A live allocation has columns; whoever takes them frees it.
struct Shared {
  std::uint32_t address;  // where alloc writes
  std::uint32_t done;     // steps
  std::uint32_t live_address[max_alloc_steps];
  std::uint32_t live_columns[max_alloc_steps];
  std::uint32_t blocked[max_alloc_steps];
};

__device__ std::uint32_t read(const std::uint32_t& word) {
  return *const_cast<const volatile std::uint32_t*>(&word);
}

// Lane 0's value in all lanes.
__device__ std::uint32_t broadcast(std::uint32_t value) { return __shfl_sync(kAllLanes, value, 0); }

__device__ bool is_lane_0() { return threadIdx.x % kWarpThreads == 0; }

// Frees allocation `index` unless somebody did; all lanes of a warp.
template <int CtaGroup>
__device__ bool free_allocation(Shared& shared, std::uint32_t index) {
  std::uint32_t columns = 0;
  if (is_lane_0()) columns = atomicExch(&shared.live_columns[index], 0u);
  columns = broadcast(columns);
  if (columns == 0) return false;
  ptx::tcgen05_dealloc<tcgen05::DeallocForm{CtaGroup}>(read(shared.live_address[index]), columns);
  return true;
}

template <int CtaGroup>
__device__ AllocResult execute(Shared& shared, const AllocStep& step, std::uint32_t index) {
  AllocResult result;
  const long long start = clock64();
  switch (step.action) {
    case AllocStep::Action::Alloc:
      ptx::tcgen05_alloc<tcgen05::AllocForm{CtaGroup}>(ptx::shared_address(&shared.address),
                                                       step.columns);
      __syncwarp();
      result.address = read(shared.address);
      if (is_lane_0()) {
        shared.live_address[index] = result.address;
        __threadfence_block();
        atomicExch(&shared.live_columns[index], step.columns);
      }
      break;
    case AllocStep::Action::Dealloc:
      result.skipped = free_allocation<CtaGroup>(shared, step.allocation) ? 0 : 1;
      break;
    case AllocStep::Action::Relinquish:
      ptx::tcgen05_relinquish_alloc_permit<tcgen05::RelinquishForm{CtaGroup}>();
      break;
  }
  result.cycles = static_cast<std::uint32_t>(clock64() - start);
  return result;
}

template <int CtaGroup>
__device__ void execute_step(Shared& shared, const Arguments& arguments, std::uint32_t index) {
  AllocResult result = execute<CtaGroup>(shared, arguments.steps[index], index);
  __syncwarp();
  if (is_lane_0()) {
    __threadfence_block();
    atomicExch(&shared.done, index + 1);
    result.blocked = read(shared.blocked[index]);
    arguments.results[blockIdx.x * arguments.count + index] = result;
  }
}

// Frees the oldest allocation that a step before `end` left; false if there is none.
template <int CtaGroup>
__device__ bool free_oldest(Shared& shared, std::uint32_t end) {
  for (std::uint32_t i = 0; i < end; ++i)
    if (free_allocation<CtaGroup>(shared, i)) return true;
  return false;
}

// Returns when the step is done, or when nothing can help it: who started the kernel then ends it.
// The watching warps of a pair see the same allocations and the same step, which is blocked in both
// CTAs or in none, and so they free the same one together.
template <int CtaGroup>
__device__ void watch_step(Shared& shared, std::uint32_t index) {
  long long start = clock64();
  while (broadcast(read(shared.done)) == index) {
    const bool late = clock64() - start > kPatience;
    if (broadcast(late ? 1 : 0) == 0) continue;
    if (is_lane_0()) atomicAdd(&shared.blocked[index], 1u);
    __syncwarp();
    if (!free_oldest<CtaGroup>(shared, index)) return;
    start = clock64();
  }
}

// All threads of the CTA, or of both CTAs of the pair: what stands before it is over in each of them.
template <int CtaGroup>
__device__ void meet() {
  ptx::tcgen05_fence_before_thread_sync();
  __syncwarp();
  if constexpr (CtaGroup == 2) {
    ptx::cluster_arrive();
    ptx::cluster_wait();
  } else {
    __syncthreads();
  }
  ptx::tcgen05_fence_after_thread_sync();
}

// The first meeting says that the peer runs, the last one that it may end.
template <int CtaGroup>
__global__ void __launch_bounds__(2 * kWarpThreads) alloc_kernel(Arguments arguments) {
  __shared__ Shared shared;
  for (std::uint32_t i = threadIdx.x; i < max_alloc_steps; i += 2 * kWarpThreads)
    shared.live_columns[i] = shared.blocked[i] = 0;
  if (threadIdx.x == 0) shared.done = 0;
  __syncthreads();
  const bool executes = threadIdx.x < kWarpThreads;
  meet<CtaGroup>();
  for (std::uint32_t i = 0; i < arguments.count; ++i) {
    if (executes)
      execute_step<CtaGroup>(shared, arguments, i);
    else
      watch_step<CtaGroup>(shared, i);
    meet<CtaGroup>();
  }
  for (std::uint32_t i = 0; i < arguments.count; ++i) {
    if (executes) free_allocation<CtaGroup>(shared, i);
    meet<CtaGroup>();
  }
}

void launch(const void* kernel, int ctas, Arguments& arguments) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(ctas);
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(ctas));
  config.blockDim = dim3(2 * kWarpThreads);
  config.attrs = &cluster;
  config.numAttrs = 1;
  void* pointers[] = {&arguments};
  CUDA_CHECK(cudaLaunchKernelExC(&config, kernel, pointers));
  wait_for_kernel();
}

}  // namespace

std::vector<AllocResult> probe_alloc(int cta_group, std::span<const AllocStep> steps) {
  (void)sm100_target();  // throws a sentence if this is no such device
  if (steps.size() > max_alloc_steps) throw std::runtime_error("too many steps of allocation");
  const DeviceBuffer<AllocStep> step_buffer{steps};
  std::vector<AllocResult> results(steps.size() * static_cast<std::size_t>(cta_group));
  const DeviceBuffer<AllocResult> result_buffer(results.size());
  Arguments arguments{step_buffer.data(), result_buffer.data(),
                      static_cast<std::uint32_t>(steps.size())};
  const auto* kernel = cta_group == 2 ? reinterpret_cast<const void*>(alloc_kernel<2>)
                                      : reinterpret_cast<const void*>(alloc_kernel<1>);
  launch(kernel, cta_group, arguments);
  result_buffer.download(results);
  return results;
}

}  // namespace tcq::cuda
