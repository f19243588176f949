// Which kernel a problem gets, and how it is launched.
//
// Of the kernels that can compute it the one with the smallest estimate in clocks: waves of clusters
// times the larger of multiplying and loading a tile. The estimate never decides about the bits.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "cuda/gemm.h"
#include "cuda/gemm_check.h"
#include "cuda/gemm_kernels.h"
#include "cuda/gemm_launch.h"
#include "cuda/launch.h"
#include "cuda/tensor_map.h"

namespace tcq::gemm {
namespace {

constexpr std::int64_t max_tiles = 1024 * 1024 * 1024;

std::int64_t round_up_quotient(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

int k_blocks(const Kernel& kernel, const Problem& p) {
  return static_cast<int>(
      std::max<std::int64_t>(round_up_quotient(p.k, static_cast<std::int64_t>(kernel.block_k)), 1));
}

bool computes(const Kernel& k, const Problem& p) {
  if (k.in != p.in || k.out != p.out) return false;
  if (k.loader == Loader::Copy) return true;
  // Without K there is nothing that TMA could load: its maps have no empty dimension.
  const bool operands = p.k > 0 && k.major_a == p.major_a && k.major_b == p.major_b &&
                        tma_addresses(p.a, view_a(p), p.batch) &&
                        tma_addresses(p.b, view_b(p), p.batch);
  const bool result = k.full || (is_plain(p) && tma_stores(p));
  const bool split = k.split == 1 || (!p.batch_invariant && k.split <= k_blocks(k, p));
  return operands && result && split;
}

// Rows and columns of the schedule; a skinny kernel's rows are columns of D.
Schedule schedule_of(const Kernel& k, const Problem& p) {
  const std::int64_t rows = round_up_quotient(p.m, k.block_m * k.cluster_m);
  const std::int64_t cols = round_up_quotient(p.n, k.block_n * k.cluster_n);
  constexpr int group_rows = 8;
  Schedule s;
  s.rows = static_cast<int>(k.skinny ? cols : rows);
  s.cols = static_cast<int>(k.skinny ? rows : cols);
  s.batch = static_cast<int>(p.batch);
  s.group = k.skinny ? 1 : std::max(1, group_rows / k.cluster_m);
  return s;
}

std::int64_t tiles_of(const Schedule& s) {
  std::int64_t tiles = 0;
  if (__builtin_mul_overflow(std::int64_t{s.rows} * s.cols, s.batch, &tiles)) return max_tiles;
  return tiles;
}

// Inferred: 2048 products of 16 bits in a clock of an SM, 40 bytes from L2; an epilogue of one clock
// for 16 elements unless another consumer multiplies meanwhile.
double clocks(const Kernel& k, const Problem& p, const Device& device) {
  const double tile = static_cast<double>(k.block_m) * k.block_n;
  const double copies = k.loader == Loader::Copy ? 8 : 1;
  const double multiply = tile / 32;
  const double load = 128.0 * (k.block_m / k.cluster_n + k.block_n / k.cluster_m) / 40 * copies;
  const double blocks = static_cast<double>(k_blocks(k, p)) / k.split;
  const double store = tile / (k.turns == Turns::PingPong ? 64 : 16);
  const int resident = std::max(1, device.sm_count / cluster_size(k));
  const auto waves = static_cast<double>(round_up_quotient(tiles_of(schedule_of(k, p)), resident));
  const double narrow = !k.skinny && k.block_m < 2 * warpgroup_rows ? 1.05 : 1;  // reads B twice
  return waves * (blocks * std::max(multiply, load) * narrow + store + 1000);
}

// Clusters that run at one time; 0: the device cannot run this kernel.
using Resident = int (*)(const Kernel&, const Device&);

int resident_by_count(const Kernel& k, const Device& device) {
  return device.sm_count / cluster_size(k);
}
int resident_by_driver(const Kernel& k, const Device&) { return resident_clusters(k); }

Status launch_of(const Problem& p, const Device& device, std::vector<const Kernel*> candidates,
                 Resident resident, Launch& launch) {
  std::stable_sort(candidates.begin(), candidates.end(), [&](const Kernel* x, const Kernel* y) {
    return clocks(*x, p, device) < clocks(*y, p, device);
  });
  for (const Kernel* k : candidates) {
    const Schedule schedule = schedule_of(*k, p);
    const std::int64_t tiles = tiles_of(schedule);
    if (tiles >= max_tiles) return Status::SizeTooLarge;
    const int room = resident(*k, device);
    if (room == 0) continue;
    const int clusters = static_cast<int>(k->skinny ? tiles : std::min<std::int64_t>(tiles, room));
    launch = {k, clusters, schedule, k_blocks(*k, p)};
    return Status::Ok;
  }
  return Status::CudaFailed;
}

// `only`: null, or the one kernel that aligned pointers may get.
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
    std::vector<const Kernel*> any;
    std::vector<const Kernel*> copying;
    for (const Kernel& k : kernels()) {
      if (computes(k, p) && (only == nullptr || only == &k)) any.push_back(&k);
      if (computes(k, p) && k.loader == Loader::Copy) copying.push_back(&k);
    }
    if (any.empty()) return Status::KernelDoesNotFit;
    Status status = launch_of(p, device, any, resident, made.aligned);
    if (status == Status::Ok) status = launch_of(p, device, copying, resident, made.unaligned);
    if (status != Status::Ok) return status;
  }
  made.made = true;
  plan = made;
  return Status::Ok;
}

}  // namespace

Status make_plan_for(const Problem& problem, const Device& device, Plan& plan) {
  return plan_with(problem, device, resident_by_count, nullptr, plan);
}

namespace {

Status plan_here(const Problem& problem, const Kernel* only, Plan& plan) {
  Device device;
  plan = {};
  if (const Status status = check(problem); status != Status::Ok) return status;
  const bool empty = problem.m == 0 || problem.n == 0 || problem.batch == 0;
  try {
    if (!empty) {
      if (cuda::device_count() == 0) return Status::NoDevice;
      cuda::prepare_tensor_maps();
      device.id = cuda::current_device();
      device.major = cuda::device_attribute(cudaDevAttrComputeCapabilityMajor, device.id);
      device.minor = cuda::device_attribute(cudaDevAttrComputeCapabilityMinor, device.id);
      device.sm_count = cuda::device_attribute(cudaDevAttrMultiProcessorCount, device.id);
    }
    const Status status = plan_with(problem, device, resident_by_driver, only, plan);
    plan.runnable = status == Status::Ok;
    return status;
  } catch (const std::exception&) {
    plan = {};
    return Status::CudaFailed;
  }
}

}  // namespace

Status make_plan(const Problem& problem, Plan& plan) { return plan_here(problem, nullptr, plan); }

Status make_plan_with(const Problem& problem, const Kernel& kernel, Plan& plan) {
  return plan_here(problem, &kernel, plan);
}

std::size_t workspace_bytes(const Plan& plan) { return plan.workspace_bytes; }

bool uses_aligned(const Plan& plan, const Pointers& x) {
  const bool d =
      tma_addresses(x.d) || (plan.aligned.kernel != nullptr && plan.aligned.kernel->full);
  return tma_addresses(x.a) && tma_addresses(x.b) && d;
}

std::vector<KSegment> k_segments(const Plan& plan, bool aligned) {
  const Launch& launch = aligned ? plan.aligned : plan.unaligned;
  if (launch.kernel == nullptr) return {};
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
