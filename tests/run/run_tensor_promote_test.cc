// FP8's promotion out of Tensor Memory, as nvcc compiles it for sm_100a: sums of 128 of K times f32 factors added in f32, to
// the bit, no finding, and a finding for each statement that synchronises once it is deleted. A sum's bits are those that
// sim/num/tcgen05_dot.h has, which no chip has confirmed. TCQ_PROBLEMS=1 also deletes what the epilogue synchronises, and
// from pairs of CTAs. Skipped without nvcc.
#include <array>
#include <cstdlib>
#include <span>
#include <utility>

#include "tests/run/tensor_gemm_run.h"

namespace tcq::tests {
namespace {

using gemm::Scaling;

using TensorPromote = TensorKernels;

#define TCQ_PROMOTING(IN, IN_B, N, STAGES, CTAS, PROMOTION)                     \
  TCQ_TENSOR(Type::IN, N, STAGES, Type::IN_B, tcgen05::ScaleVec::Default, CTAS, \
             gemm::Promotion::PROMOTION)

const TestKernel plain = TCQ_PROMOTING(e4m3, e4m3, 64, 3, 1, ColumnBlocks);
const TestKernel each = TCQ_PROMOTING(e4m3, e4m3, 64, 3, 1, EachColumn);
const TestKernel pair = TCQ_PROMOTING(e4m3, e4m3, 64, 3, 2, ColumnBlocks);

constexpr Scales blocks = {Scaling::Block128};
constexpr Scales vectors = {Scaling::Vector128};

constexpr Drawn with(Scales scales, Drawn s) {
  s.scales = scales;
  return s;
}

// K to more than all stages and accumulators, every number of instructions in its last block; several tiles to a CTA on
// each way out.
constexpr auto launches_of(Scales scales) {
  return std::array{
      with(scales, {128, 64, 128 * 9}),
      with(scales, {128, 128, 128 * 5 + 32}),
      with(scales, {130, 136, 80, 2}),
      with(scales, {256, 128, 224, 1, Type::bf16, 0, true}),
      with(scales, {256, 192, 192, 1, Type::bf16, 0.5f, true, Activation::Relu}),
      with(scales, {256, 256, 128, 1, Type::bf16}),
      with(scales, {256, 256, 128, 1, Type::bf16, 0, false, Activation::None, 1}),
      with(scales, {256, 256, 128, 1, Type::f16}),
      with(scales, {256, 256, 128, 1, Type::f16, 0, false, Activation::None, 1}),
      with(scales, {256, 256, 128, 1, Type::f32}),
      with(scales, {256, 256, 128, 1, Type::f32, 0, false, Activation::None, 1}),
      with(scales, {200, 264, 128, 1, Type::f32, 0.5f, false, Activation::GeluErf, 1}),
      with(scales, {256, 256, 128, 1, Type::bf16, 0, true, Activation::Swiglu}),
      with(scales, {256, 256, 128, 1, Type::bf16, 0, false, Activation::Swiglu, 1}),
      with(scales, {256, 256, 128, 1, Type::f16, 0, false, Activation::Swiglu}),
      with(scales, {256, 256, 128, 1, Type::f16, 0, false, Activation::Swiglu, 1}),
      with(scales, {256, 256, 128, 1, Type::f32, 0, false, Activation::Swiglu}),
      with(scales, {256, 256, 128, 1, Type::f32, 0, false, Activation::Swiglu, 1})};
}
constexpr std::array launches = launches_of(blocks);

TEST_F(TensorPromote, EveryBitAndNoFinding) {
  for (const Drawn& s : launches) expect_bits(plain, s);
}

// The same kernels with another descriptor and other boxes.
TEST_F(TensorPromote, EveryMajor) {
  const TestKernel one = TCQ_PROMOTING(e4m3, e4m3, 128, 3, 1, EachColumn);
  const TestKernel two = TCQ_PROMOTING(e4m3, e4m3, 256, 3, 2, ColumnBlocks);
  for (const auto& [a, b] : {std::pair{Major::K, Major::MN}, std::pair{Major::MN, Major::K},
                             std::pair{Major::MN, Major::MN}}) {
    expect_bits(one, turned(with(vectors, {128, 64, 128 * 9}), a, b));
    expect_bits(one, turned(with(blocks, {130, 136, 80, 2}), a, b), 2);
    expect_bits(one, turned(with(vectors, {200, 264, 300, 1, Type::bf16, 0.5f, true}), a, b));
    expect_bits(two, turned(with(blocks, {300, 264, 300, 1, Type::bf16, 0.5f, true}), a, b));
  }
}

TEST_F(TensorPromote, NoK) {
  for (const TestKernel& kernel : {plain, each, pair}) {
    expect_bits(kernel, {300, 136, 0});
    expect_bits(kernel, with(blocks, {300, 136, 0, 2, Type::bf16, 0.5f, true}), 2);
  }
}

TEST_F(TensorPromote, SeveralCtas) {
  expect_bits(plain, with(blocks, {384, 192, 400, 1, Type::bf16}), 4);
  expect_bits(pair, with(blocks, {600, 128, 400, 1, Type::bf16}), 3);
}

TEST_F(TensorPromote, FactorsOfEachColumnInAnyStrides) {
  expect_bits(each, with(vectors, {200, 136, 400}));
  expect_bits(each, with({Scaling::Vector128, Major::MN, Major::K, 5},
                         {136, 100, 272, 2, Type::f16, 0.5f, true, Activation::Silu}));
  expect_bits(each, with({Scaling::Block128, Major::MN, Major::MN, 3}, {136, 264, 272}));
}

TEST_F(TensorPromote, AnyOtherFactorsOrNone) {
  for (const Scaling scaling : {Scaling::None, Scaling::Tensor, Scaling::RowColumn})
    expect_bits(plain, with({scaling}, {136, 200, 400, 1, Type::bf16, 0, true}));
}

TEST_F(TensorPromote, EveryPairOfTypesAndWidth) {
  expect_bits(TCQ_PROMOTING(e5m2, e4m3, 128, 3, 1, ColumnBlocks),
              with(blocks, {136, 264, 400, 1, Type::bf16, 0, true, Activation::Gelu}));
  expect_bits(TCQ_PROMOTING(e4m3, e5m2, 128, 3, 1, EachColumn),
              with(vectors, {136, 264, 400, 1, Type::f32, -3}));
  expect_bits(TCQ_PROMOTING(e5m2, e5m2, 256, 3, 1, ColumnBlocks),
              with(blocks, {136, 520, 272, 1, Type::f16, 0.5f}));
}

TEST_F(TensorPromote, PairsOfCtas) {
  expect_bits(pair, launches[1]);
  expect_bits(pair, with(blocks, {300, 136, 400, 2, Type::bf16, 0.5f, true, Activation::Relu}));
  expect_bits(TCQ_PROMOTING(e4m3, e4m3, 256, 5, 2, EachColumn),
              with(vectors, {300, 520, 400, 1, Type::bf16, 0, true}));
}

TEST_F(TensorPromote, TensorMemoryThatIsNotGivenBackIsFound) {
  expect_leak_found(plain, launches[0]);
  expect_leak_found(pair, launches[0]);
}

// Of what the epilogue has as well a long run alone tries each.
TEST_F(TensorPromote, EachDeletedSynchronisationIsFound) {
  if (std::getenv("TCQ_PROBLEMS") == nullptr)
    return expect_deletions_found(plain, std::span(launches).first<3>(), synchronises_products, 13);
  expect_deletions_found(plain, launches);
  expect_deletions_found(each, launches_of(vectors));
  expect_deletions_found(pair, launches, synchronises_products, 19);
}

}  // namespace
}  // namespace tcq::tests
