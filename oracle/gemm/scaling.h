// Which factors a product has: the words of `tcq gemm --scaling`, and of a plan's line `factors:`.
//
// Decides names only; what lies in their files is factors.h's. f32 factors multiply sums of any instruction; those of
// 16 or 32 of K, a byte each, are operands of block-scaled tcgen05.mma (kinds mxf8f6f4, mxf4, mxf4nvf4). Example:
// "block_128"; "ue4m3_block16" is what NVFP4 has.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/isa/base/tcgen05_kind.h"

namespace tcq::oracle::gemm {

enum class Scaling : std::uint8_t {
  None,
  Tensor,
  RowColumn,
  Block128,
  Vector128,
  Ue8m0Block32,
  Ue8m0Block16,
  Ue4m3Block16
};

struct ScalingWords {
  std::string_view option;
  std::string_view plan;  // as describe() of cuda/gemm/gemm.h says it; empty: no plan has them
};

// By Scaling.
inline constexpr std::array<ScalingWords, 8> scaling_words = {{
    {"none", "none"},
    {"tensor", "one of A, one of B"},
    {"row_column", "of each row of A and each column of B"},
    {"block_128", "of 128 of K, of each row of A and of 128 columns of B"},
    {"vector_128", "of 128 of K, of each row of A and each column of B"},
    {"ue8m0_block32", ""},
    {"ue8m0_block16", ""},
    {"ue4m3_block16", ""},
}};

constexpr std::string_view name(Scaling scaling) {
  return scaling_words[static_cast<std::size_t>(scaling)].option;
}

// f32 factors of 128 of K each.
constexpr bool scales_blocks(Scaling scaling) {
  return scaling == Scaling::Block128 || scaling == Scaling::Vector128;
}

// Those of block-scaled instructions.
constexpr bool is_block_scaled(Scaling scaling) { return scaling >= Scaling::Ue8m0Block32; }

// Of them: what a factor's byte means, and how PTX says how many of K it covers.
constexpr tcgen05::ScaleType scale_type(Scaling scaling) {
  return scaling == Scaling::Ue4m3Block16 ? tcgen05::ScaleType::ue4m3 : tcgen05::ScaleType::ue8m0;
}
constexpr tcgen05::ScaleVec scale_vec(Scaling scaling) {
  return scaling == Scaling::Ue8m0Block32 ? tcgen05::ScaleVec::Block32 : tcgen05::ScaleVec::Block16;
}
constexpr int scale_block(Scaling scaling) { return scaling == Scaling::Ue8m0Block32 ? 32 : 16; }

}  // namespace tcq::oracle::gemm
