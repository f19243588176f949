// Which kernel a problem gets, and how it is launched.
//
// Of the kernels that can compute it the one that cuda/gemm/estimate.h finds the fastest.
#include <algorithm>
#include <limits>
#include <vector>

#include "cuda/gemm/check.h"
#include "cuda/gemm/estimate.h"
#include "cuda/gemm/gemm.h"
#include "cuda/gemm/guard.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/launch.h"
#include "cuda/gemm/path.h"
#include "cuda/gemm/realign.h"
#include "cuda/gemm/resident.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/tensor_map.h"

namespace tcq::gemm {
namespace {

// Of a launch; grids have no more.
constexpr std::int64_t max_ctas = std::numeric_limits<std::int32_t>::max();

bool computes(const Kernel& k, const Problem& p) {
  if (k.in != p.in) return false;
  if (k.loader == Loader::Copy) return true;
  // Without K there is nothing that TMA could load: its maps have no empty dimension.
  const bool operands = p.k > 0 && k.major_a == p.major_a && k.major_b == p.major_b &&
                        tma_addresses(p.a, view_a(p), p.batch) &&
                        tma_addresses(p.b, view_b(p), p.batch);
  const bool split = k.split == 1 || (!p.batch_invariant && k.split <= k_blocks(k, p));
  return operands && split;
}

// Clusters that run at one time; 0: the device cannot run this kernel.
using Resident = int (*)(const Kernel&, const Device&);

// A GPC's SMs are seldom a multiple of a larger cluster's: a tenth stays idle.
int resident_by_count(const Kernel& k, const Device& device) {
  const std::int64_t all = std::int64_t{device.sm_count} * k.ctas_per_sm / cluster_size(k);
  const std::int64_t clusters = cluster_size(k) > 2 ? all * 10 / 11 : all;
  return static_cast<int>(std::min(clusters, max_ctas));
}

int resident_by_driver(const Kernel& k, const Device& device) {
  static ResidentCache known;
  return known.of(k, device.id, [&] { return resident_clusters(k); });
}

using Kernels = std::vector<const Kernel*>;

Status choose(const Problem& p, const Device& device, const Kernels& kernels, Resident resident,
              Launch& launch) {
  double least = std::numeric_limits<double>::max();
  bool too_many = false;
  for (const Kernel* k : kernels) {
    const Schedule schedule = schedule_of(*k, p);
    const std::int64_t tiles = tiles_of(schedule);
    if (tiles > max_ctas / cluster_size(*k)) {
      too_many = true;
      continue;
    }
    const int room = resident(*k, device);
    if (room == 0) continue;
    const double time = microseconds(*k, p, device, room);
    if (time >= least) continue;
    least = time;
    const bool persistent = k->skinny == Skinny::No;
    const auto clusters =
        static_cast<int>(persistent ? std::min<std::int64_t>(tiles, room) : tiles);
    launch = {k, clusters, schedule, k_blocks(*k, p), time, overlaps(*k, time)};
  }
  if (launch.kernel != nullptr) return Status::Ok;
  return too_many ? Status::SizeTooLarge : Status::CudaFailed;
}

// Those that can compute it: `only`, if it is one of them, or else all that suit it.
template <class Condition>
Kernels kernels_for(const Problem& p, const Kernel* only, Condition condition) {
  const auto can = [&](const Kernel& k) { return computes(k, p) && condition(k); };
  if (only != nullptr && can(*only)) return {only};
  Kernels found;
  for (const Kernel& k : kernels())
    if (can(k) && suits(k, p)) found.push_back(&k);
  return found;
}

// `only`: null, or the one kernel that plans are made with where it can be.
Status plan_with(const Problem& problem, const Device& device, Resident resident,
                 const Kernel* only, Plan& plan) {
  plan = {};
  if (const Status status = check(problem); status != Status::Ok) return status;
  Plan made;
  made.problem = resolved(problem);
  const Problem& p = made.problem;
  made.empty = p.m == 0 || p.n == 0 || p.batch == 0;
  made.device = device.id;
  if (!made.empty) {
    if (device.major != 9 || device.minor != 0) return Status::WrongArchitecture;
    if (device.sm_count < 1) return Status::NoDevice;
    const Copies copies = copies_of(p);
    const Problem copied = with_copies(p, copies);
    const auto by_tma = [](const Kernel& k) { return k.loader == Loader::Tma; };
    const auto by_threads = [](const Kernel& k) { return k.loader == Loader::Copy; };
    const Kernels any = kernels_for(p, only, [](const Kernel&) { return true; });
    const Kernels copying = kernels_for(p, nullptr, by_threads);
    const Kernels reading_copies = kernels_for(copied, only, by_tma);
    if (only != nullptr && any != Kernels{only} && reading_copies != Kernels{only})
      return Status::KernelDoesNotFit;
    Status status = choose(p, device, any, resident, made.aligned);
    if (status == Status::Ok) status = choose(p, device, copying, resident, made.unaligned);
    if (status != Status::Ok) return status;
    const std::size_t bytes = workspace_bytes(p, copies);
    const bool fits = bytes < std::size_t{max_matrix_bytes};
    Launch realigned;
    if (fits && choose(copied, device, reading_copies, resident, realigned) == Status::Ok) {
      made.realigned = realigned;
      made.workspace_bytes = bytes;
    }
  }
  made.made = true;
  plan = made;
  return Status::Ok;
}

Device device_here() {
  Device device;
  device.id = cuda::current_device();
  device.major = cuda::device_attribute(cudaDevAttrComputeCapabilityMajor, device.id);
  device.minor = cuda::device_attribute(cudaDevAttrComputeCapabilityMinor, device.id);
  device.sm_count = cuda::device_attribute(cudaDevAttrMultiProcessorCount, device.id);
  return device;
}

Status plan_here(const Problem& problem, const Kernel* only, Plan& plan) {
  if (const Status status = check(problem); status != Status::Ok) return status;
  Device device;
  if (problem.m != 0 && problem.n != 0 && problem.batch != 0) {
    if (cuda::device_count() == 0) return Status::NoDevice;
    cuda::prepare_tensor_maps();
    device = device_here();
  }
  const Status status = plan_with(problem, device, resident_by_driver, only, plan);
  if (plan.realigned.kernel != nullptr) CUDA_CHECK(prepare_realign());
  plan.runnable = status == Status::Ok;
  return status;
}

}  // namespace

Status make_plan_for(const Problem& problem, const Device& device, Plan& plan) noexcept {
  return plan_anew(problem, plan, [&](const Problem& p, Plan& made) {
    return plan_with(p, device, resident_by_count, nullptr, made);
  });
}

Status make_plan_for(const Problem& problem, const Device& device, const Kernel& kernel,
                     Plan& plan) noexcept {
  return plan_anew(problem, plan, [&](const Problem& p, Plan& made) {
    return plan_with(p, device, resident_by_count, &kernel, made);
  });
}

Status make_plan(const Problem& problem, Plan& plan) noexcept {
  return plan_anew(problem, plan,
                   [](const Problem& p, Plan& made) { return plan_here(p, nullptr, made); });
}

Status make_plan_with(const Problem& problem, const Kernel& kernel, Plan& plan) noexcept {
  return plan_anew(problem, plan,
                   [&](const Problem& p, Plan& made) { return plan_here(p, &kernel, made); });
}

std::vector<KSegment> k_segments(const Plan& plan, Path path) {
  const Launch& launch = launch_of(plan, path);
  if (launch.kernel == nullptr) return {};
  if (!is_float(plan.problem.in)) return {{0, plan.problem.k}};  // modulo 2^32: order is nothing
  std::vector<KSegment> segments;
  for (int rank = 0; rank < launch.kernel->split; ++rank) {
    const BlockRange range = split_range(launch.k_blocks, launch.kernel->split, rank);
    const std::int64_t first = std::int64_t{range.first} * launch.kernel->block_k;
    const std::int64_t end = std::int64_t{range.end} * launch.kernel->block_k;
    segments.push_back({first, std::min(end, plan.problem.k) - first});
  }
  return segments;
}

}  // namespace tcq::gemm
