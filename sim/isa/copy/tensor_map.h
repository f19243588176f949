// A tensor map, as cuTensorMapEncodeTiled takes it: which tensor in global memory, cut into which
// boxes, swizzled how in shared memory. And which ones the driver refuses.
//
// Decides the parameters' codes and limits; which byte of a box goes where is tma_tile.h. Example:
// bf16, 2D, 1024 x 512 elements, boxes of 64 x 128 with 128B swizzle:
//   {DataType::BFloat16, 2, 0, {1024, 512}, {2048}, {64, 128}, {1, 1}, Interleave::None,
//    Swizzle::B128, Fill::Zero}
//
// Source: CUDA driver API 13.0, cuTensorMapEncodeTiled; PTX ISA 9.2, 5.5.7 "Swizzling modes".
// Measured: tests/vectors/tma_encode.tcqv (beyond the driver's text: strides of zero and rows that
// overlap are accepted, element strides of dimension 0 are checked, interleave 32B goes without
// swizzle, too).
// Measured: tests/vectors/tma_edge.tcqv (a box of 228 KiB is accepted, one of 229 KiB is not;
// interleave 32B is accepted with every swizzle)
// Measured: tests/vectors/tma_interleave.tcqv (interleaved or not, the inner box is a multiple of
// 16 bytes, also with 32B, and the box at most 228 KiB, divided by all element strides; only the
// span of the swizzle is not looked at if the map is interleaved)
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/matrix_bytes.h"
#include "sim/isa/base/swizzle.h"
#include "sim/isa/fault/fault.h"

namespace tcq::tma {

inline constexpr int max_rank = 5;
inline constexpr std::uint32_t max_box = 256;
inline constexpr std::uint32_t max_element_stride = 8;
inline constexpr std::uint32_t global_unit_bytes = 16;  // of addresses, strides and inner boxes
inline constexpr std::uint32_t max_tile_bytes = 228 * 1024;
inline constexpr std::uint64_t max_dim = std::uint64_t{1} << 32;
inline constexpr std::uint64_t stride_limit = std::uint64_t{1} << 40;

// The enumerators' values are the driver's: CUtensorMapDataType.
enum class DataType : std::uint8_t {
  UInt8,
  UInt16,
  UInt32,
  Int32,
  UInt64,
  Int64,
  Float16,
  Float32,
  Float64,
  BFloat16,
  Float32Ftz,
  TFloat32,
  TFloat32Ftz,
  U4Align8,
  U4Align16,
  U6Align16,
};
inline constexpr int data_type_count = 16;

// CUtensorMapInterleave.
enum class Interleave : std::uint8_t { None, B16, B32 };

// What elements outside the tensor read as: CUtensorMapFloatOOBfill.
enum class Fill : std::uint8_t { Zero, NaN };

HOST_DEVICE constexpr bool is_packed(DataType type) { return type >= DataType::U4Align8; }

// In shared memory every 16 elements lie in 16 bytes, of which they fill 8 or 12.
HOST_DEVICE constexpr bool is_padded(DataType type) { return type >= DataType::U4Align16; }

// Both came with capability 10.0: packed types and swizzles with larger atoms.
enum class Capability : std::uint8_t { V9, V10 };

// 0 for the packed types, whose elements are no whole bytes.
HOST_DEVICE constexpr std::uint32_t element_bytes(DataType type) {
  switch (type) {
    case DataType::UInt8: return 1;
    case DataType::UInt16:
    case DataType::Float16:
    case DataType::BFloat16: return 2;
    case DataType::UInt32:
    case DataType::Int32:
    case DataType::Float32:
    case DataType::Float32Ftz:
    case DataType::TFloat32:
    case DataType::TFloat32Ftz: return 4;
    case DataType::UInt64:
    case DataType::Int64:
    case DataType::Float64: return 8;
    default: return 0;
  }
}

// What a copy moves as one along dimension 0: an element, of packed types a byte of two or a group of 16.
// Source: PTX ISA 9.2, 5.5.1.1 "Sub-byte types" (.b4x16, .b4x16_p64, .b6x16_p32), 9.7.9.27.1.1 (boxes of 64 and 96 bytes).
// Inferred: complete_tx counts the bytes of global memory, not the padding; refuted by CUTLASS's kernels for f8f6f4.
struct Grain {
  std::uint32_t elements = 1;
  std::uint32_t bytes = 1;         // in global memory
  std::uint32_t shared_bytes = 1;  // from one to the next
};

HOST_DEVICE constexpr Grain padded_group(matrix::Packing packing) {
  constexpr std::uint32_t row = matrix::byte_columns;
  return {row, static_cast<std::uint32_t>(matrix::packed_bytes(packing)), row};
}

HOST_DEVICE constexpr Grain grain(DataType type) {
  switch (type) {
    case DataType::U4Align8: return {2, 1, 1};
    case DataType::U4Align16: return padded_group(matrix::Packing::B4x16_p64);
    case DataType::U6Align16: return padded_group(matrix::Packing::B6x16_p32);
    default: return {1, element_bytes(type), element_bytes(type)};
  }
}

HOST_DEVICE constexpr bool is_float(DataType type) {
  return type >= DataType::Float16 && type <= DataType::TFloat32Ftz;
}

HOST_DEVICE constexpr const char* name(DataType type) {
  switch (type) {
    case DataType::UInt8: return "UINT8";
    case DataType::UInt16: return "UINT16";
    case DataType::UInt32: return "UINT32";
    case DataType::Int32: return "INT32";
    case DataType::UInt64: return "UINT64";
    case DataType::Int64: return "INT64";
    case DataType::Float16: return "FLOAT16";
    case DataType::Float32: return "FLOAT32";
    case DataType::Float64: return "FLOAT64";
    case DataType::BFloat16: return "BFLOAT16";
    case DataType::Float32Ftz: return "FLOAT32_FTZ";
    case DataType::TFloat32: return "TFLOAT32";
    case DataType::TFloat32Ftz: return "TFLOAT32_FTZ";
    case DataType::U4Align8: return "16U4_ALIGN8B";
    case DataType::U4Align16: return "16U4_ALIGN16B";
    case DataType::U6Align16: return "16U6_ALIGN16B";
  }
  return "?";
}

// The longest inner box; 0 if there is no limit. Unit: bytes.
HOST_DEVICE constexpr std::uint32_t span_bytes(Swizzle swizzle) {
  return swizzle == Swizzle::None ? 0 : pitch_bytes(swizzle);
}

HOST_DEVICE constexpr bool needs_capability_10(Swizzle swizzle) { return swizzle > Swizzle::B128; }

// A map in im2col mode: the box is a column of pixels, of box[0] channels each and box[1] of them, and lies in shared memory as
// a box of that many rows. The pixels follow each other along the dimensions between channels and images, inside a bounding box
// that begins at `lower` and ends `upper` behind the tensor's last pixel; element strides are those between pixels.
// Source: CUDA driver API 13.0, cuTensorMapEncodeIm2col; PTX ISA 9.2, 5.5.4 "Im2col mode"
// Measured: tests/vectors/statements.tcqv, rows of im2col
struct Im2col {
  bool is_on = false;
  std::int32_t lower[max_rank - 2] = {};  // of dimension d at d - 1
  std::int32_t upper[max_rank - 2] = {};
  friend constexpr bool operator==(const Im2col&, const Im2col&) = default;
};
inline constexpr std::uint32_t max_pixels = 1024;  // of a column

// Dimension 0 is the contiguous one. Entries from `rank` on mean nothing.
struct TensorMap {
  DataType type = DataType::UInt8;
  int rank = 1;
  std::uint64_t address = 0;                       // of element 0, in global memory
  std::uint64_t dims[max_rank] = {1, 1, 1, 1, 1};  // elements
  std::uint64_t stride_bytes[max_rank - 1] = {};   // of dimension d at d - 1
  std::uint32_t box[max_rank] = {1, 1, 1, 1, 1};   // elements, before element_strides
  std::uint32_t element_strides[max_rank] = {1, 1, 1, 1, 1};
  Interleave interleave = Interleave::None;
  Swizzle swizzle = Swizzle::None;
  Fill fill = Fill::Zero;
  Im2col im2col = {};

  friend constexpr bool operator==(const TensorMap&, const TensorMap&) = default;
};

// Dimension 0 has no stride.
HOST_DEVICE constexpr std::uint32_t element_stride(const TensorMap& map, int dim) {
  return dim == 0 ? 1 : map.element_strides[dim];
}

// Elements of one grain: of dimension 0, whose sizes, boxes and coordinates count elements.
HOST_DEVICE constexpr std::uint32_t elements_together(const TensorMap& map, int dim) {
  return dim == 0 ? grain(map.type).elements : 1;
}

// The tensor's size along one dimension. Unit: grains.
HOST_DEVICE constexpr std::uint64_t size(const TensorMap& map, int dim) {
  return map.dims[dim] / elements_together(map, dim);
}

// What is moved along one dimension. Requires: element strides of at least 1. Unit: grains.
HOST_DEVICE constexpr std::uint32_t extent(const TensorMap& map, int dim) {
  if (dim >= map.rank) return 1;
  const std::uint32_t box = map.box[dim] / elements_together(map, dim);
  if (map.im2col.is_on) return dim < 2 ? box : 1;
  return (box + element_stride(map, dim) - 1) / element_stride(map, dim);
}

// In shared memory.
HOST_DEVICE constexpr std::uint32_t inner_box_bytes(const TensorMap& map) {
  return map.box[0] / grain(map.type).elements * grain(map.type).shared_bytes;
}

// Does a bounding box of pixels reach outside the tensor? Loads fill what lies there; a store or a reduction through such a map
// traps, wherever it begins. Measured: tests/vectors/statements.tcqv, rows of im2col
HOST_DEVICE constexpr bool has_padding(const TensorMap& map) {
  for (int d = 1; map.im2col.is_on && d + 1 < map.rank; ++d)
    if (map.im2col.lower[d - 1] < 0 || map.im2col.upper[d - 1] > 0) return true;
  return false;
}

namespace detail {

// What the encoder compares with the largest tile. It rounds box / element stride down where the
// copy rounds it up, and divides dimension 0, too, so that it accepts boxes that move more.
HOST_DEVICE constexpr std::uint64_t counted_box_bytes(const TensorMap& map) {
  std::uint64_t bytes = grain(map.type).shared_bytes;
  for (int d = 0; d < map.rank; ++d)
    bytes *= map.im2col.is_on ? extent(map, d)
                              : map.box[d] / elements_together(map, d) / map.element_strides[d];
  return bytes;
}

// Elements that sizes of dimension 0 and coordinates there are a multiple of.
inline constexpr std::uint32_t padded_row = 128;

HOST_DEVICE constexpr Fault check_tensor(const TensorMap& map) {
  const bool is_wide = map.interleave == Interleave::B32 || is_padded(map.type);
  const std::uint64_t unit = is_wide ? 32 : global_unit_bytes;
  if (map.address % unit != 0) return Fault::TensorMapAddress;
  for (int d = 0; d < map.rank; ++d)
    if (map.dims[d] == 0 || map.dims[d] > max_dim) return Fault::TensorMapDim;
  if (map.dims[0] % (is_padded(map.type) ? padded_row : elements_together(map, 0)) != 0)
    return Fault::TensorMapDim;
  for (int d = 0; d + 1 < map.rank; ++d)
    if (map.stride_bytes[d] % unit != 0 || map.stride_bytes[d] >= stride_limit)
      return Fault::TensorMapStride;
  return Fault::None;
}

// Where the first pixel of a line along a dimension may lie, and the last.
HOST_DEVICE constexpr std::int64_t first_pixel(const TensorMap& map, int dim) {
  return map.im2col.lower[dim - 1];
}
HOST_DEVICE constexpr std::int64_t last_pixel(const TensorMap& map, int dim) {
  return static_cast<std::int64_t>(map.dims[dim]) - 1 + map.im2col.upper[dim - 1];
}

// The more dimensions, the fewer bits a corner has.
HOST_DEVICE constexpr Fault check_corners(const TensorMap& map) {
  const int bits = map.rank == 3 ? 16 : map.rank == 4 ? 8 : 5;
  const std::int32_t bound = 1 << (bits - 1);
  for (int d = 1; d + 1 < map.rank; ++d) {
    const std::int32_t lower = map.im2col.lower[d - 1];
    const std::int32_t upper = map.im2col.upper[d - 1];
    if (lower < -bound || lower >= bound || upper < -bound || upper >= bound)
      return Fault::TensorMapCorners;
    if (first_pixel(map, d) > last_pixel(map, d)) return Fault::TensorMapCorners;
  }
  return Fault::None;
}

HOST_DEVICE constexpr Fault check_box(const TensorMap& map) {
  for (int d = 0; d < map.rank; ++d) {
    const bool is_column = map.im2col.is_on && d == 1;
    if (map.box[d] == 0 || map.box[d] > (is_column ? max_pixels : max_box))
      return Fault::TensorMapBox;
    const std::uint32_t stride = map.element_strides[d];
    if (stride == 0 || stride > max_element_stride) return Fault::TensorMapElementStride;
  }
  const bool is_whole = map.box[0] % elements_together(map, 0) == 0;
  if (!is_whole || inner_box_bytes(map) % global_unit_bytes != 0) return Fault::TensorMapInnerBox;
  if (is_padded(map.type) && map.box[0] != padded_row) return Fault::TensorMapInnerBox;
  const bool has_span = map.swizzle != Swizzle::None && map.interleave == Interleave::None;
  if (has_span && inner_box_bytes(map) > span_bytes(map.swizzle)) return Fault::TensorMapSpan;
  return counted_box_bytes(map) > max_tile_bytes ? Fault::TensorMapBoxBytes : Fault::None;
}

}  // namespace detail

// Faults: those of group "Tensor maps". Unmodelled ones come last: the driver accepts such a map.
HOST_DEVICE constexpr Fault check(const TensorMap& map, Capability capability = Capability::V9) {
  const bool interleaved = map.interleave != Interleave::None;
  const bool is_deep = interleaved || map.im2col.is_on;
  if (map.rank < 1 || map.rank > max_rank || (is_deep && map.rank < 3)) return Fault::TensorMapRank;
  if (capability < Capability::V10) {
    if (is_packed(map.type)) return Fault::TargetLacksPackedTypes;
    if (needs_capability_10(map.swizzle)) return Fault::TargetLacksSwizzleAtoms;
  }
  if (const Fault f = detail::check_tensor(map); f != Fault::None) return f;
  if (const Fault f = detail::check_box(map); f != Fault::None) return f;
  if (map.im2col.is_on)
    if (const Fault f = detail::check_corners(map); f != Fault::None) return f;
  if (map.fill == Fill::NaN && !is_float(map.type)) return Fault::TensorMapFill;
  const bool flips = map.swizzle == Swizzle::B128Atom32Flip8;
  return interleaved || flips ? Fault::UnmodelledInterleave : Fault::None;
}

}  // namespace tcq::tma
