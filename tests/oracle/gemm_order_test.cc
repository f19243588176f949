// Orders of accumulation as text, and what they make of K.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/gemm/order.h"
#include "oracle/gemm/plan_text.h"
#include "oracle/gemm/rivals.h"

namespace tcq::oracle::gemm {
namespace {

constexpr Product bf16_160{Type::bf16, Type::bf16, 160};
constexpr Product fp8_512{Type::e4m3, Type::e5m2, 512};

std::string parts(const std::string& spec, const Product& product = bf16_160) {
  std::string text;
  for (const GemmSegment& s : parse_order(spec, product).segments)
    text += fmt::format("{}{}+{}", text.empty() ? "" : " ", s.first, s.count);
  return text;
}

std::string refusal(const std::string& spec, const Product& product = bf16_160) {
  try {
    parse_order(spec, product);
  } catch (const UsageError& error) {
    return error.what();
  } catch (const UnmodelledError& error) {
    return std::string("unmodelled: ") + error.what();
  }
  return "";
}

TEST(GemmOrder, PartsOfK) {
  EXPECT_EQ(parts("chain"), "");
  EXPECT_EQ(parts("every=64"), "0+64 64+64 128+32");
  EXPECT_EQ(parts("every=160"), "");
  EXPECT_EQ(parts("every=4096"), "");
  EXPECT_EQ(parts("split=2"), "0+64 64+96");  // 3 blocks of 64: 1 and 2
  EXPECT_EQ(parts("split=3"), "0+64 64+64 128+32");
  EXPECT_EQ(parts("split=1"), "");
  EXPECT_EQ(parts("segments=96-160,0-96"), "96+64 0+96");
  EXPECT_EQ(parts("segments=0-160"), "");
  EXPECT_EQ(parts("split=3", fp8_512), "0+128 128+128 256+256");
  EXPECT_EQ(parts("every=64", {Type::s8, Type::s8, 128}), "");  // modulo 2^32
  EXPECT_EQ(parts("every=16", {Type::bf16, Type::bf16, 0}), "");
}

// The order as it is printed, and how much of K one instruction takes.
std::string of(const std::string& spec, const Product& product) {
  const Order order = parse_order(spec, product);
  return fmt::format("{} {}", canonical_spec(order, product), step(order, product));
}

TEST(GemmOrder, Instructions) {
  EXPECT_EQ(of("chain", bf16_160), "chain:wgmma 16");
  EXPECT_EQ(of("chain", fp8_512), "chain:wgmma 32");
  EXPECT_EQ(of("chain", {Type::e2m1, Type::e4m3, 64}), "chain:tcgen05 32");
  EXPECT_EQ(of("chain:tcgen05", {Type::tf32, Type::tf32, 64}), "chain:tcgen05 8");
  EXPECT_EQ(of("every=128:wgmma.m64n64k32.f16.e4m3.e5m2", fp8_512), "every=128:wgmma,d=f16 32");
  EXPECT_EQ(of("every=128:wgmma,d=f16", fp8_512), "every=128:wgmma,d=f16 32");
  EXPECT_EQ(of("chain:tcgen05.mma.cta_group::1.kind::f8f6f4,d=f16", fp8_512),
            "chain:tcgen05,d=f16 32");
  EXPECT_EQ(of("split=2:tcgen05", bf16_160), "split=2:tcgen05 16");
  EXPECT_EQ(of("segments=96-160,0-96", bf16_160), "segments=96-160,0-96:wgmma 16");
  const Product bytes{Type::s8, Type::u8, 96};
  EXPECT_EQ(of("chain:wgmma.m64n64k32.s32.s8.u8.satfinite", bytes), "chain:wgmma,satfinite 32");
  EXPECT_EQ(of("chain:tcgen05,satfinite", bytes), "chain:tcgen05,satfinite 32");
  EXPECT_EQ(of("float64", bf16_160), "float64 1");
  EXPECT_EQ(of("fma", bf16_160), "fma 1");
}

TEST(GemmOrder, ASpecThatIsPrintedIsReadAgain) {
  for (const Product& product : {bf16_160, fp8_512, Product{Type::f16, Type::f16, 1000}}) {
    const Order chain = parse_order("chain", product);
    for (const Order& rival : rivals(chain, product)) {
      const Order again = parse_order(rival.spec, product);
      EXPECT_EQ(again, rival) << rival.spec;
    }
  }
}

TEST(GemmOrder, WhatIsMalformedIsNamed) {
  EXPECT_EQ(refusal("chian"),
            "unknown --order 'chian': expected chain, split=, every=, segments=, plan:, float64 or "
            "fma; did you mean 'chain'?");
  EXPECT_EQ(refusal("every=100"), "every=100: expected a multiple of 16, the K of one instruction");
  EXPECT_EQ(refusal("every=0"), "every=0: expected a multiple of 16, the K of one instruction");
  EXPECT_EQ(refusal("every=x"),
            "'x' is no number: every= needs a decimal or 0x hexadecimal number");
  EXPECT_EQ(refusal("split=4"),
            "split=4: K = 160 has 3 blocks of 128 bytes: expected 1 to 3 parts");
  EXPECT_EQ(refusal("segments=0-64,96-160"),
            "segments=0-64,96-160: k = 64 is in no part: expected every k of 0-160 once");
  EXPECT_EQ(refusal("segments=0-96,64-160"),
            "segments=0-96,64-160: k = 64 is in two parts: expected every k of 0-160 once");
  EXPECT_EQ(refusal("segments=0-64,64-128"),
            "segments=0-64,64-128: the parts end at 128: expected 160, the K of A and B");
  EXPECT_EQ(refusal("segments=64-64"),
            "segments=64-64: 64-64 is empty: expected FIRST-END, END not in it");
  EXPECT_EQ(refusal("chain:wgma"),
            "unknown instruction of --order 'wgma': expected wgmma, tcgen05 or a mnemonic; did you "
            "mean 'wgmma'?");
  EXPECT_EQ(refusal("chain:wgmma,d=f16"),
            "--order 'chain:wgmma,d=f16': no wgmma multiplies bf16 by bf16 into f16");
  EXPECT_EQ(refusal("chain:wgmma,satfinite"),
            "--order 'chain:wgmma,satfinite': satfinite is for integers");
  EXPECT_EQ(
      refusal("chain:wgmma,e=f16"),
      "unknown key of --order 'e': expected d, kind, satfinite or promoted; did you mean 'd'?");
  EXPECT_EQ(refusal("chain:wgmma.m64n64k16.f32.f16.f16"),
            "'wgmma.m64n64k16.f32.f16.f16' multiplies f16 by f16, but A is bf16 and B is bf16");
  EXPECT_EQ(refusal("chain:tcgen05.mma.cta_group::1.kind::tf32"),
            "'tcgen05.mma.cta_group::1.kind::tf32' does not multiply bf16 by bf16");
  EXPECT_NE(refusal("chain:wgmma.m64n7k16.f32.bf16.bf16").find("illegal: N "), std::string::npos);
}

TEST(GemmOrder, WhatIsNotAPlainProductIsNotModelled) {
  EXPECT_EQ(refusal("every=32:wgmma,satfinite", {Type::s8, Type::s8, 64}),
            "unmodelled: 'every=32:wgmma,satfinite': clamped sums of parts of K");
  EXPECT_EQ(refusal("chain:wgmma.sp.m64n64k32.f32.bf16.bf16"),
            "unmodelled: 'wgmma.sp.m64n64k32.f32.bf16.bf16' is sparse: whole GEMMs are dense");
  EXPECT_EQ(refusal("chain:mma.m16n8k32.f32.e4m3.e4m3").substr(0, 12), "unmodelled: ");
  EXPECT_EQ(refusal("chain:mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
            "unmodelled: 'mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32' is not modelled in "
            "whole GEMMs: only wgmma.mma_async and tcgen05.mma are");
}

// --- scale factors of blocks -----------------------------------------------------------------------

constexpr Product mxfp8{Type::e4m3, Type::e5m2, 192, Scaling::Ue8m0Block32};
constexpr Product mxfp4{Type::e2m1, Type::e2m1, 192, Scaling::Ue8m0Block32};
constexpr Product nvfp4{Type::e2m1, Type::e2m1, 192, Scaling::Ue4m3Block16};

TEST(GemmOrder, ScaleFactorsDecideTheKind) {
  EXPECT_EQ(of("chain", mxfp8), "chain:tcgen05,kind=mxf8f6f4 32");
  EXPECT_EQ(of("chain", mxfp4), "chain:tcgen05,kind=mxf4 64");
  EXPECT_EQ(of("every=64:tcgen05", nvfp4), "every=64:tcgen05,kind=mxf4nvf4 64");
  EXPECT_EQ(of("every=32:tcgen05,kind=MXF8F6F4", mxfp4), "every=32:tcgen05,kind=mxf8f6f4 32");
  EXPECT_EQ(of("chain:tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::2X", mxfp4),
            "chain:tcgen05,kind=mxf4nvf4 64");
  EXPECT_EQ(of("chain:tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale", mxfp8),
            "chain:tcgen05,kind=mxf8f6f4 32");
  EXPECT_EQ(sentence(parse_order("every=64", nvfp4), nvfp4),
            "3 chains of tcgen05.mma.kind::mxf4nvf4.block_scale.block16 f32.e2m1.e2m1 over "
            "ascending k, 64 at a time, added in f32");
  for (const Product& product : {mxfp8, mxfp4, nvfp4})
    for (const Order& rival : rivals(parse_order("chain", product), product))
      EXPECT_EQ(parse_order(rival.spec, product), rival) << rival.spec;
}

TEST(GemmOrder, WhatHasOtherScaleFactorsIsNamed) {
  const std::string block16 = "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16";
  EXPECT_EQ(refusal("chain:" + block16, mxfp4),
            "'" + block16 +
                "' has scale factors: expected --scaling ue8m0_block16 or ue4m3_block16, the "
                "product has ue8m0_block32");
  EXPECT_EQ(refusal("chain:tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale",
                    {Type::e4m3, Type::e4m3, 64}),
            "'tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale' has scale factors: expected "
            "--scaling ue8m0_block32, the product has none");
  EXPECT_EQ(refusal("chain:tcgen05.mma.cta_group::1.kind::f8f6f4", mxfp8),
            "'tcgen05.mma.cta_group::1.kind::f8f6f4' has no scale factors, and --scaling "
            "ue8m0_block32 has them: expected a kind with .block_scale");
  EXPECT_EQ(refusal("chain:wgmma", mxfp8),
            "--order 'chain:wgmma': no wgmma multiplies e4m3 by e5m2 into f32, with factors "
            "ue8m0_block32");
  EXPECT_EQ(refusal("chain:tcgen05,kind=mxf4", mxfp8),
            "--order 'chain:tcgen05,kind=mxf4': no tcgen05.mma of kind mxf4 multiplies e4m3 by "
            "e5m2 into f32, with factors ue8m0_block32");
  EXPECT_EQ(refusal("chain:tcgen05,kind=mxf4", {Type::e2m1, Type::e2m1, 64}),
            "--order 'chain:tcgen05,kind=mxf4': no tcgen05.mma of kind mxf4 multiplies e2m1 by "
            "e2m1 into f32, with factors none");
  EXPECT_EQ(refusal("chain:tcgen05,kind=mxf6", mxfp8),
            "unknown kind 'mxf6': expected mxf8f6f4, mxf4 or mxf4nvf4; did you mean 'mxf4'?");
  EXPECT_EQ(refusal("chain:wgmma,kind=mxf4", mxfp4),
            "kind=mxf4 is tcgen05's: expected tcgen05,kind=mxf4");
  EXPECT_EQ(refusal("chain:tcgen05,d=f16", mxfp8),
            "--order 'chain:tcgen05,d=f16': no tcgen05.mma of kind mxf8f6f4 multiplies e4m3 by "
            "e5m2 into f16, with factors ue8m0_block32");
  EXPECT_EQ(refusal("segments=0-16,16-192", mxfp4),
            "--order 'segments=0-16,16-192': a part begins at k = 16: expected a multiple of 32, "
            "of which a scale factor is");
  EXPECT_EQ(refusal("segments=16-192,0-16", nvfp4), "");
  EXPECT_EQ(refusal("plan:absent", mxfp8),
            "--order 'plan:absent': plans are of wgmma, which has no factors ue8m0_block32");
  EXPECT_EQ(refusal("fma", nvfp4),
            "unmodelled: 'fma': factors of 16 of K are operands of tcgen05.mma");
}

// mxf4 and mxf4nvf4 are one arithmetic, mxf8f6f4 another one.
TEST(GemmOrder, OtherKindsAreRivals) {
  std::vector<std::string> specs;
  for (const Order& rival : rivals(parse_order("chain", mxfp4), mxfp4)) specs.push_back(rival.spec);
  EXPECT_EQ(specs.front(), "every=128:tcgen05,kind=mxf4");
  EXPECT_NE(std::ranges::find(specs, "chain:tcgen05,kind=mxf8f6f4"), specs.end());
  EXPECT_EQ(std::ranges::find(specs, "chain:tcgen05,kind=mxf4nvf4"), specs.end());
  for (const Order& rival : rivals(parse_order("chain", nvfp4), nvfp4))
    EXPECT_EQ(rival.kind, tcgen05::Kind::mxf4nvf4) << rival.spec;
}

// --- plans -----------------------------------------------------------------------------------------

const std::string plan =
    "problem: 64x48x1000, bf16 -> bf16, A K-major, B K-major\n"
    "epilogue: none\n"
    "order: 3 chains of wgmmas, each over ascending k, 16 at a time, from k = 0 320 640; their "
    "results added in this order, each step rounded to f32\n"
    "order if unaligned: one chain of wgmmas over ascending k, 16 at a time\n";

std::string plan_parts(const std::string& text, std::int64_t k = 1000) {
  try {
    std::string parts;
    for (const GemmSegment& s : parse_plan(text, "p", {Type::bf16, Type::bf16, k}).segments)
      parts += fmt::format("{}{}+{}", parts.empty() ? "" : " ", s.first, s.count);
    return parts;
  } catch (const UsageError& error) {
    return error.what();
  }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

// Of FP8: chains of 128 are parts; what factors or two levels of sums make of them is no order.
TEST(GemmOrder, PlansThatPromoteAreRead) {
  const std::string promoting =
      "problem: 64x48x300, e4m3 * e5m2 -> bf16, A K-major, B K-major\n"
      "order: chains of 128 over ascending k, 32 at a time\n";
  const Product product = {Type::e4m3, Type::e5m2, 300};
  EXPECT_EQ(parse_plan(promoting, "p", product), (PlanOrder{{}, true}));
  const std::string split = replaced(promoting, "chains of 128", "2 sums of chains of 128, each");
  EXPECT_THROW(parse_plan(split, "p", product), UsageError);  // from which k?
  const std::string parts = replaced(
      promoting, "chains of 128 over ascending k, 32 at a time",
      "2 sums of chains of 128, each over ascending k, 32 at a time, from k = 0 128; their");
  EXPECT_EQ(parse_plan(parts, "p", product), (PlanOrder{{{0, 128}, {128, 172}}, true}));
  EXPECT_THROW(parse_plan(promoting, "p", {Type::e4m3, Type::e4m3, 300}), UsageError);
}

// A plan's factors are the product's, or it is the plan of another product.
TEST(GemmOrder, PlansThatHaveFactorsAreRead) {
  const std::string plan_text =
      "problem: 64x48x300, e4m3 * e5m2 -> bf16, A K-major, B K-major\n"
      "factors: WHICH\norder: chains of 128 over ascending k, 32 at a time\n";
  for (std::size_t of_plan = 1; of_plan < scaling_words.size(); ++of_plan) {
    if (scaling_words[of_plan].plan.empty()) continue;
    const std::string text = replaced(plan_text, "WHICH", std::string(scaling_words[of_plan].plan));
    for (std::size_t i = 0; i < scaling_words.size(); ++i) {
      const Product product = {Type::e4m3, Type::e5m2, 300, static_cast<Scaling>(i)};
      if (i == of_plan)
        EXPECT_EQ(parse_plan(text, "p", product), (PlanOrder{{}, true}));
      else
        EXPECT_THROW(parse_plan(text, "p", product), UsageError);
    }
  }
  const Product none = {Type::e4m3, Type::e5m2, 300};
  EXPECT_THROW(parse_plan(replaced(plan_text, "WHICH", "of each moon"), "p", none), UsageError);
}

TEST(GemmOrder, PromotedPartsAreSumsOfChains) {
  Product blocks = {Type::e4m3, Type::e5m2, 512, Scaling::Block128};
  EXPECT_EQ(canonical_spec(parse_order("chain:wgmma,promoted", blocks), blocks),
            "chain:wgmma,promoted");
  EXPECT_EQ(canonical_spec(parse_order("every=256:wgmma,promoted", blocks), blocks),
            "every=256:wgmma,promoted");
  EXPECT_EQ(sentence(parse_order("split=2:wgmma,promoted", blocks), blocks),
            "2 sums of chains of 128 of K of wgmma f32.e4m3.e5m2 over ascending k, 32 at a time, "
            "fma(factors, chain, sum), added in f32");
  // Without factors of 128 of K it is an order of chains.
  EXPECT_EQ(parse_order("chain:wgmma,promoted", fp8_512).segments,
            parse_order("every=128", fp8_512).segments);
  EXPECT_FALSE(parse_order("chain:wgmma,promoted", fp8_512).promotes);
  EXPECT_TRUE(parse_order("split=2:wgmma,promoted", fp8_512).promotes);
  // Later parts of one chain each are added as the first part's chains are.
  EXPECT_EQ(canonical_spec(parse_order("segments=0-384,384-512:wgmma,promoted", fp8_512), fp8_512),
            "every=128:wgmma");
  EXPECT_TRUE(parse_order("segments=384-512,0-384:wgmma,promoted", fp8_512).promotes);
  EXPECT_FALSE(computes_the_same(parse_order("split=2:wgmma,promoted", fp8_512),
                                 parse_order("split=2", fp8_512), fp8_512));
  EXPECT_EQ(refusal("chain", blocks),
            "--order 'chain': the factors are of 128 of K each: expected a promoted order, for "
            "example chain:wgmma,promoted");
  EXPECT_EQ(refusal("every=64:wgmma,promoted", fp8_512),
            "--order 'every=64:wgmma,promoted': a part begins at k = 64: promoted parts begin at "
            "multiples of 128");
  EXPECT_EQ(refusal("chain:wgmma,d=f16,promoted", {Type::e4m3, Type::e4m3, 512}),
            "--order 'chain:wgmma,d=f16,promoted': expected sums in f32, which promoted is for");
  EXPECT_EQ(refusal("float64", blocks),
            "unmodelled: 'float64': factors of 128 of K meet chains of a tensor core");
}

TEST(GemmOrder, ThePlansOfTheGemmAreRead) {
  EXPECT_EQ(plan_parts(plan), "0+320 320+320 640+360");
  EXPECT_EQ(plan_parts(plan.substr(0, plan.find("order")) +
                       "order: one chain of wgmmas over ascending k, 16 at a time\n"),
            "");
  EXPECT_EQ(plan_parts(plan, 999),
            "p: is a plan of another product, 64x48x1000, bf16 -> bf16, A K-major, B K-major: "
            "expected K = 999 and bf16");
  EXPECT_EQ(plan_parts(replaced(plan, "order:", "ordre:")),
            "p: is no plan: it has no line 'order: '");
  for (const char* starts : {"0 320", "0 320 640 800", "16 320 640", "0 640 320", "0 320 1000", ""})
    EXPECT_NE(plan_parts(replaced(plan, "0 320 640", starts)).find("expected 3 ascending parts"),
              std::string::npos)
        << starts;
}

// --- rivals ----------------------------------------------------------------------------------------

TEST(GemmOrder, RivalsComputeSomethingElseEach) {
  for (const Product& product : {bf16_160, fp8_512, Product{Type::f16, Type::f16, 4096}}) {
    const Order chain = parse_order("chain", product);
    const std::vector<Order> all = rivals(chain, product);
    EXPECT_GE(all.size(), 5u);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_FALSE(computes_the_same(all[i], chain, product)) << all[i].spec;
      for (std::size_t j = 0; j < i; ++j)
        EXPECT_FALSE(computes_the_same(all[i], all[j], product))
            << all[i].spec << " " << all[j].spec;
    }
  }
}

// Both keep 25 fraction bits of f16 and bf16, and of fp8 13 and 25.
TEST(GemmOrder, TheOtherInstructionIsARivalWhereItsArithmeticIsAnother) {
  const auto has = [](const Product& product, const std::string& spec) {
    for (const Order& rival : rivals(parse_order("chain", product), product))
      if (rival.spec == spec) return true;
    return false;
  };
  EXPECT_FALSE(has(bf16_160, "chain:tcgen05"));
  EXPECT_TRUE(has(fp8_512, "chain:tcgen05"));
  EXPECT_TRUE(has(fp8_512, "every=128:tcgen05"));
  EXPECT_TRUE(has(fp8_512, "every=128:wgmma"));
  EXPECT_TRUE(has(fp8_512, "chain:wgmma,d=f16"));
  EXPECT_TRUE(has(fp8_512, "split=3:wgmma"));
  EXPECT_TRUE(has(bf16_160, "float64"));
  EXPECT_TRUE(has(bf16_160, "fma"));
  EXPECT_TRUE(has({Type::s8, Type::s8, 64}, "chain:wgmma,satfinite"));
}

}  // namespace
}  // namespace tcq::oracle::gemm
