// Who waits for whom when nobody can take a step, and the Fault with a name that this comes from, if
// bytes or phases give it one; reads of what nothing ever wrote. See cluster.h.
#include <algorithm>
#include <variant>

#include "sim/async/cluster.h"
#include "sim/async/step.h"

namespace tcq::machine {
namespace {

Waiting waiting_of(const ClusterState& c, const Warp& warp) {
  const Candidate next = c.candidate(warp, 0);
  const Standing at = {c, warp, next.number, next.statement->guard.lanes};
  return std::visit([&](const auto& i) -> Waiting { return i.waiting(at); }, next.statement->what);
}

// Who holds the columns, and which commits are missing or went elsewhere.
void note_tensor_memory(const ClusterState& c, Finding& deadlock) {
  for (const Waiting& w : deadlock.waiting) {
    if (w.what == WaitFor::TensorMemory && deadlock.fault == Fault::Deadlock) {
      deadlock.fault = Fault::TmemAllocBlocks;
      deadlock.at = w.at;
      for (const TmemAllocated& held : c.pool(w.cta).allocations())
        deadlock.holdings.push_back({w.cta, held.first_column, held.columns, held.alloc});
    }
    if (w.what != WaitFor::Mbarrier || w.missing == 0) continue;
    for (const CommitTarget& target : c.tcgen05.targets)
      if (target.address == w.object && (target.ctas >> w.cta & 1) == 0) deadlock.hint = target.at;
  }
  for (const Tcgen05Thread& thread : c.tcgen05.threads)
    if (thread.issued > thread.committed) deadlock.uncommitted.push_back(thread.last);
}

// A deadlock of mbarriers has a cause with a name where bytes or phases say so.
void judge_phases(const ClusterState& c, Finding& finding) {
  for (const Waiting& w : finding.waiting) {
    const int index = w.what == WaitFor::Mbarrier ? c.find_slot(w.cta, w.object) : -1;
    if (index < 0 || finding.fault != Fault::Deadlock) continue;
    const Warp& warp = c.warp(w.at.warp);
    const Stream phases = c.slot(index).phases;
    const Tick seen = std::max(warp.clock.at(phases), warp.lost.at(phases));
    if (w.missing == 0 && w.tx_bytes < 0) {
      finding.fault = Fault::ExpectTxTooSmall;
    } else if (seen < w.phase) {  // it waits for a parity while a phase it has not seen is over
      finding.fault = w.phase - seen > 1 ? Fault::PhaseOverrun : Fault::PhaseStale;
    } else {
      continue;
    }
    finding.at = finding.hint = w.at;
    finding.cta = w.cta;
  }
}

}  // namespace

void Cluster::report_deadlock() {
  Finding finding;
  finding.fault = Fault::Deadlock;
  for (const Warp& warp : state_.warps)
    if (!warp.finished) finding.waiting.push_back(waiting_of(state_, warp));
  if (finding.waiting.empty()) return;
  finding.at = finding.waiting.front().at;
  const auto only = [&](WaitFor what) {
    return std::any_of(finding.waiting.begin(), finding.waiting.end(),
                       [&](const Waiting& w) { return w.what == what; });
  };
  if (only(WaitFor::Registers)) finding.fault = Fault::RegisterPoolExhausted;
  if (only(WaitFor::Warpgroup)) finding.fault = Fault::WarpgroupDivergent;
  for (const Waiting& w : finding.waiting)
    if ((w.what == WaitFor::Registers && finding.fault == Fault::RegisterPoolExhausted) ||
        (w.what == WaitFor::Warpgroup && finding.fault == Fault::WarpgroupDivergent)) {
      finding.at = w.at;
      break;
    }
  note_tensor_memory(state_, finding);
  judge_phases(state_, finding);
  state_.fail(std::move(finding));
}

void Cluster::report_unwritten_reads() {
  if (!state_.tcgen05.uninitialized.empty()) state_.fail(state_.tcgen05.uninitialized.front());
  if (state_.contents) return;
  for (const UnwrittenRead& read : state_.unwritten_reads)
    if (!read.is_settled && (!read.is_followed || read.is_used)) return state_.fail(read.finding);
}

}  // namespace tcq::machine
