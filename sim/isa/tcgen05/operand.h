// The address law of tcgen05's shared-memory operands: descriptor, major-ness, element -> byte and
// bit; and which swizzle an operand may have.
//
// The law is wgmma's (sim/isa/wgmma/operand.h): linear in LBO and SBO (canonical_layout.h), plus one XOR on
// absolute address bits. New are the atoms of 32 bytes, elements of 4 and 6 bits, and the 48 bytes
// of K with an LBO that is an address. Example: descriptor 0x2000408000200040 (32-byte atoms, LBO
// 512, SBO 2048), MN-major tf32, mn = 33, k = 5: 1024 + 2048 + 128 + 512 + 4 = 3716, XOR
// ((3716 >> 7) & 3) << 5 = 32, gives 3748.
//
// Source: PTX ISA 9.2, 9.7.16.3 "Data movement shape and matrix layouts", 9.7.16.4.1.
// Source: CuTe layout strings of every mode, equal to CuTe's host code with base offset 0.
// Inferred: that a chip follows them, and the base offset as wgmma has it. One load of a tile of
// distinct numbers, read back as D = A * identity, would refute it.
#pragma once

#include <cstdint>

#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/smem_descriptor.h"

namespace tcq::tcgen05 {

// Row of A or column of B, and position along K; both in elements as stored (A.sp: compressed).
struct OperandElement {
  std::uint32_t mn;
  std::uint32_t k;
};

// Lowest bit of an element: byte address and bit in that byte. 6-bit elements may end in the next.
struct ElementPlace {
  std::uint32_t byte;
  std::uint32_t bit;
  friend constexpr bool operator==(const ElementPlace&, const ElementPlace&) = default;
};

// ---- Which operands exist -----------------------------------------------------------------------

// Source: PTX ISA 9.2, 9.7.16.10.1, tables 51 and 52: no transpose of 4- and 6-bit elements.
HOST_DEVICE constexpr bool can_be_mn_major(Type type) { return bits(type) >= 8; }

// Faults: SwizzleOfOperand; UnmodelledSwizzle where the manual contradicts itself.
// Source: PTX ISA 9.2, 9.7.16.10.3, tables 54 and 55; CuTe refuses 32-byte atoms if K-major.
HOST_DEVICE constexpr Fault check_swizzle(Swizzle swizzle, Type type, Major major) {
  const bool atoms_of_32 = swizzle == Swizzle::B128Atom32;
  if (major == Major::K) return atoms_of_32 ? Fault::UnmodelledSwizzle : Fault::None;
  if (!can_be_mn_major(type) || atoms_of_32 != (bits(type) == 32)) return Fault::SwizzleOfOperand;
  return Fault::None;
}

// A right word whose operand does not exist. Faults: those of check() and check_swizzle(),
// DescriptorLboMode.
HOST_DEVICE constexpr Fault check_operand(const SmemDescriptor& d, Kind kind, Type type,
                                          Major major) {
  if (const Fault fault = check(d); fault != Fault::None) return fault;
  if (d.lbo_absolute && (major == Major::MN || !is_packed_4bit(kind)))
    return Fault::DescriptorLboMode;
  return check_swizzle(d.swizzle, type, major);
}

// ---- Where bytes lie ----------------------------------------------------------------------------

HOST_DEVICE constexpr CanonicalLayout canonical_layout(const SmemDescriptor& d, Major major) {
  return {major, pitch_bytes(d.swizzle), d.lbo_bytes, d.sbo_bytes, atom_rows(d.swizzle)};
}

// The start plus the offset, before swizzling. With an absolute LBO what passes the end of a
// 128-byte line goes on at the LBO's address.
// Source: PTX ISA 9.2, 9.7.16.3.1.2 for the two halves.
// Inferred: rows step in both halves alike; a chip that reads row 8 elsewhere would refute it.
HOST_DEVICE constexpr std::uint32_t linear_address(const SmemDescriptor& d, Major major,
                                                   OperandByte at) {
  const CanonicalLayout layout = canonical_layout(d, major);
  if (!d.lbo_absolute) return d.start_bytes + offset_bytes(layout, at);
  const std::uint32_t line = layout.pitch_bytes;
  const std::uint32_t row = offset_bytes(layout, {at.mn, 0});
  const std::uint32_t along = d.start_bytes % line + at.k;
  return along < line ? d.start_bytes + row + at.k : d.lbo_bytes + row + along - line;
}

// Absolute shared-memory address of one byte of an operand; it may exceed 18 bits.
HOST_DEVICE constexpr std::uint32_t byte_address(const SmemDescriptor& d, Major major,
                                                 OperandByte at) {
  return swizzle_function(d.swizzle).apply(linear_address(d, major, at), d.base_offset);
}

// ---- Where elements lie -------------------------------------------------------------------------

// 4- and 6-bit elements of kinds with wider ones: 16 elements begin each 16-byte unit, then comes
// padding. Kinds mxf4 and mxf4nvf4 have no padding.
// Source: PTX ISA 9.2, 9.7.16.10.4 "Packing formats".
HOST_DEVICE constexpr bool is_padded(Kind kind, Type type) {
  return bits(type) < 8 && !is_packed_4bit(kind);
}

// Bits from the beginning of the contiguous direction to an element.
// Inferred: elements of less than 8 bits lie from the lowest bit of a byte upwards, as CuTe's
// sub-byte pointers have it; data with one nonzero nibble would refute it.
HOST_DEVICE constexpr std::uint32_t contiguous_bit(Kind kind, Type type, std::uint32_t index) {
  constexpr std::uint32_t unit_elements = 16;
  constexpr std::uint32_t unit_bits = 128;
  const auto width = static_cast<std::uint32_t>(bits(type));
  if (!is_padded(kind, type)) return index * width;
  return index / unit_elements * unit_bits + index % unit_elements * width;
}

// Requires: check_operand(d, kind, type, major) == Fault::None.
HOST_DEVICE constexpr ElementPlace element_place(const SmemDescriptor& d, Major major, Kind kind,
                                                 Type type, OperandElement e) {
  const bool k_major = major == Major::K;
  const std::uint32_t bit = contiguous_bit(kind, type, k_major ? e.k : e.mn);
  const OperandByte at = k_major ? OperandByte{e.mn, bit / 8} : OperandByte{bit / 8, e.k};
  return {byte_address(d, major, at), bit % 8};
}

// ---- Compact tiles ------------------------------------------------------------------------------

// The descriptor of a compact tile (canonical_layout.h) at byte `start`, of which one instruction
// reads `k_bytes` along K. Requires: tile.pitch_bytes and tile.atom_rows are the swizzle's.
HOST_DEVICE constexpr SmemDescriptor tile_descriptor(const Tile& tile, Swizzle swizzle,
                                                     std::uint32_t start,
                                                     std::uint32_t k_bytes = 32) {
  const CanonicalLayout layout = canonical_layout(tile, k_bytes);
  return {start, layout.lbo_bytes, layout.sbo_bytes, 0, false, swizzle};
}

}  // namespace tcq::tcgen05
