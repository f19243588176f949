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

// Warp 0 stores and raises a flag, warp 1 looks at it and loads.
TEST(RunStrong, AFenceActsInItsDirectionAlone) {
  const auto flag = [](const std::string& space, const std::string& release,
                       const std::string& acquire) {
    const std::string at = space == "shared" ? "[x]" : "[%rd1+256]";
    const std::string data = space == "shared" ? "[x+4]" : "[%rd1+512]";
    return found_in(R"(
    .shared .align 4 .b8 x[16];
    setp.ne.u32 %p1, %r1, 0;
    @!%p1 st.)" + space +
                        ".u32 " + at + R"(, 0;
    bar.sync 0;
    @!%p1 st.)" + space +
                        ".u32 " + data + ", 5;" + release + "@!%p1 st.relaxed.gpu." + space +
                        ".u32 " + at + R"(, 1;
    setp.ne.u32 %p2, %r1, 32;
    @%p2 bra done;
  look:
    ld.relaxed.gpu.)" + space +
                        ".u32 %r3, " + at + R"(;
    setp.eq.u32 %p3, %r3, 0;
    @%p3 bra look;)" + acquire +
                        "ld." + space + ".u32 %r6, " + data + ";\n  done:",
                    {.block = {64}});
  };
  for (const std::string space : {"shared", "global"}) {
    EXPECT_EQ(flag(space, "fence.release.gpu;", "fence.acquire.gpu;"), Fault::None);
    EXPECT_EQ(flag(space, "fence.sc.gpu;", "membar.gl;"), Fault::None);
    EXPECT_NE(flag(space, "fence.acquire.gpu;", "fence.acquire.gpu;").fault, Fault::None);
    EXPECT_NE(flag(space, "fence.release.gpu;", "fence.release.gpu;").fault, Fault::None);
    const Fault restricted = space == "shared" ? Fault::None : Fault::DataRace;
    EXPECT_EQ(flag(space, "fence.release.sync_restrict::shared::cta.cluster;", "fence.acquire.gpu;")
                  .fault,
              restricted);
    EXPECT_EQ(
        flag(space, "fence.release.gpu;", "fence.acquire.sync_restrict::shared::cluster.cluster;")
            .fault,
        restricted);
  }
}

// Warp 0 releases a flag, warp 1 writes another value over it, warp 2 waits for that one.
TEST(RunStrong, OnlyReadModifyWritesOfOthersContinueAReleaseSequence) {
  const auto over = [](const std::string& middle) {
    return found_in(R"(
    .shared .align 8 .b8 x[16];
    and.b32 %r2, %r1, 31;
    setp.ne.u32 %p1, %r1, 0;
    @!%p1 st.shared.u64 [x], 0;
    bar.sync 0;
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra done;
    setp.eq.u32 %p3, %r1, 32;
    @%p3 bra middle;
    setp.eq.u32 %p3, %r1, 64;
    @%p3 bra look;
    st.shared.u32 [x+8], 5;
    st.release.cta.shared.u32 [x], 1;
    bra done;
  middle:
    ld.relaxed.cta.shared.u32 %r3, [x];
    setp.ne.u32 %p3, %r3, 1;
    @%p3 bra middle;)" + middle +
                        R"(
    bra done;
  look:
    ld.relaxed.cta.shared.u32 %r3, [x];
    setp.ne.u32 %p3, %r3, 2;
    @%p3 bra look;
    fence.acq_rel.cta;
    ld.shared.u32 %r6, [x+8];
  done:)",
                    {.block = {96}, .explore = 20});
  };
  EXPECT_EQ(over("atom.relaxed.cta.shared.add.u32 %r4, [x], 1;"), Fault::None);
  EXPECT_EQ(over("fence.acq_rel.cta; st.relaxed.cta.shared.u32 [x], 2;"), Fault::None);
  EXPECT_EQ(over("ld.acquire.cta.shared.u32 %r3, [x]; st.release.cta.shared.u32 [x], 2;"),
            Fault::None);
  EXPECT_EQ(over("st.relaxed.cta.shared.u32 [x], 2;").fault, Fault::DataRace);
  // Of the other half of the eight bytes it is another flag.
  EXPECT_EQ(
      over("st.relaxed.cta.shared.u32 [x+4], 2; atom.relaxed.cta.shared.add.u32 %r4, [x], 1;"),
      Fault::None);
}

}  // namespace
}  // namespace tcq::tests
