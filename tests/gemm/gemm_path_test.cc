// Which launch of a plan run() takes, and which operands are copied or turned ahead of it (cuda/gemm/path.h), without a GPU.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "cuda/gemm/kernels.h"
#include "cuda/gemm/path.h"
#include "cuda/gemm/run.h"
#include "tests/support/gemm_case.h"

namespace tcq::gemm {
namespace {

Problem bf16(std::int64_t m, std::int64_t n, std::int64_t k) { return {.m = m, .n = n, .k = k}; }

Plan planned(const Problem& problem) {
  Plan plan;
  EXPECT_EQ(make_plan_for(problem, Device{}, plan), Status::Ok);
  return plan;
}

// An address that is never followed.
void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

const Pointers aligned = {at(4096), at(8192), at(12288), at(16384), at(20480)};

TEST(Gemm_Path, TheWorkspaceHoldsCopiesAtAPitchOf128Bytes) {
  Problem p = bf16(100, 200, 300);  // 600 bytes become 640
  EXPECT_EQ(workspace_bytes(planned(p)), 64000u + 128000u + 128u);
  p.n = 20000;
  p.major_b = Major::MN;  // 40000 bytes: TMA can address B
  Plan plan = planned(p);
  EXPECT_EQ(workspace_bytes(plan), 64000u + 128u);
  EXPECT_EQ(workspace_bytes(plan, {at(16), at(18), nullptr, at(16)}), 64000u + 300 * 40064 + 128u);
  p.batch = 3;
  EXPECT_EQ(workspace_bytes(planned(p)), 3 * 64000u + 128u);
  p.a.batch = 0;
  EXPECT_EQ(workspace_bytes(planned(p)), 64000u + 128u);
  p = bf16(1, 1, 300);
  EXPECT_EQ(workspace_bytes(planned(p)), 2 * 640u + 128u);
  p = bf16(100, 200, 304);
  EXPECT_EQ(workspace_bytes(planned(p)), 0u);
  EXPECT_EQ(workspace_bytes(planned(p), aligned), 0u);
}

TEST(Gemm_Path, NothingIsCopiedThatNoKernelCouldRead) {
  EXPECT_EQ(planned(bf16(100, 200, 0)).realigned.kernel, nullptr);
  EXPECT_EQ(workspace_bytes(planned(bf16(101, 203, 0))), 0u);
  Problem p = bf16(101, 203, 301);
  p.in = Type::s8;
  p.out = Type::s32;
  EXPECT_NE(planned(p).realigned.kernel, nullptr);
  p = bf16(128, 8, 1 << 30);  // windows that overlap: copies of them would exceed every memory
  p.batch = 1 << 28;
  p.a = {(1 << 30) + 1, 1};
  p.b.batch = 0;
  EXPECT_EQ(planned(p).realigned.kernel, nullptr);
  p.batch = 1;
  EXPECT_NE(planned(p).realigned.kernel, nullptr);
}

// wgmma reads operands of 8 and 32 bits K-major alone: copies of others are turned; without a workspace threads load them.
TEST(Gemm_Path, WhatWgmmaDoesNotReadIsTurned) {
  for (const auto& [in, out] : {std::pair{Type::s8, Type::s32},
                                {Type::e4m3, Type::bf16},
                                {Type::e5m2, Type::f32},
                                {Type::tf32, Type::f32}}) {
    Problem p{.m = 104, .n = 208, .k = 608, .in = in, .out = out};
    EXPECT_EQ(workspace_bytes(planned(p)), 0u);
    p.major_a = Major::MN;
    const Plan plan = planned(p);
    EXPECT_EQ(plan.aligned.kernel->loader, Loader::Copy);
    EXPECT_EQ(plan.realigned.kernel->loader, Loader::Tma);
    EXPECT_EQ(plan.realigned.kernel->major_a, Major::K);
    const std::size_t pitch = in == Type::tf32 ? 4 * 608 : 640;
    EXPECT_EQ(workspace_bytes(plan), 104 * pitch + 128);
    EXPECT_EQ(workspace_bytes(plan, aligned), 104 * pitch + 128);
    EXPECT_EQ(path_of(plan, aligned, {}), Path::Aligned);
    EXPECT_EQ(path_of(plan, aligned, {at(256), workspace_bytes(plan)}), Path::Realigned);
    EXPECT_NE(describe(plan).find("realigned, A is copied K-major: "), std::string::npos);
    const Work work = work_of(plan, Path::Realigned, aligned, {at(256), workspace_bytes(plan)});
    ASSERT_EQ(work.job_count, 1u);
    const RealignJob& job = work.jobs[0];
    const auto element = static_cast<std::int64_t>(bits(in) / 8);
    EXPECT_EQ(job.turned_bytes, element);
    EXPECT_EQ(job.line_bytes, 104 * element);
    EXPECT_EQ(job.lines, 608);
    EXPECT_EQ(job.source_pitch, 104 * element);
    EXPECT_EQ(job.target_pitch, static_cast<std::int64_t>(pitch));
    EXPECT_EQ(work.a.major, Major::K);
    EXPECT_EQ(work.a.data, at(256));
    EXPECT_EQ(work.a.ld, static_cast<std::int64_t>(pitch) / element);
    EXPECT_EQ(work.b.data, aligned.b);
    p.major_b = Major::MN;
    p.k = 601;  // A's lines are 104 bytes still
    EXPECT_NE(describe(planned(p)).find("A and B are copied K-major: "), std::string::npos);
    p.major_a = Major::K;
    EXPECT_NE(describe(planned(p)).find("A and B are copied, B K-major: "), std::string::npos);
  }
}

// Of few rows A, MN-major, has no kernel for few rows; turned, it has one that shares K. Of many rows A stays, and so do weights, of
// which there are kernels for few rows.
TEST(Gemm_Path, SixteenBitsAreTurnedWhereThatIsFaster) {
  Problem p = bf16(32, 1056, 7168);
  p.major_a = Major::MN;
  const Plan few = planned(p);
  EXPECT_TRUE(few.turns_a && !few.turns_b);
  EXPECT_EQ(few.realigned.kernel->skinny, Skinny::Rows);
  EXPECT_EQ(workspace_bytes(few), 32u * 7168 * 2 + 128);
  EXPECT_LT(few.realigned.microseconds, few.aligned.microseconds / 2);
  EXPECT_EQ(path_of(few, aligned, {}), Path::Aligned);
  EXPECT_EQ(path_of(few, aligned, {at(256), workspace_bytes(few)}), Path::Realigned);
  p.m = 31;  // which TMA cannot address: a copy is made anyway
  EXPECT_TRUE(planned(p).turns_a);
  p.major_a = Major::K;
  p.major_b = Major::MN;
  EXPECT_FALSE(planned(p).turns_b);
  p = bf16(4096, 4096, 4096);
  p.major_a = p.major_b = Major::MN;
  EXPECT_EQ(workspace_bytes(planned(p)), 0u);
}

// Rows of a batch that has one B are those of one product, whose kernels read B once (one_product_test.cc).
TEST(Gemm_Path, ABatchOfOneBIsPlannedAsOneProduct) {
  const Problem p{.m = 8, .n = 4096, .k = 1024, .batch = 25, .b = {1024, 0}};
  EXPECT_EQ(planned(p).aligned.kernel, planned(bf16(200, 4096, 1024)).aligned.kernel);
  EXPECT_EQ(planned(p).problem, as_one_product(resolved(p)));
}

// Groups along K begin in copies where K-major ones do.
TEST(Gemm_Path, GroupsAlongKOfTurnedOperands) {
  Problem p{.m = 256, .n = 512, .k = 4096, .batch = 4, .in = Type::e4m3};
  p.grouping = Grouping::KEnds;
  p.major_a = p.major_b = Major::MN;
  const Plan plan = planned(p);
  ASSERT_NE(plan.realigned.kernel, nullptr);
  EXPECT_EQ(plan.realigned.kernel->loader, Loader::Tma);
  const Pointers x{at(4096), at(4096), nullptr, at(4096),
                   nullptr,  nullptr,  nullptr, static_cast<const std::int32_t*>(at(4096))};
  const Workspace space = {at(256), workspace_bytes(plan)};
  const Work turned = work_of(plan, Path::Realigned, x, space);
  EXPECT_EQ(turned.job_count, 2u);
  EXPECT_EQ(turned.jobs[0].matrices, 1);
  EXPECT_EQ(turned.arguments.groups.k_step, 128);
  EXPECT_EQ(work_of(plan, Path::Aligned, x, {}).arguments.groups.k_step, 32);
}

TEST(Gemm_Path, ThePathFollowsFromPointersAndWorkspace) {
  const Plan plan = planned(bf16(256, 256, 300));
  const std::size_t bytes = workspace_bytes(plan);
  EXPECT_EQ(plan.aligned.kernel->loader, Loader::Copy);
  EXPECT_EQ(plan.realigned.kernel->loader, Loader::Tma);
  EXPECT_EQ(path_of(plan, aligned, {}), Path::Aligned);
  EXPECT_EQ(path_of(plan, aligned, {nullptr, bytes}), Path::Aligned);
  EXPECT_EQ(path_of(plan, aligned, {at(1), bytes}), Path::Realigned);
  EXPECT_EQ(path_of(plan, {at(18), at(22), nullptr, at(16)}, {at(256), bytes}), Path::Realigned);
  EXPECT_EQ(check(plan, aligned, {at(256), bytes - 1}), Status::WorkspaceTooSmall);
  EXPECT_EQ(check(plan, aligned, {nullptr, 0}), Status::Ok);
  EXPECT_EQ(check(plan, aligned, {at(256), bytes}), Status::Ok);
}

TEST(Gemm_Path, AnUnalignedDIsNoReasonAgainstACopy) {
  Problem p = bf16(256, 256, 300);
  const Pointers unaligned_d = {at(16), at(16), nullptr, at(18)};
  for (int what = 0; what < 3; ++what) {
    Problem q = p;
    if (what == 1) q.has_bias = true;
    if (what == 2) q.d.ld = 257;
    const Plan plan = planned(q);
    EXPECT_EQ(path_of(plan, unaligned_d, {at(256), workspace_bytes(plan)}), Path::Realigned);
  }
}

TEST(Gemm_Path, UnalignedPointersAreRealignedIfTheWorkspaceHoldsThem) {
  const Plan plan = planned(bf16(256, 256, 256));
  const Pointers x = {at(18), at(16), nullptr, at(16)};
  const std::size_t bytes = workspace_bytes(plan, x);
  EXPECT_EQ(bytes, 256u * 512 + 128);
  EXPECT_EQ(path_of(plan, x, {at(256), bytes}), Path::Realigned);
  EXPECT_EQ(path_of(plan, x, {at(256), bytes - 1}), Path::Unaligned);
  EXPECT_EQ(check(plan, x, {at(256), bytes - 1}), Status::Ok);
  EXPECT_EQ(path_of(plan, aligned, {at(256), bytes}), Path::Aligned);
}

TEST(Gemm_Path, ARealignedLaunchMaySplitKAndSaysSo) {
  const Plan plan = planned(bf16(16, 576, 7162));
  EXPECT_EQ(k_segments(plan, Path::Aligned).size(), 1u);
  EXPECT_GT(k_segments(plan, Path::Realigned).size(), 1u);
  EXPECT_NE(describe(plan).find("order if realigned: "), std::string::npos);
  EXPECT_NE(describe(plan).find("bits: depend on the split"), std::string::npos);
}

TEST(Gemm_Path, TheWorkspaceDoesNotDependOnTheKernel) {
  for (Problem p : {bf16(16, 576, 7162), bf16(300, 200, 100)}) {
    const Plan usual = planned(p);
    int kernels_of_copies = 0;
    for (const Kernel& k : kernels()) {
      Plan plan;
      if (make_plan_for(p, {}, k, plan) != Status::Ok) continue;
      EXPECT_EQ(workspace_bytes(plan), workspace_bytes(usual)) << name(k);
      EXPECT_EQ(plan.aligned.kernel, usual.aligned.kernel) << name(k);
      EXPECT_EQ(plan.realigned.kernel, k.loader == Loader::Tma ? &k : usual.realigned.kernel)
          << name(k);
      ++kernels_of_copies;
    }
    EXPECT_GT(kernels_of_copies, 2);
  }
}

TEST(Gemm_Path, CopiesAreAsFastToReadAsTheBestStrides) {
  Problem p = bf16(4096, 4096, 4100);
  const double copies = planned(p).realigned.microseconds;
  p.a.ld = p.b.ld = 4104;  // TMA can address it, and lines begin within lines of L2
  const Plan crossing = planned(p);
  p.a.ld = p.b.ld = 4160;
  const Plan best = planned(p);
  EXPECT_EQ(crossing.aligned.kernel->loader, Loader::Tma);
  EXPECT_LT(best.aligned.microseconds, crossing.aligned.microseconds);
  EXPECT_EQ(copies, best.aligned.microseconds);
  for (Strides* s : {&p.a, &p.b}) {
    p.a.ld = p.b.ld = 4160;
    s->ld = 4104;  // one of them is enough
    EXPECT_EQ(planned(p).aligned.microseconds, crossing.aligned.microseconds);
  }
}

}  // namespace
}  // namespace tcq::gemm
