// The words of tcgen05.mma: kinds, scale factors, and what its opcode says apart from run-time words.
//
// Decides names only. Which combinations exist is sim/isa/tcgen05/shape.h; M, N, element types, majors and
// signs are run-time values in the instruction descriptor (sim/isa/tcgen05/instruction_descriptor.h). Example:
// tcgen05.mma.ws.sp.cta_group::1.kind::f16 is {Kind::f16, 1, ws = true, sparse = true}.
//
// Source: PTX ISA 9.2, 9.7.16.2.1 "Kinds", 9.7.16.10.9 "tcgen05.mma instructions".
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"

namespace tcq::tcgen05 {

enum class Kind : std::uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };
inline constexpr int kind_count = 7;

HOST_DEVICE constexpr const char* name(Kind kind) {
  switch (kind) {
    case Kind::f16: return "f16";
    case Kind::tf32: return "tf32";
    case Kind::f8f6f4: return "f8f6f4";
    case Kind::i8: return "i8";
    case Kind::mxf8f6f4: return "mxf8f6f4";
    case Kind::mxf4: return "mxf4";
    case Kind::mxf4nvf4: return "mxf4nvf4";
  }
  return "?";
}

// Kinds whose operands are multiplied by scale factors; PTX writes .block_scale.
HOST_DEVICE constexpr bool is_block_scaled(Kind kind) {
  return kind == Kind::mxf8f6f4 || kind == Kind::mxf4 || kind == Kind::mxf4nvf4;
}

// Kinds that take 4-bit elements only, two to a byte.
HOST_DEVICE constexpr bool is_packed_4bit(Kind kind) {
  return kind == Kind::mxf4 || kind == Kind::mxf4nvf4;
}

// The format of a scale factor; the enumerators' values are the field's codes.
enum class ScaleType : std::uint8_t { ue4m3 = 0, ue8m0 = 1 };

HOST_DEVICE constexpr const char* name(ScaleType type) {
  return type == ScaleType::ue8m0 ? "ue8m0" : "ue4m3";
}

// .scale_vectorsize. Kinds mxf8f6f4 and mxf4 have a default, mxf4nvf4 has none.
enum class ScaleVec : std::uint8_t { Default, X1, X2, X4, Block16, Block32 };
inline constexpr int scale_vec_count = 6;

HOST_DEVICE constexpr const char* name(ScaleVec scale_vec) {
  switch (scale_vec) {
    case ScaleVec::Default: return "";
    case ScaleVec::X1: return "scale_vec::1X";
    case ScaleVec::X2: return "scale_vec::2X";
    case ScaleVec::X4: return "scale_vec::4X";
    case ScaleVec::Block16: return "block16";
    case ScaleVec::Block32: return "block32";
  }
  return "?";
}

// Elements of a row that share a factor.
HOST_DEVICE constexpr int scale_block(ScaleVec scale_vec) {
  return scale_vec == ScaleVec::X4 || scale_vec == ScaleVec::Block16 ? 16 : 32;
}

// What its byte means in the formats that are in use: NVFP4 has 16, MXFP8 and MXFP4 have 32.
HOST_DEVICE constexpr ScaleType scale_type_of(ScaleVec scale_vec) {
  return scale_block(scale_vec) == 16 ? ScaleType::ue4m3 : ScaleType::ue8m0;
}

// Where A comes from; B always comes from shared memory.
enum class Place : std::uint8_t { Smem, Tmem };

// What the opcode of one tcgen05.mma says.
struct MmaOpcode {
  Kind kind = Kind::f16;
  int cta_group = 1;  // 1 or 2
  bool ws = false;
  bool sparse = false;
  ScaleVec scale_vec = ScaleVec::Default;
  Place a_place = Place::Smem;
  bool ashift = false;

  friend constexpr bool operator==(const MmaOpcode&, const MmaOpcode&) = default;
};

}  // namespace tcq::tcgen05
