#include "sim/machine/provenance.h"

#include <algorithm>
#include <cassert>

namespace tcq::machine {

int lane_at(const Access& access, std::uint32_t address) {
  if (access.width == 0) return access.lane;
  for (int lane = 0; lane < 32; ++lane) {
    if ((access.lanes >> lane & 1) == 0) continue;
    const std::uint32_t first =
        access.base + static_cast<std::uint32_t>(access.stride_bytes * lane);
    if (address >= first && address - first < access.width) return lane;
  }
  return access.lane;
}

// --- the log ---------------------------------------------------------------------------------------

std::size_t AccessLog::bytes() const {
  std::size_t bytes = entries_.size() * sizeof(Access);
  for (const auto& set : sets_) bytes += sizeof set + set.size() * sizeof(AccessId);
  return bytes;
}

// Whoever knows `next` knows `old`, and its fences fence `old`.
bool AccessLog::is_covered_by(const Access& old, const Access& next) const {
  return old.stream == next.stream && old.kind == next.kind && old.tick <= next.tick &&
         (old.lanes & ~next.lanes) == 0;
}

ReaderSet AccessLog::make_set(ReaderSet readers, AccessId access) {
  std::vector<AccessId> members;
  for_each(readers, [&](AccessId id) {
    if (!is_covered_by(entries_[id], entries_[access])) members.push_back(id);
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

bool is_fenced_by_lane(const Access& earlier, std::uint32_t address, const Clock& clock,
                       const Streams& streams) {
  const Stream stream = streams.lane_fences(earlier.warp, lane_at(earlier, address));
  return stream != 0 && clock.at(stream) > earlier.fences;
}

bool is_fenced(const Access& earlier, ByteRange run, const Knowledge& knows,
               const Streams& streams) {
  if (knows.clock.at(streams.fences(earlier.warp)) > earlier.fences) return true;
  // A read may also be fenced by the thread that is about to overwrite.
  if (!is_write(earlier.kind) && knows.at_fence.at(earlier.stream) >= earlier.tick) return true;
  for (std::uint32_t address = run.begin; address < run.end; ++address)
    if (!is_fenced_by_lane(earlier, address, knows.clock, streams)) return false;
  return true;
}

Verdict verdict_on(const Access& earlier, const Access& next, ByteRange run, const Knowledge& knows,
                   const Streams& streams) {
  if (earlier.tick > knows.clock.at(earlier.stream)) return Verdict::Unordered;
  if (!is_async(earlier.kind) && is_async(next.kind) && !is_fenced(earlier, run, knows, streams))
    return Verdict::Unfenced;
  return Verdict::Ordered;
}

}  // namespace

Conflict Provenance::check_cell(const Cell& cell, ByteRange run, AccessId access,
                                const Knowledge& knows, const AccessLog& log,
                                const Streams& streams) const {
  const Access& next = log[access];
  const bool writes = is_write(next.kind);
  if (cell.writer == 0 && !writes) return {Verdict::Unwritten, 0, run};
  Conflict conflict;
  const auto meet = [&](AccessId id) {
    if (conflict.verdict != Verdict::Ordered || id == access) return;
    const Verdict verdict = verdict_on(log[id], next, run, knows, streams);
    if (verdict != Verdict::Ordered) conflict = {verdict, id, run};
  };
  if (cell.writer != 0) {
    if (log[cell.writer].kind == AccessKind::BarrierInit)
      return {Verdict::LiveBarrier, cell.writer, run};
    meet(cell.writer);
  }
  if (writes) log.for_each(cell.readers, meet);
  return conflict;
}

Conflict Provenance::check(ByteRange range, AccessId access, const Knowledge& knows,
                           const AccessLog& log, const Streams& streams) const {
  assert(range.begin >= base_ && range.end - base_ <= cells_.size());
  const std::uint32_t end = range.end - base_;
  Conflict unwritten;
  for (std::uint32_t i = range.begin - base_; i < end;) {
    const Cell cell = cells_.at(i);
    const std::uint32_t run_end = cells_.end_of_run(i, end);
    const ByteRange run{base_ + i, base_ + run_end};
    const Conflict conflict = check_cell(cell, run, access, knows, log, streams);
    if (conflict.verdict == Verdict::Unwritten)
      unwritten = conflict;
    else if (conflict.verdict != Verdict::Ordered)
      return conflict;
    i = run_end;
  }
  return unwritten;
}

Conflict Provenance::record(ByteRange range, AccessId access, const Knowledge& knows,
                            AccessLog& log, const Streams& streams) {
  const Conflict conflict = check(range, access, knows, log, streams);
  if (conflict.verdict != Verdict::Ordered && conflict.verdict != Verdict::Unwritten)
    return conflict;
  if (is_write(log[access].kind)) {
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
