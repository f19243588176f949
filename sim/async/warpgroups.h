// Four warps that issue wgmmas together: their alignment, and the arithmetic when it is due.
#pragma once

#include <cstdint>

#include "sim/async/step.h"

namespace tcq::machine {

inline constexpr std::uint32_t issued_by_all = 0xf;  // Mma::issued_by

Warpgroup& warpgroup_of(ClusterState& c, const Warp& warp);
const Warpgroup& warpgroup_of(const ClusterState& c, const Warp& warp);

// The warp's place in its warpgroup.
inline std::size_t place_in_group(const Warp& warp) {
  return static_cast<std::size_t>(warp.index % warps_per_warpgroup);
}

// Rows of A that are the warp's, from bit 0 on.
inline std::uint32_t rows_in_warp(const Warp& warp, RowMask rows) {
  const auto place = static_cast<int>(place_in_group(warp));
  return static_cast<std::uint32_t>((rows & rows_of_warp(place)) >> (place * rows_per_warp));
}

// The warps of a warpgroup must execute the same aligned instructions, one after the other.
// `registers` of a setmaxnreg, negative of a .dec: several in one direction are as good as one, which is disputed.
bool aligned_in_warpgroup(Step& s, int registers = 0);
// Of a warp that ends, or has ended, with none of its own for the one at that place: of a setmaxnreg, if it has executed nothing
// of the kind at all, that is disputed, too.
Finding finding_of_absent(const Warpgroup& group, const Place& at, int registers, int warp);

// All before number `end` that have not been.
void execute_mmas(ClusterState& c, Warpgroup& group, std::uint64_t end);

}  // namespace tcq::machine
