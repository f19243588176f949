// atom and red on the types that no integer arithmetic makes: halves, pairs and vectors of them, 128 bits.
#include <gtest/gtest.h>

#include "tests/run/kernel_run.h"

namespace tcq::run {
namespace {

// 32 lanes; %rd1 points to memory, %rd2 to a word or more for each lane.
KernelRun run(const std::string& body, Bytes global, std::uint64_t results) {
  Launch launch;
  launch.block = {32, 1, 1};
  const std::string ptx = R"(
.version 8.4
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 memory, .param .u64 results)
{
  .reg .pred %p<4>;
  .reg .b16 %rs<8>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .reg .b128 %q<4>;
  ld.param.u64 %rd1, [memory];
  ld.param.u64 %rd2, [results];
)" + body + "  ret;\n}\n";
  return KernelRun(ptx, launch, {0, results}, std::move(global));
}

TEST(AtomicTypes, LanesAddHalvesOneAfterTheOther) {
  const KernelRun r = run(R"(
  mov.b16 %rs1, 0x3c00;
  red.global.add.noftz.f16 [%rd1], %rs1;
  mov.b16 %rs2, 0x3f80;
  red.global.add.noftz.bf16 [%rd1+2], %rs2;
  mov.b32 %r1, 0x40003c00;
  red.global.add.noftz.f16x2 [%rd1+4], %r1;
)",
                          {std::vector<std::uint8_t>(16)}, 0);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  EXPECT_EQ(r.global().at<std::uint16_t>(0), 0x5000);  // 32
  EXPECT_EQ(r.global().at<std::uint16_t>(2), 0x4200);
  EXPECT_EQ(r.global().at<std::uint32_t>(4), 0x54005000u);
}

// 2048 + 1 is half a last bit of f16: each sum is rounded to even.
TEST(AtomicTypes, ASumIsRoundedToNearestEven) {
  Bytes global{std::vector<std::uint8_t>(16)};
  global.put(0, std::uint16_t{0x6800});
  const KernelRun r =
      run("  mov.b16 %rs1, 0x3c00;\n  red.global.add.noftz.f16 [%rd1], %rs1;\n", global, 0);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  EXPECT_EQ(r.global().at<std::uint16_t>(0), 0x6800);
}

TEST(AtomicTypes, AVectorIsElementsOfItsOwn) {
  const KernelRun r = run(R"(
  mov.b32 %r1, 0x3f800000;
  mov.b32 %r2, 0x40000000;
  red.global.add.v2.f32 [%rd1], {%r1, %r2};
  mov.b32 %r3, 0xbf803f80;
  red.global.max.noftz.v2.bf16x2 [%rd1+8], {%r3, %r3};
)",
                          {std::vector<std::uint8_t>(16)}, 0);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  EXPECT_EQ(r.global().at<float>(0), 32.0f);
  EXPECT_EQ(r.global().at<float>(4), 64.0f);
  EXPECT_EQ(r.global().at<std::uint32_t>(8), 0x00003f80u);
  EXPECT_EQ(r.global().at<std::uint32_t>(12), 0x00003f80u);
}

TEST(AtomicTypes, A128BitWordIsExchangedWhole) {
  Bytes global{std::vector<std::uint8_t>(64)};
  global.put(0, std::uint64_t{7});
  global.put(8, std::uint64_t{9});
  const KernelRun r = run(R"(
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 ret;
  mov.b64 %rd3, 1;
  mov.b64 %rd4, 2;
  mov.b128 %q1, {%rd3, %rd4};
  atom.global.exch.b128 %q2, [%rd1], %q1;
  mov.b128 {%rd5, %rd6}, %q2;
  st.global.b64 [%rd2], %rd5;
  st.global.b64 [%rd2+8], %rd6;
)",
                          global, 32);
  ASSERT_EQ(r.fault(), Fault::None) << r.what();
  EXPECT_EQ(r.global().at<std::uint64_t>(0), 1u);
  EXPECT_EQ(r.global().at<std::uint64_t>(8), 2u);
  EXPECT_EQ(r.global().at<std::uint64_t>(32), 7u);
  EXPECT_EQ(r.global().at<std::uint64_t>(40), 9u);
}

}  // namespace
}  // namespace tcq::run
