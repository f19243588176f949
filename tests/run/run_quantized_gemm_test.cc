// Kernels of our GEMM that make FP8 of D, with a factor for 128 columns of a row, as nvcc compiles them: every bit of D and of
// its factors, no finding, and a finding for each statement that synchronises once it is deleted. Skipped without nvcc.
#include <span>
#include <string>
#include <vector>

#include "cuda/gemm/quantize.h"
#include "tests/run/deleted_synchronisation.h"
#include "tests/run/fp8_gemm_run.h"
#include "tests/run/grouped_gemm_run.h"

namespace tcq::tests {
namespace {

using gemm::Scaling;

constexpr Scales blocks = {Scaling::Block128};
constexpr Scales vectors = {Scaling::Vector128, Major::MN, Major::K, 1};
constexpr Quantized e4m3 = {Type::e4m3};
constexpr Quantized turned = {Type::e5m2, true, Major::MN, 3};

#define TCQ_QUANTIZING(M, STAGES, PROMOTION, GROUPED)                                    \
  TCQ_LARGE(Type::e4m3, Major::K, Major::K, M, 256, gemm::Turns::Together, 1, 1, STAGES, \
            gemm::Promotion::PROMOTION, Type::e4m3, GROUPED, true)
#define TCQ_QUANTIZING_FEW(TOKENS, SPLIT, STAGES, PROMOTION, GROUPED)                  \
  TCQ_SKINNY(1, 1, Type::e4m3, gemm::Skinny::Rows, 4, TOKENS, SPLIT, STAGES, Major::K, \
             gemm::Promotion::PROMOTION, Type::e4m3, GROUPED, true)

// The same product with D in f32, and the quantizer of wider matrices behind it.
TEST(QuantizedReference, IsTheQuantizerBehindF32) {
  for (const auto activation : {Activation::None, Activation::Swiglu})
    for (const Type type : {Type::e4m3, Type::e5m2})
      for (const bool power_of_two : {false, true})
        for (const auto values : {Values::Near, Values::Wide, Values::Specials}) {
          oracle::Gemm g{.m = 70, .n = 1100, .k = 96, .in = Type::e4m3, .out = Type::f32};
          g.activation = activation;
          const oracle::Gemm wide = with_strides(g);
          const GemmCase of_f32 = make_case(wide, true, values, 11);
          GemmCase x =
              make_case(with_quantized(wide, {type, power_of_two, Major::K, 2}), true, values, 11);
          const std::vector<std::uint8_t> results = of_f32.expected(1);
          const std::int64_t columns = is_gated(activation) ? 550 : 1100;
          const gemm::Quantize q{.rows = 70,
                                 .columns = columns,
                                 .in = Type::f32,
                                 .out = type,
                                 .power_of_two = power_of_two,
                                 .ld_source = wide.d.ld,
                                 .ld_target = wide.d.ld,
                                 .ld_factors = (columns + 127) / 128 + 2};
          const std::vector<std::uint8_t> got = x.expected(1);
          ASSERT_EQ(gemm::quantize_on_host(q, results.data() + of_f32.d.first, x.d.data(),
                                           static_cast<float*>(x.scale_d.data())),
                    gemm::Status::Ok);
          EXPECT_EQ(got, GemmCase::joined(x.d.bytes, x.scale_d.bytes));
        }
}

class QuantizedPtx : public CompiledKernels {};

// Whole tiles and cut ones, a last block of few columns, a consumer that has none; D by TMA and by threads; values beyond FP8's.
void expect_all_right(const TestKernel& kernel, const Scales& scales) {
  const bool gates = kernel.row.quantized_columns == 2 * gemm::scale_block;
  const auto swiglu = gates ? Activation::Swiglu : Activation::GeluErf;
  expect_right(kernel, {.m = 128, .n = 256, .k = 256, .scales = scales, .quantized = e4m3}, 1, 1);
  expect_right(
      kernel,
      {.m = 128, .n = 512, .k = 256, .scales = scales, .activation = swiglu, .quantized = e4m3}, 1,
      1);
  expect_right(kernel, {.m = 150, .n = 272, .k = 400, .scales = scales, .quantized = turned}, 2);
  expect_right(kernel, {.m = 70,
                        .n = 600,
                        .k = 130,
                        .out = Type::f32,
                        .scales = scales,
                        .has_bias = true,
                        .alpha = 900,
                        .activation = swiglu,
                        .quantized = turned});
  expect_right(kernel, {.m = 140,
                        .n = 391,
                        .k = 200,
                        .out = Type::f16,
                        .scales = scales,
                        .has_bias = true,
                        .alpha = -0.5f,
                        .beta = 2,
                        .activation = Activation::Silu,
                        .pad_d = 1,
                        .quantized = {Type::e5m2, false, Major::K, 2}});
  expect_right(kernel, {.m = 40,
                        .n = 530,
                        .k = 140,
                        .scales = scales,
                        .activation = swiglu,
                        .pad_d = 3,
                        .batch = 2,
                        .quantized = e4m3});
}

TEST_F(QuantizedPtx, ConsumersBesideEachOther) {
  expect_all_right(TCQ_QUANTIZING(128, 4, ColumnBlocks, false), blocks);
  expect_all_right(TCQ_QUANTIZING(64, 4, ColumnBlocks, false), blocks);
  expect_all_right(TCQ_QUANTIZING(64, 4, EachColumn, false), vectors);
  expect_all_right(TCQ_QUANTIZING(128, 4, None, false), {Scaling::RowColumn});
}

// Of 128 columns, which are whole where one of the product's makes one of D.
TEST_F(QuantizedPtx, ConsumersBelowEachOtherAndInTurns) {
  expect_all_right(TCQ_LARGE(Type::e4m3, Major::K, Major::K, 192, 128, gemm::Turns::Together, 1, 2,
                             4, gemm::Promotion::ColumnBlocks, Type::e4m3, false, true),
                   blocks);
  expect_all_right(TCQ_LARGE(Type::e4m3, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 2,
                             6, gemm::Promotion::None, Type::e4m3, false, true),
                   {Scaling::RowColumn});
  expect_all_right(TCQ_LARGE(Type::e4m3, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 2,
                             5, gemm::Promotion::EachColumn, Type::e4m3, false, true),
                   vectors);
}

TEST_F(QuantizedPtx, FewRows) {
  expect_all_right(TCQ_SKINNY(1, 1, Type::e4m3, gemm::Skinny::Rows, 2, 32, 2, 8, Major::K,
                              gemm::Promotion::EachColumn, Type::e4m3, false, true),
                   blocks);
  expect_all_right(TCQ_QUANTIZING_FEW(16, 1, 4, None, false), {Scaling::Tensor});
  expect_all_right(TCQ_QUANTIZING_FEW(16, 2, 4, EachColumn, false), blocks);
  expect_all_right(TCQ_QUANTIZING_FEW(64, 1, 4, EachColumn, false), vectors);
  expect_right(TCQ_QUANTIZING_FEW(64, 4, 4, EachColumn, false),
               {.m = 60, .n = 500, .k = 1100, .scales = blocks, .quantized = e4m3});
}

TEST_F(QuantizedPtx, ByThreadsThatLoad) {
  const TestKernel kernel =
      TCQ_COPYING(Type::e4m3, Major::K, Major::K, 64, 256, gemm::Turns::Together, 1, 1, 4,
                  gemm::Promotion::EachColumn, Type::e4m3, false, true);
  expect_all_right(kernel, blocks);
  expect_right(kernel,
               {.m = 70, .n = 300, .k = 0, .scales = blocks, .has_bias = true, .quantized = e4m3});
  expect_right(kernel, {.m = 70, .n = 300, .k = 0, .scales = blocks, .quantized = turned});
}

// Operands of other FP8 types.
TEST_F(QuantizedPtx, EveryPairOfFp8Types) {
  expect_all_right(TCQ_LARGE(Type::e5m2, Major::K, Major::K, 64, 256, gemm::Turns::Together, 1, 1,
                             4, gemm::Promotion::EachColumn, Type::e4m3, false, true),
                   vectors);
  expect_all_right(TCQ_LARGE(Type::e4m3, Major::K, Major::K, 128, 256, gemm::Turns::Together, 1, 1,
                             4, gemm::Promotion::None, Type::e5m2, false, true),
                   {Scaling::RowColumn});
  expect_all_right(TCQ_COPYING(Type::e5m2, Major::K, Major::K, 64, 256, gemm::Turns::Together, 1, 1,
                               4, gemm::Promotion::None, Type::e5m2, false, true),
                   {Scaling::Tensor});
}

// 40 groups, more than a warp looks at in one go, of which the last ones have rows.
Groups forty_groups() {
  Groups many = {.m = 20, .n = 320, .k = 64};
  for (int i = 0; i < 40; ++i) many.sizes.push_back(i < 34 ? 0 : 3 * (i - 33));
  return many;
}

void expect_groups_right(const TestKernel& kernel, Scaling scaling) {
  std::vector<Groups> all = {ends, counts, forty_groups(), numbered(700)};
  for (const Groups& wrong : wrong_sizes()) all.push_back(wrong);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Groups g = with(all[i], scaling);
    g.n = i % 2 == 0 ? 288 : 600;
    g.activation = i % 2 == 0 ? Activation::None : Activation::Swiglu;
    g.quantized = i % 2 == 0 ? e4m3 : turned;
    g.pad = i % 3 == 0 ? 16 : i % 3 == 1 ? 0 : 1;
    GemmKernelRun run = run_of(kernel.ptx(), kernel, g);
    const Fault fault = run.go();
    ASSERT_EQ(fault, Fault::None) << i << ' ' << info(fault).name << run.run().place();
    EXPECT_EQ(run.differing(), 0u) << name(kernel.row) << ": " << i;
  }
}

TEST_F(QuantizedPtx, GroupsOfOtherFp8Types) {
  expect_groups_right(TCQ_LARGE(Type::e5m2, Major::K, Major::K, 64, 256, gemm::Turns::Together, 1,
                                1, 4, gemm::Promotion::EachColumn, Type::e5m2, true, true),
                      Scaling::Vector128);
  expect_groups_right(TCQ_LARGE(Type::e5m2, Major::K, Major::K, 128, 256, gemm::Turns::Together, 1,
                                1, 4, gemm::Promotion::None, Type::e4m3, true, true),
                      Scaling::RowColumn);
}

TEST_F(QuantizedPtx, Groups) {
  expect_groups_right(TCQ_QUANTIZING(64, 4, ColumnBlocks, true), Scaling::Block128);
  expect_groups_right(TCQ_QUANTIZING(64, 4, EachColumn, true), Scaling::Vector128);
  expect_groups_right(TCQ_QUANTIZING(128, 4, None, true), Scaling::RowColumn);
  expect_groups_right(TCQ_QUANTIZING_FEW(16, 1, 4, EachColumn, true), Scaling::Block128);
}

// NaNs and infinities count for no factor and become FP8's.
TEST_F(QuantizedPtx, ValuesThatAreNoNumbers) {
  const TestKernel kernel = TCQ_QUANTIZING(64, 4, None, false);
  const TestKernel few = TCQ_QUANTIZING_FEW(16, 1, 4, None, false);
  for (const TestKernel& k : {kernel, few}) {
    Fp8Case c = {.m = 64, .n = 512, .k = 128, .alpha = 1e30f, .quantized = e4m3};
    c.values = Values::Specials;
    expect_right(k, c);
    c.alpha = 3e38f;
    c.values = Values::Wide;
    expect_right(k, c);
    c.alpha = 1e-38f;
    expect_right(k, c);
    c.alpha = 0;
    expect_right(k, c);
  }
}

// More tiles of one block of K than stages, two ways out of D by TMA and two by threads, and more blocks than stages.
void expect_deletions_found(const TestKernel& kernel, const Scales& scales, std::size_t most) {
  const int m = kernel.row.block_m, n = kernel.row.block_n;
  const auto swiglu = Activation::Swiglu;
  std::vector<Fp8Case> launches = {
      {.m = 3 * m, .n = 2 * n, .k = 1},
      {.m = 2 * m, .n = 2 * n, .k = 3, .has_bias = true, .activation = swiglu},
      {.m = 2 * m, .n = 2 * n, .k = 2, .pad_d = 1},
      {.m = 2 * m, .n = 2 * n, .k = 2, .has_bias = true, .activation = swiglu, .pad_d = 1},
      {.m = m, .n = n, .k = 5},
      {.m = m, .n = n, .k = 10},
      {.m = m, .n = n, .k = 11}};
  for (Fp8Case& c : launches) {
    c.k *= 128 * kernel.row.split;
    c.scales = scales;
    c.quantized = e4m3;
  }
  const Deletions done = delete_each(
      text_of(kernel), std::span<const Fp8Case>(launches),
      [&](const std::string& text, const Fp8Case& c) { return run_of(text, kernel, c); });
  EXPECT_GT(done.count, 40u);
  done.print();
  EXPECT_LE(done.missed.size(), most) << name(kernel.row);
}

// Open: a wgmma.fence ahead of registers that nobody has touched, which only ptxas asks for (C7519).
TEST_F(QuantizedPtx, EachDeletedSynchronisationIsFound) {
  expect_deletions_found(TCQ_QUANTIZING(64, 4, ColumnBlocks, false), blocks, 1);
}

// And a meeting before a CTA's first tile, which is its only one; and two arrivals that nothing reaches, as a last block of K
// frees no stage.
TEST_F(QuantizedPtx, EachDeletedSynchronisationOfFewRowsIsFound) {
  expect_deletions_found(TCQ_QUANTIZING_FEW(16, 2, 4, EachColumn, false), blocks, 4);
}

}  // namespace
}  // namespace tcq::tests
