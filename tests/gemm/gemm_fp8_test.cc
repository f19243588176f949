// FP8 problems without a GPU: which kernel a scaling gets, what plans and files of choices say. What is refused:
// gemm_scaling_test.cc; the bits: tests/run/run_fp8_gemm_test.cc, tests/live/live_gemm_fp8_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "cuda/gemm/check.h"
#include "cuda/gemm/gemm.h"
#include "cuda/gemm/gemm_c.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/path.h"
#include "cuda/gemm/quantize.h"
#include "cuda/gemm/run.h"
#include "cuda/gemm/stream_k.h"
#include "cuda/gemm/tune_cache.h"
#include "tests/support/temporary_folder.h"

namespace tcq::gemm {
namespace {

const Device h200 = {};

Problem fp8(std::int64_t m, std::int64_t n, std::int64_t k, Scaling scaling = Scaling::None) {
  Problem p{.m = m, .n = n, .k = k, .in = Type::e4m3};
  p.scaling = scaling;
  return p;
}

Plan planned(const Problem& p) {
  Plan plan;
  EXPECT_EQ(make_plan_for(p, h200, plan), Status::Ok);
  return plan;
}

TEST(Gemm_Fp8, EveryScalingAndPairOfTypesHasAKernelThatDoesIt) {
  for (const Type a : {Type::e4m3, Type::e5m2}) {
    for (const Type b : {Type::e4m3, Type::e5m2}) {
      for (int scaling = 0; scaling < scaling_count; ++scaling) {
        for (const std::int64_t m : {1, 40, 128, 1000}) {
          Problem p = fp8(m, 2112, 7168, static_cast<Scaling>(scaling));
          p.in = a;
          p.in_b = b;
          for (const bool promotes : {false, true}) {
            p.promotes = promotes;
            const Plan plan = planned(p);
            for (const Launch& l : {plan.aligned, plan.unaligned}) {
              EXPECT_EQ(l.kernel->in, a);
              EXPECT_EQ(l.kernel->in_b, b);
              EXPECT_EQ(l.kernel->promotion != Promotion::None, is_promoted(p));
              if (p.scaling == Scaling::Vector128) {
                EXPECT_EQ(l.kernel->promotion, Promotion::EachColumn);
              }
            }
            EXPECT_EQ(plan.aligned.kernel->loader, Loader::Tma);
          }
        }
      }
    }
  }
}

TEST(Gemm_Fp8, FactorsAreReadOrNot) {
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<float*>(address); };
  const Plan with = planned(fp8(64, 64, 64, Scaling::RowColumn));
  Pointers x = {at(16), at(16), nullptr, at(16), nullptr, at(16), at(20)};
  EXPECT_EQ(check(with, x, {}), Status::Ok);
  x.scale_b = nullptr;
  EXPECT_EQ(check(with, x, {}), Status::NullPointer);
  EXPECT_EQ(check(planned(fp8(64, 64, 64)), x, {}), Status::Ok);
  x.scale_b = at(18);
  EXPECT_EQ(check(with, x, {}), Status::Misaligned);
}

Problem quantized(std::int64_t m, Scaling scaling, std::int64_t k = 1000) {
  Problem p = fp8(m, 4096, k, scaling);
  p.quantized = Type::e4m3;
  return p;
}

TEST(Gemm_Fp8, EveryQuantizedDHasAKernelThatMakesIt) {
  int few = 0, narrow = 0;
  for (int scaling = 0; scaling < scaling_count; ++scaling)
    for (const std::int64_t m : {1, 16, 40, 64, 128, 500, 3000})
      for (const auto activation : {Activation::None, Activation::Silu, Activation::Swiglu})
        for (const auto grouping :
             {Grouping::None, Grouping::Ends, Grouping::Counts, Grouping::RowIds})
          for (const bool invariant : {false, true}) {
            Problem p = quantized(m, static_cast<Scaling>(scaling));
            p.activation = activation;
            p.grouping = grouping;
            p.batch = grouping == Grouping::None ? 1 : 8;
            p.batch_invariant = invariant;
            const Plan plan = planned(p);
            for (const Launch* l : {&plan.aligned, &plan.unaligned, &plan.realigned}) {
              ASSERT_NE(l->kernel, nullptr);
              EXPECT_GE(l->kernel->quantized_columns, is_gated(activation) ? 256 : 128);
              if (invariant) {
                EXPECT_EQ(l->kernel->split, 1);
              }
            }
            few += plan.realigned.kernel->skinny == Skinny::Rows;
            narrow += plan.realigned.kernel->quantized_columns == 128;
          }
  EXPECT_GT(few, 100);
  EXPECT_GT(narrow, 50);
  Problem plain = quantized(64, Scaling::Block128);
  plain.quantized = {};
  EXPECT_EQ(planned(plain).aligned.kernel->quantized_columns, 0);
}

TEST(Gemm_Fp8, APlanSaysThatDIsQuantized) {
  Problem p = quantized(64, Scaling::Block128);
  p.scale_d_power_of_two = true;
  EXPECT_NE(describe(planned(p))
                .find("bf16, A K-major, B K-major, then e4m3 with a factor for 128 "
                      "columns of a row, a power of two\n"),
            std::string::npos)
      << describe(planned(p));
}

TEST(Gemm_Fp8, APlanSaysItsFactorsAndItsOrder) {
  const std::string text = describe(planned(fp8(4096, 4096, 512, Scaling::Block128)));
  EXPECT_NE(text.find("factors: of 128 of K, of each row of A and of 128 columns of B\n"),
            text.npos);
  EXPECT_NE(text.find("order: chains of 128 over ascending k, 32 at a time\n"), text.npos);
  Problem p = fp8(4096, 4096, 512);
  p.in_b = Type::e5m2;
  const std::string chain = describe(planned(p));
  EXPECT_NE(chain.find("e4m3 * e5m2 -> bf16"), chain.npos);
  EXPECT_NE(chain.find("promotion: none"), chain.npos);
  EXPECT_NE(chain.find("order: one chain of wgmmas over ascending k, 32 at a time\n"), chain.npos);
}

TEST(Gemm_Fp8, CSaysTheSame) {
  tcq_gemm_problem p;
  ASSERT_EQ(tcq_gemm_defaults(&p, sizeof p), 0);
  EXPECT_EQ(p.in_b, -1);
  p.m = p.n = p.k = 8;
  p.in = TCQ_GEMM_E4M3;
  p.in_b = TCQ_GEMM_E5M2;
  p.scaling = TCQ_GEMM_SCALE_BLOCK_128;
  EXPECT_EQ(tcq_gemm_check(&p), 0);
  p.reserved = 1;
  EXPECT_EQ(tcq_gemm_check(&p), static_cast<int>(Status::UnknownField));
  p.reserved = 0;
  for (const std::int32_t code : {-1, 5, 255, 256}) {
    p.scaling = code;
    EXPECT_EQ(tcq_gemm_check(&p), static_cast<int>(Status::UnsupportedScaling));
  }
  p.scaling = TCQ_GEMM_NO_SCALING;
  p.in_b = TCQ_GEMM_S8;
  EXPECT_EQ(tcq_gemm_check(&p), static_cast<int>(Status::UnsupportedTypes));
}

TEST(Gemm_Fp8, CQuantizesAsCppDoes) {
  const float source[6] = {1, -2, 3.5f, 0, 448, 1e-3f};
  std::uint8_t target[6] = {}, want[6] = {};
  float factors[2] = {}, want_factors[2] = {};
  const Quantize q{.rows = 2, .columns = 3, .in = Type::f32, .power_of_two = true};
  ASSERT_EQ(quantize_on_host(q, source, want, want_factors), Status::Ok);
  tcq_gemm_quantizer c = {};
  c.size = sizeof c;
  c.rows = 2;
  c.columns = 3;
  c.in = TCQ_GEMM_F32;
  c.out = TCQ_GEMM_E4M3;
  c.block = TCQ_GEMM_QUANTIZE_VECTOR_128;
  c.power_of_two = 1;
  c.ld_source = c.ld_target = c.ld_factors = -1;
  ASSERT_EQ(tcq_gemm_quantize_on_host(&c, source, target, factors), 0);
  EXPECT_TRUE(std::equal(target, target + 6, want));
  EXPECT_TRUE(std::equal(factors, factors + 2, want_factors));
  EXPECT_EQ(tcq_gemm_quantize(&c, nullptr, target, factors, nullptr),
            static_cast<int>(Status::NullPointer));
  c.block = 3;
  EXPECT_EQ(tcq_gemm_quantize_on_host(&c, source, target, factors),
            static_cast<int>(Status::UnsupportedTypes));
  c.block = 0;
  c.waits_for_end = 1;
  EXPECT_EQ(tcq_gemm_quantize_on_host(&c, source, target, factors), 0);
  c.waits_for_end = 2;
  EXPECT_EQ(tcq_gemm_quantize_on_host(&c, source, target, factors),
            static_cast<int>(Status::UnknownField));
}

TEST(Gemm_Fp8, ChoicesOfTheTunerKeepScalingsApart) {
  const TemporaryFolder folder;
  TuneCache cache;
  Problem p = fp8(64, 64, 64);
  for (int scaling = 0; scaling < scaling_count; ++scaling) {
    p.scaling = static_cast<Scaling>(scaling);
    EXPECT_EQ(cache.remember(tune_key(p, h200, "x"), std::to_string(scaling)), Status::Ok);
  }
  EXPECT_EQ(cache.size(), static_cast<std::size_t>(scaling_count));
  ASSERT_EQ(cache.save(folder.file("choices.json")), Status::Ok);
  TuneCache again;
  ASSERT_EQ(again.load(folder.file("choices.json")), Status::Ok);
  EXPECT_EQ(again.find(tune_key(p, h200, "x")), std::to_string(scaling_count - 1));
  p.scaling = Scaling::Tensor;
  EXPECT_EQ(again.find(tune_key(p, h200, "x")), "1");
}

// TMA brings factors from multiples of 16 bytes alone: others take a kernel whose threads load them, and the same order.
TEST(Gemm_Fp8, FactorsAnywhereHaveAKernelThatLoadsThem) {
  const Plan plan = planned(fp8(8192, 8192, 8192, Scaling::Block128));
  ASSERT_TRUE(plan.aligned.kernel->stages_factors);
  const auto path_with = [](const Plan& made, std::uintptr_t of_b) {
    Pointers x;
    x.a = x.b = x.d = reinterpret_cast<void*>(std::uintptr_t{4096});
    x.scale_a = reinterpret_cast<const float*>(std::uintptr_t{16});
    x.scale_b = reinterpret_cast<const float*>(of_b);
    return path_of(made, x, {});
  };
  EXPECT_EQ(path_with(plan, 32), Path::Aligned);
  EXPECT_EQ(path_with(plan, 20), Path::AnyFactors);
  const Kernel& kernel = *launch_of(plan, Path::AnyFactors).kernel;
  EXPECT_FALSE(kernel.stages_factors);
  EXPECT_EQ(kernel.loader, Loader::Tma);
  EXPECT_EQ(k_segments(plan, Path::AnyFactors).size(), 1u);
  EXPECT_NE(describe(plan).find("any factors: "), std::string::npos);
  // One block of K more, with which the factors of a row begin at no multiples of 16 bytes.
  const Plan other = planned(fp8(8192, 8192, 8192 + 128, Scaling::Block128));
  EXPECT_FALSE(other.aligned.kernel->stages_factors);
  EXPECT_EQ(path_with(other, 20), Path::Aligned);
}

// A kernel has slots for the factors of blocks of 128 columns, or for those of each column.
TEST(Gemm_Fp8, FactorsThatTmaBringsAreAsTheKernelHasThem) {
  int of_blocks = 0, of_each = 0;
  for (const Kernel& k : kernels()) {
    if (!k.stages_factors || k.grouped) continue;
    const bool each = k.promotion == Promotion::EachColumn;
    for (const Scaling scaling : {Scaling::Block128, Scaling::Vector128}) {
      Plan plan;
      const Status status = make_plan_for(fp8(4096, 4096, 4096, scaling), h200, k, plan);
      EXPECT_EQ(status == Status::Ok, each == (scaling == Scaling::Vector128)) << name(k);
    }
    ++(each ? of_each : of_blocks);
  }
  EXPECT_GE(of_blocks, 7);
  EXPECT_GE(of_each, 4);
  const Plan vectors = planned(fp8(4096, 4096, 4096, Scaling::Vector128));
  EXPECT_TRUE(vectors.aligned.kernel->stages_factors);
  EXPECT_FALSE(vectors.any_factors.kernel->stages_factors);
}

TEST(Gemm_Fp8, FilesOfChoicesBeforeFp8AreRead) {
  const TemporaryFolder folder;
  const std::string path = folder.file("choices.json");
  const TuneKey key = tune_key({.m = 64, .n = 64, .k = 64}, h200, "x");
  TuneCache cache;
  cache.remember(key, "a kernel");
  ASSERT_EQ(cache.save(path), Status::Ok);
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  constexpr std::string_view now = "\"version\": 2";
  ASSERT_NE(text.find(now), text.npos);
  std::ofstream(path) << text.replace(text.find(now), now.size(), "\"version\": 1");
  TuneCache again;
  EXPECT_EQ(again.load(path), Status::Ok);
  EXPECT_EQ(again.find(key), "a kernel");
}

// 135 tiles of 128 x 192 for 132 SMs: their blocks of K are dealt.
TEST(Gemm_Fp8, APlanAsksForAWorkspaceForSumsAndDoesWithout) {
  Problem p = {.m = 582, .n = 5120, .k = 27648, .in = Type::e4m3};
  p.scaling = Scaling::Block128;
  Plan plan;
  ASSERT_EQ(make_plan_for(p, {}, plan), Status::Ok);
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<void*>(address); };
  const Launch& l = plan.aligned;
  ASSERT_GT(l.runs.tiles, l.clusters);
  const std::size_t bytes = workspace_bytes(plan);
  EXPECT_EQ(bytes, stream_k_bytes(l));
  EXPECT_NE(
      describe(plan).find(", the last " + std::to_string(l.runs.tiles) + " dealt by " +
                          std::to_string(l.runs.blocks) + " blocks of K\nwithout a workspace"),
      std::string::npos);
  Pointers x = {.a = at(16), .b = at(16), .d = at(16)};
  x.scale_a = x.scale_b = static_cast<const float*>(at(16));
  EXPECT_EQ(workspace_bytes(plan, x), bytes);
  EXPECT_EQ(path_of(plan, x, {at(3), bytes}), Path::Aligned);
  EXPECT_EQ(work_of(plan, Path::Aligned, x, {at(3), bytes}).arguments.stream_k.blocks,
            l.runs.tiles * l.k_blocks);
  // Another kernel, where that is faster, with the same order of sums.
  EXPECT_EQ(check(plan, x, {at(3), bytes - 1}), Status::Ok);
  EXPECT_EQ(path_of(plan, x, {at(3), bytes - 1}), Path::Whole);
  EXPECT_EQ(path_of(plan, x, {}), Path::Whole);
  EXPECT_NE(launch_of(plan, Path::Whole).kernel, l.kernel);
  EXPECT_EQ(k_segments(plan, Path::Whole), k_segments(plan, Path::Aligned));
  EXPECT_EQ(k_segments(plan, Path::Whole).size(), 1u);
  const Work whole = work_of(plan, Path::Whole, x, {});
  EXPECT_EQ(whole.arguments.stream_k.blocks, 0);
  EXPECT_EQ(whole.arguments.stream_k.whole, tile_count(plan.whole.schedule));
  // Factors anywhere, or operands, take other kernels, which deal whole tiles.
  x.scale_a = static_cast<const float*>(at(20));
  EXPECT_EQ(path_of(plan, x, {at(3), bytes}), Path::AnyFactors);
  EXPECT_EQ(workspace_bytes(plan, x), 0u);
  EXPECT_EQ(work_of(plan, Path::AnyFactors, x, {at(3), bytes}).arguments.stream_k.blocks, 0);
}

}  // namespace
}  // namespace tcq::gemm
