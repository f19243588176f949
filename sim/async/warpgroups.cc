#include "sim/async/warpgroups.h"

#include <algorithm>
#include <variant>

namespace tcq::machine {

Warpgroup& warpgroup_of(ClusterState& c, const Warp& warp) {
  const int per_cta = (c.program.warps_per_cta() + warps_per_warpgroup - 1) / warps_per_warpgroup;
  return c
      .warpgroups[static_cast<std::size_t>(warp.cta * per_cta + warp.index / warps_per_warpgroup)];
}

const Warpgroup& warpgroup_of(const ClusterState& c, const Warp& warp) {
  return warpgroup_of(const_cast<ClusterState&>(c), warp);
}

bool aligned_in_warpgroup(Step& s, int registers) {
  if (!s.all_lanes_take_part()) return false;
  Warpgroup& group = warpgroup_of(s.c, s.warp);
  const std::uint64_t at =
      group.aligned[static_cast<std::size_t>(s.warp.index % warps_per_warpgroup)]++ -
      group.first_aligned;
  const int last = std::min(group.first_warp + warps_per_warpgroup,
                            (s.warp.cta + 1) * s.c.program.warps_per_cta());
  if (at == group.aligned_statements.size()) {
    group.aligned_statements.push_back({s.number, registers});
    for (int other = group.first_warp; other < last; ++other)
      if (s.c.warp(other).finished) {
        s.c.fail({.fault = Fault::WarpgroupDivergent, .at = s.place(), .number = other});
        return false;
      }
  } else if (group.aligned_statements[at].statement != s.number) {
    const Warpgroup::Aligned& other = group.aligned_statements[at];
    const bool alike = registers != 0 && registers == other.registers;
    if (s.c.stops_at({.fault = alike ? Fault::SetmaxnregApart : Fault::WarpgroupDivergent,
                      .at = s.place(),
                      .earlier = {other.statement, group.first_warp, -1}}))
      return false;
  }
  while (!group.aligned_statements.empty() &&
         *std::min_element(group.aligned.begin(), group.aligned.end()) > group.first_aligned) {
    group.aligned_statements.pop_front();
    ++group.first_aligned;
  }
  return true;
}

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

void execute_mmas(ClusterState& c, Warpgroup& group, std::uint64_t end) {
  for (std::uint64_t n = group.first_mma; n < end && !c.finding; ++n) {
    Mma& mma = group.mmas[n - group.first_mma];
    if (mma.executed) continue;
    mma.executed = true;
    const auto& i = std::get<WgmmaMma>(*mma.what);
    WarpgroupRegisters registers;
    registers.d.resize(static_cast<std::size_t>(wgmma::threads_per_warpgroup * i.d.count));
    const auto& warps = c.warps;
    gather(warps, group.first_warp, i.d,
           [&](std::size_t at, std::uint32_t word) { registers.d[at] = word; });
    gather(warps, group.first_warp, i.a,
           [&](std::size_t at, std::uint32_t word) { registers.a[at] = word; });
    gather(warps, group.first_warp, i.metadata,
           [&](std::size_t at, std::uint32_t word) { registers.metadata[at] = word; });
    const Cta& cta = c.cta(c.warp(group.first_warp).cta);
    const Fault fault = c.cache.execute(i.op, cta.shared, registers);
    if (fault != Fault::None) {
      c.fail({.fault = fault, .at = {mma.statement, group.first_warp, -1}});
      return;
    }
    for (int thread = 0; thread < wgmma::threads_per_warpgroup; ++thread)
      for (int r = 0; r < i.d.count; ++r)
        c.warp(group.first_warp + thread / warp_threads)
            .registers.of_reg[static_cast<std::size_t>(i.d.first + r)]
                             [static_cast<std::size_t>(thread % warp_threads)] =
            registers.d[static_cast<std::size_t>(thread * i.d.count + r)];
  }
}

}  // namespace tcq::machine
