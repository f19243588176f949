// Shared memory descriptors of tcgen05 that were packed by another rule, so that they can be
// recognised.
//
// Decides nothing about the hardware: sim/isa/tcgen05/smem_descriptor.h does. Example: 0x4000004000010040 is a
// right wgmma descriptor; tcgen05 wants the same fields with its constant, 0x4000404000010040.
//
// Source: PTX ISA 9.2, 9.7.15.5.1.2.2 (wgmma) and 9.7.16.4.1 (tcgen05), compared bit by bit.
#pragma once

#include <cstdint>

#include "sim/isa/base/field.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/smem_descriptor.h"
#include "sim/isa/wgmma/descriptor.h"
#include "sim/isa/wgmma/descriptor_mistakes.h"

namespace tcq::tcgen05 {

// The codes of the two architectures differ, the bits of the modes that both have do not.
static_assert(SwizzleMode::encode(static_cast<std::uint64_t>(Swizzle::B128)) ==
              wgmma::SwizzleMode::encode(static_cast<std::uint64_t>(wgmma::Swizzle::B128)));
static_assert(SwizzleMode::encode(static_cast<std::uint64_t>(Swizzle::B64)) ==
              wgmma::SwizzleMode::encode(static_cast<std::uint64_t>(wgmma::Swizzle::B64)));
static_assert(SwizzleMode::encode(static_cast<std::uint64_t>(Swizzle::B32)) ==
              wgmma::SwizzleMode::encode(static_cast<std::uint64_t>(wgmma::Swizzle::B32)));

// The tcgen05 word with the fields of a wgmma word.
HOST_DEVICE constexpr std::uint64_t from_wgmma(std::uint64_t word) {
  return (word & wgmma::MatrixDescriptorFormat::mask) | DescriptorConstant::bits;
}

// True if the word would be right, were it for wgmma.
HOST_DEVICE constexpr bool looks_like_wgmma(std::uint64_t word) {
  return word != 0 && (word & wgmma::MatrixDescriptorFormat::unused) == 0 &&
         check_word(from_wgmma(word)) == Fault::None;
}

// The published table of sim/isa/wgmma/descriptor_mistakes.h: lbo and sbo without gaps, swizzle further down.
HOST_DEVICE constexpr bool looks_published(std::uint64_t word) {
  return SwizzleMode::code(word) == 0 && wgmma::looks_published(word) &&
         !DescriptorConstant::holds(word);
}

// What the author of such a word meant.
HOST_DEVICE constexpr SmemDescriptor decode_published(std::uint64_t word) {
  return decode(from_wgmma(wgmma::encode(wgmma::decode_published(word))));
}

// The swizzle that wgmma means by a code; only codes below 4 exist there.
using WgmmaSwizzleCode = Field<0, wgmma::SwizzleMode::width>;

HOST_DEVICE constexpr bool is_wgmma_code(Swizzle swizzle) {
  return WgmmaSwizzleCode::fits(static_cast<std::uint64_t>(swizzle));
}

// Requires: is_wgmma_code(swizzle). Example: code 1 is wgmma's 128B, which is code 2 here.
HOST_DEVICE constexpr Swizzle meant_by_wgmma(Swizzle swizzle) {
  return decode(wgmma::SwizzleMode::encode(static_cast<std::uint64_t>(swizzle))).swizzle;
}

}  // namespace tcq::tcgen05
