// The simulator against a real sm_90 GPU, on inputs no recording has seen. Skips loudly without
// one.
//
// TCQ_SEED fixes the seed; otherwise the clock chooses it, and every failure prints it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cuda/probe/sweep_sm90.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/recording/directed.h"
#include "oracle/recording/explain.h"
#include "oracle/recording/files.h"
#include "oracle/recording/suites.h"
#include "tests/live/live_device.h"
#include "tests/support/source_tree.h"
#include "tools/device_jobs.h"
#include "tools/sm90_jobs.h"

namespace tcq {
namespace {

class LiveSuite : public Live, public testing::WithParamInterface<std::string_view> {};

TEST_P(LiveSuite, SimulatorEqualsTheDeviceBitForBit) {
  oracle::Recording recording{{}, oracle::draw_suite(GetParam(), chosen_seed())};
  for (oracle::Case& c : recording.cases) tools::answer_here(c);
  const oracle::Comparison c = oracle::compare(recording);
  fmt::print("{}: {} cases, {} outputs, {} differing bits\n", GetParam(), c.cases, c.outputs,
             c.differing_bits);
  EXPECT_EQ(c.differing_bits, 0u) << "seed " << chosen_seed() << ": " << c.first_mismatch << "\n"
                                  << oracle::explain_differences(recording);
}

// A trap would end the process.
std::vector<std::string_view> suites_without_traps() {
  std::vector<std::string_view> names;
  for (const oracle::SuiteInfo& suite : oracle::suites())
    if (!suite.traps && !oracle::is_tcgen05_suite(suite.name)) names.push_back(suite.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Hopper, LiveSuite, testing::ValuesIn(suites_without_traps()),
                         [](const auto& param_info) { return std::string(param_info.param); });

TEST_F(Live, DirectedProbesGiveTheRecordedBits) {
  const auto path = source_file("tests/vectors/wgmma_directed.txt");
  const oracle::DirectedFile recorded = oracle::parse_directed(oracle::read_file(path.string()));
  std::vector<oracle::Probe> probes = recorded.probes;
  tools::record_probes(probes);
  for (std::size_t i = 0; i < probes.size(); ++i)
    EXPECT_EQ(probes[i].d, recorded.probes[i].d) << probes[i].id;
}

TEST_F(Live, SweepOfEveryFormHasNoDifferingBit) {
  constexpr std::uint32_t tiles = 2048;
  for (int form = 0; form < cuda::sweep_form_count(); ++form) {
    const cuda::SweepCounts counts = cuda::run_sweep(form, chosen_seed(), 0, tiles);
    std::uint64_t outputs = 0;
    std::uint64_t bits = 0;
    for (std::size_t c = 0; c < counts.outputs.size(); ++c) {
      outputs += counts.outputs[c];
      bits += counts.differing_bits[c];
    }
    EXPECT_EQ(outputs, std::uint64_t{tiles} * 64 * 64);
    EXPECT_EQ(bits, 0u) << oracle::mnemonic_with_keys({cuda::sweep_form(form)}) << " tile "
                        << counts.first.tile << " D[" << counts.first.row << "]["
                        << counts.first.col << "]";
  }
}

}  // namespace
}  // namespace tcq
