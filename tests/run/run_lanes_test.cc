// Lanes of one warp as threads of their own: what orders them, what only lets them meet, and what one of them does for
// all. Each rule has a right program and one that lacks what makes it right.
#include <algorithm>

#include "tests/run/lanes_run.h"

namespace tcq::tests {
namespace {

Found disputed() { return {Fault::None, {Fault::LaneOrderAssumed}, {}}; }

// --- pairs of lanes --------------------------------------------------------------------------------

// %r4: the lane's word, %r5: that of lane (lane ^ other).
std::string words_of(int other) {
  return R"(
    .shared .align 16 .b8 x[1024];
    mov.u32 %r2, x;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    xor.b32 %r3, %r3, )" +
         std::to_string(4 * other) + R"(;
    add.u32 %r5, %r2, %r3;)";
}

// Every lane stores its word and loads that of another.
Found exchange(const std::string& between, int other = 31) {
  return found_in(words_of(other) + "st.shared.u32 [%r4], %r1;" + between +
                  "ld.shared.u32 %r6, [%r5]; st.global.u32 [%rd2], %r6;");
}

TEST(RunLanes, AStoreAndALoadOfAnotherLaneNeedAnOrder) {
  const Found race = exchange("");
  ASSERT_EQ(race, Fault::LaneRace);
  EXPECT_EQ(race.finding.at.lane ^ race.finding.earlier.lane, 31);
  EXPECT_EQ(race.finding.bytes.end - race.finding.bytes.begin, 4u);
  EXPECT_EQ(exchange("bar.warp.sync -1;"), Fault::None);
  EXPECT_EQ(exchange("bar.sync 0;"), Fault::None);
  EXPECT_EQ(exchange("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"), Fault::None);
  EXPECT_EQ(exchange("membar.cta;"), Fault::LaneRace);
  EXPECT_EQ(exchange("", 0), Fault::None);
}

// They wait for each other, and PTX says nothing of memory: published kernels rely on it.
TEST(RunLanes, WhereLanesOnlyMeetTheOrderIsDisputed) {
  EXPECT_EQ(exchange("shfl.sync.bfly.b32 %r7, %r1, 1, 31, -1;"), disputed());
  EXPECT_EQ(exchange("vote.sync.any.pred %p1, 1, -1;"), disputed());
  EXPECT_EQ(exchange("match.any.sync.b32 %r7, %r1, -1;"), disputed());
  EXPECT_EQ(exchange("redux.sync.add.s32 %r7, %r1, -1;"), disputed());
  EXPECT_EQ(exchange("elect.sync _|%p1, -1;"), disputed());
  EXPECT_EQ(exchange("barrier.cluster.arrive.relaxed.aligned;"), disputed());
  EXPECT_EQ(exchange("activemask.b32 %r7;"), Fault::LaneRace);
}

TEST(RunLanes, AMaskOrdersItsLanesOnly) {
  const auto halves = [](const std::string& mask) {
    return "setp.lt.u32 %p1, %r1, 16; mov.u32 %r7, " + mask +
           "; @!%p1 not.b32 %r7, %r7; bar.warp.sync %r7;";
  };
  EXPECT_EQ(exchange(halves("65535"), 8), Fault::None);
  EXPECT_EQ(exchange(halves("65535"), 16), Fault::LaneRace);
  // Lane 0 knows what 1 to 15 did; who then meets lane 0 knows it, too.
  const std::string chain = R"(
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bar.warp.sync 65535;
    setp.eq.u32 %p2, %r1, 0;
    setp.ge.or.u32 %p3, %r1, 16, %p2;
    @%p3 bar.warp.sync 0xffff0001;)";
  const std::string forth = words_of(16) + "st.shared.u32 [%r4], %r1;" + chain;
  EXPECT_EQ(found_in(forth + "@!%p1 ld.shared.u32 %r6, [%r5];"), Fault::None);
  EXPECT_EQ(found_in(forth + "@%p1 ld.shared.u32 %r6, [%r5];"), Fault::LaneRace);
}

TEST(RunLanes, AStoreBehindTheLoadOfAnotherLaneNeedsAnOrder) {
  const auto reduce = [](const std::string& before) {
    return found_in(words_of(1) + "st.shared.u32 [%r4], %r1; bar.warp.sync -1;" +
                    "ld.shared.u32 %r6, [%r5]; add.u32 %r6, %r6, %r1;" + before +
                    "st.shared.u32 [%r4], %r6;");
  };
  EXPECT_EQ(reduce(""), Fault::LaneRace);
  EXPECT_EQ(reduce("bar.warp.sync -1;"), Fault::None);
}

// Whatever the store stores: here what the bytes hold.
TEST(RunLanes, ALoadThatIsOvertakenByAnEqualValueIsARace) {
  EXPECT_EQ(found_in(words_of(1) + "mov.u32 %r8, 0; st.shared.u32 [%r4], %r8; bar.warp.sync -1;" +
                     "ld.shared.u32 %r6, [%r5]; st.shared.u32 [%r4], %r8;"),
            Fault::LaneRace);
}

// Two lanes read the byte, the one that stores it last.
TEST(RunLanes, TheLoadOfALaneIsNotForgottenForThatOfAnother) {
  const auto both_load = [](const std::string& use, const std::string& before) {
    return found_in(words_of(1) + "st.shared.u32 [%r4], %r1; bar.warp.sync -1;" +
                    "ld.shared.u32 %r6, [%r5];" + use +
                    "ld.shared.u32 %r7, [%r4]; add.u32 %r6, %r6, %r7;" + before +
                    "st.shared.u32 [%r4], %r6;");
  };
  for (const char* use : {"", "add.u32 %r6, %r6, 1;"}) {
    EXPECT_EQ(both_load(use, ""), Fault::LaneRace);
    EXPECT_EQ(both_load(use, "bar.warp.sync -1;"), Fault::None);
  }
}

// Each lane at bytes of its own, by far more lists of places than a log has entries.
TEST(RunLanes, BytesOfOneLaneStayItsOwnHoweverOftenPlacesChange) {
  const auto walk = [](const std::string& own) {
    return found_in(R"(
    mul.lo.u32 %r2, %r1, )" +
                    own + R"(;
    mad.lo.u32 %r3, %r1, 747796405, 1;
    mov.u32 %r4, 0;
  again:
    mad.lo.u32 %r3, %r3, 1664525, 1013904223;
    shr.u32 %r5, %r3, 27;
    add.u32 %r5, %r5, %r2;
    cvt.u64.u32 %rd3, %r5;
    add.u64 %rd3, %rd3, %rd1;
    ld.global.u8 %r6, [%rd3];
    add.u32 %r6, %r6, 1;
    st.global.u8 [%rd3], %r6;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 20000;
    @%p1 bra again;)");
  };
  EXPECT_EQ(walk("32"), Fault::None);
  EXPECT_EQ(walk("31"), Fault::LaneRace);
}

TEST(RunLanes, GlobalMemoryIsNoDifferent) {
  const auto exchange_global = [](const std::string& between) {
    return found_in("st.global.u32 [%rd2], %r1;" + between + R"(
      xor.b32 %r3, %r1, 5;
      mad.wide.u32 %rd3, %r3, 4, %rd1;
      ld.global.u32 %r6, [%rd3];
      st.global.u32 [%rd2+128], %r6;)");
  };
  EXPECT_EQ(exchange_global(""), Fault::LaneRace);
  EXPECT_EQ(exchange_global("bar.warp.sync -1;"), Fault::None);
}

// Lanes at addresses without a stride, of other widths: the bytes say which lanes meet.
TEST(RunLanes, LanesAreKnownByTheirBytes) {
  const std::string places = R"(
    .shared .align 16 .b8 x[1024];
    mov.u32 %r2, x;
    shr.u32 %r3, %r1, 2;
    xor.b32 %r3, %r3, %r1;
    shl.b32 %r3, %r3, 4;
    add.u32 %r4, %r2, %r3;
    st.shared.v2.u32 [%r4], {%r1, %r1};
    st.shared.v2.u32 [%r4+8], {%r1, %r1};)";
  EXPECT_EQ(found_in(places + "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];"), Fault::None);
  EXPECT_EQ(found_in(places + "ld.shared.u8 %r5, [%r4+11]; st.shared.u16 [%r4+14], %h1;"),
            Fault::None);
  EXPECT_EQ(found_in(places + "xor.b32 %r4, %r4, 16; ld.shared.u8 %r6, [%r4+11];"),
            Fault::LaneRace);
}

TEST(RunLanes, BranchesAreNoOrder) {
  const auto parted = [](const std::string& meet) {
    return found_in(words_of(16) + R"(
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra low;
    st.shared.u32 [%r4], %r1;
    )" + meet + R"(
    bra done;
  low:
    )" + meet + R"(
    ld.shared.u32 %r6, [%r5];
  done:)");
  };
  EXPECT_EQ(parted(""), Fault::LaneRace);
  EXPECT_EQ(parted("bar.warp.sync -1;"), Fault::None);
}

TEST(RunLanes, ANarrowWarpAndLanesThatHaveEndedAreNotWaitedFor) {
  const std::string body = words_of(1) +
                           "setp.eq.u32 %p1, %r1, 7; @%p1 exit; st.shared.u32 [%r4], %r1;"
                           "bar.warp.sync -1; setp.lt.u32 %p2, %r1, 4;"
                           "@%p2 ld.shared.u32 %r6, [%r5];";
  EXPECT_EQ(found_in(body, {.block = {8}}), Fault::None);
}

// The hardware took old warp-synchronous code at its word: volatile accesses are executed, in the order of the text.
TEST(RunLanes, VolatileAccessesOfOneWarpAreDisputed) {
  const auto halve = [](const std::string& kind, const std::string& between) {
    return found_in(words_of(16) + "st" + kind + ".shared.u32 [%r4], %r1;" + between + "ld" + kind +
                    ".shared.u32 %r6, [%r5];");
  };
  EXPECT_EQ(halve(".volatile", ""), disputed());
  EXPECT_EQ(halve(".volatile", "bar.warp.sync -1;"), Fault::None);
  EXPECT_EQ(halve(".relaxed.cta", ""), Fault::None);
}

TEST(RunLanes, LanesOfOneStoreMayNotDiffer) {
  const std::string store = ".shared .align 16 .b8 x[64]; mov.u32 %r2, x; st.shared.u32 [%r2], ";
  const Found suspect{Fault::None, {Fault::LaneStoresDiffer}, {}};
  EXPECT_EQ(found_in(store + "%r1;"), suspect);
  EXPECT_EQ(found_in("mov.u32 %r7, 3;" + store + "%r7;"), Fault::None);
  EXPECT_EQ(found_in("mov.u32 %r7, 3;" + store + "%r7; ld.shared.u32 %r8, [%r2];"), Fault::None);
  // Lanes 2i and 2i + 1 overlap by two bytes of their four.
  const std::string overlap =
      ".shared .align 16 .b8 x[256]; mov.u32 %r2, x; shl.b32 %r3, %r1, 1; add.u32 %r2, %r2, %r3;";
  EXPECT_EQ(found_in(overlap + "shr.u32 %r4, %r1, 1; xor.b32 %r5, %r4, %r1; shl.b32 %r5, %r5, 2;"
                               "add.u32 %r2, %r2, %r5; and.b32 %r2, %r2, -4;"
                               "st.shared.u32 [%r2], %r1;"),
            suspect);
}

// What lanes 20 and 21 drop goes to one word, by two statements: which of the two it keeps is open until somebody asks.
TEST(RunLanes, StoresThatRaceMayNotBeUsed) {
  const auto drop = [](const std::string& behind, std::uint32_t other = 21,
                       const std::string& between = "") {
    return found_in(words_of(16) + R"(
    add.u32 %r7, %r2, 512;
    setp.eq.u32 %p1, %r1, 20;
    selp.b32 %r8, %r7, %r4, %p1;
    st.shared.u32 [%r8], %r1;
    )" + between + R"(
    setp.eq.u32 %p2, %r1, )" +
                        std::to_string(other) +
                        R"(;
    selp.b32 %r9, %r7, %r4, %p2;
    st.shared.u32 [%r9], %r1;
    mov.u32 %r6, 0;
    bar.sync 0;
    )" + behind,
                    {.block = {64}});
  };
  const Found unread{Fault::None, {Fault::UnreadStoresRace}, {}};
  const std::string again =
      "bar.sync 0; setp.eq.u32 %p3, %r1, 0; @%p3 st.shared.u32 [%r7], 3; bar.sync 0;";
  const std::string load = "ld.shared.u32 %r10, [%r7];", uses = "mov.u32 %r6, %r10;";
  for (const std::uint32_t other : {21u, 40u}) {  // a lane of the same warp, and of another one
    const Fault race = other < 32 ? Fault::LaneRace : Fault::DataRace;
    EXPECT_EQ(drop("", other), unread);
    EXPECT_EQ(drop(load, other), unread);
    EXPECT_EQ(drop(again + load + uses, other), unread);
    EXPECT_EQ(drop(load + uses, other), race);
    EXPECT_EQ(drop("atom.shared.add.u32 %r10, [%r7], 1;", other), race);
    EXPECT_EQ(drop("ld.volatile.shared.u32 %r10, [%r7];", other), race);
    EXPECT_EQ(drop("wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 "
                   "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [%r7], 16; mov.b32 %r6, %f1;",
                   other),
              race);
    // The first one's, too, before the second one comes.
    EXPECT_EQ(drop("", other, "@%p1 ld.shared.u32 %r10, [%r7]; @%p1 st.global.u32 [%rd2], %r10;"),
              race);
  }
}

TEST(RunLanes, AMatrixLoadReadsTheRowsOfAllLanes) {
  const auto load = [](const std::string& between) {
    return found_in(R"(
    .shared .align 16 .b8 x[512];
    mov.u32 %r2, x;
    shl.b32 %r3, %r1, 4;
    add.u32 %r4, %r2, %r3;
    st.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r1};)" +
                    between + R"(
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r4];)");
  };
  EXPECT_EQ(load(""), disputed());
  EXPECT_EQ(load("bar.warp.sync -1;"), Fault::None);
}

TEST(RunLanes, ACpAsyncIsThatOfItsLane) {
  const auto copy = [](const std::string& behind, int other) {
    return found_in(words_of(other) + "cp.async.ca.shared.global [%r4], [%rd2], 4;" + behind +
                    "ld.shared.u32 %r6, [%r5];");
  };
  EXPECT_EQ(copy("cp.async.wait_all;", 0), Fault::None);
  EXPECT_EQ(copy("cp.async.wait_all;", 3), Fault::LaneRace);
  EXPECT_EQ(copy("cp.async.wait_all; bar.warp.sync -1;", 3), Fault::None);
  EXPECT_EQ(copy("bar.warp.sync -1; cp.async.wait_all;", 3), Fault::LaneRace);
}

// --- one lane for all ------------------------------------------------------------------------------

// Warp 1 stores, one lane of it (or all) arrives; warp 0 waits, in all lanes or in one, and loads.
struct HandOver {
  std::string before_arrival = "bar.warp.sync -1;";
  std::string arrives = "setp.eq.u32 %p2, %r1, 32;";
  int arrivals = 1;
  std::string waits = "setp.lt.u32 %p3, %r1, 32;";
  std::string behind_wait = "";
  std::string first = "st.shared.u32 [%r4], %r1;";
  std::string second = "ld.shared.u32 %r6, [%r5];";
};

Found hand_over(const HandOver& h) {
  return found_in(words_of(40) + R"(
    .shared .align 8 .b64 full;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared::cta.b64 [full], )" +
                      std::to_string(h.arrivals) + R"(;
    st.shared.u32 [%r4], %r1;
    bar.sync 0;
    )" + h.arrives + h.waits +
                      R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra consumer;
    )" + h.first + h.before_arrival +
                      R"(
    @%p2 mbarrier.arrive.shared::cta.b64 _, [full];
    bra done;
  consumer:
    @!%p3 bra through;
  wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p4, [full], 0;
    @!%p4 bra wait;
  through:
    )" + h.behind_wait +
                      h.second + "\n done:",
                  {.block = {64}, .explore = 5});
}

TEST(RunLanes, AnArrivalReleasesWhatItsLaneDid) {
  EXPECT_EQ(hand_over({}), Fault::None);
  const Found missing = hand_over({.before_arrival = ""});
  ASSERT_EQ(missing, Fault::LaneReleaseMissing);
  EXPECT_EQ(missing.finding.hint.lane, -1);
  EXPECT_GE(missing.finding.hint.statement, 0);
  EXPECT_EQ(hand_over({.before_arrival = "shfl.sync.bfly.b32 %r7, %r1, 1, 31, -1;"}), disputed());
  EXPECT_EQ(
      hand_over({.before_arrival = "", .arrives = "setp.ge.u32 %p2, %r1, 32;", .arrivals = 32}),
      Fault::None);
  // What the one lane stored itself needs nothing.
  EXPECT_EQ(hand_over({.before_arrival = "",
                       .first = "@%p2 st.shared.u32 [%r4], %r1; @!%p2 ld.shared.u32 %r9, [%r4];",
                       .second = "ld.shared.u32 %r6, [x+128];"}),
            Fault::None);
}

// The other lanes end as soon as they have stored: that they are no more is no order.
TEST(RunLanes, LanesThatHaveEndedReleasedNothing) {
  const auto last = [](const std::string& before) {
    return hand_over(
        {.before_arrival = before + "@!%p2 exit;", .arrives = "setp.eq.u32 %p2, %r1, 32;"});
  };
  EXPECT_EQ(last("bar.warp.sync -1;"), Fault::None);
  EXPECT_EQ(last(""), Fault::LaneReleaseMissing);
  EXPECT_EQ(last("shfl.sync.bfly.b32 %r7, %r1, 1, 31, -1;"), disputed());
}

TEST(RunLanes, ASlotIsFreeOnceEveryLaneHasReadIt) {
  const std::string load = "ld.shared.u32 %r6, [%r4]; st.global.u32 [%rd2], %r6;";
  const std::string store = "st.shared.u32 [%r5], %r1;";
  EXPECT_EQ(hand_over({.first = load, .second = store}), Fault::None);
  EXPECT_EQ(hand_over({.before_arrival = "", .first = load, .second = store}),
            Fault::LaneReleaseMissing);
}

TEST(RunLanes, AWaitAcquiresForItsLane) {
  const std::string one = "setp.eq.u32 %p3, %r1, 0;";
  const Found missing = hand_over({.waits = one});
  ASSERT_EQ(missing, Fault::LaneAcquireMissing);
  EXPECT_GE(missing.finding.hint.statement, 0);
  EXPECT_NE(missing.finding.at.lane, 0);
  EXPECT_EQ(hand_over({.waits = one, .behind_wait = "bar.warp.sync -1;"}), Fault::None);
  EXPECT_EQ(hand_over({.waits = one, .behind_wait = "vote.sync.all.pred %p5, 1, -1;"}), disputed());
  EXPECT_EQ(hand_over({.waits = one, .second = "@%p3 ld.shared.u32 %r6, [%r5];"}), Fault::None);
}

// All lanes arrive and all wait: it orders the lanes of one warp as it orders warps.
TEST(RunLanes, AnMbarrierOrdersTheLanesThatArriveAndWait) {
  const auto meet = [](const std::string& arrive) {
    return found_in(words_of(9) + R"(
    .shared .align 8 .b64 all;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared::cta.b64 [all], 32;
    bar.warp.sync -1;
    )" + (arrive + R"(
  wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p4, [all], 0;
    @!%p4 bra wait;
    ld.shared.u32 %r6, [%r5];)"));
  };
  const std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [all];";
  const std::string store = "st.shared.u32 [%r4], %r1;";
  EXPECT_EQ(meet(store + arrive), Fault::None);
  EXPECT_EQ(meet(arrive + store), Fault::LaneRace);
}

TEST(RunLanes, OneLaneStoresATileThatAllHaveWritten) {
  const auto store = [](const std::string& before, const std::string& behind) {
    return found_in(R"(
    .shared .align 128 .b8 tile[128];
    mov.u32 %r3, tile;
    shl.b32 %r2, %r1, 2;
    add.u32 %r2, %r2, %r3;
    setp.eq.u32 %p1, %r1, 0;
    st.shared.u32 [%r2], %r1;
    fence.proxy.async.shared::cta;
    )" + before + R"(
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 128;
    @%p1 cp.async.bulk.commit_group;
    @%p1 cp.async.bulk.wait_group.read 0;
    )" + behind + "st.shared.u32 [%r2], %r3;");
  };
  const std::string sync = "bar.warp.sync -1;";
  EXPECT_EQ(store(sync, sync), Fault::None);
  EXPECT_EQ(store("", sync), Fault::LaneRace);
  EXPECT_EQ(store(sync, ""), Fault::LaneAcquireMissing);
  EXPECT_EQ(store("elect.sync _|%p2, -1;", sync), disputed());
}

// Lane 32 raises a flag for its warp; warp 0 polls it with all its lanes.
TEST(RunLanes, AFlagReleasesWhatItsLaneDid) {
  const auto flag = [](const std::string& before) {
    return found_in(R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra reader;
    st.global.u32 [%rd2+256], %r1;
    )" + before + R"(
    setp.eq.u32 %p2, %r1, 32;
    mov.u32 %r3, 1;
    @%p2 st.release.gpu.global.u32 [%rd1], %r3;
    bra done;
  reader:
    ld.acquire.gpu.global.u32 %r4, [%rd1];
    setp.eq.u32 %p3, %r4, 0;
    @%p3 bra reader;
    ld.global.u32 %r5, [%rd2+384];
  done:)",
                    {.block = {64}, .explore = 5});
  };
  EXPECT_EQ(flag("bar.warp.sync -1;"), Fault::None);
  EXPECT_EQ(flag(""), Fault::LaneReleaseMissing);
}

// Lane l of both warps counts at word l; who comes second resets it.
TEST(RunLanes, WhoHasSeenOneOfManyAtomicsMayStoreThere) {
  const auto counters = [](const std::string& word) {
    return found_in(
        "and.b32 %r2, %r1, 31; mad.wide.u32 %rd3, %r2, 4, %rd1;"
        "atom.global.add.u32 %r3, [%rd3], 1; setp.eq.u32 %p1, %r3, 1; mov.u32 %r4, 0;"
        "@%p1 st.global.u32 [" +
            word + "], %r4;",
        {.block = {64}, .explore = 5});
  };
  EXPECT_EQ(counters("%rd3"), Fault::None);
  EXPECT_EQ(counters("%rd3+4"), Fault::AtomicRace);
}

// The second warp writes no word before it stores: what it knows is what it has loaded.
TEST(RunLanes, WhoHasLoadedWhatAnAtomicWroteMayStorePlainly) {
  const auto waits = [](const std::string& place, const std::string& who) {
    return found_in("and.b32 %r2, %r1, 31; mad.wide.u32 %rd3, %r2, 4, %rd1;" + who + R"(
    setp.ge.u32 %p2, %r1, 32;
    @%p2 bra wait;
    red.relaxed.gpu.global.add.u32 [)" +
                        place + R"(], 1;
    bra done;
  wait:
    ld.relaxed.gpu.global.u32 %r3, [)" +
                        place + R"(];
    setp.eq.u32 %p3, %r3, 0;
    @%p3 bra wait;
    mov.u32 %r4, 0;
    st.global.u32 [)" + place +
                        R"(], %r4;
  done:)",
                    {.block = {64}, .explore = 5});
  };
  const std::string first_lanes = "setp.ne.u32 %p1, %r2, 0; @%p1 bra done;";
  EXPECT_EQ(waits("%rd1", first_lanes), Fault::None);
  EXPECT_EQ(waits("%rd3", ""), Fault::None);  // a word for each lane
}

TEST(RunLanes, AtomicsAndPlainAccessesOfOtherBytesDoNotMeet) {
  EXPECT_EQ(found_in("red.global.add.u32 [%rd1], 1; st.global.u32 [%rd2+128], %r1;"
                     "ld.global.u32 %r2, [%rd2+128];",
                     {.block = {64}}),
            Fault::None);
}

}  // namespace
}  // namespace tcq::tests
