// A D that is quantized, without a GPU: what is refused, which kernels plans take, what kernels are told, and the reference's
// bits against quantize() of its own f32 results.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "cuda/gemm/check.h"
#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/quantize.h"
#include "cuda/gemm/run.h"
#include "tests/support/gemm_problem.h"

namespace tcq::gemm {
namespace {

constexpr Device h200 = {.memory = 4.917e6};

Problem quantized(std::int64_t m, std::int64_t n, std::int64_t k,
                  Scaling scaling = Scaling::Block128) {
  Problem p{.m = m, .n = n, .k = k, .in = Type::e4m3};
  p.scaling = scaling;
  p.quantized = Type::e4m3;
  return p;
}

Plan planned(const Problem& p) {
  Plan plan;
  EXPECT_EQ(make_plan_for(p, h200, plan), Status::Ok);
  return plan;
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

TEST(Gemm_Quantized, ItsFactorsAreWritten) {
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<float*>(address); };
  const Plan plan = planned(quantized(64, 256, 128, Scaling::None));
  Pointers x = {.a = at(16), .b = at(16), .d = at(17), .scale_d = at(20)};
  EXPECT_EQ(check(plan, x, {}), Status::Ok);
  x.scale_d = at(18);
  EXPECT_EQ(check(plan, x, {}), Status::Misaligned);
  x.scale_d = nullptr;
  EXPECT_EQ(check(plan, x, {}), Status::NullPointer);
  Problem with_c = quantized(64, 256, 128, Scaling::None);
  with_c.beta = 1;
  const Pointers same = {.a = at(16), .b = at(16), .c = at(16), .d = at(16), .scale_d = at(20)};
  EXPECT_EQ(check(planned(with_c), same, {}), Status::CIsNotD);
}

// Kernels that quantize take nobody else's problems, and those of 128 columns none in which two make one.
TEST(Gemm_Quantized, EveryProblemHasAKernelThatQuantizes) {
  int few = 0, narrow = 0;
  for (int scaling = 0; scaling < scaling_count; ++scaling)
    for (const std::int64_t m : {1, 16, 40, 64, 128, 500, 3000})
      for (const auto activation : {Activation::None, Activation::Silu, Activation::Swiglu})
        for (const auto grouping :
             {Grouping::None, Grouping::Ends, Grouping::Counts, Grouping::RowIds})
          for (const bool invariant : {false, true}) {
            Problem p = quantized(m, 4096, 1000, static_cast<Scaling>(scaling));
            p.activation = activation;
            p.grouping = grouping;
            p.batch = grouping == Grouping::None ? 1 : 8;
            p.batch_invariant = invariant;
            const Plan plan = planned(p);
            for (const Launch* l : {&plan.aligned, &plan.unaligned, &plan.realigned}) {
              ASSERT_NE(l->kernel, nullptr);
              EXPECT_GE(l->kernel->quantized_columns, is_gated(activation) ? 256 : 128);
              if (invariant) {
                EXPECT_EQ(l->kernel->split, 1);
              }
            }
            few += plan.realigned.kernel->skinny == Skinny::Rows;
            narrow += plan.realigned.kernel->quantized_columns == 128;
          }
  EXPECT_GT(few, 100);
  EXPECT_GT(narrow, 50);
  Problem plain = quantized(64, 4096, 1000);
  plain.quantized = {};
  EXPECT_EQ(planned(plain).aligned.kernel->quantized_columns, 0);
}

TEST(Gemm_Quantized, APlanSaysIt) {
  Problem p = quantized(64, 4096, 1024);
  p.scale_d_power_of_two = true;
  EXPECT_NE(describe(planned(p))
                .find("bf16, A K-major, B K-major, then e4m3 with a factor for 128 "
                      "columns of a row, a power of two\n"),
            std::string::npos)
      << describe(planned(p));
}

TEST(Gemm_Quantized, KernelsAreToldWhereFactorsLie) {
  Problem p = quantized(300, 600, 256);
  p.batch = 3;
  const auto told = [&] {
    static float factors[1];
    const Plan plan = planned(p);
    return work_of(plan, Path::Aligned, {.scale_d = factors}, {}).arguments;
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

// The same product with D in f32, and the quantizer of wider matrices behind it.
TEST(Gemm_Quantized, TheReferenceIsTheQuantizerBehindF32) {
  for (const auto activation : {Activation::None, Activation::Swiglu})
    for (const Type type : {Type::e4m3, Type::e5m2})
      for (const bool power_of_two : {false, true})
        for (const auto values : {Values::Near, Values::Wide, Values::Specials}) {
          oracle::Gemm g{.m = 70, .n = 1100, .k = 96, .in = Type::e4m3, .out = Type::f32};
          g.activation = activation;
          const oracle::Gemm wide = with_strides(g);
          const GemmCase of_f32 = make_case(wide, true, values, 11);
          GemmCase x =
              make_case(with_quantized(wide, {type, power_of_two, Major::K, 2}), true, values, 11);
          const std::vector<std::uint8_t> results = of_f32.expected(1);
          const std::int64_t columns = is_gated(activation) ? 550 : 1100;
          const Quantize q{.rows = 70,
                           .columns = columns,
                           .in = Type::f32,
                           .out = type,
                           .power_of_two = power_of_two,
                           .ld_source = wide.d.ld,
                           .ld_target = wide.d.ld,
                           .ld_factors = (columns + 127) / 128 + 2};
          const std::vector<std::uint8_t> got = x.expected(1);
          ASSERT_EQ(quantize_on_host(q, results.data() + of_f32.d.first, x.d.data(),
                                     static_cast<float*>(x.scale_d.data())),
                    Status::Ok);
          EXPECT_EQ(got, GemmCase::joined(x.d.bytes, x.scale_d.bytes));
        }
}

}  // namespace
}  // namespace tcq::gemm
