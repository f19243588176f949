#include "sim/async/instructions/tcgen05.h"

#include <algorithm>

#include "sim/async/access.h"
#include "sim/async/mbarrier_slots.h"
#include "sim/async/tmem_access.h"
#include "sim/isa/tcgen05/syntax.h"

namespace tcq::machine {

// --- allocation ------------------------------------------------------------------------------------

namespace {

void touch_pools(Step& s, const std::vector<int>& ctas) {
  for (const int cta : ctas)
    s.c.touches.push_back(
        {.object = tmem_object(cta), .phase = s.c.pool(cta).count_step(), .pending_after = 0});
}

// Of the pools of one CTA, or of both of a pair.
std::vector<Touch> pool_touches(const Standing& at, int cta_group) {
  std::vector<Touch> touches = {{.object = tmem_object(at.warp.cta)}};
  if (cta_group == 2) touches.push_back({.object = tmem_object(at.warp.cta ^ 1)});
  return touches;
}

// The address goes to shared memory, as if the warp's first lane stored it.
void grant(Step& s, const Address& where, int first_column) {
  const std::uint32_t to = where.of(s.thread_of(0));
  if (to % 4 != 0) return s.fail(Fault::SharedUnaligned, 0, to);
  if (!s.cta().shared.contains(to, 4)) return s.fail(Fault::SharedMemoryOutOfRange, 0, to);
  Access access = generic_access(s, AccessKind::Store);
  access.lanes = 1;
  access.base = to;
  access.width = 4;
  access.is_allocated = true;
  if (!record(s, s.c.log.add(access), s.warp.cta, {to, to + 4})) return;
  s.cta().shared.store(to, encode(tcgen05::TmemAddress{0, first_column}));
}

void wait_for_peer(Step& s, PairedStep& pair, int columns) {
  pair.waits = true;
  pair.cta = s.warp.cta;
  pair.columns = columns;
  pair.at = s.place();
  s.warp.tmem.awaited = pair.done;
  s.warp.arrived = true;
  --s.warp.pc;  // it stands before the instruction until the peer comes
}

}  // namespace

Fault Tcgen05Alloc::check(const Bounds&) const { return check_group(cta_group); }
Fault Tcgen05Dealloc::check(const Bounds&) const { return check_group(cta_group); }
Fault Tcgen05Relinquish::check(const Bounds&) const { return check_group(cta_group); }

std::vector<Touch> Tcgen05Alloc::touches(const Standing& at) const {
  return pool_touches(at, cta_group);
}
std::vector<Touch> Tcgen05Dealloc::touches(const Standing& at) const {
  return pool_touches(at, cta_group);
}
std::vector<Touch> Tcgen05Relinquish::touches(const Standing& at) const {
  return pool_touches(at, cta_group);
}

bool Tcgen05Alloc::is_blocked(const Standing& at) const {
  const TmemPool& own = at.c.pool(at.warp.cta);
  if (own.relinquished() || tcgen05::check_allocation(columns, own.smallest()) != Fault::None)
    return false;  // to fault
  if (cta_group == 1) return !own.first_fit(columns);
  const int peer = at.warp.cta ^ 1;
  if (static_cast<std::size_t>(peer) >= at.c.ctas.size()) return false;
  const PairedStep& pair = at.c.pair_of(at.warp.cta);
  if (at.warp.arrived) return pair.done <= at.warp.tmem.awaited;
  return pair.waits && !own.first_fit(columns, &at.c.pool(peer));
}

bool Tcgen05Dealloc::is_blocked(const Standing& at) const {
  if (cta_group == 1 || !at.warp.arrived) return false;
  return at.c.pair_of(at.warp.cta).done <= at.warp.tmem.awaited;
}

Waiting Tcgen05Alloc::waiting(const Standing& at) const {
  Waiting w = at.waits_for(at.warp.arrived ? WaitFor::PairedCta : WaitFor::TensorMemory);
  w.expected = columns;
  w.missing = at.c.pool(at.warp.cta).free_columns();
  return w;
}
Waiting Tcgen05Dealloc::waiting(const Standing& at) const {
  return at.waits_for(WaitFor::PairedCta);
}

std::string Tcgen05Alloc::text(const Names& names) const {
  return joined(names.opcode(opcode(tcgen05::AllocForm{cta_group, false})), " [", names.at(to),
                "], ", columns);
}
std::string Tcgen05Dealloc::text(const Names& names) const {
  return joined(names.opcode(opcode(tcgen05::DeallocForm{cta_group})), " ", text_of(from), ", ",
                columns);
}
std::string Tcgen05Relinquish::text(const Names& names) const {
  return names.opcode(opcode(tcgen05::RelinquishForm{cta_group}));
}
std::string Tcgen05WaitLd::text(const Names& names) const {
  return names.opcode(opcode(tcgen05::WaitForm{false}));
}
std::string Tcgen05WaitSt::text(const Names& names) const {
  return names.opcode(opcode(tcgen05::WaitForm{true}));
}
std::string Tcgen05FenceBefore::text(const Names& names) const {
  return names.opcode(opcode(tcgen05::FenceForm{false}));
}
std::string Tcgen05FenceAfter::text(const Names& names) const {
  return names.opcode(opcode(tcgen05::FenceForm{true}));
}

void Tcgen05Alloc::execute(Step& s) const {
  if (!s.all_lanes_take_part()) return;
  const std::vector<int> ctas = ctas_that_meet(s, cta_group);
  if (ctas.empty()) return;
  TmemPool& pool = s.c.pool(s.warp.cta);
  touch_pools(s, ctas);
  if (pool.relinquished())
    return s.c.fail({.fault = Fault::TmemAllocAfterRelinquish,
                     .at = s.place(),
                     .earlier = pool.relinquish(),
                     .cta = s.warp.cta});
  if (const Fault fault = tcgen05::check_allocation(columns, pool.smallest());
      fault != Fault::None && !s.warp.arrived)
    return s.c.fail({.fault = fault,
                     .at = s.place(),
                     .cta = s.warp.cta,
                     .number = fault == Fault::TmemAllocSize ? columns : pool.smallest()});
  const auto allocate = [&](int cta, int first_column, const Place& at, int peer_warp) {
    TmemAllocated allocated{.first_column = first_column,
                            .columns = columns,
                            .cta_group = cta_group,
                            .alloc = at,
                            .peer_warp = peer_warp};
    allocated.epoch = s.c.epoch(at.warp);
    allocated.commits = s.c.warp(at.warp).tmem.commits_issued;
    if (peer_warp >= 0) {
      allocated.peer_epoch = s.c.epoch(peer_warp);
      allocated.peer_commits = s.c.warp(peer_warp).tmem.commits_issued;
    }
    s.c.pool(cta).allocate(allocated);
    s.c.memory(cta).forget(first_column, columns);
    s.c.tcgen05.history.forget(cta, first_column, columns);
  };
  if (cta_group == 1) {
    const int first_column = *pool.first_fit(columns);
    allocate(s.warp.cta, first_column, s.place(), -1);
    return grant(s, to, first_column);
  }
  PairedStep& pair = s.c.pair_of(s.warp.cta);
  if (s.warp.arrived) {
    s.warp.arrived = false;
    return grant(s, to, pair.granted_column);
  }
  if (!pair.waits) return wait_for_peer(s, pair, columns);
  if (pair.columns != columns || pair.cta == s.warp.cta)
    return s.c.fail({.fault = Fault::TmemAllocSize,
                     .at = s.place(),
                     .earlier = pair.at,
                     .cta = s.warp.cta,
                     .number = columns});
  const TmemPool& peer = s.c.pool(pair.cta);
  pair.granted_column = *pool.first_fit(columns, &peer);
  allocate(s.warp.cta, pair.granted_column, s.place(), pair.at.warp);
  allocate(pair.cta, pair.granted_column, pair.at, s.warp.number);
  pair.waits = false;
  ++pair.done;
  grant(s, to, pair.granted_column);
}

void Tcgen05Dealloc::execute(Step& s) const {
  if (!s.all_lanes_take_part()) return;
  const std::vector<int> ctas = ctas_that_meet(s, cta_group);
  tcgen05::TmemAddress address;
  if (ctas.empty() || !resolve(s, from, address)) return;
  touch_pools(s, ctas);
  if (s.warp.arrived) {
    s.warp.arrived = false;
    return;
  }
  TmemPool& pool = s.c.pool(s.warp.cta);
  const TmemAllocated* allocated = pool.holder(std::clamp(address.tmem_column, 0, 511));
  const bool returned = allocated != nullptr && address.tmem_lane == 0 &&
                        allocated->first_column == address.tmem_column &&
                        allocated->columns == columns && allocated->cta_group == cta_group;
  const TmemCells cells = {address.tmem_lane, tcgen05::tmem_lanes, address.tmem_column, columns};
  if (!returned)
    return fail_at_cells(s, Fault::TmemDeallocAddress, s.warp.cta, cells,
                         allocated == nullptr ? Place{} : allocated->alloc);
  for (const int cta : ctas) {  // also the peer's alloc must have come before
    const TmemPool& other = s.c.pool(cta);
    const TmemAllocated* there = other.holder(address.tmem_column);
    if (there != nullptr && !knows_alloc(s, *there))
      return fail_at_cells(s, Fault::TmemNotAllocated, cta, cells, there->alloc);
  }
  std::vector<std::uint32_t> before;
  if (!touch_tmem(s, s.warp.cta, {all_tmem_groups, address.tmem_column, columns},
                  tmem_access(s, TmemAction::Dealloc, true), before))
    return;
  if (cta_group == 1) {
    pool.deallocate(address.tmem_column, columns, 1, s.place());
    return;
  }
  PairedStep& pair = s.c.pair_of(s.warp.cta);
  if (!pair.waits) return wait_for_peer(s, pair, columns);
  if (pair.columns != columns || pair.cta == s.warp.cta)
    return fail_at_cells(s, Fault::TmemDeallocAddress, s.warp.cta, cells, pair.at);
  pool.deallocate(address.tmem_column, columns, 2, s.place());
  s.c.pool(pair.cta).deallocate(address.tmem_column, columns, 2, pair.at);
  pair.waits = false;
  ++pair.done;
}

void Tcgen05Relinquish::execute(Step& s) const {
  if (!s.all_lanes_take_part()) return;
  // As long as the two have columns that they deallocate together, the peer does not end (CUTLASS's main loops).
  const bool holds =
      std::ranges::any_of(s.c.pool(s.warp.cta).allocations(),
                          [](const TmemAllocated& allocated) { return allocated.cta_group == 2; });
  for (const int cta : ctas_that_meet(s, cta_group)) {
    if (!(holds ? cta_runs(s, cta, -1) : reach_cta(s, cta, -1))) return;
    touch_pools(s, {cta});
  }
  if (s.stopped()) return;
  s.c.pool(s.warp.cta).relinquish(s.place());
}

// --- waits and fences ------------------------------------------------------------------------------

namespace {

void move_transfers(Step& s, TmemAction action) {
  std::vector<std::uint32_t> numbers;
  for (const Tcgen05Operation& operation : s.c.tcgen05.operations)
    if (operation.warp == s.warp.number && operation.action == action)
      numbers.push_back(operation.number);
  for (const std::uint32_t number : numbers) move_tmem(s.c, number);
}

// What is handed on without a fence is known to be complete, but not to whoever touches the cells.
void wait_for(Step& s, TmemAction action, const TmemTransfers& transfers) {
  if (!s.all_lanes_take_part() || transfers.issued == 0) return;
  move_transfers(s, action);
  s.warp.tmem.fenced.raise(transfers.done, transfers.issued);
  s.warp.clock.raise(transfers.waited, transfers.issued);
  if (action == TmemAction::Ld) s.warp.tmem.unused.clear();
}

}  // namespace

void Tcgen05WaitLd::execute(Step& s) const { wait_for(s, TmemAction::Ld, s.warp.tmem.loads); }
void Tcgen05WaitSt::execute(Step& s) const { wait_for(s, TmemAction::St, s.warp.tmem.stores); }

// Of Tensor Memory only: relaxed waits have shown more, which must not order other memory.
void Tcgen05FenceBefore::execute(Step& s) const {
  const auto hand_on = [&](Stream stream) {
    if (const Tick tick = s.warp.tmem.fenced.at(stream); stream != 0 && tick != 0)
      s.warp.clock.raise(stream, tick);
  };
  for (const Tcgen05Thread& thread : s.c.tcgen05.threads) {
    hand_on(thread.issue);
    hand_on(thread.done);
    if (thread.warp == s.warp.number && (s.lanes >> thread.lane & 1) != 0)
      s.warp.clock.raise(thread.issue, thread.issued);
  }
  for (const Warp& warp : s.c.warps) {
    hand_on(warp.tmem.commits);
    for (const TmemTransfers* transfers : {&warp.tmem.loads, &warp.tmem.stores}) {
      hand_on(transfers->done);
      hand_on(transfers->waited);
    }
  }
}

void Tcgen05FenceAfter::execute(Step& s) const {
  s.warp.tmem.fenced.join(s.warp.clock);
  s.warp.tmem.fenced.join(s.warp.tmem.observed);
}

// --- commit ----------------------------------------------------------------------------------------

namespace {

void note_target(Step& s, const CommitTarget& target) {
  for (CommitTarget& known : s.c.tcgen05.targets)
    if (known.address == target.address) {
      known.ctas |= target.ctas;
      return;
    }
  s.c.tcgen05.targets.push_back(target);
}

}  // namespace

Fault Tcgen05Commit::check(const Bounds&) const { return check_group(cta_group); }

std::string Tcgen05Commit::text(const Names& names) const {
  const tcgen05::CommitForm form{cta_group, multicast != 0, false};
  return joined(names.opcode(opcode(form)), " [", names.at(barrier), "]");
}

void Tcgen05Commit::execute(Step& s) const {
  if (!one_lane_issues_tcgen05(s)) return;
  const int ctas = static_cast<int>(s.c.ctas.size());
  if (multicast >> ctas != 0) return s.fail(Fault::MulticastMask, s.first_lane(), multicast);
  Tcgen05FenceBefore{}.execute(s);
  Tcgen05Thread& thread = tcgen05_thread(s, cta_group);
  WarpTmem& tmem = s.warp.tmem;
  ++tmem.commits_issued;
  tmem.last_commit = s.place(s.first_lane());
  thread.committed = thread.issued;
  CommitInFlight commit;
  commit.statement = s.number;
  commit.warp = s.warp.number;
  commit.lane = s.first_lane();
  commit.thread = static_cast<int>(&thread - s.c.tcgen05.threads.data());
  commit.tick = thread.issued;
  commit.carried = s.warp.clock;
  commit.lost = s.warp.lost;
  const Stream epochs = s.c.streams.epochs(s.warp.number);
  commit.carried.lower(epochs, s.warp.clock.at(epochs) - 1);
  commit.carried.raise(thread.done, thread.issued);
  commit.carried.raise(tmem.commits, tmem.commits_issued);

  ++s.warp.copies;
  const int single = s.cta_of(barrier);
  const std::uint32_t address = barrier.of(s.thread_of(s.first_lane()));
  CommitTarget target{address, 0, tmem.last_commit};
  for (int cta = 0; cta < std::max(ctas, single + 1); ++cta) {
    const bool takes = multicast == 0 ? cta == single : (multicast >> cta & 1) != 0;
    if (!takes) continue;
    MbarrierSlot* slot = slot_to_complete(s, barrier.in(cta), s.first_lane());
    if (slot == nullptr) return;
    commit.id = encode({AgentKind::Commit, s.warp.number, s.warp.copies, cta});
    commit.slot = static_cast<int>(slot - s.c.slots.data());
    s.c.tcgen05.commits.push_back(commit);
    target.ctas |= 1u << cta;
  }
  note_target(s, target);
}

}  // namespace tcq::machine
