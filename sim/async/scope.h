// Words that fences, arrivals and waits name: how far one reaches, and which side of a hand-over it is.
#pragma once

#include <cstdint>

namespace tcq::machine {

enum class Scope : std::uint8_t { Cta, Cluster };

// fence.proxy.tensormap::generic: .release covers all maps, .acquire one.
enum class TensormapFence : std::uint8_t { Release, Acquire };

}  // namespace tcq::machine
