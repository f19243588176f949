// Who may know what of the other CTA of a pair, and of what another warp allocated: that it runs, that it has left, that
// columns are there.
#include <gtest/gtest.h>

#include "oracle/diagnosis/diagnosis.h"
#include "sim/async/explore.h"
#include "tests/async/catalogue_tcgen05_kit.h"

namespace tcq {
namespace {

using namespace machine;
using catalogue::address_register;
using catalogue::tmem_base;

// Warp 1 of each CTA allocates for the pair. It knows that the peer runs if it has waited at the
// cluster barrier, or if a warp that has waited has told it since; how the arrivals release is all
// the same, and an arrival alone shows nothing.
TEST(Tcgen05_Pairs, WhoHasWaitedOrWasToldKnowsThatThePeerRuns) {
  for (int bits = 0; bits < 16; ++bits) {
    const bool relaxed = (bits & 1) != 0, arrives = (bits & 2) != 0;
    const bool waits = arrives && (bits & 4) != 0, told = arrives && (bits & 8) != 0;
    Program p({.cluster = 2, .threads = 64});
    const std::uint32_t slot = p.shared("slot", 4);
    Role first = p.warps("first", 0, 1);
    Role second = p.warps("second", 1, 1);
    first.add(ClusterArrive{relaxed}).cluster_wait();
    if (arrives) second.add(ClusterArrive{relaxed});
    if (waits) second.cluster_wait();
    if (told) {
      first.barrier_sync();
      second.barrier_sync();
    }
    second.tcgen05_alloc(slot, 32, 2).load_shared({slot, 0}, address_register);
    if (!arrives) second.add(ClusterArrive{relaxed});
    if (!waits) second.cluster_wait();
    for (Role* role : {&first, &second}) role->cluster_arrive().cluster_wait();
    second.tcgen05_dealloc(tmem_base, 32, 2);
    const Report report = explore(p, {});
    if (waits || told) {
      EXPECT_EQ(report.outcome, Outcome::Right) << bits << oracle::report_text(p, report);
    } else {
      ASSERT_EQ(report.outcome, Outcome::Wrong) << bits;
      EXPECT_EQ(report.finding->fault, Fault::CtaNotStarted) << bits;
    }
  }
}

// Who has met the allocating warp may free what it allocated, whatever the arrivals release: columns are no memory.
TEST(Tcgen05_Pairs, ARelaxedBarrierShowsAnAllocation) {
  for (const bool meets : {true, false}) {
    Program p({.cluster = 2, .threads = 64});
    const std::uint32_t slot = p.shared("slot", 4);
    Role owner = p.warps("owner", 1, 1);
    owner.tcgen05_alloc(slot, 64, 1);
    if (meets) p.warps("both", 0, 2).add(ClusterArrive{true}).cluster_wait();
    p.warps("other", 0, 1).move({address_register, 1}, 0).tcgen05_dealloc(tmem_base, 64, 1);
    const Report report = explore(p, {});
    const Fault found = report.finding ? report.finding->fault : Fault::None;
    EXPECT_EQ(found, meets ? Fault::None : Fault::TmemNotAllocated)
        << oracle::report_text(p, report);
  }
}

// Columns that the two are yet to deallocate together keep the peer.
TEST(Tcgen05_Pairs, RelinquishedBeforeDeallocThePeerIsThere) {
  Program p({.cluster = 2, .threads = 32});
  const std::uint32_t slot = p.shared("tmem_address", 4);
  Role all = p.warps("all", 0, 1);
  all.cluster_arrive().cluster_wait();
  all.tcgen05_alloc(slot, 64, 2).load_shared({slot, 0}, address_register);
  all.cluster_arrive().cluster_wait();
  all.tcgen05_relinquish(2).tcgen05_dealloc(tmem_base, 64, 2);
  const Report report = explore(p, {});
  EXPECT_FALSE(report.finding) << oracle::report_text(p, report);
}

// One order shows it, that in which the peer leaves last, too: nothing says that it must.
TEST(Tcgen05_Pairs, APeerThatMayLeaveIsSeenWhereItLeavesLast) {
  Program p({.cluster = 2, .threads = 32});
  const std::uint32_t slot = p.shared("tmem_address", 4);
  Role all = p.warps("all", 0, 1);
  all.cluster_arrive().cluster_wait();
  all.tcgen05_alloc(slot, 64, 2).load_shared({slot, 0}, address_register);
  all.cluster_arrive().cluster_wait().tcgen05_dealloc(tmem_base, 64, 2);
  p.warps("last", 0, 1, 0).tcgen05_relinquish(2);
  p.warps("peer", 0, 1, 1).barrier_sync();
  const Report report = explore(p, {.max_executions = 1});
  ASSERT_TRUE(report.finding);
  EXPECT_EQ(report.schedule.execution.steps.back().what, 1u);  // the peer
  EXPECT_EQ(report.finding->fault, Fault::CtaExited);
}

}  // namespace
}  // namespace tcq
