// The sequences of operations behind async_mbarrier.h: drawn ones that keep to what PTX allows, and
// directed ones, each of which asks a question.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/recording/async_mbarrier.h"

namespace tcq::oracle {

// 4 to 40 steps, all issued by CTA 0, in which phases complete and tx-counts become negative, free
// of Faults, and with arrivals to expect in every phase.
std::vector<MbarrierStep> drawn_mbarrier_script(std::uint64_t seed);

const std::vector<std::vector<MbarrierStep>>& directed_mbarrier_scripts();

}  // namespace tcq::oracle
