// Wrong packings of the wgmma matrix descriptor that are in circulation, so that they can be
// recognised.
//
// Decides nothing about the hardware: sim/isa/wgmma/descriptor.h does. Example: the published word
// 0x0010000002001000 holds start 0x10000, "lbo" 2048 and "swizzle 128B" in these fields; the same
// inputs packed as the hardware reads them are 0x4000000000801000.
//
// Source: a published bit table (errata 004.1, 004.2); PTX ISA 9.2, 9.7.16.4.1 (tcgen05 shared
// memory descriptor).
#pragma once

#include <cstdint>

#include "sim/isa/base/field.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/wgmma/descriptor.h"

namespace tcq::wgmma {

// The published table: fields of 16 bits without gaps between them, offsets in bytes.
struct PublishedLeading : Field<14, 16> {
  static constexpr const char* name = "lbo";
};
struct PublishedStride : Field<30, 16> {
  static constexpr const char* name = "sbo";
};
struct PublishedBase : Field<46, 3> {
  static constexpr const char* name = "base_offset";
};
struct PublishedSwizzle : Field<52, 2> {
  static constexpr const char* name = "swizzle";
};

using PublishedFormat =
    Format<Field<0, 14, 4>, PublishedLeading, PublishedStride, PublishedBase, PublishedSwizzle>;

// What the word's author meant if the word was packed by the published table.
HOST_DEVICE constexpr MatrixDescriptor decode_published(std::uint64_t word) {
  return {static_cast<std::uint32_t>(StartAddress::decode(word)),
          static_cast<std::uint32_t>(PublishedLeading::decode(word)),
          static_cast<std::uint32_t>(PublishedStride::decode(word)),
          static_cast<std::uint32_t>(PublishedBase::decode(word)),
          static_cast<Swizzle>(PublishedSwizzle::decode(word))};
}

// The word that the published table makes of a descriptor.
HOST_DEVICE constexpr std::uint64_t encode_published(const MatrixDescriptor& d) {
  return StartAddress::encode(d.start_bytes) | PublishedLeading::encode(d.lbo_bytes) |
         PublishedStride::encode(d.sbo_bytes) | PublishedBase::encode(d.base_offset) |
         PublishedSwizzle::encode(static_cast<std::uint64_t>(d.swizzle));
}

// True if the word has a swizzle where the published table has it and none where the hardware
// looks.
HOST_DEVICE constexpr bool looks_published(std::uint64_t word) {
  return PublishedSwizzle::code(word) != 0 && SwizzleMode::code(word) == 0;
}

// The constant that marks a tcgen05 shared memory descriptor; wgmma has no field there.
using Tcgen05Version = Fixed<46, 3, 1>;

}  // namespace tcq::wgmma
