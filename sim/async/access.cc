#include "sim/async/access.h"

#include <utility>

namespace tcq::machine {

// --- findings --------------------------------------------------------------------------------------

const WeakSync* find_weak(const ClusterState& c, const Clock& lost, int warp, Stream stream,
                          Tick tick) {
  if (tick == never || lost.at(stream) < tick) return nullptr;
  const WeakSync* other = nullptr;
  for (const WeakSync& weak : c.weak_syncs) {
    if (weak.lost.at(stream) < tick) continue;
    if (weak.waits && weak.at.warp == warp) return &weak;
    if (other == nullptr || !weak.waits) other = &weak;
  }
  return other;
}

bool is_known_too_weakly(const Step& s, Stream stream, Tick tick, Fault& fault, Place& hint) {
  const WeakSync* weak = find_weak(s.c, s.warp.lost, s.warp.number, stream, tick);
  if (weak == nullptr) return false;
  fault = weak->fault;
  hint = weak->at;
  return true;
}

namespace {

Fault fault_of_unordered(const Step& s, const Access& earlier, const Access& next, Place& hint) {
  Fault weak = Fault::None;
  if (is_known_too_weakly(s, earlier.stream, earlier.tick, weak, hint)) return weak;
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
  if (!is_async(earlier.kind)) return Fault::DataRace;
  // `operation` of a load is the phase of its mbarrier when it was issued.
  if (writes && !is_async(next.kind) && s.warp.clock.at(earlier.stream) > earlier.operation)
    return Fault::ExpectTxTooSmall;
  const bool operand = next.kind == AccessKind::WgmmaRead || next.kind == AccessKind::Tcgen05Read;
  if (writes && operand && s.warp.clock.at(earlier.stream) > earlier.operation)
    return Fault::ExpectTxTooSmall;
  return writes ? Fault::CopyInFlight : Fault::SourceInFlight;
}

Fault fault_of_global(const Step& s, const Conflict& conflict, Place& hint) {
  const Access& earlier = s.c.log[conflict.earlier];
  Fault weak = Fault::None;
  if (is_known_too_weakly(s, earlier.stream, earlier.tick, weak, hint)) return weak;
  if (!is_async(earlier.kind)) return Fault::DataRace;
  return is_write(earlier.kind) ? Fault::CopyInFlight : Fault::SourceInFlight;
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
    case Verdict::OpenOrder: return Fault::ReductionOrder;
    case Verdict::Unfenced:
      return is_write(earlier.kind) ? Fault::ProxyFenceMissing : Fault::ProxyFenceMissingAfterRead;
    case Verdict::Unordered:
      return cta == global_memory ? fault_of_global(s, conflict, hint)
                                  : fault_of_unordered(s, earlier, next, hint);
  }
  return Fault::None;
}

// A wgmma is the whole warp's.
int lane_of(const Access& access, std::uint32_t address) {
  return access.kind == AccessKind::WgmmaRead ? -1 : lane_at(access, address);
}

// A write meets a read that came before it and found nothing: the read is the one that is wrong.
void fail_unwritten_read(Step& s, const Conflict& conflict, const UnwrittenRead& read,
                         AccessId write) {
  const Access& writer = s.c.log[write];
  Finding finding = read.finding;
  finding.fault = read.stale_wait.statement >= 0 ? Fault::PhaseStale
                  : !is_async(writer.kind)       ? Fault::DataRace
                  : read.waited                  ? Fault::ExpectTxTooSmall
                                                 : Fault::CopyInFlight;
  finding.hint = read.stale_wait;
  finding.earlier = {writer.statement, writer.warp, lane_of(writer, conflict.bytes.begin)};
  finding.earlier_kind = writer.kind;
  finding.bytes = conflict.bytes;
  s.c.fail(std::move(finding));
}

// False if the access was a Fault.
bool settle(Step& s, const Conflict& conflict, AccessId access, int cta) {
  if (conflict.verdict == Verdict::Ordered) return true;
  const Access& next = s.c.log[access];
  Finding finding;
  finding.fault = Fault::SharedUninitialized;
  finding.at = s.place(lane_of(next, conflict.bytes.begin));
  finding.at_kind = next.kind;
  finding.cta = cta;
  finding.bytes = conflict.bytes;
  finding.wait = s.warp.last_wait;
  if (conflict.verdict == Verdict::Unwritten) {
    s.c.unwritten_reads.push_back(
        {access, std::move(finding), s.warp.stale_wait, s.warp.waits_passed > 0});
    return true;
  }
  for (const UnwrittenRead& read : s.c.unwritten_reads) {
    if (read.access != conflict.earlier) continue;
    fail_unwritten_read(s, conflict, read, access);
    return false;
  }
  const Access& earlier = s.c.log[conflict.earlier];
  finding.fault = fault_of(s, conflict, next, cta, finding.hint);
  finding.earlier = {earlier.statement, earlier.warp, lane_of(earlier, conflict.bytes.begin)};
  finding.earlier_kind = earlier.kind;
  return !s.c.stops_at(std::move(finding));
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

bool record(Step& s, AccessId access, int cta, ByteRange bytes) {
  const Conflict conflict =
      s.c.cta(cta).provenance.record(bytes, access, s.knowledge(), s.c.log, s.c.streams);
  return settle(s, conflict, access, cta);
}

bool record_global(Step& s, AccessId access, ByteRange bytes) {
  if (!s.c.global_provenance.may_be_written(bytes)) return true;
  const Conflict conflict =
      s.c.global_provenance.record(bytes, access, s.knowledge(), s.c.log, s.c.streams);
  return settle(s, conflict, access, global_memory);
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
