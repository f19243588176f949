// Running a plan: everything that run() and check_memory() ask of CUDA.
#include <cuda_runtime_api.h>

#include <exception>

#include "cuda/gemm.h"
#include "cuda/gemm_check.h"
#include "cuda/gemm_kernels.h"
#include "cuda/gemm_launch.h"

namespace tcq::gemm {
namespace {

Source source_of(const void* data, const Strides& s, Major major) {
  const bool k_major = major == Major::K;
  return {data, k_major ? s.ld : 1, k_major ? 1 : s.ld, s.batch};
}

bool tma_stores(const Problem& p, const void* d) {
  return tma_addresses(d) && tma_stores(p);
}

Arguments arguments_of(const Problem& p, const Launch& launch, const Pointers& x) {
  Arguments out;
  out.m = static_cast<int>(p.m);
  out.n = static_cast<int>(p.n);
  out.k = static_cast<int>(p.k);
  out.k_blocks = launch.k_blocks;
  out.stores_elements = !tma_stores(p, x.d);
  out.schedule = launch.schedule;
  out.epilogue = {.alpha = p.alpha,
                  .beta = p.beta,
                  .activation = p.activation,
                  .bias = p.has_bias ? x.bias : nullptr,
                  .c = x.c,
                  .ld_c = p.c.ld,
                  .batch_c = p.c.batch,
                  .d = x.d,
                  .ld_d = p.d.ld,
                  .batch_d = p.d.batch};
  out.a = source_of(x.a, p.a, p.major_a);
  out.b = source_of(x.b, p.b, p.major_b);
  return out;
}

Status memory_of(const void* pointer, int device) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    (void)cudaGetLastError();
    return Status::NotDeviceMemory;
  }
  if (attributes.type == cudaMemoryTypeManaged) return Status::Ok;
  if (attributes.type != cudaMemoryTypeDevice) return Status::NotDeviceMemory;
  return attributes.device == device ? Status::Ok : Status::MixedDevices;
}

}  // namespace

Status check_memory(const Plan& plan, const Pointers& x) {
  if (!plan.made) return Status::NoPlan;
  if (plan.empty) return Status::Ok;
  for (const void* pointer : {x.a, x.b, x.c, static_cast<const void*>(x.d), x.bias}) {
    if (pointer == nullptr) continue;
    if (const Status status = memory_of(pointer, plan.device); status != Status::Ok) return status;
  }
  return Status::Ok;
}

Status run(const Plan& plan, const Pointers& x, const Workspace& workspace, Stream stream) {
  if (const Status status = check(plan, x, workspace); status != Status::Ok) return status;
  if (!plan.runnable) return Status::NoPlan;
  if (plan.empty) return Status::Ok;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return Status::NoDevice;
  if (device != plan.device) return Status::WrongDevice;
  if (cudaPeekAtLastError() != cudaSuccess) return Status::EarlierError;
  const Problem& p = plan.problem;
  const Launch& chosen = uses_aligned(plan, x) ? plan.aligned : plan.unaligned;
  const Arguments arguments = arguments_of(p, chosen, x);
  try {
    const Maps maps =
        make_maps(*chosen.kernel, {p.m, p.n, p.k, p.batch}, {x.a, p.a.ld, p.a.batch},
                  {x.b, p.b.ld, p.b.batch}, {x.d, p.d.ld, p.d.batch}, arguments.stores_elements);
    return launch(*chosen.kernel, chosen.clusters, maps, arguments, stream) == cudaSuccess
               ? Status::Ok
               : Status::CudaFailed;
  } catch (const std::exception&) {
    return Status::CudaFailed;
  }
}

}  // namespace tcq::gemm
