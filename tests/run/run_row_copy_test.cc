// tile::gather4 and tile::scatter4: four rows of a matrix, whichever they are, to shared memory and back.
#include <gtest/gtest.h>

#include "tests/run/kernel_run.h"

namespace tcq::run {
namespace {

constexpr const char* kernel = R"(
.version 8.7
.target sm_100a
.address_size 64
.visible .entry kernel(.param .u64 map, .param .u64 to)
{
  .shared .align 128 .b8 tile[512];
  .shared .align 8 .b64 full;
  .reg .pred %p<8>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [map];
  ld.param.u64 %rd2, [to];
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
}
)";

KernelRun run(const std::string& ptx, Swizzle swizzle, std::uint32_t columns = 32) {
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
    const KernelRun r = run(kernel, swizzle);
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
    return run(replaced(kernel, old_text, text), Swizzle::None).fault();
  };
  EXPECT_EQ(fault("[%r3], 512", "[%r3], 640"), Fault::Deadlock);
  EXPECT_NE(fault("[%r3], 512", "[%r3], 384"), Fault::None);
  EXPECT_EQ(run(kernel, Swizzle::None, 16).fault(), Fault::UnmodelledInstruction);  // narrower rows
}

}  // namespace
}  // namespace tcq::run
