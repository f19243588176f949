// What an arrival returns, .noComplete, and arrive_drop with bytes, in compiled kernels.
#include "tests/run/ptx_run.h"

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

}  // namespace
}  // namespace tcq::tests
