// The GEMM on tcgen05 for few rows of D, which multiplies D's transpose, as nvcc compiles it for sm_100a: its bits, no
// finding, and a finding for each statement that synchronises once it is deleted. No chip has confirmed any of it.
// TCQ_PROBLEMS=1 also deletes where K is shared. Skipped without nvcc.
#include <array>
#include <cstdlib>
#include <span>
#include <utility>

#include "tests/run/grouped_gemm_run.h"
#include "tests/run/tensor_gemm_run.h"

namespace tcq::tests {
namespace {

using gemm::Scaling;

using TensorFew = TensorKernels;

#define TCQ_FEW(IN, TOKENS, STAGES, IN_TOKENS, SCALE_VEC, PROMOTION, GROUPED, SPLIT)               \
  TCQ_TENSOR(Type::IN, TOKENS, STAGES, Type::IN_TOKENS, tcgen05::ScaleVec::SCALE_VEC, 1,           \
             gemm::Promotion::PROMOTION, GROUPED, SPLIT, false, tcgen05::ScaleVec::Default, false, \
             false, true)

const TestKernel plain = TCQ_FEW(bf16, 32, 3, bf16, Default, None, false, 1);
const TestKernel shared = TCQ_FEW(bf16, 32, 3, bf16, Default, None, false, 2);
const TestKernel promoting = TCQ_FEW(e4m3, 32, 3, e4m3, Default, EachColumn, false, 1);

// K to more than all stages, several tiles to a CTA, of tokens and of weights, on each way out: TMA, threads, words; a row or
// a weight that is the last one's.
constexpr std::array launches = {
    Drawn{32, 128, 64 * 7},
    Drawn{1, 129, 64},
    Drawn{33, 256, 200, 2},
    Drawn{40, 264, 128, 1, Type::bf16},
    Drawn{40, 264, 128, 1, Type::bf16, 0, false, Activation::None, 1},
    Drawn{17, 130, 128, 1, Type::bf16, 0.5f, true, Activation::Gelu, 1},
    Drawn{64, 200, 72, 1, Type::bf16, -3, true, Activation::Relu},
    Drawn{31, 384, 128, 1, Type::f32, 0.5f, true, Activation::Silu, 1},
    Drawn{33, 256, 128, 1, Type::bf16, 0, true, Activation::Swiglu},
    Drawn{33, 250, 128, 1, Type::bf16, 0, true, Activation::Swiglu, 1},
    Drawn{33, 256, 128, 1, Type::f32, 0, true, Activation::Swiglu},
    of_f16({33, 256, 128}),
    of_f16({33, 256, 128, 1, Type::f16, 0, true, Activation::Swiglu})};

TEST_F(TensorFew, EveryBitAndNoFinding) {
  for (const Drawn& s : launches) expect_bits(plain, s);
  for (const Drawn& s : launches) expect_bits(plain, s, 3);
}

TEST_F(TensorFew, EveryWidthTypeAndMajor) {
  for (const Major weights : {Major::K, Major::MN}) {
    const auto of = [&](Drawn s) { return turned(s, Major::K, weights); };
    expect_bits(TCQ_FEW(bf16, 16, 4, bf16, Default, None, false, 1),
                of({15, 136, 200, 1, Type::bf16, 1, true, Activation::GeluErf}));
    expect_bits(TCQ_FEW(bf16, 48, 4, bf16, Default, None, false, 1),
                of(of_f16({50, 136, 200, 1, Type::f16, 1, true})));
    expect_bits(TCQ_FEW(tf32, 32, 4, tf32, Default, None, false, 1), of({30, 136, 72}));
    expect_bits(TCQ_FEW(s8, 32, 4, s8, Default, None, false, 1), of({30, 136, 272, 1, Type::s32}));
    expect_bits(
        TCQ_FEW(e5m2, 96, 4, e4m3, Default, None, false, 1),
        of({100, 136, 272, 1, Type::f16, 0.5f, true, Activation::None, 0, {Scaling::RowColumn}}));
  }
  // Tokens that fill boxes of a tile.
  expect_bits(TCQ_FEW(bf16, 64, 4, bf16, Default, None, false, 1),
              turned({60, 136, 200, 1, Type::bf16, 0, true}, Major::MN, Major::MN));
}

TEST_F(TensorFew, NoK) {
  expect_bits(plain, {33, 200, 0, 2, Type::bf16, 0.5f, true});
  expect_bits(promoting, {33, 200, 0, 1, Type::bf16, 0.5f, true});
}

// Even and uneven parts, as many as own waves and more.
TEST_F(TensorFew, SharedK) {
  for (const Drawn& s : launches)
    if (s.k > 64) expect_bits(shared, s);
  expect_bits(TCQ_FEW(e4m3, 64, 6, e4m3, Default, None, false, 4),
              {50, 264, 128 * 7 + 32, 1, Type::bf16, 0.5f, true, Activation::Gelu});
  expect_bits(TCQ_FEW(e4m3, 32, 4, e4m3, Default, EachColumn, false, 4),
              {.m = 20,
               .n = 264,
               .k = 128 * 7 - 16,
               .out = Type::f16,
               .beta = 2,
               .scales = {Scaling::Vector128, Major::MN, Major::K, 1}});
}

constexpr Drawn with(Scales scales, Drawn s) {
  s.scales = scales;
  return s;
}
constexpr std::array promoted = {
    with({Scaling::Block128}, {32, 128, 128 * 9}),
    with({Scaling::Block128}, {33, 264, 128 * 5 + 32, 1, Type::bf16}),
    with({Scaling::Block128, Major::MN, Major::MN, 3}, {30, 200, 400, 2, Type::bf16, 0.5f, true}),
    with({Scaling::Vector128}, {32, 256, 400, 1, Type::bf16, 0, true, Activation::Swiglu}),
    with({Scaling::Vector128, Major::MN, Major::K, 5}, {17, 130, 272, 1, Type::f16, 0.5f}),
    with({Scaling::RowColumn}, {40, 130, 400, 1, Type::bf16, 0, true, Activation::Silu, 1})};

TEST_F(TensorFew, Promotion) {
  for (const Drawn& s : promoted) expect_bits(promoting, s, 2);
  expect_bits(TCQ_FEW(e5m2, 64, 4, e4m3, Default, EachColumn, false, 1),
              with({Scaling::Block128}, {60, 300, 400, 1, Type::f16, 0.5f, true}));
}

// Tiles of 32 and 64 tokens begin with an atom of factors or in one.
TEST_F(TensorFew, FactorsOfBlocks) {
  const TestKernel mxfp8 = TCQ_FEW(e4m3, 32, 4, e4m3, Block32, None, false, 1);
  const TestKernel nvfp4 = TCQ_FEW(e2m1, 64, 4, e2m1, Block16, None, false, 1);
  for (const std::int64_t m : {1, 32, 70, 200}) {
    expect_bits(mxfp8, {m, 264, 400, 1, Type::bf16, 0.5f, true, Activation::Gelu});
    expect_bits(nvfp4, {m, 264, 600, 2, Type::bf16}, 2);
  }
  Drawn edges{70, 136, 400, 1, Type::f32};
  edges.edges = true;
  expect_bits(mxfp8, edges);
  expect_bits(TCQ_FEW(e2m1, 32, 4, e2m1, Block16, None, false, 2),
              {30, 264, 256 * 5 - 64, 1, Type::bf16, 0.5f, true});
}

// Groups that fill tiles and that do not, none, wrong sizes; those with factors of blocks begin with an atom, tiles of theirs within
// one.
TEST_F(TensorFew, InGroups) {
  const TestKernel grouped = TCQ_FEW(bf16, 32, 3, bf16, Default, None, true, 1);
  const TestKernel each = TCQ_FEW(e4m3, 64, 3, e4m3, Default, EachColumn, true, 1);
  const TestKernel mxfp8 = TCQ_FEW(e4m3, 32, 3, e4m3, Block32, None, true, 1);
  const TestKernel nvfp4 = TCQ_FEW(e2m1, 64, 3, e2m1, Block16, None, true, 1);
  for (const TestKernel& kernel : {grouped, each, mxfp8, nvfp4}) {
    expect_bits(kernel, ends, 2);
    expect_bits(kernel, with(counts, Scaling::None, Type::f32));
    expect_bits(kernel, many_groups(), 2);
    expect_bits(kernel, with(numbered(700), Scaling::None, Type::f32), 2);
    for (const Groups& g : wrong_sizes())
      if (g.sizes.front() != -7) expect_bits(kernel, g);  // its groups share rows: more atoms
  }
  expect_bits(each, with(ends, Scaling::Block128));
  expect_bits(each, with(counts, Scaling::Vector128, Type::f16));
  Groups gated = ends;
  gated.activation = Activation::Swiglu;
  for (const Type out : {Type::bf16, Type::f32}) {
    gated.out = out;
    expect_bits(grouped, gated);
  }
  Groups of_f16 = ends;
  of_f16.in = of_f16.in_b = of_f16.out = Type::f16;
  expect_bits(grouped, of_f16);
  Groups anywhere = ends;
  anywhere.pad = 1;
  anywhere.beta = 2;
  expect_bits(grouped, anywhere);
}

TEST_F(TensorFew, TensorMemoryThatIsNotGivenBackIsFound) {
  expect_leak_found(plain, launches[0]);
  expect_leak_found(promoting, promoted[0]);
}

TEST_F(TensorFew, EachDeletedSynchronisationIsFound) {
  expect_deletions_found(plain, launches);
  expect_deletions_found(promoting, std::span(promoted).first<3>(), synchronises_products, 13);
  if (std::getenv("TCQ_PROBLEMS") == nullptr) return;
  // Not found besides: the two of run_tensor_split_test.cc.
  constexpr std::array of_several_blocks = {launches[0], launches[2], launches[3], launches[5]};
  expect_deletions_found(shared, of_several_blocks, synchronises_products, 18, 2, 1);
}

}  // namespace
}  // namespace tcq::tests
