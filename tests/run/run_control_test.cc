// How lanes part and meet: branches, loops, tables, ends, and what waits for other lanes.
#include <numeric>

#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

std::vector<std::uint32_t> words_of(const std::string& body, std::uint32_t threads = 32,
                                    Fault expected = Fault::None) {
  PtxRun run(kernel(body));
  const Pointer out = run.array<std::uint32_t>(threads);
  run.pass(out);
  EXPECT_EQ(run.go({.block = {threads}}), expected);
  return run.read<std::uint32_t>(out, threads);
}

TEST(RunControl, LanesThatPartMeetAgain) {
  const auto out = words_of(R"(
    setp.lt.u32 %p1, %r1, 10;
    @%p1 bra low;
    mov.u32 %r2, 7;
    bra meet;
  low:
    mov.u32 %r2, 100;
  meet:
    activemask.b32 %r3;
    add.u32 %r2, %r2, %r1;
    st.global.u32 [%rd2], %r2;)");
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t < 10 ? 100 + t : 7 + t);
}

// Behind the join a shuffle sees all lanes, whichever way they took.
TEST(RunControl, AShuffleBehindAJoinSeesAllLanes) {
  const auto out = words_of(R"(
    and.b32 %r4, %r1, 1;
    setp.eq.u32 %p1, %r4, 0;
    mov.u32 %r2, 5;
    @%p1 bra even;
    mov.u32 %r2, 9;
  even:
    shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;
    st.global.u32 [%rd2], %r3;)");
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t % 2 == 0 ? 9u : 5u);
}

// A shuffle in both arms of a branch, each with the mask of its own lanes; and one that waits for the other arm.
TEST(RunControl, LanesWaitForTheOthersOfTheirMask) {
  const auto out = words_of(R"(
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra low;
    shfl.sync.idx.b32 %r3, %r1, 31, 31, 0xffff0000;
    bra meet;
  low:
    shfl.sync.idx.b32 %r3, %r1, 3, 31, 0x0000ffff;
  meet:
    st.global.u32 [%rd2], %r3;)");
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t < 16 ? 3u : 31u);
}

TEST(RunControl, LoopsOfDifferentLengths) {
  const auto out = words_of(R"(
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
  again:
    add.u32 %r2, %r2, %r3;
    add.u32 %r3, %r3, 1;
    setp.le.u32 %p1, %r3, %r1;
    @%p1 bra again;
    st.global.u32 [%rd2], %r2;)");
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t * (t + 1) / 2);
}

TEST(RunControl, ABranchByATableAndOneOutsideOfIt) {
  const std::string body = R"(
    and.b32 %r4, %r1, MASK;
  table: .branchtargets zero, one, two;
    brx.idx %r4, table;
  zero:
    mov.u32 %r2, 10; bra done;
  one:
    mov.u32 %r2, 20; bra done;
  two:
    mov.u32 %r2, 30;
  done:
    st.global.u32 [%rd2], %r2;)";
  const auto with = [&](const std::string& mask) {
    std::string text = body;
    return text.replace(text.find("MASK"), 4, mask);
  };
  const auto out = words_of(with("1"));
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t % 2 == 0 ? 10u : 20u);
  words_of(with("3"), 32, Fault::BranchOutOfTable);
}

// Lanes that end early are missed by nobody.
TEST(RunControl, LanesThatEndAreNotWaitedFor) {
  const auto out = words_of(R"(
    setp.ge.u32 %p1, %r1, 8;
    @%p1 ret;
    shfl.sync.idx.b32 %r3, %r1, 7, 31, 0xff;
    bar.warp.sync 0xff;
    st.global.u32 [%rd2], %r3;)");
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t < 8 ? 7u : 0u);
}

// One lane waits for what another lane of its warp does behind the branch: since Volta that ends.
TEST(RunControl, ALaneThatWaitsLetsTheOthersGoOn) {
  const auto out = words_of(R"(
    .shared .align 8 .b8 flag[8];
    mov.u32 %r9, flag;
    setp.ne.u32 %p1, %r1, 0;
    @!%p1 mbarrier.init.shared::cta.b64 [%r9], 1;
    bar.sync 0;
    setp.eq.u32 %p2, %r1, 31;
    @%p2 bra arrive;
    setp.ne.u32 %p1, %r1, 5;
    @%p1 bra meet;
  wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 0;
    @!%p3 bra wait;
    mov.u32 %r2, 55;
    st.global.u32 [%rd2], %r2;
    bra meet;
  arrive:
    mbarrier.arrive.shared::cta.b64 _, [%r9];
  meet:)");
  EXPECT_EQ(out[5], 55u);
}

TEST(RunControl, ALaneThatNobodyJoinsIsDivergence) {
  words_of(R"(
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra low;
    shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;
    ret;
  low:
    bar.warp.sync 0xffffffff;)",
           32, Fault::WarpDivergent);
}

TEST(RunControl, AnEndlessLoopAndATrapAreNamed) {
  words_of("again: add.u32 %r2, %r2, 1; bra again;", 32, Fault::StepLimit);
  words_of("setp.eq.u32 %p1, %r1, 3; @%p1 trap;", 32, Fault::KernelTrap);
}

TEST(RunControl, ThreadsKnowWhereTheyAre) {
  PtxRun run(kernel(R"(
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %ctaid.y; mov.u32 %r5, %nctaid.x;
    mad.lo.u32 %r6, %r4, %r5, %r2;
    mad.lo.u32 %r6, %r6, %r3, %r1;
    mul.wide.u32 %rd3, %r6, 4;
    add.u64 %rd3, %rd3, %rd1;
    mov.u32 %r7, %cluster_ctarank; shl.b32 %r7, %r7, 16;
    or.b32 %r6, %r6, %r7;
    st.global.u32 [%rd3], %r6;)"));
  const Pointer out = run.array<std::uint32_t>(4 * 3 * 64);
  run.pass(out);
  ASSERT_EQ(run.go({.grid = {4, 3}, .block = {64}, .cluster = {2}}), Fault::None);
  const auto words = run.read<std::uint32_t>(out, 4 * 3 * 64);
  for (std::uint32_t i = 0; i < words.size(); ++i) EXPECT_EQ(words[i], (i / 64 % 2) << 16 | i);
}

// A predicate that is false for all lanes keeps an instruction that is not modelled from stopping the run.
TEST(RunControl, WhatNoLaneExecutesNeedsNoModel) {
  words_of(
      "setp.ne.u32 %p1, %r1, %r1; @%p1 bra.uni skip; @%p1 multimem.red.global.add.u32 [%rd1], %r1; "
      "skip:");
  words_of("multimem.red.relaxed.gpu.global.add.u32 [%rd1], %r1;", 32,
           Fault::UnmodelledInstruction);
}

}  // namespace
}  // namespace tcq::tests
