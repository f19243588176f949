// The 32-bit instruction descriptor of tcgen05.mma: what its opcode leaves to run time.
//
// Source: PTX ISA 9.2, 9.7.16.4.2 "Instruction descriptor", tables 42 to 44.
#pragma once

#include <cstdint>

#include "sim/isa/canonical_layout.h"
#include "sim/isa/element.h"
#include "sim/isa/host_device.h"
#include "sim/isa/tcgen05_kind.h"

namespace tcq::tcgen05 {

struct InstructionDescriptor {
  Type d = Type::f32;
  Type a = Type::f16;
  Type b = Type::f16;
  int m = 128;  // of the whole instruction: cta_group::2 splits it over two CTAs
  int n = 8;
  Major major_a = Major::K;
  Major major_b = Major::K;
  bool negate_a = false;
  bool negate_b = false;
  bool sparse = false;
  int selector = 0;       // sparsity selector, dense and sparse kinds without scale factors
  bool saturate = false;  // kind i8
  int max_shift_b = 0;    // .ws: columns, one of 0, 8, 16, 32
  ScaleType scale_type = ScaleType::ue8m0;
  int scale_a_id = 0;
  int scale_b_id = 0;
  bool k96 = false;  // mxf4, mxf4nvf4: K = 96 instead of 64

  friend constexpr bool operator==(const InstructionDescriptor&,
                                   const InstructionDescriptor&) = default;
};

}  // namespace tcq::tcgen05
