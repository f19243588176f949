// One step of a warp that allocates Tensor Memory: what the probe executes and recordings hold.
//
// Example: {Alloc, 256}, {Alloc, 512}, {Dealloc, 0, 0}: the second waits for the third.
// Source: PTX ISA 9.2, 9.7.16.7.1 "tcgen05.alloc, dealloc".
#pragma once

#include <cstdint>

namespace tcq::tcgen05 {

struct AllocStep {
  enum class Action : std::uint32_t { Alloc, Dealloc, Relinquish };
  Action action = Action::Alloc;
  std::uint32_t columns = 0;
  std::uint32_t allocation = 0;  // dealloc: index of the step that allocated

  friend constexpr bool operator==(const AllocStep&, const AllocStep&) = default;
};
inline constexpr int alloc_action_count = 3;
inline constexpr std::uint32_t max_alloc_steps = 64;

}  // namespace tcq::tcgen05
