// What every live test does before it runs: choose a seed, find its GPU, of sm_90 unless it says otherwise, or skip
// loudly.
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
    if (!suits(id))
      GTEST_SKIP() << id.name << " is not " << wanted() << ": NOT compared with hardware";
    fmt::print("{}, seed {}\n", cuda::describe(id), chosen_seed());
  }

  virtual bool suits(const cuda::DeviceIdentity& id) const { return id.major == 9; }
  virtual const char* wanted() const { return "sm_90"; }
};

}  // namespace tcq
