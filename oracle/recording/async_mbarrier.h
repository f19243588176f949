// Sequences of operations on one mbarrier: which, what the simulator expects to see after each, and
// tables for the eyes of whoever looks for the true rule.
//
// A part of async_case.h. The output of a case is one MbarrierAnswer for each step. The first step
// is always init. Random sequences keep to what PTX allows; directed ones go to the limits and
// beyond, where the prediction ends at the first Fault. Example of a describe(): `mbarrier: init 1,
// expect_tx 16, arrive 1, complete_tx 16`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/recording/async_case.h"
#include "sim/isa/copy/mbarrier.h"

namespace tcq::oracle {

struct MbarrierStep {
  mbarrier::Operation operation = mbarrier::Operation::Init;
  std::uint32_t number = 0;
  int issuer = 0;  // CTA of the cluster; the mbarrier lies in CTA 0
};

inline constexpr std::uint32_t no_pending_count = 0xffffffff;

struct MbarrierAnswer {
  std::uint32_t passes = 0;  // test_wait.parity: 1 if that of parity 0 is true, 2 if that of 1
  std::uint32_t pending_count = no_pending_count;  // of the state that a local arrival returned

  friend constexpr bool operator==(const MbarrierAnswer&, const MbarrierAnswer&) = default;
};
inline constexpr std::size_t mbarrier_answer_bytes = 8;

std::vector<MbarrierStep> mbarrier_steps(const AsyncCase& c);

std::vector<std::uint8_t> to_bytes(const std::vector<MbarrierAnswer>& answers);
// Requires: a whole number of answers.
std::vector<MbarrierAnswer> mbarrier_answers(const std::vector<std::uint8_t>& bytes);

Prediction predict_mbarrier(const AsyncCase& c);

std::string describe_mbarrier(const AsyncCase& c);

// A line for each step: operation, the state of the simulator, what the device showed. Empty if the
// case has no bytes.
std::string mbarrier_table(const AsyncCase& c);

// The tables of the cases whose end is not predicted. Empty if there is none.
std::string explain_open_mbarriers(const AsyncRecording& recording);

// The suites mbarrier and mbarrier_edge of async_suites.h.
std::vector<AsyncCase> mbarriers(std::uint64_t seed);
std::vector<AsyncCase> mbarrier_edges(std::uint64_t seed);

}  // namespace tcq::oracle
