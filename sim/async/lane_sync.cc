#include "sim/async/lane_sync.h"

#include <algorithm>

#include "sim/async/mbarrier_slots.h"

namespace tcq::machine {
namespace {

// Those that know the same are one; those that all know are none.
void tidy_parts(LaneOrder& order) {
  std::vector<LanePart> tidy;
  for (LanePart& part : order.parts) {
    if (order.is_everybody(part.lanes)) {
      order.common.join(part.clock);
      continue;
    }
    const auto same = std::find_if(tidy.begin(), tidy.end(), [&](const LanePart& p) {
      return p.lanes == part.lanes && p.met == part.met;
    });
    if (same == tidy.end())
      tidy.push_back(std::move(part));
    else
      same->clock.join(part.clock);
  }
  order.parts = std::move(tidy);
}

void parts_meet(LaneOrder& order, std::uint32_t lanes, bool orders) {
  if (order.parts.empty()) return;
  if (orders && order.is_everybody(lanes)) return order.parts.clear();
  for (LanePart& part : order.parts) {
    if (orders && (part.lanes & lanes) != 0) part.lanes |= lanes;
    if (((part.lanes | part.met) & lanes) != 0) part.met |= lanes;
  }
  tidy_parts(order);
}

bool covers(const Clock& clock, const Clock& other) {
  for (Stream stream = 0; stream < other.size(); ++stream)
    if (clock.at(stream) < other.at(stream)) return false;
  return true;
}

// The lanes' part of what is not known to all.
Clock& part_of(Step& s, std::uint32_t lanes) {
  LaneOrder& order = s.warp.order_of_lanes;
  for (LanePart& part : order.parts)
    if (part.lanes == lanes && part.met == 0) {
      part.at = s.place();
      return part.clock;
    }
  order.parts.push_back({lanes, 0, {}, s.place()});
  return order.parts.back().clock;
}

// A release that came back says what all lanes, or single ones, did.
void learn_of_own(Step& s, const Clock& clock) {
  LaneOrder& order = s.warp.order_of_lanes;
  const int warp = s.warp.number;
  const Tick own = clock.at(s.c.streams.epochs(warp));
  const bool everybody = order.is_everybody(s.lanes);
  for (Meetings* meetings : {&order.ordered, &order.met}) {
    if (everybody) meetings->raise_all(own);
    for (int of = 0; of < warp_threads; ++of) {
      const Stream stream = s.c.streams.lane_epochs(warp, of);
      const Tick released = std::max(own, stream == 0 ? 0 : clock.at(stream));
      if (released > (everybody ? own : 0)) meetings->learn(s.lanes, of, released);
    }
  }
  if (order.ordered.all_know(order.last_touch)) order.touched = 0;
}

}  // namespace

void lanes_meet(ClusterState& c, Warp& warp, std::uint32_t lanes, bool orders) {
  LaneOrder& order = warp.order_of_lanes;
  if (have_met(warp, orders)) return;
  const Stream epochs = c.streams.epochs(warp.number);
  const Tick epoch = warp.clock.at(epochs);
  if (order.is_everybody(lanes)) {
    order.met.meet_all(epoch);
    if (orders) order.ordered.meet_all(epoch);
    if (orders) order.touched = 0;
  } else {
    order.met.meet(lanes, epoch);
    if (orders) order.ordered.meet(lanes, epoch);
  }
  parts_meet(order, lanes, orders);
  warp.clock.raise(epochs, epoch + 1);
}

// --- what is acquired ------------------------------------------------------------------------------

namespace {

void learn_all(Step& s, const Clock& clock) {
  LaneOrder& order = s.warp.order_of_lanes;
  if (!order.followed) return s.warp.clock.join(clock);
  if (order.touched != 0) learn_of_own(s, clock);
  if (order.is_everybody(s.lanes)) {
    if (!order.parts.empty()) order.common.join(clock);
    return s.warp.clock.join(clock);
  }
  if (order.parts.empty() && covers(s.warp.clock, clock)) return;
  if (order.parts.empty()) order.common = s.warp.clock;
  if (!covers(order.common, clock)) part_of(s, s.lanes).join(clock);
  s.warp.clock.join(clock);
}

}  // namespace

void learn(Step& s, const Clock& clock) {
  if (s.warp.assumed.known.size() > 0) s.warp.assumed.firm.join(clock);
  learn_all(s, clock);
}

void learn(Step& s, std::uint32_t lanes, Stream stream, Tick tick) {
  if (s.warp.assumed.known.size() > 0) s.warp.assumed.firm.raise(stream, tick);
  LaneOrder& order = s.warp.order_of_lanes;
  if (order.followed && !order.is_everybody(lanes)) {
    if (order.parts.empty() && s.warp.clock.at(stream) >= tick) return;
    if (order.parts.empty()) order.common = s.warp.clock;
    if (order.common.at(stream) < tick) part_of(s, lanes).raise(stream, tick);
  } else if (!order.parts.empty()) {
    order.common.raise(stream, tick);
  }
  s.warp.clock.raise(stream, tick);
}

// --- what is only assumed ---------------------------------------------------------------------------

Clock firm_clock(const Warp& warp) {
  Clock firm = warp.clock;
  const Assumed& assumed = warp.assumed;
  for (Stream stream = 0; stream < assumed.known.size(); ++stream)
    if (firm.at(stream) == assumed.known.at(stream)) firm.lower(stream, assumed.firm.at(stream));
  return firm;
}

void assume(Step& s, const Clock& found) {
  if (covers(s.warp.clock, found)) return;
  const Clock firm = firm_clock(s.warp);
  Assumed& assumed = s.warp.assumed;
  for (Stream stream = 0; stream < found.size(); ++stream) {
    if (found.at(stream) <= s.warp.clock.at(stream)) continue;
    assumed.firm.raise(stream, firm.at(stream));
    assumed.known.raise(stream, found.at(stream));
  }
  assumed.at = s.place();
  learn_all(s, found);
}

// --- what is released ------------------------------------------------------------------------------

namespace {

// Up to which epoch one of the lanes knows what lane `of` did.
Tick known_to(const Meetings& meetings, std::uint32_t lanes, int of) {
  Tick known = 0;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    known = std::max(known, meetings.known(std::countr_zero(rest), of));
  return known;
}

// ... and what each of the others did that has touched memory since.
Tick known_of_others(const LaneOrder& order, const Meetings& meetings, std::uint32_t lanes,
                     Tick now) {
  Tick known = now;
  for (std::uint32_t rest = order.touched & ~lanes; rest != 0; rest &= rest - 1)
    known = std::min(known, known_to(meetings, lanes, std::countr_zero(rest)));
  return known;
}

void lower_own(Step& s, Clock& handed, Tick now, Tick known) {
  const LaneOrder& order = s.warp.order_of_lanes;
  handed.lower(s.c.streams.epochs(s.warp.number), known);
  s.for_each_lane(
      [&](int lane) { handed.raise(s.c.streams.make_lane_epochs(s.warp.number, lane), now); });
  for (std::uint32_t rest = order.touched & ~s.lanes; rest != 0; rest &= rest - 1) {
    const int of = std::countr_zero(rest);
    const Tick of_one = known_to(order.ordered, s.lanes, of);
    if (of_one > known) handed.raise(s.c.streams.make_lane_epochs(s.warp.number, of), of_one);
  }
}

// What parts of other lanes have and the step's lanes have not.
void lower_parts(const Step& s, Clock& handed, Clock& kept) {
  const LaneOrder& order = s.warp.order_of_lanes;
  const auto known = [&](Stream stream) {
    Tick tick = order.common.at(stream);
    for (const LanePart& part : order.parts)
      if ((part.lanes & s.lanes) != 0) tick = std::max(tick, part.clock.at(stream));
    return tick;
  };
  for (const LanePart& part : order.parts) {
    if ((part.lanes & s.lanes) != 0) continue;
    for (Stream stream = 0; stream < part.clock.size(); ++stream) {
      if (part.clock.at(stream) <= known(stream)) continue;
      handed.lower(stream, known(stream));
      kept.raise(stream, part.clock.at(stream));
    }
  }
}

bool has_parts_of_others(const Step& s) {
  const auto& parts = s.warp.order_of_lanes.parts;
  return std::any_of(parts.begin(), parts.end(),
                     [&](const LanePart& part) { return (part.lanes & s.lanes) == 0; });
}

}  // namespace

void hand_on(Step& s, Clock& to, Clock& lost, std::uint64_t object) {
  const LaneOrder& order = s.warp.order_of_lanes;
  const bool by_all = order.is_everybody(s.lanes) && (order.touched & ~order.alive) == 0;
  const bool alone = (order.touched & ~s.lanes) == 0 && !has_parts_of_others(s);
  if (!order.followed || by_all || alone) return to.join(s.warp.clock);
  const Stream epochs = s.c.streams.epochs(s.warp.number);
  const Tick now = s.warp.clock.at(epochs);
  const Tick known = known_of_others(order, order.ordered, s.lanes, now);
  Clock handed = s.warp.clock;
  Clock kept;
  if (known < now) {
    lower_own(s, handed, now, known);
    kept.raise(epochs, now);
  }
  lower_parts(s, handed, kept);
  to.join(handed);
  if (kept.size() == 0) return;
  lost.join(kept);
  note_weak(s, Fault::LaneReleaseMissing, false, object, kept);
  const Tick met = known_of_others(order, order.met, s.lanes, now);
  if (met <= known) return;
  Clock assumed;
  assumed.raise(epochs, met);
  note_weak(s, Fault::LaneOrderAssumed, false, object, assumed);
}

void note_lanes(Step& s, Access& access) {
  LaneOrder& order = s.warp.order_of_lanes;
  access.epoch = s.warp.clock.at(s.c.streams.epochs(s.warp.number));
  access.agreed = order.ordered.all();
  order.touched |= access.lanes;
  order.last_touch = access.epoch;
}

}  // namespace tcq::machine
