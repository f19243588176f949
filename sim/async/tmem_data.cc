#include "sim/async/tmem_data.h"

#include <algorithm>
#include <utility>

#include "sim/async/mbarrier_slots.h"

namespace tcq::machine {

void move_tmem(ClusterState& c, std::uint32_t number) {
  auto& operations = c.tcgen05.operations;
  const auto found = std::find_if(operations.begin(), operations.end(),
                                  [&](const auto& x) { return x.number == number; });
  if (found == operations.end() || c.finding) return;
  const Tcgen05Operation operation = std::move(*found);
  operations.erase(found);
  for (const std::uint32_t earlier : operation.before) move_tmem(c, earlier);
  TmemData data(operation, c);
  const Fault fault = operation.move(*operation.what, data);
  if (fault != Fault::None)
    c.fail({.fault = fault, .at = {operation.statement, operation.warp, -1}});
}

Tick issued_in(const ClusterState& c, const CommitInFlight& commit) {
  return commit.carried.at(c.streams.epochs(commit.warp)) + 1;
}

void complete_commit(ClusterState& c, AgentId id) {
  auto& commits = c.tcgen05.commits;
  const auto found =
      std::find_if(commits.begin(), commits.end(), [&](const auto& x) { return x.id == id; });
  const CommitInFlight commit = *found;
  commits.erase(found);
  std::vector<std::uint32_t> tracked;
  for (const Tcgen05Operation& operation : c.tcgen05.operations)
    if (operation.thread == commit.thread && operation.tick <= commit.tick)
      tracked.push_back(operation.number);
  for (const std::uint32_t number : tracked) move_tmem(c, number);
  if (c.finding) return;

  MbarrierSlot& slot = c.slot(commit.slot);
  const Place at{commit.statement, commit.warp, commit.lane};
  const ByteRange barrier = bytes_of(slot);
  if (!slot.live)
    return c.fail(
        {.fault = Fault::MbarrierNotInitialized, .at = at, .cta = slot.cta, .bytes = barrier});
  slot.own.join(commit.carried);
  slot.lost.join(commit.lost);
  const std::uint32_t phase = slot.state.phase;
  if (const Fault fault = mbarrier::arrive(slot.state, 1); fault != Fault::None)
    return c.fail({.fault = fault,
                   .at = at,
                   .cta = slot.cta,
                   .bytes = barrier,
                   .number = std::int64_t{slot.state.expected}});
  const bool completes = slot.state.phase != phase;
  note_arrival(slot, commit.warp, 1, true);
  if (completes) note_completion(slot);
  note_touch(c,
             {.object = object_of(slot), .phase = phase, .completes = completes, .arrives = true},
             slot.state);
  const Warp& issuer = c.warp(commit.warp);
  const Stream numbers = issuer.tmem.commits;
  const Tick number = commit.carried.at(numbers);
  c.note_exit_use(slot.cta, {slot.phases, phase + 1, at, barrier, issuer.cta != slot.cta, numbers,
                             number, issued_in(c, commit)});
}

}  // namespace tcq::machine
