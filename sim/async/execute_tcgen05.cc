// tcgen05 apart from its data: allocation, waits, fences, commits.
//
// fence::before_thread_sync adds what the warp may rely on in Tensor Memory to what it hands on when
// it synchronises; fence::after_thread_sync takes over what it was handed. wait::ld and wait::st
// complete the warp's own transfers. A commit is a step of its own: when it is taken, what it tracks
// is complete, and its arrival carries the knowledge of that.
//
// Source: PTX ISA 9.2, 9.7.16.7.1, 9.7.16.8.5, 9.7.16.11, 9.7.16.12.1.
// Inferred: an arrival by commit reaches waits of any scope, as no published kernel widens them; it
// orders what the tracked operations knew, not other accesses of their thread, like the arrival of a
// bulk copy. Several commits in flight may arrive in any order.
#include <algorithm>
#include <bit>

#include "sim/async/executor.h"

namespace tcq::machine {

// --- who -------------------------------------------------------------------------------------------

bool Executor::one_lane_issues_tcgen05() {
  if (std::popcount(lanes_) == 1) return true;
  fail(Fault::Tcgen05Repeated, first_lane(), std::popcount(lanes_));
  return false;
}

std::vector<int> Executor::ctas_of(int cta_group) {
  if (cta_group == 1) return {warp_.cta};
  const int even = warp_.cta / 2 * 2;
  for (const int cta : {even, even + 1})
    if (!cta_runs(cta, first_lane()) || !has_started(cta, first_lane())) return {};
  return {even, even + 1};
}

// For what the two CTAs do together: neither leaves before the other has come.
std::vector<int> Executor::ctas_that_meet(int cta_group) {
  if (cta_group == 1) return {warp_.cta};
  const int peer = warp_.cta ^ 1;
  if (peer >= static_cast<int>(c_.ctas_.size())) {
    fail(Fault::CtaRankOutOfRange, -1, peer);
    return {};
  }
  if (!warp_.arrived && c_.ctas_[static_cast<std::size_t>(peer)].running_warps == 0) {
    c_.fail({.fault = Fault::CtaExited, .at = place(), .cta = peer});
    return {};
  }
  if (!has_started(peer, -1)) return {};
  return {warp_.cta, peer};
}

// The same in all lanes that take part.
bool Executor::resolve(const TmemOperand& operand, tcgen05::TmemAddress& address) {
  address = {operand.tmem_lane, operand.tmem_column};
  if (operand.reg < 0) return true;
  if (!reads({operand.reg, 1})) return false;
  const std::uint32_t word = reg(operand.reg)[static_cast<std::size_t>(first_lane())];
  bool uniform = true;
  for_each_lane([&](int lane) {
    uniform = uniform && reg(operand.reg)[static_cast<std::size_t>(lane)] == word;
  });
  if (!uniform) fail(Fault::WarpDivergent, first_lane());
  const tcgen05::TmemAddress base = tcgen05::decode_tmem_address(word);
  address.tmem_lane += base.tmem_lane;
  address.tmem_column += base.tmem_column;
  return uniform;
}

Tcgen05Thread& Executor::tcgen05_thread(int cta_group) {
  for (Tcgen05Thread& thread : c_.tcgen05_.threads)
    if (thread.warp == warp_.number && thread.lane == first_lane() && thread.cta_group == cta_group)
      return thread;
  if (warp_.tmem.commits == 0) warp_.tmem.commits = c_.streams_.make();
  Tcgen05Thread thread;
  thread.warp = warp_.number;
  thread.lane = first_lane();
  thread.cta_group = cta_group;
  thread.issue = c_.streams_.make();
  thread.done = c_.streams_.make();
  c_.tcgen05_.threads.push_back(thread);
  return c_.tcgen05_.threads.back();
}

void Executor::fail_at_cells(Fault fault, int cta, const TmemCells& cells, const Place& earlier,
                             const Place& hint, std::int64_t number) {
  c_.fail({.fault = fault,
           .at = place(std::popcount(lanes_) == 1 ? first_lane() : -1),
           .earlier = earlier,
           .cta = cta,
           .hint = hint,
           .number = number,
           .tmem = cells});
}

// An alloc is synchronous: whoever has seen an arrival behind it, also a relaxed one, knows of it.
bool Executor::knows_epoch(int warp, Tick epoch) const {
  const Stream epochs = c_.streams_.epochs(warp);
  return std::max(warp_.clock.at(epochs), warp_.tmem.observed.at(epochs)) >= epoch;
}

bool Executor::knows_alloc(const TmemAllocated& allocated) const {
  return knows_epoch(allocated.alloc.warp, allocated.epoch);
}

// Allocated, and this warp knows it.
bool Executor::columns_usable(int cta, const TmemRegion& region) {
  const TmemPool& pool = c_.tcgen05_.pools[static_cast<std::size_t>(cta)];
  const TmemCells cells = {0, tcgen05::tmem_lanes, region.first_column, region.columns};
  if (region.first_column < 0 || region.first_column + region.columns > tcgen05::tmem_columns) {
    fail_at_cells(Fault::TmemNotAllocated, cta, cells);
    return false;
  }
  for (int column = region.first_column; column < region.first_column + region.columns; ++column) {
    const TmemAllocated* holder = pool.holder(column);
    if (holder == nullptr) {
      const Place& freed = pool.last_dealloc(column);
      const Fault fault = freed.statement >= 0 ? Fault::TmemFreed : Fault::TmemNotAllocated;
      fail_at_cells(fault, cta, {0, tcgen05::tmem_lanes, column, 1}, freed);
      return false;
    }
    if (knows_alloc(*holder)) continue;
    const bool knows_peers =
        holder->peer_warp >= 0 && knows_epoch(holder->peer_warp, holder->peer_epoch);
    if (c_.stops_at({.fault = knows_peers ? Fault::TmemAllocAssumed : Fault::TmemNotAllocated,
                     .at = place(std::popcount(lanes_) == 1 ? first_lane() : -1),
                     .earlier = holder->alloc,
                     .cta = cta,
                     .tmem = cells}))
      return false;
  }
  return true;
}

// --- allocation ------------------------------------------------------------------------------------

namespace {

Touch pool_touch(int cta, TmemPool& pool) {
  return {.object = Executor::tmem_object(cta), .phase = pool.count_step(), .pending_after = 0};
}

}  // namespace

bool Executor::can_allocate(const Cluster& cluster, const Warp& warp, const Tcgen05Alloc& i) {
  const auto& pools = cluster.tcgen05_.pools;
  const TmemPool& own = pools[static_cast<std::size_t>(warp.cta)];
  if (own.relinquished() || tcgen05::check_allocation(i.columns, own.smallest()) != Fault::None)
    return true;  // to fault
  if (i.cta_group == 1) return own.first_fit(i.columns).has_value();
  if (static_cast<std::size_t>(warp.cta ^ 1) >= pools.size()) return true;
  const PairedStep& pair = cluster.tcgen05_.pairs[static_cast<std::size_t>(warp.cta / 2)];
  if (warp.arrived) return pair.done > warp.tmem.awaited;
  if (!pair.waits) return true;
  return own.first_fit(i.columns, &pools[static_cast<std::size_t>(warp.cta ^ 1)]).has_value();
}

bool Executor::can_deallocate(const Cluster& cluster, const Warp& warp, const Tcgen05Dealloc& i) {
  if (i.cta_group == 1 || !warp.arrived) return true;
  return cluster.tcgen05_.pairs[static_cast<std::size_t>(warp.cta / 2)].done > warp.tmem.awaited;
}

// The address goes to shared memory, as if the warp's first lane stored it.
void Executor::grant(const Tcgen05Alloc& i, int first_column) {
  Cta& cta = c_.ctas_[static_cast<std::size_t>(warp_.cta)];
  const std::uint32_t to = i.to.of(thread_of(0));
  if (to % 4 != 0) return fail(Fault::SharedUnaligned, 0, to);
  if (!cta.shared.contains(to, 4)) return fail(Fault::SharedMemoryOutOfRange, 0, to);
  Access access = generic_access(AccessKind::Store);
  access.lanes = 1;
  access.base = to;
  access.width = 4;
  const AccessId id = c_.log_.add(access);
  const Conflict conflict =
      cta.provenance.record({to, to + 4}, id, knowledge(), c_.log_, c_.streams_);
  if (!settle(conflict, id, warp_.cta)) return;
  cta.shared.store(to, tcgen05::encode({0, first_column}));
}

void Executor::execute(const Tcgen05Alloc& i) {
  if (!all_lanes_take_part()) return;
  const std::vector<int> ctas = ctas_that_meet(i.cta_group);
  if (ctas.empty()) return;
  Tcgen05State& state = c_.tcgen05_;
  TmemPool& pool = state.pools[static_cast<std::size_t>(warp_.cta)];
  for (const int cta : ctas)
    c_.touches_.push_back(pool_touch(cta, state.pools[static_cast<std::size_t>(cta)]));
  if (pool.relinquished())
    return c_.fail({.fault = Fault::TmemAllocAfterRelinquish,
                    .at = place(),
                    .earlier = pool.relinquish(),
                    .cta = warp_.cta});
  if (const Fault fault = tcgen05::check_allocation(i.columns, pool.smallest());
      fault != Fault::None && !warp_.arrived)
    return c_.fail({.fault = fault,
                    .at = place(),
                    .cta = warp_.cta,
                    .number = fault == Fault::TmemAllocSize ? i.columns : pool.smallest()});
  const auto epoch_of = [&](int warp) {
    return warp < 0 ? Tick{0}
                    : c_.warps_[static_cast<std::size_t>(warp)].clock.at(c_.streams_.epochs(warp));
  };
  const auto allocate = [&](int cta, int first_column, const Place& at, int peer_warp) {
    state.pools[static_cast<std::size_t>(cta)].allocate({first_column, i.columns, i.cta_group, at,
                                                         epoch_of(at.warp), peer_warp,
                                                         epoch_of(peer_warp)});
    TensorMemory& memory = state.memory[static_cast<std::size_t>(cta)];
    memory.forget(first_column, i.columns);
    state.history.forget(cta, first_column, i.columns);
  };
  if (i.cta_group == 1) {
    const int first_column = *pool.first_fit(i.columns);
    allocate(warp_.cta, first_column, place(), -1);
    return grant(i, first_column);
  }
  PairedStep& pair = state.pairs[static_cast<std::size_t>(warp_.cta / 2)];
  if (warp_.arrived) {
    warp_.arrived = false;
    return grant(i, pair.granted_column);
  }
  if (!pair.waits) return wait_for_peer(pair, i.columns);
  if (pair.columns != i.columns || pair.cta == warp_.cta)
    return c_.fail({.fault = Fault::TmemAllocSize,
                    .at = place(),
                    .earlier = pair.at,
                    .cta = warp_.cta,
                    .number = i.columns});
  const TmemPool& peer = state.pools[static_cast<std::size_t>(pair.cta)];
  pair.granted_column = *pool.first_fit(i.columns, &peer);
  allocate(warp_.cta, pair.granted_column, place(), pair.at.warp);
  allocate(pair.cta, pair.granted_column, pair.at, warp_.number);
  pair.waits = false;
  ++pair.done;
  grant(i, pair.granted_column);
}

void Executor::wait_for_peer(PairedStep& pair, int columns) {
  pair.waits = true;
  pair.cta = warp_.cta;
  pair.columns = columns;
  pair.at = place();
  warp_.tmem.awaited = pair.done;
  warp_.arrived = true;
  --warp_.pc;  // it stands before the instruction until the peer comes
}

void Executor::execute(const Tcgen05Dealloc& i) {
  if (!all_lanes_take_part()) return;
  const std::vector<int> ctas = ctas_that_meet(i.cta_group);
  tcgen05::TmemAddress from;
  if (ctas.empty() || !resolve(i.from, from)) return;
  Tcgen05State& state = c_.tcgen05_;
  for (const int cta : ctas)
    c_.touches_.push_back(pool_touch(cta, state.pools[static_cast<std::size_t>(cta)]));
  if (warp_.arrived) {
    warp_.arrived = false;
    return;
  }
  TmemPool& pool = state.pools[static_cast<std::size_t>(warp_.cta)];
  const TmemAllocated* allocated = pool.holder(std::clamp(from.tmem_column, 0, 511));
  const bool returned = allocated != nullptr && from.tmem_lane == 0 &&
                        allocated->first_column == from.tmem_column &&
                        allocated->columns == i.columns && allocated->cta_group == i.cta_group;
  const TmemCells cells = {from.tmem_lane, tcgen05::tmem_lanes, from.tmem_column, i.columns};
  if (!returned)
    return fail_at_cells(Fault::TmemDeallocAddress, warp_.cta, cells,
                         allocated == nullptr ? Place{} : allocated->alloc);
  for (const int cta : ctas) {  // also the peer's alloc must have come before
    const TmemPool& other = state.pools[static_cast<std::size_t>(cta)];
    const TmemAllocated* there = other.holder(from.tmem_column);
    if (there != nullptr && !knows_alloc(*there))
      return fail_at_cells(Fault::TmemNotAllocated, cta, cells, there->alloc);
  }
  std::vector<std::uint32_t> before;
  if (!touch_tmem(warp_.cta, {all_tmem_groups, from.tmem_column, i.columns},
                  tmem_access(TmemAction::Dealloc, true), before))
    return;
  if (i.cta_group == 1) {
    pool.deallocate(from.tmem_column, i.columns, 1, place());
    return;
  }
  PairedStep& pair = state.pairs[static_cast<std::size_t>(warp_.cta / 2)];
  if (!pair.waits) return wait_for_peer(pair, i.columns);
  if (pair.columns != i.columns || pair.cta == warp_.cta)
    return fail_at_cells(Fault::TmemDeallocAddress, warp_.cta, cells, pair.at);
  pool.deallocate(from.tmem_column, i.columns, 2, place());
  state.pools[static_cast<std::size_t>(pair.cta)].deallocate(from.tmem_column, i.columns, 2,
                                                             pair.at);
  pair.waits = false;
  ++pair.done;
}

void Executor::execute(const Tcgen05Relinquish& i) {
  if (!all_lanes_take_part()) return;
  for (const int cta : ctas_that_meet(i.cta_group)) {
    if (!reach_cta(cta, -1)) return;
    c_.touches_.push_back(pool_touch(cta, c_.tcgen05_.pools[static_cast<std::size_t>(cta)]));
  }
  if (stopped()) return;
  c_.tcgen05_.pools[static_cast<std::size_t>(warp_.cta)].relinquish(place());
}

// --- waits and fences ------------------------------------------------------------------------------

void Executor::move_transfers(TmemAction action) {
  std::vector<std::uint32_t> numbers;
  for (const Tcgen05Operation& operation : c_.tcgen05_.operations)
    if (operation.warp == warp_.number && operation.action == action)
      numbers.push_back(operation.number);
  for (const std::uint32_t number : numbers) move_tmem(c_, number);
}

// What is handed on without a fence is known to be complete, but not to whoever touches the cells.
void Executor::wait_for(TmemAction action, const TmemTransfers& transfers) {
  if (!all_lanes_take_part() || transfers.issued == 0) return;
  move_transfers(action);
  warp_.tmem.fenced.raise(transfers.done, transfers.issued);
  warp_.clock.raise(transfers.waited, transfers.issued);
  if (action == TmemAction::Ld) warp_.tmem.unused.clear();
}

void Executor::execute(const Tcgen05WaitLd&) { wait_for(TmemAction::Ld, warp_.tmem.loads); }
void Executor::execute(const Tcgen05WaitSt&) { wait_for(TmemAction::St, warp_.tmem.stores); }

// Of Tensor Memory only: relaxed waits have shown more, which must not order other memory.
void Executor::execute(const Tcgen05FenceBefore&) {
  const auto hand_on = [&](Stream stream) {
    if (const Tick tick = warp_.tmem.fenced.at(stream); stream != 0 && tick != 0)
      warp_.clock.raise(stream, tick);
  };
  for (const Tcgen05Thread& thread : c_.tcgen05_.threads) {
    hand_on(thread.issue);
    hand_on(thread.done);
    if (thread.warp == warp_.number && (lanes_ >> thread.lane & 1) != 0)
      warp_.clock.raise(thread.issue, thread.issued);
  }
  for (const Warp& warp : c_.warps_) {
    hand_on(warp.tmem.commits);
    for (const TmemTransfers* transfers : {&warp.tmem.loads, &warp.tmem.stores}) {
      hand_on(transfers->done);
      hand_on(transfers->waited);
    }
  }
}

void Executor::execute(const Tcgen05FenceAfter&) {
  warp_.tmem.fenced.join(warp_.clock);
  warp_.tmem.fenced.join(warp_.tmem.observed);
}

// --- commit ----------------------------------------------------------------------------------------

void Executor::execute(const Tcgen05Commit& i) {
  if (!one_lane_issues_tcgen05()) return;
  const int ctas = static_cast<int>(c_.ctas_.size());
  if (i.multicast >> ctas != 0) return fail(Fault::MulticastMask, first_lane(), i.multicast);
  execute(Tcgen05FenceBefore{});
  Tcgen05Thread& thread = tcgen05_thread(i.cta_group);
  WarpTmem& tmem = warp_.tmem;
  ++tmem.commits_issued;
  tmem.last_commit = place(first_lane());
  thread.committed = thread.issued;
  CommitInFlight commit;
  commit.statement = number_;
  commit.warp = warp_.number;
  commit.lane = first_lane();
  commit.thread = static_cast<int>(&thread - c_.tcgen05_.threads.data());
  commit.tick = thread.issued;
  commit.carried = warp_.clock;
  const Stream epochs = c_.streams_.epochs(warp_.number);
  commit.carried.lower(epochs, warp_.clock.at(epochs) - 1);
  commit.carried.raise(thread.done, thread.issued);
  commit.carried.raise(tmem.commits, tmem.commits_issued);

  ++warp_.copies;
  const int single = cta_of(i.barrier);
  const std::uint32_t address = i.barrier.of(thread_of(first_lane()));
  CommitTarget target{address, 0, tmem.last_commit};
  for (int cta = 0; cta < std::max(ctas, single + 1); ++cta) {
    const bool takes = i.multicast == 0 ? cta == single : (i.multicast >> cta & 1) != 0;
    if (!takes) continue;
    MbarrierSlot* slot = slot_to_complete(i.barrier.in(cta), first_lane());
    if (slot == nullptr) return;
    commit.id = Cluster::commit_agent(warp_.number, warp_.copies, cta);
    commit.slot = static_cast<int>(slot - c_.slots_.data());
    c_.tcgen05_.commits.push_back(commit);
    target.ctas |= 1u << cta;
  }
  note_target(target);
}

void Executor::note_target(const CommitTarget& target) {
  for (CommitTarget& known : c_.tcgen05_.targets)
    if (known.address == target.address) {
      known.ctas |= target.ctas;
      return;
    }
  c_.tcgen05_.targets.push_back(target);
}

void Executor::complete_commit(Cluster& c, AgentId id) {
  auto& commits = c.tcgen05_.commits;
  const auto found =
      std::find_if(commits.begin(), commits.end(), [&](const auto& x) { return x.id == id; });
  const CommitInFlight commit = *found;
  commits.erase(found);
  std::vector<std::uint32_t> tracked;
  for (const Tcgen05Operation& operation : c.tcgen05_.operations)
    if (operation.thread == commit.thread && operation.tick <= commit.tick)
      tracked.push_back(operation.number);
  for (const std::uint32_t number : tracked) move_tmem(c, number);
  if (c.finding_) return;

  MbarrierSlot& slot = c.slots_[static_cast<std::size_t>(commit.slot)];
  const Place at{commit.statement, commit.warp, commit.lane};
  const ByteRange barrier{slot.address, slot.address + mbarrier::size_bytes};
  if (!slot.live)
    return c.fail(
        {.fault = Fault::MbarrierNotInitialized, .at = at, .cta = slot.cta, .bytes = barrier});
  slot.own.join(commit.carried);
  const std::uint32_t phase = slot.state.phase;
  if (const Fault fault = mbarrier::arrive(slot.state, 1); fault != Fault::None)
    return c.fail({.fault = fault,
                   .at = at,
                   .cta = slot.cta,
                   .bytes = barrier,
                   .number = std::int64_t{slot.state.expected}});
  const bool completes = slot.state.phase != phase;
  if (completes) note_completion(slot);
  note_touch(c,
             {.object = mbarrier_object(slot.cta, slot.address),
              .phase = phase,
              .completes = completes,
              .arrives = true},
             slot.state);
  const Warp& issuer = c.warps_[static_cast<std::size_t>(commit.warp)];
  const Stream numbers = issuer.tmem.commits;
  const Tick number = commit.carried.at(numbers);
  if (issuer.cta != slot.cta)
    c.note_exit_use(slot.cta, {slot.phases, phase + 1, at, barrier, true, numbers, number});
}

// Nobody in the CTA has seen the arrival; disputed if somebody has seen a later one.
bool Cluster::may_end_before_commit(int cta, const ExitUse& arrival) {
  const Cta& ending = ctas_[static_cast<std::size_t>(cta)];
  const bool saw_later = ending.exit.at(arrival.commits) > arrival.commit;
  return !stops_at({.fault = saw_later ? Fault::CommitOrderAssumed : Fault::CtaExited,
                    .at = arrival.at,
                    .cta = cta,
                    .bytes = arrival.bytes});
}

// --- deadlock -------------------------------------------------------------------------------------

// Who holds the columns, and which commits are missing or went elsewhere.
void Cluster::note_tensor_memory(Finding& deadlock) const {
  for (const Waiting& w : deadlock.waiting) {
    if (w.what == WaitFor::TensorMemory && deadlock.fault == Fault::Deadlock) {
      deadlock.fault = Fault::TmemAllocBlocks;
      deadlock.at = w.at;
      for (const TmemAllocated& held :
           tcgen05_.pools[static_cast<std::size_t>(w.cta)].allocations())
        deadlock.holdings.push_back({w.cta, held.first_column, held.columns, held.alloc});
    }
    if (w.what != WaitFor::Mbarrier || w.missing == 0) continue;
    for (const CommitTarget& target : tcgen05_.targets)
      if (target.address == w.object && (target.ctas >> w.cta & 1) == 0) deadlock.hint = target.at;
  }
  for (const Tcgen05Thread& thread : tcgen05_.threads)
    if (thread.issued > thread.committed) deadlock.uncommitted.push_back(thread.last);
}

}  // namespace tcq::machine
