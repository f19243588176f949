// A sequence of operations on one mbarrier: which, what the simulator expects to see after each, and
// tables for the eyes of whoever looks for the true rule.
//
// The output is one mbarrier::Answer for each step. The first step is always init. Random sequences
// keep to what PTX allows; directed ones go to the limits and beyond, where the prediction ends at the
// first Fault. Both: mbarrier_suites.cc. Example of a describe(): `mbarrier: init 1, expect_tx 16,
// arrive 1, complete_tx 16`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/recording/fields.h"
#include "oracle/recording/memories.h"
#include "sim/isa/copy/operands.h"

namespace tcq::oracle {

struct MbarrierScript {
  static constexpr int first_code = 13;
  static constexpr int kind_count = 1;

  int cluster = 1;                 // CTAs
  int script = 0;                  // directed, counted from 1; 0: drawn from the seed
  std::uint32_t misplaced_by = 0;  // bytes behind an aligned address

  friend constexpr bool operator==(const MbarrierScript&, const MbarrierScript&) = default;
};

void fields(Fields& io, MbarrierScript& e);
Memories state(const MbarrierScript& e, const Inputs& inputs);
Prediction predict(const MbarrierScript& e, const Inputs& inputs, const Memories& before);
std::string describe(const MbarrierScript& e, const Inputs& inputs);
std::string place(const MbarrierScript& e, const Inputs& inputs, std::size_t at);
Properties properties(const MbarrierScript& e, const Inputs& inputs);
std::size_t output_bytes(const MbarrierScript& e, const Inputs& inputs);

std::vector<mbarrier::Step> mbarrier_steps(const MbarrierScript& e, const Inputs& inputs);
// 4 to 40 steps, all issued by CTA 0, in which phases complete and tx-counts become negative, free
// of Faults, and with arrivals to expect in every phase.
std::vector<mbarrier::Step> drawn_mbarrier_script(std::uint64_t seed);
// Each asks a question.
const std::vector<std::vector<mbarrier::Step>>& directed_mbarrier_scripts();

std::vector<std::uint8_t> to_bytes(const std::vector<mbarrier::Answer>& answers);

// A line for each step: operation, the state of the simulator, what the device showed. Empty if the
// answer has no bytes.
std::string mbarrier_table(const MbarrierScript& e, const Inputs& inputs, const Returned& answer);

}  // namespace tcq::oracle
