// What a kernel on tcgen05 is told of its operands besides the maps of their tiles, a parameter of its own; and one for Hopper
// whose factors TMA brings (cuda/gemm/staged.cuh), of which it has the maps alone.
//
// Factors of blocks come by TMA, of which a pair of CTAs can count the bytes on one barrier; the map of an operand's: maps.cc.
// `differs`: which types of their kind the operands have, and which majors, stands in the instruction descriptor, so that a
// kernel compiled for one pair of FP8 or integer types, K-major, multiplies all of them. Example: a kernel of e4m3 by e4m3 that
// multiplies e5m2 by e4m3 gets 1 << 7, the difference of the codes of A's types, and 1 << 16 besides if B is MN-major.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"

namespace tcq::gemm {

struct TensorOperands {
  CUtensorMap scales_a;  // of kinds with factors
  CUtensorMap scales_b;
  std::uint32_t differs;  // the descriptor's bits that are not those compiled in

  HOST_DEVICE bool turned_a() const { return (differs & tcgen05::idesc::MajorA::mask) != 0; }
  HOST_DEVICE bool turned_b() const { return (differs & tcgen05::idesc::MajorB::mask) != 0; }
};

}  // namespace tcq::gemm
