// The GEMM on tcgen05 with scale factors of blocks, as nvcc compiles it for sm_100a: MXFP8, MXFP4, NVFP4. Its bits, no
// finding, and a finding for each statement that synchronises or copies factors once it is deleted. The bits are those of the
// kinds' arithmetic as sim/num/tcgen05_dot.h has it, which no chip has confirmed. Skipped without nvcc.
#include <array>
#include <span>
#include <string>
#include <vector>

#include "tests/run/tensor_gemm_run.h"

namespace tcq::tests {
namespace {

using tcgen05::ScaleVec;
using BlockScaledGemm = TensorKernels;

#define TCQ_BLOCKS(A, B, N, STAGES, FACTORS) \
  TCQ_TENSOR(Type::A, N, STAGES, Type::B, tcgen05::ScaleVec::FACTORS)
#define TCQ_BLOCKS_PAIR(A, B, N, STAGES, FACTORS) \
  TCQ_TENSOR(Type::A, N, STAGES, Type::B, tcgen05::ScaleVec::FACTORS, 2)

const TestKernel mxfp8 = TCQ_BLOCKS(e4m3, e4m3, 128, 4, Block32);
const TestKernel mxfp4 = TCQ_BLOCKS(e2m1, e2m1, 128, 4, Block32);
const TestKernel nvfp4 = TCQ_BLOCKS(e2m1, e2m1, 128, 4, Block16);
const TestKernel mxfp8_pair = TCQ_BLOCKS_PAIR(e4m3, e4m3, 64, 3, Block32);
const TestKernel nvfp4_pair = TCQ_BLOCKS_PAIR(e2m1, e2m1, 64, 3, Block16);
// One accumulator, which two warpgroups have in registers before they store.
const TestKernel nvfp4_one = TCQ_BLOCKS_PAIR(e2m1, e2m1, 256, 3, Block16);

constexpr Drawn with_edges(Drawn s) {
  s.edges = true;
  return s;
}
constexpr Drawn with_alpha(Drawn s, float alpha) {
  s.alpha = alpha;
  return s;
}

// Several tiles to a CTA, so that accumulators, stages, scale columns and buffers are used again; K ends within a factor,
// an atom of factors, an instruction, a stage.
constexpr std::array launches = {
    Drawn{128, 128, 128},
    Drawn{256, 256, 1300},
    with_edges({200, 136, 400, 2}),
    Drawn{256, 384, 352, 1, Type::bf16, 0, true},
    Drawn{256, 384, 288, 1, Type::bf16, 0.5f, true, Activation::Relu},
    with_alpha({256, 512, 256, 1, Type::bf16}, 0.375f),
    Drawn{256, 512, 256, 1, Type::bf16},
    Drawn{256, 512, 256, 1, Type::bf16, 0, false, Activation::None, 1},
    Drawn{200, 264, 64, 1, Type::f32, 0.5f, false, Activation::GeluErf, 1},
    Drawn{256, 512, 256, 1, Type::f16, 0, true, Activation::Swiglu}};

// Eight tiles on each way out of the kernel: D's type, by TMA or by threads, a column for each of the product's or for two.
std::vector<Drawn> every_way_out() {
  std::vector<Drawn> all(launches.begin(), launches.end());
  for (const Type out : {Type::bf16, Type::f16, Type::f32})
    for (const int pad : {0, 1})
      for (const auto activation : {Activation::None, Activation::Swiglu})
        all.push_back({256, 512, 64, 1, out, 0, out == Type::bf16, activation, pad});
  all.push_back({256, 512, 64, 1, Type::bf16});
  return all;
}

TEST_F(BlockScaledGemm, Mxfp8) {
  for (const Drawn& s : every_way_out()) expect_bits(mxfp8, s);
}

TEST_F(BlockScaledGemm, Mxfp4) {
  for (const Drawn& s : every_way_out()) expect_bits(mxfp4, s);
}

TEST_F(BlockScaledGemm, Nvfp4) {
  for (const Drawn& s : every_way_out()) expect_bits(nvfp4, s);
}

// 64 columns: half of an atom. 256: two atoms, one accumulator where factors leave no room for two; the second atom may
// lie beyond N.
TEST_F(BlockScaledGemm, EveryWidthAndPairOfTypes) {
  const std::array kernels = {
      TCQ_BLOCKS(e5m2, e4m3, 64, 6, Block32), TCQ_BLOCKS(e4m3, e5m2, 256, 3, Block32),
      TCQ_BLOCKS(e2m1, e2m1, 64, 4, Block16), TCQ_BLOCKS(e2m1, e2m1, 256, 3, Block32),
      TCQ_BLOCKS(e2m1, e2m1, 256, 3, Block16)};
  for (const TestKernel& kernel : kernels) {
    expect_bits(kernel, with_edges({136, 328, 700, 1, Type::bf16, 0.5f, true, Activation::Silu}));
    expect_bits(kernel, {256, 600, 160, 2});
  }
}

// Atoms of factors with no row of A or column of B, tiles with none of the second CTA's rows; K as above.
TEST_F(BlockScaledGemm, PairsOfCtas) {
  for (const TestKernel& kernel :
       {mxfp8_pair, nvfp4_pair, nvfp4_one, TCQ_BLOCKS_PAIR(e2m1, e2m1, 128, 4, Block32),
        TCQ_BLOCKS_PAIR(e5m2, e4m3, 256, 5, Block32)}) {
    expect_bits(kernel, with_edges({300, 328, 700, 1, Type::bf16, 0.5f, true, Activation::Silu}));
    expect_bits(kernel, {100, 600, 160, 2});
  }
  expect_bits(nvfp4_one, {512, 520, 1300, 1, Type::f16, 0, true, Activation::Swiglu}, 2);
}

TEST_F(BlockScaledGemm, EveryPairOfTypesInOneKernel) {
  for (const TestKernel& kernel : {mxfp8, mxfp8_pair})
    for (const Type in : {Type::e4m3, Type::e5m2})
      for (const Type in_b : {Type::e4m3, Type::e5m2}) {
        Drawn s = {200, 136, 400, 1, Type::bf16};
        s.in = in;
        s.in_b = in_b;
        expect_bits(kernel, s);
      }
}

TEST_F(BlockScaledGemm, SeveralCtas) {
  expect_bits(mxfp8, {384, 384, 400, 1, Type::bf16}, 4);
  expect_bits(nvfp4, {384, 384, 800, 1, Type::bf16}, 4);
}

TEST_F(BlockScaledGemm, TensorMemoryThatIsNotGivenBackIsFound) {
  expect_leak_found(nvfp4, launches[0]);
  expect_leak_found(nvfp4_one, launches[0]);
}

TEST_F(BlockScaledGemm, EachDeletedSynchronisationIsFound) {
  expect_deletions_found(nvfp4, every_way_out());
}

// Of pairs what they have of their own, also where two warpgroups share the one accumulator.
TEST_F(BlockScaledGemm, EachDeletedSynchronisationOfPairsIsFound) {
  constexpr std::array some = {Drawn{256, 128, 1300},
                               Drawn{300, 264, 400, 2, Type::bf16, 0.5f, true},
                               Drawn{100, 512, 300, 1, Type::bf16, 0, true, Activation::Swiglu, 1}};
  for (const TestKernel& kernel : {nvfp4_pair, nvfp4_one})
    expect_deletions_found(kernel, some, synchronises_products, 19);
}

// A stage whose scale factors are not there, or whose columns are another's.
TEST_F(BlockScaledGemm, EachDeletedCopyIsFound) {
  const auto copies = [](const std::string& line) {
    return line.find("tcgen05.cp.") != line.npos ||
           line.find("cp.async.bulk.tensor.3d.shared::cluster.global") != line.npos;
  };
  for (const TestKernel& kernel : {mxfp8, mxfp4, nvfp4, mxfp8_pair, nvfp4_one}) {
    const Deletions done = delete_each(
        kernel.ptx(), std::span(&launches[1], 1),
        [&](const std::string& text, const Drawn& d) { return run_of(text, kernel, d); }, copies);
    EXPECT_GE(done.count, 4u);
    EXPECT_TRUE(done.missed.empty());
    done.print();
  }
}

}  // namespace
}  // namespace tcq::tests
