// fused_sum() of sim/num for 16 columns at a time: the same steps on the same integers, a lane a column.
//
// fused_sum() itself makes 0.5 to 2.3 million outputs a second; runs of 10^9 need more to compare with. Nothing of
// sim/num/fast is in it: no floats, no scaling, no panels. Rounding is round_sum(), and sums with NaN or infinity
// are fused_sum()'s. fast_sums_test.cc holds it against fused_sum() in every bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/num/fused_sum.h"

namespace tcq::fast {

inline constexpr int lane_count = 16;
using Lanes = std::int32_t __attribute__((vector_size(lane_count * sizeof(std::int32_t))));

// The widest vectors that the machine has, chosen when the program is loaded.
#if defined(__x86_64__) && !defined(__clang__)
#define TCQ_WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TCQ_WIDEST_VECTORS
#endif

// Terms of 16 sums that share a row: element k of all columns, and C.
struct LaneTerms {
  std::vector<Lanes> significands;  // [k]
  std::vector<Lanes> exponents;     // [k]
  Lanes c_significands;
  Lanes c_exponents;
};

struct LaneSums {
  std::int64_t sums[lane_count];
  Lanes max_exponents;
};

// Steps 2 to 5 of fused_sum(). Requires: no specials. Bit budget: a cut term is below 2^27, eight of them below 2^30.
TCQ_WIDEST_VECTORS
static void sum_lanes(const DotTraits& traits, int product_bits, int c_bits, const Decoded* row,
                      const LaneTerms& terms, LaneSums& out) {
  const Lanes zero = {};
  const std::size_t count = terms.significands.size();
  Lanes most = zero + traits.floor_exponent;
  for (std::size_t k = 0; k < count; ++k) {
    const Lanes exponent = terms.exponents[k] + row[k].exponent;
    most = exponent > most ? exponent : most;
  }
  most = terms.c_exponents > most ? terms.c_exponents : most;
  const auto add_aligned = [&](const Lanes& value, int bits, const Lanes& exponent, Lanes& to)
      __attribute__((always_inline)) {
    const Lanes left = traits.fraction_bits - bits - (most - exponent);
    const Lanes up = left > 0 ? left : zero;
    const Lanes right = -left;
    const Lanes down = left > 0 ? zero : right > 31 ? zero + 31 : right;
    const Lanes size = value < 0 ? -value : value;
    const Lanes cut = size << up >> down;
    to += value < 0 ? -cut : cut;
  };
  Lanes part = zero;
  add_aligned(terms.c_significands, c_bits, terms.c_exponents, part);
  for (int i = 0; i < lane_count; ++i) out.sums[i] = part[i];
  for (std::size_t k = 0; k < count; k += 8) {
    part = zero;
    for (std::size_t j = k; j < std::min(k + 8, count); ++j)
      add_aligned(terms.significands[j] * row[j].significand, product_bits,
                  terms.exponents[j] + row[j].exponent, part);
    for (int i = 0; i < lane_count; ++i) out.sums[i] += part[i];
  }
  out.max_exponents = most;
}

}  // namespace tcq::fast
