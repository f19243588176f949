// The GEMM on tcgen05, as nvcc compiles it for sm_100a: its bits, no finding, and a finding for each statement that
// synchronises once it is deleted. The bits are those of the kinds' arithmetic as sim/num/tcgen05_dot.h has it, which no
// chip has confirmed. Skipped without nvcc.
#include <array>
#include <utility>

#include "tests/run/tensor_gemm_run.h"

namespace tcq::tests {
namespace {

using TensorGemm = TensorKernels;

const TestKernel plain = TCQ_TENSOR(Type::bf16, 128, 4);

// Several tiles to a CTA, so that accumulators, stages and buffers are used again.
constexpr std::array launches = {
    Drawn{128, 128, 64},
    Drawn{256, 256, 328},
    Drawn{200, 136, 80, 2},
    Drawn{256, 512, 64, 1, Type::bf16, 0, true},
    Drawn{256, 384, 96, 1, Type::bf16, 0.5f, true, Activation::Relu},
    Drawn{256, 512, 64, 1, Type::bf16},
    Drawn{256, 512, 64, 1, Type::bf16, 0, false, Activation::None, 1},
    Drawn{256, 512, 64, 1, Type::f32, 0, false, Activation::None, 1},
    Drawn{200, 264, 64, 1, Type::f32, 0.5f, false, Activation::GeluErf, 1},
    Drawn{256, 512, 64, 1, Type::bf16, 0, true, Activation::Swiglu},
    Drawn{256, 512, 64, 1, Type::bf16, 0, false, Activation::Swiglu, 1},
    Drawn{256, 512, 64, 1, Type::f32, 0, false, Activation::Swiglu},
    Drawn{256, 512, 64, 1, Type::f32, 0, false, Activation::Swiglu, 1},
    of_f16({256, 512, 64}),
    of_f16({256, 512, 64, 1, Type::f16, 0.5f, true, Activation::None, 1}),
    of_f16({256, 512, 64, 1, Type::f16, 0, true, Activation::Swiglu}),
    of_f16({256, 512, 64, 1, Type::f16, 0, false, Activation::Swiglu, 1})};

TEST_F(TensorGemm, EveryBitAndNoFinding) {
  for (const Drawn& s : launches) expect_bits(plain, s);
}

TEST_F(TensorGemm, SeveralCtas) { expect_bits(plain, {384, 384, 200, 1, Type::bf16}, 4); }

constexpr std::array every_major = {std::pair{Major::K, Major::K}, std::pair{Major::K, Major::MN},
                                    std::pair{Major::MN, Major::K},
                                    std::pair{Major::MN, Major::MN}};

TEST_F(TensorGemm, EveryShapeAndMajor) {
  for (const TestKernel& kernel : {TCQ_TENSOR(Type::bf16, 64, 6), TCQ_TENSOR(Type::tf32, 64, 4),
                                   TCQ_TENSOR(Type::bf16, 256, 4), TCQ_TENSOR(Type::e4m3, 128, 4)})
    for (const auto& [a, b] : every_major) {
      const Drawn any = {136, 520, 200, 1, Type::f32, 0.5f, true, Activation::Silu};
      expect_bits(kernel, turned(any, a, b));
      expect_bits(kernel, turned({256, 256, 72, 2}, a, b));
      if (bits(kernel.row.in) == 16) expect_bits(kernel, turned(of_f16(any), a, b));
    }
}

// The sum is 0; what an epilogue makes of it is not. No operand has a map, nor does the kernel ask for one.
TEST_F(TensorGemm, NoK) {
  const Drawn finished = {200, 136, 0, 2, Type::f32, 0.5f, true, Activation::Silu};
  for (const TestKernel& kernel :
       {plain, TCQ_TENSOR(Type::tf32, 64, 4), TCQ_TENSOR(Type::s8, 128, 4),
        TCQ_TENSOR(Type::e4m3, 128, 4, Type::e4m3, tcgen05::ScaleVec::Block32)}) {
    expect_bits(kernel, {256, 256, 0});
    expect_bits(kernel, turned(finished, Major::K, Major::K), 2);
  }
}

// A tile's columns come out of Tensor Memory in several loads, and leave in buffers of which the last is not full.
TEST_F(TensorGemm, EveryWidth) {
  for (const TestKernel& kernel : {TCQ_TENSOR(Type::bf16, 32, 4), TCQ_TENSOR(Type::bf16, 96, 4),
                                   TCQ_TENSOR(Type::e4m3, 160, 4)}) {
    expect_bits(kernel, {136, 328, 200, 1, Type::bf16, 0.5f, true, Activation::Silu});
    expect_bits(kernel, {136, 328, 72, 2, Type::f32});
    expect_bits(kernel, {136, 328, 72, 1, Type::bf16, 0, true, Activation::Swiglu});
  }
}

Drawn of_types(Type in, Type in_b, Drawn s) {
  s.in = in;
  s.in_b = in_b;
  return s;
}

TEST_F(TensorGemm, EveryKindWithoutScaleFactors) {
  const TestKernel e4m3 = TCQ_TENSOR(Type::e4m3, 128, 4);
  const TestKernel mixed = TCQ_TENSOR(Type::e4m3, 64, 4, Type::e5m2);
  for (const TestKernel& kernel : {e4m3, mixed}) {
    expect_bits(kernel, {256, 200, 400, 1, Type::bf16, 0, true, Activation::Gelu});
    expect_bits(kernel, {200,
                         136,
                         80,
                         2,
                         Type::f32,
                         0.5f,
                         false,
                         Activation::None,
                         3,
                         {gemm::Scaling::RowColumn, Major::K, Major::MN, 2}});
    expect_bits(
        kernel,
        {136, 264, 208, 1, Type::f16, 0, false, Activation::Swiglu, 0, {gemm::Scaling::Tensor}});
  }
  expect_bits(TCQ_TENSOR(Type::e5m2, 256, 4),
              turned({136, 300, 270, 1, Type::bf16, 0.5f, true}, Major::K, Major::MN));
  for (const Type in : {Type::e4m3, Type::e5m2})
    for (const Type in_b : {Type::e4m3, Type::e5m2})
      for (const TestKernel& kernel : {e4m3, mixed})
        expect_bits(kernel, of_types(in, in_b, {130, 136, 144, 1, Type::bf16}));
  expect_bits(TCQ_TENSOR(Type::tf32, 64, 4),
              {200, 136, 100, 1, Type::f32, 0.5f, true, Activation::Silu, 1});
  const TestKernel integers = TCQ_TENSOR(Type::s8, 128, 4);
  for (const auto& [a, b] : every_major)
    expect_bits(integers, turned({200, 264, 333, 1, Type::s32}, a, b));
  expect_bits(integers, {200, 264, 333, 2, Type::f32, 0, true});
  expect_bits(integers, of_types(Type::u8, Type::u8, {200, 264, 333, 1, Type::s32}));
  expect_bits(TCQ_TENSOR(Type::u8, 64, 4),
              {130, 70, 90, 1, Type::s32, 0, false, Activation::None, 1});
}

TEST_F(TensorGemm, TensorMemoryThatIsNotGivenBackIsFound) { expect_leak_found(plain, launches[0]); }

TEST_F(TensorGemm, EachDeletedSynchronisationIsFound) { expect_deletions_found(plain, launches); }

}  // namespace
}  // namespace tcq::tests
