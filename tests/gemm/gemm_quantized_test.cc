// A D that is quantized, without a GPU and without kernels: what is refused, which kernels suit it, what they are told. Plans:
// gemm_fp8_test.cc; bits: tests/run/run_quantized_gemm_test.cc.
#include <gtest/gtest.h>

#include "cuda/gemm/check.h"
#include "cuda/gemm/estimate.h"
#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"
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
  EXPECT_EQ(said([](Problem& p) { p.in_b = Type::e5m2; }), Status::UnsupportedTypes);
  EXPECT_EQ(said([](Problem& p) { p.in = Type::e5m2; }), Status::UnsupportedTypes);
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

}  // namespace
}  // namespace tcq::gemm
