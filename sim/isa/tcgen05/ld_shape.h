// The shapes of tcgen05.ld and tcgen05.st: names, and registers per repetition.
//
// What their registers hold: sim/isa/tcgen05/fragment.h. Example: .16x256b.x2 fills 8 registers per thread.
//
// Source: PTX ISA 9.2, 9.7.16.2.3 "Data movement shape", 9.7.16.8 "tcgen05.ld, tcgen05.st".
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"

namespace tcq::tcgen05 {

// .shape of ld and st: lanes x bits per lane and repetition.
enum class LdShape : std::uint8_t { S32x32b, S16x64b, S16x128b, S16x256b, S16x32bx2 };
inline constexpr int ld_shape_count = 5;

HOST_DEVICE constexpr const char* name(LdShape shape) {
  switch (shape) {
    case LdShape::S32x32b: return "32x32b";
    case LdShape::S16x64b: return "16x64b";
    case LdShape::S16x128b: return "16x128b";
    case LdShape::S16x256b: return "16x256b";
    case LdShape::S16x32bx2: return "16x32bx2";
  }
  return "?";
}

// Registers per thread and repetition.
HOST_DEVICE constexpr int registers_per_repetition(LdShape shape) {
  if (shape == LdShape::S16x256b) return 4;
  return shape == LdShape::S16x128b ? 2 : 1;
}

}  // namespace tcq::tcgen05
