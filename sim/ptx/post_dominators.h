// Immediate post-dominators of a graph: the first node on every way to its end.
//
// The algorithm of Lengauer and Tarjan on the graph turned round, in O(m log n) and without recursion:
// graphs come from outside.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tcq::ptx {

inline constexpr std::uint32_t no_node = ~std::uint32_t{0};

// Nodes are 0 to n - 1; `next[i]` are those behind node i, and one without any is where it ends. The result
// has no_node where ways meet behind all nodes only, or never end.
std::vector<std::uint32_t> post_dominators(std::span<const std::span<const std::uint32_t>> next);

}  // namespace tcq::ptx
