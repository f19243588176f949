// The sum of kinds mxf4 and mxf4nvf4: four groups of 16 products, each scaled as a whole.
//
// Steps: a NaN scale or C decides D at once; the 16 products of a group are added exactly; the sum
// times both scale factors is one term, whose exponent is that of the scale factors alone; E = the
// largest exponent of a group that has a non-zero product and non-zero scales, and of C, at least
// the floor; every term is cut to a multiple of 2^(E - 35); one exact sum; one rounding (round.h).
// Groups hold 16 products also where a scale covers 32. Example: 1 * 1 - 1 * 1 in a group scaled by
// 2^36 sums to zero, yet it counts: E = 36, and a group that sums to 1 at scale 1 is lost.
//
// Source: MMA-Sim, arXiv 2511.10909 ("GST-FDPA"), with its tests on a B200
// Inferred: a result of zero is +0, as in every other kind.
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/num/dot_traits.h"
#include "sim/num/float_bits.h"
#include "sim/num/fused_sum.h"
#include "sim/num/round.h"
#include "sim/num/scale_bits.h"

namespace tcq::tcgen05 {

inline constexpr int group_products = 16;
inline constexpr int group_count = 4;
inline constexpr int packed_products = group_products * group_count;

// A row of A or a column of B, decoded once for all outputs that it meets.
struct PackedRow {
  std::int16_t halves[packed_products];   // elements in units of 1/2
  std::uint32_t nonzero[group_count];     // bit i: element i of the group is not zero
  std::int32_t significand[group_count];  // of the scale factor
  std::int32_t scale_exponent[group_count];
  bool nan;  // one of the scale factors is NaN
};

// An e2m1 in units of 1/2: 0, 1, 2, 3, 4, 6, 8, 12 with a sign.
HOST_DEVICE constexpr std::int16_t decode_halves(std::uint32_t word, bool negate) {
  const Decoded x = decode_float(Type::e2m1, word, negate);
  if (x.kind == Class::Zero) return 0;
  return static_cast<std::int16_t>(x.significand * (1 << x.exponent));
}

// `words` are packed_products raw elements; `scales` are bytes, one per `scale_block` elements.
HOST_DEVICE constexpr PackedRow decode_packed_row(const std::uint32_t* words, bool negate,
                                                  ScaleType scale_type, const std::uint8_t* scales,
                                                  int scale_block) {
  PackedRow row{};
  for (int i = 0; i < packed_products; ++i) {
    row.halves[i] = decode_halves(words[i], negate);
    if (row.halves[i] != 0) row.nonzero[i / group_products] |= 1u << (i % group_products);
  }
  for (int g = 0; g < group_count; ++g) {
    const Scale scale = decode_scale(scale_type, scales[g * group_products / scale_block]);
    row.significand[g] = scale.significand;
    row.scale_exponent[g] = scale.exponent;
    row.nan = row.nan || scale.nan;
  }
  return row;
}

// The exact sum of one group's products, in units of 1/4.
HOST_DEVICE constexpr std::int32_t group_sum(const PackedRow& a, const PackedRow& b, int group) {
  std::int32_t sum = 0;
  for (int i = group * group_products; i < (group + 1) * group_products; ++i)
    sum += std::int32_t{a.halves[i]} * b.halves[i];
  return sum;
}

// The exponent that alignment sees, or one below every floor if the group does not count.
HOST_DEVICE constexpr int group_exponent(const PackedRow& a, const PackedRow& b, int group) {
  if ((a.nonzero[group] & b.nonzero[group]) == 0) return zero_exponent;
  return a.scale_exponent[group] + b.scale_exponent[group];
}

// Fraction bits of a term: two of the products, and those of both scale factors.
inline constexpr int term_fraction_bits = 2 + 2 * scale_fraction_bits;

// Bit budget: a group sums to at most 16 * 12 * 12 quarters, scale factors are at most 15/8; with 35
// fraction bits four such terms and C stay below 2^49.
inline constexpr std::int64_t largest_term = std::int64_t{group_products} * 12 * 12 * 15 * 15;
static_assert(largest_term < std::int64_t{1} << 19);
static_assert(group_count * (largest_term << (35 - term_fraction_bits)) + (std::int64_t{2} << 35) <
              std::int64_t{1} << 49);

// D's bits of one output. `c` is a decoded f32, +0 without accumulation.
HOST_DEVICE constexpr std::uint32_t block_scaled_sum(const DotTraits& traits, const PackedRow& a,
                                                     const PackedRow& b, const Decoded& c) {
  SpecialSum special;
  special.nan = a.nan || b.nan;
  special.add_value(c);
  if (special.any()) return special.bits(traits.conversion);

  int max_exponent = traits.floor_exponent;
  if (c.exponent > max_exponent) max_exponent = c.exponent;
  for (int g = 0; g < group_count; ++g) {
    const int exponent = group_exponent(a, b, g);
    if (exponent > max_exponent) max_exponent = exponent;
  }
  std::int64_t sum = align(std::int64_t{c.significand}, float_format(Type::f32).fraction_bits,
                           c.exponent, traits.fraction_bits, max_exponent);
  for (int g = 0; g < group_count; ++g) {
    const std::int64_t term =
        std::int64_t{group_sum(a, b, g)} * a.significand[g] * b.significand[g];
    sum += align(term, term_fraction_bits, group_exponent(a, b, g), traits.fraction_bits,
                 max_exponent);
  }
  return round_sum(traits.conversion, sum, max_exponent - traits.fraction_bits);
}

}  // namespace tcq::tcgen05
