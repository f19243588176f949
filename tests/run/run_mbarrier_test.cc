// What an arrival returns, .noComplete, and arrive_drop with bytes, in compiled kernels; what a barrier of the CTA does for a stage
// that is refilled.
#include <algorithm>

#include "tests/run/lanes_run.h"

namespace tcq::tests {
namespace {

// An mbarrier `full` of `count` arrivals at %r9; lane 0 executes `body`, which leaves two numbers in %r7 and %r8.
struct Numbers {
  Fault fault = Fault::None;
  std::uint32_t first = 0, second = 0;
};

Numbers run_alone(int count, const std::string& body) {
  PtxRun run(kernel(R"(
    .shared .align 8 .b64 full;
    mov.u32 %r9, full;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra DONE;
    mov.u32 %r7, 0;
    mov.u32 %r8, 0;
    mbarrier.init.shared.b64 [%r9], )" +
                    std::to_string(count) + ";\n" + body + R"(
    st.global.u32 [%rd1], %r7;
    st.global.u32 [%rd1+4], %r8;
  DONE:)"));
  const Pointer out = run.array<std::uint32_t>(2);
  run.pass(out);
  Numbers got;
  got.fault = run.go({});
  const auto words = run.read<std::uint32_t>(out, 2);
  got.first = words[0];
  got.second = words[1];
  return got;
}

TEST(RunMbarrier, AStateHasThePendingCountBeforeTheArrival) {
  const Numbers got = run_alone(7, R"(
    mbarrier.arrive.noComplete.shared::cta.b64 %rd5, [%r9], 2;
    mbarrier.arrive_drop.noComplete.release.cta.shared::cta.b64 %rd6, [%r9], 3;
    mbarrier.pending_count.b64 %r7, %rd5;
    mbarrier.pending_count.b64 %r8, %rd6;)");
  ASSERT_EQ(got.fault, Fault::None);
  EXPECT_EQ(got.first, 7u);
  EXPECT_EQ(got.second, 5u);
}

TEST(RunMbarrier, EachLaneHasTheStateOfItsOwnArrival) {
  PtxRun run(kernel(R"(
    .shared .align 8 .b64 full;
    mov.u32 %r9, full;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [%r9], 100;
    bar.sync 0;
    mbarrier.arrive.noComplete.shared::cta.b64 %rd5, [%r9], 2;
    mbarrier.pending_count.b64 %r7, %rd5;
    st.global.u32 [%rd2], %r7;)"));
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  ASSERT_EQ(run.go({}), Fault::None);
  const auto words = run.read<std::uint32_t>(out, 32);
  for (std::uint32_t l = 0; l < 32; ++l) EXPECT_EQ(words[l], 100 - 2 * l);
}

// As libcu++ arrives more than once: all but the last without completing.
TEST(RunMbarrier, NoCompleteHasToLeaveThePhaseOpen) {
  const auto arrive = [](const char* count, const char* last) {
    return std::string("mbarrier.arrive.noComplete.shared.b64 _, [%r9], ") + count + ";\n" + last;
  };
  const char* last =
      "mbarrier.arrive.shared.b64 %rd5, [%r9];\n"
      "WAIT: mbarrier.test_wait.shared.b64 %p2, [%r9], %rd5;\n@!%p2 bra WAIT;\n";
  EXPECT_EQ(run_alone(4, arrive("3", last)).fault, Fault::None);
  EXPECT_EQ(run_alone(5, arrive("3", last)).fault, Fault::Deadlock);
  EXPECT_EQ(run_alone(3, arrive("3", "")).fault, Fault::MbarrierArrivals);
  EXPECT_EQ(run_alone(2, arrive("3", "")).fault, Fault::MbarrierArrivals);
  // Bytes that are expected keep it open.
  EXPECT_EQ(
      run_alone(3, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], 16;\n" + arrive("3", ""))
          .fault,
      Fault::None);
}

// The first arrival of a phase drops: pending and expected are equal again, and the phase is still open.
TEST(RunMbarrier, AStateOfADropIsOfTheOpenPhase) {
  const Numbers got = run_alone(2, R"(
    mbarrier.arrive_drop.shared.b64 %rd5, [%r9];
    mbarrier.test_wait.shared.b64 %p2, [%r9], %rd5;
    selp.u32 %r7, 1, 0, %p2;
    mbarrier.arrive.shared.b64 %rd6, [%r9];
    mbarrier.test_wait.shared.b64 %p2, [%r9], %rd5;
    selp.u32 %r8, 1, 0, %p2;)");
  ASSERT_EQ(got.fault, Fault::None);
  EXPECT_EQ(got.first, 0u);
  EXPECT_EQ(got.second, 1u);
}

TEST(RunMbarrier, ADropMayExpectBytes) {
  const std::string drop = R"(
    mbarrier.arrive_drop.expect_tx.release.cta.shared::cta.b64 %rd5, [%r9], 16;
    mbarrier.arrive.shared.b64 _, [%r9];
    mbarrier.test_wait.shared.b64 %p2, [%r9], %rd5;
    selp.u32 %r7, 1, 0, %p2;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r9], 16;
    mbarrier.test_wait.shared.b64 %p2, [%r9], %rd5;
    selp.u32 %r8, 1, 0, %p2;
)";
  const Numbers got = run_alone(2, drop);
  ASSERT_EQ(got.fault, Fault::None);
  EXPECT_EQ(got.first, 0u);
  EXPECT_EQ(got.second, 1u);
  // The next phase expects one arrival only.
  const Numbers next = run_alone(2, drop + R"(
    mbarrier.arrive.shared.b64 %rd6, [%r9];
    mbarrier.test_wait.shared.b64 %p2, [%r9], %rd6;
    selp.u32 %r7, 1, 0, %p2;
)");
  EXPECT_EQ(next.fault, Fault::None);
  EXPECT_EQ(next.first, 1u);
  EXPECT_EQ(run_alone(1, drop).fault, Fault::MbarrierArrivals);
}

// Three rounds of two warps, who wait if `waits`; then threads of numbers under `last` arrive once more, and nobody waits.
bool is_uneven(int count, int last, bool waits) {
  const std::string wait = R"(
    WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], %r4;
    @!%p2 bra WAIT;)";
  PtxRun run(kernel(R"(
    .shared .align 8 .b64 full;
    mov.u32 %r9, full;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [%r9], )" +
                    std::to_string(count) + R"(;
    bar.sync 0;
    mov.u32 %r3, 0;
  ROUND:
    mbarrier.arrive.shared.b64 _, [%r9];
    and.b32 %r4, %r3, 1;)" +
                    (waits ? wait : "bar.sync 0;") + R"(
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p3, %r3, 3;
    @%p3 bra ROUND;
    setp.lt.u32 %p4, %r1, )" +
                    std::to_string(last) + R"(;
    @%p4 mbarrier.arrive.shared.b64 _, [%r9];)"));
  run.pass(run.array<std::uint32_t>(2));
  EXPECT_EQ(run.go({.block = {64}}), Fault::None);
  return std::ranges::any_of(run.report().suspicions, [](const machine::Finding& f) {
    return f.fault == Fault::ArrivalsUneven;
  });
}

// A group that tells once more of what nobody waits for (FlashAttention-4's correction warps) has arrived as in every round.
TEST(RunMbarrier, APhaseThatOneGroupLeavesOpenIsEven) {
  EXPECT_FALSE(is_uneven(64, 0, true));
  EXPECT_FALSE(is_uneven(64, 32, true));
  EXPECT_TRUE(is_uneven(64, 16, true));  // not all of the group
}

TEST(RunMbarrier, ACountOneTooSmallOrLargeIsUneven) {
  EXPECT_FALSE(is_uneven(64, 0, false));
  EXPECT_TRUE(is_uneven(63, 0, false));
  EXPECT_TRUE(is_uneven(65, 0, false));
}

// One stage, refilled by thread 0 as libcu++'s cuda::memcpy_async does; `meets` stands between the loads and their use.
// The array has 64 words of results and behind them the words of both stages.
Pointer pass_stages(PtxRun& run) {
  std::vector<std::uint32_t> words(64 + 128);
  for (std::uint32_t i = 0; i < 128; ++i) words[64 + i] = 3 * i;
  const Pointer out = run.array(words);
  run.pass(out);
  return out;
}
std::string refilled(const std::string& meets) {
  const std::string copy = R"(
      @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 256;
      @%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r10], [%rd4], 256, [%r9];
      add.u64 %rd4, %rd4, 256;
)";
  const std::string wait = R"(
    WAIT_PHASE:
      mbarrier.try_wait.parity.shared.b64 %p2, [%r9], PHASE;
      @!%p2 bra WAIT_PHASE;
      ld.shared.u32 %r7, [%r11];
)";
  const auto phase = [&](const std::string& number) {
    std::string text = wait;
    for (std::size_t at; (at = text.find("PHASE")) != text.npos;) text.replace(at, 5, number);
    return text;
  };
  return kernel(R"(
      .shared .align 8 .b64 full;
      .shared .align 16 .b8 stage[256];
      mov.u32 %r9, full;
      mov.u32 %r10, stage;
      shl.b32 %r11, %r1, 2;
      add.u32 %r11, %r10, %r11;
      add.u64 %rd4, %rd1, 256;
      setp.eq.u32 %p1, %r1, 0;
      @%p1 mbarrier.init.shared.b64 [%r9], 1;
      @%p1 fence.mbarrier_init.release.cluster;
      bar.sync 0;
)" + copy + phase("0") +
                meets + copy + "      add.u32 %r8, %r7, 1;\n" + phase("1") +
                "      add.u32 %r8, %r8, %r7;\n      st.global.u32 [%rd2], %r8;\n");
}

TEST(RunMbarrier, ABarrierPerformsReadsThatAreUsedBehindIt) {
  PtxRun disputed(refilled("bar.sync 0;\n"));
  const Pointer out = pass_stages(disputed);
  ASSERT_EQ(disputed.go({.block = {64}, .explore = 5}), Fault::None);
  ASSERT_EQ(disputed.report().suspicions.size(), 1u);
  EXPECT_EQ(disputed.report().suspicions[0].fault, Fault::ProxyFenceMissingPerformed);
  const auto words = disputed.read<std::uint32_t>(out, 64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(words[i], 3 * i + 1 + 3 * (64 + i)) << i;
  PtxRun fenced(refilled("fence.proxy.async.shared::cta; bar.sync 0;\n"));
  pass_stages(fenced);
  EXPECT_EQ(fenced.go({.block = {64}, .explore = 5}), Fault::None);
  EXPECT_TRUE(fenced.report().suspicions.empty());
  PtxRun alone(
      refilled("bar.warp.sync -1;\n"));  // of one warp: a barrier of the warp performs nothing
  pass_stages(alone);
  EXPECT_EQ(alone.go({.block = {32}, .explore = 5}), Fault::ProxyFenceMissingAfterRead);
}

// Two warps load a word and free it by `arrive`, on an mbarrier of `count` arrivals; the third one waits and stores to it.
std::string freed_slot(int count, const std::string& arrive) {
  return kernel(R"(
      .shared .align 8 .b64 empty;
      .shared .align 4 .b32 slot;
      mov.u32 %r9, empty;
      setp.eq.u32 %p1, %r1, 64;
      @%p1 st.shared.u32 [slot], 7;
      @%p1 mbarrier.init.shared.b64 [%r9], )" +
                std::to_string(count) + R"(;
      bar.sync 0;
      setp.ge.u32 %p2, %r1, 64;
      @%p2 bra WRITER;
      ld.shared.u32 %r7, [slot];
      st.global.u32 [%rd2], %r7;
)" + arrive + R"(
      ret;
    WRITER:
      mbarrier.try_wait.parity.shared.b64 %p3, [%r9], 0;
      @!%p3 bra WRITER;
      @%p1 st.shared.u32 [slot], 8;
)");
}
Fault free_slot(int count, const std::string& arrive, std::uint64_t* executions = nullptr) {
  PtxRun run(freed_slot(count, arrive));
  run.pass(run.array<std::uint32_t>(96));
  const Fault fault = run.go({.block = {96}, .executions = 1});
  if (executions != nullptr) *executions = run.report().executions;
  return fault;
}

// The phase is over with the arrival of the last but one: what the last lane loaded is not released by it.
TEST(RunMbarrier, ALaneThatArrivesBehindThePhasesEndReleasesNothingWithIt) {
  const char* arrive = "mbarrier.arrive.shared.b64 _, [%r9];";
  EXPECT_EQ(free_slot(64, arrive), Fault::None);
  EXPECT_EQ(free_slot(63, arrive), Fault::LaneReleaseMissing);
  EXPECT_EQ(free_slot(33, arrive), Fault::LaneReleaseMissing);
  EXPECT_EQ(free_slot(65, arrive), Fault::Deadlock);
  // Unless the lanes are ordered: then each of them releases what all did.
  const std::string ordered = std::string("bar.warp.sync -1;") + arrive;
  EXPECT_EQ(free_slot(63, ordered), Fault::None);
  EXPECT_EQ(free_slot(32, ordered), Fault::PhaseOverrun);
}

// Warp 0 frees the slot twice. In an order that is fair both warps are in time; an order in which warp 0 comes first shows it, and is
// asked for as nothing orders the second arrival behind the first phase.
TEST(RunMbarrier, AnArrivalTooManyMayCountForOneThatIsLate) {
  const std::string once = R"(
      bar.warp.sync -1;
      and.b32 %r6, %r1, 31;
      setp.eq.u32 %p4, %r6, 0;
      @%p4 mbarrier.arrive.shared.b64 _, [%r9];
)";
  std::uint64_t executions = 0;
  EXPECT_EQ(free_slot(2, once, &executions), Fault::None);
  EXPECT_EQ(executions, 2u);
  EXPECT_EQ(free_slot(2, once + R"(
      setp.eq.u32 %p4, %r1, 0;
      @%p4 mbarrier.arrive.shared.b64 _, [%r9];
)"),
            Fault::DataRace);
}

// PTX ISA 8.9.3: a fence and a strong write behind it release, a strong read and a fence behind it acquire. Warp 0 stores and arrives,
// warp 1 waits and loads.
Found handed_over(const std::string& arrive, const std::string& wait, const std::string& behind) {
  return run_of(kernel(R"(
      .shared .align 8 .b64 full;
      .shared .align 4 .b32 x[32];
      mov.u32 %r9, full;
      and.b32 %r2, %r1, 31;
      shl.b32 %r2, %r2, 2;
      mov.u32 %r3, x;
      add.u32 %r2, %r2, %r3;
      setp.eq.u32 %p1, %r1, 0;
      @%p1 mbarrier.init.shared.b64 [%r9], 32;
      bar.sync 0;
      setp.ge.u32 %p2, %r1, 32;
      @%p2 bra READER;
      st.shared.u32 [%r2], 7;
)" + arrive + R"(
      bra DONE;
    READER:
)" + wait + behind + R"(
      ld.shared.u32 %r5, [%r2];
      st.global.u32 [%rd2], %r5;
    DONE:)"),
                {.block = {64}, .explore = 5});
}

const std::string arrives = "mbarrier.arrive.release.cta.shared::cta.b64 _, [%r9];\n";
const std::string arrives_relaxed = "mbarrier.arrive.relaxed.cluster.shared::cta.b64 _, [%r9];\n";
const std::string waits =
    "WAIT: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [%r9], 0;\n@!%p3 bra WAIT;\n";
const std::string waits_relaxed =
    "WAIT: mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p3, [%r9], 0;\n"
    "@!%p3 bra WAIT;\n";

TEST(RunMbarrier, AFenceReleasesWithARelaxedArrivalAndAcquiresWithARelaxedWait) {
  EXPECT_EQ(handed_over(arrives_relaxed, waits, "").fault, Fault::ReleaseMissing);
  for (const char* fence :
       {"fence.acq_rel.cluster;", "fence.sc.cluster;", "membar.gl;", "fence.release.cluster;",
        "fence.acq_rel.cta;", "fence.release.sync_restrict::shared::cta.cluster;"})
    EXPECT_EQ(handed_over(fence + arrives_relaxed, waits, ""), Fault::None) << fence;
  EXPECT_EQ(handed_over("fence.acquire.cluster;" + arrives_relaxed, waits, "").fault,
            Fault::ReleaseMissing);
  EXPECT_EQ(handed_over(arrives, waits_relaxed, "").fault, Fault::AcquireMissing);
  for (const char* fence : {"fence.acq_rel.cluster;", "membar.cta;", "fence.acquire.cluster;",
                            "fence.acquire.sync_restrict::shared::cluster.cluster;"})
    EXPECT_EQ(handed_over(arrives, waits_relaxed, fence), Fault::None) << fence;
  EXPECT_EQ(handed_over(arrives, waits_relaxed, "fence.release.cluster;").fault,
            Fault::AcquireMissing);
  EXPECT_EQ(handed_over("fence.acq_rel.cluster;" + arrives_relaxed, waits_relaxed,
                        "fence.acq_rel.cluster;"),
            Fault::None);
}

// As libcu++'s for_each_canceled_block waits: the same as a relaxed load in front of bar.sync.
TEST(RunMbarrier, ARelaxedWaitInFrontOfABarrierIsDisputed) {
  const std::string one =
      "setp.ne.u32 %p4, %r1, 32;\n@%p4 bra MEET;\n" + waits_relaxed + "MEET: bar.sync 1, 32;\n";
  EXPECT_EQ(handed_over(arrives, one, ""), (Found{Fault::None, {Fault::AcquireAssumed}, {}}));
}

// Of another mbarrier; one that has gone through memory, and a number that is no state.
TEST(RunMbarrier, AStateIsOfItsOwnMbarrier) {
  const auto waits = [](const std::string& token, const std::string& wait) {
    return run_alone(1,
                     ".shared .align 8 .b64 other; mov.u32 %r10, other;"
                     "mbarrier.init.shared.b64 [%r10], 1;"
                     "mbarrier.arrive.shared.b64 %rd5, [%r9];"
                     "mbarrier.arrive.shared.b64 %rd6, [%r10];" +
                         token + "WAIT: mbarrier." + wait + "; @!%p3 bra WAIT;")
        .fault;
  };
  const std::string test = "test_wait.shared.b64 %p3, ", tries = "try_wait.shared::cta.b64 %p3, ";
  for (const std::string& how : {test, tries}) {
    EXPECT_EQ(waits("", how + "[%r10], %rd5"), Fault::TokenOfOtherMbarrier);
    EXPECT_EQ(waits("", how + "[%r9], %rd6"), Fault::TokenOfOtherMbarrier);
    EXPECT_EQ(waits("", how + "[%r9], %rd5"), Fault::None);
    EXPECT_EQ(waits("", how + "[%r10], %rd6"), Fault::None);
    EXPECT_EQ(waits("mov.b64 %rd6, 0;", how + "[%r9], %rd6"), Fault::None);
  }
  const std::string moved = "st.global.u64 [%rd1], %rd5; ld.global.u64 %rd6, [%rd1];";
  EXPECT_EQ(waits(moved, test + "[%r9], %rd6"), Fault::None);
  EXPECT_EQ(waits(moved, test + "[%r10], %rd6"), Fault::TokenOfOtherMbarrier);
}

// Numbers in registers, which ptxas does not see.
TEST(RunMbarrier, AParityIsNoughtOrOne) {
  const auto waits = [](const char* parity) {
    return run_alone(1, std::string("mbarrier.arrive.shared.b64 _, [%r9]; mov.u32 %r6, ") + parity +
                            ";\nWAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r9], %r6;\n"
                            "@!%p3 bra WAIT;")
        .fault;
  };
  EXPECT_EQ(waits("0"), Fault::None);
  EXPECT_EQ(waits("2"), Fault::UnmodelledInstruction);
}

TEST(RunBarrier, NumbersOfABarrierAreThoseOfAllItsLanes) {
  const auto meets = [](const std::string& setup, const std::string& barrier) {
    return run_of(kernel(setup + barrier), {.block = {64}}).fault;
  };
  EXPECT_EQ(meets("mov.u32 %r5, 64;", "bar.sync 3, %r5;"), Fault::None);
  for (const char* count : {"33", "48", "-32"})
    EXPECT_EQ(meets(std::string("mov.u32 %r5, ") + count + ";", "bar.sync 3, %r5;"),
              Fault::BarrierThreads)
        << count;
  EXPECT_EQ(meets("mov.u32 %r5, 16;", "bar.sync %r5;"), Fault::BarrierId);
  EXPECT_EQ(meets("and.b32 %r5, %r1, 1;", "bar.sync %r5;"), Fault::WarpDivergent);
  EXPECT_EQ(
      meets("and.b32 %r5, %r1, 1; shl.b32 %r5, %r5, 5; add.u32 %r5, %r5, 32;", "bar.sync 0, %r5;"),
      Fault::WarpDivergent);
  EXPECT_EQ(meets("and.b32 %r5, %r1, 1;", "barrier.sync %r5;"), Fault::UnmodelledInstruction);
}

// ptxas takes wgmma and setmaxnreg for sm_90a alone.
TEST(RunTarget, WithoutTheSuffixThereIsNoWgmma) {
  const auto on = [](const char* target, const std::string& body) {
    std::string text = kernel(body);
    text.replace(text.find("sm_90a"), 6, target);
    return run_of(text, {.block = {128}}).fault;
  };
  EXPECT_EQ(on("sm_90a", "wgmma.fence.sync.aligned;"), Fault::None);
  EXPECT_EQ(on("sm_90", "wgmma.fence.sync.aligned;"), Fault::TargetLacksWgmma);
  EXPECT_EQ(on("sm_90", "setmaxnreg.dec.sync.aligned.u32 24;"), Fault::UnmodelledInstruction);
}

}  // namespace
}  // namespace tcq::tests
