// The TMA box that writes a compact tile in shared memory, and the tensor map's swizzle mode.
//
// A box lands densely, inner dimension first, and the swizzle acts on absolute addresses, so one
// box is one row pitch wide and as high as the atoms below each other are contiguous. Example: bf16
// 128 x 128, K-major, 128B, MnFirst: two boxes of {64, 128} elements, the second 16384 bytes on.
//
// Source: CUDA driver API, cuTensorMapEncodeTiled (box dimensions 1..256, inner box at most the
// swizzle span); PTX ISA 9.2, 5.5.7 "Swizzling modes".
// Inferred: a box of an atom's height where atoms below each other are not contiguous; refuted if
// such a tile, written by TMA, is read back in another order.
#pragma once

#include <cstdint>

#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/swizzle.h"

namespace tcq {

inline constexpr std::uint32_t max_box_extent = 256;

struct TmaBox {
  std::uint32_t inner_bytes;
  std::uint32_t rows;  // MN if K-major, K if MN-major
};

// Boxes cover the tile inner_bytes x rows at a time; box (i, j) starts at i * step_contiguous +
// j * step_rows from the tile's start.
struct TmaBoxes {
  TmaBox box;
  std::uint32_t count_contiguous;
  std::uint32_t count_rows;
  std::uint32_t step_contiguous_bytes;
  std::uint32_t step_rows_bytes;
};

// Requires: tile.is_whole().
HOST_DEVICE constexpr TmaBoxes tma_boxes(const Tile& tile) {
  const AtomSteps steps = atom_steps(tile);
  const std::uint32_t atom = tile.atom_rows;
  std::uint32_t rows = steps.rows == tile.atom_bytes() ? tile.rows : atom;
  std::uint32_t pieces = 1;
  while (rows / pieces > max_box_extent || rows % pieces != 0 || rows / pieces % atom != 0)
    ++pieces;
  rows /= pieces;
  return {{tile.pitch_bytes, rows},
          tile.contiguous_bytes / tile.pitch_bytes,
          tile.rows / rows,
          steps.contiguous,
          rows / atom * steps.rows};
}

// The driver's name of a mode of cuTensorMapEncodeTiled.
HOST_DEVICE constexpr const char* tensor_map_swizzle(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::None: return "CU_TENSOR_MAP_SWIZZLE_NONE";
    case Swizzle::B32: return "CU_TENSOR_MAP_SWIZZLE_32B";
    case Swizzle::B64: return "CU_TENSOR_MAP_SWIZZLE_64B";
    case Swizzle::B128: return "CU_TENSOR_MAP_SWIZZLE_128B";
    case Swizzle::B128Atom32: return "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B";
    case Swizzle::B128Atom32Flip8: return "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B";
    case Swizzle::B128Atom64: return "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B";
  }
  return "?";
}

}  // namespace tcq
