#include "sim/async/operand_origin.h"

namespace tcq::machine {

std::optional<TensorElement> element_at(const tma::TensorMap& map, const tma::Coordinates& start,
                                        std::uint32_t tile, std::uint32_t address) {
  if (map.rank != 2) return std::nullopt;
  // The XOR leaves the address bits alone that it depends on: it is its own inverse.
  const std::uint32_t linear = swizzle_function(map.swizzle).apply(address);
  if (linear < tile) return std::nullopt;
  const std::uint32_t pitch = tma::row_pitch_bytes(map);
  const std::uint32_t offset = linear - tile;
  return TensorElement{start.at[0] + offset % pitch / tma::element_bytes(map.type),
                       start.at[1] + std::int64_t{offset / pitch} * map.element_strides[1]};
}

OriginCheck::OriginCheck(const wgmma::Instruction& op, Operand which) {
  const wgmma::Form& f = op.form;
  const bool is_a = which == Operand::A;
  k_major_ = (is_a ? f.major_a : f.major_b) == Major::K;
  width_bits_ = bits(is_a ? f.a : f.b);
  constexpr std::int64_t chunk_bits = 128;
  const std::int64_t line =
      k_major_ ? wgmma::stored_k(f.a) * (!is_a && f.sparse ? 2 : 1) : (is_a ? wgmma::m : f.n);
  chunks_per_line_ = line * width_bits_ / chunk_bits;
}

std::optional<Scrambled> OriginCheck::next(std::uint32_t address,
                                           const std::optional<TensorElement>& element) {
  const std::int64_t line = index_ / chunks_per_line_;
  const std::int64_t along = index_ % chunks_per_line_ * 128 / width_bits_;
  ++index_;
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
