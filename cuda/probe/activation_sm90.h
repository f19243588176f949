// The activations' arithmetic on the silicon: what sim/num/activation.h says that a chip computes.
//
// Device code of that header begins reciprocals with the chip's approximation; whether the bits are the host's, all
// of them, is asked here. tests/live/live_activation_test.cc compares.
#pragma once

#include <cstdint>
#include <span>

#include "sim/num/activation.h"

namespace tcq::cuda {

// rounded::reciprocal() of the floats whose bits are first, first + 1, ...: out.size() of them.
void probe_reciprocals(std::uint32_t first, std::span<std::uint32_t> out);

// The same of an activation that takes one number.
void probe_activations(Activation activation, std::uint32_t first, std::span<std::uint32_t> out);

}  // namespace tcq::cuda
