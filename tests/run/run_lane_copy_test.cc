// cp.async and st.async of compiled kernels, and what launch control answers: bytes, groups, mbarriers, and what is
// found where a wait is missing.
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

// Each thread copies 16 bytes; then reads a word of the thread `step` before it. Two warps.
std::string copy_then_read(const std::string& copy, const std::string& wait, int step = 32) {
  return kernel(R"(
    .shared .align 16 .b8 x[1024];
    mov.u32 %r2, x;
    shl.b32 %r3, %r1, 4;
    add.u32 %r4, %r2, %r3;
    cvt.u64.u32 %rd4, %r3;
    add.u64 %rd5, %rd1, %rd4;
    setp.lt.u32 %p1, %r1, 2;
    selp.b32 %r8, 0, 16, %p1;
)" + copy + wait +
                "xor.b32 %r5, %r3, " + std::to_string(16 * step) +
                ";\nadd.u32 %r6, %r2, %r5;\nld.shared.u32 %r7, [%r6];\n"
                "st.global.u32 [%rd2+1024], %r7;");
}

struct CopyResult {
  Fault fault = Fault::None;
  std::vector<std::uint32_t> words;
  std::string place;
};

CopyResult run_copy(const std::string& text) {
  PtxRun run(text);
  std::vector<std::uint32_t> in(512);
  for (std::uint32_t i = 0; i < 256; ++i) in[i] = 1000 + i;
  const Pointer data = run.array(in);
  run.pass(data);
  CopyResult result;
  result.fault = run.go({.block = {64}, .explore = 20});
  result.words = run.read<std::uint32_t>(data + 1024, 64);
  if (run.report().finding) result.place = run.place();
  return result;
}

constexpr const char* copy16 = "cp.async.cg.shared.global.L2::128B [%r4], [%rd5], 16;\n";
constexpr const char* commit = "cp.async.commit_group;\n";
constexpr const char* barrier = "bar.sync 0;\n";

TEST(RunLaneCopy, BytesBehindWaitAndBarrier) {
  for (const char* wait :
       {"cp.async.commit_group;\ncp.async.wait_group 0;\n", "cp.async.wait_all;\n"}) {
    const CopyResult got = run_copy(copy_then_read(copy16, std::string(wait) + barrier));
    ASSERT_EQ(got.fault, Fault::None) << got.place;
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(got.words[i], 1000 + 4 * (i ^ 32));
  }
}

TEST(RunLaneCopy, WhatIsMissingIsFound) {
  const auto fault = [](const std::string& wait, int step = 32) {
    return run_copy(copy_then_read(copy16, wait, step)).fault;
  };
  EXPECT_EQ(fault(""), Fault::CopyInFlight);
  EXPECT_EQ(fault("", 0), Fault::CopyInFlight);
  EXPECT_EQ(fault(barrier), Fault::CopyInFlight);
  EXPECT_EQ(fault(std::string(commit) + "cp.async.wait_group 1;\n" + barrier), Fault::CopyInFlight);
  EXPECT_EQ(fault(std::string("cp.async.wait_group 0;\n") + barrier), Fault::CopyInFlight);
  EXPECT_EQ(fault(std::string(barrier) + "cp.async.wait_all;\n"), Fault::CopyInFlight);
  EXPECT_EQ(fault(std::string(commit) + "cp.async.wait_group 0;\n", 0), Fault::None);
  EXPECT_EQ(fault(std::string(commit) + commit + "cp.async.wait_group 1;\n" + barrier),
            Fault::None);
}

TEST(RunLaneCopy, ShorterSourcesAreFilledWithZeros) {
  const std::string wait = std::string("cp.async.wait_all;\n") + barrier;
  const CopyResult sized =
      run_copy(copy_then_read("cp.async.ca.shared.global [%r4], [%rd5], 16, %r8;\n", wait));
  ASSERT_EQ(sized.fault, Fault::None);
  EXPECT_EQ(sized.words[32], 0u);
  EXPECT_EQ(sized.words[33], 0u);
  EXPECT_EQ(sized.words[34], 1008u);
  const CopyResult hinted = run_copy(copy_then_read(
      "mov.b64 %rd9, 0;\n"
      "cp.async.cg.shared.global.L2::cache_hint.L2::256B [%r4], [%rd5], 16, %r8, %rd9;\n",
      wait));
  EXPECT_EQ(hinted.fault, Fault::None);
  EXPECT_EQ(hinted.words, sized.words);
  const CopyResult ignored =
      run_copy(copy_then_read("cp.async.cg.shared.global [%r4], [%rd5], 16, %p1;\n", wait));
  EXPECT_EQ(ignored.fault, Fault::None);
  EXPECT_EQ(ignored.words, sized.words);
  // A source that is not read may be anywhere.
  const CopyResult nowhere = run_copy(copy_then_read(
      "@%p1 mov.b64 %rd5, 0;\ncp.async.cg.shared.global [%r4], [%rd5], 16, %r8;\n", wait));
  EXPECT_EQ(nowhere.fault, Fault::None);
  EXPECT_EQ(nowhere.words, sized.words);
}

TEST(RunLaneCopy, ABufferIsFilledAgainOnlyBehindItsReaders) {
  const std::string again = std::string("cp.async.wait_all;\n") + barrier +
                            "xor.b32 %r5, %r3, 512;\nadd.u32 %r6, %r2, %r5;\n"
                            "ld.shared.u32 %r7, [%r6];\nst.global.u32 [%rd2+1536], %r7;\n";
  const std::string refill = std::string(copy16) + "cp.async.wait_all;\n" + barrier;
  EXPECT_EQ(run_copy(copy_then_read(copy16, again + refill)).fault, Fault::DataRace);
  EXPECT_EQ(run_copy(copy_then_read(copy16, again + barrier + refill)).fault, Fault::None);
  // The bytes are the thread's own, but nobody says which copy is the last.
  EXPECT_EQ(run_copy(copy_then_read(copy16, refill)).fault, Fault::CopyInFlight);
  EXPECT_EQ(
      run_copy(copy_then_read(copy16, "st.shared.u32 [%r4], %r1;\ncp.async.wait_all;\n", 0)).fault,
      Fault::CopyInFlight);
  EXPECT_EQ(
      run_copy(copy_then_read(copy16, "st.global.u32 [%rd5], %r1;\ncp.async.wait_all;\n", 0)).fault,
      Fault::SourceInFlight);
}

// A warpgroup copies both operands of a wgmma.
Fault run_wgmma(const std::string& sync, std::vector<Fault>* disputed = nullptr) {
  PtxRun run(kernel(R"(
    .shared .align 1024 .b8 x[10240];
    mov.u32 %r2, x;
    mov.u32 %r5, %r1;
  LOOP:
    shl.b32 %r6, %r5, 4;
    add.u32 %r7, %r2, %r6;
    cvt.u64.u32 %rd4, %r6;
    add.u64 %rd5, %rd1, %rd4;
    cp.async.cg.shared.global [%r7], [%rd5], 16;
    add.u32 %r5, %r5, 128;
    setp.lt.u32 %p1, %r5, 640;
    @%p1 bra LOOP;
    cp.async.commit_group;
    cp.async.wait_group 0;
)" + sync + R"(
    shr.u32 %r8, %r2, 4;
    cvt.u64.u32 %rd6, %r8;
    or.b64 %rd6, %rd6, 0x4000004000010000;
    add.u64 %rd7, %rd6, 512;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd6, %rd7, 0, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    st.global.f32 [%rd2+10240], %f1;)"));
  run.pass(run.array<std::uint32_t>(2560 + 128));
  const Fault fault = run.go({.block = {128}, .explore = 10});
  if (disputed != nullptr)
    for (const machine::Finding& f : run.report().suspicions) disputed->push_back(f.fault);
  return fault;
}

TEST(RunLaneCopy, WgmmaReadsBehindAFenceOfWriterOrReader) {
  EXPECT_EQ(run_wgmma("bar.sync 0;\nfence.proxy.async.shared::cta;\n"), Fault::None);
  EXPECT_EQ(run_wgmma("fence.proxy.async.shared::cta;\nbar.sync 0;\n"), Fault::None);
  std::vector<Fault> disputed;
  const char* const own = "fence.proxy.async.shared::cta;\nbar.warp.sync 0xffffffff;\n";
  EXPECT_EQ(run_wgmma(own, &disputed), Fault::None);
  EXPECT_EQ(std::set<Fault>(disputed.begin(), disputed.end()),
            std::set{Fault::WarpgroupOrderAssumed});
  EXPECT_NE(run_wgmma(""), Fault::None);
}

// As published kernels do.
TEST(RunLaneCopy, WgmmaThatReadsWithoutAFenceIsDisputed) {
  std::vector<Fault> disputed;
  EXPECT_EQ(run_wgmma("bar.sync 0;\n", &disputed), Fault::None);
  EXPECT_EQ(disputed, std::vector{Fault::ProxyFenceMissingCopied});
}

// A producer, threads 128 to 159, fills A and B for a warpgroup and lets an mbarrier track its copies; `fill` puts zeros, or what
// is copied, to the 16 bytes at %r7 from the 16 at %rd5.
std::vector<Fault> run_filled(const std::string& fill, const std::string& track) {
  PtxRun run(kernel(R"(
    .shared .align 128 .b8 x[2304];
    .shared .align 8 .b64 full;
    mov.u32 %r2, x;
    mov.u32 %r3, full;
    mov.u32 %r9, 0;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [%r3], 32;
    bar.sync 0;
    setp.lt.u32 %p2, %r1, 128;
    @%p2 bra MULTIPLY;
    and.b32 %r5, %r1, 31;
    setp.gt.u32 %p3, %r5, 15;
  LOOP:
    shl.b32 %r6, %r5, 4;
    add.u32 %r7, %r2, %r6;
    cvt.u64.u32 %rd4, %r6;
    add.u64 %rd5, %rd1, %rd4;
)" + fill + R"(
    add.u32 %r5, %r5, 32;
    setp.lt.u32 %p1, %r5, 144;
    @%p1 bra LOOP;
)" + track + R"(
    bra DONE;
  MULTIPLY:
    mbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0;
    @!%p1 bra MULTIPLY;
    and.b32 %r5, %r2, 0x3ffff;
    shr.u32 %r5, %r5, 4;
    cvt.u64.u32 %rd4, %r5;
    or.b64 %rd4, %rd4, 0x0000001000080000;
    add.u64 %rd5, %rd4, 128;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd4, %rd5, 0, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    st.global.f32 [%rd2+4096], %f1;
  DONE:)"));
  run.pass(run.array<std::uint32_t>(2048));
  std::vector<Fault> faults;
  const Fault fault = run.go({.block = {160}, .explore = 6});
  if (fault != Fault::None) faults.push_back(fault);
  for (const machine::Finding& f : run.report().suspicions) faults.push_back(f.fault);
  return faults;
}

// Zeros, by a copy that reads nothing or by a store before copies that the mbarrier tracks, are as disputed as what is copied;
// stored zeros that no copy follows are not.
TEST(RunLaneCopy, ZerosBesideCopiesAreDisputedAsTheseAre) {
  const std::string copy = "cp.async.cg.shared.global [%r7], [%rd5], 16;";
  const std::string zeros = "st.shared.v4.u32 [%r7], {%r9, %r9, %r9, %r9};";
  const std::string noinc = "cp.async.mbarrier.arrive.noinc.shared.b64 [%r3];";
  const std::string inc =
      "cp.async.mbarrier.arrive.shared.b64 [%r3]; mbarrier.arrive.shared.b64 _, [%r3];";
  const std::vector disputed = {Fault::ProxyFenceMissingCopied};
  for (const std::string& track : {noinc, inc}) {
    EXPECT_EQ(run_filled(copy, track), disputed);
    EXPECT_EQ(run_filled("cp.async.cg.shared.global [%r7], [%rd5], 16, 0;", track), disputed);
    EXPECT_EQ(run_filled("selp.u32 %r8, 16, 0, %p3; cp.async.cg.shared.global [%r7], [%rd5], 16, "
                         "%r8;",
                         track),
              disputed);
    EXPECT_EQ(run_filled("@%p3 " + copy + "@!%p3 " + zeros, track), disputed);
    EXPECT_EQ(run_filled(zeros + copy, track), disputed);
    EXPECT_EQ(run_filled(zeros, track), std::vector{Fault::ProxyFenceMissing});
  }
  EXPECT_EQ(run_filled("@%p3 " + copy + "@!%p3 " + zeros,
                       "cp.async.wait_all; mbarrier.arrive.shared.b64 _, [%r3];"),
            std::vector{Fault::ProxyFenceMissing});
}

// Every thread stores a word, one thread copies them away; `sync` comes before it.
Fault run_store(const std::string& sync, std::uint32_t threads, std::vector<Fault>& disputed) {
  PtxRun run(kernel(R"(
    .shared .align 128 .b8 x[256];
    mov.u32 %r2, x;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    setp.eq.u32 %p1, %r1, 0;
    st.shared.u32 [%r4], %r1;
)" + sync + R"(
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;)"));
  run.pass(run.array<std::uint32_t>(64));
  const Fault fault = run.go({.block = {threads}, .explore = 10});
  disputed.clear();
  for (const machine::Finding& f : run.report().suspicions) disputed.push_back(f.fault);
  return fault;
}

// Behind a barrier the fence of the thread that copies is disputed, also for what other lanes of its warp wrote; before it it
// knows of nothing.
TEST(RunLaneCopy, TheThreadThatCopiesMayFenceBehindTheBarrier) {
  const std::string fence = "@%p1 fence.proxy.async.shared::cta;\n";
  std::vector<Fault> disputed;
  for (const auto& [threads, barrier] :
       {std::pair{64u, "bar.sync 0;\n"}, {32u, "bar.sync 0;\n"}, {32u, "bar.warp.sync -1;\n"}}) {
    EXPECT_EQ(run_store(barrier + fence, threads, disputed), Fault::None) << threads << barrier;
    EXPECT_EQ(disputed, std::vector{Fault::ProxyFenceByReader}) << threads << barrier;
    EXPECT_EQ(run_store(fence + barrier, threads, disputed), Fault::ProxyFenceMissing)
        << threads << barrier;
    EXPECT_EQ(run_store(barrier, threads, disputed), Fault::ProxyFenceMissing)
        << threads << barrier;
    EXPECT_EQ(
        run_store("fence.proxy.async.shared::cta;\n" + std::string(barrier), threads, disputed),
        Fault::None);
    EXPECT_TRUE(disputed.empty());
  }
  EXPECT_NE(run_store(fence, 32, disputed), Fault::None);
}

// Warp 0 copies for warp 1, which waits for the mbarrier.
std::string hand_over(const std::string& arrive, int count) {
  return kernel(R"(
    .shared .align 16 .b8 x[512];
    .shared .align 8 .b64 full;
    mov.u32 %r2, x;
    mov.u32 %r9, full;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [%r9], )" +
                std::to_string(count) + R"(;
    bar.sync 0;
    and.b32 %r10, %r1, 31;
    shl.b32 %r3, %r10, 4;
    add.u32 %r4, %r2, %r3;
    cvt.u64.u32 %rd4, %r3;
    add.u64 %rd5, %rd1, %rd4;
    setp.lt.u32 %p2, %r1, 32;
    @%p2 bra COPY;
  WAIT:
    mbarrier.try_wait.parity.shared.b64 %p3, [%r9], 0;
    @!%p3 bra WAIT;
    ld.shared.u32 %r7, [%r4];
    st.global.u32 [%rd2+896], %r7;
    bra DONE;
  COPY:
    cp.async.cg.shared.global [%r4], [%rd5], 16;
)" + arrive + "DONE:\n");
}

TEST(RunLaneCopy, AnMbarrierSaysThatCopiesHaveLanded) {
  const CopyResult got =
      run_copy(hand_over("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r9];\n", 32));
  ASSERT_EQ(got.fault, Fault::None) << got.place;
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got.words[i], 1000 + 4 * i);
  const std::string counted =
      "cp.async.mbarrier.arrive.shared.b64 [%r9];\nmbarrier.arrive.shared.b64 %rd7, [%r9];\n";
  EXPECT_EQ(run_copy(hand_over(counted, 32)).fault, Fault::None);
  EXPECT_EQ(run_copy(hand_over("mbarrier.arrive.shared.b64 %rd7, [%r9];\n", 32)).fault,
            Fault::CopyInFlight);
  EXPECT_EQ(run_copy(hand_over("cp.async.mbarrier.arrive.shared.b64 [%r9];\n", 32)).fault,
            Fault::Deadlock);
}

// Each CTA of a pair sends its threads' numbers to the other.
std::string send(const std::string& wait) {
  return kernel(R"(
    .shared .align 16 .b8 x[256];
    .shared .align 8 .b64 full;
    mov.u32 %r2, x;
    mov.u32 %r9, full;
    mov.u32 %r11, %cluster_ctarank;
    xor.b32 %r12, %r11, 1;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [%r9], 1;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 256;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    shl.b32 %r3, %r1, 3;
    add.u32 %r4, %r2, %r3;
    mapa.shared::cluster.u32 %r13, %r4, %r12;
    mapa.shared::cluster.u32 %r14, %r9, %r12;
    mad.lo.u32 %r15, %r11, 100, %r1;
    st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r13], {%r15, %r1}, [%r14];
)" + wait + R"(
    ld.shared.v2.u32 {%r7, %r8}, [%r4];
    add.u32 %r7, %r7, %r8;
    shl.b32 %r16, %r11, 7;
    cvt.u64.u32 %rd6, %r16;
    add.u64 %rd2, %rd2, %rd6;
    st.global.u32 [%rd2+1024], %r7;
    barrier.cluster.arrive;
    barrier.cluster.wait;)");
}

Fault run_send(const std::string& text, std::vector<std::uint32_t>& words) {
  PtxRun run(text);
  const Pointer data = run.array<std::uint32_t>(512);
  run.pass(data);
  const Fault fault = run.go({.grid = {2}, .cluster = {2}, .explore = 20});
  words = run.read<std::uint32_t>(data + 1024, 64);
  return fault;
}

TEST(RunLaneCopy, StoresToAnotherCtaCompleteItsMbarrier) {
  std::vector<std::uint32_t> words;
  ASSERT_EQ(
      run_send(
          send("WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r9], 0;\n"
               "@!%p3 bra WAIT;\n"),
          words),
      Fault::None);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(words[i], 2 * (i % 32) + (i < 32 ? 100 : 0));
  EXPECT_EQ(run_send(send(""), words), Fault::CopyInFlight);
}

// What an H100 does not execute where the launch names no cluster, though it is only one CTA that copies to itself.
TEST(RunLaneCopy, SomeStatementsNeedALaunchThatNamesACluster) {
  const std::string begin = R"(
    .shared .align 16 .b8 x[128];
    .shared .align 16 .b8 y[128];
    .shared .align 8 .b64 full;
    mov.u32 %r2, x;
    mov.u32 %r4, y;
    mov.u32 %r9, full;
    mov.u32 %r12, 0;
    shl.b32 %r3, %r1, 2;
    add.u32 %r7, %r2, %r3;
    add.u32 %r8, %r4, %r3;
    st.shared.u32 [%r7], %r1;
    st.shared.u32 [%r8], 5;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [%r9], 1;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 128;
    fence.mbarrier_init.release.cluster;
    fence.proxy.async;
    bar.sync 0;
    mapa.shared::cluster.u32 %r13, %r7, %r12;
    mapa.shared::cluster.u32 %r14, %r9, %r12;
    mapa.shared::cluster.u32 %r15, %r2, %r12;
)";
  const std::string end = R"(
  WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r9], 0;
    @!%p3 bra WAIT;
    ld.shared.u32 %r5, [%r7];
    mov.pred %p2, %is_explicit_cluster;
    @%p2 add.u32 %r5, %r5, 100;
    st.global.u32 [%rd2], %r5;)";
  struct Row {
    const char* statement;
    bool needs;
    std::uint32_t first, step;  // what a thread then finds in x
  };
  const Row rows[] = {
      {"@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r15], [%r4], "
       "128, [%r14];",
       true, 5, 0},
      {"@%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
       "[%r15], [%r4], 128, [%r14];",
       true, 5, 1},
      {"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r13], 7, [%r14];", true, 7, 0},
      {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r13], 7, "
       "[%r14];",
       true, 7, 1},
      {"@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r15], [%rd1], "
       "128, "
       "[%r14];",
       false, 9, 0},
  };
  for (const Row& row : rows)
    for (const bool names : {false, true})
      for (const bool is_hopper : {true, false}) {
        std::string text = kernel(begin + row.statement + end);
        if (!is_hopper) text.replace(text.find("sm_90a"), 6, "sm_100");
        PtxRun run(text);
        const Pointer out = run.array(std::vector<std::uint32_t>(32, 9));
        run.pass(out);
        const Fault fault = run.go({.has_cluster = names});
        const bool traps = row.needs && is_hopper && !names;
        EXPECT_EQ(fault, traps ? Fault::ClusterAttributeMissing : Fault::None) << row.statement;
        if (traps) {
          EXPECT_NE(run.place().find(" [%r"), std::string::npos) << run.place();
        }
        if (fault != Fault::None) continue;
        const auto words = run.read<std::uint32_t>(out, 32);
        for (std::uint32_t i = 0; i < 32; ++i)
          EXPECT_EQ(words[i], row.first + row.step * i + (names ? 100 : 0)) << row.statement;
      }
}

TEST(RunLaneCopy, NoClusterIsLeftToBeCancelled) {
  PtxRun run(kernel(R"(
    .shared .align 16 .b128 answer;
    .shared .align 8 .b64 full;
    .reg .b128 %q;
    mov.u32 %r2, answer;
    mov.u32 %r9, full;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [%r9], 1;
    fence.mbarrier_init.release.cluster;
    bar.sync 0;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 16;
    @%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2], [%r9];
  WAIT:
    mbarrier.try_wait.parity.shared.b64 %p3, [%r9], 0;
    @!%p3 bra WAIT;
    ld.shared.b128 %q, [%r2];
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q;
    selp.b32 %r3, 7, 5, %p2;
    st.global.u32 [%rd2], %r3;)"));
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  ASSERT_EQ(run.go({.explore = 10}), Fault::None);
  for (const std::uint32_t word : run.read<std::uint32_t>(out, 32)) EXPECT_EQ(word, 5u);
}

// Whatever a warp does before its first statement counts, too.
TEST(RunLaneCopy, AnEndlessLoopOfArithmeticEndsAtTheLimit) {
  PtxRun run(kernel("LOOP: add.u32 %r2, %r2, 1; bra LOOP;"));
  run.pass(run.array<std::uint32_t>(32));
  EXPECT_EQ(run.go({.block = {128}}), Fault::StepLimit);
  EXPECT_LE(run.report().instructions, 1'000'001u);
}

}  // namespace
}  // namespace tcq::tests
