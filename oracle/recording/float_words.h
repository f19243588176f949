// Words of floats of any format that tell roundings, limits and NaN apart.
//
// Decides what is drawn of one value, or beside the one before it; which source gets which: scalar_sources.h. Example:
// special_floats(f16_words) begins with 0, 1, 0x200, 0x3ff, 0x400.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/num/inputs/draw.h"

namespace tcq::oracle {

// The low `count` bits set.
constexpr std::uint64_t low_word(int count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

std::uint64_t word64(Draw& draw);

struct FloatWords {
  int exponent_bits, fraction_bits;

  int bias() const { return static_cast<int>(low_word(exponent_bits - 1)); }
  int width() const { return 1 + exponent_bits + fraction_bits; }
  std::uint64_t fraction() const { return low_word(fraction_bits); }
  std::uint64_t sign() const { return std::uint64_t{1} << (width() - 1); }
  std::uint64_t infinity() const { return low_word(exponent_bits) << fraction_bits; }
  std::uint64_t one() const { return static_cast<std::uint64_t>(bias()) << fraction_bits; }
  // Of an exponent that may be out of range; then the nearest that is not.
  std::uint64_t at(int exponent) const {
    const int field = std::clamp(exponent + bias(), 0, (1 << exponent_bits) - 1);
    return static_cast<std::uint64_t>(field) << fraction_bits;
  }
};
inline constexpr FloatWords f16_words = {5, 10}, bf16_words = {8, 7}, f32_words = {8, 23},
                            f64_words = {11, 52};

// Zeros, limits of the subnormal and normal numbers, 1 and its neighbours, infinities, NaN: of both signs.
std::vector<std::uint64_t> special_floats(const FloatWords& f);
std::uint64_t draw_float(const FloatWords& f, Draw& draw);
// Of the value before it: equal, its opposite, a neighbour, or of an exponent near it.
std::uint64_t related_float(const FloatWords& f, std::uint64_t x, Draw& draw);
// The opposite of x y, cut: what is left of the sum of all three is what a single rounding shows.
std::uint64_t cancelling(const FloatWords& f, std::uint64_t x, std::uint64_t y, Draw& draw);
// y such that the product, or the quotient, with x lies at the least normal number or at the largest.
std::uint64_t at_a_limit(const FloatWords& f, std::uint64_t x, bool divides, Draw& draw);

}  // namespace tcq::oracle
