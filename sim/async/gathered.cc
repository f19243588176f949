#include "sim/async/gathered.h"

#include <algorithm>

#include "sim/async/mbarrier_slots.h"
#include "sim/async/warpgroups.h"

namespace tcq::machine {
namespace {

Mma* mma_that_reads(Warpgroup& group, AccessId read) {
  const auto found = std::find_if(group.mmas.begin(), group.mmas.end(),
                                  [&](const Mma& mma) { return mma.read == read; });
  return found == group.mmas.end() ? nullptr : &*found;
}

bool is_over_and_fenced(const ClusterState& c, AccessId write, ByteRange bytes,
                        const Clock& clock) {
  return is_known(c.log[write], bytes, clock, c.streams) &&
         is_fenced(c.log[write], bytes, clock, c.streams);
}

// As nothing but the missing order would name it.
bool is_plain_race(Fault fault) {
  return fault == Fault::DataRace || fault == Fault::AtomicRace || fault == Fault::CopyInFlight ||
         fault == Fault::SourceInFlight;
}

// Reads that found nothing, of bytes that have been written since.
void forget_written(ClusterState& c, int cta, AccessId read) {
  for (UnwrittenRead& unwritten : c.unwritten_reads) {
    const ByteRange bytes = unwritten.finding.bytes;
    if (unwritten.access != read || unwritten.racing != 0) continue;
    bool is_written = true;
    for (std::uint32_t at = bytes.begin; at < bytes.end; ++at)
      is_written = is_written && c.cta(cta).provenance.writer(at) != 0;
    if (is_written) unwritten.is_settled = true;
  }
}

}  // namespace

bool assume_gathered(ClusterState& c, const Conflict& conflict, AccessId access, Finding& finding) {
  const bool reads = c.log[access].kind == AccessKind::WgmmaRead;
  const AccessId read = reads ? access : conflict.earlier;
  const AccessId write = reads ? conflict.earlier : access;
  if (c.log[read].kind != AccessKind::WgmmaRead || c.log[write].kind != AccessKind::Store)
    return false;
  const Warp& writer = c.warp(c.log[write].warp);
  Warpgroup& group = warpgroup_of(c, writer);
  Mma* const mma = mma_that_reads(group, read);
  if (mma == nullptr || !is_plain_race(finding.fault)) return false;
  const std::size_t warp = place_in_group(writer);
  const Clock& known = mma->known[warp];
  const bool has_issued = (mma->issued_by >> warp & 1u) != 0;
  if (has_issued && !(reads && is_over_and_fenced(c, write, conflict.bytes, known))) return false;
  if (!has_issued) mma->owed.push_back({finding, write, warp});
  finding.fault = Fault::WarpgroupOrderAssumed;
  return true;
}

void note_issued(Step& s, Mma& mma) {
  const std::size_t warp = place_in_group(s.warp);
  mma.issued_by |= 1u << warp;
  mma.known[warp] = s.warp.clock;
  // What its lanes do from here on is not known with it.
  if (s.warp.order_of_lanes.followed) next_epoch(s);
  for (OwedFence& owed : mma.owed)
    if (owed.warp == warp && !is_over_and_fenced(s.c, owed.write, owed.finding.bytes, s.warp.clock))
      s.c.fail(owed.finding);
  if (mma.issued_by == issued_by_all) forget_written(s.c, s.warp.cta, mma.read);
}

void note_gathered(Warpgroup& group) {
  Clock& gathered = group.gathered.emplace_back();
  for (const Clock& known : group.mmas.front().known) gathered.join(known);
}

void note_waited(Step& s, Warpgroup& group, std::uint64_t end) {
  std::uint64_t& waited = group.waited[place_in_group(s.warp)];
  if (end <= waited) return;
  waited = end;
  const std::uint64_t first = group.first_mma - group.gathered.size();
  const Clock& gathered = group.gathered[end - 1 - first];
  s.warp.lost.join(gathered);
  note_weak(s, Fault::WarpgroupOrderAssumed, true, 0, gathered);
  const std::uint64_t by_all = *std::min_element(group.waited.begin(), group.waited.end());
  for (std::uint64_t n = first; n < by_all; ++n) group.gathered.pop_front();
}

}  // namespace tcq::machine
