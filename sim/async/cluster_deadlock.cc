// Who waits for whom when nobody can take a step, and the Fault with a name that this comes from, if
// bytes or phases give it one; reads of what nothing ever wrote. See cluster.h.
#include <algorithm>

#include "sim/async/cluster.h"
#include "sim/async/executor.h"

namespace tcq::machine {

Waiting Cluster::waiting_of(const Warp& warp) const {
  Waiting w;
  w.at = {statement_number(warp), warp.number, -1};
  w.cta = warp.cta;
  const Cta& cta = ctas_[static_cast<std::size_t>(warp.cta)];
  const Instruction& what = next_statement(warp)->what;
  if (const auto* wait = std::get_if<MbarrierTryWait>(&what)) {
    w.object = wait->barrier.of(0);
    w.parity = wait->parity;
    const int index = Executor::find_slot(*this, warp.cta, w.object);
    if (index < 0) return w;
    const MbarrierSlot& slot = slots_[static_cast<std::size_t>(index)];
    w.phase = slot.state.phase;
    w.missing = slot.state.pending;
    w.expected = slot.state.expected;
    w.tx_bytes = slot.state.tx;
    w.copies_in_flight = std::count_if(copies_.begin(), copies_.end(),
                                       [&](const Copy& copy) { return copy.slot == index; });
  } else if (const auto* sync = std::get_if<BarrierSync>(&what)) {
    const NamedBarrier& barrier = cta.barriers[static_cast<std::size_t>(sync->id)];
    w.what = WaitFor::Barrier;
    w.object = static_cast<std::uint32_t>(sync->id);
    w.expected = barrier.expected;
    w.missing = barrier.expected - barrier.arrived;
  } else if (std::holds_alternative<ClusterWait>(what)) {
    w.what = WaitFor::ClusterBarrier;
    w.expected = static_cast<std::int64_t>(warps_.size());
    w.missing = w.expected - cluster_barrier_.arrived;
  } else if (const auto* registers = std::get_if<SetMaxRegisters>(&what)) {
    w.what = WaitFor::Registers;
    w.expected = std::int64_t{registers->count - warp.max_registers} * warp_threads;
    w.missing = w.expected - cta.free_registers;
  } else if (const auto* alloc = std::get_if<Tcgen05Alloc>(&what)) {
    w.what = warp.arrived ? WaitFor::PairedCta : WaitFor::TensorMemory;
    w.expected = alloc->columns;
    w.missing = tcgen05_.pools[static_cast<std::size_t>(warp.cta)].free_columns();
  } else if (std::holds_alternative<Tcgen05Dealloc>(what)) {
    w.what = WaitFor::PairedCta;
  } else {
    w.what = WaitFor::Warpgroup;
  }
  return w;
}

// A deadlock of mbarriers has a cause with a name where bytes or phases say so.
void Cluster::judge_phases(Finding& finding) const {
  for (const Waiting& w : finding.waiting) {
    const int index =
        w.what == WaitFor::Mbarrier ? Executor::find_slot(*this, w.cta, w.object) : -1;
    if (index < 0 || finding.fault != Fault::Deadlock) continue;
    const Warp& warp = warps_[static_cast<std::size_t>(w.at.warp)];
    const Stream phases = slots_[static_cast<std::size_t>(index)].phases;
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

void Cluster::report_deadlock() {
  Finding finding;
  finding.fault = Fault::Deadlock;
  for (const Warp& warp : warps_)
    if (!warp.finished) finding.waiting.push_back(waiting_of(warp));
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
  note_tensor_memory(finding);
  judge_phases(finding);
  fail(std::move(finding));
}

void Cluster::report_unwritten_reads() {
  if (!tcgen05_.uninitialized.empty()) fail(tcgen05_.uninitialized.front());
  if (!unwritten_reads_.empty()) fail(unwritten_reads_.front().finding);
}

}  // namespace tcq::machine
