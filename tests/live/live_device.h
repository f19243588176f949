// What every live test does before it runs: choose a seed, find an sm_90 GPU or skip loudly.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cuda/runtime/launch.h"
#include "tests/support/chosen_seed.h"

namespace tcq {

class Live : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device: NOT compared with hardware";
    const cuda::DeviceIdentity id = cuda::identity(cuda::current_device());
    if (id.major != 9) GTEST_SKIP() << id.name << " is not sm_90: NOT compared with hardware";
    fmt::print("{}, seed {}\n", cuda::describe(id), chosen_seed());
  }
};

}  // namespace tcq
