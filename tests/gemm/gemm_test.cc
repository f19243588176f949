// The GEMM library without a GPU: errors, plans, the order of tiles.
#include "cuda/gemm/gemm.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda/gemm/kernels.h"
#include "tests/support/gemm_case.h"

namespace tcq::gemm {
namespace {

const Device h200 = {};

Problem bf16(std::int64_t m, std::int64_t n, std::int64_t k) { return {.m = m, .n = n, .k = k}; }

Plan planned(const Problem& problem) {
  Plan plan;
  EXPECT_EQ(make_plan_for(problem, h200, plan), Status::Ok);
  return plan;
}

// An address that is never followed.
void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

const Pointers aligned = {at(4096), at(8192), at(12288), at(16384), at(20480)};

// --- errors ----------------------------------------------------------------------------------------

TEST(Gemm_Status, EveryOneHasItsOwnNameAndSentence) {
  std::set<std::string> names;
  std::set<std::string> sentences;
  for (int i = 0; i < status_count; ++i) {
    names.insert(name(static_cast<Status>(i)));
    sentences.insert(sentence(static_cast<Status>(i)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(status_count));
  EXPECT_EQ(sentences.size(), static_cast<std::size_t>(status_count));
  EXPECT_FALSE(names.contains("?"));
}

TEST(Gemm_Check, SizesAndOverflow) {
  for (Problem p : {bf16(-1, 8, 8), bf16(8, -1, 8), bf16(8, 8, -1)})
    EXPECT_EQ(check(p), Status::NegativeSize);
  Problem p = bf16(8, 8, 8);
  p.batch = -1;
  EXPECT_EQ(check(p), Status::NegativeSize);
  EXPECT_EQ(check(bf16(2147418112, 1, 1)), Status::Ok);
  EXPECT_EQ(check(bf16(2147418113, 1, 1)), Status::SizeTooLarge);
  EXPECT_EQ(check(bf16(1, INT64_MAX, 1)), Status::SizeTooLarge);
  p = bf16(8, 8, 8);
  p.a.ld = INT64_MAX / 4;
  EXPECT_EQ(check(p), Status::SizeTooLarge);
  p = bf16(1 << 30, 1 << 30, 8);
  EXPECT_EQ(check(p), Status::SizeTooLarge);
  p = bf16(8, 8, 8);
  p.batch = 1 << 30;
  p.d.batch = std::int64_t{1} << 40;
  EXPECT_EQ(check(p), Status::SizeTooLarge);
  Plan plan;
  EXPECT_EQ(make_plan_for(bf16(2147418112, 2147418112 / 4, 0), h200, plan), Status::SizeTooLarge);
}

TEST(Gemm_Check, Types) {
  std::set<std::pair<Type, Type>> taken;
  for (int pair = 0; pair < type_count * type_count; ++pair) {
    Problem p = bf16(8, 8, 8);
    p.in = static_cast<Type>(pair / type_count);
    p.out = static_cast<Type>(pair % type_count);
    const bool is_float = p.out == Type::bf16 || p.out == Type::f16 || p.out == Type::f32;
    const Status refused =
        p.in == Type::e2m1 && is_float ? Status::UnsupportedScaling : Status::UnsupportedTypes;
    if (const Status status = check(p); status != Status::Ok) {
      EXPECT_EQ(status, refused);
      continue;
    }
    taken.insert({p.in, p.out});
    EXPECT_NE(planned(p).aligned.kernel, nullptr);
  }
  EXPECT_EQ(taken.size(), 17u);
}

TEST(Gemm_Check, EpiloguesOfIntegers) {
  Problem p = bf16(8, 8, 8);
  p.in = Type::s8;
  p.out = Type::s32;
  EXPECT_EQ(check(p), Status::Ok);
  for (int what = 0; what < 4; ++what) {
    Problem q = p;
    if (what == 0) q.alpha = 2;
    if (what == 1) q.beta = 1;
    if (what == 2) q.has_bias = true;
    if (what == 3) q.activation = Activation::Relu;
    EXPECT_EQ(check(q), Status::UnsupportedEpilogue) << what;
    q.out = Type::f32;
    EXPECT_EQ(check(q), Status::Ok) << what;
  }
  p = bf16(8, 8, 8);
  p.activation = static_cast<Activation>(activation_count);
  EXPECT_EQ(check(p), Status::UnsupportedEpilogue);
}

TEST(Gemm_Check, Strides) {
  Problem p = bf16(8, 16, 24);
  p.a.ld = 23;
  EXPECT_EQ(check(p), Status::LeadingDimensionTooSmall);
  p.major_a = Major::MN;
  EXPECT_EQ(check(p), Status::Ok);
  p.a.ld = 7;
  EXPECT_EQ(check(p), Status::LeadingDimensionTooSmall);
  p = bf16(8, 16, 24);
  p.d.ld = 15;
  EXPECT_EQ(check(p), Status::LeadingDimensionTooSmall);
  p = bf16(8, 16, 24);
  p.c.ld = 15;
  EXPECT_EQ(check(p), Status::Ok);  // C is not read
  p.beta = 1;
  EXPECT_EQ(check(p), Status::LeadingDimensionTooSmall);
  p = bf16(8, 16, 24);
  p.batch = 2;
  p.b.batch = 0;
  EXPECT_EQ(check(p), Status::Ok);
  p.b.batch = -2;
  EXPECT_EQ(check(p), Status::BadBatchStride);
  p.b.batch = packed;
  p.d.batch = 0;
  EXPECT_EQ(check(p), Status::BadBatchStride);
}

TEST(Gemm_Check, Pointers) {
  Problem p = bf16(8, 8, 8);
  const auto said = [&](Pointers x) { return check(planned(p), x, {}); };
  EXPECT_EQ(said(aligned), Status::Ok);
  EXPECT_EQ(said({nullptr, at(16), nullptr, at(16)}), Status::NullPointer);
  EXPECT_EQ(said({at(16), nullptr, nullptr, at(16)}), Status::NullPointer);
  EXPECT_EQ(said({at(16), at(16), nullptr, nullptr}), Status::NullPointer);
  EXPECT_EQ(said({at(17), at(16), nullptr, at(16)}), Status::Misaligned);
  EXPECT_EQ(said({at(16), at(16), nullptr, at(19)}), Status::Misaligned);
  EXPECT_EQ(said({at(18), at(30), nullptr, at(22)}), Status::Ok);  // takes the slower path
  p.beta = 1;
  EXPECT_EQ(said({at(16), at(16), nullptr, at(16)}), Status::NullPointer);
  EXPECT_EQ(said({at(16), at(16), at(17), at(16)}), Status::Misaligned);
  p.beta = 0;
  p.has_bias = true;
  EXPECT_EQ(said({at(16), at(16), nullptr, at(16)}), Status::NullPointer);
  EXPECT_EQ(said({at(16), at(16), nullptr, at(16), at(3)}), Status::Misaligned);
  p = bf16(8, 8, 0);
  EXPECT_EQ(said({nullptr, nullptr, nullptr, at(16)}), Status::Ok);
}

TEST(Gemm_Check, Workspace) {
  Plan plan = planned(bf16(8, 8, 8));
  EXPECT_EQ(workspace_bytes(plan), 0u);
  EXPECT_EQ(check(plan, aligned, {}), Status::Ok);
  plan.workspace_bytes = 100;
  EXPECT_EQ(check(plan, aligned, {at(16), 99}), Status::WorkspaceTooSmall);
  EXPECT_EQ(check(plan, aligned, {nullptr, 0}), Status::Ok);  // takes the slower path
  EXPECT_EQ(check(plan, aligned, {at(16), 100}), Status::Ok);
}

TEST(Gemm_Run, WithoutAPlanOfThisDeviceNothingIsLaunched) {
  EXPECT_EQ(run({}, aligned, {}, nullptr), Status::NoPlan);
  EXPECT_EQ(run(planned(bf16(8, 8, 8)), aligned, {}, nullptr), Status::NoPlan);
}

TEST(Gemm_Run, EmptyProblemsNeedNeitherDeviceNorPointers) {
  for (Problem p : {bf16(0, 8, 8), bf16(8, 0, 8), bf16(0, 0, 0)}) {
    Plan plan;
    EXPECT_EQ(make_plan(p, plan), Status::Ok);
    EXPECT_EQ(run(plan, {}, {}, nullptr), Status::Ok);
    EXPECT_NE(describe(plan).find("nothing to do"), std::string::npos);
  }
  Problem p = bf16(8, 8, 8);
  p.batch = 0;
  Plan plan;
  EXPECT_EQ(make_plan(p, plan), Status::Ok);
  EXPECT_EQ(run(plan, {}, {}, nullptr), Status::Ok);
}

TEST(Gemm_Plan, OtherArchitecturesHaveNoKernels) {
  Plan plan;
  for (const auto& [major, minor] : {std::pair{8, 0}, {8, 9}, {10, 1}, {12, 0}})
    EXPECT_EQ(make_plan_for(bf16(8, 8, 8), {0, major, minor, 132}, plan),
              Status::WrongArchitecture);
  EXPECT_FALSE(plan.made);
}

TEST(Gemm_Plan, ADeviceHasSms) {
  for (const int sm_count : {INT32_MIN, -132, -1, 0, 1, 2, 7, 132, 1 << 20, INT32_MAX}) {
    for (const Problem& p : {bf16(16, 7168, 4096), bf16(4096, 4096, 512), bf16(77, 99, 55)}) {
      Plan plan;
      const Status status = make_plan_for(p, {0, 9, 0, sm_count}, plan);
      EXPECT_EQ(status, sm_count > 0 ? Status::Ok : Status::NoDevice) << sm_count;
      EXPECT_EQ(plan.made, sm_count > 0);
      if (!plan.made) continue;
      for (const Launch& l : {plan.aligned, plan.unaligned, plan.realigned}) {
        if (l.kernel == nullptr) continue;
        EXPECT_GT(l.clusters, 0) << sm_count;
        EXPECT_LE(l.clusters, tile_count(l.schedule)) << sm_count;
      }
    }
  }
}

// As whoever plans anew after a change of one field.
TEST(Gemm_Plan, TheProblemMayBeThePlansOwn) {
  Plan plan = planned(bf16(100, 200, 300));
  const std::string before = describe(plan);
  plan.problem.alpha = 2;
  ASSERT_EQ(make_plan_for(plan.problem, h200, plan), Status::Ok);
  EXPECT_NE(describe(plan), before);
  plan.problem.alpha = 1;
  ASSERT_EQ(make_plan_for(plan.problem, h200, plan), Status::Ok);
  EXPECT_EQ(describe(plan), before);
  const Kernel& kernel = *plan.unaligned.kernel;
  ASSERT_EQ(make_plan_for(plan.problem, h200, kernel, plan), Status::Ok);
  EXPECT_EQ(plan.problem.m, 100);
}

TEST(Gemm_Plan, NaNFactorsAreFactors) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const bool in_alpha : {false, true}) {
    Problem p = bf16(64, 64, 64);
    (in_alpha ? p.alpha : p.beta) = nan;
    const Plan plan = planned(p);
    EXPECT_EQ(check(plan, {at(16), at(32), nullptr, at(64)}, {}),
              in_alpha ? Status::Ok : Status::NullPointer);  // C is read
    p.in = Type::s8;
    p.out = Type::s32;
    EXPECT_EQ(check(p), Status::UnsupportedEpilogue);
  }
}

TEST(Gemm_Plan, WhatIsNoPlanIsCalledSo) {
  Plan plan;
  plan.made = plan.runnable = true;  // by nobody who makes plans
  plan.problem = bf16(8, 8, 8);
  EXPECT_EQ(describe(plan), "no plan\n");
  EXPECT_EQ(check(plan, aligned, {}), Status::NoPlan);
  EXPECT_EQ(run(plan, aligned, {}, nullptr), Status::NoPlan);
  EXPECT_EQ(check_memory(plan, aligned), Status::NoPlan);
  EXPECT_EQ(workspace_bytes(plan, aligned), 0u);
  EXPECT_TRUE(k_segments(plan, Path::Realigned).empty());
}

// --- plans -----------------------------------------------------------------------------------------

TEST(Gemm_Plan, WhatTmaCannotAddressIsLoadedByThreads) {
  const auto loader = [](const Problem& p) { return planned(p).aligned.kernel->loader; };
  Problem p = bf16(256, 256, 256);
  EXPECT_EQ(loader(p), Loader::Tma);
  EXPECT_EQ(planned(p).unaligned.kernel->loader, Loader::Copy);
  p.a.ld = 260;
  EXPECT_EQ(loader(p), Loader::Copy);
  p.a.ld = 264;
  EXPECT_EQ(loader(p), Loader::Tma);
  p.batch = 2;
  p.b.batch = 256 * 256 + 4;
  EXPECT_EQ(loader(p), Loader::Copy);
  p.b.batch = 0;
  EXPECT_EQ(loader(p), Loader::Tma);
  EXPECT_EQ(loader(bf16(256, 256, 0)), Loader::Copy);
  p = bf16(256, 256, 256);
  p.in = Type::tf32;
  p.out = Type::f32;
  EXPECT_EQ(loader(p), Loader::Tma);
  p.major_b = Major::MN;  // wgmma takes no such tf32: the copy transposes
  EXPECT_EQ(loader(p), Loader::Copy);
}

TEST(Gemm_Plan, WhereDLiesChangesNeitherKernelNorPath) {
  Problem p = bf16(256, 256, 256);
  const Plan packed_d = planned(p);
  p.d.ld = 257;
  const Plan plan = planned(p);
  EXPECT_EQ(plan.aligned.kernel, packed_d.aligned.kernel);
  EXPECT_EQ(path_of(plan, {at(16), at(16), nullptr, at(18)}, {}), Path::Aligned);
  EXPECT_EQ(path_of(plan, {at(18), at(16), nullptr, at(16)}, {}), Path::Unaligned);
  EXPECT_EQ(path_of(packed_d, aligned, {}), Path::Aligned);
  EXPECT_EQ(path_of(packed_d, {at(16), at(16), nullptr, at(18)}, {}), Path::Aligned);
}

TEST(Gemm_Plan, AGatedActivationHalvesD) {
  Problem p = bf16(256, 512, 128);
  p.activation = Activation::Swiglu;
  EXPECT_EQ(planned(p).problem.d.ld, 256);
  p.d.ld = 255;
  EXPECT_EQ(check(p), Status::LeadingDimensionTooSmall);
  p.d.ld = packed;
  p.beta = 1;
  EXPECT_EQ(check(p), Status::UnsupportedEpilogue);
  p.beta = 0;
  p.n = 511;
  EXPECT_EQ(check(p), Status::UnsupportedEpilogue);
}

TEST(Gemm_Plan, EveryTypeMajorAndEpilogueHasAKernel) {
  int plans = 0;
  for (const auto& [in, out] : gemm_types) {
    for (const Major a : {Major::K, Major::MN}) {
      for (const Major b : {Major::K, Major::MN}) {
        for (const bool has_bias : {false, true}) {
          if (has_bias && out == Type::s32) continue;
          Problem p = bf16(512, 512, 512);
          p.in = in;
          p.out = out;
          p.major_a = a;
          p.major_b = b;
          p.has_bias = has_bias;
          const Plan plan = planned(p);
          const bool k_only = bits(in) != 16 && (a == Major::MN || b == Major::MN);
          EXPECT_EQ(plan.aligned.kernel->loader, k_only ? Loader::Copy : Loader::Tma)
              << describe(plan);
          ++plans;
        }
      }
    }
  }
  EXPECT_EQ(plans, 4 * (16 * 2 - 2));
}

TEST(Gemm_Plan, BatchInvariantPlansNeverSplitK) {
  bool some_split = false;
  for (const std::int64_t m : {1, 16, 100, 128, 500}) {
    Problem p = bf16(m, 2112, 7168);
    some_split = some_split || k_segments(planned(p), Path::Aligned).size() > 1;
    p.batch_invariant = true;
    const Plan plan = planned(p);
    for (const Path path : {Path::Aligned, Path::Unaligned, Path::Realigned})
      EXPECT_EQ(k_segments(plan, path), (std::vector<KSegment>{{0, 7168}})) << describe(plan);
  }
  EXPECT_TRUE(some_split);
}

TEST(Gemm_Plan, SegmentsCoverKInOrder) {
  for (const std::int64_t k : {1, 63, 64, 65, 4096, 7168, 16380}) {
    for (const std::int64_t m : {1, 16, 64, 128, 4096}) {
      const Plan plan = planned(bf16(m, 576, k));
      for (const Path path : {Path::Aligned, Path::Unaligned, Path::Realigned}) {
        std::int64_t next = 0;
        for (const KSegment& s : k_segments(plan, path)) {
          EXPECT_EQ(s.first, next);
          EXPECT_GT(s.count, 0);
          next += s.count;
        }
        EXPECT_EQ(next, k);
      }
    }
  }
}

TEST(Gemm_Plan, CoversDWithTilesAndFitsTheDevice) {
  for (const std::int64_t m : {1, 127, 128, 129, 4096}) {
    for (const std::int64_t n : {8, 136, 2112}) {
      for (const std::int64_t batch : {1, 3}) {
        Problem p = bf16(m, n, 512);
        p.batch = batch;
        const Plan plan = planned(p);
        for (const Launch& l : {plan.aligned, plan.unaligned, plan.realigned}) {
          const Kernel& k = *l.kernel;
          const Schedule& s = l.schedule;
          const int rows = k.skinny == gemm::Skinny::Rows ? s.cols : s.rows;
          const int cols = k.skinny == gemm::Skinny::Rows ? s.rows : s.cols;
          EXPECT_GE(rows * k.block_m * k.cluster_m, m);
          EXPECT_LT((rows - 1) * k.block_m * k.cluster_m, m);
          EXPECT_GE(cols * k.block_n * k.cluster_n, n);
          EXPECT_LT((cols - 1) * k.block_n * k.cluster_n, n);
          EXPECT_EQ(s.batch, batch);
          EXPECT_GT(l.clusters, 0);
          EXPECT_LE(l.clusters, tile_count(s));
        }
      }
    }
  }
}

// A kernel that would need more is passed over for one with larger tiles.
TEST(Gemm_Plan, HasNoMoreCtasThanAGrid) {
  Problem p = bf16(1, 8, 512);
  p.batch = (1 << 29) + 1;
  p.a.batch = p.b.batch = 0;
  int too_many = 0;
  for (const Kernel& kernel : kernels()) {
    Plan plan;
    const Status status = make_plan_for(p, h200, kernel, plan);
    if (status == Status::SizeTooLarge) ++too_many;
    if (status != Status::Ok) continue;
    EXPECT_LE(std::int64_t{plan.aligned.clusters} * cluster_size(kernel), INT32_MAX);
  }
  EXPECT_GT(too_many, 0);
  EXPECT_NE(planned(p).aligned.kernel, nullptr);
}

TEST(Gemm_Plan, IsTheSameEveryTimeAndPrintsItself) {
  Problem p = bf16(100, 200, 3000);
  p.a.ld = 3001;
  p.alpha = 0.5f;
  p.beta = 2;
  p.has_bias = true;
  p.activation = Activation::Gelu;
  p.in = Type::f16;
  p.out = Type::f32;
  EXPECT_EQ(describe(planned(p)), describe(planned(p)));
  EXPECT_EQ(
      describe(planned(p)),
      "problem: 100x200x3000, f16 -> f32, A K-major, B K-major\n"
      "epilogue: 0.5 * sum + 2 * C + bias, gelu; every step rounded to f32\n"
      "aligned: 128x128x64 together 4 stages copying, loads by threads, 164928 bytes of "
      "shared memory; 2 "
      "CTAs of 384 threads, 1 x 2 x 1 tiles of clusters in groups of 8 rows\n"
      "unaligned: 128x128x64 together 4 stages copying, loads by threads, 164928 bytes of "
      "shared memory; 2 "
      "CTAs of 384 threads, 1 x 2 x 1 tiles of clusters in groups of 8 rows\n"
      "realigned, A is copied: 16x64x64 few rows split 4 5 stages, loads by TMA, 57440 bytes of "
      "shared memory; 112 CTAs of 160 threads, 4 x 7 x 1 tiles of clusters in groups of 1 "
      "rows, overlaps "
      "its neighbours in the stream\n"
      "order: one chain of wgmmas over ascending k, 16 at a time\n"
      "order if unaligned: one chain of wgmmas over ascending k, 16 at a time\n"
      "order if realigned: 4 chains of wgmmas, each over ascending k, 16 at a time, from k = "
      "0 704 1472 2240; "
      "their results added in this order, each step rounded to f32\n"
      "bits: depend on the split, which depends on M\n"
      "workspace: 601728 bytes; device 0\n");
  EXPECT_EQ(describe({}), "no plan\n");
}

// --- the order of tiles ----------------------------------------------------------------------------

TEST(Gemm_Schedule, TileAtIsABijectionForEveryShapeAndGroup) {
  for (int rows = 1; rows <= 9; ++rows) {
    for (int cols = 1; cols <= 5; ++cols) {
      for (int batch = 1; batch <= 2; ++batch) {
        for (int group = 1; group <= 10; ++group) {
          const Schedule s{rows, cols, batch, group};
          std::set<std::tuple<int, int, int>> seen;
          for (int i = 0; i < tile_count(s); ++i) {
            const TileAt t = tile_at(s, i);
            EXPECT_TRUE(t.row >= 0 && t.row < rows && t.col >= 0 && t.col < cols && t.batch >= 0 &&
                        t.batch < batch);
            seen.insert({t.row, t.col, t.batch});
          }
          ASSERT_EQ(seen.size(), static_cast<std::size_t>(tile_count(s)))
              << rows << " " << cols << " " << group;
        }
      }
    }
  }
}

TEST(Gemm_Schedule, AGroupIsWalkedColumnByColumn) {
  const Schedule s{4, 3, 1, 2};
  std::string order;
  for (int i = 0; i < tile_count(s); ++i)
    order += std::to_string(tile_at(s, i).row) + std::to_string(tile_at(s, i).col) + " ";
  EXPECT_EQ(order, "00 10 01 11 02 12 20 30 21 31 22 32 ");
}

TEST(Gemm_Schedule, SplitRangesPartitionTheBlocks) {
  for (int split = 1; split <= 8; ++split) {
    for (int blocks = split; blocks < 40; ++blocks) {
      int next = 0;
      for (int rank = 0; rank < split; ++rank) {
        const BlockRange r = split_range(blocks, split, rank);
        EXPECT_EQ(r.first, next);
        EXPECT_GT(r.end, r.first);
        next = r.end;
      }
      EXPECT_EQ(next, blocks);
    }
  }
}

}  // namespace
}  // namespace tcq::gemm
