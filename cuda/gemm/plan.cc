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
#include "cuda/gemm/plan_tensor.h"
#include "cuda/gemm/realign.h"
#include "cuda/gemm/resident.h"
#include "cuda/gemm/stream_k.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/tensor_map.h"

namespace tcq::gemm {
namespace {

// Of a launch; grids have no more.
constexpr std::int64_t max_ctas = std::numeric_limits<std::int32_t>::max();

bool computes(const Kernel& k, const Problem& p) {
  if (k.in != p.in || k.in_b != type_b(p) || !promotes_as(k, p)) return false;
  if (!groups_as(k, p) || !quantizes_as(k, p)) return false;
  if (k.loader == Loader::Copy) return true;
  // Without K there is nothing that TMA could load: its maps have no empty dimension.
  const bool operands = p.k > 0 && k.major_a == p.major_a && k.major_b == p.major_b &&
                        tma_addresses(p.a, view_a(p), matrices_of_a(p)) &&
                        tma_addresses(p.b, view_b(p), p.batch);
  return operands && splits_as(k, p) && stages_as(k, p);
}

// Clusters that run at one time; 0: the device cannot run this kernel.
using Resident = int (*)(const Kernel&, const Device&);

int resident_by_count(const Kernel& k, const Device& device) {
  const std::int64_t clusters = clusters_by_count(cluster_size(k), device.sm_count) * k.ctas_per_sm;
  return static_cast<int>(std::min(clusters, max_ctas));
}

int resident_by_driver(const Kernel& k, const Device& device) {
  static ResidentCache known;
  return known.of(k, device.id, [&] { return resident_clusters(k); });
}

using Kernels = std::vector<const Kernel*>;

bool is_limited(const Problem& p, const Device& device) {
  return usable_sms(p, device.sm_count) < device.sm_count;
}

// Clusters that run at one time on the SMs that the problem may use. With a limit each CTA may get an SM of its
// own, so that a kernel that is not persistent has to fit there whole; 0: it does not.
int room_for(const Kernel& k, const Problem& p, const Device& device, Resident resident,
             std::int64_t tiles) {
  const int room = resident(k, device);
  if (!is_limited(p, device)) return room;
  const int limited = std::min(room, usable_sms(p, device.sm_count) / cluster_size(k));
  return k.skinny != Skinny::No && tiles > limited ? 0 : limited;
}

// May the blocks of the last tiles be dealt as runs? Their sums want a workspace.
enum class Tiles : bool { Whole, Dealt };

Status fastest(const Problem& p, const Device& device, const Kernels& kernels, Resident resident,
               Tiles tiles_are, Launch& launch) {
  double least = std::numeric_limits<double>::max();
  bool too_many = false;
  Device usable = device;
  usable.sm_count = usable_sms(p, device.sm_count);
  for (const Kernel* k : kernels) {
    const Schedule schedule = schedule_of(*k, p);
    const std::int64_t tiles = tiles_of(schedule);
    if (tiles > max_ctas / cluster_size(*k)) {
      too_many = true;
      continue;
    }
    const int room = room_for(*k, p, device, resident, tiles);
    if (room == 0) continue;
    const auto [time, runs] = tiles_are == Tiles::Dealt
                                  ? estimated(*k, p, usable, room)
                                  : Estimated{microseconds(*k, p, usable, room), {}};
    if (time >= least) continue;
    least = time;
    const auto clusters = static_cast<int>(clusters_of_grid(*k, tiles, room));
    const bool early = p.programmatic_launch;
    launch = {k,    clusters, schedule, k_blocks(*k, p), time, early && overlaps(*k, time),
              runs, early};
  }
  if (launch.kernel != nullptr) return Status::Ok;
  if (too_many) return Status::SizeTooLarge;
  return is_limited(p, device) ? Status::KernelDoesNotFit : Status::CudaFailed;
}

Kernels with_split(const Kernels& kernels, int split) {
  Kernels found;
  for (const Kernel* k : kernels)
    if (k->split == split) found.push_back(k);
  return found;
}

// With a limit of SMs K is split as without one, or not at all: the bits change only where such a split does not fit.
Status choose(const Problem& p, const Device& device, const Kernels& kernels, Resident resident,
              Launch& launch, Tiles tiles = Tiles::Dealt) {
  if (!is_limited(p, device)) return fastest(p, device, kernels, resident, tiles, launch);
  Problem whole = p;
  whole.sm_limit = 0;
  Launch unlimited;
  const Status status = fastest(whole, device, kernels, resident, tiles, unlimited);
  if (status != Status::Ok) return status;
  const Kernels same = with_split(kernels, unlimited.kernel->split);
  if (fastest(p, device, same, resident, tiles, launch) == Status::Ok) return Status::Ok;
  return fastest(p, device, with_split(kernels, 1), resident, tiles, launch);
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

bool loads_by_tma(const Kernel& k) {
  // Copies are for operands that lie anywhere, and so may the factors.
  return k.loader == Loader::Tma && !k.stages_factors;
}

// With such copies, copying included; or as it is.
double time_with(const Copies& copies, const Problem& p, const Device& device, Resident resident) {
  const Problem copied = with_copies(p, copies);
  Launch launch;
  const bool can = choose(copied, device, kernels_for(copied, nullptr, loads_by_tma), resident,
                          launch) == Status::Ok;
  return can ? launch.microseconds + microseconds_of(copies, p)
             : std::numeric_limits<double>::infinity();
}

// What kernels cannot read otherwise, or take longer for than for a copy and a K-major operand: an MN-major one of few rows or
// columns has no kernel for these. By so much less that the estimate is to be trusted.
Turning turning_for(const Problem& p, const Device& device, Resident resident) {
  Turning best = turned_for_wgmma(p);
  const bool has_other = p.major_a == Major::MN || p.major_b == Major::MN;
  const bool may_choose =
      has_other && bits(p.in) == 16 && !is_grouped(p) && !groups_k(p) && p.k > 0;
  if (!may_choose) return best;
  constexpr double less = 0.95;
  double least = less * time_with(copies_of(p, best), p, device, resident);
  for (const Turning& other : {Turning{true, false}, Turning{false, true}, Turning{true, true}}) {
    if ((other.a && p.major_a == Major::K) || (other.b && p.major_b == Major::K)) continue;
    const double time = time_with(copies_of(p, other), p, device, resident);
    if (time >= least) continue;
    least = time;
    best = other;
  }
  return best;
}

// `only`: null, or the one kernel that plans are made with where it can be.
Status plan_with(const Problem& problem, const Device& device, Resident resident,
                 const Kernel* only, Plan& plan) {
  plan = {};
  if (const Status status = check(problem); status != Status::Ok) return status;
  Plan made;
  made.problem = as_one_product(resolved(problem));
  const Problem& p = made.problem;
  made.empty = p.m == 0 || p.n == 0 || p.batch == 0;
  made.device = device.id;
  if (!made.empty && has_tcgen05(device)) {
    const Status status = plan_on_tcgen05(device, tensor_kernels(), only, resident, made);
    if (status != Status::Ok) return status;
  } else if (!made.empty) {
    if (const Status status = check_hopper(p, device); status != Status::Ok) return status;
    const Turning turning = turning_for(p, device, resident);
    const Copies copies = copies_of(p, turning);
    const Problem copied = with_copies(p, copies);
    const auto with_any_factors = [](const Kernel& k) { return !k.stages_factors && k.split == 1; };
    const auto by_threads = [](const Kernel& k) { return k.loader == Loader::Copy; };
    const Kernels any = kernels_for(p, only, [](const Kernel&) { return true; });
    const Kernels copying = kernels_for(p, nullptr, by_threads);
    const Kernels reading_copies = kernels_for(copied, only, loads_by_tma);
    if (only != nullptr && any != Kernels{only} && reading_copies != Kernels{only})
      return Status::KernelDoesNotFit;
    Status status = choose(p, device, any, resident, made.aligned);
    if (status == Status::Ok) status = choose(p, device, copying, resident, made.unaligned);
    if (status == Status::Ok && made.aligned.kernel->stages_factors)
      status =
          choose(p, device, kernels_for(p, nullptr, with_any_factors), resident, made.any_factors);
    // The same bits without a workspace.
    const auto by_one_sum = [](const Kernel& k) { return k.split == 1; };
    if (status == Status::Ok && made.aligned.runs.tiles > 0)
      status =
          choose(p, device, kernels_for(p, only, by_one_sum), resident, made.whole, Tiles::Whole);
    if (status != Status::Ok) return status;
    const std::size_t bytes = workspace_bytes(p, copies);
    const bool fits = bytes < std::size_t{max_matrix_bytes};
    Launch realigned;
    if (fits && choose(copied, device, reading_copies, resident, realigned) == Status::Ok) {
      made.realigned = realigned;
      made.workspace_bytes = bytes;
      made.turns_a = turning.a;
      made.turns_b = turning.b;
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
  device.memory = cuda::memory_bandwidth(device.id);
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

}  // namespace tcq::gemm
