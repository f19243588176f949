#include "sim/async/operand_origin.h"

namespace tcq::machine {

std::optional<TensorElement> WrittenTile::element_at(std::uint32_t address) const {
  // The XOR leaves the address bits alone that it depends on: it is its own inverse.
  const std::uint32_t linear = shape_.swizzle.apply(address);
  if (linear < shape_.begin) return std::nullopt;
  const std::uint32_t offset = linear - shape_.begin;
  return TensorElement{first_.col + offset % shape_.pitch / shape_.element_bytes,
                       first_.row + std::int64_t{offset / shape_.pitch} * shape_.row_step};
}

OriginCheck::OriginCheck(const wgmma::Instruction& op, Operand which) {
  const wgmma::Form& f = op.form;
  const bool is_a = which == Operand::A;
  k_major_ = (is_a ? f.major_a : f.major_b) == Major::K;
  width_bits_ = bits(is_a ? f.a : f.b);
  chunk_length_ = 8 * operand_chunk_bytes / width_bits_;
  line_length_ =
      k_major_ ? wgmma::stored_k(f.a) * (!is_a && f.sparse ? 2 : 1) : (is_a ? wgmma::m : f.n);
}

std::optional<Scrambled> OriginCheck::next(std::uint32_t address,
                                           const std::optional<TensorElement>& element) {
  const std::int64_t line = line_;
  const std::int64_t along = along_;
  along_ += chunk_length_;
  if (along_ == line_length_) {
    along_ = 0;
    ++line_;
  }
  if (!element) return std::nullopt;
  if (!origin_) {
    origin_ = TensorElement{element->col - along, element->row - line};
    return std::nullopt;
  }
  const TensorElement expected{origin_->col + along, origin_->row + line};
  if (*element == expected) return std::nullopt;
  return Scrambled{address, k_major_ ? line : along, k_major_ ? along : line, *element, expected};
}

}  // namespace tcq::machine
