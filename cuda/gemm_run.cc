// Running a plan: everything that run() and check_memory() ask of CUDA.
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <exception>

#include "cuda/gemm.h"
#include "cuda/gemm_check.h"
#include "cuda/gemm_kernels.h"
#include "cuda/gemm_launch.h"
#include "cuda/gemm_path.h"
#include "cuda/gemm_realign.h"

namespace tcq::gemm {
namespace {

Source source_of(const void* data, const Strides& s, Major major) {
  const bool k_major = major == Major::K;
  return {data, k_major ? s.ld : 1, k_major ? 1 : s.ld, s.batch};
}

bool tma_stores(const Problem& p, const void* d) { return tma_addresses(d) && tma_stores(p); }

Arguments arguments_of(const Problem& p, const Launch& launch, const Pointers& x) {
  Arguments out;
  out.m = static_cast<int>(p.m);
  out.n = static_cast<int>(p.n);
  out.k = static_cast<int>(p.k);
  out.k_blocks = launch.k_blocks;
  out.stores_elements = !tma_stores(p, x.d);
  out.overlaps = launch.overlaps;
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

// The operands where the kernel reads them, and what has to be copied to get them there.
struct Operands {
  MatrixAt a;
  MatrixAt b;
  std::array<RealignJob, max_realign_jobs> jobs;
  std::size_t job_count = 0;
};

RealignJob job_of(const View& v, std::int64_t batch, const MatrixAt& from, const MatrixAt& to,
                  std::uint8_t* target) {
  const std::int64_t bytes = element_bytes(v.type);
  return {.source = static_cast<const std::uint8_t*>(from.data),
          .target = target,
          .line_bytes = v.inner * bytes,
          .lines = v.outer,
          .matrices = matrices_of({to.ld, to.batch_stride}, batch),
          .source_pitch = from.ld * bytes,
          .source_batch = from.batch_stride * bytes,
          .target_pitch = to.ld * bytes,
          .target_batch = to.batch_stride * bytes};
}

std::uint8_t* first_line(void* workspace) {
  const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(workspace) % l2_line_bytes;
  return static_cast<std::uint8_t*>(workspace) + (past == 0 ? 0 : l2_line_bytes - past);
}

Operands operands_of(const Problem& p, const Pointers& x, const Copies& copied, void* workspace) {
  const Problem q = with_copies(p, copied);
  Operands out = {{x.a, p.a.ld, p.a.batch}, {x.b, p.b.ld, p.b.batch}, {}};
  std::uint8_t* next = first_line(workspace);
  const auto copy = [&](const View& v, const Strides& s, MatrixAt& matrix) {
    const MatrixAt to = {next, s.ld, s.batch};
    out.jobs[out.job_count++] = job_of(v, p.batch, matrix, to, next);
    matrix = to;
    next += copy_bytes(s, v, p.batch);
  };
  if (copied.a) copy(view_a(p), q.a, out.a);
  if (copied.b) copy(view_b(p), q.b, out.b);
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

Status check_memory(const Plan& plan, const Pointers& x, const Workspace& workspace) {
  if (!plan.made) return Status::NoPlan;
  if (plan.empty) return Status::Ok;
  for (const void* pointer : {x.a, x.b, x.c, static_cast<const void*>(x.d), x.bias,
                              static_cast<const void*>(workspace.data)}) {
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
  const Path path = path_of(plan, x, workspace);
  const Launch& chosen = launch_of(plan, path);
  const Arguments arguments = arguments_of(p, chosen, x);
  try {
    const Copies copied = path == Path::Realigned ? copies_of(p, x) : Copies{};
    const Operands operands = operands_of(p, x, copied, workspace.data);
    const Maps maps = make_maps(*chosen.kernel, {p.m, p.n, p.k, p.batch}, operands.a, operands.b,
                                {x.d, p.d.ld, p.d.batch}, arguments.stores_elements);
    if (launch_realign({operands.jobs.data(), operands.job_count}, stream) != cudaSuccess)
      return Status::CudaFailed;
    return launch(*chosen.kernel, chosen.clusters, maps, arguments, stream) == cudaSuccess
               ? Status::Ok
               : Status::CudaFailed;
  } catch (const std::exception&) {
    return Status::CudaFailed;
  }
}

}  // namespace tcq::gemm
