// Accesses by which threads synchronise, and plain ones: atomics, flags, volatile words, and what they tell of.
#include "tests/run/lanes_run.h"

namespace tcq::tests {
namespace {

// Strong accesses do not race, but one that is behind no store may be the first: it finds what nothing has written.
TEST(RunStrong, AStrongLoadNeedsAStoreBeforeIt) {
  const auto hand_over = [](const std::string& before, const std::string& between,
                            const std::string& look) {
    return found_in(
        ".shared .align 4 .b8 x[16]; and.b32 %r2, %r1, 31; setp.ne.u32 %p1, %r2, 0;"
        "setp.ne.u32 %p2, %r1, 0; setp.ne.u32 %p3, %r1, 32;" +
            before + "@!%p2 st.volatile.shared.u32 [x], 5;" + between + "@!%p3 " + look,
        {.block = {64}});
  };
  const std::string load = "ld.volatile.shared.u32 %r3, [x];";
  const std::string init = "@!%p2 st.shared.u32 [x], 0; bar.sync 0;";
  EXPECT_EQ(hand_over("", "", load), Fault::SharedUninitialized);
  EXPECT_EQ(hand_over("", "bar.sync 0;", load), Fault::None);
  EXPECT_EQ(hand_over(init, "", load), Fault::None);
  EXPECT_EQ(hand_over("", "", "atom.shared.add.u32 %r3, [x], 1;"), Fault::SharedUninitialized);
  EXPECT_EQ(hand_over(init, "", "atom.shared.add.u32 %r3, [x], 1;"), Fault::None);
  EXPECT_EQ(hand_over("", "", "atom.shared.exch.b32 %r3, [x], 1;"), Fault::None);
  // Its own store is before it, whoever else stores.
  EXPECT_EQ(hand_over("", "@!%p3 st.volatile.shared.u32 [x], 6;", load), Fault::None);
}

TEST(RunStrong, AFlagOrdersWhatAFenceIsBeforeAndBehind) {
  const auto spin = [](const std::string& release, const std::string& acquire) {
    return found_in(R"(
    .shared .align 4 .b8 x[16];
    setp.ne.u32 %p1, %r1, 0;
    @!%p1 st.shared.u32 [x], 0;
    bar.sync 0;
    @!%p1 st.volatile.shared.u32 [x+4], 5;)" +
                        release + R"(
    @!%p1 st.volatile.shared.u32 [x], 1;
    setp.ne.u32 %p2, %r1, 32;
    @%p2 bra done;
  look:
    ld.volatile.shared.u32 %r3, [x];
    setp.eq.u32 %p3, %r3, 0;
    @%p3 bra look;)" + acquire +
                        R"(
    ld.volatile.shared.u32 %r4, [x+4];
  done:)",
                    {.block = {64}});
  };
  EXPECT_EQ(spin("membar.cta;", "membar.cta;"), Fault::None);
  EXPECT_EQ(spin("membar.cta;", ""), Fault::SharedUninitialized);
  EXPECT_EQ(spin("", "membar.cta;"), Fault::SharedUninitialized);
}

TEST(RunStrong, AnAtomicDependsOnWhatItFinds) {
  const auto first = [](const std::string& what) {
    return found_in(".shared .align 4 .b8 x[16]; mov.u32 %r2, 1;" + what);
  };
  EXPECT_EQ(first("red.shared.add.u32 [x], %r2;"), Fault::SharedUninitialized);
  EXPECT_EQ(first("atom.shared.cas.b32 %r3, [x], 0, %r2;"), Fault::SharedUninitialized);
  EXPECT_EQ(first("atom.shared.exch.b32 %r3, [x], %r2;"), Fault::None);
  EXPECT_EQ(first("st.shared.u32 [x], %r2; bar.warp.sync -1; red.shared.add.u32 [x], %r2;"),
            Fault::None);
}

// A selection in place: who stores over another CTA's items has seen its flag, behind the barrier that its loads are before.
TEST(RunStrong, LoadsBeforeABarrierAreOverWhereARelaxedFlagIsSeen) {
  const auto overwrite = [](const std::string& barrier, const std::string& raise,
                            const std::string& look) {
    return run_of(kernel(R"(
    mov.u32 %r3, %cluster_ctarank;
    setp.ne.u32 %p1, %r3, 0;
    setp.ne.u32 %p2, %r1, 0;
    @%p1 bra next;
    ld.global.u32 %r4, [%rd2];
    )" + barrier + "@!%p2 " +
                         raise + R"(.global.u32 [%rd1+512], 1;
    st.global.u32 [%rd2+1024], %r4;
    bra done;
  next:
    @%p2 bra meet;
  look:
    )" + look + R"(.global.u32 %r5, [%rd1+512];
    setp.eq.u32 %p3, %r5, 0;
    @%p3 bra look;
  meet:
    bar.sync 0;
    st.global.u32 [%rd2], %r1;
  done:)"),
                  {.grid = {2}, .block = {64}, .cluster = {2}});
  };
  const Found assumed{Fault::None, {Fault::PerformedAssumed}, {}};
  EXPECT_EQ(overwrite("bar.sync 0;", "st.relaxed.gpu", "ld.relaxed.gpu"), assumed);
  EXPECT_EQ(overwrite("bar.sync 0;", "st.volatile", "ld.volatile"), assumed);
  EXPECT_EQ(overwrite("bar.sync 0;", "st.release.gpu", "ld.acquire.gpu"), Fault::None);
  EXPECT_EQ(overwrite("", "st.relaxed.gpu", "ld.relaxed.gpu"), Fault::DataRace);
}

// A reduction in a layout of more warps than the tile has rows for: lanes disagree in a last bit, replicas of the warp store the same.
TEST(RunStrong, AWarpThatStoresWhatItsReplicaStoredIsDisputed) {
  const auto replicas = [](const std::string& value, const std::string& behind = "") {
    return run_of(kernel(".shared .align 4 .b8 x[64]; mov.u32 %r2, x; and.b32 %r3, %r1, 31;" +
                         value + "st.shared.u32 [%r2], %r4;" + behind),
                  {.block = {64}});
  };
  EXPECT_EQ(replicas("mov.u32 %r4, %r3;"),
            (Found{Fault::None, {Fault::LaneStoresDiffer, Fault::EqualStoresRace}, {}}));
  EXPECT_EQ(replicas("mov.u32 %r4, 7;"), (Found{Fault::None, {Fault::EqualStoresRace}, {}}));
  EXPECT_EQ(replicas("mov.u32 %r4, %r1;"),
            (Found{Fault::None, {Fault::LaneStoresDiffer, Fault::UnreadStoresRace}, {}}));
  const std::string uses = "bar.sync 0; ld.shared.u32 %r5, [%r2]; st.global.u32 [%rd2], %r5;";
  EXPECT_EQ(replicas("mov.u32 %r4, %r1;", uses).fault, Fault::DataRace);
}

TEST(RunStrong, APlainLoadOfACounterNeedsAnOrder) {
  const auto count = [](const std::string& between, const std::string& load,
                        std::uint32_t threads) {
    return found_in(
        ".shared .align 4 .u32 n; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [n], 0;"
        "bar.sync 0; atom.shared.add.u32 %r2, [n], 1;" +
            between + load + " %r3, [n];",
        {.block = {threads}, .explore = 5});
  };
  EXPECT_EQ(count("bar.sync 0;", "ld.shared.u32", 64), Fault::None);
  EXPECT_EQ(count("", "ld.shared.u32", 64), Fault::AtomicRace);
  EXPECT_EQ(count("", "ld.volatile.shared.u32", 64), Fault::None);
  EXPECT_EQ(count("", "ld.shared.u32", 32), Fault::AtomicRace);
  EXPECT_EQ(count("bar.warp.sync -1;", "ld.shared.u32", 32), Fault::None);
  EXPECT_EQ(count("bar.sync 0; @%p1 st.shared.u32 [n], 7; bar.sync 0;", "ld.shared.u32", 64),
            Fault::None);
}

TEST(RunStrong, AFlagThatOthersPollIsNoPlainStore) {
  const auto poll = [](const std::string& raise, const std::string& ask) {
    return found_in(R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra reader;
    setp.eq.u32 %p2, %r1, 32;
    mov.u32 %r3, 1;
    @%p2 )" + raise + R"(.global.u32 [%rd1], %r3;
    bra done;
  reader:
    )" + ask + R"(.global.u32 %r4, [%rd1];
    setp.eq.u32 %p3, %r4, 0;
    @%p3 bra reader;
  done:)",
                    {.block = {64}, .explore = 5});
  };
  EXPECT_EQ(poll("st.release.gpu", "ld.acquire.gpu"), Fault::None);
  EXPECT_EQ(poll("st.relaxed.gpu", "ld.relaxed.gpu"), Fault::None);
  EXPECT_EQ(poll("st.volatile", "ld.volatile"), Fault::None);
  EXPECT_EQ(poll("red.add", "ld.acquire.gpu"), Fault::None);
  EXPECT_EQ(poll("st", "ld.acquire.gpu"), Fault::AtomicRace);
}

// The last one of two warps resets the counter: it has seen the atomics of the others.
TEST(RunStrong, WhoHasSeenAnAtomicMayStorePlainly) {
  const auto last = [](const std::string& counter) {
    return found_in(R"(
    and.b32 %r2, %r1, 31;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra done;
    atom.global.add.u32 %r3, [%rd1], 1;
    setp.ne.u32 %p2, %r3, 1;
    @%p2 bra done;
    mov.u32 %r4, 0;
    st.global.u32 [)" + counter +
                        R"(], %r4;
  done:)",
                    {.block = {64}, .explore = 5});
  };
  EXPECT_EQ(last("%rd1"), Fault::None);
  EXPECT_EQ(found_in("atom.global.add.u32 %r3, [%rd1], 1; and.b32 %r2, %r1, 31;"
                     "setp.eq.u32 %p1, %r2, 0; mov.u32 %r4, 0;"
                     "@%p1 atom.global.exch.b32 %r5, [%rd1+64], 1;"
                     "@%p1 st.global.u32 [%rd1], %r4;",
                     {.block = {64}}),
            Fault::AtomicRace);
}

}  // namespace
}  // namespace tcq::tests
