#include "tools/bench_codes.h"

#include "cuda/gemm/check.h"
#include "sim/isa/base/element.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tmem/scale_layout.h"
#include "sim/num/inputs/draw.h"

namespace tcq::tools {
namespace {

// ue8m0: 2^-3 to 2^3, the bias is 127; ue4m3: 0.125 to 8, the bias is 7 of 3 bits of fraction.
std::uint8_t drawn_code(gemm::BlockScaling scaling, Draw& draw) {
  const bool ue8m0 = scaling == gemm::BlockScaling::Ue8m0Block32;
  return static_cast<std::uint8_t>(ue8m0 ? draw.in(124, 130) : draw.in(8 * 4, 8 * 10));
}

}  // namespace

std::int64_t codes_along_k(const gemm::Problem& p) {
  const tcgen05::ScaleVec vec = gemm::scale_vec_of(p);
  const int block =
      tcgen05::scale_block({.kind = tcgen05::kind_with_factors(p.in, vec), .scale_vec = vec});
  return gemm::round_up_quotient(p.k, block);
}

std::vector<std::uint8_t> drawn_codes(const gemm::Problem& p, std::int64_t lines,
                                      std::uint64_t seed) {
  const int bytes =
      tcgen05::scale_bytes(static_cast<int>(lines), static_cast<int>(codes_along_k(p)));
  std::vector<std::uint8_t> atoms(static_cast<std::size_t>(bytes));
  Draw draw(seed);
  for (std::uint8_t& code : atoms) code = drawn_code(p.block_scaling, draw);
  return atoms;
}

std::vector<std::uint8_t> codes_of(const gemm::Problem& p, const std::vector<std::uint8_t>& atoms,
                                   const std::vector<std::int64_t>& lines) {
  const auto along = static_cast<int>(codes_along_k(p));
  std::vector<std::uint8_t> out;
  for (const std::int64_t line : lines)
    for (int s = 0; s < along; ++s)
      out.push_back(
          atoms[static_cast<std::size_t>(tcgen05::scale_byte({static_cast<int>(line), s}, along))]);
  return out;
}

std::vector<std::uint8_t> unpacked(const std::vector<std::uint8_t>& pairs) {
  std::vector<std::uint8_t> out;
  for (const std::uint8_t pair : pairs)
    for (int part = 0; part < 2; ++part)
      out.push_back(static_cast<std::uint8_t>(register_part(Type::e2m1, pair, part)));
  return out;
}

}  // namespace tcq::tools
