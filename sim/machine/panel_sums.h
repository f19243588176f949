// Many chains of wgmmas side by side: one row of A times a panel of 16 columns of B, the bits of
// sim/num/fused_sum.h at the speed of vectors.
//
// For whole matrices (oracle/gemm_reference): f16, bf16 and tf32 onto f32, and integers of 8 bits,
// without infinities and NaNs, which the caller gives to dot() of sim/num/dot.h. Rows and panels are
// decoded once, by small_of().
// Example: a row {2.0} and a panel {3.0, 0, ...} of bf16 give {0x40c00000, 0, ...}.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/isa/base/element.h"

namespace tcq::sums {

constexpr int lanes = 16;  // columns of a panel
using Sums = std::array<std::uint32_t, lanes>;

// Elements of a row of A, or of a panel of B: element k of column j at k * lanes + j. Of floats,
// significand and exponent (zero_exponent where there is nothing), of integers the value.
struct Line {
  std::vector<std::int16_t> significands;
  std::vector<std::int16_t> exponents;
  bool special = false;  // an infinity or a NaN is among them
};

struct Small {
  std::int16_t significand;
  std::int16_t exponent;
  bool special;
};
Small small_of(Type type, std::uint32_t word);

// The chain of instructions over k in [first, first + length), from zero; bits of f32.
// Requires: type is f16, bf16 or tf32; nothing special in row or panel.
Sums chain(Type type, const Line& row, const Line& panel, std::int64_t first, std::int64_t length);

// The sums over k in [0, k), modulo 2^32; bits of s32.
Sums integer_chain(const Line& row, const Line& panel, std::int64_t k);

}  // namespace tcq::sums
