// tcgen05.mma: one function template for every form.
//
// tcgen05_mma<Form>(operands) issues exactly the instruction that the Form names, from one thread.
// A Form reads only the operands it has; the assembler drops the rest. Example:
//
//   constexpr tcgen05::MmaForm form{{.kind = tcgen05::Kind::f16}};
//   ptx::tcgen05_mma<form>({.d = d, .desc_a = a, .desc_b = b, .idesc = idesc});
//
// No device of compute capability 10 was at hand: all this has been compiled, not run.
// Source: PTX ISA 9.2, 9.7.16.10.9 "tcgen05.mma instructions".
#pragma once

#include <cstdint>

#include "cuda/ptx/tcgen05.cuh"

namespace tcq::ptx {

// D = A * B, plus D (times 2 to the minus ScaleInputD) if `accumulate`.
template <tcgen05::MmaForm F, int ScaleInputD = 0>
__device__ __forceinline__ void tcgen05_mma(const Tcgen05MmaOperands& o) {
  static_assert(tcgen05::check(F) == Fault::None,
                "no such tcgen05.mma; tcgen05::check(F) says why");
  static_assert(immediate_exists(F, ScaleInputD),
                "scale-input-d is in [0, 15], if the form has it");
  asm volatile(
      "{\n.reg .pred accumulate;\n.reg .b32 d, a, metadata, idesc, scale_a, scale_b;\n"
      ".reg .b32 l0, l1, l2, l3, l4, l5, l6, l7;\n.reg .b64 desc_a, desc_b, zero_mask;\n"
      "setp.ne.b32 accumulate, %0, 0;\n"
      "mov.b32 d, %1;\nmov.b32 a, %2;\nmov.b32 metadata, %3;\nmov.b32 idesc, %4;\n"
      "mov.b32 scale_a, %5;\nmov.b32 scale_b, %6;\n"
      "mov.b64 desc_a, %7;\nmov.b64 desc_b, %8;\nmov.b64 zero_mask, %9;\n"
      "mov.b32 l0, %10;\nmov.b32 l1, %11;\nmov.b32 l2, %12;\nmov.b32 l3, %13;\n"
      "mov.b32 l4, %14;\nmov.b32 l5, %15;\nmov.b32 l6, %16;\nmov.b32 l7, %17;\n"
      "%18%19\n}\n" ::"r"(static_cast<std::uint32_t>(o.accumulate)),
      "r"(o.d), "r"(o.a), "r"(o.metadata), "r"(o.idesc), "r"(o.scale_a), "r"(o.scale_b),
      "l"(o.desc_a), "l"(o.desc_b), "l"(o.zero_column_mask), "r"(o.disable_output_lane[0]),
      "r"(o.disable_output_lane[1]), "r"(o.disable_output_lane[2]), "r"(o.disable_output_lane[3]),
      "r"(o.disable_output_lane[4]), "r"(o.disable_output_lane[5]), "r"(o.disable_output_lane[6]),
      "r"(o.disable_output_lane[7]), "C"(detail::Opcode<F>::text),
      "C"(detail::Whole<F, ScaleInputD>::text)
      : "memory");
}

}  // namespace tcq::ptx
