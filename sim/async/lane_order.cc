#include "sim/async/lane_order.h"

#include <array>
#include <bit>
#include <cstdlib>

namespace tcq::machine {
namespace {

template <class Visit>
void for_each_lane(std::uint32_t lanes, Visit visit) {
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) visit(std::countr_zero(rest));
}

}  // namespace

// --- pairs of lanes --------------------------------------------------------------------------------

void Meetings::meet(std::uint32_t lanes, Tick epoch) {
  make_pairs();
  std::array<Tick, 32> known = {};
  for_each_lane(lanes, [&](int lane) {
    for (int of = 0; of < 32; ++of) {
      Tick& best = known[static_cast<std::size_t>(of)];
      best = std::max(best, pairs_[index(lane, of)]);
    }
  });
  for_each_lane(lanes, [&](int of) { known[static_cast<std::size_t>(of)] = epoch; });
  for_each_lane(lanes, [&](int lane) {
    for (int of = 0; of < 32; ++of) {
      Tick& known_now = pairs_[index(lane, of)];
      known_now = std::max(known_now, known[static_cast<std::size_t>(of)]);
    }
  });
}

void Meetings::learn(std::uint32_t lanes, int of, Tick epoch) {
  if (all_know(epoch)) return;
  make_pairs();
  for_each_lane(lanes, [&](int lane) {
    Tick& known_now = pairs_[index(lane, of)];
    known_now = std::max(known_now, epoch);
  });
}

// --- verdicts --------------------------------------------------------------------------------------

namespace {

ByteRange both(ByteRange a, ByteRange b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// The access's lanes that have bytes of the range; where they lie at a stride, those between the range's ends.
std::uint32_t lanes_in(const Access& access, ByteRange range) {
  if (access.width == 0) return access.lanes;
  if (access.table == nullptr && access.stride_bytes > 0) {
    const std::int64_t stride = access.stride_bytes;
    const std::int64_t begin = static_cast<std::int32_t>(range.begin - access.base);
    const std::int64_t end = begin + (range.end - range.begin);
    const std::int64_t first = begin < access.width ? 0 : (begin - access.width) / stride + 1;
    const std::int64_t last = end <= 0 ? -1 : (end - 1) / stride;
    if (first > 31 || last < first) return 0;
    const std::uint32_t below = last >= 31 ? ~0u : (2u << last) - 1;
    return access.lanes & below & ~((1u << first) - 1);
  }
  std::uint32_t lanes = 0;
  for_each_lane(access.lanes, [&](int lane) {
    const ByteRange bytes = both(bytes_of_lane(access, lane, range), range);
    if (bytes.begin < bytes.end) lanes |= 1u << lane;
  });
  return lanes;
}

// Each lane of both has the same bytes, and no other lane has any of them.
bool is_lane_for_lane(const Access& a, const Access& b) {
  if (a.width == 0 || a.base != b.base || a.width != b.width || a.table != b.table) return false;
  if (a.table != nullptr) return !a.shares_bytes && !b.shares_bytes;
  const auto stride = static_cast<std::uint32_t>(std::abs(a.stride_bytes));
  return a.stride_bytes == b.stride_bytes && stride >= a.width;
}

LaneGrade grade_of_pair(const Access& earlier, const Access& next, int i, int j,
                        const LaneOrder& order) {
  if (earlier.epoch <= order.ordered.known(j, i)) return LaneGrade::Ordered;
  const bool same_store = next.rewrites && is_one_store(earlier, next);
  const bool is_soft = (earlier.is_volatile && next.is_volatile) || same_store;
  if (is_soft || earlier.epoch <= order.met.known(j, i)) return LaneGrade::Met;
  return LaneGrade::Apart;
}

}  // namespace

LanePair grade_of_lanes(const Access& earlier, const Access& next, ByteRange run,
                        const LaneOrder& order) {
  LanePair worst;
  if (order.ordered.all_know(earlier.epoch) || is_lane_for_lane(earlier, next)) return worst;
  const std::uint32_t lanes = earlier.lanes | next.lanes;
  if ((lanes & (lanes - 1)) == 0) return worst;  // one lane
  const bool loads_own = next.kind == AccessKind::Load && earlier.width != 0 && !earlier.is_strong;
  for_each_lane(lanes_in(next, run), [&](int j) {
    const ByteRange mine = both(bytes_of_lane(next, j, run), run);
    if (worst.grade == LaneGrade::Apart) return;
    // What it stored itself it may load, even if others stored the same bytes with it: LaneStoresDiffer is about these.
    if (loads_own && (earlier.lanes >> j & 1) != 0) {
      const ByteRange stored = both(bytes_of_lane(earlier, j, run), mine);
      if (stored == mine) return;
    }
    for_each_lane(lanes_in(earlier, mine) & ~(1u << j), [&](int i) {
      if (worst.grade == LaneGrade::Apart) return;
      const ByteRange shared = both(bytes_of_lane(earlier, i, run), mine);
      const LaneGrade grade = grade_of_pair(earlier, next, i, j, order);
      if (grade > worst.grade) worst = {grade, i, j, shared};
    });
  });
  return worst;
}

const LanePart* knowing_part(const LaneOrder& order, Stream stream, Tick tick) {
  for (const LanePart& part : order.parts)
    if (part.clock.at(stream) >= tick) return &part;
  return nullptr;
}

// What no part has came to all lanes.
LanePair grade_of_parts(const Access& earlier, const Access& next, ByteRange run,
                        const LaneOrder& order) {
  LanePair worst;
  if (order.parts.empty() || order.common.at(earlier.stream) >= earlier.tick) return worst;
  std::uint32_t know = 0;
  std::uint32_t met = 0;
  for (const LanePart& part : order.parts) {
    if (part.clock.at(earlier.stream) < earlier.tick) continue;
    know |= part.lanes;
    met |= part.lanes | part.met;
  }
  if (know == 0 || (next.lanes & ~know) == 0) return worst;
  const std::uint32_t ignorant = lanes_in(next, run) & ~know;
  if (ignorant == 0) return worst;
  const std::uint32_t strangers = ignorant & ~met;
  worst.grade = strangers != 0 ? LaneGrade::Apart : LaneGrade::Met;
  worst.next = std::countr_zero(strangers != 0 ? strangers : ignorant);
  return worst;
}

}  // namespace tcq::machine
