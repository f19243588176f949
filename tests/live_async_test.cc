// TMA copies, ldmatrix, stmatrix and the tensor-map encoder of a real sm_90 GPU against the
// simulator, on cases no recording has seen. Skips loudly without one.
//
// TCQ_SEED fixes the seed; otherwise the clock chooses it, and every failure prints it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "cuda/launch.h"
#include "oracle/async_suites.h"
#include "tools/async_jobs.h"

namespace tcq {
namespace {

std::uint64_t chosen_seed() {
  static const std::uint64_t seed = [] {
    const char* text = std::getenv("TCQ_SEED");
    if (text != nullptr) return static_cast<std::uint64_t>(std::strtoull(text, nullptr, 0));
    return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  }();
  return seed;
}

class LiveAsync : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device: NOT compared with hardware";
    const cuda::DeviceIdentity id = cuda::identity(cuda::current_device());
    if (id.major != 9) GTEST_SKIP() << id.name << " is not sm_90: NOT compared with hardware";
    fmt::print("{}, seed {}\n", cuda::describe(id), chosen_seed());
  }
};

TEST_P(LiveAsync, SimulatorEqualsTheDeviceByteForByte) {
  oracle::AsyncRecording recording;
  recording.cases = oracle::async_suite(GetParam(), chosen_seed());
  tools::record_async_cases(recording.cases, [](std::size_t) {});
  const oracle::Comparison c = oracle::compare(recording);
  fmt::print("{}: {} cases, {} bytes, {} differing\n", GetParam(), c.cases, c.outputs,
             c.differing_outputs);
  EXPECT_EQ(c.differing_outputs, 0u) << "seed " << chosen_seed() << "\n"
                                     << oracle::explain_differences(recording);
}

INSTANTIATE_TEST_SUITE_P(Suites, LiveAsync, testing::ValuesIn(oracle::async_suite_names()),
                         [](const auto& param_info) { return std::string(param_info.param); });

}  // namespace
}  // namespace tcq
