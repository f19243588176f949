// What the sums of one instruction depend on, wgmma or tcgen05.mma: all that the engines know of it.
//
// Constants come from sim/num/dot_traits.h. Block-scaled kinds with 4-bit elements sum otherwise
// (sim/num/block_scaled_sum.h) and have no Instruction. Example: wgmma of bf16 onto f32 has 16
// products, 25 fraction bits and rounds toward zero.
#pragma once

#include "sim/isa/base/element.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/num/dot.h"
#include "sim/num/dot_traits.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::fast {

struct Instruction {
  DotTypes types;
  int products = 0;       // of one sum: stored elements along K
  DotTraits traits = {};  // of floats
  bool negate_a = false;
  bool negate_b = false;
  bool saturate = false;  // integers, after every instruction
  int scale_c = 0;        // C of the first instruction counts as C * 2^-scale_c
};

// Requires: types that exist, b1 not among them.
constexpr Instruction wgmma_instruction(const DotTypes& types) {
  Instruction out{types, wgmma::stored_k(types.a)};
  if (is_float(types.a)) out.traits = wgmma_dot_traits(types.d, types.a);
  return out;
}

// Requires: types that the kind has; a kind that is not packed.
constexpr Instruction tcgen05_instruction(tcgen05::Kind kind, const DotTypes& types) {
  Instruction out{types, tcgen05::products(kind)};
  if (is_float(types.a)) out.traits = tcgen05_dot_traits(kind, types.d);
  return out;
}

}  // namespace tcq::fast
