// What a reduction makes of two floating-point elements: the exact bits of add, min and max.
//
// A reduction replaces an element of global memory, `old`, by op(old, element of the tile). This
// file decides rounding, subnormals, NaN and the signs of zeros of one element. Which operations
// exist for which type, and all integers: sim/isa/copy/tma_reduction.h; where the elements lie:
// sim/machine/tma.h and bulk.h. The rules are data, so that oracle/recording/reduction_rules.h can ask which
// rules a device follows. Example: f16 add of 0x3c00 (1) and 0x1000 (2^-11, half a last bit) is a
// tie and stays 0x3c00.
//
// Source: PTX ISA 9.2, 9.7.9.25.4.2 "cp.reduce.async.bulk" (add rounds to nearest even; .noftz for
// f16 and bf16). It also says that .add.f32 flushes subnormals; an H200 keeps them, and flushes
// only in tensors of type FLOAT32_FTZ and TFLOAT32_FTZ.
// Measured: tests/vectors/tma_reduce_float.tcqv, tests/vectors/bulk_edge.tcqv (tf32 tensors)
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/copy/tensor_map.h"
#include "sim/isa/copy/tma_reduction.h"
#include "sim/num/round.h"

namespace tcq {

// Sign, exponent field, fraction: IEEE 754's rules for zeros, subnormals, infinities and NaN.
struct FloatLayout {
  int exponent_bits;
  int fraction_bits;

  HOST_DEVICE constexpr std::uint64_t hidden_bit() const {
    return std::uint64_t{1} << fraction_bits;
  }
  HOST_DEVICE constexpr std::uint64_t infinity() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  }
  HOST_DEVICE constexpr std::uint64_t quiet_bit() const { return hidden_bit() >> 1; }
  HOST_DEVICE constexpr std::uint64_t sign_bit() const {
    return std::uint64_t{1} << (exponent_bits + fraction_bits);
  }
};

// The layout of an element in memory. Requires: tma::is_float(type).
HOST_DEVICE constexpr FloatLayout float_layout(tma::DataType type) {
  const auto of = [](Type known) {
    const FloatFormat format = float_format(known);
    return FloatLayout{format.exponent_bits, format.fraction_bits};
  };
  switch (type) {
    case tma::DataType::Float16: return of(Type::f16);
    case tma::DataType::BFloat16: return of(Type::bf16);
    case tma::DataType::Float64: return {11, 52};
    default: return of(Type::f32);
  }
}

enum class Rounding : std::uint8_t { NearestEven, TowardZero };

// Which NaN a result is.
enum class NanRule : std::uint8_t {
  AllOnes,        // positive, every fraction bit set
  Quiet,          // positive, only the quiet bit set
  NegativeQuiet,  // negative, only the quiet bit set
  OldQuieted,     // the old element if it is NaN, else the tile's, with the quiet bit set
  TileQuieted,    // the other way round
  Old,            // as OldQuieted, bits unchanged
  Tile,           // as TileQuieted, bits unchanged
};

// What min and max make of +0 and -0.
enum class ZeroRule : std::uint8_t { NegativeIsLess, KeepsOld, TakesTile };

struct FloatRules {
  bool flush_operands = false;  // subnormals become zeros of their sign
  bool flush_result = false;
  Rounding rounding = Rounding::NearestEven;
  NanRule nan = NanRule::AllOnes;      // an operand is NaN
  NanRule invalid = NanRule::AllOnes;  // inf - inf; not one that asks for an operand
  bool number_wins = true;             // min, max of a number and a NaN
  ZeroRule zeros = ZeroRule::NegativeIsLess;

  friend constexpr bool operator==(const FloatRules&, const FloatRules&) = default;
};

// How an element is reduced, by a bulk copy and through a tensor map alike. Elements of tf32
// tensors are added as f32. A sum of f64 keeps the payload of a NaN and does not quiet it.
HOST_DEVICE constexpr FloatRules float_rules(tma::DataType type) {
  FloatRules rules;
  const bool flushes = type == tma::DataType::Float32Ftz || type == tma::DataType::TFloat32Ftz;
  rules.flush_operands = flushes;
  rules.flush_result = flushes;
  if (type == tma::DataType::Float64) {
    rules.nan = NanRule::Tile;
    rules.invalid = NanRule::NegativeQuiet;
  }
  return rules;
}

namespace detail {

struct FloatPair {
  std::uint64_t old;
  std::uint64_t tile;
};

HOST_DEVICE constexpr std::uint64_t magnitude(FloatLayout layout, std::uint64_t x) {
  return x & (layout.sign_bit() - 1);
}

HOST_DEVICE constexpr std::uint64_t sign(FloatLayout layout, std::uint64_t x) {
  return x & layout.sign_bit();
}

HOST_DEVICE constexpr bool is_nan(FloatLayout layout, std::uint64_t x) {
  return magnitude(layout, x) > layout.infinity();
}

HOST_DEVICE constexpr bool is_infinite(FloatLayout layout, std::uint64_t x) {
  return magnitude(layout, x) == layout.infinity();
}

HOST_DEVICE constexpr std::uint64_t flushed(FloatLayout layout, std::uint64_t x) {
  return magnitude(layout, x) < layout.hidden_bit() ? sign(layout, x) : x;
}

HOST_DEVICE constexpr std::uint64_t nan_bits(FloatLayout layout, NanRule rule, FloatPair x) {
  const bool old_first = rule == NanRule::Old || rule == NanRule::OldQuieted;
  const bool take_old = old_first ? is_nan(layout, x.old) : !is_nan(layout, x.tile);
  const std::uint64_t operand = take_old ? x.old : x.tile;
  switch (rule) {
    case NanRule::AllOnes: return layout.sign_bit() - 1;
    case NanRule::Quiet: return layout.infinity() | layout.quiet_bit();
    case NanRule::NegativeQuiet: return layout.sign_bit() | layout.infinity() | layout.quiet_bit();
    case NanRule::OldQuieted:
    case NanRule::TileQuieted: return operand | layout.quiet_bit();
    case NanRule::Old:
    case NanRule::Tile: return operand;
  }
  return operand;
}

// What is shifted out leaves its trace in the lowest bit.
HOST_DEVICE constexpr std::uint64_t sticky_shift_right(std::uint64_t value, int count) {
  const std::uint64_t kept = shift_right(value, count);
  const bool lost = count > 63 ? value != 0 : (kept << count) != value;
  return kept | (lost ? 1u : 0u);
}

// The exponent field, 1 for subnormals, which have the same weight.
HOST_DEVICE constexpr int exponent_field(FloatLayout layout, std::uint64_t magnitude) {
  const auto field = static_cast<int>(magnitude >> layout.fraction_bits);
  return field == 0 ? 1 : field;
}

HOST_DEVICE constexpr std::uint64_t significand(FloatLayout layout, std::uint64_t magnitude) {
  const std::uint64_t fraction = magnitude & (layout.hidden_bit() - 1);
  return magnitude < layout.hidden_bit() ? fraction : fraction | layout.hidden_bit();
}

inline constexpr int guard_bits = 3;  // enough for a correctly rounded sum of two
static_assert(52 + 2 + guard_bits < 64, "a significand of f64, its carry and the guards fit");

HOST_DEVICE constexpr std::uint64_t rounded(Rounding rounding, std::uint64_t sum) {
  return rounding == Rounding::NearestEven ? nearest_even_shift_right(sum, guard_bits)
                                           : sum >> guard_bits;
}

// |x| >= |y|, both finite. The exact sum, rounded once.
HOST_DEVICE constexpr std::uint64_t add_finite(FloatLayout layout, Rounding rounding,
                                               std::uint64_t x, std::uint64_t y) {
  const std::uint64_t big = magnitude(layout, x);
  const std::uint64_t small = magnitude(layout, y);
  int field = exponent_field(layout, big);
  const std::uint64_t high = significand(layout, big) << guard_bits;
  const std::uint64_t low = sticky_shift_right(significand(layout, small) << guard_bits,
                                               field - exponent_field(layout, small));
  const bool same_sign = sign(layout, x) == sign(layout, y);
  std::uint64_t sum = same_sign ? high + low : high - low;
  if (sum == 0) return same_sign ? sign(layout, x) : 0;
  const int top = layout.fraction_bits + guard_bits;
  if (floor_log2(sum) > top) {
    sum = sticky_shift_right(sum, 1);
    ++field;
  }
  for (; floor_log2(sum) < top && field > 1; --field) sum <<= 1;
  // The hidden bit of a normal sum, and a carry of the rounding, add into the exponent.
  const std::uint64_t word =
      (static_cast<std::uint64_t>(field - 1) << layout.fraction_bits) + rounded(rounding, sum);
  const std::uint64_t most = layout.infinity() - (rounding == Rounding::TowardZero ? 1 : 0);
  return sign(layout, x) | (word > most ? most : word);
}

HOST_DEVICE constexpr std::uint64_t add_float(FloatLayout layout, const FloatRules& rules,
                                              FloatPair x) {
  if (is_nan(layout, x.old) || is_nan(layout, x.tile)) return nan_bits(layout, rules.nan, x);
  if (is_infinite(layout, x.old) && is_infinite(layout, x.tile))
    return x.old == x.tile ? x.old : nan_bits(layout, rules.invalid, x);
  if (is_infinite(layout, x.old)) return x.old;
  if (is_infinite(layout, x.tile)) return x.tile;
  return magnitude(layout, x.old) >= magnitude(layout, x.tile)
             ? add_finite(layout, rules.rounding, x.old, x.tile)
             : add_finite(layout, rules.rounding, x.tile, x.old);
}

// Numbers of either sign, -0 below +0, as integers in the same order.
HOST_DEVICE constexpr std::uint64_t order_key(FloatLayout layout, std::uint64_t x) {
  return sign(layout, x) != 0 ? layout.sign_bit() - magnitude(layout, x) - 1
                              : layout.sign_bit() + magnitude(layout, x);
}

HOST_DEVICE constexpr std::uint64_t extreme_float(bool is_min, FloatLayout layout,
                                                  const FloatRules& rules, FloatPair x) {
  const bool old_is_nan = is_nan(layout, x.old);
  const bool tile_is_nan = is_nan(layout, x.tile);
  if (old_is_nan && tile_is_nan) return nan_bits(layout, rules.nan, x);
  if (old_is_nan || tile_is_nan) {
    if (!rules.number_wins) return nan_bits(layout, rules.nan, x);
    return old_is_nan ? x.tile : x.old;
  }
  const bool zeros = magnitude(layout, x.old) == 0 && magnitude(layout, x.tile) == 0;
  if (zeros && rules.zeros != ZeroRule::NegativeIsLess)
    return rules.zeros == ZeroRule::KeepsOld ? x.old : x.tile;
  const bool old_is_less = order_key(layout, x.old) < order_key(layout, x.tile);
  return old_is_less == is_min ? x.old : x.tile;
}

}  // namespace detail

// The new element. Requires: op is Add, Min or Max; both elements zero-extended.
HOST_DEVICE constexpr std::uint64_t reduce_float(tma::Reduction op, FloatLayout layout,
                                                 const FloatRules& rules, std::uint64_t old,
                                                 std::uint64_t tile) {
  detail::FloatPair x{old, tile};
  if (rules.flush_operands) x = {detail::flushed(layout, old), detail::flushed(layout, tile)};
  const std::uint64_t result =
      op == tma::Reduction::Add
          ? detail::add_float(layout, rules, x)
          : detail::extreme_float(op == tma::Reduction::Min, layout, rules, x);
  return rules.flush_result ? detail::flushed(layout, result) : result;
}

namespace tma {

// The new element of any type; bits above the type's width are to be dropped.
// Requires: check(op, type) == Fault::None; `old` and `tile` zero-extended.
HOST_DEVICE constexpr std::uint64_t reduced_bits(Reduction op, DataType type, std::uint64_t old,
                                                 std::uint64_t tile) {
  if (!is_float(type)) return reduce(op, type, old, tile);
  return reduce_float(op, float_layout(type), float_rules(type), old, tile);
}

}  // namespace tma
}  // namespace tcq
