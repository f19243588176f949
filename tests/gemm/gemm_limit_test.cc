// Plans that may use a part of the device, and launches that wait for the kernel ahead: without a GPU.
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"
#include "tests/support/gemm_case.h"

namespace tcq::gemm {
namespace {

Problem bf16(std::int64_t m, std::int64_t n, std::int64_t k) { return {.m = m, .n = n, .k = k}; }

Plan planned(const Problem& problem) {
  Plan plan;
  EXPECT_EQ(make_plan_for(problem, {}, plan), Status::Ok);
  return plan;
}

Plan limited(Problem p, int sm_limit) {
  p.sm_limit = sm_limit;
  return planned(p);
}

// CTAs that run at one time, or all of a grid.
int ctas(const Launch& l) { return l.clusters * cluster_size(*l.kernel); }

TEST(Gemm_Limit, NoLaunchHasMoreCtasThanSms) {
  for (const auto& [m, n, k] : {std::tuple{4096, 4096, 4096},
                                {16, 7168, 2048},
                                {1, 4096, 7168},
                                {2112, 16, 4096},
                                {100, 201, 77},
                                {128, 32768, 512}}) {
    for (const auto& [in, out] : gemm_types) {
      for (const int limit : {1, 2, 3, 7, 16, 66, 100, 131}) {
        Problem p = bf16(m, n, k);
        p.in = in;
        p.out = out;
        const Plan plan = limited(p, limit);
        for (const Launch& l : {plan.aligned, plan.unaligned, plan.realigned}) {
          if (l.kernel == nullptr) continue;
          EXPECT_GT(l.clusters, 0);
          EXPECT_LE(ctas(l), limit) << describe(plan);
          EXPECT_GE(tile_count(l.schedule), l.clusters);
        }
      }
    }
  }
}

// One SM has no cluster of two: small tiles alone, or, where TMA addresses none, threads that load; D has the same bits.
TEST(Gemm_Limit, OneSmIsEnough) {
  const Plan plan = limited(bf16(512, 512, 512), 1);
  EXPECT_EQ(cluster_size(*plan.aligned.kernel), 1);
  EXPECT_EQ(plan.aligned.kernel->loader, Loader::Tma);
  EXPECT_EQ(limited(bf16(512, 512, 513), 1).aligned.kernel->loader, Loader::Copy);
  EXPECT_EQ(limited(bf16(512, 512, 512), 2).aligned.kernel->loader, Loader::Tma);
  EXPECT_EQ(limited(bf16(4096, 4096, 4096), 101).aligned.clusters * 2, 100);  // whole clusters
}

TEST(Gemm_Limit, ThatIsNoLimitChangesNothing) {
  for (const Problem& p : {bf16(16, 7168, 4096), bf16(4096, 4096, 512), bf16(77, 99, 55)}) {
    const Plan plan = planned(p);
    for (const int limit : {132, 133, INT32_MAX}) {
      const Plan other = limited(p, limit);
      for (const Path path : {Path::Aligned, Path::Unaligned, Path::Realigned}) {
        EXPECT_EQ(launch_of(other, path).kernel, launch_of(plan, path).kernel);
        EXPECT_EQ(launch_of(other, path).clusters, launch_of(plan, path).clusters);
        EXPECT_EQ(launch_of(other, path).microseconds, launch_of(plan, path).microseconds);
      }
    }
  }
}

// K is split as without a limit, or not at all.
TEST(Gemm_Limit, BitsDependOnItOnlyWhereASplitDoesNotFit) {
  int same = 0;
  int unsplit = 0;
  for (const std::int64_t m : {1, 16, 64, 128, 500, 4096}) {
    for (const std::int64_t n : {576, 2112, 7168}) {
      for (const bool invariant : {false, true}) {
        Problem p = bf16(m, n, 7168);
        p.batch_invariant = invariant;
        const auto whole = k_segments(planned(p), Path::Aligned);
        for (const int limit : {1, 16, 66, 100, 131}) {
          const auto segments = k_segments(limited(p, limit), Path::Aligned);
          EXPECT_TRUE(segments == whole || segments.size() == 1);
          if (whole.size() > 1) ++(segments == whole ? same : unsplit);
        }
      }
    }
  }
  EXPECT_GT(same, 5);
  EXPECT_GT(unsplit, 5);
}

TEST(Gemm_Limit, FewerSmsTakeLonger) {
  double before = 0;
  for (const int limit : {132, 100, 66, 32, 8, 2, 1}) {
    const double time = limited(bf16(4096, 4096, 4096), limit).aligned.microseconds;
    EXPECT_GT(time, before) << limit;
    before = time;
  }
}

// For the tuner, which asks for one kernel after the other.
TEST(Gemm_Limit, AKernelThatNeedsMoreDoesNotFit) {
  Problem p = bf16(16, 7168, 4096);
  p.sm_limit = 3;
  int refused = 0;
  for (const Kernel& kernel : kernels()) {
    Plan plan;
    const Status status = make_plan_for(p, {}, kernel, plan);
    if (status == Status::Ok)
      EXPECT_LE(ctas(plan.aligned), 3);
    else
      EXPECT_EQ(status, Status::KernelDoesNotFit);
    refused += kernel.in == p.in && status != Status::Ok ? 1 : 0;
  }
  EXPECT_GT(refused, 20);
}

TEST(Gemm_Launches, WaitForTheKernelAheadIfTheyShould) {
  for (const Problem& p : {bf16(1, 4096, 7168), bf16(4096, 4096, 512), bf16(77, 99, 55)}) {
    const Plan usual = planned(p);
    Problem waiting = p;
    waiting.programmatic_launch = false;
    const Plan plan = planned(waiting);
    for (const Path path : {Path::Aligned, Path::Unaligned, Path::Realigned}) {
      const Launch& l = launch_of(plan, path);
      if (l.kernel == nullptr) continue;
      EXPECT_FALSE(l.programmatic);
      EXPECT_FALSE(l.overlaps);  // would bring the weights to L2 too late
      EXPECT_TRUE(launch_of(usual, path).programmatic);
      EXPECT_EQ(l.kernel, launch_of(usual, path).kernel);
    }
  }
  EXPECT_TRUE(planned(bf16(1, 4096, 7168)).aligned.overlaps);
}

}  // namespace
}  // namespace tcq::gemm
