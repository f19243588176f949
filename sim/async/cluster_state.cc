#include "sim/async/cluster_state.h"

#include <algorithm>
#include <bit>
#include <variant>

namespace tcq::machine {
namespace {

constexpr std::size_t min_log_limit = 1024;

int warpgroups_per_cta(const Program& program) {
  return (program.warps_per_cta() + warps_per_warpgroup - 1) / warps_per_warpgroup;
}

std::vector<PatchableMap> maps_of(const Program& program) {
  std::vector<bool> is_patched(program.maps().size());
  for (const Segment& s : program.segments())
    for (const Statement& statement : s.statements)
      if (const auto* i = std::get_if<TensormapReplace>(&statement.what))
        is_patched[static_cast<std::size_t>(i->map)] = true;
  std::vector<PatchableMap> maps;
  for (std::size_t i = 0; i < is_patched.size(); ++i)
    maps.emplace_back(&program.maps()[i], is_patched[i]);
  return maps;
}

// Of a compiled kernel nothing is known beforehand.
std::vector<ByteRange> writes_of(const Program& program) {
  if (program.feeder() == nullptr) return global_writes(program);
  return {{0, static_cast<std::uint32_t>(program.initial_global().size())}};
}

// That statements name; -1: none.
int highest_register(const Program& program) {
  int highest = -1;
  for (const Segment& s : program.segments())
    for (const Statement& statement : s.statements) {
      const RegisterUse used =
          std::visit([](const auto& i) -> RegisterUse { return i.registers(); }, statement.what);
      for (const RegisterRange& r : used)
        if (r.count > 0) highest = std::max(highest, r.first + r.count - 1);
    }
  return highest;
}

}  // namespace

ClusterState::ClusterState(const Program& of, MmaCache& results, Timing when)
    : program(of),
      cache(results),
      timing(when),
      global(of.memory()),
      global_provenance(writes_of(of)),
      maps(maps_of(of)),
      streams(of.launch().cluster * of.warps_per_cta(),
              of.launch().cluster * warpgroups_per_cta(of)) {
  const Launch& launch = program.launch();
  for (const Segment& s : program.segments()) {
    segment_base.push_back(statements.size());
    for (const Statement& statement : s.statements) statements.push_back(&statement);
  }
  const auto shared_bytes =
      static_cast<std::uint32_t>(program.shared_end() - program.shared_base());
  const int per_cta = program.warps_per_cta();
  if (program.feeder() != nullptr) feed = OwnFeed(program.feeder()->start(program));
  const auto used_registers = static_cast<std::size_t>(
      program.feeder() != nullptr ? program.feeder()->registers() : highest_register(program) + 1);
  tcgen05.memory.resize(static_cast<std::size_t>(launch.cluster));
  tcgen05.pools.resize(static_cast<std::size_t>(launch.cluster));
  tcgen05.pairs.resize(static_cast<std::size_t>((launch.cluster + 1) / 2));
  for (int cta = 0; cta < launch.cluster; ++cta) {
    ctas.push_back({SharedMemory(program.shared_base(), shared_bytes),
                    Provenance(program.shared_base(), shared_bytes),
                    {},
                    per_cta,
                    0,
                    {},
                    {},
                    streams.make(),
                    {},
                    {}});
    for (int first = 0; first < per_cta; first += warps_per_warpgroup) {
      Warpgroup group;
      group.first_warp = cta * per_cta + first;
      warpgroups.push_back(std::move(group));
    }
    for (int index = 0; index < per_cta; ++index) {
      Warp warp;
      warp.number = cta * per_cta + index;
      warp.cta = cta;
      warp.index = index;
      for (std::size_t s = 0; s < program.segments().size(); ++s) {
        const Segment& segment = program.segments()[s];
        const bool mine = (segment.cta == every_cta || segment.cta == cta) &&
                          index >= segment.first_warp && index < segment.first_warp + segment.warps;
        if (mine && !segment.statements.empty()) warp.path.push_back(s);
      }
      warp.registers.of_reg.resize(used_registers);
      warp.loaded.resize(used_registers);
      warp.order = wgmma::Order(std::vector<wgmma::RegisterState>(used_registers));
      warp.max_registers = launch.registers;
      warp.order_of_lanes.followed = program.feeder() != nullptr;
      warp.clock.raise(streams.epochs(warp.number), 1);
      warp.clock.raise(ctas.back().start, 1);
      warps.push_back(std::move(warp));
    }
  }
  log_limit = std::max<std::size_t>(
      min_log_limit, std::size_t{shared_bytes} * static_cast<std::size_t>(launch.cluster) / 2);
  running = static_cast<int>(warps.size());
}

int ClusterState::find_slot(int cta, std::uint32_t address) const {
  const auto found = slot_of.find(mbarrier_object(cta, address));
  return found == slot_of.end() ? -1 : found->second;
}

bool ClusterState::stops_at(Finding found) {
  if (fails(info(found.fault).kind, failing)) {
    if (!finding) finding = std::move(found);
    return true;
  }
  const bool known = std::any_of(suspicions.begin(), suspicions.end(), [&](const Finding& f) {
    return f.fault == found.fault && f.at.statement == found.at.statement;
  });
  if (!known) suspicions.push_back(std::move(found));
  return false;
}

// --- copies, ends ----------------------------------------------------------------------------------

void WeakSyncs::note(WeakSync sync) {
  const Key key{sync.at.statement, sync.at.warp, sync.object, sync.fault};
  const auto [known, is_new] = number_of_.try_emplace(key, list_.size());
  if (is_new)
    list_.push_back(std::move(sync));
  else
    list_[known->second].lost.join(sync.lost);
}

const Instruction* ClusterState::keep(const Instruction& what) {
  return feed ? &kept.emplace_back(what, Guard{}, Where{}).what : &what;
}

// From the youngest: stores that no wait has completed may be many, and old.
const Copy* ClusterState::find_copy(AgentId agent) const {
  const auto found = std::find_if(copies.rbegin(), copies.rend(),
                                  [&](const Copy& copy) { return copy.id == agent; });
  return found == copies.rend() ? nullptr : &*found;
}

void ClusterState::drop_copy(AgentId agent) {
  copies.erase(copies.begin() + (find_copy(agent) - copies.data()));
  std::erase(loads, agent);
}

void ClusterState::note_exit_use(int cta, const ExitUse& use) {
  auto& uses = this->cta(cta).exit_uses;
  const auto same = std::find_if(uses.begin(), uses.end(),
                                 [&](const ExitUse& u) { return u.stream == use.stream; });
  if (same == uses.end())
    uses.push_back(use);
  else if (same->tick < use.tick)
    *same = use;
}

int ClusterState::missing_at(const Cta& cta, const NamedBarrier& barrier) const {
  const int gone = program.launch().threads - warp_threads * cta.running_warps;
  return barrier.expected - barrier.arrived - (barrier.whole ? gone : 0);
}

// As many threads as it expects must have arrived; those of warps that have finished are not waited for.
bool ClusterState::complete_barrier(int cta, NamedBarrier& barrier) {
  const Cta& at = this->cta(cta);
  if (barrier.arrived == 0 || missing_at(at, barrier) > 0) return false;
  if (barrier.whole) {
    barrier.pending.join(at.exit);
    barrier.pending_lost.join(at.exit_lost);
  }
  barrier.done = std::exchange(barrier.pending, {});
  barrier.done_lost = std::exchange(barrier.pending_lost, {});
  barrier.done_told = std::exchange(barrier.pending_told, {});
  barrier.done_assumed = std::exchange(barrier.pending_assumed, {});
  barrier.done_fenced = std::exchange(barrier.pending_fenced, {});
  barrier.arrived = 0;
  barrier.expected = 0;
  ++barrier.uses;
  return true;
}

const LaunchAnswer& ClusterState::launch_answer(AgentId copy) {
  Agent request = decode(copy);
  request.cta = 0;
  const auto [answer, is_first] = launch_answers.try_emplace(encode(request));
  if (is_first && cancelled < program.pending().size())
    answer->second = program.pending()[cancelled++];
  return answer->second;
}

bool ClusterState::has_arrived_at_cluster(const Warp& warp) const {
  const std::uint32_t alive = warp.order_of_lanes.alive;
  bool arrived = (alive & ~warp.cluster_arrived) == 0;
  for (std::uint32_t rest = arrived ? alive : 0; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    arrived = arrived && warp.cluster_use[lane] == cluster_barrier.uses;
  }
  return arrived;
}

void Handed::join(const Handed& other) {
  handed.join(other.handed);
  for (const auto& [cta, clock] : other.own) own[cta].join(clock);
  shared.join(other.shared);
}

// All warps that have not finished must have arrived.
bool ClusterState::complete_cluster_barrier() {
  const bool all = std::all_of(warps.begin(), warps.end(), [&](const Warp& warp) {
    return warp.finished || has_arrived_at_cluster(warp);
  });
  if (!all || cluster_barrier.arrived == 0) return false;
  cluster_barrier.done.join(std::exchange(cluster_barrier.pending, {}));
  cluster_barrier.done_lost.join(std::exchange(cluster_barrier.pending_lost, {}));
  cluster_barrier.done_told.join(std::exchange(cluster_barrier.pending_told, {}));
  cluster_barrier.arrived = 0;
  ++cluster_barrier.uses;
  return true;
}

// --- the log of accesses ---------------------------------------------------------------------------

void ClusterState::compact_log() {
  Compaction compaction(log);
  for (Cta& cta : ctas) compaction.keep(cta.provenance);
  global_provenance.for_each_page([&](Provenance& page) { compaction.keep(page); });
  for (const MbarrierSlot& slot : slots) compaction.keep(slot.init);
  for (const UnwrittenRead& read : unwritten_reads) compaction.keep(read.access);
  for (const Copy& copy : copies)
    for (const AccessId id : {copy.write, copy.read, copy.global_read}) compaction.keep(id);
  for (const Warp& warp : warps)
    for (const LaneCopy& copy : warp.lane_copies)
      for (const AccessId id : {copy.write, copy.read}) compaction.keep(id);
  for (const Warpgroup& group : warpgroups)
    for (const Mma& mma : group.mmas) {
      compaction.keep(mma.read);
      for (const OwedFence& owed : mma.owed) compaction.keep(owed.write);
    }
  compaction.run();
  for (Cta& cta : ctas) compaction.renumber(cta.provenance);
  global_provenance.for_each_page([&](Provenance& page) { compaction.renumber(page); });
  for (MbarrierSlot& slot : slots) slot.init = compaction.renumber(slot.init);
  for (UnwrittenRead& read : unwritten_reads) read.access = compaction.renumber(read.access);
  for (UndefinedBytes& u : undefined_bytes) u.store = compaction.renumber(u.store);
  std::erase_if(undefined_bytes, [](const UndefinedBytes& u) { return u.store == 0; });
  for (Copy& copy : copies) {
    copy.write = compaction.renumber(copy.write);
    copy.read = compaction.renumber(copy.read);
    copy.global_read = compaction.renumber(copy.global_read);
  }
  for (Warpgroup& group : warpgroups)
    for (Mma& mma : group.mmas) {
      mma.read = compaction.renumber(mma.read);
      for (OwedFence& owed : mma.owed) owed.write = compaction.renumber(owed.write);
    }
  for (Warp& warp : warps)
    for (LaneCopy& copy : warp.lane_copies) {
      copy.write = compaction.renumber(copy.write);
      copy.read = compaction.renumber(copy.read);
    }
  for (Warp& warp : warps)
    for (LoadedRegister& loaded : warp.loaded) loaded.load = compaction.renumber(loaded.load);
  log_limit = std::max(log_limit, log.size() + log.size() / 2);
}

std::size_t ClusterState::bookkeeping_bytes() const {
  std::size_t bytes = log.bytes() + tcgen05.history.bytes() + global_provenance.bytes();
  for (const Cta& cta : ctas) bytes += cta.provenance.bytes();
  return bytes;
}

}  // namespace tcq::machine
