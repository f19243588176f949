#include "sim/async/provenance.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <unordered_set>

#include "sim/async/lane_order.h"

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

ByteRange bytes_of_lane(const Access& access, int lane, ByteRange run) {
  if (access.width == 0) return run;
  const std::uint32_t begin =
      access.base + (access.table != nullptr
                         ? access.table[lane]
                         : static_cast<std::uint32_t>(access.stride_bytes * lane));
  return {begin, begin + access.width};
}

int lane_at(const Access& access, std::uint32_t address) {
  const std::uint32_t lanes = lanes_at(access, address);
  return lanes == 0 ? access.lane : std::countr_zero(lanes);
}

// --- the log ---------------------------------------------------------------------------------------

std::size_t AccessLog::bytes() const {
  std::size_t bytes = entries_.size() * sizeof(Access);
  for (const auto& set : sets_) bytes += sizeof set + set.size() * sizeof(AccessId);
  bytes += offsets_.size() * (sizeof(LaneOffsets) + sizeof(Sharing));
  return bytes;
}

namespace {

// Lanes that access the same byte in both are the same lanes, or ordered.
bool is_known_to_lanes_of(const Access& old, const Access& next) {
  if (old.epoch == 0 || old.warp != next.warp || old.epoch <= next.agreed) return true;
  return old.base == next.base && old.stride_bytes == next.stride_bytes &&
         old.width == next.width && old.table == next.table;
}

}  // namespace

// Whoever knows `next` knows `old`, and its fences fence `old`. A load whose values may still be used
// stands for itself.
bool AccessLog::is_covered_by(const Access& old, const Access& next) {
  return old.stream == next.stream && old.kind == next.kind && old.tick <= next.tick &&
         (old.lanes & ~next.lanes) == 0 && old.is_strong == next.is_strong &&
         old.is_narrow == next.is_narrow && (!old.is_strong || old.is_vector == next.is_vector) &&
         is_known_to_lanes_of(old, next) &&
         ((old.kind != AccessKind::CopyReduce && !old.is_red_async) ||
          old.operation == next.operation) &&
         (old.kind != AccessKind::Load || old.loaded != Loaded::Waiting);
}

// Of loads by one warp between two of its barriers the last ones: each costs where many follow.
void AccessLog::keep_few(std::vector<AccessId>& members, const Access& next) const {
  const auto is_alike = [&](AccessId id) {
    const Access& old = entries_[id];
    return old.stream == next.stream && old.kind == next.kind && old.loaded != Loaded::Waiting;
  };
  auto alike = std::count_if(members.begin(), members.end(), is_alike);
  std::erase_if(members, [&](AccessId id) { return is_alike(id) && --alike >= most_alike - 1; });
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
  if (next.epoch != 0 && members.size() > 1) keep_few(members, next);
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

std::size_t AccessLog::Hash::operator()(const LaneOffsets& offsets) const {
  std::uint64_t value = 0;
  for (const std::uint32_t offset : offsets)
    value = (value ^ offset) * std::uint64_t{0x9e3779b97f4a7c15};
  return static_cast<std::size_t>(value ^ value >> 32);
}

void AccessLog::place(Access& access, const LaneOffsets& offsets, int width) {
  const auto found = offsets_.try_emplace(offsets).first;
  access.table = found->first.data();
  access.width = static_cast<std::uint16_t>(width);
  const auto bit = static_cast<std::uint8_t>(1u << std::countr_zero(static_cast<unsigned>(width)));
  Sharing& sharing = found->second;
  if ((sharing.asked & bit) == 0) {
    sharing.asked |= bit;
    LaneOffsets sorted = offsets;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i] - sorted[i - 1] < static_cast<std::uint32_t>(width)) sharing.shared |= bit;
  }
  access.shares_bytes = (sharing.shared & bit) != 0;
}

void AccessLog::drop_offsets() {
  std::unordered_set<const std::uint32_t*> used;
  for (const Access& access : entries_)
    if (access.width != 0 && access.table != nullptr) used.insert(access.table);
  std::erase_if(offsets_, [&](const auto& kept) { return !used.contains(kept.first.data()); });
}

// --- verdicts --------------------------------------------------------------------------------------

bool is_known(const Access& access, ByteRange range, const Clock& clock, const Streams& streams) {
  if (access.tick <= clock.at(access.stream)) return true;
  if (access.epoch == 0 || access.stream != streams.epochs(access.warp)) return false;
  std::uint32_t unknown = 0;
  for (std::uint32_t rest = access.lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Stream stream = streams.lane_epochs(access.warp, lane);
    if (stream == 0 || clock.at(stream) < access.tick) unknown |= 1u << lane;
  }
  if (unknown == 0 || access.width == 0) return unknown == 0;
  for (std::uint32_t address = range.begin; address < range.end; ++address)
    if ((lanes_at(access, address) & unknown) != 0) return false;
  return true;
}

namespace {

// Atomics and reductions of copies race with nobody of their like.
bool is_atomic(const Access& access) {
  return access.is_strong || access.kind == AccessKind::CopyReduce;
}

// As to lanes of one warp; Ordered where that is no question.
Conflict conflict_of_lanes(const Access& earlier, const Access& next, ByteRange run,
                           const Knowledge& knows) {
  if (knows.order == nullptr) return {};
  const bool of_one_warp = earlier.warp == next.warp && earlier.epoch != 0;
  const LanePair pair = of_one_warp ? grade_of_lanes(earlier, next, run, *knows.order)
                                    : grade_of_parts(earlier, next, run, *knows.order);
  if (pair.grade == LaneGrade::Ordered) return {};
  if (pair.grade == LaneGrade::Met && knows.trusts_meetings) return {};
  const Verdict verdict = pair.grade == LaneGrade::Met ? Verdict::LanesMet : Verdict::LanesApart;
  return {verdict, 0, of_one_warp ? pair.bytes : run, pair.next, pair.earlier};
}

// Those of the lanes of its warp that have executed no fence since the access.
std::uint32_t lanes_without_fence(const Access& access, std::uint32_t lanes, const Clock& clock,
                                  const Streams& streams) {
  std::uint32_t unfenced = 0;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Stream stream = streams.lane_fences(access.warp, lane, fenced_memory(access));
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
  for (const FenceClock& fence : knows.at_fence[earlier.is_global])
    if (fence.clock.at(earlier.stream) >= earlier.tick) missing &= ~fence.lanes;
  return missing == 0;
}

// Of one warp: the lanes that access next fenced when all lanes knew of the access, as behind a barrier of them.
bool met_before_fence(const Access& earlier, const Knowledge& knows) {
  std::uint32_t missing = knows.lanes;
  for (const FenceClock& fence : knows.at_fence[earlier.is_global])
    if (earlier.epoch != 0 && earlier.epoch <= fence.agreed) missing &= ~fence.lanes;
  return missing == 0;
}

bool is_used(const Access& load, const Clock& clock) {
  return load.loaded == Loaded::Used && !load.covers_lost &&
         clock.at(load.stream) >= load.operation;
}

// Of two accesses that the warp's clock orders.
Verdict proxy_verdict(const Access& earlier, const Access& next, ByteRange run,
                      const Knowledge& knows, const Streams& streams);

// Who has read the address of an allocation knows that it is there: a copy over it is held against the reads alone.
// Inferred: Triton's kernels for sm_100 bring their first tile to where the address was.
bool is_read_in_between(const Access& earlier, const Access& next, ReaderSet readers) {
  return earlier.is_allocated && readers != 0 && is_async(next.kind) && is_write(next.kind);
}

// In an epoch that is known, as a warp's own are: what a strong read found orders nothing.
bool is_behind(const Access& access, ByteRange run, const Knowledge& knows,
               const Streams& streams) {
  Access executed = access;
  executed.stream = streams.epochs(access.warp);
  executed.tick = access.epoch;
  return is_known(executed, run, knows.clock, streams);
}

// Strong accesses of two CTAs, one of which is strong for its own CTA alone: not morally strong (PTX ISA 9.2, 8.7).
bool is_out_of_scope(const Access& earlier, const Access& next, ByteRange run,
                     const Knowledge& knows, const Streams& streams) {
  return earlier.is_strong && next.is_strong && (earlier.is_narrow || next.is_narrow) &&
         !knows.is_of_cta(earlier.warp) && !is_behind(earlier, run, knows, streams);
}

Conflict conflict_of(const Access& earlier, const Access& next, ByteRange run, ReaderSet readers,
                     const Knowledge& knows, const Streams& streams) {
  if (earlier.is_red_async && next.is_red_async && !is_known(earlier, run, knows.clock, streams))
    return {commute(earlier, next) ? Verdict::Ordered : Verdict::OpenOrder, 0, run};
  if (is_atomic(earlier) && is_atomic(next) && (earlier.is_strong || next.is_strong)) {
    if (is_out_of_scope(earlier, next, run, knows, streams)) return {Verdict::Unordered, 0, run};
    const bool of_one_warp = earlier.warp == next.warp;
    if (!earlier.is_volatile || !next.is_volatile || !of_one_warp) return {};
    return conflict_of_lanes(earlier, next, run, knows);
  }
  if (!is_known(earlier, run, knows.clock, streams)) {
    if (earlier.kind != AccessKind::CopyReduce || next.kind != AccessKind::CopyReduce)
      return {Verdict::Unordered, 0, run};
    return {commute(earlier, next) ? Verdict::Ordered : Verdict::OpenOrder, 0, run};
  }
  const Conflict lanes = conflict_of_lanes(earlier, next, run, knows);
  if (lanes.verdict != Verdict::Ordered || is_read_in_between(earlier, next, readers)) return lanes;
  return {proxy_verdict(earlier, next, run, knows, streams), 0, run};
}

// A store whose thread let an mbarrier track copies behind it, as zeros are stored to what copies leave out of a tile.
bool is_tracked(const Access& store, const Clock& clock, const Streams& streams) {
  const Stream stream = streams.tracked(store.warp);
  return store.stream == streams.epochs(store.warp) && stream != 0 &&
         clock.at(stream) >= store.tick;
}

Verdict proxy_verdict(const Access& earlier, const Access& next, ByteRange run,
                      const Knowledge& knows, const Streams& streams) {
  if (is_async(earlier.kind) || !is_async(next.kind)) return Verdict::Ordered;
  if (is_fenced(earlier, run, knows.clock, streams)) return Verdict::Ordered;
  // A read may also be fenced by the threads that are about to overwrite, a copied byte by those that read it.
  const bool by_next = is_fenced_by_next(earlier, next, knows, streams);
  if (is_write(earlier.kind) && !earlier.is_copied) {
    const bool behind = earlier.warp != next.warp || met_before_fence(earlier, knows);
    if (by_next && behind) return Verdict::FencedByNext;
    if (is_tracked(earlier, knows.clock, streams)) return Verdict::UnfencedCopy;
    const bool is_foreign = next.is_plain_bulk && !knows.is_of_cta(earlier.warp);
    return is_foreign ? Verdict::UnfencedAcquired : Verdict::Unfenced;
  }
  if (by_next) return Verdict::Ordered;
  if (is_write(earlier.kind)) return Verdict::UnfencedCopy;
  if (is_used(earlier, knows.clock)) return Verdict::UnfencedAfterUse;
  return is_performed(earlier, knows.clock, streams) ? Verdict::UnfencedPerformed
                                                     : Verdict::Unfenced;
}

}  // namespace

bool is_performed(const Access& load, const Clock& clock, const Streams& streams) {
  const Stream stream = streams.performed(load.warp);
  return load.stream == streams.epochs(load.warp) && stream != 0 && clock.at(stream) >= load.tick;
}

bool is_fenced(const Access& access, ByteRange range, const Clock& clock, const Streams& streams) {
  if (clock.at(streams.fences(access.warp, fenced_memory(access))) > access.fences) return true;
  const std::uint32_t unfenced = lanes_without_fence(access, access.lanes, clock, streams);
  if (unfenced == 0 || access.width == 0) return unfenced == 0;
  for (std::uint32_t address = range.begin; address < range.end; ++address)
    if ((lanes_at(access, address) & unfenced) != 0) return false;
  return true;
}

// No write of the bytes is known to come before a strong access that depends on what it finds.
bool Provenance::may_be_first(const Cell& cell, ByteRange run, const Access& next,
                              const Knowledge& knows, const AccessLog& log,
                              const Streams& streams) const {
  if (!next.finds || at_launch_ != AtLaunch::Arbitrary) return false;
  if (cell.writer == 0) return true;
  if (!log[cell.writer].is_strong) return false;
  bool is_first = !is_behind(log[cell.writer], run, knows, streams);
  log.for_each(cell.readers, [&](AccessId id) {
    const bool writes = is_write(log[id].kind);
    is_first = is_first && !(writes && is_behind(log[id], run, knows, streams));
  });
  return is_first;
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
    Conflict met = conflict_of(log[id], next, run, cell.readers, knows, streams);
    met.earlier = id;
    if (met.verdict > conflict.verdict) conflict = met;
  };
  if (cell.writer != 0) {
    if (log[cell.writer].kind == AccessKind::BarrierInit)
      return {Verdict::LiveBarrier, cell.writer, run};
    meet(cell.writer);
  }
  if (writes || has_reductions_)
    log.for_each(cell.readers, [&](AccessId id) {
      if (writes || is_write(log[id].kind)) meet(id);
    });
  if (conflict.verdict == Verdict::Ordered && may_be_first(cell, run, next, knows, log, streams))
    return {Verdict::Unwritten, cell.writer, run};
  return conflict;
}

// Neither the access nor those that it meets tell one byte from another.
bool Provenance::is_alike_for_all_bytes(const Cell& cell, AccessId access,
                                        const AccessLog& log) const {
  bool alike = log[access].width == 0 && log[cell.writer].width == 0;
  if (is_write(log[access].kind) || has_reductions_)
    log.for_each(cell.readers, [&](AccessId id) { alike = alike && log[id].width == 0; });
  return alike;
}

Conflict Provenance::check(ByteRange range, AccessId access, const Knowledge& knows,
                           const AccessLog& log, const Streams& streams) const {
  assert(range.begin >= base_ && range.end - base_ <= cells_.size());
  const std::uint32_t end = range.end - base_;
  Conflict mild;
  Passed passed;
  for (std::uint32_t i = range.begin - base_; i < end;) {
    const Cell cell = cells_.at(i);
    const std::uint32_t run_end = cells_.end_of_run(i, end);
    const ByteRange run{base_ + i, base_ + run_end};
    i = run_end;
    if (passed.has(cell)) continue;
    const Conflict conflict = check_cell(cell, run, access, knows, log, streams);
    if (!is_recorded(conflict.verdict)) return conflict;
    if (conflict.verdict > mild.verdict) mild = conflict;
    if (i < end && conflict.verdict == Verdict::Ordered &&
        is_alike_for_all_bytes(cell, access, log))
      passed.add(cell);
  }
  return mild;
}

std::size_t Provenance::record_ordered(std::span<const std::uint32_t> chunks, AccessId access,
                                       const Knowledge& knows, AccessLog& log,
                                       const Streams& streams) {
  constexpr std::uint32_t chunk_bytes = decltype(cells_)::chunk_bytes;
  Passed passed;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    Cell* cell = cells_.whole(chunks[i] - base_);
    if (cell == nullptr) return i;
    if (!passed.has(*cell)) {
      const ByteRange run{chunks[i], chunks[i] + chunk_bytes};
      if (check_cell(*cell, run, access, knows, log, streams).verdict != Verdict::Ordered) return i;
      if (is_alike_for_all_bytes(*cell, access, log)) passed.add(*cell);
    }
    cell->readers = log.with_reader(cell->readers, access);
  }
  return chunks.size();
}

Conflict Provenance::record(ByteRange range, AccessId access, const Knowledge& knows,
                            AccessLog& log, const Streams& streams) {
  const Conflict conflict = check(range, access, knows, log, streams);
  if (!is_recorded(conflict.verdict)) return conflict;
  const bool reduces = is_write(log[access].kind) && is_atomic(log[access]);
  has_reductions_ = has_reductions_ || reduces;
  if (is_write(log[access].kind) && !reduces) {
    overwrite(range, access);
    return conflict;
  }
  const std::uint32_t end = range.end - base_;
  for (std::uint32_t i = range.begin - base_; i < end;) {
    const std::uint32_t run_end = cells_.end_of_run(i, end);
    const Cell cell = cells_.at(i);
    const bool is_first = cell.writer == 0 && reduces && log[access].is_strong;
    cells_.fill(i, run_end,
                {is_first ? access : cell.writer, log.with_reader(cell.readers, access)});
    i = run_end;
  }
  return conflict;
}

AccessId Provenance::only_writer(std::span<const std::uint32_t> chunks) const {
  AccessId writer = 0;
  for (const std::uint32_t chunk : chunks) {
    const Cell* cell = cells_.whole(chunk - base_);
    if (cell == nullptr || (writer != 0 && cell->writer != writer)) return 0;
    writer = cell->writer;
    if (writer == 0) return 0;
  }
  return writer;
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

// In place: nothing moves up.
void Compaction::run() {
  kept_sets_.resize(log_.sets_.size());
  new_id_.assign(log_.entries_.size(), 0);
  AccessId entries = 1;
  for (AccessId id = 1; id < log_.entries_.size(); ++id) {
    if (!kept_[id]) continue;
    new_id_[id] = entries;
    log_.entries_[entries++] = log_.entries_[id];
  }
  log_.entries_.resize(entries);
  new_set_.assign(log_.sets_.size(), 0);
  ReaderSet sets = 1;
  for (std::size_t i = 1; i < log_.sets_.size(); ++i) {
    if (!kept_sets_[i]) continue;
    new_set_[i] = sets | AccessLog::set_bit;
    for (AccessId& id : log_.sets_[i]) id = new_id_[id];
    if (sets != i) log_.sets_[sets] = std::move(log_.sets_[i]);
    ++sets;
  }
  log_.sets_.resize(sets);
  log_.drop_offsets();
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
