// What the 64-bit shared-memory descriptors of wgmma and tcgen05 have in common: start address, LBO,
// SBO, base offset, and how a word steps along K.
//
// Decides bit positions and units of the four common fields. A format adds what differs, the place
// and the codes of its swizzle mode among it: sim/isa/wgmma/descriptor.h and
// sim/isa/tcgen05/smem_descriptor.h, to be read next. What LBO and SBO do is canonical_layout.h.
// Example: LeadingByteOffset::encode(1024) == 64 << 16.
//
// Source: PTX ISA 9.2, 9.7.15.5.1.2.2 "Matrix descriptor format", 9.7.16.4.1 "Shared memory
// descriptor".
#pragma once

#include <cstdint>

#include "sim/isa/base/field.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/swizzle.h"

namespace tcq {

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

// What start, LBO and SBO count. Unit: bytes.
inline constexpr std::uint32_t descriptor_unit_bytes = 1u << StartAddress::unit_log2;

// What the start field can address.
inline constexpr int address_bits = StartAddress::width + StartAddress::unit_log2;
inline constexpr std::uint32_t address_space_bytes = 1u << address_bits;

// ---- Swizzle modes ------------------------------------------------------------------------------

// A format's field of swizzle codes has `static Swizzle mode(code)`: no_swizzle if no mode has it.
template <class SwizzleMode>
HOST_DEVICE constexpr Swizzle decode_swizzle(std::uint64_t word) {
  return SwizzleMode::mode(SwizzleMode::code(word));
}

// One more than the largest code if the format has none for this mode.
template <class SwizzleMode>
HOST_DEVICE constexpr std::uint64_t swizzle_code(Swizzle swizzle) {
  std::uint64_t code = swizzle == no_swizzle ? SwizzleMode::max_code + 1 : 0;
  while (code <= SwizzleMode::max_code && SwizzleMode::mode(code) != swizzle) ++code;
  return code;
}

// ---- Common fields ------------------------------------------------------------------------------

// The word's bits of the members that all descriptors have.
template <class SwizzleMode, class Descriptor>
HOST_DEVICE constexpr std::uint64_t encode_common(const Descriptor& d) {
  return StartAddress::encode(d.start_bytes) | LeadingByteOffset::encode(d.lbo_bytes) |
         StrideByteOffset::encode(d.sbo_bytes) | BaseOffset::encode(d.base_offset) |
         SwizzleMode::encode(swizzle_code<SwizzleMode>(d.swizzle));
}

template <class SwizzleMode, class Descriptor>
HOST_DEVICE constexpr Descriptor decode_common(std::uint64_t word) {
  Descriptor d;
  d.start_bytes = static_cast<std::uint32_t>(StartAddress::decode(word));
  d.lbo_bytes = static_cast<std::uint32_t>(LeadingByteOffset::decode(word));
  d.sbo_bytes = static_cast<std::uint32_t>(StrideByteOffset::decode(word));
  d.base_offset = static_cast<std::uint32_t>(BaseOffset::decode(word));
  d.swizzle = decode_swizzle<SwizzleMode>(word);
  return d;
}

// The word with its start moved by `bytes` (a multiple of 16): how a kernel steps along K.
HOST_DEVICE constexpr std::uint64_t advance(std::uint64_t word, std::uint32_t bytes) {
  return (word & ~StartAddress::mask) | StartAddress::encode(StartAddress::decode(word) + bytes);
}

}  // namespace tcq
