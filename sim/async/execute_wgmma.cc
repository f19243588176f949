// wgmma: issue by the four warps of a warpgroup, groups, waiting, and the arithmetic when it is due.
#include <algorithm>

#include "sim/async/executor.h"

namespace tcq::machine {
namespace {

constexpr int warps_per_warpgroup = 4;
constexpr std::uint32_t chunk_bytes = 16;
constexpr std::uint32_t all_issued = 0xf;

std::uint64_t groups_done(const std::vector<std::uint64_t>& group_end, int pending) {
  const auto n = static_cast<std::uint64_t>(pending);
  return group_end.size() > n ? group_end.size() - n : 0;
}

}  // namespace

Warpgroup& Executor::warpgroup_of(Cluster& cluster, const Warp& warp) {
  const int per_cta =
      (cluster.program_.warps_per_cta() + warps_per_warpgroup - 1) / warps_per_warpgroup;
  return cluster
      .warpgroups_[static_cast<std::size_t>(warp.cta * per_cta + warp.index / warps_per_warpgroup)];
}

const Warpgroup& Executor::warpgroup_of(const Cluster& cluster, const Warp& warp) {
  return warpgroup_of(const_cast<Cluster&>(cluster), warp);
}

// The warps of a warpgroup must execute the same aligned instructions, one after the other.
bool Executor::aligned_in_warpgroup() {
  if (!all_lanes_take_part()) return false;
  Warpgroup& group = warpgroup_of(c_, warp_);
  const std::uint64_t at =
      group.aligned[static_cast<std::size_t>(warp_.index % warps_per_warpgroup)]++ -
      group.first_aligned;
  const int last = std::min(group.first_warp + warps_per_warpgroup,
                            (warp_.cta + 1) * c_.program_.warps_per_cta());
  if (at == group.aligned_statements.size()) {
    group.aligned_statements.push_back(number_);
    for (int other = group.first_warp; other < last; ++other)
      if (c_.warps_[static_cast<std::size_t>(other)].finished) {
        c_.fail({.fault = Fault::WarpgroupDivergent, .at = place(), .number = other});
        return false;
      }
  } else if (group.aligned_statements[at] != number_) {
    c_.fail({.fault = Fault::WarpgroupDivergent,
             .at = place(),
             .earlier = {group.aligned_statements[at], group.first_warp, -1}});
    return false;
  }
  while (!group.aligned_statements.empty() &&
         *std::min_element(group.aligned.begin(), group.aligned.end()) > group.first_aligned) {
    group.aligned_statements.pop_front();
    ++group.first_aligned;
  }
  return true;
}

void Executor::execute(const WgmmaFence&) {
  if (aligned_in_warpgroup()) check_order(warp_.order.fence(number_), {});
}

void Executor::execute(const WgmmaMma& i) {
  if (!aligned_in_warpgroup()) return;
  if (!check_order(warp_.order.mma({i.op.form, i.d, i.a, i.metadata, i.op.accumulate}, number_),
                   i.d))
    return;
  note_used(i.a);
  note_used(i.metadata);
  Warpgroup& group = warpgroup_of(c_, warp_);
  const int in_group = warp_.index % warps_per_warpgroup;
  const std::uint64_t number = group.mma_count[static_cast<std::size_t>(in_group)]++;
  if (number - group.first_mma == group.mmas.size()) {
    Access access = generic_access(AccessKind::WgmmaRead);
    access.stream = c_.streams_.groups(static_cast<int>(&group - c_.warpgroups_.data()));
    access.tick = never;
    group.mmas.push_back({number_, 0, c_.log_.add(access), false});
  }
  Mma& mma = group.mmas[number - group.first_mma];

  // A warp reads its own 16 rows of A and all of B.
  Cta& cta = c_.ctas_[static_cast<std::size_t>(warp_.cta)];
  const auto touch = [&](int row, std::uint32_t address) {
    if (stopped() || (row >= 0 && row / 16 != in_group)) return;
    if (!cta.shared.contains(address, chunk_bytes))
      return fail(Fault::SharedMemoryOutOfRange, -1, address);
    const Conflict conflict = cta.provenance.record({address, address + chunk_bytes}, mma.read,
                                                    knowledge(), c_.log_, c_.streams_);
    settle(conflict, mma.read, warp_.cta);
  };
  if (i.op.form.a_place == wgmma::Place::Smem) for_each_operand_chunk(i.op, Operand::A, touch);
  for_each_operand_chunk(i.op, Operand::B, [&](int, std::uint32_t address) { touch(-1, address); });
  mma.issued_by |= 1u << in_group;
  if (mma.issued_by != all_issued || stopped()) return;
  if (i.op.form.a_place == wgmma::Place::Smem) check_origin(i, Operand::A);
  check_origin(i, Operand::B);
  if (c_.timing_ == Timing::Earliest) execute_mmas(c_, group, number + 1);
}

// The tensor's element that a copy wrote to this address, if one did.
std::optional<TensorElement> Executor::origin_of(std::uint32_t address, int element_bytes) const {
  const AccessId writer = c_.ctas_[static_cast<std::size_t>(warp_.cta)].provenance.writer(address);
  const Access& access = c_.log_[writer];
  if (access.kind != AccessKind::CopyWrite) return std::nullopt;
  const auto* load = std::get_if<TensorLoad>(&c_.statements_[access.statement]->what);
  if (load == nullptr) return std::nullopt;
  const PatchableMap& map_now = c_.maps_[static_cast<std::size_t>(load->map)];
  if (map_now.is_patched()) return std::nullopt;
  const tma::TensorMap& map = *map_now.value();
  if (tma::element_bytes(map.type) != static_cast<std::uint32_t>(element_bytes))
    return std::nullopt;
  return element_at(map, load->start, access.base, address);
}

bool Executor::other_major_fits(wgmma::Instruction op, Operand which) const {
  Major& major = which == Operand::A ? op.form.major_a : op.form.major_b;
  major = major == Major::K ? Major::MN : Major::K;
  if (check(op.form) != Fault::None) return false;
  const SharedMemory& shared = c_.ctas_[static_cast<std::size_t>(warp_.cta)].shared;
  OriginCheck origins(op, which);
  bool fits = true;
  for_each_operand_chunk(op, which, [&](int, std::uint32_t address) {
    fits = fits && shared.contains(address, chunk_bytes);
    if (!fits) return;
    const auto element = origin_of(address, origins.element_bytes());
    fits = element && !origins.next(address, element);
  });
  return fits;
}

void Executor::check_origin(const WgmmaMma& i, Operand which) {
  OriginCheck check(i.op, which);
  bool reported = false;
  for_each_operand_chunk(i.op, which, [&](int, std::uint32_t address) {
    auto found = check.next(address, origin_of(address, check.element_bytes()));
    if (!found || reported) return;
    reported = true;
    found->other_major_fits = other_major_fits(i.op, which);
    c_.fail({.fault = Fault::OperandScrambled,
             .at = place(),
             .cta = warp_.cta,
             .bytes = {address, address + chunk_bytes},
             .number = which == Operand::A ? 0 : 1,
             .scrambled = *found});
  });
}

void Executor::execute(const WgmmaCommit&) {
  if (!aligned_in_warpgroup() || !check_order(warp_.order.commit(number_), {})) return;
  Warpgroup& group = warpgroup_of(c_, warp_);
  const auto in_group = static_cast<std::size_t>(warp_.index % warps_per_warpgroup);
  auto& ends = group.group_end[in_group];
  const std::uint64_t begin = std::max(ends.empty() ? 0 : ends.back(), group.first_mma);
  ends.push_back(group.mma_count[in_group]);
  for (std::uint64_t n = begin; n < ends.back(); ++n) {
    Access& read = c_.log_[group.mmas[n - group.first_mma].read];
    if (read.tick == never) read.tick = static_cast<Tick>(ends.size());
  }
}

bool Executor::groups_are_issued(const Cluster& cluster, const Warp& warp, const WgmmaWait& i) {
  const Warpgroup& group = warpgroup_of(cluster, warp);
  const auto& ends = group.group_end[static_cast<std::size_t>(warp.index % warps_per_warpgroup)];
  const std::uint64_t done = groups_done(ends, i.pending);
  const std::uint64_t end = done == 0 ? 0 : ends[done - 1];
  for (std::uint64_t n = group.first_mma; n < end; ++n)
    if (group.mmas[n - group.first_mma].issued_by != all_issued) return false;
  return true;
}

void Executor::execute(const WgmmaWait& i) {
  if (!aligned_in_warpgroup() || !check_order(warp_.order.wait(i.pending, number_), {})) return;
  Warpgroup& group = warpgroup_of(c_, warp_);
  const auto& ends = group.group_end[static_cast<std::size_t>(warp_.index % warps_per_warpgroup)];
  const std::uint64_t done = groups_done(ends, i.pending);
  if (done == 0) return;
  execute_mmas(c_, group, ends[done - 1]);
  warp_.clock.raise(c_.streams_.groups(static_cast<int>(&group - c_.warpgroups_.data())),
                    static_cast<Tick>(done));
  while (!group.mmas.empty() && group.first_mma < ends[done - 1] &&
         group.mmas.front().issued_by == all_issued) {
    group.mmas.pop_front();
    ++group.first_mma;
  }
}

// --- the arithmetic --------------------------------------------------------------------------------

namespace {

// Registers of a warpgroup, thread-major, as sim/machine/wgmma.h takes them.
template <class Out>
void gather(const std::vector<Warp>& warps, int first_warp, RegisterRange range, Out out) {
  for (int thread = 0; thread < wgmma::threads_per_warpgroup; ++thread) {
    const auto& registers =
        warps[static_cast<std::size_t>(first_warp + thread / warp_threads)].registers;
    for (int r = 0; r < range.count; ++r)
      out(static_cast<std::size_t>(thread * range.count + r),
          registers.of_reg[static_cast<std::size_t>(range.first + r)]
                          [static_cast<std::size_t>(thread % warp_threads)]);
  }
}

}  // namespace

void Executor::execute_mmas(Cluster& cluster, Warpgroup& group, std::uint64_t end) {
  for (std::uint64_t n = group.first_mma; n < end && !cluster.finding_; ++n) {
    Mma& mma = group.mmas[n - group.first_mma];
    if (mma.executed) continue;
    mma.executed = true;
    const auto& i = std::get<WgmmaMma>(cluster.statements_[mma.statement]->what);
    WarpgroupRegisters registers;
    registers.d.resize(static_cast<std::size_t>(wgmma::threads_per_warpgroup * i.d.count));
    const auto& warps = cluster.warps_;
    gather(warps, group.first_warp, i.d,
           [&](std::size_t at, std::uint32_t word) { registers.d[at] = word; });
    gather(warps, group.first_warp, i.a,
           [&](std::size_t at, std::uint32_t word) { registers.a[at] = word; });
    gather(warps, group.first_warp, i.metadata,
           [&](std::size_t at, std::uint32_t word) { registers.metadata[at] = word; });
    const Cta& cta =
        cluster
            .ctas_[static_cast<std::size_t>(warps[static_cast<std::size_t>(group.first_warp)].cta)];
    const Fault fault = cluster.cache_.execute(i.op, cta.shared, registers);
    if (fault != Fault::None) {
      cluster.fail({.fault = fault, .at = {mma.statement, group.first_warp, -1}});
      return;
    }
    for (int thread = 0; thread < wgmma::threads_per_warpgroup; ++thread)
      for (int r = 0; r < i.d.count; ++r)
        cluster.warps_[static_cast<std::size_t>(group.first_warp + thread / warp_threads)]
            .registers.of_reg[static_cast<std::size_t>(i.d.first + r)]
                             [static_cast<std::size_t>(thread % warp_threads)] =
            registers.d[static_cast<std::size_t>(thread * i.d.count + r)];
  }
}

}  // namespace tcq::machine
