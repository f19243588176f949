#include "sim/run/exchange.h"

#include <algorithm>
#include <map>

#include "sim/async/lane_sync.h"
#include "sim/run/shuffle.h"
#include "sim/run/undefined.h"

namespace tcq::run {
namespace {

constexpr std::size_t most_sources = 4, most_results = 2;
using Words = std::array<std::uint32_t, 64>;

// 32-bit words of a lane; 0: a predicate.
int words_of_source(const ptx::Form& form, std::size_t i) {
  if (i != 0) return 1;
  if (form.opcode == ptx::Opcode::VoteSync) return 0;
  return form.types[0] == ptx::Type::B64 ? 2 : 1;
}
int words_of_result(const ptx::Form& form, std::size_t i) {
  return i != 0 || form.types[0] == ptx::Type::Pred ? 0 : 1;
}

void move_lanes(std::uint32_t* to, const std::uint32_t* from, int words, std::uint32_t lanes) {
  if (words == 0) {
    to[0] = (to[0] & ~lanes) | (from[0] & lanes);
    return;
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    std::memcpy(to + words * lane, from + words * lane,
                sizeof(std::uint32_t) * static_cast<std::size_t>(words));
  }
}

}  // namespace

void meet(const Executor& x, const std::vector<Group*>& groups) {
  const bool orders = x.op().evaluate == nullptr;
  if (machine::have_met(x.warp, orders)) return;
  std::map<std::uint32_t, std::uint32_t> lanes_of_mask;
  for (Group* group : groups) {
    const Executor other{x.feeder, x.c, x.warp, x.state, *group};
    const ptx::Value& mask = other.value(other.operand_count() - 1);
    x.for_each_lane(group->active, [&](int lane) {
      const std::uint32_t bit = 1u << lane;
      lanes_of_mask[static_cast<std::uint32_t>(other.number(mask, lane))] |= bit;
    });
  }
  for (const auto& [mask, lanes] : lanes_of_mask)
    machine::lanes_meet(x.c, x.warp, lanes & mask, orders);
}

std::vector<Place> places_of(const Executor& x, const std::vector<Group*>& groups) {
  std::vector<Place> places;
  for (const Group* group : groups) {
    const Op* op = &x.kernel().ops[group->pc];
    auto place = std::ranges::find(places, op, &Place::op);
    if (place == places.end()) place = places.insert(place, {op, 0});
    place->lanes |= group->active;
  }
  return places;
}

void exchange_apart(Executor& x, std::span<const Place> places) {
  const ptx::Form& form = x.form();
  std::array<Words, most_sources> sources = {};
  std::array<Words, most_results> results = {};
  std::uint32_t all_lanes = 0;
  for (const Place& place : places) {
    all_lanes |= place.lanes;
    const auto ins = x.kernel().ins(*place.op);
    for (std::size_t i = 0; i < ins.size(); ++i) {
      const bool is_negated = (place.op->negated >> i & 1) != 0;
      const std::uint32_t flipped = ~x.words(ins[i])[0];
      move_lanes(sources[i].data(), is_negated ? &flipped : x.words(ins[i]),
                 words_of_source(form, i), place.lanes);
    }
  }
  const std::array<const void*, most_sources> in = {sources[0].data(), sources[1].data(),
                                                    sources[2].data(), sources[3].data()};
  const std::array<void*, most_results> out = {results[0].data(), results[1].data()};
  const alu::Arguments all{out.data(),     in.data(),    all_lanes,
                           &x.state.carry, most_results, x.op().ins};
  std::uint32_t sourceless = 0;
  if (is_shuffle(form))
    sourceless = follow_shuffle(x, places, all);
  else if (has_undefined(x))
    for (const Place& place : places) follow_votes(x, *place.op, place.lanes);
  x.op().evaluate(all);
  assume_words(x, results[0].data(), sourceless);
  for (const Place& place : places) {
    const auto outs = x.kernel().outs(*place.op);
    for (std::size_t i = 0; i < outs.size(); ++i)
      move_lanes(x.words(outs[i]), results[i].data(), words_of_result(form, i), place.lanes);
  }
}

bool demand_members(Executor& x, std::uint32_t active) {
  const ptx::Value& mask = x.value(x.operand_count() - 1);
  if (undefined_in(x, mask, active).lanes != 0)
    return true;  // what is wrong is said where it is used
  std::uint32_t outside = 0;
  x.for_each_lane(active, [&](int lane) {
    if ((x.number(mask, lane) >> lane & 1) == 0) outside |= 1u << lane;
  });
  if (outside != 0) x.fail(Fault::WarpDivergent, std::countr_zero(outside));
  return outside == 0;
}

}  // namespace tcq::run
