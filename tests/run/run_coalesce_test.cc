// Accumulators that are copied from one wgmma to the next while they are in flight, and copies behind a fence.
#include <gtest/gtest.h>

#include "tests/run/kernel_run.h"

namespace tcq::run {
namespace {

// One warpgroup multiplies a tile of ones (64 x 16) by another (16 x 8), three times: D is 48 everywhere.
constexpr const char* kernel_begin = R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 out)
{
  .shared .align 128 .b8 tile[2304];
  .reg .pred %p<4>;
  .reg .b32 %r<64>;
  .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r50, %tid.x;
  shl.b32 %r51, %r50, 2;
  mov.u32 %r52, tile;
  add.u32 %r51, %r51, %r52;
  mov.b32 %r53, 0x3c003c00;
  st.shared.b32 [%r51], %r53;
  st.shared.b32 [%r51+512], %r53;
  st.shared.b32 [%r51+1024], %r53;
  st.shared.b32 [%r51+1536], %r53;
  setp.lt.u32 %p1, %r50, 64;
  @%p1 st.shared.b32 [%r51+2048], %r53;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  and.b32 %r54, %r52, 0x3ffff;
  shr.u32 %r54, %r54, 4;
  cvt.u64.u32 %rd4, %r54;
  or.b64 %rd4, %rd4, 0x0000001000080000;
  add.u64 %rd5, %rd4, 128;
  mov.b32 %r0, 0;
  mov.b32 %r1, 0;
  mov.b32 %r2, 0;
  mov.b32 %r3, 0;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r0, %r1, %r2, %r3}, %rd4, %rd5, 1, 1, 1, 0, 0;
)";

constexpr const char* handing_on = R"(
  mov.b32 %r10, %r0;
  mov.b32 %r11, %r1;
  mov.b32 %r12, %r2;
  mov.b32 %r13, %r3;
)";

constexpr const char* loop = R"(
  mov.u32 %r40, 0;
more:
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r10, %r11, %r12, %r13}, %rd4, %rd5, 1, 1, 1, 0, 0;
  add.u32 %r40, %r40, 1;
  setp.lt.u32 %p2, %r40, 2;
  @%p2 bra more;
)";

constexpr const char* kernel_end = R"(
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  mul.wide.u32 %rd6, %r50, 4;
  add.u64 %rd1, %rd1, %rd6;
  st.global.b32 [%rd1], %r10;
  st.global.b32 [%rd1+512], %r13;
  ret;
}
)";

KernelRun run_text(const std::string& text) {
  Launch launch;
  launch.block = {128, 1, 1};
  return KernelRun(text, launch, {0}, {std::vector<std::uint8_t>(1024)});
}

KernelRun run(const std::string& middle) {
  return run_text(kernel_begin + middle + loop + kernel_end);
}

// What sets registers 1 to 3 stands behind the fence.
KernelRun run_behind_fence(const std::string& copies) {
  return run_text(replaced(kernel_begin,
                           "  mov.b32 %r1, 0;\n  mov.b32 %r2, 0;\n  mov.b32 %r3, 0;\n"
                           "  wgmma.fence.sync.aligned;\n",
                           "  wgmma.fence.sync.aligned;\n" + copies) +
                  handing_on + loop + kernel_end);
}

// The manual's wgmma.fence orders accumulators and fragments of A; what nvcc makes of a sparse kernel takes the words of
// metadata from a pair behind it.
TEST(Coalescing, MetadataNeedsNoFence) {
  const std::string dense =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r0, %r1, %r2, %r3}, %rd4, %rd5, 1, 1, "
      "1, 0, 0;";
  const std::string sparse =
      "mov.b64 {%r20, %r21}, %rd7;\n"
      "  wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r0, %r1, %r2, %r3}, %rd4, %rd5, "
      "%r20, 0, 1, 1, "
      "1, 0, 0;";
  const auto run_sparse = [&](const std::string& behind) {
    std::string text = replaced(kernel_begin, dense, sparse + behind);
    text = replaced(replaced(text, "tile[2304]", "tile[2560]"), "%r50, 64;", "%r50, 128;");
    text = replaced(text, "  wgmma.fence", "  mov.b64 %rd7, 0x4444444444444444;\n  wgmma.fence");
    return run_text(text + replaced(replaced(kernel_end, "%r10", "%r0"), "%r13", "%r3"));
  };
  const KernelRun r = run_sparse("");
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  EXPECT_EQ(r.global().at<float>(0), 16.0f);
  EXPECT_EQ(run_sparse("\n  mov.b32 %r20, 0;").fault(), Fault::WgmmaUncommitted);
}

TEST(Coalescing, AnAccumulatorInFlightIsHandedOn) {
  const KernelRun r = run(handing_on);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  for (std::size_t thread = 0; thread < 128; ++thread) {
    ASSERT_EQ(r.global().at<float>(4 * thread), 48.0f);
    ASSERT_EQ(r.global().at<float>(512 + 4 * thread), 48.0f);
  }
}

// Their order is another one: what ptxas would have to copy is read before any group was waited for.
TEST(Coalescing, AnotherOrderIsARead) {
  const std::string mixed =
      replaced(replaced(handing_on, "%r10, %r0", "%r10, %r1"), "%r11, %r1", "%r11, %r0");
  EXPECT_EQ(run(mixed).fault(), Fault::WgmmaUncommitted);
}

TEST(Coalescing, WhatIsStillReadKeepsItsPlace) {
  std::string read_again(handing_on);
  read_again += "  add.u32 %r20, %r0, 1;\n";
  EXPECT_EQ(run(read_again).fault(), Fault::WgmmaUncommitted);
}

TEST(Coalescing, AnyOtherUseInFlightIsARead) {
  EXPECT_EQ(run(replaced(handing_on, "mov.b32 %r10, %r0", "add.u32 %r10, %r0, 0")).fault(),
            Fault::WgmmaUncommitted);
}

// The first wgmma's registers are used again once it is over: both vectors are alive, each has its place.
TEST(Coalescing, RegistersThatAreAliveTogetherStayApart) {
  const std::string over =
      "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n" +
      std::string(handing_on) + "  wgmma.fence.sync.aligned;\n";
  const std::string end = replaced(kernel_end, "[%rd1+512], %r13", "[%rd1+512], %r3");
  const KernelRun r = run_text(kernel_begin + over + loop + end);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  EXPECT_EQ(r.global().at<float>(0), 48.0f);
  EXPECT_EQ(r.global().at<float>(512), 16.0f);
}

// On a way on which nobody uses them compilers copy registers that only another way writes. The copies are as empty: a use of
// them is found.
TEST(Coalescing, ACopyOfARegisterThatNothingHasWrittenIsNoUse) {
  const std::string copies = R"(
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  mov.b32 %r10, %r31;
  mov.b32 %r11, %r30;
  mov.b32 %r12, %r33;
  mov.b32 %r13, %r32;
  wgmma.fence.sync.aligned;
  setp.lt.u32 %p3, %r50, 999;
  @%p3 bra past;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r30, %r31, %r32, %r33}, %rd4, %rd5, 0, 1, 1, 0, 0;
past:
)";
  const auto accumulate = [](const char* scale_d) {
    return "  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r10, %r11, %r12, %r13}, %rd4, "
           "%rd5, " +
           std::string(scale_d) + ", 1, 1, 0, 0;\n";
  };
  const KernelRun r = run_text(kernel_begin + copies + accumulate("0") + kernel_end);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  EXPECT_EQ(r.global().at<float>(0), 16.0f);
  EXPECT_EQ(run_text(kernel_begin + copies + accumulate("1") + kernel_end).fault(),
            Fault::RegisterUninitialized);
}

// moved_copies.h: of constants, and of what nothing has changed since the fence.
TEST(MovedCopies, CountAsExecutedBeforeTheFence) {
  const KernelRun r =
      run_behind_fence("  mov.b32 %r1, %r0;\n  mov.b32 %r2, 0;\n  mov.b32 %r3, %r2;\n");
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  EXPECT_TRUE(r.suspicions().empty());
  EXPECT_EQ(r.global().at<float>(0), 48.0f);
}

TEST(MovedCopies, WhatCannotBeMovedIsNotFenced) {
  const std::string two = "  mov.b32 %r1, 0;\n  mov.b32 %r2, 0;\n";
  for (const char* last :
       {"  add.u32 %r3, %r0, 0;\n", "  add.u32 %r55, %r50, 1;\n  mov.b32 %r3, %r55;\n",
        "  setp.lt.u32 %p3, %r50, 999;\n  @%p3 mov.b32 %r3, 0;\n",
        "  add.u32 %r55, %r0, 1;\n  mov.b32 %r3, 0;\n",
        "  mov.b32 %r3, 0;\n  add.u32 %r55, %r3, 1;\n"})
    EXPECT_EQ(run_behind_fence(two + last).fault(), Fault::WgmmaFenceMissing) << last;
}

constexpr const char* zeros = R"(
  mov.b32 %r10, 0;
  mov.b32 %r11, %r10;
  mov.b32 %r12, %r10;
  mov.b32 %r13, %r10;
)";
constexpr const char* first_is_over =
    "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";

// The zeros of a second accumulator stand behind the first one's wgmma: ptxas waits for that one.
TEST(MovedCopies, BehindAWgmmaInFlightTheyAreSlow) {
  const KernelRun r = run(zeros);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  ASSERT_FALSE(r.suspicions().empty());
  EXPECT_EQ(r.suspicions()[0], Fault::WgmmaSerialized);
  EXPECT_EQ(r.global().at<float>(0), 32.0f);
}

// Another round, whose fence is missing.
TEST(MovedCopies, BehindAWaitTheyAreNotMoved) {
  EXPECT_EQ(run(std::string(first_is_over) + zeros).fault(), Fault::WgmmaFenceMissing);
}

// What a wgmma behind the same fence has had, or may still be in, cannot have been set before that fence.
TEST(MovedCopies, NotOverAWgmmaOfTheirRegisters) {
  std::string rest = std::string(zeros) + loop + kernel_end;  // of the first accumulator
  for (std::size_t at = 0; (at = rest.find("%r1", at)) != rest.npos; at += 3) rest.erase(at + 2, 1);
  EXPECT_EQ(run_text(kernel_begin + std::string(first_is_over) + rest).fault(),
            Fault::WgmmaFenceMissing);
  EXPECT_EQ(run_text(kernel_begin + rest).fault(), Fault::WgmmaUncommitted);
  const KernelRun fenced = run_text(kernel_begin + std::string(first_is_over) +
                                    replaced(rest, "more:", "  wgmma.fence.sync.aligned;\nmore:"));
  ASSERT_EQ(fenced.fault(), Fault::None) << fenced.what();
  EXPECT_EQ(fenced.global().at<float>(0), 32.0f);
}

// The fence stands before a branch, the copies on one way or behind both.
TEST(MovedCopies, AreMovedOverBranches) {
  const std::string branch = "  setp.lt.u32 %p3, %r50, 999;\n  @!%p3 bra past;\n";
  const std::string set = "  mov.b32 %r1, 0;\n  mov.b32 %r2, %r1;\n  mov.b32 %r3, %r1;\n";
  for (const std::string& copies :
       {branch + set + "past:\n", branch + "  add.u32 %r55, %r50, 1;\npast:\n" + set,
        set + branch + set + "past:\n"}) {
    const KernelRun r = run_behind_fence(copies);
    ASSERT_EQ(r.fault(), Fault::None) << r.what();
    EXPECT_EQ(r.global().at<float>(0), 48.0f);
  }
  for (const std::string& copies :
       {set + branch + "  add.u32 %r55, %r3, 1;\npast:\n" + set,  // one way reads what they set
        branch + "  add.u32 %r55, %r50, 1;\npast:\n" + set + "  mov.b32 %r3, %r55;\n",
        set + branch + "  add.u32 %r3, %r3, 0;\npast:\n",
        // The second round copies what the first one has computed.
        "  mov.u32 %r55, 0;\n  mov.u32 %r40, 0;\nagain:\n" + set +
            "  mov.b32 %r3, %r55;\n  add.u32 %r55, %r50, 1;\n  add.u32 %r40, %r40, 1;\n"
            "  setp.lt.u32 %p3, %r40, 2;\n  @%p3 bra again;\n"})
    EXPECT_EQ(run_behind_fence(copies).fault(), Fault::WgmmaFenceMissing) << copies;
}

// A loop whose fence was lost: the first tile's fence is none of the second's.
TEST(MovedCopies, EveryTileNeedsItsFence) {
  const std::string tiles = R"(
  mov.u32 %r40, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
tile:
  wgmma.fence.sync.aligned;
  mov.b32 %r10, 0;
  mov.b32 %r11, %r10;
  mov.b32 %r12, %r10;
  mov.b32 %r13, %r10;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r10, %r11, %r12, %r13}, %rd4, %rd5, 1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  add.f32 %r41, %r10, %r13;
  add.u32 %r40, %r40, 1;
  setp.lt.u32 %p2, %r40, 3;
  @%p2 bra tile;
)";
  const KernelRun r = run_text(kernel_begin + tiles + kernel_end);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  EXPECT_TRUE(r.suspicions().empty());
  EXPECT_EQ(r.global().at<float>(0), 16.0f);
  const std::string fence = "  wgmma.fence.sync.aligned;\n";
  EXPECT_EQ(run_text(kernel_begin + replaced(tiles, fence, "") + kernel_end).fault(),
            Fault::WgmmaFenceMissing);
}

}  // namespace
}  // namespace tcq::run
