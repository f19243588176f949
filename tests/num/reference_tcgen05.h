// One element of D of a Blackwell tcgen05.mma, computed the slow and obvious way, with the wide
// fixed-point numbers of reference_dot.h and nothing of sim/num. Scale factors are decoded here a
// second time, and every term is written at the binary position that it really has: a product of
// mxf8f6f4 at the sum of its factors' and scales' positions; a group of mxf4 or mxf4nvf4 as the
// exact integer sum of its products times both scale significands.
//
// Example, mxf8f6f4 of e4m3: 1 * 1 with scale bytes 7f and 80 is 2^0 * 2^0 * 2^0 * 2^1 = 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tests/support/reference_dot.h"

namespace tcq::reference {

// A kind of PTX by its name, its types, and what its scale factors are.
struct BlackwellSpec {
  std::string_view kind;
  Format d;
  Format a;
  Format b;
  bool ue4m3 = false;    // scale factors; else ue8m0
  int scale_block = 32;  // elements that share one
};

struct BlackwellOptions {
  bool accumulate = true;
  bool negate_a = false;
  bool negate_b = false;
  bool saturate = false;
  int scale_input_d = 0;
};

struct BlackwellInputs {
  std::span<const std::uint32_t> a;
  std::span<const std::uint32_t> b;
  std::uint32_t c;
  std::span<const std::uint8_t> scales_a = {};
  std::span<const std::uint8_t> scales_b = {};
};

namespace internal {

// A scale factor is a Number that is never negative.
inline Number decode_scale(bool ue4m3, std::uint8_t byte) {
  if (ue4m3) return decode(Format::E4m3, byte & 0x7fu);
  Number number{.significand = 1, .unit = int{byte} - 127, .exponent = int{byte} - 127};
  if (byte == 0xff) number.type = Class::Nan;
  return number;
}

// A times B without the rule for infinity times zero, which scale factors never meet.
inline Number times_scale(Number x, const Number& scale) {
  if (scale.type == Class::Nan) return scale;
  x.significand *= scale.significand;
  x.unit += scale.unit;
  x.exponent += scale.exponent;
  return x;
}

inline Rules blackwell_rules(const BlackwellSpec& spec) {
  const bool packed = spec.kind == "mxf4" || spec.kind == "mxf4nvf4";
  if (spec.d == Format::F16)
    return {.fraction_bits = 25, .floor = -21, .kept_fraction_bits = 10, .nearest = true};
  return {.fraction_bits = packed ? 35 : 25,
          .floor = packed ? -139 : -133,
          .kept_fraction_bits = 23,
          .nearest = false};
}

// The products of one group of 16, summed exactly and scaled: one term whose exponent is that of
// its scale factors.
inline Number group_term(const BlackwellSpec& spec, const BlackwellOptions& options,
                         const BlackwellInputs& in, std::size_t group) {
  std::int64_t quarters = 0;
  bool counts = false;
  for (std::size_t k = 16 * group; k < 16 * group + 16; ++k) {
    const Number p = product(decode(spec.a, in.a[k]), decode(spec.b, in.b[k]));
    const std::int64_t magnitude = static_cast<std::int64_t>(p.significand) << (p.unit + 2);
    quarters += p.negative ? -magnitude : magnitude;
    counts = counts || magnitude != 0;
  }
  Number term;
  term.negative = (quarters < 0) != (options.negate_a != options.negate_b);
  term.significand = static_cast<std::uint64_t>(quarters < 0 ? -quarters : quarters);
  term.unit = -2;
  const std::size_t block = 16 * group / static_cast<std::size_t>(spec.scale_block);
  const Number scale_a = decode_scale(spec.ue4m3, in.scales_a[block]);
  const Number scale_b = decode_scale(spec.ue4m3, in.scales_b[block]);
  term = times_scale(times_scale(term, scale_a), scale_b);
  term.aligns_as_zero = counts && !scale_a.is_zero() && !scale_b.is_zero();
  return term;
}

inline Number input_d(const BlackwellSpec& spec, const BlackwellOptions& options, std::uint32_t c) {
  Number number = decode(spec.d, options.accumulate ? c : 0);
  number.unit -= options.scale_input_d;
  number.exponent -= options.scale_input_d;
  return number;
}

inline std::vector<Number> blackwell_terms(const BlackwellSpec& spec,
                                           const BlackwellOptions& options,
                                           const BlackwellInputs& in) {
  std::vector<Number> result = {input_d(spec, options, in.c)};
  if (spec.kind == "mxf4" || spec.kind == "mxf4nvf4") {
    for (std::size_t g = 0; g < 4; ++g) result.push_back(group_term(spec, options, in, g));
    return result;
  }
  for (std::size_t k = 0; k < in.a.size(); ++k) {
    Number p = product(decode(spec.a, in.a[k]), decode(spec.b, in.b[k]));
    p.negative = p.negative != (options.negate_a != options.negate_b);
    if (spec.kind == "mxf8f6f4") {
      p = times_scale(p, decode_scale(false, in.scales_a[0]));
      p = times_scale(p, decode_scale(false, in.scales_b[0]));
    }
    result.push_back(p);
  }
  return result;
}

}  // namespace internal

// One row of A and one column of B, raw bits in the low part of each word, C -> the bits of D.
inline std::uint32_t dot(const BlackwellSpec& spec, const BlackwellInputs& in,
                         const BlackwellOptions& options = {}) {
  internal::require(in.a.size() == in.b.size(), "a and b differ in length");
  const std::vector<internal::Number> terms = internal::blackwell_terms(spec, options, in);
  if (spec.d == Format::S32) return internal::integer_dot(terms, options.saturate);
  return internal::float_dot(spec.d, internal::blackwell_rules(spec), terms);
}

}  // namespace tcq::reference
