// D quantized by the GEMM on tcgen05, as nvcc compiles it for sm_100a: every bit of FP8 and of its factors, of sums out of Tensor
// Memory and of promoted ones, no finding, and a finding for each statement of the epilogue that synchronises once it is
// deleted. Skipped without nvcc.
#include <array>

#include "tests/run/tensor_gemm_run.h"
#include "tests/run/tensor_rows.h"

namespace tcq::tests {
namespace {

using gemm::Scaling;

using TensorQuantized = TensorKernels;

#define TCQ_TENSOR_QUANTIZING(N, STAGES, CTAS, PROMOTION)                         \
  TCQ_TENSOR(Type::e4m3, N, STAGES, Type::e4m3, tcgen05::ScaleVec::Default, CTAS, \
             gemm::Promotion::PROMOTION, false, 1, true)

const TestKernel wide = TCQ_TENSOR_QUANTIZING(256, 3, 1, None);
const TestKernel narrow = TCQ_TENSOR_QUANTIZING(128, 3, 1, ColumnBlocks);
const TestKernel pair = TCQ_TENSOR_QUANTIZING(256, 3, 2, ColumnBlocks);

// Whole tiles and cut ones, several to a CTA; D by TMA and by threads. Seeds draw D's type and how its factors lie.
constexpr auto launches = std::array<Drawn, 6>{{
    {128, 256, 160, 1, Type::bf16},
    {256, 512, 128, 1, Type::bf16},
    {200, 391, 144, 1, Type::f16, 0.5f, true, Activation::GeluErf, 1, {Scaling::RowColumn}},
    {130, 264, 96, 2, Type::f32, 0, true, Activation::None, 0, {Scaling::Tensor}, 900},
    {256, 512, 128, 1, Type::bf16, 0, false, Activation::None, 1},
    {140, 530, 64, 1, Type::bf16, 0, true, Activation::Silu},
}};

constexpr auto gated = std::array<Drawn, 4>{{
    {128, 256, 160, 1, Type::bf16, 0, true, Activation::Swiglu},
    {256, 512, 128, 1, Type::bf16, 0, false, Activation::Swiglu},
    {200, 392, 144, 2, Type::f16, 0, true, Activation::Swiglu, 3, {Scaling::RowColumn}},
    {150, 600, 96, 1, Type::f32, 0, false, Activation::Swiglu, 1, {}, 900},
}};

TEST_F(TensorQuantized, EveryBitAndNoFinding) {
  std::uint64_t seed = 3;
  for (const Drawn& s : launches) expect_bits(wide, seeded(s, seed++));
  for (const Drawn& s : gated) expect_bits(wide, seeded(s, seed++), 2);
}

TEST_F(TensorQuantized, OfPromotedSums) {
  std::uint64_t seed = 23;
  for (Drawn s : launches) {
    if (s.scales.scaling == Scaling::None) s.scales = {Scaling::Block128};
    expect_bits(narrow, seeded(s, seed++));
  }
  for (Drawn s : gated) {
    if (s.scales.scaling == Scaling::None) s.scales = {Scaling::Block128, Major::MN, Major::MN, 1};
    expect_bits(pair, seeded(s, seed++));
  }
}

TEST_F(TensorQuantized, TwoColumnsOfEachFactor) {
  const TestKernel each = TCQ_TENSOR_QUANTIZING(256, 3, 1, EachColumn);
  std::uint64_t seed = 33;
  for (Drawn s : gated) {
    if (s.scales.scaling == Scaling::None) s.scales = {Scaling::Vector128, Major::MN, Major::K, 1};
    expect_bits(each, turned(seeded(s, seed++), Major::K, Major::MN));
  }
}

// One kernel for all pairs: the instruction descriptor says which.
TEST_F(TensorQuantized, EveryPairOfFp8Types) {
  std::uint64_t seed = 43;
  for (const Type in : {Type::e4m3, Type::e5m2})
    for (const Type in_b : {Type::e4m3, Type::e5m2})
      for (const TestKernel& kernel : {wide, pair}) {
        Drawn s = seeded(gated[2], seed++);
        s.in = in;
        s.in_b = in_b;
        expect_bits(kernel, s);
      }
}

TEST_F(TensorQuantized, ValuesThatAreNoNumbers) {
  for (const auto values : {Values::Specials, Values::Wide})
    for (const float alpha : {1e30f, 1e-38f}) {
      Drawn s = {128, 256, 96, 1, Type::bf16, 0, false, Activation::Swiglu, 0, {}, alpha};
      s.values = values;
      expect_bits(wide, s);
    }
}

TEST(TensorQuantizedPlan, WhatHasAKernel) {
  for (int scaling = 0; scaling < gemm::scaling_count; ++scaling)
    for (const auto activation : {Activation::None, Activation::Swiglu})
      for (const auto grouping :
           {gemm::Grouping::None, gemm::Grouping::Ends, gemm::Grouping::RowIds}) {
        gemm::Problem p{.m = 300, .n = 4096, .k = 1024, .batch = 4, .in = Type::e4m3};
        p.scaling = static_cast<Scaling>(scaling);
        p.activation = activation;
        p.grouping = grouping;
        p.quantized = Type::e4m3;
        gemm::Plan plan;
        ASSERT_EQ(tensor_plan(p, plan), gemm::Status::Ok);
        EXPECT_GE(plan.aligned.kernel->quantized_columns, is_gated(activation) ? 256 : 128);
      }
}

TEST_F(TensorQuantized, EachDeletedSynchronisationOfTheEpilogueIsFound) {
  expect_deletions_found(
      wide,
      std::array{launches[1], launches[4], launches[2], gated[1], gated[3], seeded(gated[2], 5)},
      stores_d, 12);
}

}  // namespace
}  // namespace tcq::tests
