// The 64-bit shared-memory matrix descriptor of wgmma: its fields, and its swizzle codes.
//
// Decides what sim/isa/base/matrix_descriptor.h leaves open; what LBO and SBO do is
// canonical_layout.h, which byte an element comes from is sim/isa/wgmma/operand.h. Example: a K-major
// 128B tile at byte 1024 with SBO 1024 is encode({1024, 16, 1024, 0, Swizzle::B128}) ==
// 0x4000004000010040.
//
// The descriptor does not say whether the operand is K- or MN-major; the instruction does.
//
// Source: PTX ISA 9.2, 9.7.15.5.1.2.2 "Matrix descriptor format".
// Measured: tests/vectors/wgmma_descriptors.tcqv (every other bit set at random changes nothing)
#pragma once

#include <cstdint>

#include "sim/isa/base/field.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/matrix_descriptor.h"
#include "sim/isa/base/swizzle.h"
#include "sim/isa/fault/fault.h"

namespace tcq::wgmma {

struct MatrixDescriptor {
  std::uint32_t start_bytes = 0;
  std::uint32_t lbo_bytes = 0;
  std::uint32_t sbo_bytes = 0;
  std::uint32_t base_offset = 0;
  Swizzle swizzle = Swizzle::None;

  friend constexpr bool operator==(const MatrixDescriptor&, const MatrixDescriptor&) = default;
};

// tcgen05 has other codes for the same modes.
struct SwizzleMode : Field<62, 2> {
  static constexpr const char* name = "swizzle";
  HOST_DEVICE static constexpr Swizzle mode(std::uint64_t code) {
    switch (code) {
      case 0: return Swizzle::None;
      case 1: return Swizzle::B128;
      case 2: return Swizzle::B64;
      case 3: return Swizzle::B32;
      default: return no_swizzle;
    }
  }
};

using MatrixDescriptorFormat =
    Format<StartAddress, LeadingByteOffset, StrideByteOffset, BaseOffset, SwizzleMode>;

// Of the members that all descriptors have, those of tcgen05, too. Faults: DescriptorUnaligned,
// DescriptorTooLarge, DescriptorBaseOffset and DescriptorSwizzleCode when the word would lose bits.
template <class Codes, class Descriptor>
HOST_DEVICE constexpr Fault check_common(const Descriptor& d) {
  const std::uint32_t all = d.start_bytes | d.lbo_bytes | d.sbo_bytes;
  if (all % descriptor_unit_bytes != 0) return Fault::DescriptorUnaligned;
  if (!StartAddress::fits(all)) return Fault::DescriptorTooLarge;
  if (!BaseOffset::fits(d.base_offset)) return Fault::DescriptorBaseOffset;
  const bool has_code = Codes::fits(swizzle_code<Codes>(d.swizzle));
  return has_code ? Fault::None : Fault::DescriptorSwizzleCode;
}

HOST_DEVICE constexpr Fault check(const MatrixDescriptor& d) {
  return check_common<SwizzleMode>(d);
}

// Requires: check(d) == Fault::None; other values lose bits as the hardware field would.
HOST_DEVICE constexpr std::uint64_t encode(const MatrixDescriptor& d) {
  return encode_common<SwizzleMode>(d);
}

// Bits outside the fields are ignored, as on the chip.
HOST_DEVICE constexpr MatrixDescriptor decode(std::uint64_t word) {
  return decode_common<SwizzleMode, MatrixDescriptor>(word);
}

}  // namespace tcq::wgmma
