// Grouped products without a GPU: what is refused, which kernels they get, what these are told. Their bits:
// tests/run/run_grouped_gemm_test.cc, tests/live/live_gemm_group_test.cc.
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "cuda/gemm/check.h"
#include "cuda/gemm/gemm.h"
#include "cuda/gemm/gemm_c.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/run.h"
#include "cuda/gemm/tune.h"

namespace tcq::gemm {
namespace {

const Device h200 = {};

Problem groups(Grouping by, std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t k,
               Type in = Type::bf16) {
  Problem p{.m = m, .n = n, .k = k, .batch = count, .in = in};
  if (in == Type::f16) p.out = Type::f16;
  p.grouping = by;
  return p;
}

Plan planned(const Problem& p) {
  Plan plan;
  EXPECT_EQ(make_plan_for(p, h200, plan), Status::Ok);
  return plan;
}

TEST(Gemm_Groups, WhatNoKernelComputesIsRefused) {
  EXPECT_EQ(check(groups(Grouping::Ends, 8, 100, 64, 64)), Status::Ok);
  EXPECT_EQ(check(groups(static_cast<Grouping>(grouping_count), 8, 100, 64, 64)),
            Status::UnsupportedGrouping);
  Problem p = groups(Grouping::Ends, 8, 100, 64, 64, Type::s8);
  p.out = Type::s32;
  EXPECT_EQ(check(p), Status::UnsupportedGrouping);
  p = groups(Grouping::Ends, 8, 100, 64, 64, Type::e4m3);
  EXPECT_EQ(check(p), Status::Ok);
  p.in_b = Type::e5m2;
  EXPECT_EQ(check(p), Status::Ok);
  p = groups(Grouping::Counts, 8, 100, 64, 64);
  p.major_b = Major::MN;
  EXPECT_EQ(check(p), Status::Ok);
  p.in = Type::e4m3;
  EXPECT_EQ(check(p), Status::UnsupportedGrouping);
  p = groups(Grouping::Counts, 8, 100, 64, 64);
  p.major_a = Major::MN;
  EXPECT_EQ(check(p), Status::UnsupportedGrouping);
  p.major_a = Major::K;
  p.expected_rows = -1;
  EXPECT_EQ(check(p), Status::NegativeSize);
}

TEST(Gemm_Groups, EveryTypeScalingAndGroupingHasAKernel) {
  for (const auto& [in, in_b] :
       {std::pair{Type::bf16, Type::bf16}, std::pair{Type::f16, Type::f16},
        std::pair{Type::e4m3, Type::e4m3}, std::pair{Type::e4m3, Type::e5m2},
        std::pair{Type::e5m2, Type::e4m3}, std::pair{Type::e5m2, Type::e5m2}}) {
    for (const Grouping by : {Grouping::Ends, Grouping::Counts, Grouping::RowIds}) {
      for (int scaling = 0; scaling < (is_fp8(in) ? scaling_count : 1); ++scaling) {
        for (const std::int64_t m : {1, 256, 16384}) {
          Problem p = groups(by, 64, m, 4096, 7168, in);
          p.scaling = static_cast<Scaling>(scaling);
          p.in_b = in_b;
          const Plan plan = planned(p);
          for (const Launch& l : {plan.aligned, plan.unaligned}) {
            EXPECT_TRUE(l.kernel->grouped);
            EXPECT_EQ(l.kernel->in_b, in_b);
            EXPECT_EQ(l.kernel->promotion != Promotion::None, is_promoted(p));
            EXPECT_GT(l.clusters, 0);
            if (by == Grouping::RowIds) {
              EXPECT_EQ(128 % (l.kernel->block_m * l.kernel->cluster_m), 0);
            }
          }
          EXPECT_EQ(plan.aligned.kernel->loader, Loader::Tma);
        }
      }
    }
  }
  EXPECT_FALSE(planned({.m = 64, .n = 64, .k = 64, .batch = 4}).aligned.kernel->grouped);
}

// Weights of experts as they are often kept, which nothing turns first.
TEST(Gemm_Groups, RowMajorBIsReadWhereItLies) {
  for (const Type in : {Type::bf16, Type::f16}) {
    for (const Grouping by : {Grouping::Ends, Grouping::Counts, Grouping::RowIds}) {
      for (const std::int64_t m : {1, 256, 16384}) {
        Problem p = groups(by, 64, m, 4096, 7168, in);
        p.major_b = Major::MN;
        const Plan plan = planned(p);
        EXPECT_EQ(plan.aligned.kernel->loader, Loader::Tma);
        EXPECT_EQ(plan.aligned.kernel->major_b, Major::MN);
        EXPECT_TRUE(plan.aligned.kernel->grouped);
        EXPECT_FALSE(plan.turns_b);
        EXPECT_EQ(plan.workspace_bytes, 0u);
        EXPECT_EQ(plan.unaligned.kernel->loader, Loader::Copy);
      }
    }
  }
  Problem p = groups(Grouping::Ends, 8, 256, 512, 512);
  p.major_b = Major::MN;
  Plan plan;
  const Device b200 = {.major = 10, .minor = 0};
  const Status status = make_plan_for(p, b200, plan);
  EXPECT_EQ(status, tensor_kernels().empty() ? Status::WrongArchitecture : Status::NotOnTcgen05);
}

// D quantized of groups, of every pair of FP8 types and whatever activation.
TEST(Gemm_Groups, QuantizedDOfEveryPairOfTypes) {
  for (const Type in : {Type::e4m3, Type::e5m2}) {
    for (const Type in_b : {Type::e4m3, Type::e5m2}) {
      for (const Grouping by :
           {Grouping::None, Grouping::Ends, Grouping::Counts, Grouping::RowIds}) {
        for (int i = 0; i < 2 * scaling_count; ++i) {
          Problem p = groups(by, 8, 4096, 1024, 2048, in);
          p.in_b = in_b;
          p.scaling = static_cast<Scaling>(i % scaling_count);
          p.activation = i < scaling_count ? Activation::None : Activation::Swiglu;
          p.quantized = Type::e4m3;
          const Plan plan = planned(p);
          EXPECT_GT(plan.aligned.kernel->quantized_columns, 0);
          EXPECT_EQ(plan.aligned.kernel->loader, Loader::Tma);
          EXPECT_EQ(plan.aligned.kernel->in_b, in_b);
        }
      }
    }
  }
}

// --- along K ---------------------------------------------------------------------------------------

TEST(Gemm_GroupsAlongK, EveryTypeMajorAndScalingHasAKernel) {
  for (const Type in : {Type::bf16, Type::f16, Type::e4m3, Type::e5m2}) {
    for (const Type in_b : {in, Type::e4m3, Type::e5m2}) {
      if (!is_fp8(in) && in_b != in) continue;
      for (int scaling = 0; scaling < (is_fp8(in) ? scaling_count : 1); ++scaling) {
        for (const Major a : {Major::K, Major::MN}) {
          for (const Major b : {Major::K, Major::MN}) {
            Problem p = groups(Grouping::KEnds, 16, 1024, 2048, 4096, in);
            p.in_b = in_b;
            p.major_a = a;
            p.major_b = b;
            p.scaling = static_cast<Scaling>(scaling);
            const Plan plan = planned(p);
            for (const Launch& l : {plan.aligned, plan.unaligned}) {
              EXPECT_TRUE(l.kernel->groups_k);
              EXPECT_FALSE(l.kernel->grouped);
              EXPECT_EQ(l.kernel->promotion != Promotion::None, is_promoted(p));
            }
            const bool by_tma = !is_fp8(in) || (a == Major::K && b == Major::K);
            EXPECT_EQ(plan.aligned.kernel->loader == Loader::Tma, by_tma);
            EXPECT_EQ(plan.aligned.schedule.batch, 16);
          }
        }
      }
    }
  }
  EXPECT_FALSE(planned(groups(Grouping::None, 4, 64, 64, 64)).aligned.kernel->groups_k);
}

TEST(Gemm_GroupsAlongK, WhatNoKernelComputesIsRefused) {
  Problem p = groups(Grouping::KEnds, 8, 100, 64, 64, Type::tf32);
  p.out = Type::f32;
  EXPECT_EQ(check(p), Status::UnsupportedGrouping);
  p = groups(Grouping::KEnds, 8, 100, 64, 64, Type::e4m3);
  EXPECT_EQ(check(p), Status::Ok);
  p.quantized = Type::e4m3;
  EXPECT_EQ(check(p), Status::UnsupportedGrouping);
}

// A and B are one matrix each, whatever their batch strides; factors are each group's, or of the whole K's blocks.
TEST(Gemm_GroupsAlongK, OperandsAreSharedAndSizesReachTheKernel) {
  const std::int32_t sizes[8] = {};
  Problem p = groups(Grouping::KEnds, 8, 96, 640, 512, Type::e4m3);
  p.scaling = Scaling::RowColumn;
  const Problem r = resolved(p);
  EXPECT_EQ(r.a.batch, 0);
  EXPECT_EQ(r.b.batch, 0);
  EXPECT_EQ(r.d.batch, 96 * 640);
  EXPECT_EQ(r.scale_a.batch, 96);
  p.scaling = Scaling::Vector128;
  EXPECT_EQ(resolved(p).scale_b.batch, 0);
  const Plan plan = planned(p);
  Pointers x = {.a = sizes, .b = sizes, .d = const_cast<std::int32_t*>(sizes)};
  EXPECT_EQ(check(plan, x, {}), Status::NullPointer);
  x.scale_a = x.scale_b = reinterpret_cast<const float*>(sizes);
  EXPECT_EQ(check(plan, x, {}), Status::NullPointer);
  x.sizes = sizes;
  const Arguments arguments = work_of(plan, Path::Unaligned, x, {}).arguments;
  EXPECT_EQ(arguments.groups.by, Grouping::KEnds);
  EXPECT_EQ(arguments.groups.count, 8);
  EXPECT_EQ(arguments.groups.sizes, sizes);
  EXPECT_NE(describe(plan).find("groups: 8, one behind the other along K, by their ends"),
            std::string::npos);
}

// --- rows ------------------------------------------------------------------------------------------

// A grid has a tile for whatever the sizes may be.
TEST(Gemm_Groups, TilesSufficeForEverySize) {
  for (const std::int64_t m : {1, 31, 4000}) {
    for (const std::int64_t count : {1, 7, 300}) {
      const auto tiles = [&](Grouping by) {
        const Launch l = planned(groups(by, count, m, 1000, 512)).unaligned;
        const std::int64_t across = (1000 + l.kernel->block_n - 1) / l.kernel->block_n;
        EXPECT_EQ(tile_count(l.schedule) % across, 0);
        return tile_count(l.schedule) / across;
      };
      EXPECT_EQ(tiles(Grouping::Ends), (m + 127) / 128 + count);
      EXPECT_EQ(tiles(Grouping::Counts), (m + 127) / 128 * count);
      EXPECT_EQ(tiles(Grouping::RowIds), (m + 127) / 128);
    }
  }
}

TEST(Gemm_Groups, FewExpectedRowsGetAKernelForFewRows) {
  Problem p = groups(Grouping::Counts, 64, 4096, 4096, 7168);
  EXPECT_EQ(planned(p).aligned.kernel->skinny, Skinny::No);
  p.expected_rows = 8;
  EXPECT_EQ(planned(p).aligned.kernel->skinny, Skinny::Rows);
  EXPECT_EQ(planned(groups(Grouping::Ends, 256, 2048, 4096, 7168)).aligned.kernel->skinny,
            Skinny::Rows);
}

TEST(Gemm_Groups, SizesReachTheKernel) {
  const std::int32_t sizes[8] = {};
  const Plan plan = planned(groups(Grouping::Counts, 8, 100, 640, 64));
  Pointers x = {.a = sizes, .b = sizes, .d = const_cast<std::int32_t*>(sizes)};
  EXPECT_EQ(check(plan, x, {}), Status::NullPointer);
  x.sizes = sizes;
  const Arguments arguments = work_of(plan, Path::Unaligned, x, {}).arguments;
  EXPECT_EQ(arguments.groups.by, Grouping::Counts);
  EXPECT_EQ(arguments.groups.count, 8);
  EXPECT_EQ(arguments.groups.tiles_across, 5);
  EXPECT_EQ(arguments.groups.band, 8);
  EXPECT_EQ(arguments.groups.tiles_of_band.value, 40);
  EXPECT_EQ(arguments.groups.sizes, sizes);
  // Few rows: all tiles of a group's rows for one of weights.
  const Plan few = planned(groups(Grouping::Ends, 256, 2048, 4096, 7168));
  ASSERT_EQ(few.aligned.kernel->skinny, Skinny::Rows);
  const Groups of_few = work_of(few, Path::Aligned, x, {}).arguments.groups;
  EXPECT_EQ(of_few.band, std::numeric_limits<int>::max() / of_few.tiles_across);
  x.sizes = reinterpret_cast<const std::int32_t*>(reinterpret_cast<std::uintptr_t>(sizes) + 2);
  EXPECT_EQ(check(plan, x, {}), Status::Misaligned);
}

// A box of factors along rows begins at a multiple of 16 bytes, and a group by ends at any row.
TEST(Gemm_Groups, FactorsThatTmaBringsBeginWithAnyGroupAlongK) {
  const auto stages = [](Grouping by, Major of_rows) {
    Problem p = groups(by, 4, 32768, 7168, 2048, Type::e4m3);
    p.scaling = Scaling::Block128;
    p.major_scale_a = of_rows;
    return planned(p).aligned.kernel->stages_factors;
  };
  EXPECT_TRUE(stages(Grouping::Ends, Major::K));
  EXPECT_FALSE(stages(Grouping::Ends, Major::MN));
  EXPECT_TRUE(stages(Grouping::Counts, Major::MN));
}

TEST(Gemm_Groups, APlanSaysItsGroups) {
  const std::string text = describe(planned(groups(Grouping::Ends, 8, 100, 64, 64)));
  EXPECT_NE(
      text.find("groups: 8, one behind the other in A, by their ends; sizes are the device's\n"),
      text.npos)
      << text;
}

TEST(Gemm_Groups, CSaysTheSame) {
  tcq_gemm_problem p;
  ASSERT_EQ(tcq_gemm_defaults(&p, sizeof p), 0);
  p.m = p.n = p.k = p.batch = 8;
  for (const int grouping : {TCQ_GEMM_GROUP_OF_ROW, TCQ_GEMM_GROUP_K_ENDS}) {
    p.grouping = grouping;
    EXPECT_EQ(tcq_gemm_check(&p), 0);
  }
  for (const std::int32_t code : {-1, grouping_count, 256}) {
    p.grouping = code;
    EXPECT_EQ(tcq_gemm_check(&p), static_cast<int>(Status::UnsupportedGrouping));
  }
}

}  // namespace
}  // namespace tcq::gemm
