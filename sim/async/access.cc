#include "sim/async/access.h"

#include <algorithm>
#include <utility>

#include "sim/async/gathered.h"
#include "sim/async/lane_sync.h"
#include "sim/async/unused_loads.h"

namespace tcq::machine {

// --- findings --------------------------------------------------------------------------------------

const WeakSync* find_weak(const ClusterState& c, const Clock& lost, int warp, Stream stream,
                          Tick tick, bool frees) {
  if (tick == never || lost.at(stream) < tick) return nullptr;
  const WeakSync* other = nullptr;
  for (const WeakSync& weak : c.weak_syncs) {
    if (weak.lost.at(stream) < tick || (weak.fault == Fault::WarpgroupOrderAssumed && !frees))
      continue;
    if (weak.waits && weak.at.warp == warp) return &weak;
    if (other == nullptr || !weak.waits) other = &weak;
  }
  return other;
}

Fault fault_where_bytes_change_hands(const WeakSync& weak, bool with_writer, bool stays_in_cta) {
  if (weak.fault == Fault::ScopeTooNarrow && with_writer) return Fault::ScopeAssumed;
  const bool meets = weak.fault == Fault::ReleaseMissing && weak.object == cluster_object;
  return meets && stays_in_cta ? Fault::ReleaseAssumed : weak.fault;
}

bool is_known_too_weakly(const Step& s, Stream stream, Tick tick, Fault& fault, Place& hint) {
  const WeakSync* weak = find_weak(s.c, s.warp.lost, s.warp.number, stream, tick);
  if (weak == nullptr) return false;
  fault = weak->fault;
  hint = weak->at;
  return true;
}

namespace {

bool frees_loaded(const Access& earlier, const Access& next) {
  return earlier.kind == AccessKind::Load && !earlier.is_strong && is_write(next.kind);
}

// Or the bytes are an operand that a pair's mma takes from the CTA that wrote it, or into which it was copied, whoever issues.
bool stays_with_writer(const Step& s, const Access& earlier, const Access& next, int cta) {
  if (is_write(next.kind)) return true;
  const bool copied = earlier.kind == AccessKind::CopyWrite;
  return next.kind == AccessKind::Tcgen05Read && (copied || s.c.warp(earlier.warp).cta == cta);
}

// cp.async and st.async are in flight in the generic proxy.
Fault fault_of_generic(const Access& earlier, const Access& next) {
  if (earlier.is_strong != next.is_strong && earlier.tick != never) return Fault::AtomicRace;
  if (next.rewrites && is_one_store(earlier, next) && earlier.tick != never)
    return Fault::EqualStoresRace;
  if (earlier.tick != never) return Fault::DataRace;
  return is_write(earlier.kind) ? Fault::CopyInFlight : Fault::SourceInFlight;
}

// Lanes that arrive for themselves at too narrow a scope hand on what they did: of an access of theirs that is what lacks,
// not that another lane's release leaves it out.
const WeakSync* find_weak_of(const Step& s, const Access& earlier, ByteRange bytes, bool frees) {
  const WeakSync* weak =
      find_weak(s.c, s.warp.lost, s.warp.number, earlier.stream, earlier.tick, frees);
  if (weak == nullptr ||
      (weak->fault != Fault::LaneReleaseMissing && weak->fault != Fault::LaneOrderAssumed))
    return weak;
  const auto own =
      std::find_if(s.c.weak_syncs.begin(), s.c.weak_syncs.end(), [&](const WeakSync& other) {
        return other.fault == Fault::ScopeTooNarrow &&
               is_known(earlier, bytes, other.lost, s.c.streams);
      });
  return own == s.c.weak_syncs.end() ? weak : &*own;
}

// Of two strong accesses the one whose scope does not reach the other.
bool is_too_narrow(const Step& s, const Access& earlier, const Access& next, Place& hint) {
  if (!earlier.is_narrow && !next.is_narrow) return false;
  if (!earlier.is_strong || !next.is_strong) return false;
  hint = next.is_narrow ? s.place() : Place{earlier.statement, earlier.warp, earlier.lane};
  return true;
}

Fault fault_of_unordered(const Step& s, const Conflict& conflict, const Access& next, int cta,
                         Place& hint) {
  const Access& earlier = s.c.log[conflict.earlier];
  if (is_too_narrow(s, earlier, next, hint)) return Fault::ScopeTooNarrow;
  const ByteRange bytes = conflict.bytes;
  if (const WeakSync* weak = find_weak_of(s, earlier, bytes, frees_loaded(earlier, next))) {
    hint = weak->at;
    const bool stays = s.warp.cta == cta && s.c.warp(earlier.warp).cta == cta;
    return fault_where_bytes_change_hands(*weak, stays_with_writer(s, earlier, next, cta), stays);
  }
  const bool writes = is_write(earlier.kind);
  // The other warp was let through too early, and this one rightly takes its bytes.
  const Warp& other = s.c.warp(earlier.warp);
  if (!writes && other.stale_wait.statement >= 0 && s.warp.stale_wait.statement < 0) {
    hint = other.stale_wait;
    return Fault::PhaseStale;
  }
  // A producer's first wait on a fresh mbarrier rightly passes; a reader's does not.
  const bool reads_written = writes && !is_write(next.kind);
  if (s.warp.stale_wait.statement >= 0 && (reads_written || !s.warp.stale_is_fresh)) {
    hint = s.warp.stale_wait;
    return Fault::PhaseStale;
  }
  if (!is_async(earlier.kind)) return fault_of_generic(earlier, next);
  // `operation` of a load is the phase of its mbarrier when it was issued.
  const bool loads = earlier.kind == AccessKind::CopyWrite;
  if (loads && !is_async(next.kind) && s.warp.clock.at(earlier.stream) > earlier.operation)
    return Fault::ExpectTxTooSmall;
  const bool operand = next.kind == AccessKind::WgmmaRead || next.kind == AccessKind::Tcgen05Read;
  if (loads && operand && s.warp.clock.at(earlier.stream) > earlier.operation)
    return Fault::ExpectTxTooSmall;
  return writes ? Fault::CopyInFlight : Fault::SourceInFlight;
}

// 16 bytes are looked at until they have come, and are data and flag in one: a chip moves them together. PTX takes a vector for as
// many accesses as it has elements (8.2.2), in any order.
bool is_polled_vector(const Access& earlier, const Access& next) {
  const Access& strong = earlier.is_strong ? earlier : next;
  const Access& plain = earlier.is_strong ? next : earlier;
  return strong.is_strong && !plain.is_strong && strong.is_vector && plain.is_vector &&
         strong.kind == AccessKind::Load && plain.kind == AccessKind::Store;
}

// Somebody looks at a word while a plain store leaves it as it is: no reader can tell whether that has come.
bool is_unchanged_word(const Access& earlier, const Access& next) {
  const Access& strong = earlier.is_strong ? earlier : next;
  const Access& plain = earlier.is_strong ? next : earlier;
  return strong.is_strong && strong.kind == AccessKind::Load && plain.rewrites;
}

Fault fault_of_global(const Step& s, const Conflict& conflict, const Access& next, Place& hint) {
  const Access& earlier = s.c.log[conflict.earlier];
  if (is_too_narrow(s, earlier, next, hint)) return Fault::ScopeTooNarrow;
  if (is_polled_vector(earlier, next)) return Fault::VectorPollAssumed;
  if (is_unchanged_word(earlier, next)) return Fault::UnchangedStoreRace;
  if (const WeakSync* weak = find_weak_of(s, earlier, conflict.bytes, false)) {
    hint = weak->at;
    return weak->fault;
  }
  // A relaxed write of its CTA behind a barrier of it, which this thread has seen.
  const bool loaded = earlier.kind == AccessKind::Load && !earlier.is_strong;
  if (loaded && is_write(next.kind) && !is_async(next.kind) &&
      is_performed(earlier, s.warp.lost, s.c.streams))
    return Fault::PerformedAssumed;
  if (!is_async(earlier.kind)) return fault_of_generic(earlier, next);
  return is_write(earlier.kind) ? Fault::CopyInFlight : Fault::SourceInFlight;
}

// Lanes of one warp; or of what only another lane of it knows, who waited.
Fault fault_of_lanes(const Step& s, const Access& earlier, const Access& next, Place& hint) {
  const LanePart* part = knowing_part(s.warp.order_of_lanes, earlier.stream, earlier.tick);
  if (earlier.warp == next.warp && earlier.epoch != 0)
    return earlier.is_strong != next.is_strong ? Fault::AtomicRace : Fault::LaneRace;
  if (part != nullptr) hint = part->at;
  return Fault::LaneAcquireMissing;
}

Fault fault_of(const Step& s, const Conflict& conflict, const Access& next, int cta, Place& hint) {
  const Access& earlier = s.c.log[conflict.earlier];
  switch (conflict.verdict) {
    case Verdict::Ordered: return Fault::None;
    case Verdict::Unwritten: return Fault::SharedUninitialized;
    case Verdict::LiveBarrier: {
      const bool initialises = next.kind == AccessKind::BarrierInit;
      const bool same = s.c.find_slot(cta, conflict.bytes.begin & ~7u) >= 0 && initialises;
      return same ? Fault::MbarrierReinitialized : Fault::MbarrierOverwritten;
    }
    case Verdict::UnfencedAfterUse: return Fault::ProxyFenceMissingUsed;
    case Verdict::UnfencedPerformed: return Fault::ProxyFenceMissingPerformed;
    case Verdict::UnfencedCopy: return Fault::ProxyFenceMissingCopied;
    case Verdict::UnfencedAcquired: return Fault::ProxyFenceMissingAcquired;
    case Verdict::FencedByNext: return Fault::ProxyFenceByReader;
    case Verdict::OpenOrder: return Fault::ReductionOrder;
    case Verdict::LanesMet:
      return next.rewrites && is_one_store(earlier, next) ? Fault::EqualStoresRace
                                                          : Fault::LaneOrderAssumed;
    case Verdict::LanesApart: return fault_of_lanes(s, earlier, next, hint);
    case Verdict::Unfenced:
      return is_write(earlier.kind) ? Fault::ProxyFenceMissing : Fault::ProxyFenceMissingAfterRead;
    case Verdict::Unordered:
      return cta == global_memory ? fault_of_global(s, conflict, next, hint)
                                  : fault_of_unordered(s, conflict, next, cta, hint);
  }
  return Fault::None;
}

// A wgmma is the whole warp's.
int lane_of(const Access& access, std::uint32_t address) {
  return access.kind == AccessKind::WgmmaRead ? -1 : lane_at(access, address);
}

// A write meets a read that came before it and found nothing: the read is the one that is wrong.
Finding finding_of_unwritten(const Step& s, const Conflict& conflict, const UnwrittenRead& read,
                             AccessId write) {
  const Access& writer = s.c.log[write];
  const Access& read_access = s.c.log[read.access];
  Finding finding = read.finding;
  finding.fault = read.stale_wait.statement >= 0 ? Fault::PhaseStale
                  : !is_async(writer.kind)       ? fault_of_generic(writer, read_access)
                  : read.waited                  ? Fault::ExpectTxTooSmall
                                                 : Fault::CopyInFlight;
  finding.hint = read.stale_wait;
  finding.earlier = {writer.statement, writer.warp, lane_of(writer, conflict.bytes.begin)};
  finding.earlier_kind = writer.kind;
  finding.bytes = conflict.bytes;
  return finding;
}

Finding finding_of(const Step& s, const Conflict& conflict, AccessId access, int cta) {
  const Access& next = s.c.log[access];
  Finding finding;
  finding.fault = Fault::SharedUninitialized;
  finding.at = s.place(lane_of(next, conflict.bytes.begin));
  finding.at_kind = next.kind;
  finding.cta = cta;
  finding.bytes = conflict.bytes;
  finding.wait = s.warp.last_wait;
  return finding;
}
void add_earlier(Finding& finding, const Step& s, const Conflict& conflict) {
  const Access& earlier = s.c.log[conflict.earlier];
  finding.earlier = {earlier.statement, earlier.warp, lane_of(earlier, conflict.bytes.begin)};
  if (conflict.lane >= 0) finding.at.lane = conflict.lane;
  if (conflict.earlier_lane >= 0) finding.earlier.lane = conflict.earlier_lane;
  finding.earlier_kind = earlier.kind;
}

// What two accesses that meet are, where they are not in order.
Finding finding_of_both(const Step& s, const Conflict& conflict, AccessId access, int cta) {
  Finding finding = finding_of(s, conflict, access, cta);
  finding.fault = fault_of(s, conflict, s.c.log[access], cta, finding.hint);
  add_earlier(finding, s, conflict);
  if (cta != global_memory && conflict.verdict == Verdict::Unordered &&
      assume_gathered(s.c, conflict, access, finding))
    return finding;
  for (const UnwrittenRead& read : s.c.unwritten_reads)
    if (read.racing == 0 && read.access != 0 && read.access == conflict.earlier &&
        read.finding.earlier.statement < 0)
      return finding_of_unwritten(s, conflict, read, access);
  return finding;
}

// Aside: a race of a load that is noted, not judged (unused_loads.h). Unread: of stores whose bytes nobody has read yet.
enum class How : std::uint8_t { GoesOn, Aside, Unread, Ends };
struct Settled {
  How how = How::GoesOn;
  int race = -1;  // Aside: its number
};

// Of a race of a load: is its value followed, so that it may be put aside?
bool may_be_put_aside(const Step& s, const Finding& finding, const Access& earlier,
                      const Access& next) {
  if (!s.c.notes_racing_loads || !is_race_of_load(finding)) return false;
  return may_be_unused(s.c, is_write(next.kind) ? earlier : next, finding.bytes);
}

// st of shared memory, both, whose bytes an executor follows.
bool is_race_of_stores(const Finding& finding, const Access& earlier, const Access& next) {
  const bool races = finding.fault == Fault::DataRace || finding.fault == Fault::LaneRace;
  const bool are_stores =
      finding.at_kind == AccessKind::Store && finding.earlier_kind == AccessKind::Store;
  return races && are_stores && finding.cta != global_memory && earlier.is_followed &&
         next.is_followed;
}

Settled settle(Step& s, const Conflict& conflict, AccessId access, int cta) {
  using enum How;
  if (conflict.verdict == Verdict::Ordered) return {GoesOn};
  if (conflict.verdict == Verdict::Unwritten) {
    Finding finding = finding_of(s, conflict, access, cta);
    if (conflict.earlier != 0) add_earlier(finding, s, conflict);
    s.c.unwritten_reads.push_back(
        {access, std::move(finding), s.warp.stale_wait, s.warp.waits_passed > 0});
    return {GoesOn};
  }
  Finding finding = finding_of_both(s, conflict, access, cta);
  if (may_be_put_aside(s, finding, s.c.log[conflict.earlier], s.c.log[access]))
    return {Aside, s.c.racing_loads.number_of(finding)};
  if (is_race_of_stores(finding, s.c.log[conflict.earlier], s.c.log[access])) return {Unread};
  return {s.c.stops_at(std::move(finding)) ? Ends : GoesOn};
}

// The load of the two is noted; a store takes the bytes, and every other load that meets it is noted at once. False: too many.
template <class Memory>
bool put_aside(Memory& memory, Step& s, const Conflict& conflict, AccessId access, int race,
               int cta) {
  const Access& next = s.c.log[access];
  const Access& earlier = s.c.log[conflict.earlier];
  const ByteRange bytes = conflict.bytes;
  s.c.racing_loads.note_put_aside();
  if (!is_write(next.kind))
    return note_racing_load(s.c, {next, earlier, race}, next.tick, cta, bytes);
  const auto note = [&](const Access& load) {
    const Tick known = s.warp.clock.at(load.stream);
    return note_racing_load(s.c, {load, next, race}, known, cta, bytes);
  };
  bool all = note(earlier);
  memory.for_each_reader(bytes, s.c.log, [&](AccessId id) {
    const Access& reader = s.c.log[id];
    const bool races =
        may_be_unused(s.c, reader, bytes) && !is_known(reader, bytes, s.warp.clock, s.c.streams);
    if (races) all = all && note(reader);
  });
  memory.overwrite(bytes, access);
  return all;
}

// The second store takes the bytes, and whoever uses them the race. False if that was a Fault: somebody has read them.
template <class Memory>
bool leave_unread(Memory& memory, Step& s, const Conflict& conflict, AccessId access, int cta) {
  const Finding race = finding_of_both(s, conflict, access, cta);
  bool is_read = false;
  memory.for_each_reader(conflict.bytes, s.c.log, [&](AccessId) { is_read = true; });
  if (is_read) return s.c.fail(race), false;
  if (!note_unread_stores(s.c, race, access)) return false;
  memory.overwrite(conflict.bytes, access);
  return true;
}

// Ordered by what a relaxed read found and a barrier of the CTA alone made known (Assumed). False if that was a Fault.
template <class Memory>
bool settle_assumed(const Memory& memory, Step& s, AccessId access, int cta, ByteRange bytes) {
  if (s.warp.assumed.known.size() == 0) return true;
  const bool is_said =
      std::any_of(s.c.suspicions.begin(), s.c.suspicions.end(), [&](const Finding& f) {
        return f.fault == Fault::AcquireAssumed && f.at.statement == s.number;
      });
  if (is_said) return true;
  const Clock firm = firm_clock(s.warp);
  const Conflict conflict = memory.check(bytes, access, s.knowledge(firm), s.c.log, s.c.streams);
  const bool is_assumed =
      conflict.verdict == Verdict::Unordered &&
      is_known(s.c.log[conflict.earlier], conflict.bytes, s.warp.clock, s.c.streams);
  if (!is_assumed) return true;
  Finding finding = finding_of(s, conflict, access, cta);
  finding.fault = Fault::AcquireAssumed;
  finding.hint = s.warp.assumed.at;
  add_earlier(finding, s, conflict);
  return !s.c.stops_at(std::move(finding));
}

// How far a stream is known by weak syncs that published kernels rely on.
Tick relied_on(const Step& s, const Access& earlier, const Access& next, int cta, Stream stream) {
  Tick tick = 0;
  for (const WeakSync& weak : s.c.weak_syncs) {
    if (weak.fault == Fault::WarpgroupOrderAssumed && !frees_loaded(earlier, next)) continue;
    const bool stays = s.warp.cta == cta && s.c.warp(weak.at.warp).cta == cta;
    const bool with_writer = stays_with_writer(s, earlier, next, cta);
    const Fault fault = fault_where_bytes_change_hands(weak, with_writer, stays);
    if (info(fault).kind == FaultKind::Disputed)
      tick = std::max(tick, std::min(weak.lost.at(stream), s.warp.lost.at(stream)));
  }
  return tick;
}

// The earlier access, and the proxy fences of its warp that came with it; nothing else.
void take_as_known(const Step& s, const Access& earlier, const Access& next, int cta,
                   Clock& clock) {
  clock.raise(earlier.stream, earlier.tick);
  const auto fences = [&](Stream stream) {
    if (stream != 0) clock.raise(stream, relied_on(s, earlier, next, cta, stream));
  };
  fences(s.c.streams.fences(earlier.warp, fenced_memory(earlier)));
  for (int lane = 0; lane < warp_threads; ++lane)
    fences(s.c.streams.lane_fences(earlier.warp, lane, fenced_memory(earlier)));
  // Of a write that another warp of the warpgroup made: it has fenced it, or owes that (gathered.h).
  if (next.kind == AccessKind::WgmmaRead)
    clock.raise(s.c.streams.fences(earlier.warp, fenced_memory(earlier)), earlier.fences + 1);
}

// Where that rests on what published kernels rely on, so may that the values of a load were used by then.
void take_use_as_known(const Step& s, const Access& earlier, const Access& next, int cta,
                       Clock& clock) {
  if (earlier.kind != AccessKind::Load || earlier.loaded != Loaded::Used) return;
  if (relied_on(s, earlier, next, cta, earlier.stream) >= earlier.operation)
    clock.raise(earlier.stream, earlier.operation);
}

}  // namespace

// --- accesses --------------------------------------------------------------------------------------

Access generic_access(const Step& s, AccessKind kind) {
  Access access;
  access.kind = kind;
  access.lane = static_cast<std::uint8_t>(s.first_lane());
  access.warp = static_cast<std::uint16_t>(s.warp.number);
  access.statement = s.number;
  access.stream = s.c.streams.epochs(s.warp.number);
  access.tick = s.warp.clock.at(access.stream);
  access.fences = s.warp.fences;
  access.lanes = s.lanes;
  if (kind == AccessKind::Load) access.loaded = Loaded::Waiting;
  return access;
}

namespace {

// What is disputed counts as ordered from then on, one earlier access after the other.
template <class Memory>
bool record_in(Memory& memory, Step& s, AccessId access, int cta, ByteRange bytes) {
  if (bytes.begin == bytes.end) return true;
  if (!settle_assumed(memory, s, access, cta, bytes)) return false;
  Conflict conflict = memory.record(bytes, access, s.knowledge(), s.c.log, s.c.streams);
  const auto rest = [&](ByteRange left) { return record_in(memory, s, access, cta, left); };
  const auto is_settled = [&](const Settled& settled) {
    if (settled.how == How::GoesOn || settled.how == How::Ends) return settled.how == How::GoesOn;
    if (settled.how == How::Unread) {
      if (!leave_unread(memory, s, conflict, access, cta)) return false;
    } else if (!put_aside(memory, s, conflict, access, settled.race, cta))
      return s.c.fail(s.c.racing_loads.races()[static_cast<std::size_t>(settled.race)]), false;
    return rest({bytes.begin, conflict.bytes.begin}) && rest({conflict.bytes.end, bytes.end});
  };
  Settled settled = settle(s, conflict, access, cta);
  if (settled.how != How::GoesOn || is_recorded(conflict.verdict)) return is_settled(settled);
  Clock clock = s.warp.clock;
  bool trusts_meetings = false;
  while (!is_recorded(conflict.verdict)) {
    if (conflict.verdict == Verdict::LanesMet)
      trusts_meetings = true;
    else
      take_as_known(s, s.c.log[conflict.earlier], s.c.log[access], cta, clock);
    take_use_as_known(s, s.c.log[conflict.earlier], s.c.log[access], cta, clock);
    Knowledge knows = s.knowledge(clock);
    knows.trusts_meetings = trusts_meetings;
    conflict = memory.record(bytes, access, knows, s.c.log, s.c.streams);
    settled = settle(s, conflict, access, cta);
    if (settled.how != How::GoesOn) return is_settled(settled);
  }
  return true;
}

}  // namespace

bool record(Step& s, AccessId access, int cta, ByteRange bytes) {
  Access& a = s.c.log[access];
  a.is_of_peer = cta != s.warp.cta;
  const bool is_unfollowed = is_async(a.kind) || a.is_strong || !a.is_followed;
  if (!is_write(a.kind) && is_unfollowed) use_undefined(s.c, cta, bytes);
  return record_in(s.c.cta(cta).provenance, s, access, cta, bytes);
}

bool record_global(Step& s, AccessId access, ByteRange bytes) {
  s.c.log[access].is_global = true;
  if (!s.c.global_provenance.may_be_written(bytes)) return true;
  if (is_write(s.c.log[access].kind)) s.c.global.keep(bytes);
  return record_in(s.c.global_provenance, s, access, global_memory, bytes);
}

std::size_t record_ordered(Step& s, AccessId access, std::span<const std::uint32_t> chunks) {
  if (s.warp.assumed.known.size() != 0 || !s.c.undefined_bytes.empty()) return 0;
  return s.cta().provenance.record_ordered(chunks, access, s.knowledge(), s.c.log, s.c.streams);
}

// --- which CTA -------------------------------------------------------------------------------------

bool cta_runs(Step& s, int cta, int lane) {
  if (cta < 0 || cta >= static_cast<int>(s.c.ctas.size())) {
    s.fail(Fault::CtaRankOutOfRange, lane, cta);
    return false;
  }
  if (cta != s.warp.cta && s.c.cta(cta).running_warps == 0) {
    s.c.fail({.fault = Fault::CtaExited, .at = s.place(lane), .cta = cta});
    return false;
  }
  return true;
}

bool reach_cta(Step& s, int cta, int lane) {
  if (!cta_runs(s, cta, lane)) return false;
  if (cta == s.warp.cta) return true;
  const Stream stream = s.c.streams.epochs(s.warp.number);
  s.c.note_exit_use(cta, {stream, s.warp.clock.at(stream), s.place(lane), {}, true});
  return true;
}

bool has_started(Step& s, int cta, int lane) {
  if (s.warp.clock.at(s.c.cta(cta).start) > 0) return true;
  s.c.fail({.fault = Fault::CtaNotStarted, .at = s.place(lane), .cta = cta, .number = cta});
  return false;
}

// Whoever has arrived has started, whatever the arrival released.
void learn_starts(Step& s) {
  for (const Cta& cta : s.c.ctas)
    if (s.warp.tmem.observed.at(cta.start) > 0) s.warp.clock.raise(cta.start, 1);
}

}  // namespace tcq::machine
