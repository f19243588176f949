// `tcq gemm --order plan:FILE` reads what describe() prints, the order that run() will take; `split=N` cuts
// K as the kernels do.
#include <gtest/gtest.h>

#include <iterator>
#include <vector>

#include "cuda/gemm/gemm.h"
#include "oracle/gemm/plan_text.h"

namespace tcq {
namespace {

using oracle::GemmSegment;

// One chain is no list of parts.
std::vector<GemmSegment> parts_of(const std::vector<gemm::KSegment>& segments) {
  std::vector<GemmSegment> parts;
  if (segments.size() == 1) return parts;
  for (const gemm::KSegment& s : segments) parts.push_back({s.first, s.count});
  return parts;
}

TEST(Gemm_PlanText, TheOrderOfEveryPlanIsReadBack) {
  std::size_t split = 0;
  for (const Type in : {Type::bf16, Type::f16, Type::tf32, Type::s8, Type::e4m3}) {
    for (const std::int64_t m : {1, 16, 64, 4096}) {
      for (const std::int64_t k : {8, 100, 1000, 4096, 16384}) {
        gemm::Plan plan;
        gemm::Problem problem{.m = m, .n = 4096, .k = k, .in = in};
        problem.out = in == Type::tf32 ? Type::f32
                      : in == Type::s8 ? Type::s32
                      : is_fp8(in)     ? Type::f16
                                       : in;
        ASSERT_EQ(gemm::make_plan_for(problem, {}, plan), gemm::Status::Ok);
        const auto parts = parts_of(gemm::k_segments(plan, gemm::Path::Aligned));
        EXPECT_EQ(oracle::gemm::parse_plan(gemm::describe(plan), "plan", {in, in, k}).segments,
                  parts)
            << gemm::describe(plan);
        if (parts.empty()) continue;
        ++split;
        EXPECT_EQ(oracle::gemm::split_parts({in, in, k}, std::ssize(parts)), parts);
      }
    }
  }
  EXPECT_GT(split, 5u);
}

}  // namespace
}  // namespace tcq
