// Grouped kernels of our GEMM, as nvcc compiles them: groups of every size, by ends, counts and rows' numbers, sizes that
// are wrong among them; every bit of D and of what lies around it, and no finding. Skipped without nvcc.
#include "tests/run/grouped_gemm_run.h"

namespace tcq::tests {
namespace {

using gemm::Scaling;

void expect_right(const TestKernel& kernel, const Groups& c, int clusters, int explore = 0) {
  const bool alone = gemm::cluster_size(kernel.row) == 1;
  GemmKernelRun run =
      run_of(alone ? kernel.ptx() : with_releases(kernel.ptx()), kernel, c, clusters);
  const Fault fault = run.go(static_cast<std::uint64_t>(explore));
  ASSERT_EQ(fault, Fault::None) << info(fault).name << ": " << run.run().place();
  EXPECT_EQ(run.differing(), 0u) << name(kernel.row) << ": " << c.m << ", " << c.sizes.size()
                                 << " sizes";
}

class GroupedPtx : public CompiledKernels {};

TEST_F(GroupedPtx, PingPong) {
  const TestKernel kernel =
      TCQ_LARGE(Type::bf16, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 1, 4,
                gemm::Promotion::None, Type::bf16, true);
  expect_right(kernel, ends, 1, 1);
  expect_right(kernel, ends, 3);
  expect_right(kernel, counts, 2);
  expect_right(kernel, numbered(700), 2);
  Groups finished = ends;
  finished.activation = Activation::Swiglu;
  expect_right(kernel, finished, 2);
  finished.activation = Activation::None;
  finished.beta = 2;
  expect_right(kernel, finished, 2);
}

TEST_F(GroupedPtx, WideTilesOfPairs) {
  const TestKernel wide = TCQ_LARGE(Type::bf16, Major::K, Major::K, 128, 192, gemm::Turns::PingPong,
                                    1, 2, 4, gemm::Promotion::None, Type::bf16, true);
  expect_right(wide, ends, 1);
  expect_right(wide, counts, 2);
  expect_right(wide, numbered(700), 2);
  const TestKernel narrower =
      TCQ_LARGE(Type::f16, Major::K, Major::K, 128, 160, gemm::Turns::PingPong, 1, 2, 5,
                gemm::Promotion::None, Type::f16, true);
  Groups with_c = ends;
  with_c.out = Type::f16;
  with_c.beta = 2;
  expect_right(narrower, with_c, 2);
}

TEST_F(GroupedPtx, RowMajorB) {
  const TestKernel wide =
      TCQ_LARGE(Type::bf16, Major::K, Major::MN, 128, 192, gemm::Turns::PingPong, 1, 2, 4,
                gemm::Promotion::None, Type::bf16, true);
  const TestKernel few = TCQ_SKINNY(1, 1, Type::f16, gemm::Skinny::Rows, 2, 32, 1, 4, Major::MN,
                                    gemm::Promotion::None, Type::f16, true);
  expect_right(wide, ends, 1);
  expect_right(wide, counts, 2);
  expect_right(wide, numbered(700), 2);
  const auto of_f16 = [](Groups g) {
    g.out = Type::f16;
    return g;
  };
  expect_right(few, of_f16(ends), 0);
  expect_right(few, of_f16(counts), 0);
  expect_right(few, of_f16(numbered(300)), 0);
}

TEST_F(GroupedPtx, PairsOfCtasWithPromotion) {
  const TestKernel kernel =
      TCQ_LARGE(Type::e4m3, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 2, 4,
                gemm::Promotion::ColumnBlocks, Type::e4m3, true);
  expect_right(kernel, with(ends, Scaling::Block128), 1);
  expect_right(kernel, with(counts, Scaling::Block128, Type::f32), 2);
  expect_right(kernel, with(numbered(520), Scaling::Block128), 1);
  const TestKernel tall = TCQ_LARGE(Type::e4m3, Major::K, Major::K, 256, 128, gemm::Turns::Together,
                                    1, 1, 4, gemm::Promotion::ColumnBlocks, Type::e4m3, true);
  expect_right(tall, with(ends, Scaling::Block128), 2);
}

// Of groups that begin at any row of A a box of factors along K does, too.
TEST_F(GroupedPtx, FactorsThatTmaBrings) {
  const auto addressed = [](Groups g, int k, int pad, Major rows = Major::MN) {
    g = with(g, Scaling::Block128, rows == Major::MN ? Type::bf16 : Type::f32);
    g.k = k;
    g.scales = {Scaling::Block128, rows, rows == Major::MN ? Major::K : Major::MN, pad};
    return g;
  };
  const TestKernel tall =
      TCQ_STAGED(Type::e4m3, Major::K, Major::K, 256, 128, gemm::Turns::Together, 1, 1, 3,
                 gemm::Promotion::ColumnBlocks, Type::e4m3, true);
  expect_right(tall, addressed(ends, 200, 2, Major::K), 2);
  expect_right(tall, addressed(counts, 700, 2), 1);
  const TestKernel three =
      TCQ_STAGED(Type::e4m3, Major::K, Major::K, 192, 128, gemm::Turns::Together, 1, 1, 4,
                 gemm::Promotion::ColumnBlocks, Type::e4m3, true);
  expect_right(three, addressed(ends, 200, 2, Major::K), 2);
  expect_right(three, addressed(counts, 1200, 2), 1);
  const TestKernel square =
      TCQ_STAGED(Type::e4m3, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 1, 5,
                 gemm::Promotion::ColumnBlocks, Type::e4m3, true);
  expect_right(square, addressed(numbered(520), 500, 0), 2);
  const TestKernel wide =
      TCQ_STAGED(Type::e4m3, Major::K, Major::K, 128, 192, gemm::Turns::Together, 1, 1, 4,
                 gemm::Promotion::ColumnBlocks, Type::e4m3, true);
  expect_right(wide, addressed(ends, 200, 2, Major::K), 2);
  expect_right(wide, addressed(counts, 700, 2), 1);
  expect_right(wide, addressed(numbered(520), 500, 0), 2);
}

TEST_F(GroupedPtx, FactorsOfEachColumnThatTmaBrings) {
  const auto vectors = [](Groups g, int k, int pad, Major rows) {
    g = with(g, Scaling::Vector128, rows == Major::MN ? Type::bf16 : Type::f32);
    g.k = k;
    g.scales = {Scaling::Vector128, rows, Major::K, pad};
    return g;
  };
  const TestKernel three =
      TCQ_STAGED(Type::e4m3, Major::K, Major::K, 192, 128, gemm::Turns::Together, 1, 1, 3,
                 gemm::Promotion::EachColumn, Type::e4m3, true);
  const TestKernel wide =
      TCQ_STAGED(Type::e4m3, Major::K, Major::K, 128, 192, gemm::Turns::Together, 1, 1, 4,
                 gemm::Promotion::EachColumn, Type::e4m3, true);
  const TestKernel square =
      TCQ_STAGED(Type::e4m3, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 1, 5,
                 gemm::Promotion::EachColumn, Type::e4m3, true);
  for (const TestKernel& kernel : {three, wide, square}) {
    expect_right(kernel, vectors(ends, 200, 2, Major::K), 2);
    expect_right(kernel, vectors(counts, 1200, 2, Major::MN), 1);
  }
  for (const TestKernel& kernel : {wide, square})
    expect_right(kernel, vectors(numbered(520), 500, 0, Major::MN), 2);
}

TEST_F(GroupedPtx, EveryPairOfFp8Types) {
  const TestKernel chain =
      TCQ_LARGE(Type::e5m2, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 2, 4,
                gemm::Promotion::None, Type::e4m3, true);
  expect_right(chain, with(ends, Scaling::RowColumn), 2);
  expect_right(chain, numbered(520), 1);
  const TestKernel promoting =
      TCQ_LARGE(Type::e4m3, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 2, 4,
                gemm::Promotion::EachColumn, Type::e5m2, true);
  expect_right(promoting, with(counts, Scaling::Vector128, Type::f32), 2);
  const TestKernel copying =
      TCQ_COPYING(Type::e5m2, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 1, 4,
                  gemm::Promotion::EachColumn, Type::e5m2, true);
  expect_right(copying, with(ends, Scaling::Block128), 2);
}

TEST_F(GroupedPtx, FewRows) {
  const TestKernel kernel = TCQ_SKINNY(1, 1, Type::e4m3, gemm::Skinny::Rows, 2, 32, 1, 4, Major::K,
                                       gemm::Promotion::EachColumn, Type::e4m3, true);
  expect_right(kernel, with(ends, Scaling::Block128), 0);
  expect_right(kernel, with(counts, Scaling::Vector128, Type::f32), 0);
  expect_right(kernel, with(numbered(300), Scaling::Block128), 0);
  const TestKernel chain = TCQ_SKINNY(1, 1, Type::bf16, gemm::Skinny::Rows, 1, 16, 1, 4, Major::K,
                                      gemm::Promotion::None, Type::bf16, true);
  expect_right(chain, ends, 0);
  const TestKernel scaled = TCQ_SKINNY(1, 1, Type::e4m3, gemm::Skinny::Rows, 1, 16, 1, 4, Major::K,
                                       gemm::Promotion::None, Type::e4m3, true);
  expect_right(scaled, with(ends, Scaling::RowColumn, Type::f16), 0);
}

TEST_F(GroupedPtx, OperandsLoadedByThreads) {
  const TestKernel kernel =
      TCQ_COPYING(Type::e4m3, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 1, 4,
                  gemm::Promotion::EachColumn, Type::e4m3, true);
  expect_right(kernel, with(ends, Scaling::Vector128), 2);
  expect_right(kernel, with(counts, Scaling::Block128), 2);
  expect_right(kernel, odd(with(ends, Scaling::Vector128), 3), 2);
  expect_right(kernel, odd(with(counts, Scaling::Block128), 21), 2);
}

// Neither grouped by rows nor quantizing.
#define TCQ_LARGE_ALONG_K(...) TCQ_LARGE(__VA_ARGS__, false, false, true)
#define TCQ_COPYING_ALONG_K(...) TCQ_COPYING(__VA_ARGS__, false, false, true)

// Gradients of weights: every major of 16 bits.
TEST_F(GroupedPtx, AlongK) {
  const TestKernel kernels[] = {
      TCQ_LARGE_ALONG_K(Type::bf16, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 1, 4,
                        gemm::Promotion::None, Type::bf16),
      TCQ_LARGE_ALONG_K(Type::bf16, Major::MN, Major::K, 128, 128, gemm::Turns::PingPong, 1, 1, 4,
                        gemm::Promotion::None, Type::bf16),
      TCQ_LARGE_ALONG_K(Type::bf16, Major::MN, Major::MN, 128, 128, gemm::Turns::PingPong, 1, 2, 6,
                        gemm::Promotion::None, Type::bf16),
      TCQ_LARGE_ALONG_K(Type::bf16, Major::MN, Major::MN, 128, 192, gemm::Turns::PingPong, 1, 2, 4,
                        gemm::Promotion::None, Type::bf16)};
  for (const TestKernel& kernel : kernels) {
    expect_right(kernel, along_k, 1, 1);
    expect_right(kernel, along_k, 3);
    Groups finished = along_k;
    finished.beta = 2;
    finished.out = Type::f32;
    finished.values = Values::Specials;
    expect_right(kernel, finished, 2);
  }
}

// Two consumers of 128 rows each, and more groups than the order in shared memory has room for.
TEST_F(GroupedPtx, AlongKOf256Rows) {
  const TestKernel kernels[] = {
      TCQ_LARGE_ALONG_K(Type::bf16, Major::K, Major::K, 256, 128, gemm::Turns::Together, 1, 2, 4,
                        gemm::Promotion::None, Type::bf16),
      TCQ_LARGE_ALONG_K(Type::bf16, Major::MN, Major::MN, 256, 128, gemm::Turns::Together, 1, 2, 4,
                        gemm::Promotion::None, Type::bf16),
      TCQ_LARGE_ALONG_K(Type::e4m3, Major::K, Major::K, 256, 128, gemm::Turns::Together, 1, 2, 4,
                        gemm::Promotion::None, Type::e4m3)};
  for (const TestKernel& kernel : kernels) expect_right(kernel, along_k, 2);
  expect_right(kernels[0], along_k, 1, 1);
}

TEST_F(GroupedPtx, ManyGroupsAlongK) {
  const TestKernel kernel =
      TCQ_LARGE_ALONG_K(Type::bf16, Major::MN, Major::MN, 128, 128, gemm::Turns::PingPong, 1, 2, 6,
                        gemm::Promotion::None, Type::bf16);
  for (const int count : {gemm::k_groups_in_order, gemm::k_groups_in_order + 1}) {
    Groups many = {.by = gemm::Grouping::KEnds, .m = 8, .n = 136, .k = 512};
    for (int i = 0; i < count; ++i) many.sizes.push_back(i < 9 ? 0 : i / 3 * 11);
    expect_right(kernel, many, 3);
  }
}

TEST_F(GroupedPtx, AlongKOfFp8) {
  const TestKernel chain =
      TCQ_LARGE_ALONG_K(Type::e5m2, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 2, 6,
                        gemm::Promotion::None, Type::e4m3);
  expect_right(chain, along_k, 1, 1);
  expect_right(chain, with(along_k, Scaling::RowColumn, Type::f32), 2);
  const TestKernel promoting =
      TCQ_LARGE_ALONG_K(Type::e4m3, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 2, 5,
                        gemm::Promotion::EachColumn, Type::e4m3);
  expect_right(promoting, along_k, 1, 1);
  expect_right(promoting, with(along_k, Scaling::RowColumn), 2);
  Groups blocks = with(along_k, Scaling::Vector128, Type::f32);
  blocks.sizes = {128, 128, 384, 512, 640, 656};
  blocks.beta = 1;
  expect_right(promoting, blocks, 1);
  expect_right(promoting, with(along_k, Scaling::Vector128), 2);  // ends within a factor's block
  const TestKernel tall =
      TCQ_LARGE_ALONG_K(Type::e4m3, Major::K, Major::K, 256, 128, gemm::Turns::Together, 1, 2, 3,
                        gemm::Promotion::EachColumn, Type::e4m3);
  expect_right(tall, with(along_k, Scaling::Vector128), 1);
}

TEST_F(GroupedPtx, AlongKLoadedByThreads) {
  const TestKernel kernel =
      TCQ_COPYING_ALONG_K(Type::bf16, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 1, 4,
                          gemm::Promotion::None, Type::bf16);
  expect_right(kernel, along_k, 2);
  expect_right(kernel, odd(along_k, 1), 2);
  expect_right(kernel, odd(turned(along_k, Major::K, Major::MN), 11), 2);
  const TestKernel promoting =
      TCQ_COPYING_ALONG_K(Type::e4m3, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 1, 4,
                          gemm::Promotion::EachColumn, Type::e5m2);
  expect_right(promoting, with(along_k, Scaling::RowColumn), 2);
  expect_right(promoting, odd(with(along_k, Scaling::RowColumn), 5), 2);
}

TEST_F(GroupedPtx, AlongKWrongEnds) {
  const TestKernel kernel =
      TCQ_LARGE_ALONG_K(Type::bf16, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 1, 4,
                        gemm::Promotion::None, Type::bf16);
  Groups wrong = along_k;
  wrong.sizes = {-7, 300, 100, 1 << 30, 50};
  expect_right(kernel, wrong, 2);
}

TEST_F(GroupedPtx, ManyGroups) {
  const TestKernel kernel =
      TCQ_LARGE(Type::bf16, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 1, 4,
                gemm::Promotion::None, Type::bf16, true);
  expect_right(kernel, many_groups(), 2);
  const TestKernel rows = TCQ_SKINNY(1, 1, Type::bf16, gemm::Skinny::Rows, 1, 16, 1, 4, Major::K,
                                     gemm::Promotion::None, Type::bf16, true);
  expect_right(rows, many_groups(), 0);
}

// A group of more rows of tiles than a band has, which the last band's number does not divide; and rows with numbers.
TEST_F(GroupedPtx, ManyBands) {
  const TestKernel kernel =
      TCQ_LARGE(Type::bf16, Major::K, Major::K, 128, 64, gemm::Turns::Together, 1, 1, 4,
                gemm::Promotion::None, Type::bf16, true);
  Groups bands = {.sizes = {1100, 1300}, .m = 1300, .n = 130, .k = 64};
  expect_right(kernel, bands, 3);
  Groups rows = numbered(1300);
  rows.n = 130;
  rows.k = 64;
  expect_right(kernel, rows, 2);
}

TEST_F(GroupedPtx, WrongSizesStayInside) {
  const TestKernel kernel =
      TCQ_LARGE(Type::bf16, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 1, 4,
                gemm::Promotion::None, Type::bf16, true);
  for (const Groups& c : wrong_sizes()) expect_right(kernel, c, 1);
}

}  // namespace
}  // namespace tcq::tests
