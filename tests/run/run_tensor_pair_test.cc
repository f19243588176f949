// The GEMM on tcgen05 by pairs of CTAs, as nvcc compiles it for sm_100a: its bits, no finding, and a finding for statements
// that synchronise once they are deleted. No chip has confirmed any of it. Skipped without nvcc.
#include <array>

#include "tests/run/tensor_gemm_run.h"

namespace tcq::tests {
namespace {

using TensorPair = TensorKernels;

#define TCQ_PAIR(IN, N, STAGES) \
  TCQ_TENSOR(Type::IN, N, STAGES, Type::IN, tcgen05::ScaleVec::Default, 2)

const TestKernel narrow = TCQ_PAIR(bf16, 64, 3);

// Several tiles to a pair, K to more than all stages; the last has no row for the second CTA.
constexpr std::array launches = {
    Drawn{256, 128, 328}, Drawn{300, 136, 80, 2, Type::bf16, 0.5f, true, Activation::Relu},
    Drawn{100, 256, 64, 1, Type::bf16, 0, true, Activation::Swiglu, 1}};

TEST_F(TensorPair, EveryBitAndNoFinding) {
  for (const Drawn& s : launches) expect_bits(narrow, s);
}

TEST_F(TensorPair, TheWideTiles) {
  expect_bits(TCQ_PAIR(bf16, 256, 6), {300, 520, 200, 1, Type::bf16, 0.5f, true});
  expect_bits(TCQ_PAIR(bf16, 224, 6), {300, 460, 200, 1, Type::bf16, 0.5f, true});
  expect_bits(TCQ_PAIR(e4m3, 224, 6), {300, 460, 200, 1, Type::f16, 0, true, Activation::Swiglu});
  expect_bits(TCQ_PAIR(bf16, 128, 8), turned({260, 200, 136, 1, Type::f32}, Major::K, Major::MN));
  expect_bits(TCQ_PAIR(e4m3, 256, 6), {256, 300, 400, 1, Type::bf16, 0, true, Activation::Gelu});
}

TEST_F(TensorPair, EveryOtherKindWithoutScaleFactors) {
  expect_bits(TCQ_PAIR(bf16, 256, 6), of_f16({300, 264, 200, 1, Type::f16, 0.5f, true}));
  expect_bits(TCQ_PAIR(tf32, 256, 6), {200, 300, 100, 1, Type::f32, 0, true, Activation::Relu});
  expect_bits(TCQ_PAIR(s8, 256, 6), {300, 264, 333, 1, Type::s32});
  expect_bits(TCQ_PAIR(s8, 128, 6), {270, 136, 400, 2, Type::bf16, 0.5f, true});
}

TEST_F(TensorPair, MnMajorOperands) {
  expect_bits(TCQ_PAIR(bf16, 256, 6),
              turned({300, 520, 200, 1, Type::bf16, 0.5f, true}, Major::MN, Major::K));
  expect_bits(TCQ_PAIR(bf16, 128, 6),
              turned(of_f16({270, 136, 200, 2, Type::f16, 0, true}), Major::MN, Major::MN));
  expect_bits(TCQ_PAIR(e4m3, 256, 6),
              turned({300, 264, 300, 1, Type::bf16, 0, true}, Major::MN, Major::MN));
  for (const Major b : {Major::K, Major::MN})
    expect_bits(TCQ_PAIR(tf32, 256, 6), turned({300, 264, 100, 2}, Major::MN, b));
  // Half of 224 columns are no whole boxes: A alone.
  expect_bits(TCQ_PAIR(bf16, 224, 6),
              turned({300, 460, 200, 1, Type::bf16, 0.5f, true}, Major::MN, Major::K));
}

TEST_F(TensorPair, SeveralPairs) { expect_bits(narrow, {700, 128, 200, 1, Type::bf16}, 3); }

TEST_F(TensorPair, TensorMemoryThatIsNotGivenBackIsFound) {
  expect_leak_found(narrow, launches[0]);
}

TEST_F(TensorPair, EachDeletedSynchronisationIsFound) {
  expect_deletions_found(narrow, launches, synchronises_products, 19);
}

}  // namespace
}  // namespace tcq::tests
