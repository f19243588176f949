// Which family computes an opcode.
#include "sim/alu/alu.h"

#include "sim/alu/families.h"
#include "sim/ptx/video.h"

namespace tcq::alu {
namespace {

using ptx::Opcode;

// The first family that knows the form.
Evaluate arithmetic(const ptx::Form& form) {
  if (form.has(ptx::Flag::Cc)) return carry_operation(form);
  for (const auto family : {integer_operation, float_operation, float_order_operation,
                            half_operation, double_operation})
    if (const Evaluate found = family(form)) return found;
  return nullptr;
}

Operation convert(const ptx::Form& form) {
  if (draws_random_bits(form)) return convert_random_operation(form);
  const Evaluate between_integers = convert_operation(form);
  return between_integers != nullptr ? Operation{between_integers} : convert_float_operation(form);
}

Evaluate find(const ptx::Form& form) {
  switch (form.opcode) {
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul:
    case Opcode::Mad:
    case Opcode::Fma:
    case Opcode::Div:
    case Opcode::Rem:
    case Opcode::Rcp:
    case Opcode::Sqrt:
    case Opcode::Min:
    case Opcode::Max:
    case Opcode::Neg:
    case Opcode::Abs:
    case Opcode::Copysign:
    case Opcode::Sad:
    case Opcode::Mul24:
    case Opcode::Mad24:
    case Opcode::Dp2a:
    case Opcode::Dp4a: return arithmetic(form);
    case Opcode::Addc:
    case Opcode::Subc:
    case Opcode::Madc: return carry_operation(form);
    case Opcode::And:
    case Opcode::Or:
    case Opcode::Xor:
    case Opcode::Not:
    case Opcode::Cnot:
    case Opcode::Shl:
    case Opcode::Shr:
    case Opcode::Shf:
    case Opcode::Lop3: return logic_operation(form);
    case Opcode::Bfe:
    case Opcode::Bfi:
    case Opcode::Bfind:
    case Opcode::Bmsk:
    case Opcode::Brev:
    case Opcode::Clz:
    case Opcode::Fns:
    case Opcode::Popc:
    case Opcode::Prmt:
    case Opcode::Szext: return bit_operation(form);
    case Opcode::Set:
    case Opcode::Setp:
    case Opcode::Testp: return compare_operation(form);
    case Opcode::Mov:
    case Opcode::Selp:
    case Opcode::Slct: return select_operation(form);
    case Opcode::Shfl:
    case Opcode::ShflSync:
    case Opcode::Vote:
    case Opcode::VoteSync:
    case Opcode::MatchSync:
    case Opcode::ReduxSync:
    case Opcode::Activemask:
    case Opcode::ElectSync: return warp_operation(form);
    default: return nullptr;
  }
}

}  // namespace

Operation operation(const ptx::Form& form) {
  if (form.has(ptx::Slot::Precision)) return {approximate_operation(form)};
  if (form.opcode == Opcode::Cvt) return convert(form);
  if (form.opcode == Opcode::Mma && is_sparse(form)) return sparse_product(form);
  if (form.opcode == Opcode::Mma && has_mma_kind(form)) return scaled_product(form);
  if (form.opcode == Opcode::Mma || form.opcode == Opcode::Movmatrix)
    return {matrix_operation(form)};
  if (form.opcode == Opcode::WmmaMma) return wmma_product(form);
  if (form.opcode == Opcode::CvtPack || ptx::is_video(form.opcode)) return video_operation(form);
  return {find(form)};
}

}  // namespace tcq::alu
