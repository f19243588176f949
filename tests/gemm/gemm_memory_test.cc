// The GEMM library when the host's memory runs out, at every allocation that it makes: no exception
// leaves it, the answer is NoMemory, and there is no plan.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "cuda/gemm/gemm.h"
#include "cuda/gemm/gemm_c.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/tune.h"
#include "tests/gemm/scarce_memory.h"
#include "tests/support/temporary_folder.h"

namespace tcq::gemm {
namespace {

const Device h200 = {};

// Two splits, a workspace, every launch.
Problem usual() { return {.m = 16, .n = 576, .k = 7162}; }

// `call`: () -> Status, with memory for 0, 1, 2, ... allocations until it says `want`; how often
// it said NoMemory before. `unchanged`: holds whenever it did.
template <class Call, class Unchanged>
int until(Status want, Call call, Unchanged unchanged) {
  for (int n = 0; n < 100000; ++n) {
    const Status status = with_memory_for(n, call);
    if (status == want) return n;
    EXPECT_EQ(status, Status::NoMemory) << n << ": " << sentence(status);
    EXPECT_TRUE(unchanged()) << n;
    if (status != Status::NoMemory) return -1;
  }
  return -1;
}

TEST(Gemm_Memory, PlansForADeviceThatNeedNotBeThere) {
  Plan plan;
  const auto none = [&] { return !plan.made && plan.aligned.kernel == nullptr; };
  EXPECT_GT(until(
                Status::Ok, [&] { return make_plan_for(usual(), h200, plan); }, none),
            3);
  EXPECT_TRUE(plan.made);
  const Kernel& kernel = *plan.realigned.kernel;
  EXPECT_GT(until(
                Status::Ok, [&] { return make_plan_for(usual(), h200, kernel, plan); }, none),
            3);
  TuneCache cache;
  const std::string device_name(100, 'x');
  const auto cached = [&] { return make_plan_for(usual(), h200, device_name, cache, plan); };
  EXPECT_GT(until(Status::Ok, cached, none), 3);
  const Problem wrong{.m = -1};
  EXPECT_EQ(until(
                Status::NegativeSize, [&] { return make_plan_for(wrong, h200, plan); }, none),
            0);
}

// Where there is a device, too; where there is none, that is said.
TEST(Gemm_Memory, PlansForThisDevice) {
  Plan plan;
  const Status want = make_plan(usual(), plan);
  ASSERT_TRUE(want == Status::Ok || want == Status::NoDevice || want == Status::WrongArchitecture);
  const auto none = [&] { return !plan.made; };
  EXPECT_GE(until(
                want, [&] { return make_plan(usual(), plan); }, none),
            0);
  const auto with_one = [&] { return make_plan_with(usual(), kernels()[0], plan); };
  EXPECT_GE(until(with_one(), with_one, none), 0);
  TuneCache cache;
  EXPECT_GE(until(
                want, [&] { return make_plan(usual(), cache, plan); }, none),
            0);
  if (want != Status::NoDevice) return;
  EXPECT_GE(until(
                want, [&] { return tune(usual(), {}, {}, nullptr, {}, plan); }, none),
            0);
  EXPECT_GE(until(
                want, [&] { return tune(usual(), {}, {}, nullptr, {}, cache, plan); }, none),
            0);
  EXPECT_EQ(cache.size(), 0u);
}

TEST(Gemm_Memory, WhatIsSaidOfAPlan) {
  Plan plan;
  ASSERT_EQ(make_plan_for(usual(), h200, plan), Status::Ok);
  const std::string whole = describe(plan);
  int scarce = 0;
  for (std::string text; text != whole; ++scarce) {
    text = with_memory_for(scarce, [&] { return describe(plan); });
    ASSERT_TRUE(text == whole || text == "no memory\n") << text;
  }
  EXPECT_GT(scarce, 10);
  EXPECT_THROW(with_memory_for(0, [&] { return k_segments(plan, Path::Realigned); }),
               std::bad_alloc);
  with_memory_for(0, [&] {
    EXPECT_EQ(name(Status::Ok)[0], 'O');
    EXPECT_GT(workspace_bytes(plan), 0u);
    EXPECT_EQ(check(plan, {}, {}), Status::NullPointer);
    EXPECT_EQ(run(plan, {}, {}, nullptr), Status::NullPointer);
    EXPECT_EQ(check_memory({}, {}), Status::NoPlan);
    return 0;
  });
}

TEST(Gemm_Memory, TheCInterface) {
  const TemporaryFolder folder;
  const std::string path = folder.file("choices");
  tcq_gemm_problem p;
  tcq_gemm_defaults(&p, sizeof p);
  p.n = p.k = 8;  // m is 0: a plan without a device
  tcq_gemm_plan* plan = nullptr;
  const auto none = [&] { return plan == nullptr; };
  const auto status = [](int code) { return static_cast<Status>(code); };
  EXPECT_GT(until(
                Status::Ok, [&] { return status(tcq_gemm_make_plan(&p, &plan)); }, none),
            0);
  char text[200];
  std::size_t length = 0;
  const auto whole = tcq_gemm_describe(plan, text, sizeof text);
  for (int n = 0; length != whole; ++n) {
    length = with_memory_for(n, [&] { return tcq_gemm_describe(plan, text, sizeof text); });
    ASSERT_TRUE(length == whole || std::string(text) == "no memory\n");
  }
  tcq_gemm_destroy_plan(plan);

  EXPECT_EQ(with_memory_for(0, [] { return tcq_gemm_create_tune_cache(); }), nullptr);
  tcq_gemm_tune_cache* cache = tcq_gemm_create_tune_cache();
  const auto always = [] { return true; };
  const auto file = [&](auto call) {
    return [&, call] { return status(call(cache, path.c_str())); };
  };
  EXPECT_GT(until(Status::TuneFileMissing, file(tcq_gemm_load_tune_cache), always), 0);
  EXPECT_GT(until(Status::Ok, file(tcq_gemm_save_tune_cache), [&] { return folder.files() == 0; }),
            0);
  EXPECT_GT(until(Status::Ok, file(tcq_gemm_load_tune_cache), always), 0);
  plan = nullptr;
  EXPECT_GT(
      until(
          Status::Ok, [&] { return status(tcq_gemm_make_plan_cached(&p, cache, &plan)); }, none),
      0);
  tcq_gemm_destroy_plan(plan);
  plan = nullptr;
  tcq_gemm_pointers x = {};
  x.size = sizeof x;
  const auto tuned = [&] {
    return status(tcq_gemm_tune(&p, &x, nullptr, 0, nullptr, 8, cache, &plan));
  };
  EXPECT_GT(until(Status::Ok, tuned, none), 0);
  EXPECT_EQ(with_memory_for(0, [&] { return tcq_gemm_run(plan, &x, nullptr, 0, nullptr); }), 0);
  tcq_gemm_destroy_plan(plan);
  tcq_gemm_destroy_tune_cache(cache);
}

}  // namespace
}  // namespace tcq::gemm
