#include "cuda/gemm/plan_tensor.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "cuda/gemm/check.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/estimate.h"
#include "cuda/gemm/path.h"
#include "cuda/gemm/tensor_time.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/shape.h"

namespace tcq::gemm {
namespace {

// Of a launch; grids have no more.
constexpr std::int64_t max_ctas = std::numeric_limits<std::int32_t>::max();

tcgen05::Kind kind_of(const Kernel& k, Type type) {
  return tcgen05::kind_with_factors(type, k.scale_vec);
}

// Of one size and kind: the instruction descriptor alone says which of them an operand has.
bool is_like(const Kernel& k, Type compiled, Type wanted) {
  return bits(compiled) == bits(wanted) && kind_of(k, compiled) == kind_of(k, wanted);
}

bool takes_types(const Kernel& k, const Problem& p) {
  return is_like(k, k.in, p.in) && is_like(k, k.in_b, type_b(p));
}

bool takes_majors(const Kernel& k, const Problem& p) {
  return (k.any_major_a || k.major_a == p.major_a) && (k.any_major_b || k.major_b == p.major_b);
}

// 10.3 has all kinds but one.
bool has_kind(const Device& device, tcgen05::Kind kind) {
  return kind != tcgen05::Kind::i8 ||
         tcgen05::has_kind_i8(device.minor == 0 ? Target::sm_100a : Target::sm_103a);
}

// What `device` does with one kernel. NotOnTcgen05: it cannot compute the problem.
Status launch_with(const Kernel& k, const Problem& p, const Device& device,
                   ClustersAtOnce clusters_at_once, Launch& launch) {
  if (!computes_on_tcgen05(k, p) || !has_kind(device, kind_of(k, k.in)))
    return Status::NotOnTcgen05;
  const Schedule schedule = schedule_of(k, p);
  const std::int64_t tiles = tiles_of(schedule);
  if (tiles > max_ctas / cluster_size(k)) return Status::SizeTooLarge;
  const std::int64_t room = std::min<std::int64_t>(
      clusters_at_once(k, device), usable_sms(p, device.sm_count) / cluster_size(k));
  if (room < 1) return p.sm_limit > 0 ? Status::KernelDoesNotFit : Status::CudaFailed;
  if (!is_persistent(k) && tiles > room) return Status::KernelDoesNotFit;
  launch = {.kernel = &k,
            .clusters = static_cast<int>(clusters_of_grid(k, tiles, room)),
            .schedule = schedule,
            .k_blocks = k_blocks(k, p),
            .microseconds = tensor_time(k, p, device, static_cast<int>(room)).microseconds,
            .programmatic = p.programmatic_launch};
  return Status::Ok;
}

std::int64_t outputs_of_tile(const Launch& l) {
  return std::int64_t{l.kernel->block_m} * l.kernel->block_n * l.kernel->cluster_m;
}

// Of D, and those that are multiplied and not stored.
std::int64_t outputs(const Launch& l) { return tiles_of(l.schedule) * outputs_of_tile(l); }

// Of those that take as long the one that multiplies least, then the one of larger tiles.
bool is_better(const Launch& a, const Launch& b) {
  if (b.kernel == nullptr) return true;
  if (a.microseconds != b.microseconds) return a.microseconds < b.microseconds;
  if (outputs(a) != outputs(b)) return outputs(a) < outputs(b);
  return outputs_of_tile(a) > outputs_of_tile(b);
}

// Of the kernels that split K into `split` parts, 0: into any.
struct Candidates {
  std::span<const Kernel> table;
  const Kernel* only;
  int split = 0;

  bool has(const Kernel& k) const {
    return (only == nullptr || only == &k) && (split == 0 || k.split == split);
  }
};

Status fastest(const Candidates& candidates, const Problem& p, const Device& device,
               ClustersAtOnce clusters_at_once, Launch& best) {
  // The first reason why none can; but that one could compute it comes before that others cannot.
  Status status = candidates.only == nullptr ? Status::NotOnTcgen05 : Status::KernelDoesNotFit;
  for (const Kernel& k : candidates.table) {
    if (!candidates.has(k)) continue;
    Launch launch;
    const Status made = launch_with(k, p, device, clusters_at_once, launch);
    if (made == Status::Ok && is_better(launch, best)) best = launch;
    if (made != Status::Ok && made != Status::NotOnTcgen05) status = made;
  }
  return best.kernel == nullptr ? status : Status::Ok;
}

}  // namespace

Status check_hopper(const Problem& p, const Device& device) {
  if (device.major != 9 || device.minor != 0) return Status::WrongArchitecture;
  if (is_block_scaled(p) || has_codes_d(p) || p.dynamic_schedule) return Status::NeedsTcgen05;
  return device.sm_count < 1 ? Status::NoDevice : Status::Ok;
}

bool computes_on_tcgen05(const Kernel& k, const Problem& p) {
  const bool loads = p.k > 0;
  return k.tensor_columns > 0 && k.dynamic == p.dynamic_schedule &&
         k.scale_vec == scale_vec_of(p) && takes_types(k, p) && takes_majors(k, p) &&
         quantizes_as(k, p) && promotes_as(k, p) && groups_as(k, p) && splits_as(k, p) &&
         (!loads || (tma_addresses(p.a, view_a(p), matrices_of_a(p)) &&
                     tma_addresses(p.b, view_b(p), p.batch)));
}

Status plan_on_tcgen05(const Device& device, std::span<const Kernel> table, const Kernel* only,
                       ClustersAtOnce clusters_at_once, Plan& plan) {
  if (!has_tcgen05(device) || table.empty()) return Status::WrongArchitecture;
  if (device.sm_count < 1) return Status::NoDevice;
  // Threads load no operands: what TMA cannot address is copied.
  const bool copies_operands = plan.problem.k > 0;
  const Copies copies = copies_operands ? copies_of(plan.problem, Turning{}) : Copies{};
  const Problem p = with_copies(plan.problem, copies);
  const std::size_t bytes = workspace_bytes(plan.problem, copies);
  if (bytes >= std::size_t{max_matrix_bytes}) return Status::SizeTooLarge;
  // With a limit of SMs K is split as without one, or not at all (gemm.h).
  Problem whole = p;
  whole.sm_limit = 0;
  Launch best;
  Status status = fastest({table, only}, whole, device, clusters_at_once, best);
  if (status == Status::Ok && p.sm_limit > 0) {
    const int split = best.kernel->split;
    best = {};
    status = fastest({table, only, split}, p, device, clusters_at_once, best);
    if (status != Status::Ok && split > 1)
      status = fastest({table, only, 1}, p, device, clusters_at_once, best);
  }
  if (status != Status::Ok) return status;
  plan.aligned = plan.unaligned = best;
  if (copies_operands) {
    plan.realigned = best;
    plan.workspace_bytes = bytes;
  }
  return Status::Ok;
}

}  // namespace tcq::gemm
