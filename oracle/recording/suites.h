// The suites of cases that are recorded on hardware and drawn anew by the live test.
//
// Each suite is a pure function of its seed: the same seed gives the same instructions, descriptors
// and inputs, on any machine. What a case is: vectors.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "oracle/recording/vectors.h"

namespace tcq::oracle {

// slots: every type combination, place and every legal N, all outputs. numeric: every combination
// of types, place, major-ness, negation, scale-d, mixture class. descriptors: random descriptor
// words for both operands and majors. sparse: every sparse form, selector, random metadata. A fifth
// suite, range, is not in the list: descriptors that reach beyond the CTA's shared memory, each of
// which ends its process on a GPU.
std::vector<std::string_view> suite_names();
// Throws UsageError for an unknown name.
std::vector<Case> suite(std::string_view name, std::uint64_t seed);

}  // namespace tcq::oracle
