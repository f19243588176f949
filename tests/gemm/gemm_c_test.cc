// The C interface of the GEMM library without a GPU.
#include "cuda/gemm/gemm_c.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "cuda/gemm/gemm.h"

namespace tcq::gemm {
namespace {

// An address that is never followed.
void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

TEST(Gemm_C, SaysWhatTheCppInterfaceSays) {
  tcq_gemm_problem p;
  tcq_gemm_defaults(&p, sizeof p);
  p.n = p.k = 8;
  tcq_gemm_plan* plan = nullptr;
  EXPECT_EQ(tcq_gemm_check(&p), 0);
  ASSERT_EQ(tcq_gemm_make_plan(&p, &plan), 0);  // m is 0: empty
  EXPECT_EQ(tcq_gemm_workspace_bytes(plan), 0u);
  tcq_gemm_pointers odd = {};
  odd.size = sizeof odd;
  odd.a = odd.b = at(18);
  odd.d = at(16);
  EXPECT_EQ(tcq_gemm_workspace_bytes_for(plan, &odd), 0u);
  EXPECT_EQ(tcq_gemm_workspace_bytes_for(plan, nullptr), 0u);
  EXPECT_EQ(tcq_gemm_workspace_bytes_for(nullptr, &odd), 0u);
  char text[24];
  const std::size_t length = tcq_gemm_describe(plan, text, sizeof text);
  EXPECT_GT(length, sizeof text);
  EXPECT_EQ(std::string(text), "problem: 0x8x8, bf16 ->");
  tcq_gemm_pointers none = {};
  none.size = sizeof none;
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

std::string text_of(const tcq_gemm_problem& p) {
  tcq_gemm_plan* plan = nullptr;
  EXPECT_EQ(tcq_gemm_make_plan(&p, &plan), 0);
  std::string text(tcq_gemm_describe(plan, nullptr, 0) + 1, '\0');
  tcq_gemm_describe(plan, text.data(), text.size());
  tcq_gemm_destroy_plan(plan);
  return text;
}

// As a caller that was compiled before there were options of launches.
TEST(Gemm_C, AProblemWithoutOptionsOfLaunchesHasTheirDefaults) {
  constexpr std::size_t older = offsetof(tcq_gemm_problem, sm_limit);
  tcq_gemm_problem p;
  std::memset(&p, 0x5a, sizeof p);
  ASSERT_EQ(tcq_gemm_defaults(&p, older), 0);
  EXPECT_EQ(p.sm_limit, 0x5a5a5a5a);  // not the caller's
  EXPECT_EQ(tcq_gemm_check(&p), 0);
  tcq_gemm_problem whole;
  ASSERT_EQ(tcq_gemm_defaults(&whole, sizeof whole), 0);
  EXPECT_EQ(whole.programmatic_launch, 1);
  EXPECT_EQ(text_of(p), text_of(whole));
  whole.sm_limit = 100;
  whole.programmatic_launch = 0;
  EXPECT_NE(text_of(whole).find("limit: 100 SMs\nlaunches: not before"), std::string::npos);
  whole.sm_limit = -1;
  EXPECT_EQ(tcq_gemm_check(&whole), code(Status::BadSmLimit));
}

TEST(Gemm_C, ADynamicScheduleHasAField) {
  tcq_gemm_problem p;
  ASSERT_EQ(tcq_gemm_defaults(&p, sizeof p), 0);
  EXPECT_EQ(p.dynamic_schedule, 0);
  p.dynamic_schedule = 1;
  EXPECT_EQ(tcq_gemm_check(&p), 0);
  p.sm_limit = 100;
  EXPECT_EQ(tcq_gemm_check(&p), code(Status::UnsupportedSchedule));
  p.size = offsetof(tcq_gemm_problem, dynamic_schedule);  // whoever does not know it
  EXPECT_EQ(tcq_gemm_check(&p), 0);
  p.size = sizeof p;
  p.dynamic_schedule = 0;
  EXPECT_EQ(tcq_gemm_check(&p), 0);
  p.reserved_schedule = 1;
  EXPECT_EQ(tcq_gemm_check(&p), code(Status::UnknownField));
}

TEST(Gemm_C, WhatTheLibraryDoesNotKnowIsRefusedEverywhere) {
  struct {
    tcq_gemm_problem known;
    std::int64_t more;
  } newer;
  ASSERT_EQ(tcq_gemm_defaults(&newer.known, sizeof newer), 0);
  EXPECT_EQ(newer.more, 0);
  EXPECT_EQ(tcq_gemm_check(&newer.known), 0);
  tcq_gemm_plan* plan = nullptr;
  tcq_gemm_tune_cache* cache = tcq_gemm_create_tune_cache();
  tcq_gemm_pointers none = {};
  none.size = sizeof none;
  const auto refused_with = [&](const tcq_gemm_problem& p, Status why) {
    EXPECT_EQ(tcq_gemm_check(&p), code(why));
    EXPECT_EQ(tcq_gemm_make_plan(&p, &plan), code(why));
    EXPECT_EQ(tcq_gemm_make_plan_cached(&p, cache, &plan), code(why));
    EXPECT_EQ(tcq_gemm_tune(&p, &none, nullptr, 0, nullptr, 8, cache, &plan), code(why));
    EXPECT_EQ(plan, nullptr);
  };
  newer.more = 1;
  refused_with(newer.known, Status::UnknownField);
  tcq_gemm_problem p;
  ASSERT_EQ(tcq_gemm_defaults(&p, sizeof p), 0);
  p.reserved = 1;
  refused_with(p, Status::UnknownField);
  p.reserved = 0;
  for (const std::size_t size : {std::size_t{0}, sizeof p - 4, std::size_t{1} << 40}) {
    p.size = size;
    refused_with(p, Status::BadStructSize);
    EXPECT_EQ(tcq_gemm_defaults(&newer.known, size), code(Status::BadStructSize));
  }
  p.size = sizeof p;
  ASSERT_EQ(tcq_gemm_make_plan(&p, &plan), 0);
  const tcq_gemm_pointers without_size = {};
  EXPECT_EQ(tcq_gemm_run(plan, &without_size, nullptr, 0, nullptr), code(Status::BadStructSize));
  EXPECT_EQ(tcq_gemm_workspace_bytes_for(plan, &without_size), 0u);
  tcq_gemm_destroy_plan(plan);
  tcq_gemm_destroy_tune_cache(cache);
}

// What is null is said to be, by every entry; what has nothing to say says nothing.
TEST(Gemm_C, NullIsRefused) {
  tcq_gemm_problem p;
  tcq_gemm_defaults(&p, sizeof p);
  tcq_gemm_plan* plan = nullptr;
  tcq_gemm_tune_cache* cache = tcq_gemm_create_tune_cache();
  tcq_gemm_pointers x = {};
  x.size = sizeof x;
  const int null = code(Status::NullPointer);
  EXPECT_EQ(tcq_gemm_defaults(nullptr, sizeof p), null);
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
