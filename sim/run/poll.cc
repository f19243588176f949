#include "sim/run/poll.h"

#include <algorithm>

namespace tcq::run {
namespace {

constexpr std::size_t most_polls = 256;  // of a round; more are no round

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

// Of all that decides how the lanes go on, but what memory of others holds. Never 0.
std::uint64_t state_of(const Executor& x) {
  std::uint64_t value = 0x9e3779b97f4a7c15;
  const auto add = [&](std::uint64_t word) {
    value = (value ^ word) * 0xbf58476d1ce4e5b9;
    value ^= value >> 31;
  };
  for (const auto& slot : x.warp.registers.of_reg)
    for (std::size_t i = 0; i + 1 < slot.size(); i += 2)
      add(slot[i] | std::uint64_t{slot[i + 1]} << 32);
  for (const std::uint8_t byte : x.state.local) add(byte);
  return value | 1;
}

bool is_quiet(const machine::Statement& statement) {
  if (const auto* access = std::get_if<machine::LaneAccess>(&statement.what))
    return !access->stores;
  return std::holds_alternative<machine::WarpSync>(statement.what) ||
         std::holds_alternative<machine::KernelText>(statement.what);
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
  if (!is_one_load) {
    g.issued = state_of(x);
    if (known->state != g.issued) return;
  }
  auto watched = std::make_shared<std::vector<machine::WatchedBytes>>();
  for (auto poll = known; poll != x.state.polls.end(); ++poll) watched->push_back(poll->watched);
  access.watched = std::move(watched);
}

bool note_round(Executor& x, const machine::Statement& statement) {
  Group& g = x.group;
  const auto* atomic = std::get_if<machine::LaneAtomic>(&statement.what);
  if (atomic != nullptr && !g.changed)
    keep(x, *atomic, statement.guard.lanes);
  else if (!is_quiet(statement))
    x.state.polls.clear();
  return !x.state.polls.empty();
}

std::uint64_t clock_of(Executor& x) {
  constexpr int most = 16;
  const bool stands = !x.state.polls.empty() && x.state.clock_reads++ < most;
  return stands ? x.state.clock : x.state.steps;
}

}  // namespace tcq::run
