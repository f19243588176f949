#include "sim/async/unused_loads.h"

#include <algorithm>
#include <bit>

#include "sim/async/instructions/wgmma.h"
#include "sim/async/step.h"
#include "sim/async/warpgroups.h"

namespace tcq::machine {

bool RacingLoads::add(const Where& where, std::uint32_t byte, const Loads& loads) {
  if (noted_ >= most) return false;
  std::vector<Loads>& list = bytes_[where][byte];
  for (Loads& known : list) {
    if (known.lanes != loads.lanes || loads.first > known.last + 1 || loads.last + 1 < known.first)
      continue;
    known.first = std::min(known.first, loads.first);
    known.last = std::max(known.last, loads.last);
    return true;
  }
  list.push_back(loads);
  ++noted_;
  return true;
}

int RacingLoads::race_of(const Where& where, Tick epoch, ByteRange bytes, int lane) const {
  const auto found = bytes_.find(where);
  if (found == bytes_.end()) return -1;
  for (auto at = found->second.lower_bound(bytes.begin);
       at != found->second.end() && at->first < bytes.end; ++at)
    for (const Loads& loads : at->second)
      if (loads.first <= epoch && epoch <= loads.last && (loads.lanes >> lane & 1) != 0)
        return loads.race;
  return -1;
}

void RacingLoads::add_rows(int first_warp, std::uint32_t wgmma, const Rows& rows) {
  Rows& known = rows_.try_emplace({first_warp, wgmma}, Rows{0, rows.race}).first->second;
  known.rows |= rows.rows;
}

RacingLoads::Rows RacingLoads::rows_of(int first_warp, std::uint32_t wgmma) const {
  const auto found = rows_.find({first_warp, wgmma});
  return found == rows_.end() ? Rows{} : found->second;
}

int RacingLoads::number_of(const Finding& race) {
  const auto known = std::find_if(races_.begin(), races_.end(),
                                  [&](const Finding& f) { return is_same_race(f, race); });
  const auto number = static_cast<int>(known - races_.begin());
  if (known == races_.end()) races_.push_back(race);
  return number;
}

bool is_same_race(const Finding& a, const Finding& b) {
  return a.fault == b.fault && a.at.statement == b.at.statement &&
         a.earlier.statement == b.earlier.statement;
}

bool is_race_of_load(const Finding& finding) {
  const Fault f = finding.fault;
  const auto is_stored = [](AccessKind kind) {
    return kind == AccessKind::Store || kind == AccessKind::CopyWrite;
  };
  const AccessKind a = finding.earlier_kind, b = finding.at_kind;
  if (b == AccessKind::WgmmaRead || (a == AccessKind::WgmmaRead && is_stored(b)))
    return info(f).kind == FaultKind::Undefined;
  if (f != Fault::DataRace && f != Fault::LaneRace && f != Fault::CopyInFlight) return false;
  return (a == AccessKind::Load && is_stored(b)) || (is_stored(a) && b == AccessKind::Load);
}

RowMask racing_rows(ClusterState& c, const Access& read, ByteRange bytes) {
  if (read.kind != AccessKind::WgmmaRead || read.mma == nullptr) return 0;
  const wgmma::Instruction& op = read.mma->op;
  const auto at = [&](Operand which) { return c.cache.chunks.find(op, which); };
  for (const std::uint32_t address : at(Operand::B)->addresses)
    if (address < bytes.end && bytes.begin < address + operand_chunk_bytes) return 0;
  return rows_at(op.form, *at(Operand::A), bytes.begin, bytes.end);
}

bool may_be_unused(ClusterState& c, const Access& read, ByteRange bytes) {
  return read.is_followed || racing_rows(c, read, bytes) != 0;
}

namespace {

// Lanes of the load for which the byte is another thread's. A thread's own store is in order with it, but its own
// cp.async is in flight. A load without a width is the whole warp's.
std::uint32_t racing_lanes(const RacingPair& pair, std::uint32_t byte) {
  const Access &load = pair.load, &store = pair.store;
  const std::uint32_t lanes = lanes_at(load, byte);
  const bool is_in_order = load.warp == store.warp && store.kind == AccessKind::Store &&
                           store.tick != never && load.width != 0;
  const std::uint32_t stored_by = is_in_order ? lanes_at(store, byte) : 0;
  return std::has_single_bit(stored_by) ? lanes & ~stored_by : lanes;
}

}  // namespace

bool note_racing_load(ClusterState& c, const RacingPair& pair, Tick known, int cta,
                      ByteRange bytes) {
  if (pair.load.kind == AccessKind::WgmmaRead) {
    c.racing_loads.add_rows(warpgroup_of(c, c.warp(pair.load.warp)).first_warp, pair.load.operation,
                            {racing_rows(c, pair.load, bytes), pair.race});
    return true;
  }
  const Tick last = pair.load.tick;
  const Tick first = std::min(known + 1, last);
  for (std::uint32_t byte = bytes.begin; byte < bytes.end; ++byte) {
    const std::uint32_t lanes = racing_lanes(pair, byte);
    if (lanes == 0) continue;
    if (!c.racing_loads.add({pair.load.warp, cta}, byte, {first, last, lanes, pair.race}))
      return false;
  }
  return true;
}

std::uint32_t leave_out(Step& s, int cta, const std::array<std::uint32_t, 32>& at,
                        std::uint32_t width, std::uint32_t lanes) {
  const RacingLoads& all = s.c.racing_loads;
  const Tick epoch = s.warp.clock.at(s.c.streams.epochs(s.warp.number));
  int first = -1;
  std::uint32_t left_out = 0;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint32_t begin = at[static_cast<std::size_t>(lane)];
    const int race = all.race_of({s.warp.number, cta}, epoch, {begin, begin + width}, lane);
    if (race < 0) continue;
    if (first < 0) first = race;
    left_out |= 1u << lane;
  }
  if (left_out == 0) return 0;
  UnwrittenRead& read = s.c.unwritten_reads.emplace_back();
  read.finding = all.races()[static_cast<std::size_t>(first)];
  read.by_warp = s.warp.number;
  read.by_statement = s.number;
  read.racing = left_out;
  return left_out;
}

void follow_rows(Step& s, const Finding& finding, RowMask rows) {
  UnwrittenRead& read = s.c.unwritten_reads.emplace_back();
  read.finding = finding;
  read.by_warp = s.warp.number;
  read.by_statement = s.number;
  read.racing = read.rows = rows_in_warp(s.warp, rows);
}

RowMask leave_out_rows(Step& s, std::uint32_t wgmma, RowMask own) {
  const RacingLoads::Rows all =
      s.c.racing_loads.rows_of(warpgroup_of(s.c, s.warp).first_warp, wgmma);
  if ((all.rows & own) != 0)
    follow_rows(s, s.c.racing_loads.races()[static_cast<std::size_t>(all.race)], all.rows & own);
  return all.rows;
}

}  // namespace tcq::machine
