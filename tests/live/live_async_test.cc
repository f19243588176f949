// TMA copies, ldmatrix, stmatrix and the tensor-map encoder of a real sm_90 GPU against the
// simulator, on cases no recording has seen. Skips loudly without one.
//
// TCQ_SEED fixes the seed; otherwise the clock chooses it, and every failure prints it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "oracle/recording/async_suites.h"
#include "tests/live/live_device.h"
#include "tools/async_jobs.h"

namespace tcq {
namespace {

class LiveAsync : public Live, public testing::WithParamInterface<std::string_view> {};

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
