// Pairs of floating-point elements that tell rival rules of a reduction apart.
//
// Two supplies for reduce_float.h: 64 special values of every format, to be met with each other,
// and random pairs near each other, near ties and near the ends of the format. Uniform bits would
// hardly meet a tie, a subnormal or a NaN. Example: special values 18 and 32 of f16 are 0x3c00 (1)
// and 0x8000 (-0).
//
// Inferred: nothing here is a fact about hardware; tests/machine/reduce_float_test.cc demands that
// every rival rule is told apart.
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/num/inputs/draw.h"
#include "sim/num/reduce_float.h"

namespace tcq {

inline constexpr int special_float_count = 64;

enum class FloatClass : std::uint8_t { Zero, Subnormal, Normal, Infinite, QuietNan, SignallingNan };

HOST_DEVICE constexpr FloatClass float_class(FloatLayout layout, std::uint64_t x) {
  const std::uint64_t magnitude = detail::magnitude(layout, x);
  if (magnitude == 0) return FloatClass::Zero;
  if (magnitude < layout.hidden_bit()) return FloatClass::Subnormal;
  if (magnitude < layout.infinity()) return FloatClass::Normal;
  if (magnitude == layout.infinity()) return FloatClass::Infinite;
  return (magnitude & layout.quiet_bit()) != 0 ? FloatClass::QuietNan : FloatClass::SignallingNan;
}

namespace detail {

// Fields of a positive special value.
struct SpecialFields {
  int exponent;
  std::uint64_t fraction;
};

HOST_DEVICE constexpr SpecialFields special_fields(FloatLayout layout, int index) {
  const int one = (1 << (layout.exponent_bits - 1)) - 1;
  const int top = 2 * one;                              // of the largest finite value
  const int half_ulp = one - layout.fraction_bits - 1;  // of 1
  const int top_half_ulp = top - layout.fraction_bits - 1;
  const std::uint64_t ones = layout.hidden_bit() - 1;
  const std::uint64_t half = layout.quiet_bit();
  switch (index) {
    case 0: return {0, 0};
    case 1: return {0, 1};
    case 2: return {0, half - 1};
    case 3: return {0, half};
    case 4: return {0, ones};
    case 5: return {1, 0};
    case 6: return {1, 1};
    case 7: return {1, ones};
    case 8: return {2, 0};
    case 9: return {half_ulp, 0};
    case 10: return {half_ulp, 1};
    case 11: return {half_ulp - 1, ones};
    case 12: return {half_ulp + 1, 0};
    case 13: return {half_ulp + 1, half};
    case 14: return {half_ulp - 1, 0};
    case 15: return {one - 1, 0};
    case 16: return {one - 1, half};
    case 17: return {one - 1, ones};
    case 18: return {one, 0};
    case 19: return {one, 1};
    case 20: return {one, half};
    case 21: return {one, ones};
    case 22: return {one + 1, 0};
    case 23: return {one + 1, 1};
    case 24: return {top_half_ulp, 0};
    case 25: return {top_half_ulp - 1, ones};
    case 26: return {top, 0};
    case 27: return {top, ones};
    case 28: return {top + 1, 0};
    case 29: return {top + 1, half};
    case 30: return {top + 1, 1};
    default: return {top + 1, half + 5};
  }
}

}  // namespace detail

// Zeros, subnormals, ties, the largest values, infinities, quiet and signalling NaN; from 32 on the
// same with a minus sign. Shape: index [0, special_float_count).
HOST_DEVICE constexpr std::uint64_t special_float(FloatLayout layout, int index) {
  const int negative_from = special_float_count / 2;
  const detail::SpecialFields fields = detail::special_fields(layout, index % negative_from);
  const std::uint64_t bits =
      (static_cast<std::uint64_t>(fields.exponent) << layout.fraction_bits) | fields.fraction;
  return index >= negative_from ? layout.sign_bit() | bits : bits;
}

// Two numbers to be reduced.
class DrawnPair {
 public:
  HOST_DEVICE constexpr DrawnPair(FloatLayout layout, std::uint64_t key)
      : layout_(layout), draw_(key) {
    const int fields = 1 << layout.exponent_bits;
    const int near = layout.fraction_bits + 3;
    int a = draw_.in(1, fields - 2);
    if (draw_.one_in(4)) a = draw_.in(0, 3);
    if (draw_.one_in(8)) a = fields - 2 - draw_.below(2);
    int b = a - draw_.in(0, near);
    if (draw_.one_in(4)) b = a - draw_.in(0, 1);
    if (b < 0) b = 0;
    old_ = number(a);
    tile_ = number(b);
    if (draw_.one_in(8)) tile_ = (old_ ^ layout.sign_bit()) + static_cast<std::uint64_t>(near) / 4;
    if (draw_.one_in(2)) {
      const std::uint64_t old = old_;
      old_ = tile_;
      tile_ = old;
    }
  }

  HOST_DEVICE constexpr std::uint64_t old() const { return old_; }
  HOST_DEVICE constexpr std::uint64_t tile() const { return tile_; }

 private:
  HOST_DEVICE constexpr std::uint64_t number(int field) {
    const std::uint64_t ones = layout_.hidden_bit() - 1;
    const std::uint64_t random = (std::uint64_t{draw_.word()} << 32 | draw_.word()) & ones;
    std::uint64_t fraction = random;
    const int shape = draw_.below(6);
    if (shape == 0) fraction = 0;
    if (shape == 1) fraction = ones;
    if (shape == 2) fraction = std::uint64_t{1} << draw_.below(layout_.fraction_bits);
    if (shape == 3) fraction = random & (ones << draw_.below(layout_.fraction_bits)) & ones;
    const std::uint64_t sign = draw_.one_in(2) ? layout_.sign_bit() : 0;
    return sign | static_cast<std::uint64_t>(field) << layout_.fraction_bits | fraction;
  }

  FloatLayout layout_;
  Draw draw_;
  std::uint64_t old_ = 0;
  std::uint64_t tile_ = 0;
};

}  // namespace tcq
