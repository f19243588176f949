// Shared-memory descriptors that were packed by another rule, so that they can be recognised: the
// published bit table that is wrong for both architectures, and the words of one architecture given
// to the other.
//
// Decides nothing about the hardware: sim/isa/wgmma/descriptor.h and sim/isa/tcgen05/smem_descriptor.h
// do. Examples: the published word 0x0010000002001000 holds start 0x10000, "lbo" 2048 and "swizzle
// 128B" in these fields; packed as wgmma reads them the same inputs are 0x4000000000801000.
// 0x4000004000010040 is a right wgmma descriptor; tcgen05 wants it with its constant,
// 0x4000404000010040.
//
// Source: a published bit table (errata 004.1, 004.2); PTX ISA 9.2, 9.7.15.5.1.2.2 (wgmma) and
// 9.7.16.4.1 (tcgen05), compared bit by bit.
#pragma once

#include <cstdint>

#include "sim/isa/base/field.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/matrix_descriptor.h"
#include "sim/isa/base/swizzle.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/smem_descriptor.h"
#include "sim/isa/wgmma/descriptor.h"

namespace tcq {

// ---- The published table ------------------------------------------------------------------------

// Fields of 16 bits without gaps between them, offsets in bytes; the swizzle codes are wgmma's.
namespace published {

struct Leading : Field<14, 16> {
  static constexpr const char* name = "lbo";
};
struct Stride : Field<30, 16> {
  static constexpr const char* name = "sbo";
};
struct Base : Field<46, 3> {
  static constexpr const char* name = "base_offset";
};
struct Mode : Field<52, 2> {
  static constexpr const char* name = "swizzle";
};
using AllFields = Format<StartAddress, Leading, Stride, Base, Mode>;  // do not overlap

// What the author of such a word meant.
HOST_DEVICE constexpr wgmma::MatrixDescriptor decode(std::uint64_t word) {
  return {static_cast<std::uint32_t>(StartAddress::decode(word)),
          static_cast<std::uint32_t>(Leading::decode(word)),
          static_cast<std::uint32_t>(Stride::decode(word)),
          static_cast<std::uint32_t>(Base::decode(word)),
          wgmma::SwizzleMode::mode(Mode::code(word))};
}

// The word that the published table makes of a descriptor.
HOST_DEVICE constexpr std::uint64_t encode(const wgmma::MatrixDescriptor& d) {
  return StartAddress::encode(d.start_bytes) | Leading::encode(d.lbo_bytes) |
         Stride::encode(d.sbo_bytes) | Base::encode(d.base_offset) |
         Mode::encode(swizzle_code<wgmma::SwizzleMode>(d.swizzle));
}

}  // namespace published

// True if the word has a swizzle where the published table has it and none where wgmma looks.
namespace wgmma {
HOST_DEVICE constexpr bool looks_published(std::uint64_t word) {
  return published::Mode::code(word) != 0 && SwizzleMode::code(word) == 0;
}
}  // namespace wgmma

// ---- The other architecture's word --------------------------------------------------------------

namespace tcgen05 {

// The bits of the modes that both architectures have do not differ, though the codes do.
static_assert(SwizzleMode::encode(swizzle_code<SwizzleMode>(Swizzle::B32)) ==
              wgmma::SwizzleMode::encode(swizzle_code<wgmma::SwizzleMode>(Swizzle::B32)));

HOST_DEVICE constexpr bool looks_published(std::uint64_t word) {
  return SwizzleMode::code(word) == 0 && wgmma::looks_published(word) &&
         !DescriptorConstant::holds(word);
}

// The tcgen05 word with the fields of a wgmma word.
HOST_DEVICE constexpr std::uint64_t from_wgmma(std::uint64_t word) {
  return (word & wgmma::MatrixDescriptorFormat::mask) | DescriptorConstant::bits;
}

// True if the word would be right, were it for wgmma.
HOST_DEVICE constexpr bool looks_like_wgmma(std::uint64_t word) {
  return word != 0 && (word & wgmma::MatrixDescriptorFormat::unused) == 0 &&
         check_word(from_wgmma(word)) == Fault::None;
}

// The mode that wgmma means by a code; no_swizzle if it has no such code. Example: code 1 is 128B.
HOST_DEVICE constexpr Swizzle meant_by_wgmma(std::uint64_t code) {
  return wgmma::SwizzleMode::mode(code);
}

}  // namespace tcgen05
}  // namespace tcq
