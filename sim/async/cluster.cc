// The choice of steps and the taking of them; see cluster.h.
#include "sim/async/cluster.h"

#include <algorithm>
#include <variant>

#include "sim/async/copies.h"
#include "sim/async/mbarrier_slots.h"
#include "sim/async/step.h"
#include "sim/async/tmem_data.h"
#include "sim/async/warpgroups.h"

namespace tcq::machine {

Cluster::Cluster(const Program& program, MmaCache& cache, Timing timing,
                 std::uint64_t instruction_limit, std::optional<Contents> contents)
    : state_(program, cache, timing) {
  state_.instruction_limit = instruction_limit;
  state_.contents = contents;
  if (contents)
    for (Cta& cta : state_.ctas) fill({cta.shared.data(), cta.shared.size()}, *contents);
  for (Warp& warp : state_.warps) {
    if (state_.finding) return;
    if (state_.feed) state_.feed->begin(state_, warp);
    if (warp.path.empty() || state_.candidate_count(warp) == 0) finish(warp);
  }
}

// --- positions -------------------------------------------------------------------------------------

std::optional<Candidate> Cluster::next(AgentId agent) const {
  if (agent >= state_.warps.size()) return std::nullopt;
  const Warp& warp = state_.warps[agent];
  const std::size_t count = state_.candidate_count(warp);
  if (count == 0) return std::nullopt;
  const std::size_t which = next_candidate(warp);
  return state_.candidate(warp, which < count ? which : 0);
}

std::int64_t Cluster::next_statement_number(AgentId agent) const {
  const auto candidate = next(agent);
  return candidate ? std::int64_t{candidate->number} : -1;
}

const Instruction* Cluster::next_instruction(AgentId agent) const {
  const auto candidate = next(agent);
  return candidate ? &candidate->statement->what : nullptr;
}

namespace {

// Is the warp among those that execute the statement?
bool takes_part(const Program& program, const Warp& warp, const Statement& statement) {
  const Segment& segment = program.segments()[warp.path[warp.segment]];
  const int in_role = warp.index - segment.first_warp;
  return statement.guard.lanes != 0 && (statement.guard.warps >> in_role & 1) != 0;
}

bool ends_step_before(const Statement& statement) {
  return std::visit([]<class I>(const I&) { return synchronises<I>; }, statement.what);
}

bool goes_last(const Candidate& next) {
  const Instruction& what = next.statement->what;
  if (const auto* access = std::get_if<LaneAtomic>(&what)) return access->goes_last;
  const auto* test = std::get_if<MbarrierTestWait>(&what);
  return test != nullptr && test->goes_last;
}

void execute(ClusterState& c, Warp& warp, const Candidate& next) {
  const Statement& statement = *next.statement;
  if (c.feed) warp.pc = next.number;
  Step step = {c, warp, statement.what, next.number, statement.guard.lanes, role_thread(c, warp)};
  ++warp.pc;
  std::visit([&](const auto& i) { i.execute(step); }, statement.what);
}

}  // namespace

// --- which steps there are -------------------------------------------------------------------------

bool Cluster::is_blocked(const Warp& warp, const Candidate& next) const {
  if (!takes_part(state_.program, warp, *next.statement)) return false;
  return std::visit([at = Standing{state_, warp, next.number, next.statement->guard.lanes}](
                        const auto& i) -> bool { return i.is_blocked(at); },
                    next.statement->what);
}

std::size_t Cluster::first_unblocked(const Warp& warp) const {
  const std::size_t count = state_.candidate_count(warp);
  std::size_t which = 0;
  while (which < count && is_blocked(warp, state_.candidate(warp, which))) ++which;
  return which;
}

std::size_t Cluster::next_candidate(const Warp& warp) const {
  const std::size_t count = state_.candidate_count(warp);
  std::size_t which = first_unblocked(warp);
  if (which < count) return which;
  for (which = 0; which < count && !goes_last(state_.candidate(warp, which));) ++which;
  return which;
}

bool Cluster::can_run(const Warp& warp) const {
  return first_unblocked(warp) < state_.candidate_count(warp);
}

bool Cluster::ends_step(const Warp& warp) const {
  for (std::size_t i = 0; i < state_.candidate_count(warp); ++i)
    if (ends_step_before(*state_.candidate(warp, i).statement)) return true;
  return false;
}

std::vector<AgentId> Cluster::runnable() const {
  std::vector<AgentId> agents;
  if (state_.finding) return agents;
  for (const Warp& warp : state_.warps)
    if (can_run(warp)) agents.push_back(encode({AgentKind::Warp, warp.number}));
  agents.insert(agents.end(), state_.loads.begin(), state_.loads.end());
  for (const CommitInFlight& commit : state_.tcgen05.commits) agents.push_back(commit.id);
  if (!agents.empty() || !state_.feed) return agents;
  for (const AgentId agent : may_look_in_vain())
    if (!std::holds_alternative<MbarrierTestWait>(*next_instruction(agent)))
      agents.push_back(agent);
  if (!agents.empty()) return agents;
  for (const Warp& warp : state_.warps)
    if (!warp.finished && state_.feed->may_part(warp))
      agents.push_back(encode({AgentKind::Warp, warp.number}));
  return agents;
}

std::vector<AgentId> Cluster::may_look_in_vain() const {
  std::vector<AgentId> agents;
  if (state_.finding || !state_.feed) return agents;
  for (const Warp& warp : state_.warps)
    if (!can_run(warp) && next_candidate(warp) < state_.candidate_count(warp))
      agents.push_back(encode({AgentKind::Warp, warp.number}));
  return agents;
}

bool Cluster::is_runnable(AgentId agent) const {
  if (state_.finding) return false;
  if (!is_copy(agent)) {
    if (agent >= state_.warps.size()) return false;
    const Warp& warp = state_.warps[agent];
    if (next_candidate(warp) < state_.candidate_count(warp)) return true;
    const std::vector<AgentId> agents = runnable();
    return std::ranges::find(agents, agent) != agents.end();
  }
  if (is_commit(agent))
    return std::any_of(state_.tcgen05.commits.begin(), state_.tcgen05.commits.end(),
                       [&](const CommitInFlight& commit) { return commit.id == agent; });
  return std::find(state_.loads.begin(), state_.loads.end(), agent) != state_.loads.end();
}

bool Cluster::finished() const {
  return state_.running == 0 && state_.tcgen05.commits.empty() && state_.loads.empty();
}

void Cluster::finish_stores() {
  std::vector<AgentId> stores;
  for (const Copy& copy : state_.copies)
    if (copy.slot < 0) stores.push_back(copy.id);
  for (const AgentId id : stores) {
    read_source(state_, id);
    write_destination(state_, id);
  }
}

std::vector<Touch> Cluster::next_touches(AgentId agent) const {
  if (is_commit(agent)) {
    for (const CommitInFlight& commit : state_.tcgen05.commits) {
      const MbarrierSlot& slot = state_.slot(commit.slot);
      if (commit.id == agent) return {{.object = object_of(slot), .arrives = true}};
    }
    return {};
  }
  if (is_copy(agent)) {
    const Copy* copy = state_.find_copy(agent);
    if (copy == nullptr) return {};
    std::vector<Touch> touches;
    if (asks_launch(*copy)) touches.push_back(launch_touch);
    touches.push_back({.object = object_of(state_.slot(copy->slot)), .copied = copy->bytes});
    return touches;
  }
  const Warp& warp = state_.warps[agent];
  std::vector<Touch> all;
  for (std::size_t i = 0; i < state_.candidate_count(warp); ++i) {
    const Candidate next = state_.candidate(warp, i);
    if (!takes_part(state_.program, warp, *next.statement)) continue;
    const std::vector<Touch> touches =
        std::visit([at = Standing{state_, warp, next.number, next.statement->guard.lanes}](
                       const auto& w) -> std::vector<Touch> { return w.touches(at); },
                   next.statement->what);
    all.insert(all.end(), touches.begin(), touches.end());
  }
  return all;
}

// --- taking steps ----------------------------------------------------------------------------------

const std::vector<Touch>& Cluster::step(AgentId agent) {
  state_.touches.clear();
  if (is_commit(agent)) {
    complete_commit(state_, agent);
  } else if (is_copy(agent)) {
    complete_load(state_, agent);
  } else {
    run_warp(state_.warps[agent]);
  }
  if (!state_.finding && state_.log.size() > state_.log_limit) state_.compact_log();
  return state_.touches;
}

// One statement, and all behind it that neither synchronise nor block.
void Cluster::run_warp(Warp& warp) {
  if (state_.feed && next_candidate(warp) == state_.candidate_count(warp)) {
    state_.feed->part(state_, warp);
    if (state_.finding) return;
    if (state_.candidate_count(warp) == 0) return finish(warp);
    if (!can_run(warp)) return;
  }
  do {
    const std::size_t which = next_candidate(warp);
    const Candidate next = state_.candidate(warp, which);
    if (takes_part(state_.program, warp, *next.statement)) {
      if (++state_.instructions > state_.instruction_limit) {
        return state_.fail({.fault = Fault::StepLimit,
                            .at = {next.number, warp.number, -1},
                            .number = static_cast<std::int64_t>(state_.instruction_limit)});
      }
      execute(state_, warp, next);
      if (state_.finding) return;
    } else {
      ++warp.pc;
    }
    if (state_.feed) {
      const bool stays = warp.pc == next.number;  // at a barrier it has arrived at
      if (!stays) state_.feed->executed(state_, warp, which);
      if (state_.finding) return;
      if (state_.candidate_count(warp) == 0) return finish(warp);
    } else if (warp.pc == state_.program.segments()[warp.path[warp.segment]].statements.size()) {
      warp.pc = 0;
      if (++warp.segment == warp.path.size()) return finish(warp);
    }
    state_.trim_log();
  } while (!ends_step(warp) && can_run(warp));
}

bool Cluster::advance_data(std::uint64_t choice) {
  std::vector<AgentId> stores;
  for (const Copy& copy : state_.copies)
    if (copy.slot < 0 && !copy.is_written) stores.push_back(copy.id);
  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i < state_.warpgroups.size(); ++i)
    for (const Mma& mma : state_.warpgroups[i].mmas)
      if (!mma.executed && mma.issued_by == issued_by_all) {
        groups.push_back(i);
        break;
      }
  const auto& operations = state_.tcgen05.operations;
  const std::size_t copies_and_groups = stores.size() + groups.size();
  if (copies_and_groups + operations.size() == 0) return false;
  const std::size_t pick = choice % (copies_and_groups + operations.size());
  if (pick >= copies_and_groups) {
    move_tmem(state_, operations[pick - copies_and_groups].number);
    return true;
  }
  if (pick < stores.size()) {
    if (!state_.find_copy(stores[pick])->is_read)
      read_source(state_, stores[pick]);
    else
      write_destination(state_, stores[pick]);
    return true;
  }
  Warpgroup& group = state_.warpgroups[groups[pick - stores.size()]];
  std::uint64_t number = group.first_mma;
  for (const Mma& mma : group.mmas) {
    ++number;
    if (!mma.executed) break;
  }
  execute_mmas(state_, group, number);
  return true;
}

}  // namespace tcq::machine
