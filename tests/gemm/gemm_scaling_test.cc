// Factors of FP8 problems and groups: what is refused, and what a kernel is told of them. Needs no CUDA.
#include <gtest/gtest.h>

#include <utility>

#include "cuda/gemm/check.h"
#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/run.h"

namespace tcq::gemm {
namespace {

Problem fp8(std::int64_t m, std::int64_t n, std::int64_t k, Scaling scaling = Scaling::None) {
  Problem p{.m = m, .n = n, .k = k, .in = Type::e4m3};
  p.scaling = scaling;
  return p;
}

TEST(Gemm_Scaling, OtherTypesHaveNoFactorsAndNoPromotion) {
  for (const Type in : {Type::bf16, Type::f16, Type::tf32, Type::s8}) {
    Problem p{.m = 8, .n = 8, .k = 8, .in = in, .out = Type::f32};
    EXPECT_EQ(check(p), Status::Ok);
    p.promotes = true;
    EXPECT_EQ(check(p), Status::UnsupportedScaling);
    p.promotes = false;
    p.scaling = Scaling::Tensor;
    EXPECT_EQ(check(p), Status::UnsupportedScaling);
  }
}

TEST(Gemm_Scaling, WhatDoesNotExistIsRefused) {
  Problem p = fp8(8, 8, 8);
  p.scaling = static_cast<Scaling>(scaling_count);
  EXPECT_EQ(check(p), Status::UnsupportedScaling);
  p = fp8(8, 8, 8, Scaling::Tensor);
  p.major_scale_b = static_cast<Major>(2);
  EXPECT_EQ(check(p), Status::UnsupportedScaling);
  for (const Type b : {Type::bf16, Type::s8, Type::f32}) {
    p = fp8(8, 8, 8);
    p.in_b = b;
    EXPECT_EQ(check(p), Status::UnsupportedTypes);
  }
  p = {.m = 8, .n = 8, .k = 8};
  p.in_b = Type::e4m3;
  EXPECT_EQ(check(p), Status::UnsupportedTypes);
}

// In lines of 16 bytes; of groups by ends a box along rows begins anywhere.
TEST(Gemm_Scaling, FactorsThatTmaAddresses) {
  const auto addressed = [](const Problem& p) { return tma_addresses_factors(resolved(p)); };
  for (const Scaling scaling : {Scaling::Block128, Scaling::Vector128}) {
    Problem p = fp8(512, 1024, 2048, scaling);
    EXPECT_TRUE(addressed(p));
    EXPECT_FALSE(addressed(fp8(512, 1024, 2048 + 128, scaling)));
    p.major_scale_a = Major::MN;
    EXPECT_TRUE(addressed(p));
    p.batch = 4;
    p.grouping = Grouping::Ends;
    EXPECT_FALSE(addressed(p));
    p.major_scale_a = Major::K;
    EXPECT_TRUE(addressed(p));
  }
  EXPECT_FALSE(addressed(fp8(512, 1024, 2048, Scaling::RowColumn)));
}

TEST(Gemm_Scaling, StridesOfFactors) {
  Problem p = fp8(300, 200, 1000, Scaling::Block128);  // 8 blocks of K, 2 of columns
  p.scale_a.ld = 7;
  EXPECT_EQ(check(p), Status::LeadingDimensionTooSmall);
  p.scale_a.ld = 8;
  EXPECT_EQ(check(p), Status::Ok);
  p.major_scale_a = Major::MN;
  EXPECT_EQ(check(p), Status::LeadingDimensionTooSmall);
  p.scale_a.ld = 300;
  p.major_scale_b = Major::MN;
  p.scale_b.ld = 2;
  EXPECT_EQ(check(p), Status::Ok);
  p.scaling = Scaling::Vector128;
  EXPECT_EQ(check(p), Status::LeadingDimensionTooSmall);
  p.scale_b = {200, -2};
  EXPECT_EQ(check(p), Status::BadBatchStride);
  p.scale_b = {std::int64_t{1} << 58, packed};
  EXPECT_EQ(check(p), Status::SizeTooLarge);
  p.scaling = Scaling::None;
  EXPECT_EQ(check(p), Status::Ok);  // they are not read
}

const float factors[2] = {};

Arguments arguments_of(const Problem& p) {
  static const Kernel kernel = {};
  Plan plan;
  plan.problem = resolved(p);
  plan.aligned.kernel = &kernel;
  plan.aligned.schedule = {1, 1, 1, 1};
  return work_of(plan, Path::Aligned, {.scale_a = &factors[0], .scale_b = &factors[1]}, {})
      .arguments;
}

TEST(Gemm_Scaling, FactorsOfTensorsRowsAndColumnsMeetTheSum) {
  Problem p = fp8(300, 200, 1000, Scaling::Tensor);
  Arguments out = arguments_of(p);
  EXPECT_TRUE(out.epilogue.scales);
  EXPECT_TRUE(out.epilogue.finishes);
  EXPECT_EQ(out.epilogue.factors_a.data, &factors[0]);
  EXPECT_EQ(out.epilogue.factors_b.data, &factors[1]);
  EXPECT_EQ(out.epilogue.factors_a.mn_step, 0);
  EXPECT_EQ(out.block_factors_a.data, nullptr);
  p.scaling = Scaling::RowColumn;
  p.scale_b.ld = 3;  // K-major: from one column's to the next
  p.major_scale_a = Major::MN;
  out = arguments_of(p);
  EXPECT_EQ(out.epilogue.factors_a.mn_step, 1);
  EXPECT_EQ(out.epilogue.factors_b.mn_step, 3);
}

TEST(Gemm_Scaling, FactorsOfBlocksMeetTheChains) {
  Problem p = fp8(300, 200, 1000, Scaling::Block128);
  p.batch = 2;
  p.major_scale_b = Major::MN;
  Arguments out = arguments_of(p);
  EXPECT_FALSE(out.epilogue.scales);
  EXPECT_FALSE(out.epilogue.finishes);
  EXPECT_EQ(out.block_factors_a.mn_step, 8);
  EXPECT_EQ(out.block_factors_a.k_step, 1);
  EXPECT_EQ(out.block_factors_a.batch_step, 2400);
  EXPECT_EQ(out.block_factors_a.per, 1);
  EXPECT_EQ(out.block_factors_b.mn_step, 1);
  EXPECT_EQ(out.block_factors_b.k_step, 2);
  EXPECT_EQ(out.block_factors_b.batch_step, 16);
  EXPECT_EQ(out.block_factors_b.per, 128);
  p.scaling = Scaling::Vector128;
  EXPECT_EQ(arguments_of(p).block_factors_b.per, 1);
  p.k = 0;  // no block has any
  EXPECT_EQ(arguments_of(p).block_factors_a.data, nullptr);
}

Problem groups(Grouping by, std::int64_t count, std::int64_t m) {
  Problem p{.m = m, .n = 64, .k = 64, .batch = count};
  p.grouping = by;
  return p;
}

// Only Counts has a D for each group.
TEST(Gemm_Scaling, MatricesOfGroups) {
  for (const Grouping by : {Grouping::Ends, Grouping::RowIds}) {
    const Problem r = resolved(groups(by, 8, 100));
    EXPECT_EQ(r.a.batch, 0);
    EXPECT_EQ(r.d.batch, 0);
    EXPECT_EQ(r.b.batch, 64 * 64);
    EXPECT_EQ(check(r), Status::Ok);
  }
  Problem p = groups(Grouping::Counts, 8, 100);
  EXPECT_EQ(resolved(p).d.batch, 6400);
  p.d.batch = 0;
  EXPECT_EQ(check(p), Status::BadBatchStride);
  p.d.batch = 100;
  EXPECT_EQ(check(p), Status::BadBatchStride);  // they overlap
}

TEST(Gemm_Scaling, RowsOfAllGroupsAreCounted) {
  EXPECT_EQ(check(groups(Grouping::Counts, 1 << 15, 1 << 15)), Status::Ok);
  EXPECT_EQ(check(groups(Grouping::Counts, 1 << 16, 1 << 15)), Status::SizeTooLarge);
  EXPECT_EQ(check(groups(Grouping::Ends, 2147418112, 65535)), Status::Ok);
  EXPECT_EQ(check(groups(Grouping::Ends, 2147418112, 65536)), Status::SizeTooLarge);
  EXPECT_EQ(check(groups(Grouping::Counts, 0, 1 << 15)), Status::Ok);
  // And those that fill up atoms, where there are any.
  for (const auto& [rows, wanted] :
       {std::pair{1 << 20, Status::Ok}, {1 << 25, Status::SizeTooLarge}}) {
    Problem p = groups(Grouping::Ends, 1 << 24, rows);
    EXPECT_EQ(check(p), Status::Ok);
    p.quantized = Type::e4m3;
    p.block_scaling_d = BlockScaling::Ue8m0Block32;
    EXPECT_EQ(check(p), wanted);
  }
}

TEST(Gemm_Scaling, SizesReachTheKernel) {
  static const Kernel kernel = {};
  const std::int32_t sizes[8] = {};
  Plan plan;
  plan.problem = resolved(groups(Grouping::Counts, 8, 100));
  plan.aligned.kernel = &kernel;
  plan.aligned.schedule = {6, 5, 1, 1};
  const Groups told = work_of(plan, Path::Aligned, {.sizes = sizes}, {}).arguments.groups;
  EXPECT_EQ(told.by, Grouping::Counts);
  EXPECT_EQ(told.count, 8);
  EXPECT_EQ(told.tiles_across, 5);
  EXPECT_EQ(told.sizes, sizes);
}

}  // namespace
}  // namespace tcq::gemm
