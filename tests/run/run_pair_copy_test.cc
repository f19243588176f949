// Loads with cta_group::2: each CTA of a pair brings its half of a row, the bytes count on the leader's mbarrier.
#include <gtest/gtest.h>

#include "tests/run/kernel_run.h"

namespace tcq::run {
namespace {

constexpr const char* kernel = R"(
.version 8.7
.target sm_100a
.address_size 64
.visible .entry kernel(.param .u64 map, .param .u64 out)
{
  .shared .align 128 .b8 tile[128];
  .shared .align 8 .b64 full;
  .reg .pred %p<8>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [map];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %cluster_ctarank;
  setp.eq.u32 %p1, %r1, 0;
  setp.eq.u32 %p2, %r2, 0;
  and.pred %p3, %p1, %p2;
  mov.u32 %r3, full;
  mov.u32 %r4, tile;
  @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
  @%p1 fence.mbarrier_init.release.cluster;
  @%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 256;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  and.b32 %r5, %r3, 0xfeffffff;
  shl.b32 %r6, %r2, 5;
  @%p1 cp.async.bulk.tensor.1d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r4], [%rd1, {%r6}], [%r5];
  @!%p2 bra loaded;
waiting:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r3], 0;
  @!%p4 bra waiting;
loaded:
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  shl.b32 %r7, %r1, 2;
  add.u32 %r8, %r4, %r7;
  ld.shared.b32 %r9, [%r8];
  shl.b32 %r10, %r2, 7;
  add.u32 %r10, %r10, %r7;
  cvt.u64.u32 %rd3, %r10;
  add.u64 %rd2, %rd2, %rd3;
  st.global.b32 [%rd2], %r9;
  ret;
}
)";

KernelRun run(const std::string& ptx) {
  Launch launch;
  launch.grid = launch.cluster = {2, 1, 1};
  launch.block = {32, 1, 1};
  tma::TensorMap map{tma::DataType::UInt32, 1, 0, {64}, {}, {32}, {1}};
  launch.maps = {map};
  launch.map_places = {{global_window + 512, 0}};
  Bytes global{std::vector<std::uint8_t>(1024)};
  for (std::uint32_t i = 0; i < 64; ++i) global.put(4 * i, 100 + i);
  return KernelRun(ptx, launch, {512, 256}, global);
}

TEST(PairCopy, BothHalvesCountOnTheLeadersMbarrier) {
  const KernelRun r = run(kernel);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  for (std::uint32_t i = 0; i < 64; ++i)
    ASSERT_EQ(r.global().at<std::uint32_t>(256 + 4 * i), 100 + i);
}

TEST(PairCopy, WhatNobodyExpectsIsAFault) {
  EXPECT_NE(run(replaced(kernel, "[%r3], 256", "[%r3], 128")).fault(), Fault::None);
}

// Without cta_group::2 the mbarrier lies in the destination's CTA.
TEST(PairCopy, AnotherCtasMbarrierTakesAPair) {
  EXPECT_EQ(run(replaced(kernel, ".1d.cta_group::2", ".1d")).fault(), Fault::UnmodelledInstruction);
}

}  // namespace
}  // namespace tcq::run
