// A tensor map as the 128 bytes that a kernel copies and tensormap.replace changes, and that instruction's codes.
//
// The bytes are opaque to programs, and so they are tcq's own here: every field has a place of its own, so that a replacement
// is a store. Example: replacing box_dim 1 by 64 stores 64 in the byte at place_of(MapPart::BoxDim, 1). All lie in the first
// 64 bytes, as the CuTe DSL's grouped kernels copy no others.
//
// Source: PTX ISA 9.2, 5.5.8 "Tensor map object", 9.7.9.28 "tensormap.replace" (Table 33: codes of element types and
// swizzles; a rank is given less one; strides are those of dimension 1 and up, in bytes).
// Inferred: sizes, box and strides are replaced by what the host's function takes, nothing less one; refuted by
// tests/live/live_tensormap_test.cc, which an H200 passes.
#pragma once

#include <cstdint>

#include "sim/isa/copy/tensor_map.h"

namespace tcq::tma {

inline constexpr std::uint32_t map_object_bytes = 128;
inline constexpr std::uint32_t map_object_said_bytes = 64;  // the rest says nothing
struct MapObject {
  std::uint8_t bytes[map_object_bytes] = {};
};

enum class MapPart : std::uint8_t {
  Address,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  ElementType,
  InterleaveLayout,
  SwizzleMode,
  SwizzleAtomicity,
  FillMode,
};

// Bytes of a part; one without bytes does not exist.
struct MapPlaceInObject {
  std::uint32_t at = 0;
  std::uint32_t bytes = 0;
};

HOST_DEVICE constexpr MapPlaceInObject place_of(MapPart part, std::uint32_t ordinal = 0) {
  const bool has_ordinal = part >= MapPart::BoxDim && part <= MapPart::ElementStride;
  const auto dims = static_cast<std::uint32_t>(max_rank) - (part == MapPart::GlobalStride ? 1 : 0);
  if (ordinal >= (has_ordinal ? dims : 1)) return {};
  switch (part) {
    case MapPart::Address: return {0, 8};
    case MapPart::GlobalStride: return {8 + 5 * ordinal, 5};
    case MapPart::GlobalDim: return {28 + 4 * ordinal, 4};
    case MapPart::BoxDim: return {48 + ordinal, 1};
    case MapPart::ElementStride: return {53 + ordinal, 1};
    case MapPart::Rank: return {58, 1};
    case MapPart::ElementType: return {59, 1};
    case MapPart::InterleaveLayout: return {60, 1};
    case MapPart::SwizzleMode: return {61, 1};
    case MapPart::SwizzleAtomicity: return {62, 1};
    case MapPart::FillMode: return {63, 1};
  }
  return {};
}

// --- codes -----------------------------------------------------------------------------------------

// Requires: is_code(MapPart::ElementType, code).
HOST_DEVICE constexpr DataType type_of_code(std::uint64_t code) {
  constexpr DataType types[data_type_count] = {
      DataType::UInt8,       DataType::UInt16,   DataType::UInt32,    DataType::Int32,
      DataType::UInt64,      DataType::Int64,    DataType::Float16,   DataType::Float32,
      DataType::Float32Ftz,  DataType::Float64,  DataType::BFloat16,  DataType::TFloat32,
      DataType::TFloat32Ftz, DataType::U4Align8, DataType::U4Align16, DataType::U6Align16};
  return types[code];
}
HOST_DEVICE constexpr std::uint32_t code_of(DataType type) {
  std::uint32_t code = 0;
  while (type_of_code(code) != type) ++code;
  return code;
}

struct SwizzleCodes {
  std::uint32_t mode = 0;
  std::uint32_t atomicity = 0;  // of mode 3
};
HOST_DEVICE constexpr SwizzleCodes codes_of(Swizzle swizzle) {
  const auto code = static_cast<std::uint32_t>(swizzle);
  return code < 3 ? SwizzleCodes{code, 0} : SwizzleCodes{3, code - 3};
}
HOST_DEVICE constexpr Swizzle swizzle_of(SwizzleCodes codes) {
  return static_cast<Swizzle>(codes.mode < 3 ? codes.mode : 3 + codes.atomicity);
}

// Does the instruction have this value for the part? Mode 4, 96B, is sm_103's and not modelled.
HOST_DEVICE constexpr bool is_code(MapPart part, std::uint64_t value) {
  switch (part) {
    case MapPart::Rank: return value < static_cast<std::uint64_t>(max_rank);
    case MapPart::ElementType: return value < static_cast<std::uint64_t>(data_type_count);
    case MapPart::InterleaveLayout: return value <= 2;
    case MapPart::SwizzleMode:
    case MapPart::SwizzleAtomicity: return value <= 3;
    case MapPart::FillMode: return value <= 1;
    case MapPart::BoxDim: return value != 0 && value <= max_box;
    case MapPart::ElementStride: return value != 0 && value <= max_element_stride;
    case MapPart::GlobalDim: return value != 0;
    case MapPart::GlobalStride: return value < stride_limit;
    default: return true;
  }
}

// --- whole maps ------------------------------------------------------------------------------------

namespace map_object {

HOST_DEVICE constexpr void put(MapObject& object, MapPlaceInObject place, std::uint64_t value) {
  for (std::uint32_t i = 0; i < place.bytes; ++i)
    object.bytes[place.at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}
HOST_DEVICE constexpr std::uint64_t get(const MapObject& object, MapPart part,
                                        std::uint32_t ordinal = 0) {
  const MapPlaceInObject place = place_of(part, ordinal);
  std::uint64_t value = 0;
  for (std::uint32_t i = 0; i < place.bytes; ++i)
    value |= static_cast<std::uint64_t>(object.bytes[place.at + i]) << (8 * i);
  return value;
}

}  // namespace map_object

HOST_DEVICE constexpr MapObject object_of(const TensorMap& map) {
  MapObject object;
  const auto put = [&](MapPart part, std::uint64_t value, std::uint32_t ordinal = 0) {
    map_object::put(object, place_of(part, ordinal), value);
  };
  put(MapPart::Address, map.address);
  put(MapPart::Rank, static_cast<std::uint64_t>(map.rank - 1));
  for (std::uint32_t d = 0; d < static_cast<std::uint32_t>(max_rank); ++d) {
    put(MapPart::GlobalDim, map.dims[d], d);
    put(MapPart::BoxDim, map.box[d], d);
    put(MapPart::ElementStride, map.element_strides[d], d);
    if (d + 1 < static_cast<std::uint32_t>(max_rank))
      put(MapPart::GlobalStride, map.stride_bytes[d], d);
  }
  put(MapPart::ElementType, code_of(map.type));
  put(MapPart::InterleaveLayout, static_cast<std::uint64_t>(map.interleave));
  put(MapPart::SwizzleMode, codes_of(map.swizzle).mode);
  put(MapPart::SwizzleAtomicity, codes_of(map.swizzle).atomicity);
  // No bytes stand for a map in im2col mode: where a kernel copies one, the copy is no map.
  put(MapPart::FillMode, map.im2col.is_on ? 0xff : static_cast<std::uint64_t>(map.fill));
  return object;
}

// False: these bytes are no tensor map.
HOST_DEVICE constexpr bool map_of(const MapObject& object, TensorMap& map) {
  const auto get = [&](MapPart part, std::uint32_t ordinal = 0) {
    return map_object::get(object, part, ordinal);
  };
  constexpr MapPart coded[] = {
      MapPart::Rank,        MapPart::ElementType,      MapPart::InterleaveLayout,
      MapPart::SwizzleMode, MapPart::SwizzleAtomicity, MapPart::FillMode};
  for (const MapPart part : coded)
    if (!is_code(part, get(part))) return false;
  if (get(MapPart::ElementStride) == 0) return false;
  map = {};
  map.address = get(MapPart::Address);
  map.rank = static_cast<int>(get(MapPart::Rank)) + 1;
  for (std::uint32_t d = 0; d < static_cast<std::uint32_t>(max_rank); ++d) {
    const std::uint64_t dim = get(MapPart::GlobalDim, d);
    map.dims[d] = dim == 0 ? max_dim : dim;
    const std::uint64_t box = get(MapPart::BoxDim, d);
    map.box[d] = box == 0 ? max_box : static_cast<std::uint32_t>(box);
    map.element_strides[d] = static_cast<std::uint32_t>(get(MapPart::ElementStride, d));
    if (d + 1 < static_cast<std::uint32_t>(max_rank))
      map.stride_bytes[d] = get(MapPart::GlobalStride, d);
  }
  map.type = type_of_code(get(MapPart::ElementType));
  map.interleave = static_cast<Interleave>(get(MapPart::InterleaveLayout));
  const SwizzleCodes codes{static_cast<std::uint32_t>(get(MapPart::SwizzleMode)),
                           static_cast<std::uint32_t>(get(MapPart::SwizzleAtomicity))};
  map.swizzle = swizzle_of(codes);
  map.fill = static_cast<Fill>(get(MapPart::FillMode));
  return true;
}

}  // namespace tcq::tma
