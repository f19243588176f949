// The number of whoever can take a step of a cluster: a warp, a copy in flight, a commit in flight.
//
// Stable over executions of the same program, whatever the order of steps: a warp is its number, a
// copy or commit is the warp that issued it, how many that warp had issued, and the CTA it goes to.
#pragma once

#include <cstdint>

namespace tcq::machine {

using AgentId = std::uint64_t;

enum class AgentKind : std::uint8_t { Warp = 0, Copy = 1, Commit = 3 };

struct Agent {
  AgentKind kind = AgentKind::Warp;
  int warp = 0;  // in the cluster; of a copy or commit: that issued it
  std::uint32_t sequence = 0;
  int cta = 0;
  friend constexpr bool operator==(const Agent&, const Agent&) = default;
};

constexpr AgentId encode(const Agent& agent) {
  if (agent.kind == AgentKind::Warp) return static_cast<AgentId>(agent.warp);
  return static_cast<AgentId>(agent.kind) << 62 | static_cast<AgentId>(agent.warp) << 40 |
         static_cast<AgentId>(agent.sequence) << 8 | static_cast<AgentId>(agent.cta);
}

constexpr bool is_copy(AgentId id) { return id >> 62 != 0; }  // or a commit
constexpr bool is_commit(AgentId id) { return id >> 63 != 0; }

// Requires: encode() made it.
constexpr Agent decode(AgentId id) {
  if (!is_copy(id)) return {AgentKind::Warp, static_cast<int>(id), 0, 0};
  return {is_commit(id) ? AgentKind::Commit : AgentKind::Copy,
          static_cast<int>(id >> 40 & 0x3fffff), static_cast<std::uint32_t>(id >> 8),
          static_cast<int>(id & 0xff)};
}

}  // namespace tcq::machine
