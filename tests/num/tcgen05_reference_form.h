// A DotForm of the simulator as the second implementation wants it: names instead of enumerators.
#pragma once

#include "sim/num/tcgen05_dot.h"
#include "tests/num/reference_tcgen05.h"

namespace tcq::tcgen05 {

inline reference::BlackwellSpec reference_spec(const DotForm& form) {
  const InstructionDescriptor& idesc = form.idesc;
  const ScaleVec v = form.opcode.scale_vec;
  return {.kind = name(form.opcode.kind),
          .d = reference::internal::parse(name(idesc.d)),
          .a = reference::internal::parse(name(idesc.a)),
          .b = reference::internal::parse(name(idesc.b)),
          .ue4m3 = idesc.scale_type == ScaleType::ue4m3,
          .scale_block = v == ScaleVec::X4 || v == ScaleVec::Block16 ? 16 : 32};
}

inline reference::BlackwellOptions reference_options(const DotForm& form) {
  return {.accumulate = form.accumulate,
          .negate_a = form.idesc.negate_a,
          .negate_b = form.idesc.negate_b,
          .saturate = form.idesc.saturate,
          .scale_input_d = form.scale_input_d};
}

}  // namespace tcq::tcgen05
