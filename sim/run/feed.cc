#include "sim/run/feed.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>
#include <vector>

#include "sim/async/register_file.h"
#include "sim/run/control.h"
#include "sim/run/executor.h"
#include "sim/run/poll.h"

namespace tcq::run {
namespace {

class KernelFeed : public machine::Feed {
 public:
  KernelFeed(const KernelFeeder& feeder, const machine::Program& program)
      : feeder_(feeder),
        states_(static_cast<std::size_t>(program.launch().cluster * program.warps_per_cta())) {
    for (WarpState& state : states_) state.votes = &votes_;
  }

  void begin(machine::ClusterState& c, machine::Warp& warp) override {
    WarpState& state = state_of(warp);
    begin_warp(feeder_, c, warp, state);
    if (!state.groups.empty()) go_on(c, warp, {state.groups.front().get()}, false);
  }

  std::span<const machine::Candidate> candidates(const machine::Warp& warp) const override {
    return states_[static_cast<std::size_t>(warp.number)].candidates;
  }

  void executed(machine::ClusterState& c, machine::Warp& warp, std::size_t which) override {
    WarpState& state = state_of(warp);
    Group& group = *state.candidate_groups[which];
    Executor x{feeder_, c, warp, state, group};
    if (vain_.repeat(x, group.queue.front(), states_)) return fail_in_vain(x);
    note_executed(x);
    group.queue.pop_front();
    if (!group.queue.empty()) return list_candidates(c, warp);
    finish_statements(x);
    ++group.pc;
    std::vector<Group*> ready = {&group};
    for (Group* other : std::exchange(group.party, {})) {
      ++other->pc;
      ready.push_back(other);
    }
    go_on(c, warp, std::move(ready), true);
  }

  bool may_part(const machine::Warp& warp) const override {
    return waits_for_own_lanes(states_[static_cast<std::size_t>(warp.number)]);
  }
  void part(machine::ClusterState& c, machine::Warp& warp) override {
    go_on(c, warp, part_joins(state_of(warp)), false);
  }

 private:
  WarpState& state_of(const machine::Warp& warp) {
    return states_[static_cast<std::size_t>(warp.number)];
  }

  // It waits for what nothing in its cluster does.
  static void fail_in_vain(Executor& x) {
    const machine::Statement& look = x.group.queue.front();
    const int lane = std::countr_zero(look.guard.lanes);
    const machine::LaneAddresses& where = std::get<machine::LaneAtomic>(look.what).where;
    machine::Finding finding;
    finding.fault = Fault::Deadlock;
    finding.at = {x.number(), x.warp.number, lane};
    finding.waiting.push_back({.at = finding.at,
                               .what = machine::WaitFor::Memory,
                               .cta = machine::global_memory,
                               .object = where.at[static_cast<std::size_t>(lane)]});
    x.c.fail(std::move(finding));
  }

  // What a test found goes to its lanes.
  static void note_executed(Executor& x) {
    const machine::Statement& statement = x.group.queue.front();
    const auto* atomic = std::get_if<machine::LaneAtomic>(&statement.what);
    const bool reads = atomic != nullptr && atomic->update == nullptr;
    if (reads)
      x.for_each_lane(statement.guard.lanes, [&](int lane) {
        x.group.data[static_cast<std::size_t>(lane)] = x.group.seen[static_cast<std::size_t>(lane)];
      });
    x.group.acted = !note_round(x, statement) && x.group.result != Result::Test && !reads;
    x.group.polled = x.group.pc;
    if (x.group.result == Result::Passed ||
        (x.group.result == Result::Test && x.warp.predicates[0]))
      x.group.passed |= statement.guard.lanes;
  }

  // Until the group, and those that it sets free, stand before statements or wait.
  void go_on(machine::ClusterState& c, machine::Warp& warp, std::vector<Group*> ready,
             bool is_in_step) {
    WarpState& state = state_of(warp);
    while (!ready.empty() && !c.finding) {
      Group* group = ready.back();
      ready.pop_back();
      run_group({feeder_, c, warp, state, *group, is_in_step}, ready);
    }
    std::erase_if(state.groups, [](const auto& group) { return group->lanes == 0; });
    list_candidates(c, warp);
  }

  void list_candidates(machine::ClusterState& c, machine::Warp& warp) {
    WarpState& state = state_of(warp);
    // Whoever polled in vain lets the others go first.
    if (state.groups.size() > 1)
      std::stable_partition(state.groups.begin(), state.groups.end(),
                            [](const auto& group) { return group->acted || group->queue.empty(); });
    state.candidates.clear();
    state.candidate_groups.clear();
    for (const auto& group : state.groups) {
      if (group->queue.empty()) continue;
      state.candidates.push_back({&group->queue.front(), group->pc});
      state.candidate_groups.push_back(group.get());
    }
    if (state.candidates.empty() && !state.groups.empty() && !c.finding)
      c.fail({.fault = Fault::WarpDivergent,
              .at = {state.groups.front()->pc, warp.number,
                     std::countr_zero(state.groups.front()->lanes)}});
  }

  const KernelFeeder& feeder_;
  std::map<VoteKey, Votes> votes_;
  std::vector<WarpState> states_;
  VainRounds vain_;
};

}  // namespace

const machine::Instruction no_statement = machine::KernelText{};

void Executor::add(machine::Instruction what, std::uint32_t lanes) {
  group.queue.push_back({std::move(what), {lanes, ~0u}, {}});
}

KernelFeeder::KernelFeeder(std::shared_ptr<const Kernel> kernel, Launch launch, Dim3 first_cta)
    : kernel_(std::move(kernel)), launch_(std::move(launch)), first_cta_(first_cta) {}

std::unique_ptr<machine::Feed> KernelFeeder::start(const machine::Program& program) const {
  return std::make_unique<KernelFeed>(*this, program);
}

std::uint64_t KernelFeeder::fingerprint() const {
  std::uint64_t value = 0x9e3779b97f4a7c15;
  const auto add = [&](std::uint64_t word) {
    value = (value ^ word) * 0xbf58476d1ce4e5b9;
    value ^= value >> 31;
  };
  for (const char c : kernel_->program->unit.text) add(static_cast<unsigned char>(c));
  for (const Dim3& d : {launch_.grid, launch_.block, launch_.cluster, first_cta_})
    for (const std::uint32_t n : {d.x, d.y, d.z}) add(n);
  if (launch_.has_cluster) add(1);
  add(kernel_->first());
  add(launch_.dynamic_shared);
  for (const std::uint8_t byte : launch_.parameters) add(byte);
  return value;
}

}  // namespace tcq::run
