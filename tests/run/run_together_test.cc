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
  EXPECT_EQ(go(cta, wide, true), Fault::ScopeTooNarrow);
  EXPECT_EQ(go(gpu, look, true), Fault::ScopeTooNarrow);
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

// CTA 1 stores 16 bytes by each thread; CTA 0 looks at them, as data and flag in one, until no word of its thread is 0.
TEST(RunTogether, AVectorThatIsPolledIsDisputed) {
  const auto go = [](const std::string& store, const std::string& load) {
    PtxRun run(kernel(R"(
      mov.u32 %r4, %ctaid.x;
      mul.wide.u32 %rd4, %r1, 16; add.u64 %rd4, %rd1, %rd4;
      setp.eq.u32 %p1, %r4, 0;
      add.u32 %r5, %r1, 1;
      @%p1 bra LOOK;
)" + store + R"(
      bra DONE;
    LOOK:
)" + load + R"(
      mul.lo.u32 %r10, %r6, %r7; mul.lo.u32 %r11, %r8, %r9; mul.lo.u32 %r10, %r10, %r11;
      setp.eq.u32 %p3, %r10, 0;
      @%p3 bra LOOK;
      st.global.u32 [%rd2+1024], %r9;
    DONE:)"));
    const Pointer out = run.array<std::uint32_t>(512);
    run.pass(out);
    run.launch().grid = {2};
    run.launch().whole_grid = true;
    const Fault fault = run.go({.grid = {2}, .explore = 6});
    if (fault == Fault::None) {
      EXPECT_EQ(run.read<std::uint32_t>(out + 1024, 32)[31], 32u);
    }
    return worst_of(run, fault);
  };
  const std::string store = "st.global.v4.u32 [%rd4], {%r5, %r5, %r5, %r5};";
  const std::string load = "ld.volatile.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd4];";
  EXPECT_EQ(go(store, load), Fault::VectorPollAssumed);
  EXPECT_EQ(go(store, "ld.relaxed.sys.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd4];"),
            Fault::VectorPollAssumed);
  EXPECT_EQ(go("st.volatile.global.v4.u32 [%rd4], {%r5, %r5, %r5, %r5};", load), Fault::None);
  // Several accesses are no such thing, on either side.
  EXPECT_EQ(go("st.global.v2.u32 [%rd4], {%r5, %r5}; st.global.v2.u32 [%rd4+8], {%r5, %r5};", load),
            Fault::AtomicRace);
  EXPECT_EQ(
      go(store,
         "ld.volatile.global.v2.u32 {%r6, %r7}, [%rd4]; ld.volatile.global.v2.u32 {%r8, %r9}, "
         "[%rd4+8];"),
      Fault::AtomicRace);
}

// CTA 1 stores what a word of 0 holds, or something else; CTA 0 looks at it once.
TEST(RunTogether, AStoreThatChangesNothingIsDisputed) {
  const auto go = [](const std::string& store, const std::string& load) {
    PtxRun run(
        kernel("mov.u32 %r4, %ctaid.x; mov.u32 %r5, 1; mov.u32 %r6, 0; setp.eq.u32 %p1, %r4, "
               "0;\n@%p1 bra LOOK;\n" +
               store + "\nbra DONE;\nLOOK:\n" + load + "\nst.global.u32 [%rd2+1024], %r7;\nDONE:"));
    run.pass(run.array<std::uint32_t>(512));
    run.launch().grid = {2};
    run.launch().whole_grid = true;
    return worst_of(run, run.go({.grid = {2}, .explore = 6}));
  };
  const std::string load = "ld.volatile.global.u32 %r7, [%rd2];";
  EXPECT_EQ(go("st.global.u32 [%rd2], %r6;", load), Fault::UnchangedStoreRace);
  EXPECT_EQ(go("st.global.u32 [%rd2], %r6;", "ld.acquire.gpu.global.u32 %r7, [%rd2];"),
            Fault::UnchangedStoreRace);
  EXPECT_EQ(go("st.relaxed.gpu.global.u32 [%rd2], %r6;", load), Fault::None);
  EXPECT_EQ(go("st.global.u32 [%rd2], %r5;", load), Fault::AtomicRace);
  EXPECT_EQ(go("st.global.u32 [%rd2], %r6;", "atom.global.add.u32 %r7, [%rd2], 0;"),
            Fault::AtomicRace);
}

// CTA 1 stores, or its threads do behind each other, and one raises a flag; CTA 0 copies what it has seen the flag of.
TEST(RunTogether, ACopyOfWhatAnotherCtaReleasedIsDisputed) {
  const auto go =
      [](const std::string& release, const std::string& acquire, int from = 1,
         const std::string& raise = "st.release.sys", const std::string& look = "ld.acquire.sys") {
        PtxRun run(kernel(R"(
      .shared .align 128 .b8 x[128];
      .shared .align 8 .b64 full;
      mov.u32 %r2, x; mov.u32 %r3, full;
      mov.u32 %r4, %ctaid.x;
      setp.eq.u32 %p2, %r1, 0;
      @%p2 mbarrier.init.shared.b64 [%r3], 1;
      @%p2 fence.mbarrier_init.release.cluster;
      bar.sync 0;
      setp.ne.u32 %p1, %r4, )" +
                          std::to_string(from) + R"(;
      @%p1 bra LOOK;
      st.global.u32 [%rd2], %r1;
)" + release + R"(
      bar.sync 1;
      @%p2 )" + raise + R"(.global.u32 [%rd1+512], 1;
    LOOK:
      setp.ne.u32 %p1, %r4, 0;
      @%p1 bra DONE;
      @!%p2 bra READ;
    AGAIN:
      )" + look + R"(.global.u32 %r6, [%rd1+512];
      setp.eq.u32 %p3, %r6, 0;
      @%p3 bra AGAIN;
)" + acquire + R"(
      mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 128;
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 128, [%r3];
    READ:
      mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;
      @!%p3 bra READ;
      mad.lo.u32 %r7, %r1, 4, %r2;
      ld.shared.u32 %r8, [%r7];
      st.global.u32 [%rd2+1024], %r8;
    DONE:)"));
        const Pointer out = run.array<std::uint32_t>(512);
        run.pass(out);
        run.launch().grid = {2};
        run.launch().whole_grid = true;
        const Fault fault = run.go({.grid = {2}, .explore = 6});
        if (fault == Fault::None) {
          EXPECT_EQ(run.read<std::uint32_t>(out + 1024, 32)[31], 31u);
        }
        return worst_of(run, fault);
      };
  const std::string fence = "fence.proxy.async.global;";
  EXPECT_EQ(go("", ""), Fault::ProxyFenceMissingAcquired);
  EXPECT_EQ(go(fence, ""), Fault::None);
  EXPECT_EQ(go("", fence), Fault::ProxyFenceByReader);
  // Within one CTA, and where nothing orders the two, it is what it was.
  EXPECT_EQ(go("", "", 0), Fault::ProxyFenceMissing);
  EXPECT_EQ(go("", "", 1, "st.relaxed.sys"), Fault::DataRace);
}

// A counter of two CTAs, and one that each has for itself.
TEST(RunTogether, AnAtomicOfTheCtaIsNoneForAnotherOne) {
  const auto go = [](const std::string& first, const std::string& second, int stride = 0) {
    PtxRun run(kernel("mov.u32 %r4, %ctaid.x; mov.u32 %r5, 1; mul.lo.u32 %r6, %r4, " +
                      std::to_string(stride) +
                      "; mul.wide.u32 %rd4, %r6, 4; add.u64 %rd4, %rd1, %rd4;\n"
                      "setp.eq.u32 %p1, %r4, 0; @!%p1 bra B;\n" +
                      first + "bra DONE;\nB:" + second + "DONE:"));
    run.pass(run.array<std::uint32_t>(256));
    run.launch().grid = {2};
    run.launch().whole_grid = true;
    return run.go({.grid = {2}, .explore = 4});
  };
  const std::string narrow = "red.relaxed.cta.global.add.u32 [%rd4], %r5;";
  const std::string wide = "red.relaxed.gpu.global.add.u32 [%rd4], %r5;";
  EXPECT_EQ(go(narrow, narrow), Fault::ScopeTooNarrow);
  EXPECT_EQ(go(narrow, wide), Fault::ScopeTooNarrow);
  EXPECT_EQ(go(wide, narrow), Fault::ScopeTooNarrow);
  EXPECT_EQ(go(wide, wide), Fault::None);
  EXPECT_EQ(go("red.global.add.u32 [%rd4], %r5;", wide), Fault::None);
  EXPECT_EQ(go("atom.relaxed.cta.global.add.u32 %r7, [%rd4], %r5;", wide), Fault::ScopeTooNarrow);
  EXPECT_EQ(go("st.relaxed.cta.global.u32 [%rd4], %r5;", "ld.relaxed.gpu.global.u32 %r7, [%rd4];"),
            Fault::ScopeTooNarrow);
  EXPECT_EQ(go(narrow, narrow, 8), Fault::None);
  EXPECT_EQ(go(narrow + "membar.gl; st.release.gpu.global.u32 [%rd1+128], %r5;",
               "L: ld.acquire.gpu.global.u32 %r8, [%rd1+128]; setp.eq.u32 %p2, %r8, 0; @%p2 bra "
               "L;" +
                   narrow),
            Fault::None);
}

// Without a rank in it an address is the own CTA's, as in every grid without clusters.
TEST(RunTogether, ANumberAsSharedAddressIsTheOwnCtas) {
  PtxRun run(kernel(R"(
    .shared .align 8 .b32 s[32];
    mov.u32 %r9, s;
    mov.u32 %r4, %ctaid.x;
    shl.b32 %r5, %r1, 2;
    mad.lo.u32 %r6, %r4, 100, %r1;
    st.shared.u32 [%r5+1024], %r6;
    bar.sync 0;
    xor.b32 %r5, %r5, 4;
    ld.shared.u32 %r7, [%r5+1024];
    mad.wide.u32 %rd3, %r4, 128, %rd2;
    st.global.u32 [%rd3], %r7;)"));
  const Pointer out = run.array<std::uint32_t>(64);
  run.pass(out);
  run.launch().whole_grid = true;
  ASSERT_EQ(run.go({.grid = {2}, .has_cluster = false}), Fault::None);
  const auto found = run.read<std::uint32_t>(out, 64);
  for (std::uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(found[t], t ^ 1);
    EXPECT_EQ(found[32 + t], 100 + (t ^ 1));
  }
}

// One thread asks for another CTA's flag and tells the others, behind barriers: no round comes back by itself. Alone, the CTA
// waits for ever, which is found; beside the other one it goes on.
TEST(RunTogether, ARoundOfAWholeCtaWaitsForAnotherOne) {
  const std::string text = kernel(R"(
    .shared .align 4 .b32 s;
    mov.u32 %r4, %ctaid.x;
    setp.ne.u32 %p1, %r4, 0;
    setp.eq.u32 %p2, %r1, 0;
    @%p1 bra TELL;
  ASK:
    @%p2 atom.acquire.gpu.global.cas.b32 %r5, [%rd1+256], 1, 1;
    @%p2 st.shared.u32 [s], %r5;
    bar.sync 0;
    ld.shared.u32 %r6, [s];
    bar.sync 0;
    setp.ne.u32 %p3, %r6, 1;
    @%p3 bra ASK;
    ld.global.u32 %r7, [%rd1+512];
    st.global.u32 [%rd2], %r7;
    bra DONE;
  TELL:
    @%p2 st.global.u32 [%rd1+512], 5;
    @%p2 atom.release.gpu.global.exch.b32 %r5, [%rd1+256], 1;
  DONE:)");
  const auto go = [&](bool together) {
    PtxRun run(text);
    const Pointer out = run.array<std::uint32_t>(256);
    run.pass(out);
    run.launch().whole_grid = together;
    const Fault fault = run.go({.grid = {2}, .block = {64}, .has_cluster = false, .explore = 2});
    if (fault == Fault::None) {
      EXPECT_EQ(run.read<std::uint32_t>(out, 64), std::vector<std::uint32_t>(64, 5));
    } else {
      EXPECT_EQ(run.report().finding->waiting.front().cta, machine::global_memory);
    }
    return fault;
  };
  EXPECT_EQ(go(false), Fault::Deadlock);
  EXPECT_EQ(go(true), Fault::None);
}

// Such rounds end by themselves if one of the threads counts them where registers and shared memory do not show it.
TEST(RunTogether, ARoundThatCountsInGlobalMemoryIsNotInVain) {
  PtxRun run(kernel(R"(
    .shared .align 4 .b32 s;
    setp.eq.u32 %p2, %r1, 0;
  ASK:
    @%p2 atom.acquire.gpu.global.cas.b32 %r5, [%rd1+256], 1, 1;
    @%p2 ld.global.u32 %r7, [%rd1+512];
    @%p2 add.u32 %r7, %r7, 1;
    @%p2 st.global.u32 [%rd1+512], %r7;
    setp.ge.u32 %p3, %r7, 700;
    selp.u32 %r6, 1, 0, %p3;
    mov.u32 %r7, 0;
    @%p2 st.shared.u32 [s], %r6;
    bar.sync 0;
    ld.shared.u32 %r6, [s];
    bar.sync 0;
    setp.eq.u32 %p3, %r6, 0;
    @%p3 bra ASK;
    st.global.u32 [%rd2], %r6;)"));
  const Pointer out = run.array<std::uint32_t>(256);
  run.pass(out);
  ASSERT_EQ(run.go({.block = {64}, .executions = 1}), Fault::None);
  EXPECT_EQ(run.read<std::uint32_t>(out, 129)[128], 700u);
}

}  // namespace
}  // namespace tcq::tests
