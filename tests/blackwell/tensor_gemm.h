// The GEMM on a chip of compute capability 10.0 or 10.3, every byte of D, with the kit of Hopper's live tests
// (tests/live/live_gemm.h). What is about to run is said first: a launch that hangs is the last line's.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>

#include "cuda/gemm/plan_tensor.h"
#include "tests/blackwell/stage_cases.h"
#include "tests/live/live_gemm.h"

namespace tcq::tests {

class Blackwell : public LiveGemm {
 protected:
  bool suits(const cuda::DeviceIdentity& id) const override {
    return gemm::has_tcgen05({.major = id.major, .minor = id.minor});
  }
  const char* wanted() const override { return "sm_100 or sm_103"; }

  void SetUp() override {
    LiveGemm::SetUp();
    if (!IsSkipped() && gemm::tensor_kernels().empty())
      GTEST_SKIP() << "the library was built without its kernels on tcgen05: NOT compared";
  }

  static void say(const std::string& what) {
    fmt::print("running: {}\n", what);
    std::fflush(stdout);
  }

  // By the row's kernel, and no other.
  void run(const StageCase& c) {
    const gemm::Kernel& row = gemm::tensor_kernels()[c.row];
    say(text_of(c, row));
    TensorCase made = case_of(row, c.drawn);
    made.problem.sm_limit = c.sm_limit;
    Plan plan;
    const Status status = make_plan_with(made.problem, row, plan);
    ASSERT_EQ(status, Status::Ok) << sentence(status);
    compare(made.x, plan, {}, c.drawn.seed);
  }

  void run(Stage stage) {
    const int minor = cuda::identity(cuda::current_device()).minor;
    for (const StageCase& c : cases_of(stage, gemm::tensor_kernels())) {
      if (!exists_on(gemm::tensor_kernels()[c.row], minor)) continue;
      run(c);
      if (HasFailure()) return;  // what comes after assumes it
    }
  }
};

}  // namespace tcq::tests
