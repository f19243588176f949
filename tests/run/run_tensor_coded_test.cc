// MXFP8, MXFP4 and NVFP4 of D by the GEMM on tcgen05, as nvcc compiles it for sm_100a: every bit of the elements and of the
// atoms of their factors, those that fill up a row's last atom among them, no finding, and a finding for each statement of
// the epilogue that synchronises once it is deleted. Skipped without nvcc.
#include <array>

#include "tests/run/tensor_gemm_run.h"
#include "tests/run/tensor_rows.h"

namespace tcq::tests {
namespace {

using tcgen05::ScaleVec;

using TensorCoded = TensorKernels;

#define TCQ_TENSOR_CODING(IN, N, STAGES, CTAS, FACTORS, FACTORS_D)            \
  TCQ_TENSOR(Type::IN, N, STAGES, Type::IN, tcgen05::ScaleVec::FACTORS, CTAS, \
             gemm::Promotion::None, false, 1, true, tcgen05::ScaleVec::FACTORS_D)

const TestKernel plain_mx = TCQ_TENSOR_CODING(bf16, 128, 3, 1, Default, Block32);
const TestKernel plain_nv = TCQ_TENSOR_CODING(bf16, 256, 3, 2, Default, Block16);
const TestKernel mxfp8 = TCQ_TENSOR_CODING(e4m3, 128, 3, 1, Block32, Block32);
const TestKernel mxfp8_pair = TCQ_TENSOR_CODING(e4m3, 256, 3, 2, Block32, Block32);
const TestKernel nvfp4 = TCQ_TENSOR_CODING(e2m1, 128, 3, 1, Block16, Block16);
const TestKernel nvfp4_pair = TCQ_TENSOR_CODING(e2m1, 256, 3, 2, Block16, Block16);

// Whole tiles and cut ones, rows that end within a block, an atom, a tile; D by TMA and by threads. Seeds draw D's type, and what
// results are multiplied by.
constexpr auto launches = std::array<Drawn, 8>{{
    {128, 128, 160, 1, Type::bf16},
    {256, 512, 128, 1, Type::bf16},
    {200, 392, 144, 1, Type::f32, 0.5f, true, Activation::GeluErf, 2},
    {130, 264, 96, 2, Type::f32, 0, true, Activation::Silu, 0, {}, 900},
    {256, 512, 128, 1, Type::bf16, 0, false, Activation::None, 2},
    {300, 36, 64, 1, Type::bf16, 0, true},
    {100, 548, 64, 2, Type::bf16, -3, false, Activation::Relu},
    {129, 132, 64, 1, Type::bf16, 0, false, Activation::None, 0, {}, 1e-30f},
}};

// A tile's 128 columns make 64 of D: two blocks of 32, half an atom.
constexpr auto gated = std::array<Drawn, 4>{{
    {128, 128, 160, 1, Type::bf16, 0, true, Activation::Swiglu},
    {256, 512, 128, 1, Type::bf16, 0, false, Activation::Swiglu},
    {200, 392, 144, 2, Type::f32, 0, true, Activation::Swiglu, 2},
    {150, 196, 96, 1, Type::f32, 0, false, Activation::Swiglu, 0, {}, 900},
}};

TEST_F(TensorCoded, EveryBitAndNoFinding) {
  std::uint64_t seed = 3;
  for (const TestKernel& kernel : {plain_mx, plain_nv, mxfp8, mxfp8_pair, nvfp4, nvfp4_pair}) {
    for (const Drawn& s : launches) expect_bits(kernel, seeded(s, seed++));
    for (const Drawn& s : gated) expect_bits(kernel, seeded(s, seed++), 2);
  }
}

// Every type of D in a block of 32, by three seeds that draw them.
TEST_F(TensorCoded, EveryTypeOfD) {
  std::array<int, 3> seen = {};
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    const Type type = drawn_quantized(mxfp8.row, seed).type.value();
    int& count = seen[type == Type::e2m1 ? 0 : type == Type::e4m3 ? 1 : 2];
    if (count++ > 0) continue;
    for (const TestKernel& kernel : {plain_mx, mxfp8_pair}) {
      expect_bits(kernel, seeded({256, 256, 64, 1, Type::bf16}, seed));
      expect_bits(kernel, seeded(gated[2], seed));
    }
  }
  for (const int count : seen) EXPECT_GT(count, 0);
}

TEST_F(TensorCoded, ValuesThatAreNoNumbers) {
  for (const TestKernel& kernel : {plain_mx, plain_nv, nvfp4})
    for (const auto values : {Values::Specials, Values::Wide})
      for (const float alpha : {1e30f, 1e-38f})
        for (const auto activation : {Activation::None, Activation::Swiglu}) {
          Drawn s = {128, 256, 96, 1, Type::bf16, 0, false, activation, 0, {}, alpha};
          s.values = values;
          expect_bits(kernel, seeded(s, 5));
        }
}

// Blocks of D are those of the operands, which the next product multiplies as well.
TEST(TensorCodedPlan, WhatHasAKernel) {
  using gemm::BlockScaling;
  gemm::Problem p{.m = 300, .n = 4096, .k = 1024};
  const auto status = [&](BlockScaling in, BlockScaling out, Type of_a, Type of_d) {
    p.in = of_a;
    p.block_scaling = in;
    p.block_scaling_d = out;
    p.quantized = of_d;
    const gemm::Status said = gemm::check(p);
    gemm::Plan plan;
    if (said != gemm::Status::Ok) return said;
    const gemm::Status planned = tensor_plan(p, plan);
    if (planned == gemm::Status::Ok) {
      EXPECT_EQ(plan.aligned.kernel->quantized_vec, scale_vec_of(p.block_scaling_d));
    }
    return planned;
  };
  using enum BlockScaling;
  using enum gemm::Status;
  for (int i = 0; i < 2 * gemm::grouping_count; ++i) {
    p.grouping = static_cast<gemm::Grouping>(i / 2);
    if (p.grouping == gemm::Grouping::KEnds) continue;
    p.activation = i % 2 == 0 ? Activation::None : Activation::Swiglu;
    EXPECT_EQ(status(None, Ue8m0Block32, Type::bf16, Type::e4m3), Ok);
    EXPECT_EQ(status(None, Ue8m0Block32, Type::bf16, Type::e2m1), Ok);
    EXPECT_EQ(status(None, Ue4m3Block16, Type::bf16, Type::e2m1), Ok);
    EXPECT_EQ(status(Ue8m0Block32, Ue8m0Block32, Type::e5m2, Type::e4m3), Ok);
    EXPECT_EQ(status(Ue8m0Block32, Ue8m0Block32, Type::e2m1, Type::e2m1), Ok);
    EXPECT_EQ(status(Ue4m3Block16, Ue4m3Block16, Type::e2m1, Type::e2m1), Ok);
  }
  p.grouping = gemm::Grouping::None;
  EXPECT_EQ(status(None, Ue4m3Block16, Type::bf16, Type::e4m3), UnsupportedTypes);
  p.out = Type::f16;
  EXPECT_EQ(status(None, Ue8m0Block32, Type::f16, Type::e4m3), Ok);
  p.out = Type::f32;
  EXPECT_EQ(status(None, Ue8m0Block32, Type::tf32, Type::e4m3), UnsupportedScaling);
  p.out = Type::f16;
  EXPECT_EQ(status(Ue8m0Block32, Ue4m3Block16, Type::e4m3, Type::e2m1), UnsupportedScaling);
}

TEST_F(TensorCoded, EachDeletedSynchronisationOfTheEpilogueIsFound) {
  expect_deletions_found(
      plain_mx, std::array{launches[1], launches[4], launches[2], gated[1], gated[2], launches[5]},
      stores_d, 8);
}

}  // namespace
}  // namespace tcq::tests
