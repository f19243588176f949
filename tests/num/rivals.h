// Rival models of the fused sum: the same arithmetic with exactly one rule changed.
//
// A differential test is worth what it can tell apart. mixture_test.cc runs every rival beside the
// model on the inputs of sim/num/inputs/mixture.h and asks how often they differ; a rival that never
// differs on some kind is either unobservable there (observable() below says which, and why) or a
// hole in the inputs. Decoding is shared with sim/num, the sum and the rounding are a second copy.
//
// Example: f16 -> f32, products 2^14, -2^14 and 2^-11. The model keeps the tail, the rival with one
// fraction bit less loses it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "sim/num/dot.h"

namespace tcq::rivals {

enum class Rule {
  None,  // the model itself
  OneMoreFractionBit,
  OneFractionBitLess,
  RoundsDownAtAlignment,
  KeepsStickyBitAtAlignment,
  NormalisesSubnormals,
  FlushesOperands,
  RenormalisesProducts,
  FloorOneUp,
  FloorOneDown,
  ZeroProductRaisesE,
  KeepsMinusZero,      // when every term is -0
  UnderflowKeepsSign,  // a negative sum that rounds to zero gives -0
  FlushesC,
  FlushesD,
  AddsCLast,    // products are rounded to D, then C is added
  RoundsTwice,  // to the f32 result of the same operands, then to f16
  NarrowAdder,  // one integer bit less: it wraps
  InfTimesZeroIsZero,
  TwoHalves,           // k mod 4 in {0, 1} first, then {2, 3}
  RoundsToOtherMode,   // nearest even instead of toward zero, and vice versa
  OverflowsToLargest,  // the largest finite D instead of infinity
  ProductOverflows,    // a product of 2^128 and more is infinite
};
inline constexpr int rule_count = static_cast<int>(Rule::ProductOverflows) + 1;

inline const char* name(Rule rule) {
  switch (rule) {
    case Rule::None: return "the model";
    case Rule::OneMoreFractionBit: return "F + 1";
    case Rule::OneFractionBitLess: return "F - 1";
    case Rule::RoundsDownAtAlignment: return "rounds down at alignment";
    case Rule::KeepsStickyBitAtAlignment: return "keeps a sticky bit";
    case Rule::NormalisesSubnormals: return "normalises subnormals";
    case Rule::FlushesOperands: return "flushes A and B";
    case Rule::RenormalisesProducts: return "renormalises products";
    case Rule::FloorOneUp: return "floor + 1";
    case Rule::FloorOneDown: return "floor - 1";
    case Rule::ZeroProductRaisesE: return "zero product raises E";
    case Rule::KeepsMinusZero: return "-0 when all are -0";
    case Rule::UnderflowKeepsSign: return "underflow keeps sign";
    case Rule::FlushesC: return "flushes C";
    case Rule::FlushesD: return "flushes D";
    case Rule::AddsCLast: return "adds C last";
    case Rule::RoundsTwice: return "rounds twice";
    case Rule::NarrowAdder: return "one integer bit less";
    case Rule::InfTimesZeroIsZero: return "Inf * 0 = 0";
    case Rule::TwoHalves: return "two halves";
    case Rule::RoundsToOtherMode: return "other rounding of D";
    case Rule::OverflowsToLargest: return "overflows to largest";
    case Rule::ProductOverflows: return "products overflow";
  }
  return "?";
}

// One term of the sum: significand * 2^unit; `exponent` is what alignment sees.
struct Term {
  Class kind;
  bool negative;
  std::int64_t significand;  // with sign
  int unit;
  int exponent;
};

inline int width(std::uint64_t magnitude) { return 64 - std::countl_zero(magnitude); }

struct Model {
  DotTypes types;
  Rule rule = Rule::None;
  DotTraits base = wgmma_dot_traits(types.d, types.a);
  int integer_bits = 7;  // of the adder

  DotTraits traits() const {
    DotTraits t = base;
    if (rule == Rule::OneMoreFractionBit) ++t.fraction_bits;
    if (rule == Rule::OneFractionBitLess) --t.fraction_bits;
    if (rule == Rule::FloorOneUp) ++t.floor_exponent;
    if (rule == Rule::FloorOneDown) --t.floor_exponent;
    return t;
  }

  // A factor as the rule sees it.
  Decoded factor(Type type, Decoded x) const {
    const FloatFormat format = float_format(type);
    const bool subnormal =
        x.kind == Class::Finite && std::abs(x.significand) < (1 << format.fraction_bits);
    if (subnormal && rule == Rule::FlushesOperands)
      return {0, zero_exponent, Class::Zero, x.negative};
    if (subnormal && rule == Rule::NormalisesSubnormals) {
      while (std::abs(x.significand) < (1 << format.fraction_bits)) {
        x.significand *= 2;
        x.exponent = static_cast<std::int16_t>(x.exponent - 1);
      }
    }
    return x;
  }

  Term product(const Decoded& a_raw, const Decoded& b_raw) const {
    const Decoded a = factor(types.a, a_raw);
    const Decoded b = factor(types.b, b_raw);
    const bool infinite = a.kind == Class::Infinite || b.kind == Class::Infinite;
    const bool zero = a.kind == Class::Zero || b.kind == Class::Zero;
    Class kind = zero ? Class::Zero : Class::Finite;
    if (infinite) {
      const bool allowed = rule == Rule::InfTimesZeroIsZero;
      kind = !zero ? Class::Infinite : allowed ? Class::Zero : Class::Nan;
    }
    if (a.kind == Class::Nan || b.kind == Class::Nan) kind = Class::Nan;
    const FloatFormat fa = float_format(types.a);
    const FloatFormat fb = float_format(types.b);
    const int e_a = a.kind == Class::Zero ? 1 - fa.bias : a.exponent;
    const int e_b = b.kind == Class::Zero ? 1 - fb.bias : b.exponent;
    const int fraction_bits = fa.fraction_bits + fb.fraction_bits;
    Term t{kind, a.negative != b.negative, std::int64_t{a.significand} * b.significand,
           e_a + e_b - fraction_bits, e_a + e_b};
    if (kind != Class::Finite) t.significand = 0;
    const bool two_or_more = std::abs(t.significand) >> (fraction_bits + 1) != 0;
    if (rule == Rule::RenormalisesProducts && two_or_more) ++t.exponent;
    if (rule == Rule::ProductOverflows && kind == Class::Finite && t.exponent + two_or_more >= 128)
      t.kind = Class::Infinite;
    return t;
  }

  Term value(Decoded c) const {
    const FloatFormat format = float_format(types.d);
    const bool subnormal =
        c.kind == Class::Finite && std::abs(c.significand) < (1 << format.fraction_bits);
    if (subnormal && rule == Rule::FlushesC) c = {0, zero_exponent, Class::Zero, c.negative};
    return {c.kind, c.negative, c.significand, c.exponent - format.fraction_bits, c.exponent};
  }

  std::uint32_t word(bool negative, std::uint32_t magnitude) const {
    return magnitude | (negative ? 1u << (bits(types.d) - 1) : 0);
  }

  // Magnitude cut to a multiple of 2^lsb, in units of it.
  std::int64_t aligned(const Term& t, int lsb) const {
    if (t.significand == 0) return 0;  // its exponent may lie anywhere
    const int left = t.unit - lsb;
    if (left >= 0) return t.significand * (std::int64_t{1} << left);
    const int right = std::min(-left, 62);
    const std::int64_t divisor = std::int64_t{1} << right;
    std::int64_t quotient = t.significand / divisor;
    const bool inexact = t.significand % divisor != 0;
    if (inexact && rule == Rule::RoundsDownAtAlignment && t.significand < 0) --quotient;
    if (inexact && rule == Rule::KeepsStickyBitAtAlignment && quotient % 2 == 0)
      quotient += t.significand < 0 ? -1 : 1;
    return quotient;
  }

  std::uint32_t sum(std::span<const Term> terms) const {
    bool nan = false;
    bool infinite[2] = {};
    bool all_minus_zero = true;
    const DotTraits t = traits();
    int exponent = t.floor_exponent;
    for (const Term& term : terms) {
      if (term.kind == Class::Nan) nan = true;
      if (term.kind == Class::Infinite) infinite[term.negative] = true;
      if (term.kind != Class::Zero || !term.negative) all_minus_zero = false;
      if (term.kind == Class::Finite || rule == Rule::ZeroProductRaisesE)
        exponent = std::max(exponent, term.exponent);
    }
    const bool to_f16 = types.d == Type::f16;
    if (nan || (infinite[0] && infinite[1])) return to_f16 ? 0x7fff : 0x7fffffff;
    if (infinite[0] || infinite[1]) return word(infinite[1], to_f16 ? 0x7c00 : 0x7f800000);
    if (all_minus_zero && rule == Rule::KeepsMinusZero) return word(true, 0);
    const int lsb = exponent - t.fraction_bits;
    std::int64_t total = 0;
    for (const Term& term : terms) total += aligned(term, lsb);
    if (rule == Rule::NarrowAdder) {
      const int unused = 64 - (t.fraction_bits + integer_bits);  // one of them is the sign
      total = static_cast<std::int64_t>(static_cast<std::uint64_t>(total) << unused) >> unused;
    }
    return convert(total, lsb, t.conversion);
  }

  std::uint32_t convert(std::int64_t total, int lsb, Conversion conversion) const {
    if (total == 0) return 0;
    const bool negative = total < 0;
    auto magnitude = static_cast<std::uint64_t>(negative ? -total : total);
    const bool to_f16 = conversion == Conversion::F16NearestEven;
    bool nearest = to_f16;
    if (rule == Rule::RoundsToOtherMode) nearest = !nearest;
    if (rule == Rule::RoundsTwice && to_f16) {
      // The f32 result of the kind keeps 24 or 14 bits, toward zero.
      const int surplus = width(magnitude) - (base.fraction_bits == 13 ? 14 : 24);
      if (surplus > 0) magnitude = magnitude >> surplus << surplus;
    }
    const int significant = to_f16 ? 11 : conversion == Conversion::E8M13TowardZero ? 14 : 24;
    const int min_normal = to_f16 ? -14 : -126;
    const int top = width(magnitude) - 1 + lsb;
    const int quantum = std::max(top, min_normal) - (significant - 1);
    std::uint64_t kept = magnitude;
    if (quantum > lsb) {
      const int drop = std::min(quantum - lsb, 63);
      kept = magnitude >> drop;
      const std::uint64_t rest = magnitude - (kept << drop);
      const std::uint64_t half = std::uint64_t{1} << (drop - 1);
      if (nearest && (rest > half || (rest == half && kept % 2 != 0))) ++kept;
    } else {
      kept <<= lsb - quantum;
    }
    if (kept == 0) return rule == Rule::UnderflowKeepsSign ? word(negative, 0) : 0;
    int exponent = quantum + significant - 1;
    if (kept >> significant != 0) {
      kept /= 2;
      ++exponent;
    }
    const bool subnormal = kept >> (significant - 1) == 0;
    if (subnormal && rule == Rule::FlushesD) return 0;
    const int bias = to_f16 ? 15 : 127;
    const int fraction_bits = to_f16 ? 10 : 23;
    const std::uint32_t infinity = to_f16 ? 0x7c00 : 0x7f800000;
    if (exponent > bias)
      return word(negative, rule == Rule::OverflowsToLargest ? infinity - 1 : infinity);
    const auto fraction = static_cast<std::uint32_t>(kept << (fraction_bits + 1 - significant));
    const std::uint32_t field = subnormal ? 0 : static_cast<std::uint32_t>(exponent + bias);
    const std::uint32_t hidden = subnormal ? 0 : 1u << fraction_bits;
    return word(negative, field << fraction_bits | (fraction - hidden));
  }

  // All products of a[k] * b[k], then C.
  std::vector<Term> terms(std::span<const Decoded> a, std::span<const Decoded> b,
                          const Decoded& c) const {
    std::vector<Term> all;
    all.reserve(a.size() + 1);
    for (std::size_t k = 0; k < a.size(); ++k) all.push_back(product(a[k], b[k]));
    all.push_back(value(c));
    return all;
  }

  // True if the rule is about the terms; else those of the model itself may be used.
  bool changes_terms() const {
    return rule == Rule::NormalisesSubnormals || rule == Rule::FlushesOperands ||
           rule == Rule::RenormalisesProducts || rule == Rule::InfTimesZeroIsZero ||
           rule == Rule::FlushesC || rule == Rule::ProductOverflows;
  }

  // D from the terms: products first, C last.
  std::uint32_t operator()(std::span<const Term> all) const {
    const std::size_t count = all.size() - 1;
    if (rule == Rule::AddsCLast) {
      const Term products = value(decode_float(types.d, sum(all.first(count))));
      const Term both[] = {products, all[count]};
      return sum(both);
    }
    if (rule != Rule::TwoHalves) return sum(all);
    std::vector<Term> half = {all[count]};
    for (std::size_t k = 0; k < count; ++k)
      if (k % 4 < 2) half.push_back(all[k]);
    half = {value(decode_float(types.d, sum(half)))};
    for (std::size_t k = 0; k < count; ++k)
      if (k % 4 >= 2) half.push_back(all[k]);
    return sum(half);
  }
};

// False if no input of the kind can show the rule. Exponents of products stay above -29 (f16), -13
// (e4m3), -29 (e5m2), so that floors and underflow to f32 are out of their reach.
inline bool observable(const DotTypes& t, Rule rule) {
  const bool wide = t.a == Type::bf16 || t.a == Type::tf32;  // 8 exponent bits
  const bool f16_sum = t.a == Type::f16 && t.d == Type::f16;
  const bool has_infinity = t.a != Type::e4m3 || t.b != Type::e4m3;
  switch (rule) {
    case Rule::FloorOneUp:
    case Rule::FloorOneDown: return wide || f16_sum;
    // Needs products below half of D's smallest step; e4m3 * e4m3 is a multiple of 2^-18.
    case Rule::UnderflowKeepsSign: return wide || f16_sum || (t.d == Type::f16 && has_infinity);
    case Rule::RoundsTwice: return t.d == Type::f16;
    case Rule::NarrowAdder: return t.a != Type::tf32;  // 8 * 4 + 2 < 2^6
    case Rule::InfTimesZeroIsZero: return has_infinity;
    case Rule::OverflowsToLargest: return wide || t.d == Type::f16;  // C alone never overflows
    case Rule::ProductOverflows: return wide;
    default: return true;
  }
}

}  // namespace tcq::rivals
