// The activations of sim/num/activation.h on the silicon. tests/live/live_activation_test.cc compares.
#pragma once

#include <cstdint>
#include <span>

#include "sim/num/activation.h"

namespace tcq::cuda {

// An activation that takes one number, of the floats whose bits are first, first + 1, ...: out.size() of them.
void probe_activations(Activation activation, std::uint32_t first, std::span<std::uint32_t> out);

}  // namespace tcq::cuda
