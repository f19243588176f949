// The 64-bit shared memory descriptor of tcgen05.mma and tcgen05.cp: its fields, and its swizzle
// codes.
//
// Decides what sim/isa/base/matrix_descriptor.h leaves open: a constant marks the word, the swizzle
// has three bits, and LBO may be an address. Which byte an element comes from is
// sim/isa/tcgen05/operand.h. Example: a K-major 128B tile at byte 1024 with SBO 1024 is
// encode({1024, 16, 1024, 0, false, Swizzle::B128}) == 0x4000404000010040.
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
#include "sim/isa/base/matrix_descriptor.h"
#include "sim/isa/base/swizzle.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/descriptor.h"

namespace tcq::tcgen05 {

struct SmemDescriptor {
  std::uint32_t start_bytes = 0;
  std::uint32_t lbo_bytes = 0;  // an address if lbo_absolute
  std::uint32_t sbo_bytes = 0;
  std::uint32_t base_offset = 0;
  bool lbo_absolute = false;
  Swizzle swizzle = Swizzle::None;

  friend constexpr bool operator==(const SmemDescriptor&, const SmemDescriptor&) = default;
};

struct DescriptorConstant : Fixed<46, 3, 1> {
  static constexpr const char* name = "constant";
};
struct LboMode : Field<52, 1> {
  static constexpr const char* name = "lbo_mode";
};
// wgmma has other codes for the same modes; check_word() refuses those without a mode.
struct SwizzleMode : Field<61, 3> {
  static constexpr const char* name = "swizzle";
  HOST_DEVICE static constexpr Swizzle mode(std::uint64_t code) {
    switch (code) {
      case 0: return Swizzle::None;
      case 1: return Swizzle::B128Atom32;
      case 2: return Swizzle::B128;
      case 4: return Swizzle::B64;
      case 6: return Swizzle::B32;
      default: return no_swizzle;
    }
  }
};

using SmemDescriptorFormat = Format<StartAddress, LeadingByteOffset, StrideByteOffset,
                                    DescriptorConstant, BaseOffset, LboMode, SwizzleMode>;

// Faults: those of wgmma::check_common(), DescriptorLboMode.
HOST_DEVICE constexpr Fault check(const SmemDescriptor& d) {
  if (const Fault fault = wgmma::check_common<SwizzleMode>(d); fault != Fault::None) return fault;
  if (d.lbo_absolute && (d.swizzle != Swizzle::B128 || d.base_offset != 0))
    return Fault::DescriptorLboMode;
  return Fault::None;
}

// Requires: check(d) == Fault::None; other values lose bits as the hardware field would.
HOST_DEVICE constexpr std::uint64_t encode(const SmemDescriptor& d) {
  return encode_common<SwizzleMode>(d) | DescriptorConstant::bits |
         LboMode::encode(d.lbo_absolute ? 1 : 0);
}

// The fields of any word; reserved bits and the constant are check_word()'s business.
HOST_DEVICE constexpr SmemDescriptor decode(std::uint64_t word) {
  SmemDescriptor d = decode_common<SwizzleMode, SmemDescriptor>(word);
  d.lbo_absolute = LboMode::code(word) != 0;
  return d;
}

// Faults: DescriptorConstant, WordReserved, and those of check().
HOST_DEVICE constexpr Fault check_word(std::uint64_t word) {
  if (!DescriptorConstant::holds(word)) return Fault::DescriptorConstant;
  if ((word & SmemDescriptorFormat::unused) != 0) return Fault::WordReserved;
  return check(decode(word));
}

}  // namespace tcq::tcgen05
