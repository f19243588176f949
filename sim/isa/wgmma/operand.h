// The address law of wgmma's shared-memory operands: descriptor, major-ness, element -> byte
// address.
//
// Linear in LBO and SBO (canonical_layout.h), plus one XOR on absolute address bits. It holds for
// every descriptor value: the hardware checks no alignment and no overlap, and sums do not wrap at
// 2^18: an address outside the shared memory of the CTA traps. Example: descriptor
// 0x4000004000010040 (128B, start 1024, SBO 1024), K-major bf16, mn = 11, k = 5:
// 1024 + 1418 = 2442, XOR ((2442 >> 7) & 7) << 4 = 48, gives 2490.
//
// Measured: tests/vectors/wgmma_descriptors.tcqv (H200, random starts, LBO, SBO, base offsets),
// tests/vectors/wgmma_range.tcqv (addresses outside)
#pragma once

#include <cstdint>

#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/wgmma/descriptor.h"

namespace tcq::wgmma {

// Row of A or column of B, and position along K; both in elements as stored (A.sp: compressed).
struct OperandElement {
  std::uint32_t mn;
  std::uint32_t k;
};

HOST_DEVICE constexpr CanonicalLayout canonical_layout(const MatrixDescriptor& d, Major major) {
  return {major, pitch_bytes(d.swizzle), d.lbo_bytes, d.sbo_bytes};
}

// The start plus the offset, before swizzling.
HOST_DEVICE constexpr std::uint32_t linear_address(const MatrixDescriptor& d, Major major,
                                                   OperandByte at) {
  return d.start_bytes + offset_bytes(canonical_layout(d, major), at);
}

// Absolute shared-memory address of one byte of an operand; it may exceed 18 bits.
HOST_DEVICE constexpr std::uint32_t byte_address(const MatrixDescriptor& d, Major major,
                                                 OperandByte at) {
  return swizzle_function(d.swizzle).apply(linear_address(d, major, at), d.base_offset);
}

// The byte of an operand that holds an element, or its first; the contiguous index is in bytes.
HOST_DEVICE constexpr OperandByte operand_byte(Major major, Type type, OperandElement e) {
  const auto width = static_cast<std::uint32_t>(bits(type));
  return major == Major::K ? OperandByte{e.mn, e.k * width / 8}
                           : OperandByte{e.mn * width / 8, e.k};
}

// Absolute shared-memory address of the element's first byte (b1: of the byte that holds its bit).
HOST_DEVICE constexpr std::uint32_t element_address(const MatrixDescriptor& d, Major major,
                                                    Type type, OperandElement e) {
  return byte_address(d, major, operand_byte(major, type, e));
}

// Bytes of an operand that lie together in memory as they do along its contiguous index: descriptors count 16 bytes
// and swizzles leave the low 4 bits of an address alone.
inline constexpr std::uint32_t operand_chunk_bytes = 16;

// What an instruction reads of an operand: `lines` (rows if K-major, k if MN-major) of `line_bytes` each.
struct OperandExtent {
  std::uint32_t lines;
  std::uint32_t line_bytes;
};
inline constexpr std::uint32_t most_line_bytes = 256 * 2;  // MN-major: N of 16-bit elements

HOST_DEVICE constexpr OperandExtent operand_extent(Major major, Type type, std::uint32_t mn,
                                                   std::uint32_t k) {
  const auto width = static_cast<std::uint32_t>(bits(type));
  return major == Major::K ? OperandExtent{mn, k * width / 8} : OperandExtent{k, mn * width / 8};
}

// Calls visit(line, byte of the line, absolute address) for every chunk, line by line. The law is linear before the
// swizzle: an offset along a line is the same in all of them.
template <class Visit>
HOST_DEVICE constexpr void for_each_chunk(const MatrixDescriptor& d, Major major,
                                          const OperandExtent& extent, Visit visit) {
  const CanonicalLayout layout = canonical_layout(d, major);
  const SwizzleFunction swizzle = swizzle_function(d.swizzle);
  const auto at = [&](std::uint32_t line, std::uint32_t byte) {
    return offset_bytes(layout,
                        major == Major::K ? OperandByte{line, byte} : OperandByte{byte, line});
  };
  std::uint32_t along[most_line_bytes / operand_chunk_bytes] = {};
  for (std::uint32_t byte = 0; byte < extent.line_bytes; byte += operand_chunk_bytes)
    along[byte / operand_chunk_bytes] = at(0, byte);
  for (std::uint32_t line = 0; line < extent.lines; ++line) {
    const std::uint32_t begin = d.start_bytes + at(line, 0);
    for (std::uint32_t byte = 0; byte < extent.line_bytes; byte += operand_chunk_bytes)
      visit(line, byte, swizzle.apply(begin + along[byte / operand_chunk_bytes], d.base_offset));
  }
}

}  // namespace tcq::wgmma
