// The swizzle function Sw<B, M, S> on byte addresses: XOR B bits from bit M + S into bit M.
//
// CuTe writes it Swizzle<B, M, S>; wgmma and TMA use M = 4 (16-byte units) and S = 3. It is an
// involution and never touches the low M bits. Example: Sw<3,4,3>(0x5e0) = 0x5e0 ^ (3 << 4) =
// 0x5d0.
//
// Source: PTX ISA 9.2, 5.5.7 "Swizzling modes"; 9.7.15.5.1.2.1.3 "canonical layouts".
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

}  // namespace tcq
