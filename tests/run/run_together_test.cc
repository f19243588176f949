// CTAs of a grid that are on the machine at once: counters and flags of one for another, and at which scope.
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

// The Fault that ended the run, else the only suspicion.
Fault worst_of(const PtxRun& run, Fault fault) {
  const auto& suspicions = run.report().suspicions;
  if (fault != Fault::None || suspicions.empty()) return fault;
  for (const machine::Finding& f : suspicions) EXPECT_EQ(f.fault, suspicions[0].fault);
  return suspicions[0].fault;
}

// Each CTA stores a word and counts itself; the last one sums. Run one after the other nothing shows; at once the missing
// release is a race; a bar.sync behind the atomic is taken for its acquire, and disputed.
TEST(RunTogether, TheLastOfSeveralCtasReadsWhatTheOthersWrote) {
  const auto go = [](const std::string& release, const std::string& acquire, bool together) {
    PtxRun run(kernel(R"(
      mov.u32 %r4, %ctaid.x; mov.u32 %r5, %nctaid.x;
      setp.ne.u32 %p1, %r1, 0;
      mov.u32 %r8, 0;
      @%p1 bra BEHIND;
      mul.wide.u32 %rd4, %r4, 4; add.u64 %rd4, %rd1, %rd4;
      add.u32 %r6, %r4, 5;
      st.global.u32 [%rd4], %r6;
)" + release + R"(
      atom.global.add.u32 %r8, [%rd1+256], 1;
      add.u32 %r8, %r8, 1;
)" + acquire + R"(
    BEHIND:
      bar.sync 0;
      setp.ne.u32 %p2, %r8, %r5;
      @%p2 bra DONE;
      ld.global.u32 %r9, [%rd1]; ld.global.u32 %r10, [%rd1+4];
      add.u32 %r9, %r9, %r10;
      st.global.u32 [%rd1+512], %r9;
    DONE:)"));
    const Pointer out = run.array<std::uint32_t>(256);
    run.pass(out);
    run.launch().grid = {2};
    EXPECT_TRUE(may_run_together(run.kernel(), run.launch()));
    run.launch().whole_grid = together;
    const Fault fault = run.go({.grid = {2}, .explore = 4});
    if (fault == Fault::None && together) {
      EXPECT_EQ(run.read<std::uint32_t>(out + 512, 1)[0], 11u);
    }
    return worst_of(run, fault);
  };
  const std::string fence = "fence.acq_rel.gpu;";
  EXPECT_EQ(go(fence, fence, true), Fault::None);
  EXPECT_EQ(go(fence, "", true), Fault::AcquireAssumed);
  EXPECT_EQ(go("", fence, true), Fault::DataRace);
  EXPECT_EQ(go("", "", false), Fault::None);
  // A fence of the CTA reaches no other one.
  const std::string narrow = "membar.cta;";
  EXPECT_EQ(go(narrow, fence, true), Fault::DataRace);
  EXPECT_EQ(go(fence, narrow, true), Fault::AcquireAssumed);
  EXPECT_EQ(go(fence + narrow, narrow + fence, true), Fault::None);
}

// CTA 0 waits for what the threads of CTA 1 wrote: each fences, and behind the barrier one of them raises the flag.
TEST(RunTogether, OneThreadRaisesTheFlagForAllThatFenced) {
  const auto go = [](const std::string& release, const std::string& acquire) {
    PtxRun run(kernel(R"(
      mov.u32 %r4, %ctaid.x;
      mul.wide.u32 %rd4, %r1, 4; add.u64 %rd4, %rd1, %rd4;
      setp.eq.u32 %p1, %r4, 0;
      setp.eq.u32 %p2, %r1, 0;
      @%p1 bra READER;
      st.global.u32 [%rd4], %r1;
)" + release + R"(
      bar.sync 0;
      @%p2 atom.global.exch.b32 %r5, [%rd1+512], 1;
      bra DONE;
    READER:
      @!%p2 bra BEHIND;
    LOOK:
      ld.volatile.global.u32 %r6, [%rd1+512];
      setp.eq.u32 %p3, %r6, 0;
      @%p3 bra LOOK;
)" + acquire + R"(
    BEHIND:
      bar.sync 0;
      ld.global.u32 %r7, [%rd4];
      st.global.u32 [%rd4+1024], %r7;
    DONE:)"));
    const Pointer out = run.array<std::uint32_t>(512);
    run.pass(out);
    run.launch().grid = {2};
    run.launch().whole_grid = true;
    const Fault fault = run.go({.grid = {2}, .block = {64}, .explore = 4});
    if (fault == Fault::None) {
      EXPECT_EQ(run.read<std::uint32_t>(out + 1024, 64)[63], 63u);
    }
    return worst_of(run, fault);
  };
  const std::string fence = "fence.acq_rel.gpu;";
  EXPECT_EQ(go(fence, fence), Fault::None);
  EXPECT_EQ(go(fence, ""), Fault::AcquireAssumed);
  EXPECT_EQ(go("", fence), Fault::DataRace);
  EXPECT_EQ(go("fence.acq_rel.cta;", fence), Fault::DataRace);
}

// Warp 0 of each CTA tells warp 1 of its own, or of the other one, by a word of global memory, at some scope.
TEST(RunTogether, AScopeOfTheCtaReachesItsOwnThreads) {
  const auto go = [](const std::string& raise, const std::string& look, bool other,
                     const std::string& behind = "") {
    PtxRun run(kernel(R"(
      mov.u32 %r4, %ctaid.x; xor.b32 %r5, %r4, )" +
                      std::string(other ? "1" : "0") + R"(;
      mul.wide.u32 %rd4, %r4, 64; add.u64 %rd4, %rd1, %rd4;
      mul.wide.u32 %rd5, %r5, 64; add.u64 %rd5, %rd1, %rd5;
      setp.ne.u32 %p1, %r1, 0; setp.ne.u32 %p2, %r1, 32;
      @!%p1 st.global.u32 [%rd4], 5;
      @!%p1 )" + raise +
                      behind + R"(
      @%p2 bra DONE;
    LOOK: )" + look + R"(
      setp.eq.u32 %p3, %r6, 0;
      @%p3 bra LOOK;
      fence.acq_rel.cta;
      ld.global.u32 %r7, [%rd5];
      st.global.u32 [%rd4+128], %r7;
    DONE:)"));
    run.pass(run.array<std::uint32_t>(256));
    run.launch().grid = {2};
    run.launch().whole_grid = true;
    return worst_of(run, run.go({.grid = {2}, .block = {64}, .explore = 4}));
  };
  const std::string cta = "st.release.cta.global.u32 [%rd4+32], 1;";
  const std::string gpu = "st.release.gpu.global.u32 [%rd4+32], 1;";
  const std::string relaxed = "st.relaxed.cta.global.u32 [%rd4+32], 1;";
  const std::string look = "ld.acquire.cta.global.u32 %r6, [%rd5+32];";
  const std::string wide = "ld.acquire.gpu.global.u32 %r6, [%rd5+32];";
  EXPECT_EQ(go(cta, look, false), Fault::None);
  EXPECT_EQ(go(gpu, look, false), Fault::None);
  EXPECT_EQ(
      go("fence.acq_rel.cta; @!%p1 " + relaxed, "ld.relaxed.cta.global.u32 %r6, [%rd5+32];", false),
      Fault::None);
  EXPECT_EQ(go(gpu, wide, true), Fault::None);
  EXPECT_EQ(go(cta, wide, true), Fault::DataRace);
  EXPECT_EQ(go(gpu, look, true), Fault::DataRace);
  // Each fences, and one of them tells behind the barrier.
  EXPECT_EQ(go("nanosleep.u32 1; fence.acq_rel.cta; bar.sync 0;", look, false, "@!%p1 " + relaxed),
            Fault::None);
}

TEST(RunTogether, WhichGridsMayRunAtOnce) {
  const auto may = [](const std::string& body, run::Dim3 grid, run::Dim3 cluster) {
    PtxRun run(kernel(body));
    run.launch().grid = grid;
    run.launch().cluster = cluster;
    return may_run_together(run.kernel(), run.launch());
  };
  const std::string plain = "st.global.u32 [%rd1], %r1;";
  EXPECT_TRUE(may(plain, {4, 4}, {}));
  EXPECT_FALSE(may(plain, {1}, {}));
  EXPECT_FALSE(may(plain, {17}, {}));
  EXPECT_FALSE(may(plain, {4}, {2}));
  for (const char* names_cluster :
       {"barrier.cluster.arrive; barrier.cluster.wait;", "mapa.shared::cluster.u32 %r2, %r1, 1;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%r1], [%rd1], 16, [%r2], %h1;"})
    EXPECT_FALSE(may(names_cluster, {2}, {})) << names_cluster;
}

}  // namespace
}  // namespace tcq::tests
