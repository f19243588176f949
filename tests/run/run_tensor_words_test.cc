// Words around Tensor Memory that nobody meant to keep: the address that an allocation stored, values of cells that nothing
// wrote.
#include <gtest/gtest.h>

#include <string>

#include "tests/run/kernel_run.h"

namespace tcq::run {
namespace {

constexpr const char* head = R"(
.version 8.7
.target sm_100a
.address_size 64
.visible .entry kernel(.param .u64 out)
{
  .shared .align 16 .b32 slot[4];
  .shared .align 8 .b64 done;
  .reg .pred %p<8>;
  .reg .b32 %r<32>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 0;
  setp.lt.u32 %p2, %r1, 32;
  @%p1 mbarrier.init.shared::cta.b64 [done], 1;
  @%p1 fence.mbarrier_init.release.cluster;
  @!%p2 bra allocated;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
allocated:
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  ld.shared.b32 %r6, [slot];
)";

constexpr const char* tail = R"(
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  @!%p2 bra over;
  tcgen05.fence::after_thread_sync;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r6, 32;
over:
  ret;
}
)";

KernelRun run_text(const std::string& text) {
  Launch launch;
  launch.block = {128, 1, 1};
  return KernelRun(text, launch, {0}, {std::vector<std::uint8_t>(1024)});
}

// As Triton has it: the address of the allocation lies where the first tile goes. Who has read it knows that it is there.
TEST(TensorWords, ACopyOverTheAddressOfAnAllocationIsHeldAgainstItsReads) {
  const std::string copy = R"(
  bar.sync 0;
  @!%p1 bra waiting;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [done], 16;
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [slot], [%rd1], 16, [done];
waiting:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [done], 0;
  @!%p4 bra waiting;
)";
  const std::string text = std::string(head) + copy + tail;
  const KernelRun read = run_text(text);
  EXPECT_EQ(read.fault(), Fault::None) << read.what();
  ASSERT_EQ(read.suspicions().size(), 1u);
  EXPECT_EQ(read.suspicions()[0], Fault::ProxyFenceMissingPerformed);
  const std::string unread = replaced(text, "ld.shared.b32 %r6, [slot];", "mov.b32 %r6, 0;");
  EXPECT_EQ(run_text(unread).fault(), Fault::ProxyFenceMissing);
}

// Triton lets a tile's ld run ahead of the branch that decides whether there is a tile.
TEST(TensorWords, ValuesOfUnwrittenCellsMayBeDropped) {
  const auto with_use = [](const std::string& use) {
    return run_text(std::string(head) + R"(
  and.b32 %r8, %r1, 0x60;
  shl.b32 %r8, %r8, 16;
  add.u32 %r8, %r6, %r8;
  tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r8];
  tcgen05.wait::ld.sync.aligned;
  add.u32 %r22, %r20, %r21;
  setp.gt.u32 %p6, %r1, 1000;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd2, %rd1, %rd3;
)" + use + tail);
  };
  const KernelRun dropped =
      with_use("  selp.b32 %r22, %r22, %r1, %p6;\n  st.global.b32 [%rd2], %r22;\n");
  EXPECT_EQ(dropped.fault(), Fault::None) << dropped.what();
  EXPECT_EQ(dropped.global().at<std::uint32_t>(4 * 77), 77u);
  EXPECT_EQ(with_use("  @%p6 st.global.b32 [%rd2], %r22;\n").fault(), Fault::None);
  const KernelRun used = with_use("  st.global.b32 [%rd2], %r22;\n");
  EXPECT_EQ(used.fault(), Fault::TmemUninitialized);
  EXPECT_NE(used.what().find("st.global.b32 [%rd2], %r22 (PTX"), std::string::npos) << used.what();
}

}  // namespace
}  // namespace tcq::run
