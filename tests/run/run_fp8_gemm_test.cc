// FP8 kernels of our GEMM, as nvcc compiles them: every bit of every scaling, with and without promotion, no finding, and
// a finding for each statement that synchronises once it is deleted. Skipped without nvcc.
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/run/deleted_synchronisation.h"
#include "tests/run/fp8_gemm_run.h"

namespace tcq::tests {
namespace {

using gemm::Promotion;
using gemm::Scaling;

constexpr Scales blocks = {Scaling::Block128};
constexpr Scales vectors = {Scaling::Vector128};

class Fp8Ptx : public CompiledKernels {};

TEST_F(Fp8Ptx, OneChainWithFactorsOfTensorsRowsAndColumns) {
  const TestKernel kernel =
      TCQ_LARGE(Type::e4m3, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 1, 4);
  expect_right(kernel, {}, 1, 1);
  expect_right(kernel, {.m = 200, .n = 136, .k = 400, .scales = {Scaling::Tensor}});
  expect_right(kernel,
               {.m = 200, .n = 136, .k = 80, .out = Type::f32, .scales = {Scaling::RowColumn}});
  expect_right(kernel, {.m = 70,
                        .n = 300,
                        .out = Type::f16,
                        .scales = {Scaling::RowColumn, Major::K, Major::MN, 2},
                        .has_bias = true,
                        .alpha = -0.5f,
                        .beta = 2,
                        .activation = Activation::Silu});
}

TEST_F(Fp8Ptx, PromotedWithFactorsOfBlocks) {
  const TestKernel kernel =
      TCQ_LARGE(Type::e4m3, Major::K, Major::K, 256, 128, gemm::Turns::Together, 1, 1, 4,
                gemm::Promotion::ColumnBlocks);
  expect_right(kernel, {.m = 256, .n = 128, .k = 256, .scales = blocks}, 1, 1);
  expect_right(kernel, {.m = 300,
                        .n = 200,
                        .k = 400,
                        .out = Type::f32,
                        .scales = {Scaling::Block128, Major::MN, Major::MN, 3}});
  expect_right(kernel, {.m = 100,
                        .n = 264,
                        .k = 129,
                        .scales = blocks,
                        .has_bias = true,
                        .activation = Activation::GeluErf,
                        .batch = 2});
  expect_right(kernel, {.m = 300, .n = 200, .k = 400, .out = Type::f32, .promotes = true});
  expect_right(kernel,
               {.m = 300, .n = 200, .k = 400, .scales = {Scaling::RowColumn}, .promotes = true});
  expect_right(kernel, {.m = 140, .n = 130, .k = 1100, .scales = blocks});
}

// Factors are loaded for four blocks of K at once: more of them than two times four, and any number in the last ones.
TEST_F(Fp8Ptx, PromotedBesideTheNextProducts) {
  const TestKernel kernel =
      TCQ_LARGE(Type::e4m3, Major::K, Major::K, 128, 64, gemm::Turns::Together, 1, 1, 4,
                gemm::Promotion::ColumnBlocks);
  expect_right(kernel, {.m = 128, .n = 64, .k = 1280, .scales = blocks}, 1, 1);
  for (const int k : {100, 512, 1030, 1290, 1700})
    expect_right(kernel, {.m = 140,
                          .n = 70,
                          .k = k,
                          .out = Type::f32,
                          .scales = {Scaling::Block128, Major::MN, Major::MN, 3}});
}

TEST_F(Fp8Ptx, ThreeConsumers) {
  const TestKernel kernel =
      TCQ_LARGE(Type::e4m3, Major::K, Major::K, 192, 128, gemm::Turns::Together, 1, 2, 4,
                gemm::Promotion::ColumnBlocks);
  expect_right(kernel, {.m = 192, .n = 256, .k = 640, .scales = blocks}, 1, 1);
  expect_right(kernel, {.m = 500,
                        .n = 200,
                        .k = 400,
                        .out = Type::f32,
                        .scales = {Scaling::Block128, Major::MN, Major::MN, 3},
                        .has_bias = true,
                        .activation = Activation::Silu});
}

// By TMA, which wants their lines at multiples of 16 bytes: fewer blocks of K than a slot has, several slots and tiles, blocks
// of columns one behind the other and two to a tile.
#define TCQ_STAGED_BLOCKS(M, N, CLUSTER_M, CLUSTER_N, STAGES)                                   \
  TCQ_STAGED(Type::e4m3, Major::K, Major::K, M, N, gemm::Turns::Together, CLUSTER_M, CLUSTER_N, \
             STAGES, gemm::Promotion::ColumnBlocks)
#define TCQ_STAGED_VECTORS(M, N, STAGES)                                                \
  TCQ_STAGED(Type::e4m3, Major::K, Major::K, M, N, gemm::Turns::Together, 1, 1, STAGES, \
             gemm::Promotion::EachColumn)
Fp8Case with_addressed_factors(Fp8Case c) {
  c.scales.pad = (4 - (c.k + 127) / 128 % 4) % 4;
  return c;
}

TEST_F(Fp8Ptx, FactorsThatTmaBrings) {
  const Scales columns_first = {Scaling::Block128, Major::MN, Major::MN, 4};
  const Scales rows_first = {Scaling::Block128, Major::MN, Major::K, 2};
  const TestKernel tall = TCQ_STAGED_BLOCKS(256, 128, 1, 1, 3);
  expect_right(tall, {.m = 256, .n = 128, .k = 512, .scales = blocks}, 1, 1);
  expect_right(tall, with_addressed_factors({.m = 600, .n = 264, .k = 100, .scales = blocks}));
  expect_right(tall, with_addressed_factors({.m = 600, .n = 264, .k = 300, .scales = blocks}), 2);
  expect_right(tall, {.m = 300, .n = 500, .k = 1290, .out = Type::f32, .scales = columns_first});
  expect_right(tall, with_addressed_factors({.m = 100,
                                             .n = 264,
                                             .k = 700,
                                             .scales = blocks,
                                             .has_bias = true,
                                             .activation = Activation::GeluErf,
                                             .batch = 2}));
  const TestKernel pair = TCQ_STAGED_BLOCKS(256, 128, 1, 2, 3);
  expect_right(pair, with_addressed_factors({.m = 520, .n = 600, .k = 1100, .scales = blocks}));
  const TestKernel three = TCQ_STAGED_BLOCKS(192, 128, 2, 1, 4);
  expect_right(three, {.m = 398, .n = 300, .k = 700, .out = Type::f16, .scales = rows_first});
  const TestKernel wide = TCQ_STAGED_BLOCKS(128, 192, 1, 1, 4);
  expect_right(wide, with_addressed_factors({.m = 140, .n = 584, .k = 900, .scales = blocks}), 2);
  expect_right(wide, {.m = 140, .n = 1000, .k = 260, .scales = columns_first});
}

// The next block's products on their way while a block's are added: any number of blocks, several tiles.
TEST_F(Fp8Ptx, ProductsAheadOfAdditions) {
  const TestKernel kernel = TCQ_STAGED_BLOCKS(128, 128, 1, 1, 5);
  expect_right(kernel, {.m = 128, .n = 128, .k = 512, .scales = blocks}, 1, 1);
  for (const int k : {100, 256, 290, 640, 1410})
    expect_right(kernel, with_addressed_factors(
                             {.m = 300, .n = 264, .k = k, .scales = blocks, .has_bias = k > 600}));
  expect_right(kernel, {.m = 300,
                        .n = 500,
                        .k = 900,
                        .out = Type::f32,
                        .scales = {Scaling::Block128, Major::MN, Major::MN, 4},
                        .batch = 2});
}

// A factor for each column, too: multiplied while the products are on their way, and while they are added.
TEST_F(Fp8Ptx, FactorsOfEachColumnThatTmaBrings) {
  const Scales columns_first = {Scaling::Vector128, Major::MN, Major::MN, 4};
  for (const TestKernel& kernel :
       {TCQ_STAGED_VECTORS(192, 128, 3), TCQ_STAGED_VECTORS(128, 192, 4),
        TCQ_STAGED_VECTORS(128, 128, 5), TCQ_STAGED_VECTORS(128, 96, 6)}) {
    const int m = kernel.row.block_m, n = kernel.row.block_n;
    expect_right(kernel, {.m = m, .n = n, .k = 512, .scales = vectors}, 1, 1);
    expect_right(kernel, with_addressed_factors({.m = 2 * m + 12,
                                                 .n = n + 40,
                                                 .k = 100,
                                                 .out = Type::f32,
                                                 .scales = vectors,
                                                 .has_bias = true}));
    expect_right(kernel, {.m = m + 60, .n = 2 * n + 8, .k = 1290, .scales = columns_first});
    expect_right(kernel,
                 with_addressed_factors({.m = m - 18,
                                         .n = 2 * n + 8,
                                         .k = 700,
                                         .out = Type::f16,
                                         .scales = {Scaling::Vector128, Major::MN, Major::K},
                                         .activation = Activation::Swiglu,
                                         .batch = 2}));
  }
}

// The last tiles dealt as runs of blocks of K: runs of one tile and a bit, and of one and a half, whole tiles within and ahead of
// them; tiles parted ahead of each of a slot's four blocks; every such kernel, clusters of two, batches, factors both ways.
TEST_F(Fp8Ptx, TilesThatTwoClustersHavePartsOf) {
  const auto each = [](const TestKernel& kernel, Fp8Case c, int tiles) {
    c = with_addressed_factors(c);
    c.m = tiles * kernel.row.block_m * kernel.row.cluster_m - 4 - c.scales.pad;
    c.n = kernel.row.block_n * kernel.row.cluster_n;
    EXPECT_GT(run_of(text_of(kernel), kernel, c).tiles_in_runs(), c.clusters);
    expect_right(kernel, c, c.clusters);
  };
  const Scales rows_first = {Scaling::Block128, Major::MN, Major::K};
  const TestKernel tall = TCQ_STAGED_BLOCKS(256, 128, 1, 1, 3);
  const TestKernel three = TCQ_STAGED_BLOCKS(192, 128, 1, 1, 4);
  const TestKernel wide = TCQ_STAGED_BLOCKS(128, 192, 1, 1, 4);
  const TestKernel narrow = TCQ_STAGED_BLOCKS(128, 64, 1, 1, 8);
  const TestKernel below = TCQ_STAGED_BLOCKS(192, 128, 2, 1, 4);
  each(tall, {.k = 640, .scales = blocks, .clusters = 2}, 3);
  each(tall, {.k = 300, .scales = blocks, .batch = 2, .clusters = 3}, 2);
  each(three, {.k = 1290, .out = Type::f32, .scales = blocks, .has_bias = true, .clusters = 3}, 4);
  each(three, {.k = 400, .scales = blocks, .alpha = 2, .beta = 1, .clusters = 4}, 6);
  for (const int k : {256, 512, 900})
    each(wide, {.k = k, .scales = blocks, .activation = Activation::Swiglu, .clusters = 4}, 5);
  for (const int tiles : {5, 6, 9, 10, 13})
    each(narrow, {.k = 520, .out = Type::f16, .scales = rows_first, .clusters = 4}, tiles);
  each(TCQ_STAGED_BLOCKS(128, 128, 1, 1, 5), {.k = 900, .scales = blocks, .clusters = 2}, 3);
  each(TCQ_STAGED_VECTORS(128, 192, 4), {.k = 700, .scales = vectors, .clusters = 3}, 4);
  each(TCQ_STAGED_BLOCKS(192, 96, 1, 1, 4), {.k = 900, .scales = blocks, .clusters = 3}, 4);
  each(TCQ_STAGED_BLOCKS(128, 96, 1, 1, 6), {.k = 660, .scales = rows_first, .clusters = 5}, 6);
  each(below, {.k = 700, .scales = blocks, .clusters = 2}, 3);
}

// The flag of sums that are left, weakened on either side, or stored ahead of the other lanes' sums.
TEST_F(Fp8Ptx, WhatOrdersLeftSums) {
  const TestKernel kernel = TCQ_STAGED_BLOCKS(128, 64, 1, 1, 8);
  const std::string& text = kernel.ptx();
  const Fp8Case launch = {.m = 384, .n = 64, .k = 640, .scales = blocks, .clusters = 2};
  const auto fault = [&](const std::string& changed) {
    GemmKernelRun run = run_of(changed, kernel, with_addressed_factors(launch));
    EXPECT_TRUE(run.runs_at_once());
    return run.go();
  };
  const std::string store = "st.release.gpu.global.b64";
  const std::string load = "ld.acquire.gpu.global.b64";
  ASSERT_NE(text.find(store), text.npos);
  ASSERT_NE(text.find(load), text.npos);
  EXPECT_EQ(fault(text), Fault::None);
  EXPECT_EQ(fault(replaced(text, store, "st.relaxed.gpu.global.b64")), Fault::DataRace);
  EXPECT_EQ(fault(replaced(text, load, "ld.relaxed.gpu.global.b64")), Fault::DataRace);
  const std::size_t meeting = text.rfind("bar.warp.sync", text.find(store));
  EXPECT_EQ(fault(std::string(text).erase(meeting, text.find(';', meeting) + 1 - meeting)),
            Fault::LaneReleaseMissing);
}

TEST_F(Fp8Ptx, TilesThatMeetSeveralBlocksOfColumns) {
  const TestKernel kernel =
      TCQ_LARGE(Type::e4m3, Major::K, Major::K, 128, 176, gemm::Turns::Together, 1, 1, 4,
                gemm::Promotion::ColumnBlocks);
  expect_right(kernel, {.m = 128, .n = 704, .k = 256, .scales = blocks}, 1);
  expect_right(kernel,
               {.m = 140, .n = 530, .k = 100, .out = Type::f32, .scales = blocks, .pad_d = 1}, 2);
  const TestKernel behind =
      TCQ_LARGE(Type::e4m3, Major::K, Major::K, 128, 96, gemm::Turns::Together, 1, 1, 4,
                gemm::Promotion::ColumnBlocks);
  expect_right(behind, {.m = 130, .n = 392, .k = 500, .scales = blocks, .has_bias = true}, 1);
  const TestKernel three = TCQ_LARGE(Type::e4m3, Major::K, Major::K, 192, 96, gemm::Turns::Together,
                                     1, 1, 4, gemm::Promotion::ColumnBlocks);
  expect_right(three, {.m = 200, .n = 400, .k = 300, .scales = blocks}, 2);
  const TestKernel wide = TCQ_LARGE(Type::e4m3, Major::K, Major::K, 128, 192, gemm::Turns::Together,
                                    1, 1, 4, gemm::Promotion::ColumnBlocks);
  expect_right(wide, {.m = 140, .n = 584, .k = 260, .out = Type::f32, .scales = blocks}, 2);
}

TEST_F(Fp8Ptx, PromotedWithFactorsOfEachColumn) {
  const TestKernel kernel = TCQ_LARGE(Type::e4m3, Major::K, Major::K, 128, 128,
                                      gemm::Turns::Together, 1, 1, 4, gemm::Promotion::EachColumn);
  expect_right(kernel, {.m = 128, .n = 256, .k = 384, .scales = vectors}, 1, 1);
  expect_right(kernel, {.m = 200,
                        .n = 136,
                        .k = 400,
                        .out = Type::f32,
                        .scales = {Scaling::Vector128, Major::MN, Major::K, 5}});
  expect_right(kernel, {.m = 200,
                        .n = 136,
                        .k = 400,
                        .out = Type::f16,
                        .scales = {Scaling::Block128, Major::K, Major::MN},
                        .alpha = 3,
                        .beta = 1});
  expect_right(kernel,
               {.m = 200, .n = 136, .k = 400, .scales = vectors, .activation = Activation::Swiglu});
  expect_right(kernel, {.m = 128, .n = 128, .k = 1290, .scales = vectors}, 1, 1);
  // Of four columns two are inside; the others' factors would lie far behind all of memory.
  expect_right(
      kernel,
      {.m = 40, .n = 70, .k = 300, .scales = {Scaling::Vector128, Major::K, Major::K, 3000}});
  for (const int k : {1024, 1150, 1700})
    expect_right(kernel, {.m = 140, .n = 70, .k = k, .scales = {Scaling::Vector128, Major::MN}});
}

TEST_F(Fp8Ptx, FewRowsAreTransposedWithTheirFactors) {
  const TestKernel kernel = TCQ_SKINNY(1, 1, Type::e4m3, gemm::Skinny::Rows, 2, 32, 2, 4, Major::K,
                                       gemm::Promotion::EachColumn);
  expect_right(kernel, {.m = 32, .n = 128, .k = 512, .scales = blocks}, 1, 1);
  expect_right(kernel, {.m = 19,
                        .n = 200,
                        .k = 600,
                        .out = Type::f32,
                        .scales = {Scaling::Block128, Major::MN, Major::K, 1}});
  expect_right(kernel, {.m = 40,
                        .n = 100,
                        .k = 700,
                        .out = Type::f16,
                        .scales = {Scaling::Vector128, Major::K, Major::MN},
                        .has_bias = true,
                        .activation = Activation::Gelu});
  const TestKernel pair = TCQ_SKINNY(1, 2, Type::e4m3, gemm::Skinny::Rows, 1, 40, 2, 4, Major::K,
                                     gemm::Promotion::EachColumn);
  expect_right(pair, {.m = 70, .n = 130, .k = 1300, .scales = blocks});
  expect_right(pair,
               {.m = 40, .n = 64, .k = 700, .scales = {Scaling::Vector128}, .has_bias = true});
  for (const auto& [peers, mates] : {std::pair{2, 1}, std::pair{4, 1}, std::pair{1, 4}}) {
    const TestKernel shared = TCQ_SKINNY(peers, mates, Type::e4m3, gemm::Skinny::Rows, 1, 32, 1, 4,
                                         Major::K, gemm::Promotion::EachColumn);
    expect_right(shared, {.m = 135, .n = 330, .k = 900, .scales = vectors});
  }
  const TestKernel three = TCQ_SKINNY(1, 1, Type::e4m3, gemm::Skinny::Rows, 3, 80, 1, 4, Major::K,
                                      gemm::Promotion::EachColumn);
  expect_right(three, {.m = 80, .n = 192, .k = 1290, .scales = blocks}, 1, 1);
  expect_right(three, {.m = 77, .n = 200, .k = 1700, .scales = vectors});
  const TestKernel chain = TCQ_SKINNY(1, 1, Type::e4m3, gemm::Skinny::Rows, 1, 64, 3, 4);
  expect_right(chain, {.m = 60, .n = 100, .k = 700, .scales = {Scaling::RowColumn}});
  expect_right(chain, {.m = 60,
                       .n = 100,
                       .k = 700,
                       .out = Type::f16,
                       .scales = {Scaling::Tensor},
                       .activation = Activation::Swiglu});
}

// Tiles that share K, with rows of D as wgmma's rows; as many blocks as loops have ways out.
TEST_F(Fp8Ptx, PartsOfKWithFactorsOfBlocks) {
  const TestKernel one = TCQ_SKINNY(1, 1, Type::e4m3, gemm::Skinny::Columns, 1, 128, 3, 4, Major::K,
                                    gemm::Promotion::ColumnBlocks);
  expect_right(one, {.m = 64, .n = 128, .k = 768, .scales = blocks}, 1, 1);
  const TestKernel pair = TCQ_SKINNY(1, 2, Type::e4m3, gemm::Skinny::Columns, 2, 64, 2, 4, Major::K,
                                     gemm::Promotion::ColumnBlocks);
  for (const int k : {256, 300, 640, 900, 1290, 1700})
    expect_right(pair, {.m = 140,
                        .n = 130,
                        .k = k,
                        .out = Type::f32,
                        .scales = {Scaling::Block128, Major::MN, Major::MN, 3}});
  for (const auto& [peers, mates] : {std::pair{2, 1}, std::pair{4, 1}, std::pair{1, 4}}) {
    const TestKernel shared = TCQ_SKINNY(peers, mates, Type::e4m3, gemm::Skinny::Columns, 1, 64, 1,
                                         4, Major::K, gemm::Promotion::ColumnBlocks);
    expect_right(shared, {.m = 300, .n = 270, .k = 900, .scales = blocks});
  }
  const TestKernel whole = TCQ_SKINNY(1, 1, Type::e4m3, gemm::Skinny::Columns, 2, 128, 1, 4,
                                      Major::K, gemm::Promotion::ColumnBlocks);
  expect_right(whole, {.m = 200,
                       .n = 130,
                       .k = 1030,
                       .out = Type::f16,
                       .scales = blocks,
                       .has_bias = true,
                       .activation = Activation::Swiglu});
  expect_right(whole, {.m = 128, .n = 128, .k = 128, .promotes = true});
}

// Consumers have registers of the producer's warps, three of which idle: products of two blocks, and of one.
TEST_F(Fp8Ptx, FewRowsAndColumnsWithRegistersOfTheProducer) {
  const TestKernel rows = TCQ_SKINNY(1, 1, Type::e4m3, gemm::Skinny::Rows, 2, 160, 2, 4, Major::K,
                                     gemm::Promotion::EachColumn);
  expect_right(rows, {.m = 150, .n = 200, .k = 900, .scales = blocks, .has_bias = true});
  expect_right(rows, {.m = 170, .n = 130, .k = 1290, .out = Type::f32, .scales = vectors});
  for (const auto& [peers, mates] : {std::pair{1, 1}, std::pair{2, 1}, std::pair{1, 2}}) {
    const TestKernel behind = TCQ_SKINNY(peers, mates, Type::e4m3, gemm::Skinny::Columns, 2, 128, 2,
                                         4, Major::K, gemm::Promotion::ColumnBlocks);
    for (const int k : {256, 640, 1300})
      expect_right(behind, {.m = 140, .n = 260, .k = k, .scales = blocks});
  }
  const TestKernel three = TCQ_SKINNY(1, 1, Type::e4m3, gemm::Skinny::Columns, 3, 128, 2, 4,
                                      Major::K, gemm::Promotion::ColumnBlocks);
  expect_right(three, {.m = 200, .n = 140, .k = 700, .out = Type::f16, .scales = blocks});
}

TEST_F(Fp8Ptx, EveryPairOfTypesAlsoByThreads) {
  const TestKernel mixed =
      TCQ_LARGE(Type::e5m2, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 1, 4,
                gemm::Promotion::EachColumn, Type::e4m3);
  expect_right(mixed, {.m = 140, .n = 130, .k = 270, .scales = blocks});
  const TestKernel turned =
      TCQ_LARGE(Type::e4m3, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 1, 4,
                gemm::Promotion::None, Type::e5m2);
  expect_right(turned, {.m = 140, .n = 130, .k = 270, .scales = {Scaling::Tensor}});
  const TestKernel copying =
      TCQ_COPYING(Type::e5m2, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 1, 4,
                  gemm::Promotion::EachColumn);
  expect_right(copying, {.m = 70, .n = 90, .k = 201, .out = Type::f32, .scales = vectors});
  expect_right(copying, {.m = 70, .n = 90, .k = 0, .out = Type::f32, .scales = vectors});
}

// Odd and even numbers of blocks of K, every number of instructions in the last one, a last one with which factors are due;
// more tiles of one block than stages; tiles in which a consumer has no row, so that nothing it stores orders its threads;
// then several tiles to a consumer on each way out: D's type, by TMA or by threads, a column for each of the product's or two.
std::vector<Fp8Case> launches_of(const TestKernel& kernel, const Scales& scales) {
  const int m = 2 * kernel.row.block_m, n = 2 * kernel.row.block_n;
  std::vector<Fp8Case> all = {{.m = m / 2, .n = n / 2, .k = 1280, .scales = scales}};
  for (const int k : {160, 192, 224, 384})
    all.push_back({.m = m, .n = n, .k = k, .scales = scales, .has_bias = k == 192});
  all.push_back({.m = m / 2, .n = n / 2, .k = 640, .scales = scales});
  all.push_back({.m = 3 * kernel.row.block_m, .n = n, .k = 128, .scales = scales});
  all.push_back({.m = 60, .n = 3 * kernel.row.block_n, .k = 256, .scales = scales});
  for (const Type out : {Type::bf16, Type::f16, Type::f32})
    for (const int pad : {0, 1})
      for (const auto activation : {Activation::None, Activation::Swiglu})
        all.push_back({.m = m,
                       .n = n,
                       .k = 128,
                       .out = out,
                       .scales = scales,
                       .activation = activation,
                       .pad_d = pad});
  return all;
}

void expect_deletions_found(const TestKernel& kernel, const Scales& scales) {
  std::vector<Fp8Case> launches = launches_of(kernel, scales);
  if (kernel.row.streams_k)
    launches.push_back({.m = 3 * kernel.row.block_m,
                        .n = kernel.row.block_n,
                        .k = 640,
                        .scales = scales,
                        .clusters = 2});
  if (kernel.row.stages_factors)
    for (Fp8Case& c : launches) c = with_addressed_factors(c);
  const Deletions done = delete_each(
      text_of(kernel), std::span<const Fp8Case>(launches),
      [&](const std::string& text, const Fp8Case& c) { return run_of(text, kernel, c); });
  EXPECT_GT(done.count, 20u);
  done.print();
  // Open with factors of each column: a barrier ahead of the bias, beside which others stand in every launch that has a block
  // of K; and a wgmma.fence ahead of registers that nobody has touched, which only ptxas asks for (C7519).
  EXPECT_LE(done.missed.size() * 50, done.count) << name(kernel.row);
}

TEST_F(Fp8Ptx, EachDeletedSynchronisationIsFoundWithFactorsOfBlocks) {
  expect_deletions_found(TCQ_LARGE(Type::e4m3, Major::K, Major::K, 256, 128, gemm::Turns::Together,
                                   1, 1, 4, gemm::Promotion::ColumnBlocks),
                         blocks);
}

TEST_F(Fp8Ptx, EachDeletedSynchronisationIsFoundWithFactorsThatTmaBrings) {
  expect_deletions_found(TCQ_STAGED_BLOCKS(256, 128, 1, 1, 3), blocks);
}

TEST_F(Fp8Ptx, EachDeletedSynchronisationIsFoundWhereProductsRunAhead) {
  expect_deletions_found(TCQ_STAGED_VECTORS(128, 128, 5), vectors);
}

TEST_F(Fp8Ptx, EachDeletedSynchronisationIsFoundWithFactorsOfEachColumn) {
  expect_deletions_found(TCQ_LARGE(Type::e4m3, Major::K, Major::K, 128, 128, gemm::Turns::Together,
                                   1, 1, 4, gemm::Promotion::EachColumn),
                         vectors);
}

}  // namespace
}  // namespace tcq::tests
