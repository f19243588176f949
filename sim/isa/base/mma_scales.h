// Scale factors of the warp's mma with .block_scale: which byte of which lane holds a factor.
//
// Each lane gives one register of four bytes for A and one for B; two selectors choose the lanes and the bytes that
// count. Of A thread-id 0 takes lanes 0 and 1 of each four, 1 takes lanes 2 and 3: the first has the factors of the row
// of its group, the second those of the row 8 below. Of B thread-id is the lane of the four. byte-id is the first byte:
// any for one factor per row, 0 or 2 for two, 0 for four. Example: SFA[11][0] with selectors {1, 1} is byte 1 of lane 15.
//
// Source: PTX ISA 9.2, 9.7.14.3 "Block Scaling for mma.sync".
#pragma once

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/mma_fragment.h"

namespace tcq::warp_mma {

struct ScaleSelector {
  int byte_id;
  int thread_id;
};

inline constexpr int scale_bytes = 4;  // in a register
inline constexpr int a_scale_threads = group_lanes / 2;
inline constexpr int b_scale_threads = group_lanes;

// Row [0,16), factor [0,4) -> its slot; the part is a byte.
HOST_DEVICE constexpr Slot a_scale_slot(Element factor, ScaleSelector at) {
  return {group_lanes * (factor.row % group_rows) + 2 * at.thread_id + factor.row / group_rows, 0,
          at.byte_id + factor.col};
}

// Column of B [0,8), factor [0,4) -> its slot.
HOST_DEVICE constexpr Slot b_scale_slot(Element factor, ScaleSelector at) {
  return {group_lanes * factor.row + at.thread_id, 0, at.byte_id + factor.col};
}

// The factor that a byte would be: lanes whose thread-id is another one are not read, but belong to the same rows.
HOST_DEVICE constexpr Element a_scale_element(Slot s, ScaleSelector at) {
  return {s.lane / group_lanes + group_rows * (s.lane % 2), s.part - at.byte_id};
}

HOST_DEVICE constexpr Element b_scale_element(Slot s, ScaleSelector at) {
  return {s.lane / group_lanes, s.part - at.byte_id};
}

}  // namespace tcq::warp_mma
