#include "sim/async/tmem_access.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <variant>

#include "sim/async/access.h"
#include "sim/async/register_file.h"

namespace tcq::machine {

// --- who -------------------------------------------------------------------------------------------

bool one_lane_issues_tcgen05(Step& s) {
  if (std::popcount(s.lanes) == 1) return true;
  s.fail(Fault::Tcgen05Repeated, s.first_lane(), std::popcount(s.lanes));
  return false;
}

std::vector<int> ctas_of(Step& s, int cta_group) {
  if (cta_group == 1) return {s.warp.cta};
  const int even = s.warp.cta / 2 * 2;
  for (const int cta : {even, even + 1})
    if (!cta_runs(s, cta, s.first_lane()) || !has_started(s, cta, s.first_lane())) return {};
  return {even, even + 1};
}

// For what the two CTAs do together: neither leaves before the other has come.
std::vector<int> ctas_that_meet(Step& s, int cta_group) {
  if (cta_group == 1) return {s.warp.cta};
  const int peer = s.warp.cta ^ 1;
  if (peer >= static_cast<int>(s.c.ctas.size())) {
    s.fail(Fault::CtaRankOutOfRange, -1, peer);
    return {};
  }
  if (!s.warp.arrived && s.c.cta(peer).running_warps == 0) {
    s.c.fail({.fault = Fault::CtaExited, .at = s.place(), .cta = peer});
    return {};
  }
  if (!has_started(s, peer, -1)) return {};
  return {s.warp.cta, peer};
}

Tcgen05Thread& tcgen05_thread(Step& s, int cta_group) {
  for (Tcgen05Thread& thread : s.c.tcgen05.threads)
    if (thread.warp == s.warp.number && thread.lane == s.first_lane() &&
        thread.cta_group == cta_group)
      return thread;
  if (s.warp.tmem.commits == 0) s.warp.tmem.commits = s.c.streams.make();
  Tcgen05Thread thread;
  thread.warp = s.warp.number;
  thread.lane = s.first_lane();
  thread.cta_group = cta_group;
  thread.issue = s.c.streams.make();
  thread.done = s.c.streams.make();
  s.c.tcgen05.threads.push_back(thread);
  return s.c.tcgen05.threads.back();
}

// --- where -----------------------------------------------------------------------------------------

bool resolve(Step& s, const TmemOperand& operand, tcgen05::TmemAddress& address) {
  address = {operand.tmem_lane, operand.tmem_column};
  if (operand.reg < 0) return true;
  if (!reads(s, {operand.reg, 1})) return false;
  const std::uint32_t word = s.reg(operand.reg)[static_cast<std::size_t>(s.first_lane())];
  bool uniform = true;
  s.for_each_lane([&](int lane) {
    uniform = uniform && s.reg(operand.reg)[static_cast<std::size_t>(lane)] == word;
  });
  if (!uniform) s.fail(Fault::WarpDivergent, s.first_lane());
  const tcgen05::TmemAddress base = tcgen05::decode_tmem_address(word);
  address.tmem_lane += base.tmem_lane;
  address.tmem_column += base.tmem_column;
  return uniform;
}

TmemCells cells_of(const TmemRegion& region) {
  TmemCells cells = {0, 0, region.first_column, region.columns};
  for (int g = 0; g < tmem_groups; ++g) {
    if ((region.groups >> g & 1) == 0) continue;
    if (cells.lanes == 0) cells.first_lane = g * tmem_group_lanes;
    cells.lanes = (g + 1) * tmem_group_lanes - cells.first_lane;
  }
  return cells;
}

namespace {

int only_lane(const Step& s) { return std::popcount(s.lanes) == 1 ? s.first_lane() : -1; }

}  // namespace

void fail_at_cells(Step& s, Fault fault, int cta, const TmemCells& cells, const Place& earlier,
                   const Place& hint, std::int64_t number) {
  s.c.fail({.fault = fault,
            .at = s.place(only_lane(s)),
            .earlier = earlier,
            .cta = cta,
            .hint = hint,
            .number = number,
            .tmem = cells});
}

namespace {

// By what orders memory, or by a tcgen05.commit of that warp behind its alloc: what the commit tells of was multiplied in
// columns that were there. Inferred: the manual says of a commit that it tracks the asynchronous instructions alone.
bool knows_alloc_of(const Step& s, int warp, Tick epoch, Tick commits) {
  const auto known = [&](Stream stream) {
    return std::max(s.warp.clock.at(stream), s.warp.tmem.observed.at(stream));
  };
  const Stream of_commits = s.c.warp(warp).tmem.commits;  // 0: none so far
  return known(s.c.streams.epochs(warp)) >= epoch ||
         (of_commits != 0 && known(of_commits) > commits);
}

}  // namespace

bool knows_alloc(const Step& s, const TmemAllocated& allocated) {
  return knows_alloc_of(s, allocated.alloc.warp, allocated.epoch, allocated.commits);
}

namespace {

// Allocated, and this warp knows it.
bool columns_usable(Step& s, int cta, const TmemRegion& region) {
  const TmemPool& pool = s.c.pool(cta);
  const TmemCells cells = {0, tcgen05::tmem_lanes, region.first_column, region.columns};
  if (region.first_column < 0 || region.first_column + region.columns > tcgen05::tmem_columns) {
    fail_at_cells(s, Fault::TmemNotAllocated, cta, cells);
    return false;
  }
  for (int column = region.first_column; column < region.first_column + region.columns; ++column) {
    const TmemAllocated* holder = pool.holder(column);
    if (holder == nullptr) {
      const Place& freed = pool.last_dealloc(column);
      const Fault fault = freed.statement >= 0 ? Fault::TmemFreed : Fault::TmemNotAllocated;
      fail_at_cells(s, fault, cta, {0, tcgen05::tmem_lanes, column, 1}, freed);
      return false;
    }
    if (knows_alloc(s, *holder)) continue;
    const bool knows_peers =
        holder->peer_warp >= 0 &&
        knows_alloc_of(s, holder->peer_warp, holder->peer_epoch, holder->peer_commits);
    if (s.c.stops_at({.fault = knows_peers ? Fault::TmemAllocAssumed : Fault::TmemNotAllocated,
                      .at = s.place(only_lane(s)),
                      .earlier = holder->alloc,
                      .cta = cta,
                      .tmem = cells}))
      return false;
  }
  return true;
}

}  // namespace

// --- accesses and their order -----------------------------------------------------------------------

TmemAccess tmem_access(const Step& s, TmemAction action, bool writes) {
  TmemAccess access;
  access.action = action;
  access.writes = writes;
  access.warp = static_cast<std::uint16_t>(s.warp.number);
  access.statement = s.number;
  access.epoch = s.c.epoch(s.warp.number);
  access.commits = s.warp.tmem.commits;
  access.commits_before = s.warp.tmem.commits_issued;
  return access;
}

TmemAccess thread_access(const Step& s, TmemAction action, bool writes,
                         const Tcgen05Thread& thread) {
  TmemAccess access = tmem_access(s, action, writes);
  access.cta_group = static_cast<std::uint8_t>(thread.cta_group);
  access.lane = static_cast<std::int8_t>(thread.lane);
  access.operation = s.c.tcgen05.next_number;
  access.issue = thread.issue;
  access.done = access.waited = thread.done;
  access.tick = thread.issued;
  return access;
}

TmemAccess transfer_access(Step& s, TmemAction action, TmemTransfers& transfers) {
  if (transfers.done == 0) {
    transfers.done = s.c.streams.make();
    transfers.waited = s.c.streams.make();
    transfers.used = s.c.streams.make();
  }
  TmemAccess access = tmem_access(s, action, action == TmemAction::St);
  access.operation = s.c.tcgen05.next_number;
  access.issue = access.done = transfers.done;
  access.waited = transfers.waited;
  access.used = transfers.used;
  access.tick = transfers.issued + 1;
  return access;
}

namespace {

TmemKnowledge tmem_knowledge(const Step& s) {
  return {s.warp.clock, s.warp.tmem.fenced, s.warp.tmem.observed};
}

// Reported; the access goes on as published kernels rely on, unless the caller lets it fail.
void dispute(Step& s, int cta, const TmemConflict& conflict, const TmemAccess& next,
             const TmemKnowledge& knows) {
  const TmemAccess& first = s.c.tcgen05.history[conflict.earlier];
  const TmemDispute dispute = dispute_of(first, next, knows);
  const Fault fault = dispute == TmemDispute::Fence   ? Fault::TmemFenceOmitted
                      : dispute == TmemDispute::Value ? Fault::TmemWaitOmitted
                                                      : Fault::TmemOrderAssumed;
  s.c.stops_at({.fault = fault,
                .at = s.place(only_lane(s)),
                .earlier = {first.statement, first.warp, first.lane},
                .cta = cta,
                .tmem = cells_of(conflict.where)});
}

Fault fault_of_lack(TmemLack lack) {
  switch (lack) {
    case TmemLack::Synchronisation: return Fault::TmemRace;
    case TmemLack::Wait: return Fault::TmemWaitMissing;
    case TmemLack::Completion: return Fault::TmemNotComplete;
    case TmemLack::FenceBefore: return Fault::TmemFenceBeforeMissing;
    case TmemLack::FenceAfter: return Fault::TmemFenceAfterMissing;
  }
  return Fault::TmemRace;
}

void fail_unordered(Step& s, int cta, const TmemConflict& conflict, const TmemAccess& next) {
  const TmemAccess& first = s.c.tcgen05.history[conflict.earlier];
  const Warp& warp = s.c.warp(first.warp);
  const Stream epochs = s.c.streams.epochs(first.warp);
  const TmemLack lack = lack_of(first, next, tmem_knowledge(s), epochs);
  // A commit of its warp that does not track it: of another thread, or of the other cta_group.
  Place hint;
  if (lack == TmemLack::Completion && warp.tmem.commits_issued > first.commits_before)
    for (const Tcgen05Thread& thread : s.c.tcgen05.threads)
      if (thread.done == first.done && thread.committed < first.tick) hint = warp.tmem.last_commit;
  fail_at_cells(s, fault_of_lack(lack), cta, cells_of(conflict.where),
                {first.statement, first.warp, first.lane}, hint);
}

// Told of by releases or acquires of scope .cta alone, which published kernels rely on between CTAs: the stream by which it is known.
const WeakSync* narrow_sync(const Step& s, const TmemAccess& first, Stream& stream) {
  for (const Stream known : {first.done, first.waited, first.used}) {
    const WeakSync* weak = find_weak(s.c, s.warp.lost, s.warp.number, known, first.tick);
    if (known == 0 || weak == nullptr || weak->fault != Fault::ScopeTooNarrow) continue;
    stream = known;
    return weak;
  }
  return nullptr;
}

// What is so known counts as known. False: that was a Fault, or there is no such thing.
bool assume_scope(Step& s, int cta, const TmemConflict& conflict, Clock& clock) {
  const TmemAccess& first = s.c.tcgen05.history[conflict.earlier];
  Stream stream = 0;
  const WeakSync* weak = narrow_sync(s, first, stream);
  if (weak == nullptr || clock.at(stream) >= first.tick) return false;
  clock.raise(stream, first.tick);
  return !s.c.stops_at({.fault = Fault::ScopeAssumed,
                        .at = s.place(only_lane(s)),
                        .earlier = {first.statement, first.warp, first.lane},
                        .cta = cta,
                        .hint = weak->at,
                        .tmem = cells_of(conflict.where)});
}

}  // namespace

bool touch_tmem(Step& s, int cta, const TmemRegion& region, const TmemAccess& access,
                std::vector<std::uint32_t>& before) {
  if (!columns_usable(s, cta, region)) return false;
  TmemHistory& history = s.c.tcgen05.history;
  history.compact();
  const TmemAccessId id = history.add(access);
  const auto record = [&](const TmemKnowledge& knows) {
    const TmemConflict conflict = history.record(cta, region, id, knows, before);
    if (conflict.verdict == TmemVerdict::Disputed) dispute(s, cta, conflict, access, knows);
    return conflict;
  };
  TmemConflict conflict = record(tmem_knowledge(s));
  if (conflict.verdict != TmemVerdict::Unordered) return !s.c.finding;
  Clock clock = s.warp.clock;
  while (conflict.verdict == TmemVerdict::Unordered && assume_scope(s, cta, conflict, clock))
    conflict = record({clock, s.warp.tmem.fenced, s.warp.tmem.observed});
  if (conflict.verdict == TmemVerdict::Unordered && !s.c.finding)
    fail_unordered(s, cta, conflict, access);
  return !s.c.finding;
}

void note_unwritten(Step& s, int cta, const TmemRegion& region) {
  s.c.tcgen05.uninitialized.push_back({.fault = Fault::TmemUninitialized,
                                       .at = s.place(s.first_lane()),
                                       .cta = cta,
                                       .tmem = cells_of(region)});
}

void start_operation(Step& s, Tcgen05Operation operation, MoveTmem* move) {
  operation.move = move;
  operation.number = s.c.tcgen05.next_number++;
  operation.what = s.kept();
  operation.statement = s.number;
  operation.warp = s.warp.number;
  const std::uint32_t number = operation.number;
  s.c.tcgen05.operations.push_back(std::move(operation));
  if (s.c.timing == Timing::Earliest) move_tmem(s.c, number);
}

namespace {

// A ld whose every value was used has read its cells; an older one that was not keeps it back.
void note_ld_used(Step& s, RegisterRange range) {
  auto& unused = s.warp.tmem.unused;
  for (UnusedLoad& load : unused)
    for (std::size_t r = 0; r < load.lanes.size(); ++r) {
      const int reg = load.reg + static_cast<int>(r);
      if (reg >= range.first && reg < range.first + range.count) load.lanes[r] &= ~s.lanes;
    }
  const auto open = std::find_if(unused.begin(), unused.end(), [](const UnusedLoad& load) {
    return std::any_of(load.lanes.begin(), load.lanes.end(), [](auto lanes) { return lanes != 0; });
  });
  if (open == unused.begin()) return;
  s.warp.clock.raise(s.warp.tmem.loads.used, std::prev(open)->tick);
  unused.erase(unused.begin(), open);
}

}  // namespace

void use_registers(Step& s, RegisterRange range, bool reads) {
  std::vector<std::uint32_t> numbers;
  for (const Tcgen05Operation& operation : s.c.tcgen05.operations) {
    if (operation.warp != s.warp.number || operation.action != TmemAction::Ld) continue;
    const auto& ld = std::get<Tcgen05Ld>(*operation.what);
    if (ld.reg < range.first + range.count && range.first < ld.reg + ld.range().count)
      numbers.push_back(operation.number);
  }
  for (const std::uint32_t number : numbers) move_tmem(s.c, number);
  if (reads) note_ld_used(s, range);
  auto& poison = s.warp.tmem.poison;
  for (int r = range.first; r < range.first + range.count; ++r) {
    if (static_cast<std::size_t>(r) >= poison.size()) break;
    PoisonedRegister& found = poison[static_cast<std::size_t>(r)];
    if (reads && (found.lanes & s.lanes) != 0)
      s.c.tcgen05.uninitialized.push_back({.fault = found.fault,
                                           .at = s.place(),
                                           .earlier = found.ld,
                                           .cta = s.warp.cta,
                                           .tmem = found.cells});
    found.lanes = reads ? found.lanes & ~s.lanes : 0;
  }
}

}  // namespace tcq::machine
