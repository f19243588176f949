// A D that is quantized, without a GPU and without kernels: what is refused, which kernels suit it, what they are told. Plans:
// gemm_fp8_test.cc; bits: tests/run/run_quantized_gemm_test.cc, and of factors that are bytes run_tensor_coded_test.cc.
#include <gtest/gtest.h>

#include "cuda/gemm/check.h"
#include "cuda/gemm/estimate.h"
#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/plan_tensor.h"
#include "cuda/gemm/run.h"

namespace tcq::gemm {
namespace {

Problem quantized(std::int64_t m, std::int64_t n, std::int64_t k,
                  Scaling scaling = Scaling::Block128) {
  Problem p{.m = m, .n = n, .k = k, .in = Type::e4m3};
  p.scaling = scaling;
  p.quantized = Type::e4m3;
  return p;
}

TEST(Gemm_Quantized, WhatItCannotBe) {
  const auto said = [](auto change) {
    Problem p = quantized(300, 600, 256);
    change(p);
    return check(p);
  };
  EXPECT_EQ(said([](Problem&) {}), Status::Ok);
  EXPECT_EQ(said([](Problem& p) { p.quantized = Type::e5m2; }), Status::Ok);
  EXPECT_EQ(said([](Problem& p) { p.quantized = Type::bf16; }), Status::UnsupportedTypes);
  EXPECT_EQ(said([](Problem& p) { p.in_b = Type::e5m2; }), Status::Ok);
  EXPECT_EQ(said([](Problem& p) { p.in = Type::e5m2; }), Status::Ok);
  EXPECT_EQ(said([](Problem& p) { p.in = Type::bf16, p.scaling = Scaling::None; }),
            Status::UnsupportedTypes);
  EXPECT_EQ(said([](Problem& p) { p.major_scale_d = static_cast<Major>(7); }),
            Status::UnsupportedScaling);
  EXPECT_EQ(said([](Problem& p) { p.scale_d.ld = 4; }), Status::LeadingDimensionTooSmall);
  EXPECT_EQ(said([](Problem& p) { p.scale_d.ld = 5; }), Status::Ok);
  EXPECT_EQ(said([](Problem& p) { p.activation = Activation::Swiglu, p.scale_d.ld = 3; }),
            Status::Ok);
  EXPECT_EQ(said([](Problem& p) { p.major_scale_d = Major::MN, p.scale_d.ld = 299; }),
            Status::LeadingDimensionTooSmall);
  EXPECT_EQ(said([](Problem& p) { p.batch = 2, p.scale_d.batch = -2; }), Status::BadBatchStride);
  EXPECT_EQ(said([](Problem& p) { p.batch = 2, p.scale_d.batch = 0; }), Status::BadBatchStride);
  EXPECT_EQ(said([](Problem& p) { p.batch = 2, p.scale_d.batch = 1499; }), Status::BadBatchStride);
  EXPECT_EQ(said([](Problem& p) { p.batch = 2, p.scale_d.batch = 1500; }), Status::Ok);
  EXPECT_EQ(said([](Problem& p) { p.scale_d.ld = std::int64_t{1} << 61; }), Status::SizeTooLarge);
  EXPECT_EQ(said([](Problem& p) { p.quantized = {}, p.scale_d.ld = 1; }), Status::Ok);
}

// Of a kernel that there need not be.
Plan as_planned(const Problem& p) {
  static const Kernel kernel = {};
  Plan plan;
  plan.problem = resolved(p);
  plan.made = true;
  plan.aligned.kernel = plan.unaligned.kernel = &kernel;
  plan.aligned.schedule = {1, 1, 1, 1};
  return plan;
}

TEST(Gemm_Quantized, ItsFactorsAreWritten) {
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<float*>(address); };
  const Plan plan = as_planned(quantized(64, 256, 128, Scaling::None));
  Pointers x = {.a = at(16), .b = at(16), .d = at(17), .scale_d = at(20)};
  EXPECT_EQ(check(plan, x, {}), Status::Ok);
  x.scale_d = at(18);
  EXPECT_EQ(check(plan, x, {}), Status::Misaligned);
  x.scale_d = nullptr;
  EXPECT_EQ(check(plan, x, {}), Status::NullPointer);
  Problem with_c = quantized(64, 256, 128, Scaling::None);
  with_c.beta = 1;
  const Pointers same = {.a = at(16), .b = at(16), .c = at(16), .d = at(16), .scale_d = at(20)};
  EXPECT_EQ(check(as_planned(with_c), same, {}), Status::CIsNotD);
}

// Kernels that quantize take nobody else's problems, and those of 128 columns none in which two make one.
TEST(Gemm_Quantized, KernelsQuantizeAsManyColumnsAsShareAFactor) {
  const auto takes = [](int columns, const Problem& p) {
    Kernel kernel = {};
    kernel.quantized_columns = columns;
    return quantizes_as(kernel, p);
  };
  Problem p = quantized(64, 256, 128);
  EXPECT_FALSE(takes(0, p));
  EXPECT_TRUE(takes(128, p));
  EXPECT_TRUE(takes(256, p));
  p.activation = Activation::Swiglu;
  EXPECT_FALSE(takes(128, p));
  EXPECT_TRUE(takes(256, p));
  p.quantized = {};
  EXPECT_TRUE(takes(0, p));
  EXPECT_FALSE(takes(128, p));
  EXPECT_FALSE(takes(256, p));
}

TEST(Gemm_Quantized, KernelsAreToldWhereFactorsLie) {
  Problem p = quantized(300, 600, 256);
  p.batch = 3;
  const auto told = [&] {
    static float factors[1];
    return work_of(as_planned(p), Path::Aligned, {.scale_d = factors}, {}).arguments;
  };
  Arguments out = told();
  EXPECT_EQ(out.factors_d.row_step, 5);
  EXPECT_EQ(out.factors_d.block_step, 1);
  EXPECT_EQ(out.factors_d.batch_step, 1500);
  EXPECT_EQ(type_of_d(out), Type::e4m3);
  EXPECT_FALSE(out.sends_usual);
  p.major_scale_d = Major::MN;
  p.scale_d.ld = 301;
  out = told();
  EXPECT_EQ(out.factors_d.row_step, 1);
  EXPECT_EQ(out.factors_d.block_step, 301);
  EXPECT_EQ(out.factors_d.batch_step, 1505);
}

// --- factors that are bytes ------------------------------------------------------------------------

Problem coded(Type of_d, BlockScaling factors) {
  Problem p{.m = 300, .n = 600, .k = 256, .batch = 3, .in = Type::bf16};
  p.quantized = of_d;
  p.block_scaling_d = factors;
  return p;
}

TEST(Gemm_Coded, WhatItCannotBe) {
  const auto said = [](Type of_d, auto change, BlockScaling factors = BlockScaling::Ue8m0Block32) {
    Problem p = coded(of_d, factors);
    change(p);
    return check(p);
  };
  const auto none = [](Problem&) {};
  EXPECT_EQ(said(Type::e4m3, none), Status::Ok);
  EXPECT_EQ(said(Type::e2m1, none, BlockScaling::Ue4m3Block16), Status::Ok);
  EXPECT_EQ(said(Type::e5m2, none, BlockScaling::Ue4m3Block16), Status::UnsupportedTypes);
  EXPECT_EQ(said(Type::bf16, none), Status::UnsupportedTypes);
  EXPECT_EQ(said(Type::e4m3, none, static_cast<BlockScaling>(3)), Status::UnsupportedScaling);
  EXPECT_EQ(said(Type::e4m3, [](Problem& p) { p.quantized = {}; }), Status::UnsupportedScaling);
  for (const Grouping by : {Grouping::Ends, Grouping::Counts, Grouping::RowIds})
    EXPECT_EQ(said(Type::e4m3, [&](Problem& p) { p.grouping = by; }), Status::Ok);
  EXPECT_EQ(said(Type::e4m3, [](Problem& p) { p.grouping = Grouping::KEnds; }),
            Status::UnsupportedGrouping);
  EXPECT_EQ(said(Type::e4m3, [](Problem& p) { p.in = p.out = Type::f16; }), Status::Ok);
  EXPECT_EQ(said(Type::e4m3,
                 [](Problem& p) {
                   p.in = Type::tf32;
                   p.out = Type::f32;
                 }),
            Status::UnsupportedScaling);
  EXPECT_EQ(said(Type::e4m3, [](Problem& p) { p.scale_d.ld = 1; }), Status::Ok);  // not looked at
  // Two elements share a byte.
  EXPECT_EQ(said(Type::e4m3, [](Problem& p) { p.n = 601; }), Status::Ok);
  EXPECT_EQ(said(Type::e2m1,
                 [](Problem& p) {
                   p.n = 601, p.d = {602, 300 * 602};
                 }),
            Status::UnsupportedScaling);
  EXPECT_EQ(said(Type::e2m1, [](Problem& p) { p.d.ld = 603; }), Status::UnsupportedScaling);
  EXPECT_EQ(said(Type::e2m1, [](Problem& p) { p.d.batch = 300 * 600 + 1; }),
            Status::UnsupportedScaling);
  EXPECT_EQ(said(Type::e2m1, [](Problem& p) { p.activation = Activation::Swiglu; }), Status::Ok);
  EXPECT_EQ(said(Type::e2m1, [](Problem& p) { p.n = 602, p.activation = Activation::Swiglu; }),
            Status::UnsupportedScaling);
}

TEST(Gemm_Coded, HopperHasNone) {
  EXPECT_EQ(check_hopper(coded(Type::e4m3, BlockScaling::Ue8m0Block32), {}), Status::NeedsTcgen05);
}

TEST(Gemm_Coded, ItsFactorsAreWritten) {
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<std::uint8_t*>(address); };
  const Plan plan = as_planned(coded(Type::e2m1, BlockScaling::Ue4m3Block16));
  Pointers x = {.a = at(16), .b = at(16), .d = at(17), .scale_codes_d = at(32)};
  EXPECT_EQ(check(plan, x, {}), Status::Ok);
  x.scale_codes_d = at(40);
  EXPECT_EQ(check(plan, x, {}), Status::Misaligned);
  x.scale_codes_d = nullptr;
  EXPECT_EQ(check(plan, x, {}), Status::NullPointer);
  x.scale_codes_d = at(32);
  x.global_scale_d = reinterpret_cast<float*>(at(18));
  EXPECT_EQ(check(plan, x, {}), Status::Misaligned);
}

TEST(Gemm_Coded, KernelsAreToldWhereFactorsAndElementsLie) {
  Problem p = coded(Type::e2m1, BlockScaling::Ue8m0Block32);
  alignas(16) static std::uint8_t codes[16];
  const Arguments out =
      work_of(as_planned(p), Path::Aligned, {.scale_codes_d = codes}, {}).arguments;
  // 600 columns are 19 blocks, five atoms; 300 rows three of these.
  EXPECT_EQ(out.factors_d.row_step, 5 * 512);
  EXPECT_EQ(out.factors_d.batch_step, 15 * 512);
  EXPECT_EQ(out.factors_d.codes, codes);
  EXPECT_EQ(out.factors_d.data, nullptr);
  EXPECT_EQ(out.epilogue.ld_d, 300);
  EXPECT_EQ(type_of_d(out), Type::e2m1);
}

TEST(Gemm_Coded, KernelsMakeTheBlocksThatAreAskedFor) {
  Kernel kernel = {};
  kernel.quantized_columns = 128;
  kernel.quantized_vec = tcgen05::ScaleVec::Block32;
  Problem p = coded(Type::e2m1, BlockScaling::Ue8m0Block32);
  EXPECT_TRUE(quantizes_as(kernel, p));
  p.activation = Activation::Swiglu;
  EXPECT_TRUE(quantizes_as(kernel, p));
  p.block_scaling_d = BlockScaling::Ue4m3Block16;
  EXPECT_FALSE(quantizes_as(kernel, p));
  p.block_scaling_d = BlockScaling::None;
  EXPECT_FALSE(quantizes_as(kernel, p));
}

}  // namespace
}  // namespace tcq::gemm
