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

Fault fault_of(const std::string& product, const std::string& metadata, const std::string& target) {
  PtxRun run(with(ones(product), "0", metadata, target));
  run.pass(run.array<std::uint32_t>(32));
  return run.go({});
}

// Selectors that are constants name lanes and bytes that exist, and mma.sp's is one. A code that PTX leaves open has no result;
// its two positions need no order but with ::ordered_metadata.
TEST(RunNarrow, SelectorsAndCodesAreThoseThatPtxDefines) {
  const std::string d = "{%f1, %f2, %f3, %f4}", a = "{%r2, %r3, %r2, %r3}", b = "{%r2, %r3}";
  const auto sparse = [&](const std::string& ordered, const std::string& shape_and_types,
                          const std::string& of_a, const std::string& of_b,
                          const std::string& selector, const std::string& metadata) {
    return fault_of("mma.sp" + ordered + ".sync.aligned." + shape_and_types + " " + d + ", " +
                        of_a + ", " + of_b + ", " + d + ", %r9, " + selector + ";",
                    metadata, "sm_90a");
  };
  const std::string k32 = "m16n8k32.row.col.f32.f16.f16.f32";
  const std::string k16 = "m16n8k16.row.col.f32.f16.f16.f32";
  const std::string tf32 = "m16n8k8.row.col.f32.tf32.tf32.f32";
  for (const std::string ordered : {"", "::ordered_metadata"}) {
    const auto k32_of = [&](const std::string& selector, const std::string& metadata) {
      return sparse(ordered, k32, a, a, selector, metadata);
    };
    EXPECT_EQ(k32_of("1", "0xed9c8444"), Fault::None);
    EXPECT_EQ(sparse(ordered, k16, b, b, "3", "0xed9c8444"), Fault::None);
    for (const std::string selector : {"2", "-1", "%r3"})
      EXPECT_EQ(k32_of(selector, "0x44444444"), Fault::UnmodelledInstruction) << selector;
    EXPECT_EQ(sparse(ordered, k16, b, b, "4", "0x44444444"), Fault::UnmodelledInstruction);
    EXPECT_EQ(k32_of("0", "0"), Fault::UndefinedMetadata);
    EXPECT_EQ(k32_of("0", "0x4444a444"), Fault::UndefinedMetadata);
    EXPECT_EQ(k32_of("0", "0x44441444"), ordered.empty() ? Fault::None : Fault::UndefinedMetadata);
    EXPECT_EQ(sparse(ordered, tf32, b, b, "0", "0x4444e4e4"), Fault::None);
    EXPECT_EQ(sparse(ordered, tf32, b, b, "0", "0x44444441"), Fault::UndefinedMetadata);
  }
  // Without an order, a code chooses as its turned one does with its stored elements turned.
  expect_everywhere(with(ones("mma.sp.sync.aligned." + k32 + " " + d + ", " + a + ", " + a + ", " +
                              d + ", %r9, 0;"),
                         "0x3c003c00", "0x11111111", "sm_90a"),
                    17, true);

  const auto scaled = [&](const std::string& head, const std::string& of_a,
                          const std::string& of_b) {
    return fault_of("mma.sync.aligned." + head + " " + d + ", " + a + ", " + b + ", " + d +
                        ", %r9, " + of_a + ", %r9, " + of_b + ";",
                    "0x7f7f7f7f", "sm_120a");
  };
  const std::string one = "m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0";
  const std::string two = "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0";
  const std::string four =
      "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3";
  EXPECT_EQ(scaled(one, "{3, 1}", "{1, 3}"), Fault::None);
  EXPECT_EQ(scaled(two, "{2, 1}", "{0, 3}"), Fault::None);
  EXPECT_EQ(scaled(four, "{0, 1}", "{0, 3}"), Fault::None);
  EXPECT_EQ(scaled(four, "{%h1, 1}", "{0, %h1}"), Fault::None);
  const std::string fine = "{0, 0}";
  for (const auto& [head, wrong] : {std::pair{one, "{4, 0}"}, {two, "{1, 0}"}, {four, "{2, 0}"}}) {
    EXPECT_EQ(scaled(head, wrong, fine), Fault::UnmodelledInstruction) << head << wrong;
    EXPECT_EQ(scaled(head, fine, wrong), Fault::UnmodelledInstruction) << head << wrong;
  }
  EXPECT_EQ(scaled(one, "{0, 2}", fine), Fault::UnmodelledInstruction);
  EXPECT_EQ(scaled(one, fine, "{0, 4}"), Fault::UnmodelledInstruction);
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

// Vectors are cvt.rs's to four elements alone, of registers with as many words as their type; of what is wider the low bits
// count, but not of random bits.
TEST(RunNarrow, ConversionsTakeNoOtherVectors) {
  const auto fault = [](const std::string& body) {
    std::string text = kernel("  .reg .b64 %wide;\n  mov.b64 %wide, 0x100000000;\n  " + body);
    text.replace(text.find("sm_90a"), 6, "sm_100");
    PtxRun run(text);
    run.pass(run.array<std::uint32_t>(32));
    return run.go({});
  };
  EXPECT_EQ(fault("cvt.rn.f16x2.f32 %r3, %f1, %f2;"), Fault::None);
  EXPECT_EQ(fault("cvt.rn.f16x2.f32 %r3, %wide, %f2;"), Fault::None);
  EXPECT_EQ(fault("cvt.rs.f16x2.f32 %r3, %wide, %wide, %r2;"), Fault::None);
  EXPECT_EQ(fault("cvt.rs.f16x2.f32 %r3, %f1, %f2, %r2;"), Fault::None);
  for (const char* body :
       {"cvt.rn.f16x2.f32 %r3, {%f1, %f2};", "cvt.rs.f16x2.f32 %r3, {%f1, %f2}, %r2;",
        "cvt.rs.f16x2.f32 %r3, %f1, %f2, %wide;", "cvt.u32.u16 %r3, {%h1};",
        "cvt.rs.satfinite.e4m3x4.f32 %r3, {%f1, %f2, %wide, %f2}, %r2;"})
    EXPECT_EQ(fault(body), Fault::UnmodelledInstruction) << body;
}

// A chip's approximations were asked of sm_90 alone.
TEST(RunNarrow, ApproximationsOfOtherChipsSaySo) {
  for (const std::string target : {"sm_90a", "sm_100"}) {
    std::string text =
        kernel("mov.f32 %f1, 0f3F000000; ex2.approx.ftz.f32 %f2, %f1; st.global.f32 [%rd2], %f2;");
    text.replace(text.find("sm_90a"), 6, target);
    PtxRun run(text);
    const Pointer out = run.array<std::uint32_t>(32);
    run.pass(out);
    ASSERT_EQ(run.go({}), Fault::None);
    EXPECT_EQ(run.kernel().approximations.empty(), target == "sm_90a");
    for (const std::uint32_t word : run.read<std::uint32_t>(out, 32)) EXPECT_EQ(word, 0x3fb504f3u);
  }
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
