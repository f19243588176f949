// The time on paper of the GEMM on tcgen05 (cuda/gemm/tensor_time.h): counts that can be made by hand, what the design
// promises of it, and the predictions that cuda/NOTES.md has had since before any measurement.
#include <cmath>
#include <cstdint>

#include "cuda/gemm/tensor_time.h"
#include "tests/run/tensor_rows.h"

namespace tcq::tests {
namespace {

using gemm::BlockScaling;
using gemm::Problem;
using gemm::TensorTime;

TensorTime time_of(const gemm::Kernel& k, const Problem& p,
                   const gemm::TensorAssumptions& assumed = {}) {
  return tensor_time(k, gemm::resolved(p), b200, clusters_by_size(k, b200), assumed);
}

const gemm::Kernel& planned_kernel(const Problem& p) {
  gemm::Plan plan;
  EXPECT_EQ(tensor_plan(p, plan), gemm::Status::Ok);
  return *plan.aligned.kernel;
}

// A block of 64 of K: 2^22 operations of each SM at 8192 a clock; a CTA of a pair has 128 rows of A and 128 columns of B,
// 32 KiB.
TEST(TensorTime, CountsOfABlockOfK) {
  const Problem p{.m = 8192, .n = 8192, .k = 8192};
  const gemm::Kernel& pair = planned_kernel(p);
  ASSERT_EQ(pair.block_n * cluster_size(pair), 512);
  const TensorTime t = time_of(pair, p);
  EXPECT_EQ(t.tensor, 512);
  EXPECT_EQ(t.shared, 512);
  EXPECT_EQ(t.l2, 512);
  EXPECT_EQ(t.waves, 14);
  const TensorTime alone = time_of(tensor_table()[0], p);  // 128 x 256: 48 KiB
  EXPECT_EQ(alone.tensor, 512);
  EXPECT_EQ(alone.shared, 768);
  gemm::TensorAssumptions two_ports;
  two_ports.one_port = false;
  EXPECT_EQ(time_of(tensor_table()[0], p, two_ports).shared, 384);
  // 16 factors in 256 of K, of 128 rows and, in each CTA of a pair, of all 256 columns: 6 KiB with 32 KiB of elements.
  Problem nvfp4{.m = 8192, .n = 8192, .k = 8192, .in = Type::e2m1};
  nvfp4.block_scaling = BlockScaling::Ue4m3Block16;
  const TensorTime scaled = time_of(planned_kernel(nvfp4), nvfp4);
  EXPECT_EQ(scaled.tensor, 512);
  EXPECT_EQ(scaled.shared, 2 * (32 + 6) * 1024 / 128);
  // Half a byte of each element, a sixteenth of one of its factor, and bf16 results.
  EXPECT_DOUBLE_EQ(scaled.memory, 8192.0 * 8192 * (2 * (0.5 + 1 / 16.0) + 2) / 8e12 * 1.856e9);
}

TEST(TensorTime, WhatTheDesignPromises) {
  const Problem large{.m = 8192, .n = 8192, .k = 8192};
  EXPECT_GE(time_of(planned_kernel(large), large).of_peak, 0.85);
  for (const gemm::Kernel& row : tensor_table()) {
    Problem p{.m = 8192, .n = 8192, .k = 1024, .in = row.in};
    if (row.in == Type::tf32) p.out = Type::f32;
    if (!is_float(row.in)) p.out = Type::bf16;
    if (row.split > 1) continue;  // it has one tile
    EXPECT_EQ(time_of(row, p).hides_epilogue(), row.accumulators > 1) << name(row);
    EXPECT_LT(time_of(row, p).of_peak, 1) << name(row);
  }
}

// 128 x 256 sums of a block for each CTA: 256 clocks of loads and 256 of additions by two warpgroups in turns, each with two
// loads to wait for. A tile's end is 1112 clocks, of which the products fill two accumulators of 512.
TEST(TensorTime, PromotionBesideTheProducts) {
  Problem p{.m = 8192, .n = 8192, .k = 8192, .in = Type::e4m3};
  p.scaling = gemm::Scaling::Block128;
  const gemm::Kernel& pair = planned_kernel(p);
  const TensorTime t = time_of(pair, p);
  EXPECT_EQ(t.promotion, 2 * 100 + (256 + 256) / 2);
  EXPECT_EQ(t.tensor, 512);
  EXPECT_EQ(t.epilogue, 2 * 256 + 8 * 150 / 2);
  EXPECT_EQ(t.loop, 64 * 512 + 1024);  // D's way through shared memory
  EXPECT_EQ(t.shown, t.epilogue - 2 * t.loop / 64);
  EXPECT_GE(t.of_peak, 0.85);
  // An eighth of a byte for four factors of A in 128 of K, next to nothing for B's.
  const double operands = 8192.0 * 8192 * (2 + 2 + 4 / 128.0) + 64 * 64 * 4;
  EXPECT_DOUBLE_EQ(t.memory, operands / 8e12 * 1.856e9);
  gemm::TensorAssumptions slow;
  slow.load = 300;
  // Warpgroups that are the slowest of all hide nothing.
  EXPECT_EQ(time_of(pair, p, slow).loop, 64 * (2 * 300 + 256.0));
  EXPECT_EQ(time_of(pair, p, slow).shown, t.epilogue);
}

// Scale factors leave a pair's 256 columns room for one accumulator: 128 x 256 sums at 512 bytes a clock, for which two
// warpgroups wait once; of a short K and a long epilogue the stores show as well.
TEST(TensorTime, OneAccumulatorShowsItsLoads) {
  Problem p{.m = 8192, .n = 8192, .k = 8192, .in = Type::e2m1};
  p.block_scaling = BlockScaling::Ue4m3Block16;
  const gemm::Kernel& one = planned_kernel(p);
  ASSERT_EQ(one.accumulators, 1);
  EXPECT_EQ(time_of(one, p).shown, 100 + 256);
  p.k = 256;
  gemm::TensorAssumptions slow;
  slow.instructions = 8;
  const TensorTime brief = time_of(one, p, slow);
  EXPECT_GT(brief.epilogue - brief.loop, 256);
  EXPECT_EQ(brief.shown, 100 + brief.epilogue - brief.loop);
  gemm::Kernel two = one;
  two.accumulators = 2;
  EXPECT_EQ(time_of(two, p, slow).shown, brief.epilogue - brief.loop);
}

// 128 columns of bf16 by four CTAs: a quarter of the blocks, 32 KiB of another's sums of 64 rows three times, and half of
// the epilogue.
TEST(TensorTime, PartsOfK) {
  const Problem p{.m = 128, .n = 4096, .k = 7168};
  const gemm::Kernel& split = planned_kernel(p);
  ASSERT_EQ(split.split, 4);
  gemm::Kernel whole = split;
  whole.split = 1;
  const TensorTime t = time_of(split, p);
  EXPECT_EQ(t.loop, 28 * 512 + 512);  // L2 is the slowest: shared memory has D's way besides
  EXPECT_EQ(t.parts, 1000 + 3 * 32768 / 64);
  EXPECT_EQ(t.epilogue, time_of(whole, p).epilogue / 2);
  EXPECT_EQ(t.total, 5500 + t.parts + t.epilogue + t.loop);
}

// 32 rows of 128 and 128 columns of a block, 20 KiB; of groups whole tiles of rows.
TEST(TensorTime, RowsAndColumnsThatDHasNotAreNotLoaded) {
  const gemm::Kernel& one = tensor_table()[1];
  ASSERT_EQ(one.block_n, 128);
  EXPECT_EQ(time_of(one, {.m = 32, .n = 4096, .k = 4096}).l2, 20 * 1024 / 64);
  EXPECT_EQ(time_of(one, {.m = 4096, .n = 32, .k = 4096}).l2, 20 * 1024 / 64);
  EXPECT_EQ(time_of(one, {.m = 4096, .n = 4096, .k = 4096}).l2, 32 * 1024 / 64);
  gemm::Kernel grouped = one;
  grouped.grouped = true;
  EXPECT_EQ(time_of(grouped, {.m = 32, .n = 4096, .k = 4096}).l2, 32 * 1024 / 64);
}

// As a batch of equal ones, whoever counts them; or of as many rows as are expected.
TEST(TensorTime, GroupsAreABatch) {
  Problem batch{.m = 2048, .n = 4096, .k = 7168, .batch = 4};
  Problem groups = batch;
  groups.grouping = gemm::Grouping::Counts;
  const gemm::Kernel& row = planned_kernel(groups);
  EXPECT_EQ(time_of(row, groups).total, time_of(row, batch).total);
  groups.grouping = gemm::Grouping::Ends;
  groups.m = 4 * 2048;
  EXPECT_EQ(time_of(row, groups).total, time_of(row, batch).total);
  groups.expected_rows = batch.m = 300;
  EXPECT_EQ(time_of(row, groups).total, time_of(row, batch).total);
}

struct Prediction {
  std::int64_t m, n, k;
  double bf16, e4m3, promoted, mxfp8, nvfp4;  // microseconds of the planned kernel
};

// The table of cuda/NOTES.md.
constexpr Prediction predictions[] = {{4096, 4096, 4096, 76.9, 41.5, 41.4, 43.4, 27.4},
                                      {8192, 8192, 8192, 506.1, 258.9, 259.1, 272.7, 160.7},
                                      {4096, 2112, 7168, 66.9, 36, 35.8, 37.3, 23.3},
                                      {4096, 24576, 1536, 154.6, 85.1, 84.9, 91.9, 60.4},
                                      {4096, 32768, 512, 81.3, 50.4, 50.2, 56.7, 42.7},
                                      {4096, 7168, 16384, 470.7, 239, 255.1, 267.5, 155.5},
                                      {4096, 4096, 7168, 129.8, 68, 67.9, 71.2, 43.2},
                                      {4096, 7168, 2048, 65.2, 36.2, 38.6, 41.1, 27.1},
                                      {128, 7168, 16384, 39.6, 22, 22, 22.5, 14.3},
                                      {128, 4096, 7168, 12.6, 8.7, 8.7, 8.9, 7},
                                      {128, 2112, 7168, 10, 7.1, 7.1, 7.6, 6.3}};

TEST(TensorTime, PredictionsAreAsWrittenDown) {
  for (const Prediction& x : predictions) {
    const auto expect = [&](double want, Type in, BlockScaling scaling,
                            gemm::Scaling factors = gemm::Scaling::None) {
      Problem p{.m = x.m, .n = x.n, .k = x.k, .in = in};
      p.block_scaling = scaling;
      p.scaling = factors;
      const TensorTime t = time_of(planned_kernel(p), p);
      EXPECT_EQ(std::round(t.microseconds * 10) / 10, want)
          << x.m << "x" << x.n << "x" << x.k << " " << name(planned_kernel(p)) << " " << t.of_peak;
    };
    expect(x.bf16, Type::bf16, BlockScaling::None);
    expect(x.e4m3, Type::e4m3, BlockScaling::None);
    expect(x.promoted, Type::e4m3, BlockScaling::None, gemm::Scaling::Block128);
    expect(x.mxfp8, Type::e4m3, BlockScaling::Ue8m0Block32);
    expect(x.nvfp4, Type::e2m1, BlockScaling::Ue4m3Block16);
  }
}

struct GroupsPrediction {
  std::int64_t groups, rows, n, k;
  double bf16, e4m3, promoted, mxfp8, nvfp4;
};

// The table of groups there.
constexpr GroupsPrediction predictions_of_groups[] = {
    {4, 8192, 4096, 7168, 884.6, 452, 452.6, 477.2, 281.2},
    {8, 4096, 7168, 2048, 463.6, 247.3, 247.1, 266.4, 168.4},
    {32, 256, 4096, 7168, 262, 137.2, 137.2, 140.8, 82.3},
    {32, 64, 4096, 7168, 243.9, 124.6, 124.7, 128.4, 72.5}};

TEST(TensorTime, PredictionsOfGroupsAreAsWrittenDown) {
  for (const GroupsPrediction& x : predictions_of_groups) {
    const auto expect = [&](double want, Type in, gemm::Scaling factors = gemm::Scaling::None,
                            BlockScaling scaling = BlockScaling::None) {
      Problem p{.m = x.groups * x.rows, .n = x.n, .k = x.k, .batch = x.groups, .in = in};
      p.grouping = gemm::Grouping::Ends;
      p.scaling = factors;
      p.block_scaling = scaling;
      const TensorTime t = time_of(planned_kernel(p), p);
      EXPECT_EQ(std::round(t.microseconds * 10) / 10, want)
          << x.groups << "x" << x.rows << "x" << x.n << "x" << x.k << " " << name(planned_kernel(p))
          << " " << t.of_peak;
    };
    expect(x.bf16, Type::bf16);
    expect(x.e4m3, Type::e4m3);
    expect(x.promoted, Type::e4m3, gemm::Scaling::Block128);
    expect(x.mxfp8, Type::e4m3, gemm::Scaling::None, BlockScaling::Ue8m0Block32);
    expect(x.nvfp4, Type::e2m1, gemm::Scaling::None, BlockScaling::Ue4m3Block16);
  }
}

}  // namespace
}  // namespace tcq::tests
