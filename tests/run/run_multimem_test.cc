// multimem: of one device. What is reduced over the devices is what that one has; order and races are those of ld, st and red.
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

struct Ran {
  Fault fault = Fault::None;
  std::vector<std::uint32_t> words;
  std::vector<std::string> approximations;
};

Ran run_words(const std::string& body, std::uint32_t threads = 32) {
  PtxRun run(kernel(body));
  std::vector<std::uint32_t> words(256);
  for (std::uint32_t i = 0; i < 256; ++i) words[i] = 0x3c003c00 + i;
  const Pointer data = run.array(words);
  run.pass(data);
  Ran ran;
  ran.fault = run.go({.block = {threads}, .explore = 20});
  ran.words = run.read<std::uint32_t>(data, 256);
  ran.approximations = run.kernel().approximations;
  return ran;
}

TEST(RunMultimem, AReductionOverOneDeviceIsItsValue) {
  const Ran ran = run_words(R"(
    mad.wide.u32 %rd4, %r1, 12, %rd2;
    multimem.ld_reduce.weak.global.add.acc::f32.v4.f16x2 {%r4, %r5, %r6, %r7}, [%rd4];
    multimem.st.weak.global.v4.f16x2 [%rd4+512], {%r5, %r4, %r7, %r6};)");
  ASSERT_EQ(ran.fault, Fault::None);
  for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(ran.words[128 + i], 0x3c003c00 + (i ^ 1));
  ASSERT_EQ(ran.approximations.size(), 2u);
  EXPECT_NE(ran.approximations[0].find("one device"), std::string::npos);
}

TEST(RunMultimem, ReductionsAddUp) {
  const Ran ran = run_words("multimem.red.relaxed.gpu.global.add.u32 [%rd1], %r1;\n", 64);
  ASSERT_EQ(ran.fault, Fault::None);
  EXPECT_EQ(ran.words[0], 0x3c003c00u + 2016);
}

// Thread 0 publishes a word by a flag that thread 32 polls.
Fault run_flag(const std::string& red, const std::string& load) {
  return run_words(R"(
    setp.eq.u32 %p1, %r1, 0;
    setp.eq.u32 %p2, %r1, 32;
    @%p1 multimem.st.weak.global.u32 [%rd1+64], %r1;
    @%p1 )" + red + R"( [%rd1], 1;
    @!%p2 bra DONE;
  WAIT:
    )" + load + R"( %r4, [%rd1];
    setp.eq.u32 %p3, %r4, 0x3c003c00;
    @%p3 bra WAIT;
    ld.global.u32 %r5, [%rd1+64];
    st.global.u32 [%rd1+128], %r5;
  DONE:)",
                   64)
      .fault;
}

TEST(RunMultimem, OrderIsThatOfWhatItStandsFor) {
  const char* release = "multimem.red.release.gpu.global.add.u32";
  const char* acquire = "multimem.ld_reduce.acquire.gpu.global.add.u32";
  EXPECT_EQ(run_flag(release, acquire), Fault::None);
  EXPECT_NE(run_flag("multimem.red.relaxed.gpu.global.add.u32", acquire), Fault::None);
  EXPECT_NE(run_flag(release, "multimem.ld_reduce.relaxed.gpu.global.add.u32"), Fault::None);
  EXPECT_EQ(run_words("multimem.st.weak.global.u32 [%rd2], %r1;\n"
                      "multimem.ld_reduce.weak.global.add.u32 %r4, [%rd2];\n",
                      64)
                .fault,
            Fault::None);
  EXPECT_EQ(run_words("multimem.st.weak.global.u32 [%rd2], %r1;\n"
                      "multimem.ld_reduce.weak.global.add.u32 %r4, [%rd1];\n",
                      64)
                .fault,
            Fault::LaneRace);
}

TEST(RunMultimem, MulticastAddressesAreOfGlobalMemory) {
  EXPECT_EQ(run_words(R"(
    .shared .align 16 .b8 x[128];
    mov.u64 %rd4, x;
    cvta.shared.u64 %rd5, %rd4;
    multimem.st.weak.u32 [%rd5], %r1;)")
                .fault,
            Fault::AddressNowhere);
}

}  // namespace
}  // namespace tcq::tests
