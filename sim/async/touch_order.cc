#include "sim/async/touch_order.h"

namespace tcq::machine {
namespace {

bool same_pool_conflict(const Touch& a, const Touch& b) {
  return a.taken > 0 && b.taken > 0 && a.free_before < a.taken + b.taken;
}

bool exhausts(const Touch& t) { return t.arrives && t.pending_after == 0; }
bool only_expects(const Touch& t) { return t.expects && !t.arrives; }

// Two counts of one phase, `a` first: could the other order complete the phase too early? That takes
// all arrivals, and a sum of bytes that is zero before its time.
bool counts_depend(const Touch& a, const Touch& b) {
  if (only_expects(a) && (exhausts(b) || b.pending_after == 0)) return true;
  if (only_expects(b) && a.pending_after == 0) return true;
  if (a.copied != 0 && exhausts(b)) return b.tx_after + a.copied == 0;
  return a.copied != 0 && b.copied != 0 && a.pending_after == 0 && b.tx_after < 0;
}

// May an executed count and a sleeping one be taken in either order? If both only arrive and the
// executed one was not the last, or if both are copies that leave bytes to come.
bool counts_commute(const Touch& executed, const Touch& next) {
  if (executed.copied != 0 && next.copied != 0)
    return executed.pending_after != 0 || executed.tx_after > 0;
  const bool no_bytes =
      !executed.expects && !next.expects && executed.copied == 0 && next.copied == 0;
  return no_bytes && executed.pending_after != 0;
}

}  // namespace

bool depends(const Touch& a, const Touch& b) {
  if (a.object != b.object) return false;
  if (a.kind == TouchKind::Word || b.kind == TouchKind::Word) return a.writes || b.writes;
  if (a.kind == TouchKind::Take || b.kind == TouchKind::Take) return same_pool_conflict(a, b);
  if (a.kind == TouchKind::Wait && b.kind == TouchKind::Wait) return false;
  if (a.kind == TouchKind::Count && b.kind == TouchKind::Count)
    return a.phase != b.phase || counts_depend(a, b);
  if (a.kind == TouchKind::Count) return a.phase < b.phase;         // it let the wait pass
  return b.phase > a.phase || (b.phase == a.phase && b.completes);  // it ends what the wait saw
}

bool may_be_exchanged(const Touch& a, const Touch& b) {
  if (b.kind != TouchKind::Wait || a.kind != TouchKind::Count) return true;
  if (b.parity < 0) return false;  // barriers are waited for by use, not by parity
  return (a.phase & 1) != static_cast<std::uint32_t>(b.parity);
}

bool wakes(const std::vector<Touch>& executed, const std::vector<Touch>& next) {
  for (const Touch& e : executed)
    for (const Touch& n : next) {
      if (e.object != n.object) continue;
      if (e.kind == TouchKind::Word && (e.writes || n.writes)) return true;
      if (e.kind == TouchKind::Take || n.kind == TouchKind::Take) return true;
      if (e.kind == TouchKind::Count && n.kind == TouchKind::Count && !counts_commute(e, n))
        return true;
      if (e.kind == TouchKind::Count && n.kind == TouchKind::Wait && e.completes) return true;
      if (e.kind == TouchKind::Wait && n.kind == TouchKind::Count) return true;
    }
  return false;
}

}  // namespace tcq::machine
