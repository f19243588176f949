// tcgen05.cp and tcgen05.shift: which bytes of shared memory go to which cells, and what moves down.
//
// A cp reads rows of 16 or 32 bytes through a K-major shared memory descriptor and writes row after
// row into lanes, some shapes into several. Cells count from the destination's address; byte b of a
// row goes to column b / 4, byte b % 4. cta_group::2 does this in both CTAs, each from its own
// shared memory. The descriptor's fields: sim/isa/tcgen05/smem_descriptor.h. Example: .64x128b.warpx2::01_23 puts
// row 40 into the lanes 72 and 104.
//
// Source: PTX ISA 9.2, 9.7.16.9.1 "Optional decompression", 9.7.16.9.2 "tcgen05.cp", 9.7.16.9.3
// "tcgen05.shift".
// Source: CuTe layouts of SM100_UTCCP_* (cute/atom/copy_traits_sm100.hpp): equal for every shape.
// Inferred: .4x256b puts row i into lane 32 * i of its address: CuTe's layout says so, its comment
// says the last lanes of each quarter, the manual nothing. One copy with four different rows tells.
// Inferred: swizzled sources follow the law of matrix operands, and shapes of 16 bytes never read
// LBO, as programs that work write different values there.
// Inferred: decompression takes the elements of a unit from its low bits on; payload bits after an
// example of NVIDIA's.
// Inferred: shift moves a row down within its 32 lanes, as an example of NVIDIA's reports for B200.
#pragma once

#include <cstdint>

#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/swizzle.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/instruction.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tmem/layout.h"
#include "sim/isa/tmem/scale_layout.h"

namespace tcq::tcgen05 {

// .shape of cp with its .multicast: those of CpForm (sim/isa/tcgen05/instruction.h) that exist together.
enum class CpShape : std::uint8_t {
  S128x256b,
  S4x256b,
  S128x128b,
  S64x128b_02_13,
  S64x128b_01_23,
  S32x128b
};
inline constexpr int cp_shape_count = 6;

HOST_DEVICE constexpr const char* name(CpShape shape) {
  switch (shape) {
    case CpShape::S128x256b: return "128x256b";
    case CpShape::S4x256b: return "4x256b";
    case CpShape::S128x128b: return "128x128b";
    case CpShape::S64x128b_02_13: return "64x128b.warpx2::02_13";
    case CpShape::S64x128b_01_23: return "64x128b.warpx2::01_23";
    case CpShape::S32x128b: return "32x128b.warpx4";
  }
  return "?";
}

// The shape of a form. Requires: check(f) == Fault::None.
HOST_DEVICE constexpr CpShape cp_shape(const CpForm& f) {
  switch (f.size) {
    case CpSize::S128x256b: return CpShape::S128x256b;
    case CpSize::S4x256b: return CpShape::S4x256b;
    case CpSize::S128x128b: return CpShape::S128x128b;
    case CpSize::S32x128b: return CpShape::S32x128b;
    case CpSize::S64x128b: break;
  }
  return f.multicast == CpMulticast::Warpx2_02_13 ? CpShape::S64x128b_02_13
                                                  : CpShape::S64x128b_01_23;
}

// The form of a shape: the inverse.
HOST_DEVICE constexpr CpForm cp_form(CpShape shape, int cta_group = 1) {
  switch (shape) {
    case CpShape::S128x256b: return {CpSize::S128x256b, CpMulticast::None, {}, cta_group};
    case CpShape::S4x256b: return {CpSize::S4x256b, CpMulticast::None, {}, cta_group};
    case CpShape::S128x128b: return {CpSize::S128x128b, CpMulticast::None, {}, cta_group};
    case CpShape::S64x128b_02_13:
      return {CpSize::S64x128b, CpMulticast::Warpx2_02_13, {}, cta_group};
    case CpShape::S64x128b_01_23:
      return {CpSize::S64x128b, CpMulticast::Warpx2_01_23, {}, cta_group};
    case CpShape::S32x128b: return {CpSize::S32x128b, CpMulticast::Warpx4, {}, cta_group};
  }
  return {};
}

// A byte that a cp reads.
struct CpByte {
  int row;
  int byte;
  friend constexpr bool operator==(const CpByte&, const CpByte&) = default;
};

HOST_DEVICE constexpr int cp_rows(CpShape shape) {
  switch (shape) {
    case CpShape::S128x256b:
    case CpShape::S128x128b: return 128;
    case CpShape::S64x128b_02_13:
    case CpShape::S64x128b_01_23: return 64;
    case CpShape::S32x128b: return 32;
    case CpShape::S4x256b: return 4;
  }
  return 0;
}

HOST_DEVICE constexpr int cp_row_bytes(CpShape shape) {
  return shape == CpShape::S128x256b || shape == CpShape::S4x256b ? 32 : 16;
}

HOST_DEVICE constexpr int cp_columns(CpShape shape) { return cp_row_bytes(shape) / 4; }

// Lanes that each row is written to.
HOST_DEVICE constexpr int cp_copies(CpShape shape) {
  return shape == CpShape::S4x256b ? 1 : tmem_lanes / cp_rows(shape);
}

// True where the sources leave the lanes open: cp_place() then answers as CuTe's layout says.
HOST_DEVICE constexpr bool is_disputed(CpShape shape) { return shape == CpShape::S4x256b; }

HOST_DEVICE constexpr int cp_lane(CpShape shape, int row, int copy) {
  switch (shape) {
    case CpShape::S4x256b: return 32 * row;
    case CpShape::S64x128b_01_23: return row % 32 + 64 * (row / 32) + 32 * copy;
    default: return row + cp_rows(shape) * copy;
  }
}

// Shape: row [0, cp_rows()), byte [0, cp_row_bytes()), copy [0, cp_copies()) <-> the bytes with
// is_written(): a bijection.
HOST_DEVICE constexpr CellByte cp_place(CpShape shape, CpByte from, int copy) {
  return {cp_lane(shape, from.row, copy), from.byte / 4, from.byte % 4};
}

HOST_DEVICE constexpr bool is_written(CpShape shape, Cell cell) {
  if (cell.tmem_column < 0 || cell.tmem_column >= cp_columns(shape)) return false;
  return shape != CpShape::S4x256b || cell.tmem_lane % 32 == 0;
}

// Requires: is_written() for the byte's cell.
HOST_DEVICE constexpr CpByte cp_source(CpShape shape, CellByte to) {
  const int byte = 4 * to.tmem_column + to.byte;
  switch (shape) {
    case CpShape::S4x256b: return {to.tmem_lane / 32, byte};
    case CpShape::S64x128b_01_23: return {to.tmem_lane % 32 + 32 * (to.tmem_lane / 64), byte};
    default: return {to.tmem_lane % cp_rows(shape), byte};
  }
}

// What a descriptor says about a cp's source, in bytes.
struct CpOperand {
  std::uint32_t start_bytes;
  CanonicalLayout layout;  // K-major
  SwizzleFunction swizzle;
  std::uint32_t base_offset = 0;
};

// Faults: those of check(), DescriptorLboMode, UnmodelledSwizzle.
HOST_DEVICE constexpr Fault check_cp_source(const SmemDescriptor& d) {
  if (const Fault fault = check(d); fault != Fault::None) return fault;
  if (d.lbo_absolute) return Fault::DescriptorLboMode;
  return d.swizzle == Swizzle::B128Atom32 ? Fault::UnmodelledSwizzle : Fault::None;
}

// An atom of scale factors (sim/isa/tmem/scale_layout.h) at byte `start`, as .32x128b.warpx4 takes it to its cells.
HOST_DEVICE constexpr SmemDescriptor scale_atom_descriptor(std::uint32_t start) {
  return {start, 16, 128, 0, false, Swizzle::None};
}

// Requires: check_cp_source(d) == Fault::None.
HOST_DEVICE constexpr CpOperand cp_operand(const SmemDescriptor& d) {
  return {d.start_bytes, canonical_layout(d, Major::K), swizzle_function(d.swizzle), d.base_offset};
}

// Address in shared memory.
HOST_DEVICE constexpr std::uint32_t cp_address(const CpOperand& source, CpByte from) {
  const OperandByte at = {static_cast<std::uint32_t>(from.row),
                          static_cast<std::uint32_t>(from.byte)};
  return source.swizzle.apply(source.start_bytes + offset_bytes(source.layout, at),
                              source.base_offset);
}

// --- Decompression --------------------------------------------------------------------------------

// .b8x16.b4x16_p64 and .b8x16.b6x16_p32: 16 elements of 4 or 6 bits at the start of every 16 bytes
// become one byte each. Without them the elements are bytes that stay as they are.
inline constexpr int cp_unit_elements = 16;

HOST_DEVICE constexpr int cp_element_bits(CpSource source) {
  switch (source) {
    case CpSource::B4x16_p64: return 4;
    case CpSource::B6x16_p32: return 6;
    case CpSource::Same: break;
  }
  return 8;
}

struct Unpacked {
  int source_low_bit;  // in the 16 bytes read
  int byte;            // of the 16 bytes written
  int low_bit;         // of the element in that byte
  friend constexpr bool operator==(const Unpacked&, const Unpacked&) = default;
};

// Shape: element [0, cp_unit_elements). Requires: element_bits is that of a source.
HOST_DEVICE constexpr Unpacked decompressed(int element_bits, int element) {
  return {element_bits * element, element, (8 - element_bits) / 2};
}

// --- tcgen05.shift.down ---------------------------------------------------------------------------

// Columns that one shift moves; whether it moves more is open.
inline constexpr int shift_columns = 8;

struct ShiftSource {
  Fault fault;
  int tmem_lane;  // whose old contents the lane gets
};

// Faults: UnmodelledShiftEdge for the last lane of a quarter but the last of all: the manual says
// that only the last row stays, an example of NVIDIA's that each quarter's does.
HOST_DEVICE constexpr ShiftSource shift_source(int tmem_lane) {
  if (tmem_lane == tmem_lanes - 1) return {Fault::None, tmem_lane};
  if (tmem_lane % 32 == 31) return {Fault::UnmodelledShiftEdge, tmem_lane};
  return {Fault::None, tmem_lane + 1};
}

}  // namespace tcq::tcgen05
