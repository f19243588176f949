// Instructions on registers whose operands are vectors and selectors, in whole kernels: sparse and scaled products, conversions
// with random bits, sums of f32 and halves. What they compute of any words: tests/alu.
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

std::string ones(const std::string& product) {
  std::string text = kernel(R"(
    mov.b32 %r2, ONE;
    mov.b32 %r3, ONE;
    mov.f32 %f1, 0f3F800000;
    mov.b32 %r9, FACTORS;
    mov.b16 %h1, 3;
    mov.f32 %f2, %f1;
    mov.f32 %f3, %f1;
    mov.f32 %f4, %f1;
    PRODUCT
    cvt.rzi.u32.f32 %r4, %f3;
    st.global.u32 [%rd2], %r4;)");
  text.replace(text.find("PRODUCT"), 7, product);
  return text;
}

std::string with(std::string text, const std::string& one, const std::string& factors,
                 const std::string& target) {
  for (std::size_t at; (at = text.find("ONE")) != text.npos;) text.replace(at, 3, one);
  text.replace(text.find("FACTORS"), 7, factors);
  return text.replace(text.find("sm_90a"), 6, target);
}

void expect_everywhere(const std::string& text, std::uint32_t want, bool is_recorded = false) {
  PtxRun run(text);
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  ASSERT_EQ(run.go({}), Fault::None);
  EXPECT_EQ(run.kernel().approximations.empty(), is_recorded);
  for (const std::uint32_t word : run.read<std::uint32_t>(out, 32)) EXPECT_EQ(word, want);
}

TEST(RunNarrow, SparseAndScaledProductsOfOnes) {
  const std::string d = "{%f1, %f2, %f3, %f4}", a = "{%r2, %r3, %r2, %r3}";
  expect_everywhere(
      with(ones("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 " + d +
                ", " + a + ", " + a + ", " + d + ", %r9, 0x1;"),
           "0x3c003c00", "0x44444444", "sm_90a"),
      17, true);
  expect_everywhere(with(ones("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e3m2.f32 " +
                              d + ", " + a + ", {%r2, %r3}, " + d + ";"),
                         "0x0c0c0c0c", "0", "sm_120a"),
                    33);
  expect_everywhere(
      with(
          ones("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 " +
               d + ", " + a + ", {%r2, %r3}, " + d + ", %r9, {0, 1}, %r9, {2, %h1};"),
          "0x22222222", "0x80808080", "sm_120a"),
      257);
}

// 1 + 2^-4, whose rest in e4m3 is half a step: the highest of 16 random bits decides. The upper ones are of the first two.
TEST(RunNarrow, RandomBitsRoundFourAtATime) {
  std::string text = kernel(R"(
    mov.f32 %f1, 0f3F880000;
    mov.f32 %f2, 0fBF880000;
    mov.b32 %r2, 0x80007fff;
    cvt.rs.satfinite.e4m3x4.f32 %r3, {%f1, %f2, %f1, %f2}, %r2;
    st.global.u32 [%rd2], %r3;)");
  text.replace(text.find("sm_90a"), 6, "sm_100");
  expect_everywhere(text, 0x39b938b8);
}

TEST(RunNarrow, AHalfIsAddedToAFloat) {
  std::string text = kernel(R"(
    mov.b16 %h1, 0x3c01;
    mov.f32 %f1, 0f4B000000;
    add.rp.f32.f16 %f2, %h1, %f1;
    sub.f32.f16 %f2, %h1, %f2;
    mov.b32 %r2, %f2;
    st.global.u32 [%rd2], %r2;)");
  text.replace(text.find("sm_90a"), 6, "sm_100");
  PtxRun run(text);
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  ASSERT_EQ(run.go({}), Fault::None);
  EXPECT_TRUE(run.kernel().approximations.empty());
  for (const std::uint32_t word : run.read<std::uint32_t>(out, 32)) EXPECT_EQ(word, 0xcb000001u);
}

}  // namespace
}  // namespace tcq::tests
