// The C interface of the GEMM library without a GPU.
#include "cuda/gemm/gemm_c.h"

#include <gtest/gtest.h>

#include <string>

#include "cuda/gemm/gemm.h"

namespace tcq::gemm {
namespace {

// An address that is never followed.
void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

TEST(Gemm_C, SaysWhatTheCppInterfaceSays) {
  tcq_gemm_problem p;
  tcq_gemm_defaults(&p);
  p.n = p.k = 8;
  tcq_gemm_plan* plan = nullptr;
  EXPECT_EQ(tcq_gemm_check(&p), 0);
  ASSERT_EQ(tcq_gemm_make_plan(&p, &plan), 0);  // m is 0: empty
  EXPECT_EQ(tcq_gemm_workspace_bytes(plan), 0u);
  const tcq_gemm_pointers odd = {at(18), at(18), nullptr, at(16), nullptr};
  EXPECT_EQ(tcq_gemm_workspace_bytes_for(plan, &odd), 0u);
  EXPECT_EQ(tcq_gemm_workspace_bytes_for(plan, nullptr), 0u);
  EXPECT_EQ(tcq_gemm_workspace_bytes_for(nullptr, &odd), 0u);
  char text[24];
  const std::size_t length = tcq_gemm_describe(plan, text, sizeof text);
  EXPECT_GT(length, sizeof text);
  EXPECT_EQ(std::string(text), "problem: 0x8x8, bf16 ->");
  const tcq_gemm_pointers none = {};
  EXPECT_EQ(tcq_gemm_run(plan, &none, nullptr, 0, nullptr), 0);
  tcq_gemm_destroy_plan(plan);
  p.m = -1;
  EXPECT_EQ(tcq_gemm_check(&p), static_cast<int>(Status::NegativeSize));
  EXPECT_STREQ(tcq_gemm_sentence(tcq_gemm_check(&p)), sentence(Status::NegativeSize));
  EXPECT_EQ(tcq_gemm_make_plan(&p, &plan), static_cast<int>(Status::NegativeSize));
  EXPECT_EQ(plan, nullptr);
  EXPECT_EQ(tcq_gemm_run(nullptr, &none, nullptr, 0, nullptr), static_cast<int>(Status::NoPlan));
  EXPECT_STREQ(tcq_gemm_sentence(-1), "?");
  p.m = 8;
  for (const int code : {INT32_MIN, -1, 2, 3, 255, 256, 65536, INT32_MAX}) {
    for (std::int32_t tcq_gemm_problem::*major :
         {&tcq_gemm_problem::major_a, &tcq_gemm_problem::major_b}) {
      tcq_gemm_problem q = p;
      q.*major = code;
      EXPECT_EQ(tcq_gemm_check(&q), static_cast<int>(Status::UnsupportedMajor)) << code;
    }
  }
  p.in = 77;
  EXPECT_EQ(tcq_gemm_check(&p), static_cast<int>(Status::UnsupportedTypes));
}

int code(Status status) { return static_cast<int>(status); }

// What is null is said to be, by every entry; what has nothing to say says nothing.
TEST(Gemm_C, NullIsRefused) {
  tcq_gemm_problem p;
  tcq_gemm_defaults(&p);
  tcq_gemm_plan* plan = nullptr;
  tcq_gemm_tune_cache* cache = tcq_gemm_create_tune_cache();
  const tcq_gemm_pointers x = {};
  const int null = code(Status::NullPointer);
  tcq_gemm_defaults(nullptr);
  EXPECT_EQ(tcq_gemm_check(nullptr), null);
  EXPECT_EQ(tcq_gemm_make_plan(nullptr, &plan), null);
  EXPECT_EQ(tcq_gemm_make_plan(&p, nullptr), null);
  EXPECT_EQ(tcq_gemm_make_plan_cached(nullptr, cache, &plan), null);
  EXPECT_EQ(tcq_gemm_make_plan_cached(&p, nullptr, &plan), null);
  EXPECT_EQ(tcq_gemm_make_plan_cached(&p, cache, nullptr), null);
  EXPECT_EQ(tcq_gemm_tune(nullptr, &x, nullptr, 0, nullptr, 8, cache, &plan), null);
  EXPECT_EQ(tcq_gemm_tune(&p, nullptr, nullptr, 0, nullptr, 8, cache, &plan), null);
  EXPECT_EQ(tcq_gemm_tune(&p, &x, nullptr, 0, nullptr, 8, cache, nullptr), null);
  EXPECT_EQ(tcq_gemm_tune(&p, &x, nullptr, 0, nullptr, 8, nullptr, &plan), 0);  // may be null
  EXPECT_EQ(tcq_gemm_run(plan, nullptr, nullptr, 0, nullptr), null);
  EXPECT_EQ(tcq_gemm_run(nullptr, &x, nullptr, 0, nullptr), code(Status::NoPlan));
  EXPECT_EQ(tcq_gemm_load_tune_cache(nullptr, "x"), null);
  EXPECT_EQ(tcq_gemm_load_tune_cache(cache, nullptr), null);
  EXPECT_EQ(tcq_gemm_save_tune_cache(nullptr, "x"), null);
  EXPECT_EQ(tcq_gemm_save_tune_cache(cache, nullptr), null);
  EXPECT_EQ(tcq_gemm_workspace_bytes(nullptr), 0u);
  EXPECT_EQ(tcq_gemm_describe(nullptr, nullptr, 100), std::string("no plan\n").size());
  char text[1] = {'x'};
  EXPECT_GT(tcq_gemm_describe(plan, text, 0), 0u);
  EXPECT_EQ(text[0], 'x');
  EXPECT_GT(tcq_gemm_describe(plan, text, 1), 0u);
  EXPECT_EQ(text[0], 0);
  tcq_gemm_destroy_plan(plan);
  tcq_gemm_destroy_plan(nullptr);
  tcq_gemm_destroy_tune_cache(cache);
  tcq_gemm_destroy_tune_cache(nullptr);
}

}  // namespace
}  // namespace tcq::gemm
