#include "sim/async/warpgroups.h"

#include <algorithm>
#include <span>
#include <variant>
#include <vector>

namespace tcq::machine {

Warpgroup& warpgroup_of(ClusterState& c, const Warp& warp) {
  const int per_cta = (c.program.warps_per_cta() + warps_per_warpgroup - 1) / warps_per_warpgroup;
  return c
      .warpgroups[static_cast<std::size_t>(warp.cta * per_cta + warp.index / warps_per_warpgroup)];
}

const Warpgroup& warpgroup_of(const ClusterState& c, const Warp& warp) {
  return warpgroup_of(const_cast<ClusterState&>(c), warp);
}

Finding finding_of_absent(const Warpgroup& group, const Place& at, int registers, int warp) {
  const bool took_no_part = group.aligned[static_cast<std::size_t>(warp - group.first_warp)] == 0;
  return {
      .fault = registers != 0 && took_no_part ? Fault::SetmaxnregApart : Fault::WarpgroupDivergent,
      .at = at,
      .number = warp};
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
      if (s.c.warp(other).finished &&
          s.c.stops_at(finding_of_absent(group, s.place(), registers, other)))
        return false;
  } else if (group.aligned_statements[at].statement != s.number) {
    const Warpgroup::Aligned& other = group.aligned_statements[at];
    const bool both = registers != 0 && other.registers != 0;
    if (s.c.stops_at({.fault = both ? Fault::SetmaxnregApart : Fault::WarpgroupDivergent,
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

// Registers of a warpgroup's warps: words_of(warp, register) for accumulators.h.
auto lanes_of(ClusterState& c, const Warpgroup& group, RegisterRange range) {
  return [&c, first_warp = group.first_warp, range ](int warp, int reg) -> auto& {
    return c.warp(first_warp + warp).registers.of_reg[static_cast<std::size_t>(range.first + reg)];
  };
}

// Of A or metadata, thread-major.
void gather(ClusterState& c, const Warpgroup& group, RegisterRange range, std::uint32_t* out) {
  const auto words_of = lanes_of(c, group, range);
  for (int warp = 0; warp < warps_per_warpgroup; ++warp)
    for (std::size_t lane = 0; lane < warp_threads; ++lane)
      for (int r = 0; r < range.count; ++r) *out++ = words_of(warp, r)[lane];
}

const WgmmaMma& mma_of(const Mma& mma) { return std::get<WgmmaMma>(*mma.what); }

// May `next` go on with the accumulators of `first` where they are?
bool goes_on(const WgmmaMma& first, const Mma& next) {
  const WgmmaMma& i = mma_of(next);
  return !next.executed && i.d == first.d && wgmma::continues(first.op, i.op);
}

// The wgmmas from number `first` on that are computed at once.
std::vector<wgmma::Instruction> chain_from(const Warpgroup& group, std::uint64_t first,
                                           std::uint64_t end) {
  const WgmmaMma& begin = mma_of(group.mmas[first - group.first_mma]);
  std::vector<wgmma::Instruction> chain = {begin.op};
  // Whose operands are unpacked at once; what follows goes on with D.
  constexpr std::uint64_t most = 256;
  for (std::uint64_t n = first + 1; n < end && n < first + most; ++n) {
    const Mma& next = group.mmas[n - group.first_mma];
    if (!goes_on(begin, next)) break;
    chain.push_back(mma_of(next).op);
  }
  return chain;
}

// Requires: accumulators that are held are those of `first`.
Fault execute_at_once(ClusterState& c, Warpgroup& group, const WgmmaMma& first,
                      std::span<const wgmma::Instruction> chain, const Mma* next) {
  WarpgroupRegisters sources;
  gather(c, group, first.a, sources.a.data());
  gather(c, group, first.metadata, sources.metadata.data());
  HeldAccumulators& held = group.held;
  const wgmma::Form& form = first.op.form;
  const auto words_of = lanes_of(c, group, first.d);
  if (first.op.accumulate && !held.is_held) held.tile.load(form, words_of);
  const Cta& cta = c.cta(c.warp(group.first_warp).cta);
  const Fault fault = c.cache.advance(cta.shared, sources, chain, held.tile);
  held.is_held = next != nullptr && goes_on(first, *next);
  if (fault == Fault::None && !held.is_held)
    wgmma::store_accumulators(form, held.tile.words(), words_of);
  return fault;
}

}  // namespace

void execute_mmas(ClusterState& c, Warpgroup& group, std::uint64_t end) {
  for (std::uint64_t n = group.first_mma; n < end && !c.finding; ++n) {
    const std::size_t at = n - group.first_mma;
    if (group.mmas[at].executed) continue;
    const std::vector<wgmma::Instruction> chain = chain_from(group, n, end);
    const std::size_t behind = at + chain.size();
    const Mma* next = behind < group.mmas.size() ? &group.mmas[behind] : nullptr;
    const Mma& first = group.mmas[at];
    const Fault fault = execute_at_once(c, group, mma_of(first), chain, next);
    if (fault != Fault::None)
      c.fail({.fault = fault, .at = {first.statement, group.first_warp, -1}});
    for (std::size_t i = at; i < behind; ++i) group.mmas[i].executed = true;
  }
}

}  // namespace tcq::machine
