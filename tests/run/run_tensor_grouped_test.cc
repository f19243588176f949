// Grouped products on tcgen05, as nvcc compiles them for sm_100a: groups of every size, by ends, counts and rows' numbers,
// wrong sizes among them; every bit of D and of what lies around it, no finding, and a finding for each statement that
// synchronises once it is deleted. No chip has confirmed any of it. TCQ_PROBLEMS=1 also deletes where sums are promoted and
// from pairs of CTAs. Skipped without nvcc.
#include <array>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "tests/run/grouped_gemm_run.h"
#include "tests/run/tensor_gemm_run.h"

namespace tcq::tests {
namespace {

using gemm::Scaling;

class TensorGrouped : public TensorKernels {
 protected:
  // The fences and barriers of those who clear stages, which the epilogue's are beside: of what the launch reaches.
  static void expect_clearing_found(const TestKernel& kernel, const Groups& g) {
    const Deletions done = delete_each(
        kernel.ptx(), std::span<const Groups>(&g, 1),
        [&](const std::string& text, const Groups& x) { return run_of(text, kernel, x); },
        [](const std::string& line) {
          return line.find("bar.sync") != line.npos || line.find("fence.proxy") != line.npos;
        });
    done.print();
    EXPECT_GE(done.count, done.missed.size() + 8);
    for (const std::string& missed : done.missed)
      EXPECT_NE(missed.find("no launch reaches"), missed.npos) << missed;
  }
};

#define TCQ_TENSOR_GROUPED(IN, N, STAGES, CTAS, PROMOTION)                    \
  TCQ_TENSOR(Type::IN, N, STAGES, Type::IN, tcgen05::ScaleVec::Default, CTAS, \
             gemm::Promotion::PROMOTION, true)

const TestKernel plain = TCQ_TENSOR_GROUPED(bf16, 128, 3, 1, None);
const TestKernel pair = TCQ_TENSOR_GROUPED(bf16, 64, 3, 2, None);
const TestKernel promoting = TCQ_TENSOR_GROUPED(e4m3, 64, 3, 1, ColumnBlocks);
const TestKernel pair_promoting = TCQ_TENSOR_GROUPED(e4m3, 64, 3, 2, ColumnBlocks);

// Groups that fill their tiles, and such as do not, on each way out.
std::vector<Groups> ways_out(const Groups& g) {
  std::vector<Groups> all = {g};
  const auto add = [&](auto change) {
    all.push_back(g);
    change(all.back());
  };
  add([](Groups& x) { x.biased = false; });
  add([](Groups& x) { x.out = Type::f32; });
  add([](Groups& x) { x.activation = Activation::Swiglu; });
  add([](Groups& x) {
    x.activation = Activation::Swiglu;
    x.out = Type::f32;
  });
  add([](Groups& x) { x.beta = 2; });
  add([](Groups& x) { x.pad = 1; });
  return all;
}

TEST_F(TensorGrouped, EveryBitAndNoFinding) {
  for (const Groups& g : ways_out(ends)) expect_bits(plain, g);
  expect_bits(plain, counts, 2);
  expect_bits(plain, numbered(700), 2);
  expect_bits(plain, many_groups(), 2);
}

// What is compiled for bf16 multiplies them, told by the descriptor.
TEST_F(TensorGrouped, OfF16) {
  for (Groups g : {ends, counts}) {
    g.in = g.in_b = g.out = Type::f16;
    for (const TestKernel& kernel : {plain, pair}) expect_bits(kernel, g, 2);
  }
}

TEST_F(TensorGrouped, PairsOfCtas) {
  for (const Groups& g : ways_out(ends)) expect_bits(pair, g, 2);
  expect_bits(pair, counts, 3);
  expect_bits(pair, many_groups());
}

TEST_F(TensorGrouped, Promotion) {
  for (const TestKernel& kernel : {promoting, pair_promoting}) {
    expect_bits(kernel, with(ends, Scaling::Block128));
    expect_bits(kernel, with(counts, Scaling::Block128, Type::f32), 2);
  }
  expect_bits(promoting, with(numbered(520), Scaling::Block128, Type::f16));
  const TestKernel each = TCQ_TENSOR_GROUPED(e4m3, 128, 3, 1, EachColumn);
  expect_bits(each, with(ends, Scaling::Vector128), 2);
  expect_bits(each, with(counts, Scaling::Block128, Type::f32));
  expect_bits(TCQ_TENSOR_GROUPED(e4m3, 128, 3, 1, None), with(ends, Scaling::RowColumn, Type::f16));
}

#define TCQ_CODED_GROUPED(IN, N, STAGES, CTAS, FACTORS)                       \
  TCQ_TENSOR(Type::IN, N, STAGES, Type::IN, tcgen05::ScaleVec::FACTORS, CTAS, \
             gemm::Promotion::None, true)

const TestKernel mxfp8 = TCQ_CODED_GROUPED(e4m3, 128, 3, 1, Block32);
const TestKernel pair_nvfp4 = TCQ_CODED_GROUPED(e2m1, 256, 3, 2, Block16);

// Each group's factors of A begin with an atom, those of many groups behind 32 others, too.
TEST_F(TensorGrouped, FactorsOfBlocks) {
  const TestKernel mxfp4 = TCQ_CODED_GROUPED(e2m1, 64, 3, 1, Block32);
  for (const TestKernel& kernel : {mxfp8, mxfp4, pair_nvfp4}) {
    expect_bits(kernel, ends, 2);
    expect_bits(kernel, with(counts, Scaling::Tensor, Type::f32));
    expect_bits(kernel, many_groups(), 2);
    for (const Groups& g : wrong_sizes())
      if (g.sizes.front() != -7) expect_bits(kernel, g);  // its groups share rows: more atoms
  }
  for (const TestKernel& kernel : {mxfp8, mxfp4})
    expect_bits(kernel, with(numbered(700), Scaling::RowColumn, Type::f16), 2);
}

#define TCQ_TENSOR_ALONG_K(IN, N, CTAS, PROMOTION)                       \
  TCQ_TENSOR(Type::IN, N, 3, Type::IN, tcgen05::ScaleVec::Default, CTAS, \
             gemm::Promotion::PROMOTION, false, 1, false, tcgen05::ScaleVec::Default, false, true)

const TestKernel along_one = TCQ_TENSOR_ALONG_K(bf16, 64, 1, None);
const TestKernel along_pair = TCQ_TENSOR_ALONG_K(bf16, 64, 2, None);
const TestKernel along_promoting = TCQ_TENSOR_ALONG_K(e4m3, 64, 1, EachColumn);

// Gradients of weights: what other groups have in a stage may be anything.
TEST_F(TensorGrouped, AlongK) {
  for (const TestKernel& kernel : {along_one, along_pair}) {
    expect_bits(kernel, along_k);
    expect_bits(kernel, along_k, 3);
    Groups finished = along_k;
    finished.beta = 2;
    finished.out = Type::f32;
    finished.values = Values::Specials;
    expect_bits(kernel, finished, 2);
  }
}

TEST_F(TensorGrouped, AlongKOfEveryMajor) {
  Groups g = along_k;
  g.values = Values::Specials;
  for (const TestKernel& kernel : {along_one, TCQ_TENSOR_ALONG_K(bf16, 128, 2, None)}) {
    expect_bits(kernel, turned(g, Major::MN, Major::K), 2);
    expect_bits(kernel, turned(g, Major::K, Major::MN), 2);
    expect_bits(kernel, turned(g, Major::MN, Major::MN), 2);
  }
}

TEST_F(TensorGrouped, AlongKOfFp8) {
  for (const TestKernel& kernel :
       {TCQ_TENSOR_ALONG_K(e4m3, 128, 1, None), TCQ_TENSOR_ALONG_K(e4m3, 256, 2, None)}) {
    expect_bits(kernel, with(along_k, Scaling::RowColumn, Type::f32));
    Groups others = with(along_k, Scaling::Tensor);
    others.in = Type::e5m2;
    expect_bits(kernel, turned(others, Major::MN, Major::MN), 2);
  }
  expect_bits(along_promoting, along_k, 2);
  expect_bits(along_promoting, with(along_k, Scaling::RowColumn));
  expect_bits(along_promoting, with(along_k, Scaling::Block128), 2);
  expect_bits(TCQ_TENSOR_ALONG_K(e4m3, 128, 1, EachColumn),
              turned(with(along_k, Scaling::Vector128), Major::MN, Major::MN), 2);
  Groups blocks = with(along_k, Scaling::Vector128, Type::f32);
  expect_bits(along_promoting, blocks, 3);  // ends within a factor's block
  blocks.sizes = {128, 128, 384, 512, 640, 656};
  blocks.beta = 1;
  expect_bits(along_promoting, blocks);
}

TEST_F(TensorGrouped, AlongKWrongEnds) {
  Groups wrong = along_k;
  wrong.sizes = {-7, 300, 100, 1 << 30, 50};
  for (const TestKernel& kernel : {along_one, along_pair}) expect_bits(kernel, wrong, 2);
}

#define TCQ_GROUPED_CODING(IN, N, STAGES, CTAS, FACTORS, FACTORS_D)           \
  TCQ_TENSOR(Type::IN, N, STAGES, Type::IN, tcgen05::ScaleVec::FACTORS, CTAS, \
             gemm::Promotion::None, true, 1, true, tcgen05::ScaleVec::FACTORS_D)

Groups coded(Groups g, const TestKernel& kernel, std::uint64_t seed) {
  g.quantized = drawn_quantized(kernel.row, seed);
  g.seed = seed;
  return g;
}

// D with factors of blocks, each group's from whole atoms on, as the next product of the groups reads them.
TEST_F(TensorGrouped, DWithFactorsOfBlocks) {
  const TestKernel kernels[] = {TCQ_GROUPED_CODING(bf16, 128, 3, 1, Default, Block32),
                                TCQ_GROUPED_CODING(bf16, 256, 3, 2, Default, Block16),
                                TCQ_GROUPED_CODING(e4m3, 128, 3, 1, Block32, Block32),
                                TCQ_GROUPED_CODING(e2m1, 256, 3, 2, Block16, Block16)};
  std::uint64_t seed = 1;
  for (const TestKernel& kernel : kernels) {
    expect_bits(kernel, coded(ends, kernel, seed++), 2);
    Groups gated = coded(ends, kernel, seed++);
    gated.activation = Activation::Swiglu;
    gated.pad = 2;
    expect_bits(kernel, gated);
    expect_bits(kernel, coded(counts, kernel, seed++), 2);
    expect_bits(kernel, coded(many_groups(), kernel, seed++));
    for (const Groups& g : wrong_sizes()) expect_bits(kernel, coded(g, kernel, seed++));
    if (kernel.row.cluster_m == 1) expect_bits(kernel, coded(numbered(700), kernel, seed++), 2);
  }
}

// Ends out of order may want more atoms than there are: what lies behind them is not written.
TEST_F(TensorGrouped, FactorsOfDStayInside) {
  const TestKernel kernel = TCQ_GROUPED_CODING(bf16, 128, 3, 1, Default, Block32);
  Groups g = {.sizes = {300, 0, 300, 0, 300}, .m = 300};
  g = coded(g, kernel, 3);
  GemmKernelRun gemm = run_of(kernel.ptx(), kernel, g, 1);
  EXPECT_EQ(gemm.go(), Fault::None);
}

TEST_F(TensorGrouped, WrongSizesStayInside) {
  for (const TestKernel& kernel : {plain, pair})
    for (const Groups& g : wrong_sizes()) expect_bits(kernel, g);
}

TEST_F(TensorGrouped, TensorMemoryThatIsNotGivenBackIsFound) {
  expect_leak_found(plain, Groups{.sizes = {0, 0}, .m = 1});
  expect_leak_found(pair, ends);
}

// Groups whose first and last stage is not theirs alone, and one that has whole stages.
TEST_F(TensorGrouped, EachDeletedSynchronisationOfGroupsAlongKIsFound) {
  const std::vector groups = {Groups{
      .by = gemm::Grouping::KEnds, .sizes = {0, 10, 64, 300, 328}, .m = 140, .n = 72, .k = 328}};
  expect_deletions_found(along_one, groups, synchronises_products, 17);
  expect_clearing_found(along_one, groups[0]);
  if (std::getenv("TCQ_PROBLEMS") == nullptr) return;
  expect_deletions_found(along_pair, groups, synchronises_products, 25);
  expect_clearing_found(along_pair, groups[0]);
  expect_deletions_found(along_promoting, std::vector{with(groups[0], Scaling::Block128)},
                         synchronises_products, 20);
}

// Several tiles to a CTA, K to more than all stages. The epilogue's own: run_tensor_gemm_test.cc.
TEST_F(TensorGrouped, EachDeletedSynchronisationIsFound) {
  const std::vector groups = {Groups{.sizes = {0, 128, 130, 300}, .m = 300, .n = 264, .k = 328}};
  expect_deletions_found(plain, groups, synchronises_products, 13);
  if (std::getenv("TCQ_PROBLEMS") == nullptr) return;
  expect_deletions_found(pair, groups, synchronises_products, 19);
  expect_deletions_found(pair_promoting, std::vector{with(groups[0], Scaling::Block128)},
                         synchronises_products, 19);
  expect_deletions_found(pair_nvfp4, groups, synchronises_products, 19);
}

}  // namespace
}  // namespace tcq::tests
