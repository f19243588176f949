// What every live test does before it runs: choose a seed, find an sm_90 GPU or skip loudly.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "cuda/launch.h"

namespace tcq {

// TCQ_SEED, or the clock's choice; the same for the whole process.
inline std::uint64_t chosen_seed() {
  static const std::uint64_t seed = [] {
    const char* text = std::getenv("TCQ_SEED");
    if (text != nullptr) return static_cast<std::uint64_t>(std::strtoull(text, nullptr, 0));
    return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  }();
  return seed;
}

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
