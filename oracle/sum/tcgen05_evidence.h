// How sure an answer about the numbers of tcgen05.mma is, and why.
//
// No tcgen05 chip has been asked by this project: nothing here is measured. Every Reason that
// applies to a form has a grade and a sentence; the form's own grade is the weakest of them. Negated
// operands and enable-input-d add no doubt: PTX defines both, and every way to negate gives the same
// bits. Example: kind f8f6f4 of e4m3 and e4m3 is Published; of e4m3 and e2m1, or with .sp, Inferred.
//
// Source: MMA-Sim, arXiv 2511.10909, with its tests on a B200; PTX ISA 9.2, 9.7.16.10.9
// "tcgen05.mma instructions" (integers)
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::tcgen05 {

// From sure to not at all.
enum class Evidence : std::uint8_t {
  Published,   // measured by others on a B200, and their results published
  Documented,  // defined by the PTX manual
  Inferred,    // a model of what nobody has published
  Unmodelled,  // no answer
};

HOST_DEVICE constexpr const char* name(Evidence evidence) {
  switch (evidence) {
    case Evidence::Published: return "published";
    case Evidence::Documented: return "documented";
    case Evidence::Inferred: return "inferred";
    case Evidence::Unmodelled: return "unmodelled";
  }
  return "?";
}

enum class Reason : std::uint8_t {
  MeasuredByOthers,
  ExactIntegers,
  NarrowOperands,
  F16Floor,
  Sparse,
  WeightStationary,
  CtaPair,
  TensorMemoryA,
  ScaledC,
  K96,
};
inline constexpr int reason_count = static_cast<int>(Reason::K96) + 1;

HOST_DEVICE constexpr Evidence grade(Reason reason) {
  switch (reason) {
    case Reason::MeasuredByOthers: return Evidence::Published;
    case Reason::ExactIntegers: return Evidence::Documented;
    case Reason::K96: return Evidence::Unmodelled;
    default: return Evidence::Inferred;
  }
}

HOST_DEVICE constexpr const char* sentence(Reason reason) {
  switch (reason) {
    case Reason::MeasuredByOthers:
      return "the authors of MMA-Sim (arXiv 2511.10909) held this sum against a B200, with "
             "cta_group::1, M 64 and 128, N 8";
    case Reason::ExactIntegers:
      return "PTX defines integer sums; nobody has published what overflow does on the chip";
    case Reason::NarrowOperands:
      return "e4m3 * e4m3 and e5m2 * e5m2 alone were measured: that other operands keep the "
             "smallest "
             "exponent of their subnormals is inferred";
    case Reason::F16Floor:
      return "the floor of the alignment exponent for D = f16 is Hopper's, -21; it decides results "
             "near 2^-24 only";
    case Reason::Sparse:
      return "sparse forms are taken to sum the stored products as dense forms do";
    case Reason::WeightStationary: return ".ws is taken to change no result";
    case Reason::CtaPair: return "cta_group::2 is taken to change no result";
    case Reason::TensorMemoryA: return "A in Tensor Memory is taken to change no result";
    case Reason::ScaledC:
      return "scale-input-d is taken to lower the exponent of C before alignment, without rounding";
    case Reason::K96: return "nobody has published how the 96 products of K = 96 are grouped";
  }
  return "?";
}

// True if the measurements of the kind covered these operand types.
HOST_DEVICE constexpr bool operands_were_measured(const DotForm& form) {
  const Kind kind = form.opcode.kind;
  if (kind != Kind::f8f6f4 && kind != Kind::mxf8f6f4) return true;
  return is_fp8(form.idesc.a) && form.idesc.a == form.idesc.b;
}

HOST_DEVICE constexpr bool applies(Reason reason, const DotForm& form) {
  const MmaOpcode& opcode = form.opcode;
  const bool is_integer = opcode.kind == Kind::i8;
  switch (reason) {
    case Reason::MeasuredByOthers:
      return !is_integer && !form.idesc.k96 && operands_were_measured(form);
    case Reason::ExactIntegers: return is_integer;
    case Reason::NarrowOperands: return !operands_were_measured(form);
    // Products of narrower operands never reach the floor.
    case Reason::F16Floor: return opcode.kind == Kind::f16 && form.idesc.d == Type::f16;
    case Reason::Sparse: return opcode.sparse;
    case Reason::WeightStationary: return opcode.ws;
    case Reason::CtaPair: return opcode.cta_group == 2;
    case Reason::TensorMemoryA: return opcode.a_place == Place::Tmem;
    case Reason::ScaledC: return form.scale_input_d != 0;
    case Reason::K96: return form.idesc.k96;
  }
  return false;
}

// The weakest grade of all reasons that apply.
HOST_DEVICE constexpr Evidence evidence(const DotForm& form) {
  Evidence weakest = Evidence::Published;
  for (int i = 0; i < reason_count; ++i) {
    const auto reason = static_cast<Reason>(i);
    if (applies(reason, form) && grade(reason) > weakest) weakest = grade(reason);
  }
  return weakest;
}

}  // namespace tcq::tcgen05
