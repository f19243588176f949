// clusterlaunchcontrol of compiled kernels: who is handed which cluster, what an answer says, and what is undefined.
#include <string>
#include <utility>
#include <vector>

#include "sim/run/pending_clusters.h"
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

constexpr std::uint32_t from = 100;

// Every tile is the number of a cluster: who works on it leaves `from` + its own. WORK, ASK and the like are replaced.
struct Words {
  std::string expect = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 16;";
  std::string ask =
      "@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
      "[%r2], [%r9];";
  std::string wait = "WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r9], %r11; @!%p3 bra WAIT;";
  std::string read =
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q;\n"
      "@!%p2 bra DONE;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r10, %q;";
  std::string fence = "fence.proxy.async.shared::cta;";
  std::string begin, end;
};

std::string worker(const Words& w) {
  return kernel(w.begin + R"(
    .shared .align 16 .b128 answer;
    .shared .align 8 .b64 full;
    .reg .b128 %q;
    mov.u32 %r2, answer;
    mov.u32 %r9, full;
    mov.u32 %r10, %clusterid.x;
    mov.u32 %r12, %cluster_nctaid.x;
    mov.u32 %r11, 0;
    setp.eq.u32 %p1, %r1, 0;
    mad.lo.u32 %r3, %r10, 1, 100;
    @%p1 mbarrier.init.shared.b64 [%r9], 1;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mul.lo.u32 %r10, %r10, %r12;
  LOOP:
    mov.u32 %r13, %cluster_ctaid.x;
    add.u32 %r13, %r13, %r10;
    mul.wide.u32 %rd3, %r13, 4;
    add.u64 %rd3, %rd3, %rd1;
    @%p1 st.global.u32 [%rd3], %r3;
    )" + w.expect +
                "\n" + w.ask + "\n" + w.wait + "\nld.shared.b128 %q, [%r2];\n" + w.read + "\n" +
                w.fence +
                R"(
    xor.b32 %r11, %r11, 1;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    bra LOOP;
  DONE:)" + w.end);
}

// By tile, without `from`.
std::vector<std::uint32_t> workers(PtxRun& run, Shape shape, Fault expected = Fault::None) {
  const std::size_t tiles = shape.grid.x;
  const Pointer out = run.array<std::uint32_t>(tiles);
  run.pass(out);
  EXPECT_EQ(run.go(shape), expected) << run.place();
  std::vector<std::uint32_t> who = run.read<std::uint32_t>(out, tiles);
  for (std::uint32_t& w : who) w -= from;
  return who;
}

using Who = std::vector<std::uint32_t>;

TEST(RunLaunchControl, WhatIsPendingIsSharedOut) {
  using run::PendingClusters;
  PendingClusters all({0, 1, 2, 3, 4, 5, 6}, 2);
  EXPECT_EQ(all.next(), 0u);
  EXPECT_EQ(all.share(), (std::vector<std::uint64_t>{2, 4, 6}));
  all.ran(1);
  EXPECT_EQ(all.next(), 1u);
  EXPECT_EQ(all.share(), (std::vector<std::uint64_t>{3, 4, 5, 6}));
  all.ran(2);
  EXPECT_EQ(all.next(), 5u);
  EXPECT_EQ(all.share(), (std::vector<std::uint64_t>{6}));
  all.ran(1);
  EXPECT_TRUE(all.is_done());
  EXPECT_TRUE(PendingClusters({3, 5}, 0).share().empty());
  EXPECT_TRUE(PendingClusters({3, 5}, 9).share().empty());
}

TEST(RunLaunchControl, EveryTileIsDoneOnceWhoeverBegins) {
  const std::vector<std::pair<std::uint64_t, Who>> rows = {
      {0, {0, 1, 2, 3, 4, 5, 6}}, {1, {0, 0, 0, 0, 0, 0, 0}}, {2, {0, 1, 0, 1, 0, 1, 0}},
      {3, {0, 1, 2, 0, 1, 2, 0}}, {6, {0, 1, 2, 3, 4, 5, 0}}, {7, {0, 1, 2, 3, 4, 5, 6}}};
  for (const auto& [resident, who] : rows) {
    PtxRun run(worker({}));
    EXPECT_EQ(workers(run, {.grid = {7}, .explore = 10, .resident = resident}), who) << resident;
    EXPECT_EQ(run.clusters_run(), resident == 0 ? 7 : resident);
    EXPECT_TRUE(run.report().suspicions.empty());
  }
}

// A kernel that asks once: whatever is left begins.
TEST(RunLaunchControl, WhatNobodyAsksForBegins) {
  PtxRun run(worker({}));
  EXPECT_EQ(workers(run, {.grid = {5}, .resident = 5}), (Who{0, 1, 2, 3, 4}));
  Words once;
  once.ask = "setp.eq.u32 %p4, %r11, 0; and.pred %p5, %p1, %p4;\n@%p5" + once.ask.substr(4);
  once.expect = "setp.ne.u32 %p6, %r11, 0; @%p6 bra DONE;\n" + once.expect;
  PtxRun asks_once(worker(once));
  EXPECT_EQ(workers(asks_once, {.grid = {6}, .explore = 5, .resident = 2}),
            (Who{0, 1, 0, 1, 4, 4}));
  EXPECT_EQ(asks_once.clusters_run(), 3u);
}

// The first CTA of the pair asks for both.
TEST(RunLaunchControl, MulticastBringsTheAnswerToEveryCta) {
  Words pair;
  pair.ask =
      "setp.eq.u32 %p4, %r13, %r10; and.pred %p5, %p1, %p4;\n"
      "@%p5 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
      ".multicast::cluster::all.b128 [%r2], [%r9];";
  pair.wait =
      "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r9], %r11; @!%p3 bra "
      "WAIT;";
  pair.end = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
  PtxRun run(worker(pair));
  EXPECT_EQ(workers(run, {.grid = {8}, .cluster = {2}, .explore = 20, .resident = 2}),
            (Who{0, 0, 1, 1, 0, 0, 1, 1}));
  // Behind the answer no, a CTA that has left.
  Words leaves = pair;
  leaves.begin = "mov.u32 %r13, %cluster_ctaid.x; setp.eq.u32 %p7, %r13, 1;";
  leaves.expect = "@%p7 bra LEFT;\n" + leaves.expect;
  leaves.end = "LEFT:";
  PtxRun left(worker(leaves));
  workers(left, {.grid = {4}, .cluster = {2}, .explore = 20, .resident = 1}, Fault::CtaExited);
}

TEST(RunLaunchControl, TheThreeNumbersAreTheFirstCtas) {
  Words w;
  w.read =
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q;\n@!%p2 bra DONE;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r20, %r21, %r22, _}, %q;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r23, %q;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r24, %q;\n"
      "mad.lo.u32 %r10, %r22, 10, %r21; mad.lo.u32 %r10, %r10, 10, %r20;\n"
      "st.global.u32 [%rd1+16], %r10; sub.u32 %r23, %r23, %r21; sub.u32 %r24, %r24, %r22;\n"
      "or.b32 %r23, %r23, %r24; st.global.u32 [%rd1+20], %r23; bra DONE;";
  PtxRun run(worker(w));
  const Pointer out = run.array<std::uint32_t>(6);
  run.pass(out);
  ASSERT_EQ(run.go({.grid = {4, 3, 2}, .resident = 23}), Fault::None) << run.place();
  const std::vector<std::uint32_t> words = run.read<std::uint32_t>(out, 6);
  EXPECT_EQ(words[4], 123u);
  EXPECT_EQ(words[5], 0u);
}

TEST(RunLaunchControl, WhatIsUndefinedIsNamed) {
  const Words right;
  const auto fault_of = [](const Words& words) {
    PtxRun run(worker(words));
    run.pass(run.array<std::uint32_t>(4));
    return run.go({.grid = {4}, .explore = 20, .resident = 1});
  };
  EXPECT_EQ(fault_of(right), Fault::None);
  Words w = right;
  w.fence.clear();
  EXPECT_EQ(fault_of(w), Fault::ProxyFenceMissingAfterRead);
  w = right;
  w.wait.clear();
  EXPECT_EQ(fault_of(w), Fault::CopyInFlight);
  w = right;
  w.expect.clear();
  EXPECT_EQ(fault_of(w), Fault::Deadlock);
  w = right;
  w.ask.clear();
  EXPECT_EQ(fault_of(w), Fault::Deadlock);
  w = right;
  w.ask.erase(0, 5);  // every lane
  EXPECT_NE(fault_of(w), Fault::None);
  w = right;
  w.begin = ".reg .b32 %unused;";
  w.ask.replace(w.ask.find("[%r2]"), 5, "[%r2+8]");
  EXPECT_EQ(fault_of(w), Fault::SharedUnaligned);
  // Whoever has been refused asks again, once.
  w = right;
  w.end = "setp.eq.u32 %p8, %r14, 7; @%p8 ret; mov.u32 %r14, 7;" + right.fence +
          "xor.b32 %r11, %r11, 1; bar.sync 0; bra LOOP;";
  w.begin = "mov.u32 %r14, 0;";
  EXPECT_EQ(fault_of(w), Fault::CancelAfterRefusal);
}

// Asked before the answer is looked at, as some kernels do: the number of a cluster that was not cancelled is dropped.
TEST(RunLaunchControl, AFirstCtaThatIsNoneMayBeAskedForAndNotUsed) {
  Words w;
  w.read =
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q;\n"
      "selp.b32 %r10, %r20, 0, %p2;\n@!%p2 bra DONE;";
  PtxRun run(worker(w));
  EXPECT_EQ(workers(run, {.grid = {4}, .explore = 10, .resident = 2}), (Who{0, 1, 0, 1}));
  w.read =
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r10, %q;\n"
      "setp.eq.u32 %p2, %r10, 0;\n@%p2 bra DONE;";
  PtxRun uses(worker(w));
  uses.pass(uses.array<std::uint32_t>(4));
  EXPECT_EQ(uses.go({.grid = {4}, .resident = 1}), Fault::FirstCtaUndefined);
  EXPECT_NE(uses.place().find("get_first_ctaid"), std::string::npos) << uses.place();
  EXPECT_GE(uses.report().finding->hint.statement, 0);
}

// Of two requests in flight either may be answered first: who reads the second alone loses what the first got.
TEST(RunLaunchControl, TwoRequestsAreAnsweredInAnyOrder) {
  Words w;
  w.ask += "\n" + w.ask;
  w.ask.replace(w.ask.rfind("[%r2]"), 5, "[%r15]");
  w.ask.replace(w.ask.rfind("[%r9]"), 5, "[%r16]");
  w.begin =
      ".shared .align 16 .b128 second; .shared .align 8 .b64 full2;\n"
      "mov.u32 %r15, second; mov.u32 %r16, full2; setp.eq.u32 %p1, %r1, 0;\n"
      "@%p1 mbarrier.init.shared.b64 [%r16], 1;\n";
  w.expect += "\n@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r16], 16;";
  w.wait += "\nWAIT2: mbarrier.try_wait.parity.shared.b64 %p3, [%r16], %r11; @!%p3 bra WAIT2;";
  w.read += "\nst.global.u32 [%rd1+4], %r10; bra DONE;";
  PtxRun run(worker(w));
  run.pass(run.array<std::uint32_t>(3));
  EXPECT_EQ(run.go({.grid = {3}, .resident = 1}), Fault::ResultsDiffer);
}

// Answers in a ring of two, asked for ahead of the warps that work: a thread of warp 2 asks, warps 0 and 1 and it itself free an
// answer once they have read it.
std::string ring_of_answers(const std::string& frees, const std::string& waits_for_free) {
  return kernel(R"(
    .shared .align 16 .b8 answers[32];
    .shared .align 8 .b64 full[2];
    .shared .align 8 .b64 empty[2];
    .reg .b128 %q;
    mov.u32 %r2, answers; mov.u32 %r3, full; mov.u32 %r4, empty;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [%r3], 1;
    @%p1 mbarrier.init.shared.b64 [%r3+8], 1;
    @%p1 mbarrier.init.shared.b64 [%r4], 3;
    @%p1 mbarrier.init.shared.b64 [%r4+8], 3;
    fence.mbarrier_init.release.cluster;
    bar.sync 0;
    mov.u32 %r10, %ctaid.x;
    and.b32 %r12, %r1, 31;
    setp.eq.u32 %p1, %r12, 0;
    setp.eq.u32 %p2, %r1, 64;
    setp.ge.u32 %p3, %r1, 64;
    mov.u32 %r5, 0;
  LOOP:
    and.b32 %r6, %r5, 1;
    shr.u32 %r7, %r5, 1;
    and.b32 %r7, %r7, 1;
    xor.b32 %r8, %r7, 1;
    mad.lo.u32 %r13, %r6, 16, %r2;
    mad.lo.u32 %r14, %r6, 8, %r3;
    mad.lo.u32 %r15, %r6, 8, %r4;
    @!%p3 mul.wide.u32 %rd3, %r10, 4;
    @!%p3 add.u64 %rd3, %rd3, %rd1;
    setp.eq.u32 %p4, %r1, 0;
    @%p4 st.global.u32 [%rd3], 107;
    @!%p2 bra READ;
)" + waits_for_free +
                R"(
    mbarrier.arrive.expect_tx.shared.b64 _, [%r14], 16;
    clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r13], [%r14];
  READ:
    mbarrier.try_wait.parity.shared.b64 %p5, [%r14], %r7;
    @!%p5 bra READ;
    ld.shared.b128 %q, [%r13];
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p6, %q;
    @%p6 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r10, %q;
)" + frees + R"(
    add.u32 %r5, %r5, 1;
    @%p6 bra LOOP;)");
}

TEST(RunLaunchControl, ARingOfAnswersIsRightWhoeverBegins) {
  const std::string frees =
      "fence.proxy.async.shared::cta; bar.warp.sync -1; @%p1 mbarrier.arrive.shared.b64 _, [%r15];";
  const std::string waits =
      "FREE: mbarrier.try_wait.parity.shared.b64 %p5, [%r15], %r8; @!%p5 bra FREE;";
  const auto fault_of = [](const std::string& text, std::uint64_t resident) {
    PtxRun run(text);
    const Pointer out = run.array<std::uint32_t>(9);
    run.pass(out);
    const Fault fault = run.go({.grid = {9}, .block = {96}, .explore = 10, .resident = resident});
    if (fault == Fault::None) {
      EXPECT_EQ(run.read<std::uint32_t>(out, 9), std::vector<std::uint32_t>(9, 107));
      EXPECT_TRUE(run.report().suspicions.empty());
    }
    return fault;
  };
  for (const std::uint64_t resident : {1, 2, 4, 9})
    EXPECT_EQ(fault_of(ring_of_answers(frees, waits), resident), Fault::None) << resident;
  // An answer that nobody waits for to be free is overwritten while it is read, as soon as the ring comes round.
  EXPECT_EQ(fault_of(ring_of_answers(frees, ""), 1), Fault::DataRace);
  EXPECT_EQ(fault_of(ring_of_answers(frees, ""), 5), Fault::None);
}

}  // namespace
}  // namespace tcq::tests
