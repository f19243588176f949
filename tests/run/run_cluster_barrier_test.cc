// The cluster's barrier of lanes that go their own ways: each arrives and waits for itself, unless .aligned. And an mbarrier
// that all lanes of a warp initialise.
#include <gtest/gtest.h>

#include <string>

#include "tests/run/lanes_run.h"

namespace tcq::tests {
namespace {

Found in_two_ctas(const std::string& body, std::uint32_t threads = 32) {
  return run_of(kernel(R"(
    .shared .align 8 .b32 x[64];
    mov.u32 %r2, x;
    mapa.shared::cluster.u32 %r3, %r2, 0;
    mov.u32 %r4, %cluster_ctarank;
    setp.eq.u32 %p1, %r1, 0;
    setp.eq.u32 %p2, %r4, 0;
)" + body + "\nDONE:"),
                {.grid = {2}, .block = {threads}, .cluster = {2}, .explore = 10});
}

// CTA 1 reads what the lane 0 of CTA 0 stored; who stays until that is over is `rest`.
constexpr const char* store_0 = "@%p2 st.shared.u32 [%r2], 7;\n";
constexpr const char* read_0 =
    "ld.shared::cluster.u32 %r5, [%r3];\nst.global.u32 [%rd1+64], %r5;\n";
constexpr const char* end = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

TEST(RunClusterBarrier, OneLaneWaitsForAll) {
  const std::string waits = std::string("barrier.cluster.arrive.aligned;\n@!%p1 bra MEET;\n") +
                            "barrier.cluster.wait.acquire;\n@%p2 bra MEET;\n" + read_0 +
                            "MEET:\nbar.warp.sync 0xffffffff;\n";
  const std::string others = "@!%p1 barrier.cluster.wait.acquire;\n";
  const std::string first = std::string("@%p1 ") + "bra L0;\nbra L1;\nL0:\n" + store_0 + "L1:\n";
  EXPECT_EQ(in_two_ctas(first + "bar.warp.sync 0xffffffff;\n" + waits + others + end), Fault::None);
  // A lane that has not waited is not behind the barrier.
  const std::string not_behind = std::string("barrier.cluster.arrive.aligned;\n@!%p1 bra MEET;\n") +
                                 "barrier.cluster.wait.acquire;\nMEET:\n@%p2 bra OUT;\n" +
                                 "setp.eq.u32 %p3, %r1, 1;\n@!%p3 bra OUT;\n" + read_0 + "OUT:\n";
  EXPECT_NE(in_two_ctas(first + "bar.warp.sync 0xffffffff;\n" + not_behind + others + end).fault,
            Fault::None);
}

TEST(RunClusterBarrier, EachLaneArrivesForItself) {
  const std::string arrive =
      "@%p1 bra L0;\nbarrier.cluster.arrive.release;\nbra L1;\nL0:\n" + std::string(store_0) +
      "barrier.cluster.arrive.release;\nL1:\nbarrier.cluster.wait.acquire;\n@%p2 bra MEET;\n";
  EXPECT_EQ(in_two_ctas(arrive + "@!%p1 bra MEET;\n" + read_0 + "MEET:\n" + end), Fault::None);
  // One that comes to it twice has to wait in between; one that never comes is waited for.
  EXPECT_EQ(in_two_ctas("@%p1 barrier.cluster.arrive.release;\nbarrier.cluster.arrive.release;\n"
                        "barrier.cluster.wait.acquire;")
                .fault,
            Fault::ClusterBarrierOrder);
  EXPECT_EQ(in_two_ctas("@%p1 bra L0;\nbarrier.cluster.arrive.release;\nL0:\n"
                        "@!%p1 barrier.cluster.wait.acquire;\nbar.warp.sync 0xffffffff;")
                .fault,
            Fault::Deadlock);
}

TEST(RunClusterBarrier, LanesThatHaveEndedAreNotWaitedFor) {
  EXPECT_EQ(in_two_ctas("setp.gt.u32 %p3, %r1, 15;\n@%p3 bra DONE;\n" + std::string(end)),
            Fault::None);
  EXPECT_EQ(in_two_ctas(end, 40), Fault::None);
  for (const char* first : {"gt", "le"})
    EXPECT_EQ(in_two_ctas("setp." + std::string(first) +
                          ".u32 %p3, %r1, 15;\n@%p3 bra DONE;\nbarrier.cluster.arrive.release;\n"
                          "barrier.cluster.wait.acquire;\n"),
              Fault::None);
  // Behind the arrival of the others.
  EXPECT_EQ(in_two_ctas("setp.gt.u32 %p3, %r1, 15;\nsetp.le.u32 %p4, %r1, 15;\n"
                        "@%p4 barrier.cluster.arrive.release;\nbar.warp.sync 0xffffffff;\n"
                        "@%p3 bra DONE;\nbarrier.cluster.wait.acquire;\n"),
            Fault::None);
}

TEST(RunClusterBarrier, AlignedLanesComeTogether) {
  EXPECT_EQ(in_two_ctas("@%p1 barrier.cluster.arrive.aligned;\nbar.warp.sync 0xffffffff;").fault,
            Fault::WarpDivergent);
  EXPECT_EQ(in_two_ctas("barrier.cluster.arrive.aligned;\n@%p1 barrier.cluster.wait.aligned;\n"
                        "bar.warp.sync 0xffffffff;")
                .fault,
            Fault::WarpDivergent);
}

// As ThunderKittens' templates do.
TEST(RunMbarrierInit, AllLanesOfAWarpTogetherAreDisputed) {
  const auto init = [](const std::string& how) {
    return run_of(kernel(".shared .align 8 .b64 full;\nmov.u32 %r9, full;\n"
                         "setp.lt.u32 %p1, %r1, 32;\nsetp.eq.u32 %p2, %r1, 0;\nmov.u32 %r8, 64;\n" +
                         how + R"(
      bar.sync 0;
      mbarrier.arrive.shared::cta.b64 %rd5, [%r9];
    WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 0;
      @!%p3 bra WAIT;)"),
                  {.block = {64}});
  };
  EXPECT_EQ(init("@%p1 mbarrier.init.shared.b64 [%r9], %r8;"),
            (Found{Fault::None, {Fault::MbarrierInitRepeated}, {}}));
  EXPECT_EQ(init("@%p2 mbarrier.init.shared.b64 [%r9], %r8;"), Fault::None);
  const std::string again = "@%p2 mbarrier.init.shared.b64 [%r9], %r8;\n";
  EXPECT_EQ(init(again + again).fault, Fault::MbarrierReinitialized);
  EXPECT_EQ(init("mbarrier.init.shared.b64 [%r9], %r8;").fault, Fault::MbarrierReinitialized);
  EXPECT_EQ(init("selp.u32 %r8, 63, 64, %p2;\n@%p1 mbarrier.init.shared.b64 [%r9], %r8;").fault,
            Fault::MbarrierReinitialized);
}

// Of two mbarriers the second is initialised behind the fence; thread 0 of CTA 1 arrives on it.
std::string second_init(const std::string& fence, const std::string& arrives) {
  return "@%p1 mbarrier.init.shared::cta.b64 [%r2], 1;\n@%p1 " + fence +
         ";\nadd.u32 %r2, %r2, 8;\nadd.u32 %r3, %r3, 8;\n"
         "@%p1 mbarrier.init.shared::cta.b64 [%r2], 1;\n" +
         "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n"
         "@%p2 bra WAIT;\n@%p1 " +
         arrives +
         ";\nbra MEET;\nWAIT:\n"
         "mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0;\n@!%p3 bra WAIT;\nMEET:\n" +
         end;
}

TEST(RunClusterBarrier, AnInitBehindTheFenceOfItsWarpIsSeenByArrivals) {
  const std::string fence = "fence.mbarrier_init.release.cluster";
  const std::string arrive = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3]";
  const Found assumed = in_two_ctas(second_init(fence, arrive));
  EXPECT_EQ(assumed.fault, Fault::None);
  EXPECT_EQ(assumed.beside, std::vector{Fault::MbarrierNotVisible});
  // A warp that has fenced none, and a copy of the other CTA that completes on it.
  EXPECT_EQ(in_two_ctas(second_init("bar.warp.sync 1", arrive)).fault,
            Fault::MbarrierNotInitialized);
  const std::string copy =
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r6], [%r5], 16, "
      "[%r3]";
  EXPECT_EQ(
      in_two_ctas("add.u32 %r6, %r3, 64;\nadd.u32 %r5, %r2, 128;\n" + second_init(fence, copy))
          .fault,
      Fault::MbarrierNotInitialized);
}

// Lane 0 arrives in CTA 0, lane 1 in CTA 1, with no scope named, as consumers of multicast copies do; either CTA ends once
// its own lane has seen all arrivals. What lane 1 releases to its own CTA does not make lane 0's arrival elsewhere worse.
TEST(RunClusterBarrier, LanesThatArriveInACtaEach) {
  const std::string pipe = R"(
    .shared .align 8 .b64 empty;
    mov.u32 %r6, empty;
    @%p1 mbarrier.init.shared.b64 [%r6], 2;
    @%p1 fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    st.shared.u32 [%r2], 7;
    mapa.shared::cluster.u32 %r7, %r6, %r1;
    setp.lt.u32 %p3, %r1, 2;
    @%p3 mbarrier.arrive.shared::cluster.b64 _, [%r7];
    @!%p1 bra DONE;
  WAIT:
    mbarrier.try_wait.parity.shared.b64 %p4, [%r6], 0;
    @!%p4 bra WAIT;
)";
  EXPECT_EQ(in_two_ctas(pipe).fault, Fault::None);
}

// CTA 1 frees what its lanes have loaded by an arrival of one lane in CTA 0, which names no scope; CTA 0 stores there then.
std::string freed_elsewhere(const std::string& before, const std::string& who = "") {
  return R"(
    .shared .align 8 .b64 empty;
    .shared .align 8 .b32 slot[32];
    mov.u32 %r6, empty;
    mov.u32 %r7, slot;
    mov.u32 %r5, 0;
    mad.lo.u32 %r7, %r1, 4, %r7;
    st.shared.u32 [%r7], %r1;
    @%p1 mbarrier.init.shared.b64 [%r6], 1;
    @%p1 fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    @%p2 bra WRITER;
    )" + who +
         R"( ld.shared.u32 %r5, [%r7];
    st.global.u32 [%rd2], %r5;
)" + before +
         R"(
    mapa.shared::cluster.u32 %r8, %r6, 0;
    @%p1 mbarrier.arrive.shared::cluster.b64 _, [%r8];
    bra END;
  WRITER:
    mbarrier.try_wait.parity.shared.b64 %p3, [%r6], 0;
    @!%p3 bra WRITER;
    mapa.shared::cluster.u32 %r9, %r7, 1;
    )" + who +
         R"( st.shared::cluster.u32 [%r9], 7;
  END:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
)";
}

TEST(RunClusterBarrier, AnArrivalOfNoScopeIsItsLanesAlone) {
  const Found right = in_two_ctas(freed_elsewhere("bar.warp.sync 0xffffffff;\n"));
  EXPECT_EQ(right.fault, Fault::None);
  EXPECT_EQ(right.beside, std::vector{Fault::ScopeAssumed});
  EXPECT_EQ(in_two_ctas(freed_elsewhere("")).fault, Fault::LaneReleaseMissing);
  // What the lane itself has loaded its arrival does release.
  const Found own = in_two_ctas(freed_elsewhere("", "@%p1"));
  EXPECT_EQ(own.fault, Fault::None);
  EXPECT_EQ(own.beside, std::vector{Fault::ScopeAssumed});
}

// The example of PTX ISA 9.7.13.3: a fence in front of a relaxed arrival.
TEST(RunClusterBarrier, AFenceReleasesWithARelaxedArrival) {
  const auto handed = [](const std::string& fence) {
    return in_two_ctas(std::string("@%p1 ") + "bra L0;\nbra L1;\nL0:\n" + store_0 + "L1:\n" +
                       fence +
                       "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n" +
                       "@%p2 bra MEET;\n@!%p1 bra MEET;\n" + read_0 + "MEET:\n" + end);
  };
  EXPECT_EQ(handed("").fault, Fault::ReleaseMissing);
  EXPECT_EQ(handed("fence.cluster.acq_rel;\n"), Fault::None);
  EXPECT_EQ(handed("fence.acq_rel.cluster;\n"), Fault::None);
  EXPECT_EQ(handed("membar.gl;\n"), Fault::None);
  EXPECT_EQ(handed("fence.acq_rel.cta;\n").fault, Fault::ReleaseMissing);
  EXPECT_EQ(handed("fence.acquire.cluster;\n").fault, Fault::ReleaseMissing);
}

}  // namespace
}  // namespace tcq::tests
