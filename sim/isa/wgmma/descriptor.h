// The 64-bit shared-memory matrix descriptor of wgmma: where each field lies, and its swizzle
// codes.
//
// Decides bit positions and units; what LBO and SBO do is canonical_layout.h, which byte an element
// comes from is sim/isa/wgmma/operand.h. Example: a K-major 128B tile at byte 1024 with SBO 1024 is
// encode({1024, 16, 1024, 0, Swizzle::B128}) == 0x4000004000010040.
//
// The descriptor does not say whether the operand is K- or MN-major; the instruction does.
//
// Source: PTX ISA 9.2, 9.7.15.5.1.2.2 "Matrix descriptor format".
// Measured: tests/vectors/wgmma_descriptors.tcqv (every other bit set at random changes nothing)
#pragma once

#include <cstdint>

#include "sim/isa/base/field.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/swizzle.h"
#include "sim/isa/fault/fault.h"

namespace tcq::wgmma {

// The enumerators' values are the field's codes; tcgen05 has other codes for the same names.
enum class Swizzle : std::uint8_t { None = 0, B128 = 1, B64 = 2, B32 = 3 };

// Row pitch of the swizzle atom. Unit: bytes.
HOST_DEVICE constexpr std::uint32_t pitch_bytes(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::None: return 16;
    case Swizzle::B32: return 32;
    case Swizzle::B64: return 64;
    case Swizzle::B128: return 128;
  }
  return 0;
}

// Acts on absolute shared-memory addresses.
HOST_DEVICE constexpr SwizzleFunction swizzle_function(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::None: return {0, 4, 3};
    case Swizzle::B32: return {1, 4, 3};
    case Swizzle::B64: return {2, 4, 3};
    case Swizzle::B128: return {3, 4, 3};
  }
  return {0, 4, 3};
}

HOST_DEVICE constexpr const char* name(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::None: return "none";
    case Swizzle::B32: return "32B";
    case Swizzle::B64: return "64B";
    case Swizzle::B128: return "128B";
  }
  return "?";
}

struct MatrixDescriptor {
  std::uint32_t start_bytes = 0;
  std::uint32_t lbo_bytes = 0;
  std::uint32_t sbo_bytes = 0;
  std::uint32_t base_offset = 0;
  Swizzle swizzle = Swizzle::None;

  friend constexpr bool operator==(const MatrixDescriptor&, const MatrixDescriptor&) = default;
};

struct StartAddress : Field<0, 14, 4> {
  static constexpr const char* name = "start_bytes";
};
struct LeadingByteOffset : Field<16, 14, 4> {
  static constexpr const char* name = "lbo_bytes";
};
struct StrideByteOffset : Field<32, 14, 4> {
  static constexpr const char* name = "sbo_bytes";
};
struct BaseOffset : Field<49, 3> {
  static constexpr const char* name = "base_offset";
};
struct SwizzleMode : Field<62, 2> {
  static constexpr const char* name = "swizzle";
};

using MatrixDescriptorFormat =
    Format<StartAddress, LeadingByteOffset, StrideByteOffset, BaseOffset, SwizzleMode>;

// What the start field can address.
inline constexpr int address_bits = StartAddress::width + StartAddress::unit_log2;
inline constexpr std::uint32_t address_space_bytes = 1u << address_bits;

// Faults: DescriptorUnaligned, DescriptorTooLarge, DescriptorBaseOffset when encode() would lose
// bits.
HOST_DEVICE constexpr Fault check(const MatrixDescriptor& d) {
  const std::uint32_t all = d.start_bytes | d.lbo_bytes | d.sbo_bytes;
  if (all % (1u << StartAddress::unit_log2) != 0) return Fault::DescriptorUnaligned;
  if (!StartAddress::fits(all)) return Fault::DescriptorTooLarge;
  if (!BaseOffset::fits(d.base_offset)) return Fault::DescriptorBaseOffset;
  return Fault::None;
}

// Requires: check(d) == Fault::None; other values lose bits as the hardware field would.
HOST_DEVICE constexpr std::uint64_t encode(const MatrixDescriptor& d) {
  return StartAddress::encode(d.start_bytes) | LeadingByteOffset::encode(d.lbo_bytes) |
         StrideByteOffset::encode(d.sbo_bytes) | BaseOffset::encode(d.base_offset) |
         SwizzleMode::encode(static_cast<std::uint64_t>(d.swizzle));
}

// Bits outside the fields are ignored, as on the chip.
HOST_DEVICE constexpr MatrixDescriptor decode(std::uint64_t word) {
  return {static_cast<std::uint32_t>(StartAddress::decode(word)),
          static_cast<std::uint32_t>(LeadingByteOffset::decode(word)),
          static_cast<std::uint32_t>(StrideByteOffset::decode(word)),
          static_cast<std::uint32_t>(BaseOffset::decode(word)),
          static_cast<Swizzle>(SwizzleMode::decode(word))};
}

// The descriptor with its start moved by `bytes` (a multiple of 16): how a kernel steps along K.
HOST_DEVICE constexpr std::uint64_t advance(std::uint64_t word, std::uint32_t bytes) {
  return (word & ~StartAddress::mask) | StartAddress::encode(StartAddress::decode(word) + bytes);
}

}  // namespace tcq::wgmma
