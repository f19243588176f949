// Operands that another warp of the warpgroup stored: by which fences and barriers a wgmma may read them.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/run/lanes_run.h"

namespace tcq::run {
namespace {

// What ended it and what is remembered beside, whichever of the two accesses came first.
using Faults = std::set<Fault>;
const Faults right, assumed = {Fault::WarpgroupOrderAssumed};
bool is_undefined(const Faults& faults) {
  return std::any_of(faults.begin(), faults.end(),
                     [](Fault fault) { return info(fault).kind == FaultKind::Undefined; });
}

// A of 64 x 16 at x, B of 16 x 8 at x + 2048: all ones. `early` stands behind the barrier that follows these stores, `late`
// behind the wgmma, `after` behind the wait for it. Threads of a second warpgroup pass these with %p2, and go through `apart`.
Faults multiply(const std::string& early, const std::string& late = "", std::uint32_t threads = 128,
                const std::string& apart = "", const std::string& after = "") {
  const tests::Found found = tests::run_of(tests::kernel(R"(
    .shared .align 128 .b8 x[2304];
    mov.u32 %r2, x;
    shl.b32 %r3, %r1, 2;
    and.b32 %r3, %r3, 511;
    add.u32 %r3, %r3, %r2;
    mov.b32 %r4, 0x3c003c00;
    setp.ge.u32 %p2, %r1, 128;
    setp.lt.u32 %p1, %r1, 64;
    @%p2 bra stored;
    st.shared.b32 [%r3], %r4;
    st.shared.b32 [%r3+512], %r4;
    st.shared.b32 [%r3+1024], %r4;
    st.shared.b32 [%r3+1536], %r4;
    @%p1 st.shared.b32 [%r3+2048], %r4;
    fence.proxy.async.shared::cta;
  stored:
    bar.sync 0;
    setp.ge.u32 %p3, %r1, 96;
    setp.lt.u32 %p4, %r1, 112;
    and.pred %p4, %p3, %p4;
    @%p2 bra other;
)" + early + R"(
    and.b32 %r5, %r2, 0x3ffff;
    shr.u32 %r5, %r5, 4;
    cvt.u64.u32 %rd4, %r5;
    or.b64 %rd4, %rd4, 0x0000001000080000;
    add.u64 %rd5, %rd4, 128;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd4, %rd5, 0, 1, 1, 0, 0;
)" + late + R"(
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
)" + after + R"(
    st.global.f32 [%rd2+1024], %f1;
    bra done;
  other:
)" + apart + "done:"),
                                           {.block = {threads}, .explore = 30});
  Faults faults(found.beside.begin(), found.beside.end());
  if (found.fault != Fault::None) faults.insert(found.fault);
  return faults;
}

constexpr const char* fence = "fence.proxy.async.shared::cta;\n";
constexpr const char* meet = "bar.warp.sync 0xffffffff;\n";
constexpr const char* store_b = "@%p3 st.shared.b32 [%r3+1792], %r4;\n";  // warp 3
constexpr const char* store_a = "@%p3 st.shared.b32 [%r3+-384], %r4;\n";  // to warp 0's rows

TEST(RunWarpgroupOrder, AStoreThatItsWarpHasFencedIsDisputed) {
  for (const std::string store : {store_b, store_a}) {
    EXPECT_EQ(multiply(store + fence + meet), assumed) << store;
    EXPECT_EQ(multiply(store + fence + "bar.sync 1, 128;\n"), right) << store;
  }
}

// The address of x in each thread's own descriptor: another one in a warp's rows, or in a lane.
TEST(RunWarpgroupOrder, DescriptorsAreOneInTheWarpgroup) {
  const std::string by_warp = "and.b32 %r7, %r1, 0x60;\nshl.b32 %r7, %r7, 3;\n";
  const std::string by_lane = "and.b32 %r7, %r1, 1;\nshl.b32 %r7, %r7, 8;\n";
  for (const std::string& offset : {by_warp, by_lane})
    EXPECT_TRUE(multiply(offset + "add.u32 %r2, %r2, %r7;\n").contains(Fault::WgmmaOperandsDiffer))
        << offset;
  EXPECT_EQ(multiply("mov.b32 %r7, 0;\nadd.u32 %r2, %r2, %r7;\n"), right);
}

// Warp 0 lets warp 3 go on when it has issued its part.
TEST(RunWarpgroupOrder, TheFenceIsOwedUntilTheWriterIssuesItsPart) {
  const std::string late_store = "@%p3 bar.sync 2, 64;\n" + std::string(store_a);
  const std::string goes = "setp.lt.u32 %p5, %r1, 32;\n@%p5 bar.arrive 2, 64;\n";
  EXPECT_EQ(multiply(late_store + fence, goes), assumed);
  EXPECT_TRUE(is_undefined(multiply(late_store, goes)));
  EXPECT_TRUE(is_undefined(multiply(fence + late_store, goes)));
}

TEST(RunWarpgroupOrder, ACopyOfItsThreadsCountsOnceItIsWaitedFor) {
  const std::string copy = "@%p3 cp.async.ca.shared.global [%r3+1792], [%rd2], 4;\n";
  EXPECT_EQ(multiply(copy + "cp.async.wait_all;\n" + fence + meet), assumed);
  EXPECT_TRUE(is_undefined(multiply(copy + fence + meet)));
  EXPECT_TRUE(is_undefined(multiply(copy + "cp.async.wait_all;\n" + meet)));
}

TEST(RunWarpgroupOrder, LanesFenceWhatTheyStored) {
  const std::string some = "@!%p4 bra go;\nst.shared.b32 [%r3+1792], %r4;\n";
  EXPECT_EQ(multiply(some + fence + "go:\n" + meet), assumed);
  EXPECT_TRUE(is_undefined(multiply(some + "bra out;\ngo:\n" + fence + "out:\n" + meet)));
}

TEST(RunWarpgroupOrder, AStoreWithNoFenceBehindItStaysUndefined) {
  for (const std::string store : {store_b, store_a}) {
    EXPECT_TRUE(is_undefined(multiply(store + meet))) << store;
    EXPECT_TRUE(is_undefined(multiply(fence + store + meet))) << store;
  }
}

TEST(RunWarpgroupOrder, AStoreBehindTheOwnPartStaysUndefined) {
  for (const std::string store : {store_b, store_a}) {
    EXPECT_TRUE(is_undefined(multiply("", store))) << store;
    EXPECT_TRUE(is_undefined(multiply("", store + fence))) << store;
  }
}

TEST(RunWarpgroupOrder, AStoreOfAnotherWarpgroupStaysUndefined) {
  const std::string store = "setp.ge.u32 %p3, %r1, 224;\n" + std::string(store_b) + fence;
  EXPECT_TRUE(is_undefined(multiply("", "", 256, store)));
  EXPECT_EQ(multiply("", "", 256, fence), right);
}

// Warp 0 tells a second warpgroup, which overwrites, that the wgmma is over.
constexpr const char* load = "ld.shared.b32 %r6, [%r3];\n";
constexpr const char* overwrite = "bar.sync 3, 160;\nst.shared.b32 [%r3], %r4;\n";
std::string tells(const std::string& before = "") {
  return before +
         "setp.lt.u32 %p5, %r1, 32;\n@%p5 bar.arrive 3, 160;\nst.global.u32 [%rd2+2048], %r6;\n";
}

TEST(RunWarpgroupOrder, WhatItsWarpsLoadedIsFreedByOneOfThem) {
  EXPECT_EQ(multiply(load, "", 256, overwrite, tells()), assumed);
  EXPECT_EQ(multiply(load, "", 256, overwrite, tells("bar.sync 1, 128;\n")), right);
}

TEST(RunWarpgroupOrder, ALoadBehindTheOwnPartStaysUndefined) {
  EXPECT_TRUE(is_undefined(multiply("", load, 256, overwrite, tells())));
  EXPECT_TRUE(is_undefined(multiply("", "", 256, overwrite, load + tells())));
}

TEST(RunWarpgroupOrder, AStoreIsNotFreedSo) {
  const std::string over = "bar.sync 3, 160;\nst.shared.b32 [%r3+1792], %r4;\n";
  EXPECT_TRUE(is_undefined(multiply(store_b + std::string(fence) + meet, "", 256, over, tells())));
}

}  // namespace
}  // namespace tcq::run
