// Grouped kernels of our GEMM, as nvcc compiles them: groups of every size, by ends, counts and rows' numbers, sizes that
// are wrong among them; every bit of D and of what lies around it, and no finding. Skipped without nvcc.
#include <algorithm>
#include <numeric>

#include "tests/run/gemm_kernel_run.h"

namespace tcq::tests {
namespace {

using gemm::Grouping;
using gemm::Scaling;
using Sizes = std::vector<std::int32_t>;

struct Groups {
  Grouping by = Grouping::Ends;
  Sizes sizes = {};
  int count = 0;  // RowIds: of groups
  int m = 0, n = 200, k = 200;
  Type out = Type::bf16;
  Scales scales = {};
  Activation activation = Activation::None;
  float beta = 0;
};

void expect_right(const TestKernel& kernel, const Groups& c, int clusters, int explore = 0) {
  oracle::Gemm g{.m = c.m, .n = c.n, .k = c.k, .in = kernel.row.in, .out = c.out};
  g.batch = c.by == Grouping::RowIds ? c.count : static_cast<std::int64_t>(c.sizes.size());
  g.activation = c.activation;
  g.beta = c.beta;
  g.promotes = kernel.row.promotion != gemm::Promotion::None;
  const int round = (16 - c.k % 16) % 16;
  g = with_strides(g, round, round);
  if (c.by != Grouping::Counts) g.a.batch = g.c.batch = g.d.batch = 0;
  GemmCase x = make_case(g, true, Values::Near, 31);
  gemm::Problem p = problem_of(g, true);
  p.grouping = c.by;
  set_scaling(p, x, c.scales, 7);
  const bool alone = gemm::cluster_size(kernel.row) == 1;
  GemmKernelRun run(alone ? kernel.ptx() : with_releases(kernel.ptx()), kernel.row, std::move(x), p,
                    clusters, c.sizes);
  const Fault fault = run.go(static_cast<std::uint64_t>(explore));
  ASSERT_EQ(fault, Fault::None) << info(fault).name << ": " << run.run().place();
  EXPECT_EQ(run.differing(), 0u) << name(kernel.row) << ": " << c.m << ", " << c.sizes.size()
                                 << " sizes";
}

// Empty groups, one row, whole tiles, several, one huge; rows of nobody behind the last.
const Groups ends = {.sizes = {0, 0, 5, 133, 133, 261, 262, 600, 600}, .m = 640};
const Groups counts = {.by = Grouping::Counts, .sizes = {0, 128, 1, 77, 0, 150}, .m = 150};

Groups with(Groups g, Scaling scaling, Type out = Type::bf16) {
  g.scales = {scaling, Major::MN, Major::K, 1};
  g.out = out;
  return g;
}

// Numbers of rows: groups of 128 rows, nobody's between.
Groups numbered(int m) {
  Groups out = {.by = Grouping::RowIds, .count = 3, .m = m};
  for (int row = 0; row < m; ++row) {
    const int numbers[] = {2, -1, 0, 0, 3, 1};  // there is no group 3
    out.sizes.push_back(numbers[row / 128 % 6]);
  }
  return out;
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

TEST_F(GroupedPtx, FewRows) {
  const TestKernel kernel = TCQ_SKINNY(Type::e4m3, gemm::Skinny::Rows, 2, 32, 1, 1, 1, 4, Major::K,
                                       gemm::Promotion::EachColumn, Type::e4m3, true);
  expect_right(kernel, with(ends, Scaling::Block128), 0);
  expect_right(kernel, with(counts, Scaling::Vector128, Type::f32), 0);
  expect_right(kernel, with(numbered(300), Scaling::Block128), 0);
  const TestKernel chain = TCQ_SKINNY(Type::bf16, gemm::Skinny::Rows, 1, 16, 1, 1, 1, 4, Major::K,
                                      gemm::Promotion::None, Type::bf16, true);
  expect_right(chain, ends, 0);
  const TestKernel scaled = TCQ_SKINNY(Type::e4m3, gemm::Skinny::Rows, 1, 16, 1, 1, 1, 4, Major::K,
                                       gemm::Promotion::None, Type::e4m3, true);
  expect_right(scaled, with(ends, Scaling::RowColumn, Type::f16), 0);
}

TEST_F(GroupedPtx, OperandsLoadedByThreads) {
  const TestKernel kernel =
      TCQ_COPYING(Type::e4m3, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 1, 4,
                  gemm::Promotion::EachColumn, Type::e4m3, true);
  expect_right(kernel, with(ends, Scaling::Vector128), 2);
  expect_right(kernel, with(counts, Scaling::Block128), 2);
}

// 100 groups: more than a warp looks at in one go.
TEST_F(GroupedPtx, ManyGroups) {
  const TestKernel kernel =
      TCQ_LARGE(Type::bf16, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 1, 4,
                gemm::Promotion::None, Type::bf16, true);
  Groups many = {.m = 500, .n = 64, .k = 64};
  for (int i = 0; i < 100; ++i) many.sizes.push_back(i < 40 ? 0 : i < 96 ? 3 * (i - 40) : 500);
  expect_right(kernel, many, 2);
  const TestKernel rows = TCQ_SKINNY(Type::bf16, gemm::Skinny::Rows, 1, 16, 1, 1, 1, 4, Major::K,
                                     gemm::Promotion::None, Type::bf16, true);
  expect_right(rows, many, 0);
}

// Nothing outside is touched, whatever sizes say; of rows that two groups claim any may be the last, here the later one.
TEST_F(GroupedPtx, WrongSizesStayInside) {
  const TestKernel kernel =
      TCQ_LARGE(Type::bf16, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 1, 4,
                gemm::Promotion::None, Type::bf16, true);
  expect_right(kernel, {.sizes = {-7, 100, 1 << 30, 900}, .m = 200}, 1);
  expect_right(kernel, {.by = Grouping::Counts, .sizes = {-1, 1 << 30, 3}, .m = 130}, 1);
  expect_right(kernel, {.sizes = {0, 0, 0}, .m = 200}, 2);
  expect_right(kernel, {.sizes = {-5}, .m = 1}, 1);
}

}  // namespace
}  // namespace tcq::tests
