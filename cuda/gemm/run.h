// What run() and check_memory() decide, whoever makes the calls to CUDA.
//
// A driver is the calls: cuda/gemm/driver.cc has CUDA's, tests/gemm/gemm_run_test.cc one that answers what a
// test wants. Each call answers for itself alone: an error that some other library has left behind
// is neither asked for nor taken away.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/check.h"
#include "cuda/gemm/gemm.h"
#include "cuda/gemm/guard.h"
#include "cuda/gemm/operands.h"

namespace tcq::gemm {

// What one run() hands to the kernels: the operands where the kernel reads them, and what has to be
// copied to get them there.
struct Work {
  Extents extents;
  MatrixAt a;
  MatrixAt b;
  MatrixAt d;
  Arguments arguments;
  std::uint32_t differs = 0;  // kernels on tcgen05: TensorOperands
  std::array<RealignJob, max_realign_jobs> jobs;
  std::size_t job_count = 0;
};

// Requires: check(plan, pointers, workspace) is Ok, and the plan is not empty.
Work work_of(const Plan& plan, Path path, const Pointers& pointers, const Workspace& workspace);

// The pointers that run() follows; null for the others.
std::array<const void*, 14> followed(const Plan& plan, const Pointers& pointers,
                                     const Workspace& workspace);

enum class Memory : std::uint8_t { OfThisDevice, OfAnother, NotOfADevice };

// Driver: Maps make_maps(const Kernel&, const Work&), which may throw; bool current_device(int&);
// bool realign(std::span<const RealignJob>, const Problem&, Stream); bool launch(const Launch&,
// const Maps&, const Arguments&, Stream). False: that very call failed.
template <class Driver>
Status run_on(const Driver& driver, const Plan& plan, const Pointers& x, const Workspace& workspace,
              Stream stream) noexcept {
  if (const Status status = check(plan, x, workspace); status != Status::Ok) return status;
  if (!plan.runnable) return Status::NoPlan;
  if (plan.empty) return Status::Ok;
  int device = 0;
  if (!driver.current_device(device)) return Status::NoDevice;
  if (device != plan.device) return Status::WrongDevice;
  return guarded(Status::CudaFailed, [&] {
    const Path path = path_of(plan, x, workspace);
    const Launch& chosen = launch_of(plan, path);
    const Work work = work_of(plan, path, x, workspace);
    const auto maps = driver.make_maps(*chosen.kernel, work);
    const std::span<const RealignJob> jobs{work.jobs.data(), work.job_count};
    if (!driver.realign(jobs, plan.problem, stream)) return Status::CudaFailed;
    return driver.launch(chosen, maps, work.arguments, stream) ? Status::Ok : Status::CudaFailed;
  });
}

// Driver: Memory memory_of(const void*, int device).
template <class Driver>
Status check_memory_on(const Driver& driver, const Plan& plan, const Pointers& x,
                       const Workspace& workspace) noexcept {
  if (!is_whole(plan)) return Status::NoPlan;
  if (plan.empty) return Status::Ok;
  for (const void* pointer : followed(plan, x, workspace)) {
    if (pointer == nullptr) continue;
    switch (driver.memory_of(pointer, plan.device)) {
      case Memory::OfThisDevice: break;
      case Memory::OfAnother: return Status::MixedDevices;
      case Memory::NotOfADevice: return Status::NotDeviceMemory;
    }
  }
  return Status::Ok;
}

}  // namespace tcq::gemm
