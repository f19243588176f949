// How many registers an instruction has where the opcode's row leaves it open: what may be left out, and vectors.
//
// Source: PTX ISA 9.2, the syntax of each; of mma.sync the fragments of 9.7.14.5
#include "sim/alu/alu.h"
#include "sim/alu/families.h"
#include "sim/isa/base/mma_fragment.h"

namespace tcq::alu {
namespace {

using ptx::Opcode;

bool takes_fragments(const ptx::Form& form, std::size_t outs, std::size_t ins) {
  const int m = form.shape[0];
  const int k = form.shape[2];
  const int width = ptx::bits(form.types[1]);
  const int d = warp_mma::d_registers(m, ptx::bits(form.types[0]));
  const int sources = warp_mma::a_registers(m, k, width) + warp_mma::b_registers(k, width) + d;
  return outs == static_cast<std::size_t>(d) && ins == static_cast<std::size_t>(sources);
}

}  // namespace

bool is_of_all_lanes(const ptx::Form& form) {
  return form.opcode == Opcode::Mma || form.opcode == Opcode::Movmatrix ||
         form.opcode == Opcode::WmmaMma;
}

bool takes(const ptx::Form& form, std::size_t outs, std::size_t ins) {
  const bool joins = form.has(ptx::Slot::BoolOp);
  switch (form.opcode) {
    case Opcode::Mma:
      if (is_sparse(form)) return takes_sparse(form, outs, ins);
      return has_mma_kind(form) ? takes_scaled(form, outs, ins) : takes_fragments(form, outs, ins);
    case Opcode::Cvt:
      if (draws_random_bits(form)) return takes_random(form, outs, ins);
      break;
    case Opcode::WmmaMma: return takes_wmma(form, outs, ins);
    case Opcode::Set: return outs == 1 && ins == (joins ? 3U : 2U);
    case Opcode::Setp: return outs <= 2 && ins == (joins ? 3U : 2U);
    case Opcode::Lop3: return outs <= (joins ? 2U : 1U) && ins == (joins ? 5U : 4U);
    case Opcode::CvtPack: return outs == 1 && ins == form.type_count;
    default: break;
  }
  return outs <= 2 && ins <= 4;
}

bool takes_source(const ptx::Form& form, std::size_t i, std::optional<std::uint64_t> constant) {
  if (form.opcode != Opcode::Mma) return true;
  if (is_sparse(form)) return takes_selector(form, i, constant);
  return !has_mma_kind(form) || !constant || takes_factor_selector(form, i, *constant);
}

}  // namespace tcq::alu
