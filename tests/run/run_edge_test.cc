// Our own GEMM where tiles reach over the edge of the matrices, and K has more blocks than a CTA has stages: rows outside
// are no longer loaded then (cuda/gemm/load.cuh). What stands in their place enters no element of D, and nothing is
// found. Skipped without nvcc.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "tests/run/deleted_synchronisation.h"
#include "tests/run/gemm_kernel_run.h"

namespace tcq::tests {
namespace {

struct Size {
  int m, n, k;
};

class EdgePtx : public CompiledKernels {};

// Tiles that share tokens, and weights.
const std::vector<std::pair<int, int>> clusters = {{1, 1}, {2, 1}, {4, 1}, {1, 2}, {1, 4}};

void expect_every_bit(const TestKernel& kernel, const Size& s, std::uint64_t seed) {
  SCOPED_TRACE(name(kernel.row) + fmt::format(" {}x{}x{}", s.m, s.n, s.k));
  const oracle::Gemm g = with_strides(
      {.m = s.m, .n = s.n, .k = s.k, .in = kernel.row.in, .out = gemm::usual(kernel.row.in)}, 0, 0,
      0);
  GemmKernelRun run(with_releases(kernel.ptx()), kernel.row,
                    make_case(g, false, Values::Near, seed), problem_of(g, false), 1);
  ASSERT_EQ(run.go(1), Fault::None) << run.run().place();
  EXPECT_EQ(run.differing(), 0u);
}

// A tile's rows: none outside, one, a part of one CTA's share, a whole share and more, all of a tile.
TEST_F(EdgePtx, LargeTiles) {
  const TestKernel below =
      TCQ_LARGE(Type::bf16, Major::K, Major::K, 128, 96, gemm::Turns::Together, 2, 1, 3);
  const TestKernel beside =
      TCQ_LARGE(Type::bf16, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 2, 3);
  std::uint64_t seed = 1;
  for (const TestKernel& kernel : {below, beside})
    for (const Size& s : {Size{255, 192, 392}, Size{130, 100, 392}, Size{70, 250, 448}})
      expect_every_bit(kernel, s, seed++);
}

TEST_F(EdgePtx, TokensOfPeersAndWeightsOfMates) {
  const TestKernel peers = TCQ_SKINNY(2, 1, Type::bf16, gemm::Skinny::Rows, 2, 32, 1, 3);
  const TestKernel split = TCQ_SKINNY(2, 1, Type::bf16, gemm::Skinny::Rows, 1, 32, 2, 3);
  const TestKernel mates = TCQ_SKINNY(1, 2, Type::bf16, gemm::Skinny::Rows, 1, 24, 1, 3);
  const TestKernel columns = TCQ_SKINNY(1, 1, Type::bf16, gemm::Skinny::Columns, 1, 32, 1, 3);
  std::uint64_t seed = 21;
  for (const TestKernel& kernel : {peers, split, mates, columns})
    for (const Size& s : {Size{31, 190, 584}, Size{49, 65, 584}, Size{3, 129, 640}})
      expect_every_bit(kernel, s, seed++);
}

// One text in every cluster: the launch says what its tiles share.
TEST_F(EdgePtx, OneKernelInEveryCluster) {
  std::uint64_t seed = 61;
  for (const auto& [peers, mates] : clusters) {
    expect_every_bit(TCQ_SKINNY(peers, mates, Type::bf16, gemm::Skinny::Rows, 2, 32, 2, 3),
                     {97, 530, 904}, seed++);
    expect_every_bit(TCQ_SKINNY(peers, mates, Type::f16, gemm::Skinny::Columns, 1, 32, 2, 3),
                     {270, 97, 904}, seed++);
    expect_every_bit(TCQ_SKINNY(peers, mates, Type::tf32, gemm::Skinny::Rows, 1, 32, 1, 3),
                     {67, 270, 232}, seed++);
    expect_every_bit(TCQ_SKINNY(peers, mates, Type::s8, gemm::Skinny::Rows, 1, 32, 1, 3),
                     {131, 200, 1040}, seed++);
    expect_every_bit(TCQ_SKINNY(peers, mates, Type::e4m3, gemm::Skinny::Rows, 1, 32, 2, 3),
                     {70, 260, 1808}, seed++);
  }
}

TEST_F(EdgePtx, OperandsThatAreNotKMajor) {
  const TestKernel large =
      TCQ_LARGE(Type::f16, Major::MN, Major::MN, 128, 128, gemm::Turns::PingPong, 1, 2, 3);
  const TestKernel mates = TCQ_SKINNY(1, 2, Type::f16, gemm::Skinny::Rows, 2, 72, 1, 3, Major::MN);
  const TestKernel peers = TCQ_SKINNY(4, 1, Type::f16, gemm::Skinny::Rows, 2, 32, 1, 3, Major::MN);
  const TestKernel square =
      TCQ_LARGE(Type::f16, Major::MN, Major::MN, 192, 192, gemm::Turns::Together, 1, 1, 3);
  const TestKernel tall =
      TCQ_LARGE(Type::f16, Major::MN, Major::K, 256, 128, gemm::Turns::Together, 1, 2, 3);
  const TestKernel narrow =
      TCQ_LARGE(Type::f16, Major::MN, Major::K, 128, 144, gemm::Turns::PingPong, 2, 1, 3);
  const TestKernel wide =
      TCQ_LARGE(Type::f16, Major::K, Major::MN, 128, 192, gemm::Turns::PingPong, 1, 1, 3);
  for (const TestKernel& kernel : {large, mates, peers, square, tall, narrow, wide}) {
    oracle::Gemm g{.m = 136, .n = 72, .k = 328, .in = Type::f16, .out = Type::f16};
    g.major_a = kernel.row.major_a;
    g.major_b = kernel.row.major_b;
    g = with_strides(g, 0, 0, 0);
    GemmKernelRun run(with_releases(kernel.ptx()), kernel.row,
                      make_case(g, false, Values::Near, 41), problem_of(g, false), 1);
    ASSERT_EQ(run.go(1), Fault::None) << name(kernel.row) << ": " << run.run().place();
    EXPECT_EQ(run.differing(), 0u) << name(kernel.row);
  }
}

// Behind the first round of stages the rows inside come by the map of their own height: without that map, no result.
TEST_F(EdgePtx, WhatIsLeftOverComesByItsOwnMap) {
  const TestKernel kernel = TCQ_SKINNY(1, 1, Type::bf16, gemm::Skinny::Rows, 1, 32, 1, 3);
  const auto fault_without = [&](int k) {
    const oracle::Gemm g =
        with_strides({.m = 31, .n = 64, .k = k, .in = Type::bf16, .out = Type::bf16}, 0, 0, 0);
    GemmKernelRun run(kernel.ptx(), kernel.row, make_case(g, false, Values::Near, 51),
                      problem_of(g, false), 1);
    run.forget_map(2);  // of the weights', the tokens', the tokens' left over, D's
    return run.go(1);
  };
  EXPECT_EQ(fault_without(3 * 64), Fault::None);
  EXPECT_NE(fault_without(4 * 64), Fault::None);
}

// What the maps say: boxes of the rows that are left over, none where there are none.
TEST(EdgeMaps, AreAsHighAsWhatIsLeft) {
  const gemm::Kernel row = gemm::kernel_of<
      gemm::Config<Type::bf16, Major::K, Major::K, 128, 96, gemm::Turns::Together, 2, 1, 3>>(
      nullptr);
  const auto maps = [&](std::int64_t m, std::int64_t n) {
    return gemm::plain_maps(row, {m, n, 64, 1}, {nullptr, 64, 0}, {nullptr, 64, 0}, {nullptr, n, 0},
                            {});
  };
  EXPECT_FALSE(maps(256, 192).rest_a.has_value());
  EXPECT_FALSE(maps(256, 144).rest_b.has_value());  // shares of 48 columns
  EXPECT_EQ(maps(129, 192).rest_a->box[1], 1u);
  EXPECT_EQ(maps(127, 192).rest_a->box[1], 127u);
  EXPECT_EQ(maps(256, 100).rest_b->box[1], 4u);
  EXPECT_EQ(maps(256, 100).b->box[1], 48u);
}

}  // namespace
}  // namespace tcq::tests
