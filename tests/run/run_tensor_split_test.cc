// The GEMM on tcgen05 where the CTAs of a cluster share a tile's K, as nvcc compiles it for sm_100a: its bits, no finding,
// and a finding for statements that synchronise once they are deleted. No chip has confirmed any of it. Skipped without
// nvcc.
#include <array>

#include "tests/run/tensor_gemm_run.h"

namespace tcq::tests {
namespace {

using TensorSplit = TensorKernels;

#define TCQ_TENSOR_SPLIT(IN, N, STAGES, SPLIT)                                                    \
  TCQ_TENSOR(Type::IN, N, STAGES, Type::IN, tcgen05::ScaleVec::Default, 1, gemm::Promotion::None, \
             false, SPLIT)

const TestKernel two = TCQ_TENSOR_SPLIT(bf16, 64, 3, 2);

// Blocks of K that the CTAs share evenly and not, more than all stages, a last one that is not full; both waves of rows,
// or one row alone.
constexpr std::array launches = {
    Drawn{128, 64, 128}, Drawn{200, 136, 328, 2},
    Drawn{256, 128, 64 * 9, 1, Type::bf16, 0.5f, true, Activation::Relu},
    Drawn{1, 64, 192, 1, Type::bf16, 0, true, Activation::Swiglu, 1}};

TEST_F(TensorSplit, EveryBitAndNoFinding) {
  for (const Drawn& s : launches) expect_bits(two, s);
}

TEST_F(TensorSplit, MoreParts) {
  const TestKernel four = TCQ_TENSOR_SPLIT(e4m3, 128, 6, 4);
  expect_bits(four, {140, 200, 128 * 7 + 32, 1, Type::bf16, 0, true, Activation::Gelu});
  expect_bits(
      four,
      {100, 128, 128 * 4, 1, Type::f16, 2, false, Activation::None, 1, {gemm::Scaling::RowColumn}});
  expect_bits(TCQ_TENSOR_SPLIT(bf16, 32, 6, 8), {128, 40, 64 * 11, 1, Type::f32});
  expect_bits(TCQ_TENSOR_SPLIT(s8, 128, 6, 3), {130, 136, 128 * 5, 1, Type::s32});
}

TEST_F(TensorSplit, FactorsOfBlocks) {
  const TestKernel nvfp4 = TCQ_TENSOR(Type::e2m1, 128, 5, Type::e2m1, tcgen05::ScaleVec::Block16, 1,
                                      gemm::Promotion::None, false, 2);
  expect_bits(nvfp4, {140, 136, 256 * 5 - 64, 1, Type::bf16, 0.5f, true});
}

// Each warpgroup promotes a wave of rows, and sends or owns it.
#define TCQ_PROMOTING_SPLIT(N, STAGES, SPLIT, PROMOTION)                       \
  TCQ_TENSOR(Type::e4m3, N, STAGES, Type::e4m3, tcgen05::ScaleVec::Default, 1, \
             gemm::Promotion::PROMOTION, false, SPLIT)

const TestKernel promoting = TCQ_PROMOTING_SPLIT(64, 4, 2, ColumnBlocks);
constexpr std::array promoted = {
    Drawn{.m = 130, .n = 136, .k = 128 * 11, .scales = {gemm::Scaling::Block128}},
    Drawn{.m = 200,
          .n = 64,
          .k = 128 * 2,
          .out = Type::bf16,
          .biased = true,
          .scales = {gemm::Scaling::Block128}}};

TEST_F(TensorSplit, Promotion) {
  for (const Drawn& s : promoted) expect_bits(promoting, s);
  expect_bits(TCQ_PROMOTING_SPLIT(128, 5, 4, EachColumn),
              {.m = 100,
               .n = 200,
               .k = 128 * 7 - 16,
               .out = Type::f16,
               .beta = 2,
               .scales = {gemm::Scaling::Vector128, Major::MN, Major::K, 1}});
}

TEST_F(TensorSplit, TensorMemoryThatIsNotGivenBackIsFound) { expect_leak_found(two, launches[0]); }

// Not found besides: the wait for loads of sums that are sent, as to the machine the use of a loaded register waits for it, and the
// multiplier's fence, as nobody else has used the Tensor Memory of a CTA that has one tile.
TEST_F(TensorSplit, EachDeletedSynchronisationIsFound) {
  expect_deletions_found(two, std::span(launches).first<3>(), synchronises_products, 20, 2, 1);
  expect_deletions_found(promoting, promoted, synchronises_products, 18);
}

}  // namespace
}  // namespace tcq::tests
