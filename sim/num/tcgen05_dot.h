// One output element of tcgen05.mma from raw element bits: the front door of its arithmetic.
//
// dot() decodes, scales, sums and rounds one output of any kind: f16, tf32, f8f6f4 and mxf8f6f4
// through fused_sum.h (scale factors of mxf8f6f4 only add to exponents), mxf4 and mxf4nvf4 through
// block_scaled_sum.h, i8 exactly. Which forms exist is decided elsewhere; how sure an answer is,
// tcgen05_evidence.h. Whoever computes many outputs decodes rows and columns once
// (sim/machine/tcgen05_mma.cc does). Example: mxf8f6f4 of e4m3, one product 38 * 38 = 1, scales 7f
// and 80, C = 0 gives 40000000 = 2.
//
// Source: PTX ISA 9.2, 9.7.16.10.7 "Block scaling", 9.7.16.10.9 "tcgen05.mma instructions"
// (scale-input-d); MMA-Sim, arXiv 2511.10909
// Inferred: scale-input-d subtracts from the exponent of C before alignment, without rounding;
// sparse forms sum the stored products as dense ones. A run on a B200 would refute either.
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/num/block_scaled_sum.h"
#include "sim/num/dot.h"
#include "sim/num/dot_traits.h"
#include "sim/num/fused_sum.h"
#include "sim/num/scale_bits.h"

namespace tcq::tcgen05 {

// What the numbers of one tcgen05.mma depend on.
struct DotForm {
  MmaOpcode opcode;
  InstructionDescriptor idesc;
  bool accumulate = true;  // enable-input-d; false: C counts as +0, whatever its bits
  int scale_input_d = 0;   // C counts as C * 2^-scale_input_d

  friend constexpr bool operator==(const DotForm&, const DotForm&) = default;
};

// Products in one sum = stored elements of a row of A, dense and sparse; K = 96 is not summed here.
HOST_DEVICE constexpr int products(Kind kind) { return stored_k({kind}, {}); }
inline constexpr int most_products = packed_products;
static_assert(products(Kind::mxf4) == packed_products);

// Scale factors of a row of A or a column of B; 0 for kinds without.
HOST_DEVICE constexpr int scale_count(const MmaOpcode& opcode) { return scale_factors(opcode, {}); }

// Faults: UnmodelledK96.
HOST_DEVICE constexpr Fault check_modelled(const DotForm& form) {
  return form.idesc.k96 ? Fault::UnmodelledK96 : Fault::None;
}

// Raw bits in the low part of each word (tf32: the whole word): products(kind) elements of A and B,
// scale_count() scale factors each.
struct DotOperands {
  const std::uint32_t* a;
  const std::uint32_t* b;
  std::uint32_t c;
  const std::uint8_t* scales_a = nullptr;
  const std::uint8_t* scales_b = nullptr;
};

// C as a term of the sum.
HOST_DEVICE constexpr Decoded decode_input_d(const DotForm& form, std::uint32_t c) {
  Decoded x = decode_c(form.idesc.d, c, form.accumulate);
  x.exponent = static_cast<std::int16_t>(x.exponent - form.scale_input_d);
  return x;
}

// The scale of a whole row where a scale factor covers it; 1 for kinds without.
HOST_DEVICE constexpr Scale row_scale(const DotForm& form, const std::uint8_t* scales) {
  if (form.opcode.kind != Kind::mxf8f6f4) return {1 << scale_fraction_bits, 0, false};
  return decode_scale(ScaleType::ue8m0, scales[0]);
}

HOST_DEVICE constexpr std::uint32_t integer_dot(const DotForm& form, const DotOperands& in) {
  std::int64_t sum = form.accumulate ? decode_integer(Type::s32, in.c) : 0;
  for (int i = 0; i < products(form.opcode.kind); ++i)
    sum += decode_integer(form.idesc.a, in.a[i]) * decode_integer(form.idesc.b, in.b[i]);
  return finish_integer(sum, form.idesc.saturate);
}

HOST_DEVICE constexpr std::uint32_t packed_dot(const DotForm& form, const DotOperands& in) {
  const InstructionDescriptor& idesc = form.idesc;
  const int block = scale_block(form.opcode);
  return block_scaled_sum(
      tcgen05_dot_traits(form.opcode.kind, idesc.d),
      decode_packed_row(in.a, idesc.negate_a, idesc.scale_type, in.scales_a, block),
      decode_packed_row(in.b, idesc.negate_b, idesc.scale_type, in.scales_b, block),
      decode_input_d(form, in.c));
}

HOST_DEVICE constexpr std::uint32_t unpacked_dot(const DotForm& form, const DotOperands& in) {
  const InstructionDescriptor& idesc = form.idesc;
  const DotTraits traits = tcgen05_dot_traits(form.opcode.kind, idesc.d);
  const Scale scale_a = row_scale(form, in.scales_a);
  const Scale scale_b = row_scale(form, in.scales_b);
  if (scale_a.nan || scale_b.nan) return nan_bits(traits.conversion);
  Decoded rows[most_products] = {};
  Decoded cols[most_products] = {};
  const int count = products(form.opcode.kind);
  for (int i = 0; i < count; ++i) {
    rows[i] = scaled(decode_float(idesc.a, in.a[i], idesc.negate_a), scale_a);
    cols[i] = scaled(decode_float(idesc.b, in.b[i], idesc.negate_b), scale_b);
  }
  return fused_sum(traits, idesc.d, idesc.a, idesc.b, rows, cols, count,
                   decode_input_d(form, in.c));
}

// Requires: types and options that the kind has; check_modelled(form) == Fault::None.
HOST_DEVICE constexpr std::uint32_t dot(const DotForm& form, const DotOperands& in) {
  if (form.opcode.kind == Kind::i8) return integer_dot(form, in);
  return is_packed_4bit(form.opcode.kind) ? packed_dot(form, in) : unpacked_dot(form, in);
}

}  // namespace tcq::tcgen05
