// Loops that wait by looking at memory: a round that changed nothing is not run again until what it looked at changes.
#include "tests/run/lanes_run.h"

namespace tcq::tests {
namespace {

// Warp 0 looks, in rounds of many forms, for a word that warp 1 writes once it has seen warp 0's.
Found rounds(const std::string& round) {
  return found_in(R"(
    .shared .align 16 .b8 x[64];
    setp.lt.u32 %p1, %r1, 16;
    shl.b32 %r9, %r1, 2;
    mov.u32 %r10, x;
    add.u32 %r9, %r9, %r10;
    @%p1 st.shared.u32 [%r9], 0;
    bar.sync 0;
    mov.u64 %rd5, %clock64;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra OTHER;
  LOOK:)" + round + R"(
    bra DONE;
  OTHER:
    st.volatile.shared.u32 [x], 1;
    st.volatile.shared.u32 [x+4], 1;
  DONE:)",
                  {.block = {64}});
}

TEST(RunPoll, ARoundMayHaveSeveralLoadsVotesAndATimeLimit) {
  EXPECT_EQ(rounds(R"(
    ld.volatile.shared.u32 %r3, [x];
    ld.volatile.shared.u32 %r4, [x+4];
    and.b32 %r3, %r3, %r4;
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra LOOK;)"),
            Fault::None);
  EXPECT_EQ(rounds(R"(
    ld.volatile.shared.u32 %r3, [x];
    setp.ne.u32 %p2, %r3, 0;
    vote.sync.all.pred %p3, %p2, -1;
    @%p3 bra DONE;
    mov.u64 %rd6, %clock64;
    sub.u64 %rd6, %rd6, %rd5;
    setp.gt.u64 %p2, %rd6, 200000000000;
    @!%p2 bra LOOK;
    trap;)"),
            Fault::None);
  // Equal values are stored again and again.
  EXPECT_EQ(rounds(R"(
    ld.volatile.shared.u32 %r3, [x+4];
    setp.eq.u32 %p4, %r1, 0;
    @%p4 st.volatile.shared.u32 [x+8], %r3;
    ld.volatile.shared.u32 %r4, [x];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra LOOK;)"),
            Fault::None);
}

// One word is looked at for each of many values, as the bucket of a hash table for keys that share it.
TEST(RunPoll, ALoopThatCountsItsLooksEndsByItself) {
  const auto looks = [](const std::string& until) {
    return rounds(R"(
    mov.u32 %r7, 0;
  NEXT:
    ld.volatile.shared.u32 %r3, [x+8];
    add.u32 %r7, %r7, 1;
    )" + until + R"(
    @%p2 bra NEXT;)");
  };
  EXPECT_EQ(looks("setp.lt.u32 %p2, %r7, 20; vote.sync.any.pred %p2, %p2, -1;"), Fault::None);
  EXPECT_EQ(looks("setp.eq.u32 %p2, %r3, 0;").fault, Fault::Deadlock);
}

// The lane that has a lock stands behind the loop, where its warp's lanes would meet: it goes on to unlock.
TEST(RunPoll, ALockIsTakenByEachLaneOfAWarp) {
  const auto lock = [](const std::string& unlock) {
    return found_in(R"(
    .shared .align 16 .b8 x[16];
    mov.u32 %r10, x;
    setp.lt.u32 %p1, %r1, 4;
    shl.b32 %r9, %r1, 2;
    add.u32 %r9, %r9, %r10;
    @%p1 st.shared.u32 [%r9], 0;
    bar.sync 0;
  LOCK:
    atom.acquire.cta.shared.cas.b32 %r3, [x], 0, 1;
    setp.ne.u32 %p2, %r3, 0;
    @%p2 bra LOCK;
    ld.shared.u32 %r4, [x+4];
    add.u32 %r4, %r4, 1;
    st.shared.u32 [x+4], %r4;
    )" + unlock + R"(
    bar.sync 0;
    ld.shared.u32 %r6, [x+4];
    setp.eq.u32 %p3, %r6, 64;
    @%p3 bra RIGHT;
    trap;
  RIGHT:)",
                    {.block = {64}});
  };
  EXPECT_EQ(lock("atom.release.cta.shared.exch.b32 %r5, [x], 0;"), Fault::None);
  EXPECT_EQ(lock("").fault, Fault::Deadlock);
}

// Who looks for what never comes waits, and is not run until a limit of steps.
TEST(RunPoll, ARoundThatNobodyEndsIsADeadlock) {
  EXPECT_EQ(rounds(R"(
    ld.volatile.shared.u32 %r3, [x];
    ld.volatile.shared.u32 %r4, [x+8];
    mov.u64 %rd6, %clock64;
    and.b32 %r3, %r3, %r4;
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra LOOK;)")
                .fault,
            Fault::Deadlock);
  EXPECT_EQ(rounds(R"(
    atom.shared.cas.b32 %r3, [x+8], 1, 2;
    ld.volatile.shared.u32 %r4, [x+12];
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra LOOK;)")
                .fault,
            Fault::Deadlock);
}

// Equal bytes at one address after the other, and a clock that is waited for between two looks, are no such round.
TEST(RunPoll, ALoopThatGoesOnIsNotParked) {
  EXPECT_EQ(rounds(R"(
    mov.u32 %r7, 0;
  NEXT:
    add.u32 %r8, %r7, %r10;
    ld.volatile.shared.u32 %r3, [%r8+16];
    add.u32 %r7, %r7, 4;
    setp.lt.u32 %p2, %r7, 32;
    @%p2 bra NEXT;)"),
            Fault::None);
  EXPECT_EQ(rounds(R"(
    ld.volatile.shared.u32 %r3, [x];
    mov.u64 %rd5, %clock64;
  BACK_OFF:
    mov.u64 %rd6, %clock64;
    sub.u64 %rd7, %rd6, %rd5;
    setp.lt.u64 %p2, %rd7, 500;
    @%p2 bra BACK_OFF;
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra LOOK;)"),
            Fault::None);
}

// Warp 1 waits for what warp 0 stores; a bounded number of tests, or of looks, may run out before that is there.
TEST(RunPoll, ALoopThatCountsMayRunOut) {
  const auto waits = [](const std::string& setup, const std::string& store,
                        const std::string& loop) {
    return found_in(R"(
      .shared .align 8 .b64 full;
      .shared .align 4 .b32 x[2];
      mov.u32 %r9, full;
      setp.ne.u32 %p1, %r1, 0;
      @!%p1 mbarrier.init.shared.b64 [%r9], 1;
      @!%p1 st.shared.u32 [x], 0;
      mov.u32 %r7, 0;
      bar.sync 0;
      setp.eq.u32 %p4, %r1, 32;
      @%p4 bra WAIT;)" + setup +
                        R"(
      @!%p1 st.shared.u32 [x+4], 5;)" +
                        store + R"(
      bra DONE;
    WAIT:)" + loop + R"(
      @%p3 bra WAIT;
      ld.shared.u32 %r6, [x+4];
    DONE:)",
                    {.block = {64}});
  };
  const std::string arrive = "@!%p1 mbarrier.arrive.shared.b64 _, [%r9];";
  const std::string test = "mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 0; not.pred %p3, %p2;";
  const auto tests = [](int most) {
    return "add.u32 %r7, %r7, 1; setp.lt.and.u32 %p3, %r7, " + std::to_string(most) + ", %p3;";
  };
  EXPECT_EQ(waits("", arrive, test), Fault::None);
  EXPECT_EQ(waits("", arrive, test + "mov.u32 %r8, 3;"), Fault::None);
  EXPECT_EQ(waits("", arrive, test + "add.u32 %r7, %r7, 1;"), Fault::None);
  for (const int most : {1, 3, 100})
    EXPECT_EQ(waits("", arrive, test + tests(most)).fault, Fault::DataRace) << most;
  const std::string release = "@!%p1 st.release.cta.shared.u32 [x], 1;";
  const std::string look = "ld.acquire.cta.shared.u32 %r5, [x]; setp.eq.u32 %p3, %r5, 0;";
  EXPECT_EQ(waits("", release, look), Fault::None);
  EXPECT_EQ(waits("", release, look + "add.u32 %r7, %r7, 1;"), Fault::None);
  for (const int most : {1, 3})
    EXPECT_EQ(waits("", release, look + tests(most)).fault, Fault::DataRace) << most;
}

}  // namespace
}  // namespace tcq::tests
