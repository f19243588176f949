// Where every byte of a compact tile in shared memory lies: (mn, k) -> offset from the tile's
// start.
//
// canonical_layout.h says it for one instruction's operand; a tile is wider than that when its
// swizzle atoms follow each other along K. The swizzle itself is not applied. Example: a K-major
// tile of 128 rows x 256 bytes, pitch 128, MnFirst: byte (0, 128) lies at 128 * 128 = 16384.
//
// Inferred: composed of offset_bytes() and k_advance_bytes(), which are measured; refuted if a
// descriptor advanced by k_advance_bytes() reads another byte (tests/oracle/partition_test.cc compares).
#pragma once

#include <cstdint>

#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/host_device.h"

namespace tcq {

// Requires: tile.is_whole(), `at` inside the tile. Shape: a bijection onto [0, tile.bytes()).
HOST_DEVICE constexpr std::uint32_t tile_offset_bytes(const Tile& tile, OperandByte at) {
  const CanonicalLayout layout = canonical_layout(tile);
  if (tile.major == Major::MN) return offset_bytes(layout, at);
  const std::uint32_t inside = at.k % tile.pitch_bytes;
  return k_advance_bytes(tile, at.k - inside) + offset_bytes(layout, {at.mn, inside});
}

}  // namespace tcq
