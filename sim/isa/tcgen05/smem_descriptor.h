// The 64-bit shared memory descriptor of tcgen05.mma and tcgen05.cp: where each field lies, and its
// swizzle codes.
//
// Decides bit positions and units; which byte an element comes from is sim/isa/tcgen05/operand.h. Read
// sim/isa/wgmma/descriptor.h first: most fields are the same, but here a constant marks the word, the swizzle has
// three bits and other codes, and LBO may be an address. Example: a K-major 128B tile at byte 1024
// with SBO 1024 is encode({1024, 16, 1024, 0, false, Swizzle::B128}) == 0x4000404000010040.
//
// decode() takes any word; check_word() says what is wrong with one. It is Fault::None exactly if
// encode(decode(word)) == word and check(decode(word)) == Fault::None.
//
// Source: PTX ISA 9.2, 9.7.16.4.1 "Shared memory descriptor", tables 40 and 41.
// Source: CuTe's cute::UMMA::SmemDescriptor has the same fields (version 1 for the constant).
// Inferred: the manual prints the constant of the upper reserved bits as 0xb00000000; it means 0.
#pragma once

#include <cstdint>

#include "sim/isa/base/field.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/swizzle.h"
#include "sim/isa/fault/fault.h"

namespace tcq::tcgen05 {

// The enumerators' values are the field's codes; wgmma has other codes for the same names. Other
// values are words that check_word() refuses.
enum class Swizzle : std::uint8_t { None = 0, B128Atom32 = 1, B128 = 2, B64 = 4, B32 = 6 };

HOST_DEVICE constexpr bool exists(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::None:
    case Swizzle::B128Atom32:
    case Swizzle::B128:
    case Swizzle::B64:
    case Swizzle::B32: return true;
  }
  return false;
}

// Row pitch of the swizzle atom; 16 for codes that do not exist. Unit: bytes.
HOST_DEVICE constexpr std::uint32_t pitch_bytes(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::None: return 16;
    case Swizzle::B32: return 32;
    case Swizzle::B64: return 64;
    case Swizzle::B128:
    case Swizzle::B128Atom32: return 128;
  }
  return 16;
}

// Rows of one pitch in a swizzle atom.
HOST_DEVICE constexpr std::uint32_t atom_rows(Swizzle swizzle) {
  return swizzle == Swizzle::B128Atom32 ? 4 : 8;
}

HOST_DEVICE constexpr std::uint32_t atom_bytes(Swizzle swizzle) {
  return atom_rows(swizzle) * pitch_bytes(swizzle);
}

// Acts on absolute shared-memory addresses.
// Source: PTX ISA 9.2, 5.5.7 "Swizzling modes"; CuTe layout Sw<2,5,2> for 32-byte atoms.
HOST_DEVICE constexpr SwizzleFunction swizzle_function(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::None: return {0, 4, 3};
    case Swizzle::B32: return {1, 4, 3};
    case Swizzle::B64: return {2, 4, 3};
    case Swizzle::B128: return {3, 4, 3};
    case Swizzle::B128Atom32: return {2, 5, 2};
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
  }
  return "invalid";
}

struct SmemDescriptor {
  std::uint32_t start_bytes = 0;
  std::uint32_t lbo_bytes = 0;  // an address if lbo_absolute
  std::uint32_t sbo_bytes = 0;
  std::uint32_t base_offset = 0;
  bool lbo_absolute = false;
  Swizzle swizzle = Swizzle::None;

  friend constexpr bool operator==(const SmemDescriptor&, const SmemDescriptor&) = default;
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
struct DescriptorConstant : Fixed<46, 3, 1> {
  static constexpr const char* name = "constant";
};
struct BaseOffset : Field<49, 3> {
  static constexpr const char* name = "base_offset";
};
struct LboMode : Field<52, 1> {
  static constexpr const char* name = "lbo_mode";
};
struct SwizzleMode : Field<61, 3> {
  static constexpr const char* name = "swizzle";
};

using SmemDescriptorFormat = Format<StartAddress, LeadingByteOffset, StrideByteOffset,
                                    DescriptorConstant, BaseOffset, LboMode, SwizzleMode>;

// What the start field can address.
inline constexpr int address_bits = StartAddress::width + StartAddress::unit_log2;
inline constexpr std::uint32_t address_space_bytes = 1u << address_bits;

// Faults: DescriptorUnaligned, DescriptorTooLarge and DescriptorBaseOffset when encode() would lose
// bits, DescriptorSwizzleCode, DescriptorLboMode.
HOST_DEVICE constexpr Fault check(const SmemDescriptor& d) {
  const std::uint32_t all = d.start_bytes | d.lbo_bytes | d.sbo_bytes;
  if (all % (1u << StartAddress::unit_log2) != 0) return Fault::DescriptorUnaligned;
  if (!StartAddress::fits(all)) return Fault::DescriptorTooLarge;
  if (!BaseOffset::fits(d.base_offset)) return Fault::DescriptorBaseOffset;
  if (!exists(d.swizzle)) return Fault::DescriptorSwizzleCode;
  if (d.lbo_absolute && (d.swizzle != Swizzle::B128 || d.base_offset != 0))
    return Fault::DescriptorLboMode;
  return Fault::None;
}

// Requires: check(d) == Fault::None; other values lose bits as the hardware field would.
HOST_DEVICE constexpr std::uint64_t encode(const SmemDescriptor& d) {
  return StartAddress::encode(d.start_bytes) | LeadingByteOffset::encode(d.lbo_bytes) |
         StrideByteOffset::encode(d.sbo_bytes) | DescriptorConstant::bits |
         BaseOffset::encode(d.base_offset) | LboMode::encode(d.lbo_absolute ? 1 : 0) |
         SwizzleMode::encode(static_cast<std::uint64_t>(d.swizzle));
}

// The fields of any word; reserved bits and the constant are check_word()'s business.
HOST_DEVICE constexpr SmemDescriptor decode(std::uint64_t word) {
  return {static_cast<std::uint32_t>(StartAddress::decode(word)),
          static_cast<std::uint32_t>(LeadingByteOffset::decode(word)),
          static_cast<std::uint32_t>(StrideByteOffset::decode(word)),
          static_cast<std::uint32_t>(BaseOffset::decode(word)),
          LboMode::code(word) != 0,
          static_cast<Swizzle>(SwizzleMode::decode(word))};
}

// Faults: DescriptorConstant, WordReserved, and those of check().
HOST_DEVICE constexpr Fault check_word(std::uint64_t word) {
  if (!DescriptorConstant::holds(word)) return Fault::DescriptorConstant;
  if ((word & SmemDescriptorFormat::unused) != 0) return Fault::WordReserved;
  return check(decode(word));
}

// The descriptor with its start moved by `bytes` (a multiple of 16): how a kernel steps along K.
HOST_DEVICE constexpr std::uint64_t advance(std::uint64_t word, std::uint32_t bytes) {
  return (word & ~StartAddress::mask) | StartAddress::encode(StartAddress::decode(word) + bytes);
}

}  // namespace tcq::tcgen05
