// Construction, the choice of steps, the ends of warps and CTAs; see cluster.h.
#include "sim/async/cluster.h"

#include <algorithm>

#include "sim/async/executor.h"

namespace tcq::machine {
namespace {

constexpr std::size_t min_log_limit = 1024;
constexpr std::uint64_t default_instruction_limit = 10'000'000;
constexpr int warps_per_warpgroup = 4;

// The highest register number that statements name.
struct HighestRegister {
  int highest = -1;

  void note(RegisterRange r) {
    if (r.count > 0) highest = std::max(highest, r.first + r.count - 1);
  }
  void operator()(const Move& i) {
    note(i.to);
    note({i.from, i.from < 0 ? 0 : i.to.count});
  }
  void operator()(const LoadShared& i) { note({i.reg, i.bytes / 4}); }
  void operator()(const StoreShared& i) { note({i.reg, i.bytes / 4}); }
  void operator()(const LoadGlobal& i) { note(i.regs); }
  void operator()(const StoreGlobal& i) { note(i.regs); }
  void operator()(const LoadMatrices& i) { note({i.reg, i.count}); }
  void operator()(const StoreMatrices& i) { note({i.reg, i.count}); }
  void operator()(const WgmmaMma& i) {
    note(i.d);
    note(i.a);
    note(i.metadata);
  }
  void operator()(const Tcgen05Ld& i) { note({i.reg, registers(i.fragment)}); }
  void operator()(const Tcgen05St& i) { note({i.reg, registers(i.fragment)}); }
  void operator()(const auto&) const {}
};

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

int highest_register(const Program& program) {
  HighestRegister found;
  for (const Segment& s : program.segments())
    for (const Statement& statement : s.statements) std::visit(found, statement.what);
  return found.highest;
}

}  // namespace

Cluster::Cluster(const Program& program, MmaCache& cache, Timing timing)
    : program_(program),
      cache_(cache),
      timing_(timing),
      global_(program.initial_global()),
      global_provenance_(global_writes(program)),
      maps_(maps_of(program)),
      streams_(program.launch().cluster * program.warps_per_cta(),
               program.launch().cluster *
                   ((program.warps_per_cta() + warps_per_warpgroup - 1) / warps_per_warpgroup)),
      instruction_limit_(default_instruction_limit) {
  const Launch& launch = program.launch();
  for (const Segment& s : program.segments()) {
    segment_base_.push_back(statements_.size());
    for (const Statement& statement : s.statements) statements_.push_back(&statement);
  }
  const auto shared_bytes = static_cast<std::uint32_t>(program.shared_end() - shared_base_sm90);
  const int warps = program.warps_per_cta();
  const auto registers = static_cast<std::size_t>(highest_register(program) + 1);
  tcgen05_.memory.resize(static_cast<std::size_t>(launch.cluster));
  tcgen05_.pools.resize(static_cast<std::size_t>(launch.cluster));
  tcgen05_.pairs.resize(static_cast<std::size_t>((launch.cluster + 1) / 2));
  for (int cta = 0; cta < launch.cluster; ++cta) {
    ctas_.push_back({SharedMemory(shared_base_sm90, shared_bytes),
                     Provenance(shared_base_sm90, shared_bytes),
                     {},
                     warps,
                     0,
                     {},
                     {},
                     streams_.make(),
                     {}});
    for (int first = 0; first < warps; first += warps_per_warpgroup) {
      Warpgroup group;
      group.first_warp = cta * warps + first;
      warpgroups_.push_back(std::move(group));
    }
    for (int index = 0; index < warps; ++index) {
      Warp warp;
      warp.number = cta * warps + index;
      warp.cta = cta;
      warp.index = index;
      for (std::size_t s = 0; s < program.segments().size(); ++s) {
        const Segment& segment = program.segments()[s];
        const bool mine = (segment.cta == every_cta || segment.cta == cta) &&
                          index >= segment.first_warp && index < segment.first_warp + segment.warps;
        if (mine && !segment.statements.empty()) warp.path.push_back(s);
      }
      warp.registers.of_reg.resize(registers);
      warp.loaded.resize(registers);
      warp.max_registers = launch.registers;
      warp.clock.raise(streams_.epochs(warp.number), 1);
      warp.clock.raise(ctas_.back().start, 1);
      warps_.push_back(std::move(warp));
    }
  }
  log_limit_ = std::max<std::size_t>(
      min_log_limit, std::size_t{shared_bytes} * static_cast<std::size_t>(launch.cluster) / 2);
  running_ = static_cast<int>(warps_.size());
  for (Warp& warp : warps_)
    if (warp.path.empty()) finish(warp);
}

// --- positions -------------------------------------------------------------------------------------

const Statement* Cluster::next_statement(const Warp& warp) const {
  if (warp.finished) return nullptr;
  return statements_[statement_number(warp)];
}

std::uint32_t Cluster::statement_number(const Warp& warp) const {
  return static_cast<std::uint32_t>(segment_base_[warp.path[warp.segment]] + warp.pc);
}

std::int64_t Cluster::next_statement_number(AgentId agent) const {
  if (next_instruction(agent) == nullptr) return -1;
  return statement_number(warps_[agent]);
}

const Instruction* Cluster::next_instruction(AgentId agent) const {
  const Statement* next = agent < warps_.size() ? next_statement(warps_[agent]) : nullptr;
  return next == nullptr ? nullptr : &next->what;
}

namespace {

// Is the warp among those that execute the statement?
bool takes_part(const Program& program, const Warp& warp, const Statement& statement) {
  const Segment& segment = program.segments()[warp.path[warp.segment]];
  const int in_role = warp.index - segment.first_warp;
  return statement.guard.lanes != 0 && (statement.guard.warps >> in_role & 1) != 0;
}

}  // namespace

// --- which steps there are -------------------------------------------------------------------------

bool Cluster::synchronises(const Statement& statement) {
  const Instruction& i = statement.what;
  return std::holds_alternative<MbarrierArrive>(i) ||
         std::holds_alternative<MbarrierArriveExpectTx>(i) ||
         std::holds_alternative<MbarrierExpectTx>(i) ||
         std::holds_alternative<MbarrierCompleteTx>(i) ||
         std::holds_alternative<MbarrierTryWait>(i) ||
         std::holds_alternative<MbarrierTestWait>(i) || std::holds_alternative<BarrierSync>(i) ||
         std::holds_alternative<BarrierArrive>(i) || std::holds_alternative<ClusterArrive>(i) ||
         std::holds_alternative<ClusterWait>(i) || std::holds_alternative<SetMaxRegisters>(i) ||
         std::holds_alternative<Tcgen05Alloc>(i) || std::holds_alternative<Tcgen05Dealloc>(i) ||
         std::holds_alternative<Tcgen05Relinquish>(i);
}

bool Cluster::can_run(const Warp& warp) const {
  const Statement* statement = next_statement(warp);
  if (statement == nullptr) return false;
  if (!takes_part(program_, warp, *statement)) return true;
  const Cta& cta = ctas_[static_cast<std::size_t>(warp.cta)];
  const Instruction& what = statement->what;
  if (const auto* i = std::get_if<MbarrierTryWait>(&what))
    return Executor::mbarrier_passes(*this, warp, *i);
  if (const auto* i = std::get_if<WgmmaWait>(&what))
    return Executor::groups_are_issued(*this, warp, *i);
  if (const auto* i = std::get_if<BarrierSync>(&what))
    return !warp.arrived || cta.barriers[static_cast<std::size_t>(i->id)].uses > warp.awaited_use;
  if (std::holds_alternative<ClusterWait>(what))
    return warp.cluster_arrivals == 0 || cluster_barrier_.uses > warp.cluster_awaited;
  if (const auto* i = std::get_if<Tcgen05Alloc>(&what))
    return Executor::can_allocate(*this, warp, *i);
  if (const auto* i = std::get_if<Tcgen05Dealloc>(&what))
    return Executor::can_deallocate(*this, warp, *i);
  if (const auto* i = std::get_if<SetMaxRegisters>(&what))
    return !i->increase || warp.max_registers == 0 ||
           std::int64_t{i->count - warp.max_registers} * warp_threads <= cta.free_registers;
  return true;
}

std::vector<AgentId> Cluster::runnable() const {
  std::vector<AgentId> agents;
  if (finding_) return agents;
  for (const Warp& warp : warps_)
    if (can_run(warp)) agents.push_back(warp_agent(warp.number));
  agents.insert(agents.end(), loads_.begin(), loads_.end());
  for (const CommitInFlight& commit : tcgen05_.commits) agents.push_back(commit.id);
  return agents;
}

bool Cluster::is_runnable(AgentId agent) const {
  if (finding_) return false;
  if (!is_copy(agent)) return agent < warps_.size() && can_run(warps_[agent]);
  if (is_commit(agent))
    return std::any_of(tcgen05_.commits.begin(), tcgen05_.commits.end(),
                       [&](const CommitInFlight& commit) { return commit.id == agent; });
  return std::find(loads_.begin(), loads_.end(), agent) != loads_.end();
}

bool Cluster::finished() const {
  return running_ == 0 && tcgen05_.commits.empty() && loads_.empty();
}

void Cluster::finish_stores() {
  std::vector<AgentId> stores;
  for (const Copy& copy : copies_)
    if (copy.slot < 0) stores.push_back(copy.id);
  for (const AgentId id : stores) {
    Executor::read_source(*this, id);
    Executor::write_destination(*this, id);
  }
}

// From the youngest: stores that no wait has completed may be many, and old.
Copy* Cluster::find_copy(AgentId agent) {
  const auto found = std::find_if(copies_.rbegin(), copies_.rend(),
                                  [&](const Copy& copy) { return copy.id == agent; });
  return found == copies_.rend() ? nullptr : &*found;
}

void Cluster::drop_copy(AgentId agent) {
  copies_.erase(copies_.begin() + (find_copy(agent) - copies_.data()));
  std::erase(loads_, agent);
}

namespace {

// Collects what the explorer needs to know about a step that has not been taken.
struct NextTouch {
  const Cta& cta;
  const Warp& warp;
  std::vector<Touch>& out;

  Touch& mbarrier(const Address& barrier, TouchKind kind) const {
    const int rank = barrier.cta == own_cta ? warp.cta : barrier.cta;
    out.push_back({.object = Executor::mbarrier_object(rank, barrier.of(0)), .kind = kind});
    return out.back();
  }
  void operator()(const MbarrierArrive& i) const {
    mbarrier(i.barrier, TouchKind::Count).arrives = true;
  }
  void operator()(const MbarrierArriveExpectTx& i) const {
    Touch& touch = mbarrier(i.barrier, TouchKind::Count);
    touch.arrives = touch.expects = true;
  }
  void operator()(const MbarrierExpectTx& i) const {
    mbarrier(i.barrier, TouchKind::Count).expects = true;
  }
  void operator()(const MbarrierCompleteTx& i) const {
    mbarrier(i.barrier, TouchKind::Count).copied = i.bytes;
  }
  void operator()(const MbarrierTryWait& i) const {
    mbarrier(i.barrier, TouchKind::Wait).parity = i.parity;
  }
  void operator()(const MbarrierTestWait& i) const {
    mbarrier(i.barrier, TouchKind::Wait).parity = i.parity;
  }
  void operator()(const BarrierSync& i) const { barrier(i.id); }
  void operator()(const BarrierArrive& i) const { barrier(i.id); }
  void barrier(int id) const {
    out.push_back({.object = Executor::barrier_object(warp.cta, id),
                   .kind = warp.arrived ? TouchKind::Wait : TouchKind::Count});
  }
  void operator()(const ClusterArrive&) const {
    out.push_back({.object = Executor::cluster_object, .kind = TouchKind::Count});
  }
  void operator()(const ClusterWait&) const {
    out.push_back({.object = Executor::cluster_object, .kind = TouchKind::Wait});
  }
  void operator()(const SetMaxRegisters& i) const {
    const std::int64_t taken = std::int64_t{i.count - warp.max_registers} * warp_threads;
    out.push_back({.object = Executor::pool_object(warp.cta),
                   .kind = TouchKind::Take,
                   .free_before = cta.free_registers,
                   .taken = taken});
  }
  void operator()(const Tcgen05Alloc& i) const { columns(i.cta_group); }
  void operator()(const Tcgen05Dealloc& i) const { columns(i.cta_group); }
  void operator()(const Tcgen05Relinquish& i) const { columns(i.cta_group); }
  void columns(int cta_group) const {
    out.push_back({.object = Executor::tmem_object(warp.cta)});
    if (cta_group == 2) out.push_back({.object = Executor::tmem_object(warp.cta ^ 1)});
  }
  void operator()(const auto&) const {}
};

}  // namespace

std::vector<Touch> Cluster::next_touches(AgentId agent) const {
  std::vector<Touch> touches;
  if (is_commit(agent)) {
    for (const CommitInFlight& commit : tcgen05_.commits) {
      if (commit.id != agent) continue;
      const MbarrierSlot& slot = slots_[static_cast<std::size_t>(commit.slot)];
      touches.push_back(
          {.object = Executor::mbarrier_object(slot.cta, slot.address), .arrives = true});
    }
    return touches;
  }
  if (is_copy(agent)) {
    const auto copy = std::find_if(copies_.rbegin(), copies_.rend(),
                                   [&](const Copy& c) { return c.id == agent; });
    if (copy == copies_.rend()) return touches;
    const MbarrierSlot& slot = slots_[static_cast<std::size_t>(copy->slot)];
    touches.push_back(
        {.object = Executor::mbarrier_object(slot.cta, slot.address), .copied = copy->bytes});
    return touches;
  }
  const Warp& warp = warps_[agent];
  const Statement* statement = next_statement(warp);
  if (statement == nullptr || !takes_part(program_, warp, *statement)) return touches;
  std::visit(NextTouch{ctas_[static_cast<std::size_t>(warp.cta)], warp, touches}, statement->what);
  return touches;
}

// --- taking steps ----------------------------------------------------------------------------------

const std::vector<Touch>& Cluster::step(AgentId agent) {
  touches_.clear();
  if (is_commit(agent)) {
    Executor::complete_commit(*this, agent);
  } else if (is_copy(agent)) {
    Executor::complete_load(*this, agent);
  } else {
    run_warp(warps_[agent]);
  }
  if (!finding_ && log_.size() > log_limit_) compact_log();
  return touches_;
}

// One statement, and all behind it that neither synchronise nor block.
void Cluster::run_warp(Warp& warp) {
  do {
    const Statement& statement = *statements_[statement_number(warp)];
    if (takes_part(program_, warp, statement)) {
      if (++instructions_ > instruction_limit_) {
        return fail({.fault = Fault::StepLimit,
                     .at = {statement_number(warp), warp.number, -1},
                     .number = static_cast<std::int64_t>(instruction_limit_)});
      }
      Executor(*this, warp, statement, statement_number(warp)).run();
      if (finding_) return;
    } else {
      ++warp.pc;
    }
    if (warp.pc == program_.segments()[warp.path[warp.segment]].statements.size()) {
      warp.pc = 0;
      if (++warp.segment == warp.path.size()) return finish(warp);
    }
    if (log_.size() > 2 * log_limit_) compact_log();
  } while (!synchronises(*statements_[statement_number(warp)]) && can_run(warp));
}

bool Cluster::advance_data(std::uint64_t choice) {
  std::vector<AgentId> stores;
  for (const Copy& copy : copies_)
    if (copy.slot < 0 && !copy.is_written) stores.push_back(copy.id);
  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i < warpgroups_.size(); ++i)
    for (const Mma& mma : warpgroups_[i].mmas)
      if (!mma.executed && mma.issued_by == 0xf) {
        groups.push_back(i);
        break;
      }
  const auto& operations = tcgen05_.operations;
  const std::size_t copies_and_groups = stores.size() + groups.size();
  if (copies_and_groups + operations.size() == 0) return false;
  const std::size_t pick = choice % (copies_and_groups + operations.size());
  if (pick >= copies_and_groups) {
    Executor::move_tmem(*this, operations[pick - copies_and_groups].number);
    return true;
  }
  if (pick < stores.size()) {
    if (!find_copy(stores[pick])->is_read)
      Executor::read_source(*this, stores[pick]);
    else
      Executor::write_destination(*this, stores[pick]);
    return true;
  }
  Warpgroup& group = warpgroups_[groups[pick - stores.size()]];
  std::uint64_t number = group.first_mma;
  for (const Mma& mma : group.mmas) {
    ++number;
    if (!mma.executed) break;
  }
  Executor::execute_mmas(*this, group, number);
  return true;
}

// --- ends ------------------------------------------------------------------------------------------

void Cluster::finish(Warp& warp) {
  warp.finished = true;
  --running_;
  Cta& cta = ctas_[static_cast<std::size_t>(warp.cta)];
  cta.exit.join(warp.clock);
  cta.exit_lost.join(warp.lost);
  complete_cluster_barrier();
  const Warpgroup& group = Executor::warpgroup_of(*this, warp);
  const std::uint64_t executed =
      group.aligned[static_cast<std::size_t>(warp.index % warps_per_warpgroup)] -
      group.first_aligned;
  if (executed < group.aligned_statements.size())
    return fail({.fault = Fault::WarpgroupDivergent,
                 .at = {group.aligned_statements[executed], group.first_warp, -1},
                 .number = warp.number});
  if (--cta.running_warps == 0) end_cta(warp.cta);
}

void Cluster::note_exit_use(int cta, const ExitUse& use) {
  auto& uses = ctas_[static_cast<std::size_t>(cta)].exit_uses;
  const auto same = std::find_if(uses.begin(), uses.end(),
                                 [&](const ExitUse& u) { return u.stream == use.stream; });
  if (same == uses.end())
    uses.push_back(use);
  else if (same->tick < use.tick)
    *same = use;
}

// Whatever uses the CTA's shared memory must be known to have ended by one of its warps.
void Cluster::end_cta(int cta) {
  const Cta& ending = ctas_[static_cast<std::size_t>(cta)];
  const auto fail_at = [&](Fault fault, Place at, ByteRange bytes) {
    fail({.fault = fault, .at = at, .cta = cta, .bytes = bytes});
  };
  for (const Copy& copy : copies_) {
    const int issuer = warps_[static_cast<std::size_t>(copy.warp)].cta;
    if (copy.cta != cta && (copy.read == 0 || issuer != cta)) continue;
    if (copy.slot < 0) continue;  // stores: below
    return fail_at(issuer == cta ? Fault::ExitInFlight : Fault::CtaExited,
                   {copy.statement, copy.warp, copy.lane}, copy.box);
  }
  for (const CommitInFlight& commit : tcgen05_.commits) {
    const Warp& issuer = warps_[static_cast<std::size_t>(commit.warp)];
    if (slots_[static_cast<std::size_t>(commit.slot)].cta != cta || issuer.cta == cta) continue;
    const Place at = {commit.statement, commit.warp, commit.lane};
    const Stream commits = issuer.tmem.commits;
    if (!may_end_before_commit(cta, {0, 0, at, {}, true, commits, commit.carried.at(commits)}))
      return;
  }
  for (const ExitUse& use : ending.exit_uses) {
    if (use.tick <= ending.exit.at(use.stream)) continue;
    if (use.commits != 0) {
      if (!may_end_before_commit(cta, use)) return;
      continue;
    }
    const WeakSync* weak = Executor::find_weak(*this, ending.exit_lost, -1, use.stream, use.tick);
    if (weak == nullptr) return fail_at(exit_fault(use), use.at, use.bytes);
    return fail(
        {.fault = weak->fault, .at = use.at, .cta = cta, .bytes = use.bytes, .hint = weak->at});
  }
  for (const Warp& warp : warps_) {
    if (warp.cta != cta) continue;
    for (const BulkThread& thread : warp.bulk)
      if (!thread.uncommitted.empty() || ending.exit.at(thread.read) < thread.committed)
        return fail_at(Fault::ExitInFlight, thread.last_store, {});
  }
  for (const Warpgroup& group : warpgroups_)
    for (const Mma& mma : group.mmas)
      if (warps_[static_cast<std::size_t>(group.first_warp)].cta == cta && mma.read != 0 &&
          log_[mma.read].tick > ending.exit.at(log_[mma.read].stream))
        return fail_at(Fault::ExitInFlight, {mma.statement, group.first_warp, -1}, {});
  for (const TmemAllocated& left : tcgen05_.pools[static_cast<std::size_t>(cta)].allocations())
    return fail({.fault = Fault::TmemLeaked,
                 .at = left.alloc,
                 .cta = cta,
                 .tmem = {0, tcgen05::tmem_lanes, left.first_column, left.columns}});
}

bool Cluster::stops_at(Finding finding) {
  if (fails(info(finding.fault).kind, fails_)) {
    if (!finding_) finding_ = std::move(finding);
    return true;
  }
  const bool known = std::any_of(suspicions_.begin(), suspicions_.end(), [&](const Finding& f) {
    return f.fault == finding.fault && f.at.statement == finding.at.statement;
  });
  if (!known) suspicions_.push_back(std::move(finding));
  return false;
}

// --- bookkeeping -----------------------------------------------------------------------------------

void Cluster::compact_log() {
  Compaction compaction(log_);
  for (Cta& cta : ctas_) compaction.keep(cta.provenance);
  global_provenance_.for_each_page([&](Provenance& page) { compaction.keep(page); });
  for (const MbarrierSlot& slot : slots_) compaction.keep(slot.init);
  for (const UnwrittenRead& read : unwritten_reads_) compaction.keep(read.access);
  for (const Copy& copy : copies_)
    for (const AccessId id : {copy.write, copy.read, copy.global_read}) compaction.keep(id);
  for (const Warpgroup& group : warpgroups_)
    for (const Mma& mma : group.mmas) compaction.keep(mma.read);
  compaction.run();
  for (Cta& cta : ctas_) compaction.renumber(cta.provenance);
  global_provenance_.for_each_page([&](Provenance& page) { compaction.renumber(page); });
  for (MbarrierSlot& slot : slots_) slot.init = compaction.renumber(slot.init);
  for (UnwrittenRead& read : unwritten_reads_) read.access = compaction.renumber(read.access);
  for (Copy& copy : copies_) {
    copy.write = compaction.renumber(copy.write);
    copy.read = compaction.renumber(copy.read);
    copy.global_read = compaction.renumber(copy.global_read);
  }
  for (Warpgroup& group : warpgroups_)
    for (Mma& mma : group.mmas) mma.read = compaction.renumber(mma.read);
  for (Warp& warp : warps_)
    for (LoadedRegister& loaded : warp.loaded) loaded.load = compaction.renumber(loaded.load);
  log_limit_ = std::max(log_limit_, log_.size() + log_.size() / 2);
}

std::size_t Cluster::bookkeeping_bytes() const {
  std::size_t bytes = log_.bytes() + tcgen05_.history.bytes() + global_provenance_.bytes();
  for (const Cta& cta : ctas_) bytes += cta.provenance.bytes();
  return bytes;
}

}  // namespace tcq::machine
