// Tensor maps that a kernel makes itself: copied from a parameter, patched in shared or global memory, used behind fences.
#include <gtest/gtest.h>

#include <string>

#include "sim/isa/copy/tensor_map_object.h"
#include "tests/run/kernel_run.h"
#include "tests/support/tensormap_kernel.h"

namespace tcq::run {
namespace {

using tests::tensormap_kernel;
using tests::tensormap_word;

KernelRun run(const std::string& ptx) {
  Launch launch;
  launch.block = {32, 1, 1};
  launch.parameters.resize(128);
  launch.maps = {tests::map_to_be_patched()};
  launch.map_places = {{param_window, 0}};
  Bytes global{std::vector<std::uint8_t>(tests::tensormap_bytes)};
  const std::size_t source = tests::tensormap_data + tests::tensormap_source;
  for (std::uint32_t i = 0; i < 128; ++i) global.put(source + 4 * i, tests::tensormap_word(i));
  return KernelRun(ptx, launch, {0, tests::tensormap_data}, global);
}

TEST(TensorMapOfKernel, CopiesFollowThePatches) {
  const KernelRun r = run(tensormap_kernel);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  EXPECT_EQ(r.global().at<std::uint32_t>(256), tensormap_word(24));  // row 1 of a pitch of 96 bytes
  EXPECT_EQ(r.global().at<std::uint32_t>(256 + 4), tensormap_word(48));  // row 2
  EXPECT_EQ(r.global().at<std::uint32_t>(256 + 8), 0u);                  // there is no row 3
}

// What kernels of the CuTe DSL write of a map.
TEST(TensorMapOfKernel, ItsFirstHalfSaysAll) {
  const auto with_lanes = [](const std::string& count) {
    return run(replaced(tensormap_kernel, "st.shared.u32 [%r7], %r2;",
                        "setp.lt.u32 %p5, %r1, " + count + ";\n@%p5 st.shared.u32 [%r7], %r2;"));
  };
  const KernelRun r = with_lanes("16");
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  EXPECT_EQ(r.global().at<std::uint32_t>(256), tensormap_word(24));
  EXPECT_EQ(with_lanes("15").fault(), Fault::SharedUninitialized);
}

// As on an H200: tests/live/live_tensormap_test.cc.
TEST(TensorMapOfKernel, EveryElementTypeHasItsSize) {
  for (std::uint32_t code = 0; code < 13; ++code) {
    const std::uint32_t bytes = tma::element_bytes(tma::type_of_code(code));
    const KernelRun r = run(tests::tensormap_kernel_of(code, bytes));
    ASSERT_EQ(r.fault(), Fault::None) << code << r.what();
    EXPECT_EQ(r.global().at<std::uint32_t>(256), tensormap_word(24)) << code;
    EXPECT_EQ(r.global().at<std::uint32_t>(256 + 4), tensormap_word(48)) << code;
    EXPECT_EQ(r.global().at<std::uint32_t>(256 + 8), 0u) << code;
  }
}

TEST(TensorMapOfKernel, InGlobalMemoryItIsPatchedWhereItLies) {
  const std::string text =
      replaced(tensormap_kernel,
               "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync."
               "aligned [%rd1], [%r3], 128;",
               "ld.shared.u32 %r11, [%r7];\nadd.s64 %rd8, %rd1, %rd5;\nst.global.u32 [%rd8], "
               "%r11;\nbar.warp.sync -1;\n"
               "@%p1 bra DONE;\ntensormap.replace.tile.global_dim.global.b1024.b32 [%rd1], 1, 2;\n"
               "fence.proxy.tensormap::generic.release.gpu;");
  const KernelRun r = run(text);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  EXPECT_EQ(r.global().at<std::uint32_t>(256), tensormap_word(24));
  EXPECT_EQ(r.global().at<std::uint32_t>(256 + 4), 0u);  // two rows only
  // All that a map says is in its first half: what kernels of the CuTe DSL copy.
  const KernelRun half =
      run(replaced(text, "st.global.u32 [%rd8], %r11;",
                   "setp.lt.u32 %p5, %r1, 16;\n@%p5 st.global.u32 [%rd8], %r11;"));
  ASSERT_EQ(half.fault(), Fault::None) << half.what();
  EXPECT_EQ(half.global().at<std::uint32_t>(256), tensormap_word(24));
  const std::string release = "fence.proxy.tensormap::generic.release.gpu;";
  EXPECT_EQ(run(replaced(text, release, "")).fault(), Fault::TensormapFenceMissing);
}

TEST(TensorMapOfKernel, WhatIsMissingIsSaid) {
  const auto fault = [](const char* old_text, const char* text) {
    return run(replaced(tensormap_kernel, old_text, text)).fault();
  };
  EXPECT_EQ(fault("fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;", ""),
            Fault::TensormapFenceMissing);
  EXPECT_EQ(fault("acquire.gpu [%rd1], 128", "acquire.gpu [%rd2], 128"),
            Fault::TensormapFenceMissing);
  EXPECT_EQ(fault("[%r4], [%rd1, {0, 1}]", "[%r4], [%rd2, {0, 1}]"), Fault::TensorMapNowhere);
  EXPECT_EQ(fault("swizzle_mode.shared::cta.b1024.b32 [%r3], 0",
                  "swizzle_mode.shared::cta.b1024.b32 [%r3], 4"),
            Fault::UnmodelledInstruction);
  EXPECT_EQ(
      fault("elemtype.shared::cta.b1024.b32 [%r3], 2", "elemtype.shared::cta.b1024.b32 [%r3], 10"),
      Fault::Deadlock);  // bf16: half the bytes
}

// Bytes of a map that ordinary stores have brought to global memory: their fences are not followed, which is said.
TEST(TensorMapOfKernel, OneThatStoresAloneHaveMadeIsNotModelled) {
  const KernelRun r = run(replaced(
      tensormap_kernel,
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync."
      "aligned [%rd1], [%r3], 128;",
      "ld.shared.u32 %r11, [%r7];\nadd.s64 %rd8, %rd1, %rd5;\nst.global.u32 [%rd8], %r11;\n"
      "bar.warp.sync -1;"));
  EXPECT_EQ(r.fault(), Fault::UnmodelledInstruction) << r.what();
}

TEST(TensorMapOfKernel, APatchMeetsACopyThatMayStillReadTheMap) {
  const std::string text =
      replaced(tensormap_kernel, "waiting:",
               "mov.u32 %r12, 0;\ntensormap.replace.tile.global_dim.global.b1024.b32 [%rd1], 1, "
               "2;\nwaiting:");
  EXPECT_EQ(run(text).fault(), Fault::TensormapInUse);
}

}  // namespace
}  // namespace tcq::run
