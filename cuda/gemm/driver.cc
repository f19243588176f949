// CUDA's side of running a plan: every call that run() and check_memory() make.
#include <cuda_runtime_api.h>

#include "cuda/gemm/launch.h"
#include "cuda/gemm/realign.h"
#include "cuda/gemm/run.h"

namespace tcq::gemm {
namespace {

struct CudaDriver {
  bool current_device(int& device) const { return cudaGetDevice(&device) == cudaSuccess; }

  Maps make_maps(const Kernel& kernel, const Work& w) const {
    return gemm::make_maps(kernel, w.extents, w.a, w.b, w.d, w.arguments, w.differs);
  }

  bool realign(std::span<const RealignJob> jobs, const Problem& p, Stream stream) const {
    return launch_realign(jobs, stream, p.sm_limit, p.programmatic_launch) == cudaSuccess;
  }

  bool launch(const Launch& chosen, const Maps& maps, const Arguments& arguments,
              Stream stream) const {
    return gemm::launch(chosen, maps, arguments, stream) == cudaSuccess;
  }

  // A question that fails leaves an error; it is taken back unless another one was there before.
  Memory memory_of(const void* pointer, int device) const {
    const bool had_error = cudaPeekAtLastError() != cudaSuccess;
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
      if (!had_error) (void)cudaGetLastError();
      return Memory::NotOfADevice;
    }
    if (attributes.type == cudaMemoryTypeManaged) return Memory::OfThisDevice;
    if (attributes.type != cudaMemoryTypeDevice) return Memory::NotOfADevice;
    return attributes.device == device ? Memory::OfThisDevice : Memory::OfAnother;
  }
};

}  // namespace

Status run(const Plan& plan, const Pointers& x, const Workspace& workspace,
           Stream stream) noexcept {
  return run_on(CudaDriver{}, plan, x, workspace, stream);
}

Status check_memory(const Plan& plan, const Pointers& x, const Workspace& workspace) noexcept {
  return check_memory_on(CudaDriver{}, plan, x, workspace);
}

}  // namespace tcq::gemm
