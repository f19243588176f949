// The swizzle modes of shared memory, and the function Sw<B, M, S> on byte addresses that each one
// is: XOR B bits from bit M + S into bit M.
//
// One enum for all that name a mode: tensor maps have all seven, descriptors of tcgen05 the first
// five, those of wgmma the first four. Which code a descriptor writes for a mode is its format's
// business (sim/isa/wgmma/descriptor.h, sim/isa/tcgen05/smem_descriptor.h). CuTe writes the function
// Swizzle<B, M, S>; it is an involution and never touches the low M bits. Example: Sw<3,4,3>(0x5e0)
// = 0x5e0 ^ (3 << 4) = 0x5d0.
//
// Source: PTX ISA 9.2, 5.5.7 "Swizzling modes"; 9.7.15.5.1.2.1.3 "canonical layouts"; CuTe layout
// Sw<2,5,2> for 32-byte atoms.
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"

namespace tcq {

struct SwizzleFunction {
  int bits;   // B: how many address bits take part
  int base;   // M: the lowest bit that changes
  int shift;  // S: how far above it the XOR's source lies

  // `base_offset` is subtracted from the source bits first (wgmma descriptors, bits 49-51).
  HOST_DEVICE constexpr std::uint32_t apply(std::uint32_t address,
                                            std::uint32_t base_offset = 0) const {
    const std::uint32_t source = (address >> (base + shift)) - base_offset;
    return address ^ ((source & ((1u << bits) - 1)) << base);
  }
  friend constexpr bool operator==(const SwizzleFunction&, const SwizzleFunction&) = default;
};

// The enumerators' values are the driver's: CUtensorMapSwizzle.
enum class Swizzle : std::uint8_t { None, B32, B64, B128, B128Atom32, B128Atom32Flip8, B128Atom64 };
inline constexpr int swizzle_count = 7;

// What a descriptor decodes to whose code means no mode.
inline constexpr Swizzle no_swizzle = Swizzle{swizzle_count};

// Row pitch of the swizzle atom; 16 for no_swizzle. Unit: bytes.
HOST_DEVICE constexpr std::uint32_t pitch_bytes(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::None: return 16;
    case Swizzle::B32: return 32;
    case Swizzle::B64: return 64;
    case Swizzle::B128:
    case Swizzle::B128Atom32:
    case Swizzle::B128Atom32Flip8:
    case Swizzle::B128Atom64: return 128;
  }
  return 16;
}

// Rows of one pitch in the swizzle atom of an operand.
HOST_DEVICE constexpr std::uint32_t atom_rows(Swizzle swizzle) {
  return swizzle == Swizzle::B128Atom32 ? 4 : 8;
}

HOST_DEVICE constexpr std::uint32_t atom_bytes(Swizzle swizzle) {
  return atom_rows(swizzle) * pitch_bytes(swizzle);
}

// Acts on absolute shared-memory addresses. The 8-byte flip of B128Atom32Flip8 is not in it.
HOST_DEVICE constexpr SwizzleFunction swizzle_function(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::None: return {0, 4, 3};
    case Swizzle::B32: return {1, 4, 3};
    case Swizzle::B64: return {2, 4, 3};
    case Swizzle::B128: return {3, 4, 3};
    case Swizzle::B128Atom32:
    case Swizzle::B128Atom32Flip8: return {2, 5, 2};
    case Swizzle::B128Atom64: return {1, 6, 1};
  }
  return {0, 4, 3};
}

HOST_DEVICE constexpr const char* name(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::None: return "none";
    case Swizzle::B32: return "32B";
    case Swizzle::B64: return "64B";
    case Swizzle::B128: return "128B";
    case Swizzle::B128Atom32: return "128B_ATOM_32B";
    case Swizzle::B128Atom32Flip8: return "128B_ATOM_32B_FLIP_8B";
    case Swizzle::B128Atom64: return "128B_ATOM_64B";
  }
  return "invalid";
}

}  // namespace tcq
