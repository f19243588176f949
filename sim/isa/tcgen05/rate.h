// Peak rate of tcgen05.mma: operations of an SM in a clock, by kind.
//
// Example: kind f16, 256 x 256 x 16 by a pair is 2^21 operations, 2^20 of each SM: 128 clocks.
//
// Source: NVIDIA HGX B200 data sheet, dense peaks of a GPU: 2.25 PFLOPS of 16-bit types, half that for tf32, twice for
// 8-bit types (with scale factors or without), four times for FP4.
// Inferred: 8192 an SM and clock, as 148 SMs come to 2.25 PFLOPS at 1.856 GHz. A chip whose loop of mma alone takes other
// clocks refutes it.
#pragma once

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"

namespace tcq::tcgen05 {

HOST_DEVICE constexpr int operations_per_clock(Kind kind) {
  constexpr int of_16_bits = 8192;
  switch (kind) {
    case Kind::tf32: return of_16_bits / 2;
    case Kind::f16: break;
    case Kind::f8f6f4:
    case Kind::i8:
    case Kind::mxf8f6f4: return 2 * of_16_bits;
    case Kind::mxf4:
    case Kind::mxf4nvf4: return 4 * of_16_bits;
  }
  return of_16_bits;
}

}  // namespace tcq::tcgen05
