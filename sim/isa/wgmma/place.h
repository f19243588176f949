// Names for places inside the units of the other headers: warp and lane of a thread, the bits of a
// metadata code in its register, the bit of a b1 element in its byte, the chunk of a stored
// element.
//
// For whoever prints places; the maps themselves are sim/isa/wgmma/fragment.h, sim/isa/wgmma/operand.h and
// sim/isa/wgmma/sparse.h. Example: thread 71 is lane 7 of warp 2; metadata nibble 5 is bits [20, 24).
//
// Source: PTX ISA 9.2, 9.7.15.5.1.1 "Register fragments", 9.7.15.6.2 "Sparse metadata".
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/sparse.h"

namespace tcq::wgmma {

inline constexpr int threads_per_warp = 32;

HOST_DEVICE constexpr int warp(int thread) { return thread / threads_per_warp; }
HOST_DEVICE constexpr int lane(int thread) { return thread % threads_per_warp; }

// Metadata codes are nibbles of one 32-bit register.
inline constexpr int metadata_code_bits = 4;
inline constexpr int metadata_codes = 1 << metadata_code_bits;
inline constexpr std::uint32_t metadata_code_mask = metadata_codes - 1;
inline constexpr int metadata_nibbles = 32 / metadata_code_bits;

// The lowest bit of a nibble in its register.
HOST_DEVICE constexpr int metadata_low_bit(int nibble) { return metadata_code_bits * nibble; }

// Position of a b1 element in the byte that element_address() names, bit 0 lowest.
HOST_DEVICE constexpr int bit_in_byte(Type type, int k) { return k * bits(type) % 8; }

// Chunk of a stored element of A.sp, and its index there.
HOST_DEVICE constexpr int stored_chunk(Type a, int col) { return col / stored_per_chunk(a); }
HOST_DEVICE constexpr int stored_index(Type a, int col) { return col % stored_per_chunk(a); }

}  // namespace tcq::wgmma
