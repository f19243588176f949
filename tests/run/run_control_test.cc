// How lanes part and meet: branches, loops, tables, ends, and what waits for other lanes.
#include <algorithm>
#include <numeric>

#include "sim/run/inline_calls.h"
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

// The low bits of a wider register count, in every lane.
TEST(RunControl, ACvtReadsTheLowWordOfEveryLanesWiderRegister) {
  const auto out = words_of(R"(
    mul.wide.u32 %rd4, %r1, 1000;
    mov.u64 %rd5, 0x700000000;
    add.u64 %rd4, %rd4, %rd5;
    neg.s64 %rd4, %rd4;
    cvt.s64.s32 %rd6, %rd4;
    cvt.s32.s8 %r5, %rd4;
    cvt.u32.u64 %r6, %rd6;
    add.u32 %r6, %r6, %r5;
    st.global.u32 [%rd2], %r6;)");
  for (std::uint32_t t = 0; t < 32; ++t) {
    const auto low = static_cast<std::int32_t>(0u - 1000 * t);
    EXPECT_EQ(static_cast<std::int32_t>(out[t]), low + static_cast<std::int8_t>(low));
  }
}

TEST(RunControl, ACvtFillsAWiderRegisterByTheSignOfItsType) {
  const auto out = words_of(R"(
    sub.u32 %r4, %r1, 16;
    shl.b32 %r4, %r4, 4;
    setp.ne.u32 %p1, %r1, 99;
    mov.u64 %rd4, -1;
    @%p1 cvt.s16.s8 %r5, %r4;
    @%p1 cvt.u16.s32 %r6, %r4;
    @%p1 cvt.s8.s32 %rd4, %r4;
    cvt.rn.f32.s32 %f1, %r4;
    @%p1 cvt.rni.s16.f32 %rd5, %f1;
    @%p1 cvt.u32.s32 %rd6, %r4;
    sub.u64 %rd7, %rd4, %rd5;
    shr.u64 %rd8, %rd6, 32;
    cvt.u32.u64 %r7, %rd7;
    cvt.u32.u64 %r8, %rd8;
    add.u32 %r5, %r5, %r6;
    add.u32 %r5, %r5, %r7;
    add.u32 %r5, %r5, %r8;
    shr.s64 %rd5, %rd5, 40;
    cvt.u32.u64 %r9, %rd5;
    add.u32 %r5, %r5, %r9;
    st.global.u32 [%rd2], %r5;)");
  for (std::uint32_t t = 0; t < 32; ++t) {
    const std::int32_t x = (static_cast<std::int32_t>(t) - 16) * 16;
    const std::int32_t low = static_cast<std::int8_t>(x);
    const std::int32_t sum = low + static_cast<std::uint16_t>(x) + (low - x) + (x < 0 ? -1 : 0);
    EXPECT_EQ(static_cast<std::int32_t>(out[t]), sum) << t;
  }
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

// One lane in the one arm, 31 in the other, each with a shuffle of its own: values go from arm to arm.
TEST(RunControl, AnExchangeFromArmToArm) {
  const auto both = [](const std::string& first, const std::string& second) {
    return R"(
    setp.eq.u32 %p1, %r1, 1;
    mad.lo.u32 %r2, %r1, 3, 1;
    add.u32 %r4, %r2, 0;
    setp.lt.u32 %p2, %r1, 7;
    setp.ge.u32 %p3, %r1, 7;
    @%p1 bra one;
    )" + first +
           R"(
    bra meet;
  one:
    )" + second +
           R"(
    mov.u32 %r3, %r5;
  meet:
    st.global.u32 [%rd2], %r3;)";
  };
  const auto shuffled = words_of(
      both("shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;", "shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1;"));
  const auto ballots =
      words_of(both("vote.sync.ballot.b32 %r3, %p2, -1;", "vote.sync.ballot.b32 %r5, !%p3, -1;"));
  const auto sums =
      words_of(both("redux.sync.add.u32 %r3, %r2, -1;", "redux.sync.add.u32 %r5, %r4, -1;"));
  for (std::uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(shuffled[t], 3 * (t ^ 1) + 1);
    EXPECT_EQ(ballots[t], 0x7fu);
    EXPECT_EQ(sums[t], 3u * 496 + 32);
  }
  const std::vector<std::string> others = {
      "shfl.sync.bfly.b32 %r5, %r4, 1, 31, 0xfffffffe;", "shfl.sync.idx.b32 %r5, %r4, 1, 31, -1;",
      "vote.sync.ballot.b32 %r5, %p2, -1;", "add.u32 %r5, %r4, 1;"};
  for (const std::string& other : others)
    words_of(both("shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;", other), 32, Fault::WarpDivergent);
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
// A grid that waits as a whole begins so; zeros would make it trap, as if the kernel were wrong.
TEST(RunControl, WhatADriverFillsInIsNotModelled) {
  for (const char* word :
       {"%envreg3", "%envreg2"}) {  // the second: a grid that is not run as a whole
    PtxRun run(
        kernel("mov.u32 %r2, " + std::string(word) + "; setp.eq.u32 %p1, %r2, 0; @%p1 trap;"));
    run.pass(run.array<std::uint32_t>(32));
    EXPECT_EQ(run.go({}), Fault::UnmodelledInstruction);
  }
}

// As cooperative groups make it: the first thread of each CTA adds to a word of the workspace, the master what is left to
// its highest bit, and waits until that has changed. Behind the barrier everything before it is seen.
TEST(RunControl, AGridThatWaitsAsAWhole) {
  const auto go = [](const std::string& wait, std::uint32_t ctas) {
    PtxRun run(kernel(R"(
      mov.u32 %r2, %envreg2; mov.u32 %r3, %envreg1; mov.b64 %rd3, {%r2, %r3};
      mov.u32 %r4, %ctaid.x; mov.u32 %r5, %nctaid.x; mov.u32 %r9, %cluster_nctarank;
      mad.lo.u32 %r6, %r4, 32, %r1; mul.wide.u32 %rd4, %r6, 4; add.u64 %rd4, %rd1, %rd4;
      add.u32 %r10, %r6, %r9;
      st.global.u32 [%rd4], %r10;
      bar.sync 0;
      setp.ne.u32 %p1, %r1, 0;
      @%p1 bra BEHIND;
      fence.acq_rel.gpu;
      setp.eq.u32 %p2, %r4, 0;
      sub.u32 %r7, 0x80000001, %r5;
      selp.b32 %r7, %r7, 1, %p2;
      atom.global.add.u32 %r8, [%rd3+4], %r7;
)" + wait + R"(
    BEHIND:
      bar.sync 0;
      xor.b32 %r6, %r6, 32; mul.wide.u32 %rd5, %r6, 4; add.u64 %rd5, %rd1, %rd5;
      ld.global.u32 %r11, [%rd5];
      st.global.u32 [%rd4+1024], %r11;)"));
    const Pointer out = run.array<std::uint32_t>(512);
    run.pass(out);
    run.launch().grid = {ctas};
    run.launch().whole_grid = may_run_whole(run.kernel(), run.launch());
    const Fault fault = run.go({.grid = {ctas}, .explore = 20});
    if (fault == Fault::None) {
      const auto words = run.read<std::uint32_t>(out + 1024, 64);
      for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(words[i], (i ^ 32) + 1);
    }
    return fault;
  };
  const std::string wait =
      "LOOK: ld.volatile.global.u32 %r12, [%rd3+4]; xor.b32 %r12, %r12, %r8;\n"
      "setp.ge.s32 %p3, %r12, 0; @%p3 bra LOOK; fence.acq_rel.gpu;\n";
  EXPECT_EQ(go(wait, 2), Fault::None);
  EXPECT_EQ(go(wait, 4), Fault::None);
  EXPECT_EQ(go("", 2), Fault::DataRace);
  EXPECT_EQ(go(wait, 17), Fault::UnmodelledInstruction);
}

// A global variable that begins with addresses: of one, behind it, and of one of its bytes.
TEST(RunControl, InitialisersHoldAddresses) {
  PtxRun run(
      kernel("mov.u64 %rd3, words; ld.global.u64 %rd4, [where]; ld.global.u64 %rd5, [where+8];\n"
             "sub.u64 %rd4, %rd4, %rd3; sub.u64 %rd5, %rd5, %rd3;\n"
             "cvt.u32.u64 %r2, %rd4; cvt.u32.u64 %r3, %rd5; mad.lo.u32 %r2, %r3, 100, %r2;\n"
             "st.global.u32 [%rd2], %r2;",
             ".global .align 8 .b32 before[3];\n.global .align 4 .b32 words[4];\n"
             ".global .align 8 .u64 where[2] = {words, generic(words)+8};\n"));
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  ASSERT_EQ(run.go({}), Fault::None);
  EXPECT_EQ(run.read<std::uint32_t>(out, 1)[0], 800u);
}

TEST(RunControl, InitialisersThatHoldNoAddressOrTooMuchAreRefused) {
  const auto refused = [](const std::string& variables) {
    const std::string text = kernel("", variables);
    return run::lower(run::load(text), "k", "").refused;
  };
  EXPECT_EQ(refused(".global .u64 q[2] = {1, 2};"), "");
  EXPECT_EQ(refused(".global .u64 q = missing;"),
            "the initial value of q names missing, which is no function and no variable of global "
            "or constant memory");
  EXPECT_NE(refused(".shared .b32 s; .global .u64 q = generic(s);"), "");
  EXPECT_EQ(refused(".global .u32 z[2] = {1, 2, 3};"),
            "the initial value of z has more elements than it");
}

// Of predicates alone, and where PTX has it.
TEST(RunControl, ANegatedPredicateIsReadTheOtherWayRound) {
  const auto words = [](const std::string& body) {
    PtxRun run(kernel("setp.lt.u32 %p1, %r1, 2;\n" + body + "st.global.u32 [%rd2], %r2;"));
    const Pointer out = run.array<std::uint32_t>(32);
    run.pass(out);
    EXPECT_EQ(run.go({.block = {32}}), Fault::None) << body;
    return run.read<std::uint32_t>(out, 32);
  };
  EXPECT_EQ(words("vote.sync.ballot.b32 %r2, !%p1, -1;\n")[0], 0xfffffffcu);
  for (const char* body :
       {"selp.u32 %r2, 5, 6, !%p1;\n", "mov.pred %p2, !%p1; selp.u32 %r2, 5, 6, %p2;\n",
        "setp.eq.and.u32 %p2, %r1, %r1, !%p1; selp.u32 %r2, 5, 6, %p2;\n",
        "set.eq.and.u32.u32 %r3, %r1, %r1, !%p1; sub.u32 %r2, 5, %r3; sub.u32 %r2, 11, %r2;\n"}) {
    const auto out = words(body);
    EXPECT_EQ(out[1] == out[0] && out[1] != out[2], true) << body;
  }
  EXPECT_EQ(words("selp.u32 %r2, 5, 6, !%p1;\n")[0], 6u);
}

// Undefined, PTX says, unless all lanes of the warp execute it.
TEST(RunControl, PartOfAWarpMultipliesNoMatrices) {
  const std::string body =
      "setp.lt.u32 %p1, %r1, 16;\n@%p1 mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r2, %r3}, "
      "{%r4}, {%r5}, {%r6, %r7};\n";
  words_of(body, 32, Fault::WarpDivergent);
  words_of(body.substr(body.find("mma")));
}

// None of these may read registers that no operand names.
TEST(RunControl, InstructionsWithOtherOperandsThanTheirFormsAreNotModelled) {
  for (const char* body :
       {"cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3;", "cvt.pack.sat.u16.s32 %r1, %r2, %r3, %r4;",
        "set.eq.and.f16x2.f16x2 %r1, %r2, %r3;", "setp.eq.and.u32 %p1, %r1, %r2;",
        "setp.eq.u32 %p1, %r1, %r2, %p2;", "min.f32 %f1, {%f1, %f1}, %f1;",
        "setp.eq.u32 {%p1, %p2, %p3}, %r1, %r2;",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd1}, {%rd1}, {%rd1}, {%rd1};",
        "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 %r1, %r1, %r1, %r1;",
        "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32.xor {%r1,%r2}, {%r1}, {%r1}, {%r1,%r2};"}) {
    const std::string text = kernel(body);
    const ptx::Program program = run::load(text);
    if (!program.diagnostics.empty()) continue;  // refused before
    const run::Kernel lowered = run::lower(program, "k", "");
    EXPECT_TRUE(std::any_of(lowered.problems.begin(), lowered.problems.end(),
                            [](const std::string& p) { return !p.empty(); }))
        << body;
  }
}

TEST(RunControl, WhatNoLaneExecutesNeedsNoModel) {
  words_of(
      "setp.ne.u32 %p1, %r1, %r1; @%p1 bra.uni skip; @%p1 addc.u16 %h1, %h2, %h3; "
      "skip:");
  words_of("addc.u16 %h1, %h2, %h3;", 32, Fault::UnmodelledInstruction);
}

// Two warps and a half: count, any, all; again at once, so that a fast warp votes for the next use.
TEST(RunControl, BarriersThatReduce) {
  PtxRun run(kernel(R"(
    mov.u32 %r5, 0;
    mov.u32 %r6, 0;
  LOOP:
    setp.lt.u32 %p1, %r1, %r5;
    bar.red.popc.u32 %r2, 0, %p1;
    bar.red.or.pred %p2, 0, %p1;
    bar.red.and.pred %p3, 0, !%p1;
    selp.b32 %r3, 100, 0, %p2;
    selp.b32 %r4, 1000, 0, %p3;
    add.u32 %r6, %r6, %r2;
    add.u32 %r6, %r6, %r3;
    add.u32 %r6, %r6, %r4;
    add.u32 %r5, %r5, 40;
    setp.lt.u32 %p4, %r5, 120;
    @%p4 bra LOOP;
    st.global.u32 [%rd2], %r6;)"));
  const Pointer out = run.array<std::uint32_t>(80);
  run.pass(out);
  ASSERT_EQ(run.go({.block = {80}, .explore = 20}), Fault::None);
  for (const std::uint32_t word : run.read<std::uint32_t>(out, 80))
    EXPECT_EQ(word, 1000u + (40 + 100) + (80 + 100));
}

// Whoever has exited is not waited for at a barrier of the whole CTA, and what it wrote is there; one that counts threads
// waits for that many.
TEST(RunControl, ABarrierDoesNotWaitForWarpsThatHaveExited) {
  const auto fault_of = [](const std::string& barrier) {
    PtxRun run(kernel(R"(
      .shared .align 16 .b8 x[512];
      mov.u32 %r2, x;
      shl.b32 %r3, %r1, 2;
      add.u32 %r4, %r2, %r3;
      st.shared.u32 [%r4], %r1;
      setp.ge.u32 %p1, %r1, 60;
      @%p1 ret;
)" + barrier + R"(
      ld.shared.u32 %r5, [x+480];
      ld.shared.u32 %r6, [x+16];
)" + barrier + R"(
      add.u32 %r5, %r5, %r6;
      st.global.u32 [%rd2], %r5;)"));
    const Pointer out = run.array<std::uint32_t>(128);
    run.pass(out);
    const Fault fault = run.go({.block = {128}, .explore = 20, .executions = 200});
    if (fault == Fault::None) {
      EXPECT_TRUE(run.report().exhaustive);
      EXPECT_EQ(run.read<std::uint32_t>(out, 61), [] {
        std::vector<std::uint32_t> want(60, 120 + 4);
        want.push_back(0);
        return want;
      }());
    }
    return fault;
  };
  EXPECT_EQ(fault_of("bar.sync 0;"), Fault::None);
  EXPECT_EQ(fault_of("bar.sync 3;"), Fault::None);
  EXPECT_EQ(fault_of(""), Fault::LaneRace);
  EXPECT_EQ(fault_of("bar.sync 0, 128;"), Fault::Deadlock);
}

// Where one side of a branch may end early its lanes meet the others at the end only, but the barrier is one instruction of all.
TEST(RunControl, LanesThatPartedComeToOneBarrier) {
  const auto left =
      [](const std::string& barrier, const std::string& early = "ret") {
        PtxRun run(kernel(R"(
      .shared .align 4 .b8 x[512];
      mov.u32 %r3, x; mad.lo.u32 %r4, %r1, 4, %r3;
      and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0;
      mov.u32 %r6, %r1;
      @%p1 bra EVEN;
      setp.eq.u32 %p2, %r1, 5;
      @%p2 )" + early + R"(;
      add.u32 %r6, %r6, 100;
      st.shared.u32 [%r4], %r6;
      bra BOTH;
    EVEN:
      setp.eq.u32 %p2, %r1, 8;
      @%p2 )" + early + R"(;
      st.shared.u32 [%r4], %r6;
    BOTH:
      )" + barrier + R"(
      xor.b32 %r7, %r1, 33; mad.lo.u32 %r8, %r7, 4, %r3;
      setp.eq.u32 %p3, %r7, 5; setp.eq.u32 %p4, %r7, 8; or.pred %p3, %p3, %p4;
      mov.u32 %r9, 7;
      @!%p3 ld.shared.u32 %r9, [%r8];
      st.global.u32 [%rd2], %r9;
    DONE:)"));
        const Pointer out = run.array<std::uint32_t>(64);
        run.pass(out);
        const Fault fault = run.go({.block = {64}, .explore = 20});
        if (fault == Fault::None) {
          const auto words = run.read<std::uint32_t>(out, 64);
          EXPECT_EQ(words[0], 133u);
          EXPECT_EQ(words[33], 0u);
          EXPECT_EQ(words[36], 7u);  // of one that ended
        }
        return fault;
      };
  EXPECT_EQ(left("bar.sync 0;"), Fault::None);
  EXPECT_EQ(left("barrier.sync 0;"), Fault::None);
  EXPECT_EQ(left("bar.red.popc.u32 %r10, 0, %p1;"), Fault::None);
  EXPECT_EQ(left("bar.sync 2, 64;", "exit"), Fault::None);
  EXPECT_EQ(left("bar.sync 0;", "bra DONE"), Fault::None);
  EXPECT_EQ(left(""), Fault::DataRace);
}

// Bytes that the system lends to libraries: cooperative groups keep the barriers of tiles of several warps there.
TEST(RunControl, ReservedSharedMemoryIsThereForWhoNamesIt) {
  const auto fault_of = [](const std::string& place) {
    PtxRun run(kernel("mov.u32 %r3, " + place + R"(; mad.lo.u32 %r4, %r1, 4, %r3;
      st.shared.u32 [%r4], %r1; ld.shared.u32 %r5, [%r4];
      mov.u32 %r6, %total_smem_size; mov.u32 %r7, %reserved_smem_offset_end;
      add.u32 %r5, %r5, %r6; mad.lo.u32 %r5, %r7, 1000, %r5;
      st.global.u32 [%rd2], %r5;)",
                      ".shared .align 4 .b8 x[100];\n"));
    const Pointer out = run.array<std::uint32_t>(32);
    run.pass(out);
    const Fault fault = run.go({.shared = 40});
    if (fault == Fault::None) {
      const std::uint32_t total = place == "x" ? 256 : 128;  // of what is named
      EXPECT_EQ(run.read<std::uint32_t>(out, 32)[3], 3 + total + 288000);
    }
    return fault;
  };
  EXPECT_EQ(fault_of("%reserved_smem_offset_1"), Fault::None);
  EXPECT_EQ(fault_of("x"), Fault::None);
  EXPECT_EQ(fault_of("2048"), Fault::SharedMemoryOutOfRange);
}

// Lanes may each name a mask of their own, with themselves in it.
TEST(RunControl, ALaneIsInTheMaskThatItNames) {
  const auto fault_of = [](const std::string& what, const std::string& mask) {
    PtxRun run(kernel("and.b32 %r5, %r1, 16; shl.b32 %r6, 0xffff, %r5; setp.lt.u32 %p1, %r1, 9;\n" +
                      what + " " + mask + "; st.global.u32 [%rd2], 1;"));
    run.pass(run.array<std::uint32_t>(64));
    return run.go({.block = {32}});
  };
  for (const char* what :
       {"bar.warp.sync", "shfl.sync.bfly.b32 %r7, %r1, 1, 31,", "vote.sync.ballot.b32 %r7, %p1,",
        "match.any.sync.b32 %r7, %r1,", "redux.sync.add.u32 %r7, %r1,", "elect.sync %r7|%p2,"}) {
    EXPECT_EQ(fault_of(what, "-1"), Fault::None) << what;
    EXPECT_EQ(fault_of(what, "%r6"), Fault::None) << what;
    EXPECT_EQ(fault_of(what, "0xffff"), Fault::WarpDivergent) << what;
  }
}

// A barrier that some lanes of a warp come to, the others wait behind it or are let through: the hardware hangs, PTX leaves it open.
TEST(RunControl, ABarrierOfSomeLanesOfAWarpIsDivergent) {
  const auto fault_of = [](const std::string& body) {
    PtxRun run(kernel("and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0;\n" + body));
    run.pass(run.array<std::uint32_t>(64));
    return run.go({.block = {64}});
  };
  EXPECT_EQ(fault_of("@%p1 bra E; bar.sync 0; E: st.global.u32 [%rd2], 1;"), Fault::WarpDivergent);
  EXPECT_EQ(fault_of("@%p1 bar.sync 0; st.global.u32 [%rd2], 1;"), Fault::WarpDivergent);
  EXPECT_EQ(fault_of("@%p1 bra A; bar.sync 0; bra E; A: bar.sync 0; E: st.global.u32 [%rd2], 1;"),
            Fault::WarpDivergent);
  // Of a barrier that is not .aligned the lanes may come to two places.
  EXPECT_EQ(
      fault_of("@%p1 bra A; barrier.sync 0; bra E; A: barrier.sync 0; E: st.global.u32 [%rd2], 1;"),
      Fault::None);
}

// 65536 registers for 256 threads are 256 a thread, one more than a thread can name.
TEST(RunControl, ALaunchHasTheRegistersThatItsThreadsShareOut) {
  const auto fault_of = [](std::uint32_t threads, const std::string& statement) {
    PtxRun run(kernel(statement));
    run.pass(run.array<std::uint32_t>(32));
    return run.go({.block = {threads}});
  };
  EXPECT_EQ(fault_of(256, "setmaxnreg.dec.sync.aligned.u32 256;"), Fault::None);
  EXPECT_EQ(fault_of(128, "setmaxnreg.dec.sync.aligned.u32 256;"), Fault::None);
  EXPECT_EQ(fault_of(384, "setmaxnreg.dec.sync.aligned.u32 168;"), Fault::None);
  EXPECT_EQ(fault_of(384, "setmaxnreg.dec.sync.aligned.u32 176;"), Fault::SetmaxnregDirection);
}

}  // namespace
}  // namespace tcq::tests
