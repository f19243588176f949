#include "sim/run/poll.h"

#include <algorithm>
#include <bit>

namespace tcq::run {
namespace {

constexpr std::size_t most_polls = 256;  // of a round; more are no round
// A loop that counts its looks may end by itself, or never.
constexpr std::uint32_t most_rounds = 1 << 14;

bool is_same_place(const Poll& poll, const Executor& x, const machine::LaneAddresses& where,
                   std::uint32_t lanes) {
  if (poll.at != x.group.pc || poll.watched.lanes != lanes) return false;
  const machine::LaneAddresses& other = poll.watched.where;
  if (other.global != where.global || other.cta != where.cta) return false;
  bool is_same = true;
  x.for_each_lane(lanes, [&](int lane) {
    const auto l = static_cast<std::size_t>(lane);
    is_same = is_same && other.at[l] == where.at[l];
  });
  return is_same;
}

std::vector<Poll>::iterator poll_of(const Executor& x, const machine::LaneAddresses& where,
                                    std::uint32_t lanes) {
  return std::ranges::find_if(
      x.state.polls, [&](const Poll& poll) { return is_same_place(poll, x, where, lanes); });
}

class Hash {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0xbf58476d1ce4e5b9;
    value_ ^= value_ >> 31;
  }
  // Of all that decides how its lanes go on, but what memory of others holds.
  void add(const machine::Warp& warp, const WarpState& state) {
    for (const auto& slot : warp.registers.of_reg)
      for (std::size_t i = 0; i + 1 < slot.size(); i += 2)
        add(slot[i] | std::uint64_t{slot[i + 1]} << 32);
    for (const std::uint8_t byte : state.local) add(byte);
  }
  std::uint64_t value() const { return value_ | 1; }  // never 0

 private:
  std::uint64_t value_ = 0x9e3779b97f4a7c15;
};

std::uint64_t state_of(const Executor& x) {
  Hash hash;
  hash.add(x.warp, x.state);
  return hash.value();
}

std::uint64_t state_of(const machine::ClusterState& c, std::span<const WarpState> warps) {
  Hash hash;
  for (std::size_t w = 0; w < warps.size(); ++w) {
    hash.add(c.warps[w], warps[w]);
    hash.add(warps[w].stores_at_once);
    for (const auto& group : warps[w].groups)
      hash.add(group->lanes | std::uint64_t{group->pc} << 32);
    for (const Join& join : warps[w].joins)
      hash.add(join.lanes | std::uint64_t{join.arrived} << 32);
  }
  for (const machine::Cta& cta : c.ctas)
    for (std::size_t i = 0; i < cta.shared.size(); ++i) hash.add(cta.shared.data()[i]);
  return hash.value();
}

// Nobody outside the cluster sees that it was done.
bool stays_inside(const machine::Statement& statement) {
  if (const auto* access = std::get_if<machine::LaneAccess>(&statement.what))
    return !access->stores || !access->where.global;
  return std::holds_alternative<machine::WarpSync>(statement.what) ||
         std::holds_alternative<machine::BarrierSync>(statement.what) ||
         std::holds_alternative<machine::FenceMemory>(statement.what) ||
         std::holds_alternative<machine::KernelText>(statement.what);
}

bool is_quiet(const machine::Statement& statement) {
  if (const auto* access = std::get_if<machine::LaneAccess>(&statement.what))
    return !access->stores;
  return std::holds_alternative<machine::WarpSync>(statement.what) ||
         std::holds_alternative<machine::KernelText>(statement.what);
}

// Of a word of one lane; never 0.
std::uint64_t word_of(const machine::LaneAddresses& where, std::size_t lane) {
  constexpr std::uint64_t is_there = std::uint64_t{1} << 63;
  const std::uint64_t memory = where.global ? 1u << 16 : static_cast<std::uint16_t>(where.cta);
  return is_there | memory << 32 | where.at[lane];
}

void note_changed(Executor& x, const machine::LaneAtomic& access, std::uint32_t lanes) {
  x.for_each_lane(lanes, [&](int lane) {
    const auto l = static_cast<std::size_t>(lane);
    x.state.changed[l] = word_of(access.where, l);
  });
}

// It becomes the round's newest.
void keep(Executor& x, const machine::LaneAtomic& access, std::uint32_t lanes) {
  if (x.state.polls.empty()) x.state.clock = x.state.steps;
  x.state.clock_reads = 0;
  const auto known = poll_of(x, access.where, lanes);
  Poll poll;
  if (known != x.state.polls.end()) {
    poll = std::move(*known);
    x.state.polls.erase(known);
  }
  poll.rounds = poll.watched.seen == *access.data ? poll.rounds + 1 : 0;
  poll.at = x.group.pc;
  poll.watched.where = access.where;
  poll.watched.lanes = lanes;
  poll.watched.seen = *access.data;
  poll.state = x.group.issued;
  if (x.state.polls.size() == most_polls) x.state.polls.clear();
  x.state.polls.push_back(std::move(poll));
}

}  // namespace

void wait_for_change(Executor& x, machine::LaneAtomic& access) {
  Group& g = x.group;
  access.changed = &g.changed;
  g.changed = false;
  g.issued = 0;
  if (x.state.polls.empty()) return;
  const auto known = poll_of(x, access.where, g.active);
  if (known == x.state.polls.end()) return;
  const bool is_one_load =
      access.update == nullptr && known + 1 == x.state.polls.end() && g.polled == g.pc;
  g.issued = state_of(x);
  const bool comes_back = known->state == g.issued;
  if (!comes_back && !is_one_load) return;
  // Registers have changed: it may look at this word for each of its elements.
  access.goes_last = !comes_back && known->rounds < most_rounds;
  auto watched = std::make_shared<std::vector<machine::WatchedBytes>>();
  for (auto poll = known; poll != x.state.polls.end(); ++poll) watched->push_back(poll->watched);
  access.watched = std::move(watched);
}

bool note_round(Executor& x, const machine::Statement& statement) {
  Group& g = x.group;
  const auto* atomic = std::get_if<machine::LaneAtomic>(&statement.what);
  if (atomic != nullptr && g.changed) note_changed(x, *atomic, statement.guard.lanes);
  if (atomic != nullptr && !g.changed)
    keep(x, *atomic, statement.guard.lanes);
  else if (!is_quiet(statement))
    x.state.polls.clear();
  return !x.state.polls.empty();
}

bool note_round(Executor& x, bool stores) {
  if (stores) x.state.polls.clear();
  return !x.state.polls.empty();
}

bool waits_for_own_lanes(const WarpState& state) {
  std::uint32_t waiting = 0;
  for (const Join& join : state.joins)
    if (join.arrived != join.lanes) waiting |= join.arrived;
  const auto is_changed = [&](std::uint64_t word) {
    bool found = false;
    machine::visit_lanes(
        waiting, [&](int lane) { found |= state.changed[static_cast<std::size_t>(lane)] == word; });
    return found;
  };
  for (const auto& group : state.groups) {
    if (waiting == 0 || group->queue.empty()) continue;
    const auto* access = std::get_if<machine::LaneAtomic>(&group->queue.front().what);
    if (access == nullptr || access->watched == nullptr) continue;
    for (const machine::WatchedBytes& w : *access->watched)
      for (std::uint32_t rest = w.lanes; rest != 0; rest &= rest - 1)
        if (is_changed(word_of(w.where, static_cast<std::size_t>(std::countr_zero(rest)))))
          return true;
  }
  return false;
}

bool VainRounds::repeat(const Executor& x, const machine::Statement& statement,
                        std::span<const WarpState> warps) {
  constexpr std::uint64_t between = 256;  // looks from one question to the next
  const auto* atomic = std::get_if<machine::LaneAtomic>(&statement.what);
  if (atomic == nullptr || !atomic->where.global || x.group.changed) {
    if (looks_ != 0 && (atomic != nullptr || !stays_inside(statement))) looks_ = kept_ = 0;
    return false;
  }
  if (++looks_ % between != 0) return false;
  const std::uint64_t now = state_of(x.c, warps);
  if (now == kept_) return true;
  if (std::has_single_bit(looks_ / between)) kept_ = now;
  return false;
}

std::uint64_t clock_of(Executor& x) {
  constexpr int most = 16;
  const bool stands = !x.state.polls.empty() && x.state.clock_reads++ < most;
  return stands ? x.state.clock : x.state.steps;
}

}  // namespace tcq::run
