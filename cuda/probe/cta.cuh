// What the kernels of the probes of asynchronous copies share: images of shared memory, mbarriers,
// reports, launches of a CTA or of one cluster.
//
// Order in every kernel: image into shared memory, proxy fence, barrier, the one instruction, its
// completion, image or registers back. The mbarrier lies behind the image. Waiting is bounded, so
// that a wrong count of bytes ends as a report and not as a hang. The kernels: cuda/probe/tma_sm90.cu,
// cuda/probe/bulk_sm90.cu, cuda/probe/mbarrier_sm90.cu.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda/probe/tma_sm90.h"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "cuda/runtime/launch.h"

namespace tcq::cuda {

inline constexpr int kThreads = 128;
inline constexpr std::uint32_t kWindowBytes = 1024 * 1024 * 16;  // of one CTA in a cluster
inline constexpr std::uint32_t kBarrierBytes = 16;
inline constexpr long long kPatience = 200'000'000;  // clock cycles, about a tenth of a second

// What a CTA says about itself.
struct Report {
  std::uint32_t shared_base = 0;
  std::uint32_t completed = 0;
  std::uint64_t barrier = 0;
};

// The part of a kernel's arguments that is the same for all.
struct CtaArguments {
  std::uint32_t image_bytes;  // without the mbarrier
  std::uint32_t tx_bytes;
  std::uint32_t issuer;
  std::uint16_t mask;
  const std::uint8_t* image;
  std::uint8_t* result;  // one image for each CTA
  Report* reports;
};

extern __shared__ __align__(1024) std::uint8_t shared_image[];

__device__ inline void copy_in(const CtaArguments& arguments) {
  const auto* from = reinterpret_cast<const uint4*>(arguments.image);
  auto* to = reinterpret_cast<uint4*>(shared_image);
  for (std::uint32_t i = threadIdx.x; i < arguments.image_bytes / sizeof(uint4); i += kThreads)
    to[i] = from[i];
  ptx::fence_proxy_async_shared();
  __syncthreads();
}

__device__ inline void copy_out(const CtaArguments& arguments) {
  __syncthreads();
  const auto* from = reinterpret_cast<const uint4*>(shared_image);
  auto* to = reinterpret_cast<uint4*>(arguments.result + blockIdx.x * arguments.image_bytes);
  for (std::uint32_t i = threadIdx.x; i < arguments.image_bytes / sizeof(uint4); i += kThreads)
    to[i] = from[i];
}

__device__ inline bool wait(std::uint32_t barrier) {
  const long long start = clock64();
  while (!ptx::mbarrier_try_wait(barrier, 0)) {
    if (clock64() - start > kPatience) return false;
  }
  return true;
}

__device__ inline void report(const CtaArguments& arguments, bool completed) {
  if (threadIdx.x != 0) return;
  const auto* barrier =
      reinterpret_cast<const std::uint64_t*>(shared_image + arguments.image_bytes);
  arguments.reports[blockIdx.x] = {ptx::shared_address(shared_image), completed ? 1u : 0u,
                                   *barrier};
}

// A shared address of a case, which counts from `tile_shared_base`, in the own CTA. In a cluster
// the windows of the CTAs follow each other, and a plain 0x400 is CTA 0's: remote to any other.
__device__ inline std::uint32_t own_address(std::uint32_t shared) {
  return ptx::shared_address(shared_image) + (shared - tile_shared_base);
}

__device__ inline std::uint32_t init_barrier(const CtaArguments& arguments) {
  const std::uint32_t barrier = ptx::shared_address(shared_image) + arguments.image_bytes;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(barrier, 1);
    ptx::fence_mbarrier_init();
  }
  return barrier;
}

// Is this CTA's bit set in the mask?
__device__ inline bool in_mask(std::uint32_t mask, std::uint32_t rank) {
  for (; rank != 0; --rank) mask /= 2;
  return mask % 2 != 0;
}

__device__ inline void cluster_sync() {
  ptx::cluster_arrive();
  ptx::cluster_wait();
}

// `arguments` are pointers to the kernel's parameters; waits for the end.
inline void launch_cluster(const void* kernel, int ctas, int threads, std::size_t shared_bytes,
                           void** arguments) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(ctas);
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(ctas));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared_bytes;
  config.attrs = &cluster;
  config.numAttrs = ctas > 1 ? 1 : 0;
  CUDA_CHECK(cudaLaunchKernelExC(&config, kernel, arguments));
  CUDA_CHECK(cudaDeviceSynchronize());
}

// The memory of one launch. Images go in and come back through it. Arguments begin with
// CtaArguments.
template <class Arguments>
class Launch {
 public:
  Launch(ConstBytes shared, int ctas)
      : ctas_(ctas),
        image_(shared),
        result_(shared.size() * static_cast<std::size_t>(ctas)),
        reports_(static_cast<std::size_t>(ctas)) {
    if (shared.size() % sizeof(uint4) != 0)
      throw std::runtime_error("the size of a shared image is no multiple of 16");
    arguments.image_bytes = static_cast<std::uint32_t>(shared.size());
    arguments.image = image_.data();
    arguments.result = result_.data();
    arguments.reports = reports_.data();
  }

  // `kernel_arguments` are pointers to the kernel's parameters; waits for the end.
  void run(const void* kernel, void** kernel_arguments) {
    const std::size_t bytes = arguments.image_bytes + kBarrierBytes;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)));
    launch_cluster(kernel, ctas_, kThreads, bytes, kernel_arguments);
  }

  // True if every CTA completed.
  bool completed() const {
    std::vector<Report> reports(static_cast<std::size_t>(ctas_));
    reports_.download(reports);
    bool all = true;
    for (const Report& r : reports) {
      // In a cluster the bits above a CTA's window hold its rank.
      if (r.shared_base % kWindowBytes != tile_shared_base)
        throw std::runtime_error("dynamic shared memory starts at address " +
                                 std::to_string(r.shared_base));
      all = all && r.completed != 0;
    }
    return all;
  }

  void download(Bytes images) const { result_.download(images); }

  Arguments arguments{};

 private:
  int ctas_;
  DeviceBuffer<std::uint8_t> image_;
  DeviceBuffer<std::uint8_t> result_;
  DeviceBuffer<Report> reports_;
};

}  // namespace tcq::cuda
