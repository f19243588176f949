#include "sim/async/provenance.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace tcq::machine {

std::uint32_t lanes_at(const Access& access, std::uint32_t address) {
  if (access.width == 0) return access.lanes;
  std::uint32_t lanes = 0;
  for (std::uint32_t rest = access.lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint32_t offset = access.table != nullptr
                                     ? access.table[lane]
                                     : static_cast<std::uint32_t>(access.stride_bytes * lane);
    if (address - (access.base + offset) < access.width) lanes |= 1u << lane;
  }
  return lanes;
}

int lane_at(const Access& access, std::uint32_t address) {
  const std::uint32_t lanes = lanes_at(access, address);
  return lanes == 0 ? access.lane : std::countr_zero(lanes);
}

// --- the log ---------------------------------------------------------------------------------------

std::size_t AccessLog::bytes() const {
  std::size_t bytes = entries_.size() * sizeof(Access);
  for (const auto& set : sets_) bytes += sizeof set + set.size() * sizeof(AccessId);
  return bytes;
}

// Whoever knows `next` knows `old`, and its fences fence `old`. A load whose values may still be used
// stands for itself.
bool AccessLog::is_covered_by(const Access& old, const Access& next) {
  return old.stream == next.stream && old.kind == next.kind && old.tick <= next.tick &&
         (old.lanes & ~next.lanes) == 0 &&
         (old.kind != AccessKind::CopyReduce || old.operation == next.operation) &&
         (old.kind != AccessKind::Load || old.loaded != Loaded::Waiting);
}

ReaderSet AccessLog::make_set(ReaderSet readers, AccessId access) {
  std::vector<AccessId> members;
  Access& next = entries_[access];
  for_each(readers, [&](AccessId id) {
    const Access& old = entries_[id];
    if (!is_covered_by(old, next)) return members.push_back(id);
    next.covers_lost = next.covers_lost || old.covers_lost || old.loaded == Loaded::Lost;
  });
  if (members.empty()) return access;
  members.push_back(access);
  sets_.push_back(std::move(members));
  return static_cast<ReaderSet>(sets_.size() - 1) | set_bit;
}

ReaderSet AccessLog::with_reader(ReaderSet readers, AccessId access) {
  if (readers == 0 || readers == access) return access;
  if (is_set(readers) && sets_[readers & ~set_bit].back() == access) return readers;
  if (readers != memo_readers_ || access != memo_access_) {
    memo_readers_ = readers;
    memo_access_ = access;
    memo_result_ = make_set(readers, access);
  }
  return memo_result_;
}

// --- verdicts --------------------------------------------------------------------------------------

namespace {

// Those of the lanes of its warp that have executed no fence since the access.
std::uint32_t lanes_without_fence(const Access& access, std::uint32_t lanes, const Clock& clock,
                                  const Streams& streams) {
  std::uint32_t unfenced = 0;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Stream stream = streams.lane_fences(access.warp, lane);
    if (stream == 0 || clock.at(stream) <= access.fences) unfenced |= 1u << lane;
  }
  return unfenced;
}

// By all lanes that are about to access. Within a warp an epoch does not tell which came first.
bool is_fenced_by_next(const Access& earlier, const Access& next, const Knowledge& knows,
                       const Streams& streams) {
  if (earlier.warp == next.warp)
    return lanes_without_fence(earlier, knows.lanes, knows.clock, streams) == 0;
  std::uint32_t missing = knows.lanes;
  for (const FenceClock& fence : knows.at_fence)
    if (fence.clock.at(earlier.stream) >= earlier.tick) missing &= ~fence.lanes;
  return missing == 0;
}

bool is_used(const Access& load, const Clock& clock) {
  return load.loaded == Loaded::Used && !load.covers_lost &&
         clock.at(load.stream) >= load.operation;
}

Verdict verdict_on(const Access& earlier, const Access& next, ByteRange run, const Knowledge& knows,
                   const Streams& streams) {
  if (earlier.tick > knows.clock.at(earlier.stream)) {
    if (earlier.kind != AccessKind::CopyReduce || next.kind != AccessKind::CopyReduce)
      return Verdict::Unordered;
    return commute(earlier, next) ? Verdict::Ordered : Verdict::OpenOrder;
  }
  if (is_async(earlier.kind) || !is_async(next.kind)) return Verdict::Ordered;
  if (is_fenced(earlier, run, knows.clock, streams)) return Verdict::Ordered;
  if (is_write(earlier.kind) && !earlier.is_copied) return Verdict::Unfenced;
  // A read may also be fenced by the threads that are about to overwrite, a copied byte by those that read it.
  if (is_fenced_by_next(earlier, next, knows, streams)) return Verdict::Ordered;
  if (is_write(earlier.kind)) return Verdict::Unfenced;
  return is_used(earlier, knows.clock) ? Verdict::UnfencedAfterUse : Verdict::Unfenced;
}

}  // namespace

bool is_fenced(const Access& access, ByteRange range, const Clock& clock, const Streams& streams) {
  if (clock.at(streams.fences(access.warp)) > access.fences) return true;
  const std::uint32_t unfenced = lanes_without_fence(access, access.lanes, clock, streams);
  if (unfenced == 0 || access.width == 0) return unfenced == 0;
  for (std::uint32_t address = range.begin; address < range.end; ++address)
    if ((lanes_at(access, address) & unfenced) != 0) return false;
  return true;
}

Conflict Provenance::check_cell(const Cell& cell, ByteRange run, AccessId access,
                                const Knowledge& knows, const AccessLog& log,
                                const Streams& streams) const {
  const Access& next = log[access];
  const bool writes = is_write(next.kind);
  if (cell.writer == 0 && !writes && at_launch_ == AtLaunch::Arbitrary)
    return {Verdict::Unwritten, 0, run};
  Conflict conflict;
  const auto meet = [&](AccessId id) {
    if (!is_recorded(conflict.verdict) || id == access) return;
    const Verdict verdict = verdict_on(log[id], next, run, knows, streams);
    if (verdict > conflict.verdict) conflict = {verdict, id, run};
  };
  if (cell.writer != 0) {
    if (log[cell.writer].kind == AccessKind::BarrierInit)
      return {Verdict::LiveBarrier, cell.writer, run};
    meet(cell.writer);
  }
  if (writes || has_reductions_)
    log.for_each(cell.readers, [&](AccessId id) {
      if (writes || log[id].kind == AccessKind::CopyReduce) meet(id);
    });
  return conflict;
}

Conflict Provenance::check(ByteRange range, AccessId access, const Knowledge& knows,
                           const AccessLog& log, const Streams& streams) const {
  assert(range.begin >= base_ && range.end - base_ <= cells_.size());
  const std::uint32_t end = range.end - base_;
  Conflict mild;
  for (std::uint32_t i = range.begin - base_; i < end;) {
    const Cell cell = cells_.at(i);
    const std::uint32_t run_end = cells_.end_of_run(i, end);
    const ByteRange run{base_ + i, base_ + run_end};
    const Conflict conflict = check_cell(cell, run, access, knows, log, streams);
    if (!is_recorded(conflict.verdict)) return conflict;
    if (conflict.verdict > mild.verdict) mild = conflict;
    i = run_end;
  }
  return mild;
}

Conflict Provenance::record(ByteRange range, AccessId access, const Knowledge& knows,
                            AccessLog& log, const Streams& streams) {
  const Conflict conflict = check(range, access, knows, log, streams);
  if (!is_recorded(conflict.verdict)) return conflict;
  const bool reduces = log[access].kind == AccessKind::CopyReduce;
  has_reductions_ = has_reductions_ || reduces;
  if (is_write(log[access].kind) && !reduces) {
    overwrite(range, access);
    return conflict;
  }
  const std::uint32_t end = range.end - base_;
  for (std::uint32_t i = range.begin - base_; i < end;) {
    const std::uint32_t run_end = cells_.end_of_run(i, end);
    const Cell cell = cells_.at(i);
    cells_.fill(i, run_end, {cell.writer, log.with_reader(cell.readers, access)});
    i = run_end;
  }
  return conflict;
}

void Provenance::overwrite(ByteRange range, AccessId access) {
  cells_.fill(range.begin - base_, range.end - base_, {access, 0});
}

// --- compaction ------------------------------------------------------------------------------------

void Compaction::keep(Provenance& memory) {
  kept_sets_.resize(log_.sets_.size());
  memory.cells_.for_each([&](const auto& cell) {
    kept_[cell.writer] = true;
    if (AccessLog::is_set(cell.readers)) kept_sets_[cell.readers & ~AccessLog::set_bit] = true;
    log_.for_each(cell.readers, [&](AccessId id) { kept_[id] = true; });
  });
}

void Compaction::run() {
  kept_sets_.resize(log_.sets_.size());
  new_id_.assign(log_.entries_.size(), 0);
  std::vector<Access> entries(1);
  for (AccessId id = 1; id < log_.entries_.size(); ++id) {
    if (!kept_[id]) continue;
    new_id_[id] = static_cast<AccessId>(entries.size());
    entries.push_back(log_.entries_[id]);
  }
  new_set_.assign(log_.sets_.size(), 0);
  std::vector<std::vector<AccessId>> sets(1);
  for (std::size_t i = 1; i < log_.sets_.size(); ++i) {
    if (!kept_sets_[i]) continue;
    new_set_[i] = static_cast<ReaderSet>(sets.size()) | AccessLog::set_bit;
    sets.push_back(std::move(log_.sets_[i]));
    for (AccessId& id : sets.back()) id = new_id_[id];
  }
  log_.entries_ = std::move(entries);
  log_.sets_ = std::move(sets);
  log_.memo_readers_ = log_.memo_access_ = log_.memo_result_ = 0;
}

void Compaction::renumber(Provenance& memory) const {
  memory.cells_.for_each([&](auto& cell) {
    cell.writer = new_id_[cell.writer];
    const bool is_set = AccessLog::is_set(cell.readers);
    cell.readers = is_set ? new_set_[cell.readers & ~AccessLog::set_bit] : new_id_[cell.readers];
  });
}

}  // namespace tcq::machine
