// A tile of A or B in shared memory, cut into wgmma instructions: does it fit, where do its
// elements and its instructions' descriptors lie. What layout.cc and partition.cc have in common.
//
// The tile must fit two things that know nothing of each other, the instruction and the swizzle
// atom; misfits() checks each on its own and says so in sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/words.h"
#include "oracle/tile/cute_layout.h"
#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/wgmma/descriptor.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/isa/wgmma/tile.h"

namespace tcq::oracle {

struct OperandTile {
  wgmma::Form form;
  wgmma::Multiplicand operand;
  Major major;
  Swizzle swizzle;
  AtomOrder order;
  wgmma::Extent extent;               // of the whole tile, elements as stored
  wgmma::Extent warpgroups = {1, 1};  // instructions that run side by side along MN and K
};

// What a question may ask for: rows, columns or K of a tile, and stages of it.
inline constexpr std::uint64_t longest_extent = 16384;
inline constexpr std::uint64_t most_stages = 256;

// The four swizzle modes, widest first, and their names for Keys::choice().
inline constexpr Swizzle swizzles_by_width[] = {Swizzle::B128, Swizzle::B64, Swizzle::B32,
                                                Swizzle::None};

// The order of a tile for which none is asked: that in which one TMA box writes the most, as
// CUTLASS's collectives have it. partition takes cute_order, the one of CuTe's tile_to_shape.
AtomOrder usual_order(Major major);
inline constexpr AtomOrder cute_order = AtomOrder::MnFirst;

// The other verb's default, for those who compare their answers.
inline constexpr std::string_view layout_order_note =
    "the default is mn-first for K-major and k-first for MN-major tiles, so that one TMA box "
    "writes "
    "the most; partition takes mn-first for both, as CuTe's tile_to_shape does";
inline constexpr std::string_view partition_order_note =
    "the default is mn-first, as in CuTe's tile_to_shape; layout takes k-first for MN-major tiles, "
    "so that one TMA box writes the most";

Type type_of(const OperandTile& tile);
wgmma::Extent instruction_extent(const OperandTile& tile);
Tile compact(const OperandTile& tile);
std::uint32_t tile_bytes(const OperandTile& tile);

// Every reason why the tile cannot be laid out; empty if it can.
std::vector<std::string> misfits(const OperandTile& tile);

// Throws FaultError with all misfits.
void require_fit(const OperandTile& tile);

// swizzle=none|32B|64B|128B under `key`, else the widest one with which the tile fits (None if
// there is none).
Swizzle swizzle_from(const Keys& keys, std::string_view key, OperandTile tile);

// "A" or "B".
wgmma::Multiplicand parse_multiplicand(std::string_view word);
const char* name(wgmma::Multiplicand operand);

// Offset of element (mn, k) from the tile's start. Unit: elements. Requires: the tile fits.
std::int64_t element_offset(const OperandTile& tile, wgmma::Extent at);

// How `count` steps of `step` elements along MN or K move through the tile. Unit: elements.
CuteLayout mn_mode(const OperandTile& tile, std::uint32_t step, std::uint32_t count);
CuteLayout k_mode(const OperandTile& tile, std::uint32_t step, std::uint32_t count);

// Descriptor of the instruction at the tile's start, which lies at byte `start`.
wgmma::MatrixDescriptor first_descriptor(const OperandTile& tile, std::uint32_t start);

}  // namespace tcq::oracle
