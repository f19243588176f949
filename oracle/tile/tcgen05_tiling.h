// A tile of A or B in shared memory, cut into tcgen05.mma instructions: does it fit, and which
// descriptor has each instruction.
//
// What tiling.h is for wgmma. Extents are those of one CTA: half of M or N with cta_group::2, and A of
// sparse forms as stored. Elements of 4 and 6 bits count with what they take in shared memory: 8 bits
// in kinds f8f6f4 and mxf8f6f4. Example: A of f16, 128 x 64, K-major, 128B has SBO 1024, and its four
// instructions start 32 bytes apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/words.h"
#include "oracle/tile/operand_layout.h"
#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/smem_descriptor.h"

namespace tcq::oracle {

struct Tcgen05Tile {
  tcgen05::MmaOpcode opcode;
  tcgen05::InstructionDescriptor idesc;
  bool is_b = false;
  Swizzle swizzle = Swizzle::None;
  AtomOrder order = AtomOrder::MnFirst;
  std::uint32_t mn = 0;
  std::uint32_t k = 0;
};

Type type_of(const Tcgen05Tile& tile);
Major major_of(const Tcgen05Tile& tile);

// Of one instruction, in one CTA.
std::uint32_t instruction_mn(const Tcgen05Tile& tile);
std::uint32_t instruction_k(const Tcgen05Tile& tile);

Tile compact(const Tcgen05Tile& tile);

// Every reason why the tile cannot be laid out; empty if it can.
std::vector<std::string> misfits(const Tcgen05Tile& tile);

// Throws FaultError with all misfits, and if a tile at byte `start` lies at the wrong place.
void require_fit(const Tcgen05Tile& tile, std::uint32_t start);

// The value of `key`, or of swizzle=, else the widest mode with which the tile fits.
Swizzle swizzle_from(const Keys& keys, std::string_view key, Tcgen05Tile tile);

// The descriptor of the instruction whose first element is (mn, k). Requires: the tile fits.
tcgen05::SmemDescriptor descriptor_at(const Tcgen05Tile& tile, std::uint32_t start,
                                      std::uint32_t mn, std::uint32_t k);

// Offset of element (mn, k) from the tile's start, before swizzling. Unit: elements as they lie in
// shared memory. Requires: the tile fits.
std::int64_t element_offset(const Tcgen05Tile& tile, std::int64_t mn, std::int64_t k);

// Of the tile's elements in shared memory.
StoredType stored_type(const Tcgen05Tile& tile);
std::uint32_t bytes_of(const Tcgen05Tile& tile, std::uint32_t elements);
OperandByte byte_of(const Tcgen05Tile& tile, std::uint32_t mn, std::uint32_t k);
std::string tma_text(const Tcgen05Tile& tile);

// The CuTe layout of the tile in elements, without the swizzle.
std::string cute_text(const Tcgen05Tile& tile);

// "A 128 x 64 f16, K-major, swizzle 128B, mn-first".
std::string tile_text(const Tcgen05Tile& tile);

}  // namespace tcq::oracle
