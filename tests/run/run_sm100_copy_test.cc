// Tensor copies that sm_100 has besides: tile::gather4 and tile::scatter4, which move four rows of a matrix, whichever they
// are, and loads with cta_group::2, where each CTA of a pair brings its half and the bytes count on the leader's mbarrier.
#include <gtest/gtest.h>

#include "tests/run/kernel_run.h"

namespace tcq::run {
namespace {

// %rd1 and %rd2 are its parameters; the tile and the mbarrier are `tile` and `full`.
std::string kernel(int tile_bytes, const std::string& body) {
  return R"(
.version 8.7
.target sm_100a
.address_size 64
.visible .entry kernel(.param .u64 first, .param .u64 second)
{
  .shared .align 128 .b8 tile[)" +
         std::to_string(tile_bytes) + R"(];
  .shared .align 8 .b64 full;
  .reg .pred %p<8>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [first];
  ld.param.u64 %rd2, [second];
)" + body +
         "}\n";
}

// --- rows ------------------------------------------------------------------------------------------

const std::string rows = kernel(512, R"(
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  mov.u32 %r3, full;
  mov.u32 %r4, tile;
  mbarrier.init.shared::cta.b64 [%r3], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 512;
  mov.u32 %r5, 0;
  mov.u32 %r6, 5;
  mov.u32 %r7, 2;
  cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes.cta_group::1 [%r4], [%rd1, {%r5, %r6, %r7, 7, 2}], [%r3];
waiting:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r3], 0;
  @!%p4 bra waiting;
  cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd2, {%r5, 3, 1, 0, 6}], [%r4];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:
  ret;
)");

KernelRun run_rows(const std::string& ptx, Swizzle swizzle, std::uint32_t columns = 32) {
  Launch launch;
  launch.block = {32, 1, 1};
  tma::TensorMap map{tma::DataType::UInt32, 2, 0, {32, 8}, {128}, {columns, 1}};
  map.swizzle = swizzle;
  launch.maps = {map, map};
  launch.maps[1].address = 1024;
  launch.map_places = {{global_window + 2048, 0}, {global_window + 2176, 1}};
  Bytes global{std::vector<std::uint8_t>(2304)};
  for (std::uint32_t i = 0; i < 256; ++i) global.put(4 * i, 100 + i);
  return KernelRun(ptx, launch, {2048, 2176}, global);
}

TEST(RowCopy, RowsGoWhereTheyAreToldTo) {
  for (const Swizzle swizzle : {Swizzle::None, Swizzle::B128}) {
    const KernelRun r = run_rows(rows, swizzle);
    ASSERT_EQ(r.fault(), Fault::None) << r.what();
    const std::uint32_t from[] = {5, 2, 7, 2};
    const std::uint32_t to[] = {3, 1, 0, 6};
    for (std::uint32_t row = 0; row < 4; ++row)
      for (std::uint32_t i = 0; i < 32; ++i)
        ASSERT_EQ(r.global().at<std::uint32_t>(1024 + 128 * to[row] + 4 * i),
                  100 + 32 * from[row] + i);
    EXPECT_EQ(r.global().at<std::uint32_t>(1024 + 128 * 2), 0u);
  }
}

TEST(RowCopy, WhatIsWrongIsSaid) {
  const auto fault = [](const char* old_text, const char* text) {
    return run_rows(replaced(rows, old_text, text), Swizzle::None).fault();
  };
  EXPECT_EQ(fault("[%r3], 512", "[%r3], 640"), Fault::Deadlock);
  EXPECT_NE(fault("[%r3], 512", "[%r3], 384"), Fault::None);
  EXPECT_EQ(run_rows(rows, Swizzle::None, 16).fault(),
            Fault::UnmodelledInstruction);  // narrower rows
}

// --- packed types ----------------------------------------------------------------------------------

const std::string packed = kernel(256, R"(
  mov.u32 %r1, %tid.x;
  mov.u32 %r3, full;
  mov.u32 %r4, tile;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra LOADED;
  mbarrier.init.shared::cta.b64 [%r3], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 128;
  cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r4], [%rd1, {0, 0}], [%r3];
LOADED:
  bar.sync 0;
waiting:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r3], 0;
  @!%p4 bra waiting;
  shl.b32 %r7, %r1, 2;
  add.u32 %r8, %r4, %r7;
  ld.shared.b32 %r9, [%r8];
  cvt.u64.u32 %rd3, %r7;
  add.u64 %rd2, %rd2, %rd3;
  st.global.b32 [%rd2], %r9;
  ret;
)");

KernelRun run_packed(const std::string& ptx, tma::DataType type, std::uint32_t columns,
                     std::uint32_t box_rows) {
  Launch launch;
  launch.block = {32, 1, 1};
  launch.maps = {{type, 2, 0, {columns, box_rows}, {64}, {columns, box_rows}}};
  launch.map_places = {{global_window + 512, 0}};
  Bytes global{std::vector<std::uint8_t>(1024)};
  for (std::uint32_t i = 0; i < 32; ++i) global.put(4 * i, 100 + i);
  return KernelRun(ptx, launch, {512, 256}, global);
}

TEST(PackedCopy, FourBitsAreHalfOfTheBytes) {
  const KernelRun r = run_packed(packed, tma::DataType::U4Align8, 128, 2);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  for (std::uint32_t i = 0; i < 32; ++i)
    ASSERT_EQ(r.global().at<std::uint32_t>(256 + 4 * i), 100 + i);
  const std::string hopper = replaced(packed, ".target sm_100a", ".target sm_90a");
  EXPECT_EQ(run_packed(hopper, tma::DataType::U4Align8, 128, 2).fault(),
            Fault::TargetLacksPackedTypes);
}

// The padding is in shared memory and not among the bytes that the mbarrier counts.
TEST(PackedCopy, PaddingIsNotCounted) {
  const KernelRun r = run_packed(packed, tma::DataType::U4Align16, 128, 2);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  for (std::uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(r.global().at<std::uint32_t>(256 + 16 * i), 100 + 2 * i);
    EXPECT_EQ(r.global().at<std::uint32_t>(256 + 16 * i + 4), 101 + 2 * i);
  }
  EXPECT_EQ(
      run_packed(replaced(packed, "[%r3], 128", "[%r3], 256"), tma::DataType::U4Align16, 128, 2)
          .fault(),
      Fault::Deadlock);
}

// --- stores beside the tensor ----------------------------------------------------------------------

// 128 bytes of which the kernel writes the first `written`, stored from column %r5 on to a tensor of 24 words.
std::string store_of(int written, int column) {
  return kernel(128,
                "mov.u32 %r1, %tid.x;\nshl.b32 %r7, %r1, 2;\nmov.u32 %r4, tile;\n"
                "add.u32 %r8, %r4, %r7;\nsetp.lt.u32 %p2, %r7, " +
                    std::to_string(written) +
                    ";\n@%p2 st.shared.b32 [%r8], %r1;\nfence.proxy.async;\nbar.sync 0;\n"
                    "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra DONE;\nmov.u32 %r5, " +
                    std::to_string(column) + R"(;
  cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {%r5}], [%r4];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:
  ret;
)");
}

Fault fault_of_store(int written, int column) {
  Launch launch;
  launch.block = {32, 1, 1};
  launch.maps = {{tma::DataType::UInt32, 1, 0, {24}, {}, {32}}};
  launch.map_places = {{global_window + 512, 0}};
  return KernelRun(store_of(written, column), launch, {512, 256}, {std::vector<std::uint8_t>(1024)})
      .fault();
}

TEST(StoreBeside, OnlyWhatLandsIsRead) {
  EXPECT_EQ(fault_of_store(96, 0), Fault::None);
  EXPECT_EQ(fault_of_store(92, 0), Fault::SharedUninitialized);
  EXPECT_EQ(fault_of_store(32, 16), Fault::None);
  EXPECT_EQ(fault_of_store(16, 16), Fault::SharedUninitialized);
  EXPECT_EQ(fault_of_store(0, 24), Fault::None);
  EXPECT_EQ(fault_of_store(0, 64), Fault::None);
}

// --- pairs -----------------------------------------------------------------------------------------

const std::string pair = kernel(128, R"(
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
)");

KernelRun run_pair(const std::string& ptx) {
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
  const KernelRun r = run_pair(pair);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  for (std::uint32_t i = 0; i < 64; ++i)
    ASSERT_EQ(r.global().at<std::uint32_t>(256 + 4 * i), 100 + i);
}

TEST(PairCopy, WhatNobodyExpectsIsAFault) {
  EXPECT_NE(run_pair(replaced(pair, "[%r3], 256", "[%r3], 128")).fault(), Fault::None);
}

// Without cta_group::2 the mbarrier lies in the destination's CTA.
TEST(PairCopy, AnotherCtasMbarrierTakesAPair) {
  EXPECT_EQ(run_pair(replaced(pair, ".1d.cta_group::2", ".1d")).fault(), Fault::MbarrierElsewhere);
}

}  // namespace
}  // namespace tcq::run
