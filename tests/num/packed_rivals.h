// Rival models of kinds mxf4 and mxf4nvf4, and of the scale factors of mxf8f6f4: what
// tests/num/rivals.h is for single products. Each changes one rule of how groups become terms; rules of
// the sum itself (fraction bits, floor, zeros, rounding) are those of rivals.h, applied to the terms
// made here.
//
// Example: products 1 - 1 in a group of scale 2^36 and a group of 1. The model lets the cancelled
// group raise E, and the 1 is lost; the rival CancelledGroupIsNothing answers 1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "sim/num/tcgen05_dot.h"
#include "tests/num/rivals.h"

namespace tcq::rivals {

enum class GroupRule {
  None,
  CancelledGroupIsNothing,  // does not raise E
  ScalesAfterAlignment,     // significands of scale factors multiply what alignment kept
  NanScaleNeedsData,        // a NaN scale of a group without products is ignored
  UsesSignOfUe4m3,          // bit 7 negates
  GroupsOf32,               // two neighbouring groups are one term
  DataRaisesE,              // exponents of the products take part in alignment
  NormalisesScales,         // subnormals of ue4m3
  Ue8m0ZeroIsZero,          // byte 00
};
inline constexpr int group_rule_count = static_cast<int>(GroupRule::Ue8m0ZeroIsZero) + 1;

inline const char* name(GroupRule rule) {
  switch (rule) {
    case GroupRule::None: return "the model";
    case GroupRule::CancelledGroupIsNothing: return "cancelled group is nothing";
    case GroupRule::ScalesAfterAlignment: return "scales after alignment";
    case GroupRule::NanScaleNeedsData: return "NaN scale needs data";
    case GroupRule::UsesSignOfUe4m3: return "uses the sign of ue4m3";
    case GroupRule::GroupsOf32: return "groups of 32";
    case GroupRule::DataRaisesE: return "data raises E";
    case GroupRule::NormalisesScales: return "normalises ue4m3";
    case GroupRule::Ue8m0ZeroIsZero: return "ue8m0 00 is zero";
  }
  return "?";
}

// One group before alignment: sum * scale * 2^(exponent - 8).
struct Group {
  std::int64_t quarters = 0;  // exact sum of products
  bool has_product = false;
  int data_exponent = 0;   // of the largest product
  std::int64_t scale = 0;  // product of both significands, units of 1/64
  int exponent = 0;
  bool nan = false;
  bool negative_scale = false;
};

struct GroupModel {
  tcgen05::DotForm form;
  GroupRule rule = GroupRule::None;

  tcgen05::Scale scale(std::uint8_t byte) const {
    const tcgen05::ScaleType type = form.idesc.scale_type;
    tcgen05::Scale s = tcgen05::decode_scale(type, byte);
    if (rule == GroupRule::Ue8m0ZeroIsZero && type == tcgen05::ScaleType::ue8m0 && byte == 0)
      s.significand = 0;
    while (rule == GroupRule::NormalisesScales && s.significand != 0 && s.significand < 8) {
      s.significand *= 2;
      --s.exponent;
    }
    return s;
  }

  Group group(const tcgen05::DotOperands& in, int index) const {
    Group g;
    for (int k = 16 * index; k < 16 * index + 16; ++k) {
      const Decoded a = decode_float(Type::e2m1, in.a[k]);
      const Decoded b = decode_float(Type::e2m1, in.b[k]);
      const int product = a.significand * b.significand;
      if (product == 0) continue;
      g.quarters += std::int64_t{product} << (a.exponent + b.exponent);
      const int e = a.exponent + b.exponent;
      g.data_exponent = g.has_product ? std::max(g.data_exponent, e) : e;
      g.has_product = true;
    }
    const int block = 16 * index / tcgen05::scale_block(form.opcode);
    const tcgen05::Scale a = scale(in.scales_a[block]);
    const tcgen05::Scale b = scale(in.scales_b[block]);
    g.scale = std::int64_t{a.significand} * b.significand;
    g.exponent = g.scale == 0 ? 0 : a.exponent + b.exponent;
    g.nan = a.nan || b.nan;
    const bool has_sign = form.idesc.scale_type == tcgen05::ScaleType::ue4m3;
    g.negative_scale = has_sign && (in.scales_a[block] >= 0x80) != (in.scales_b[block] >= 0x80);
    return g;
  }

  Term term(const Group& g) const {
    const bool counts = g.has_product && g.scale != 0;
    Term t{counts ? Class::Finite : Class::Zero, false, g.quarters * g.scale, g.exponent - 8,
           g.exponent};
    if (rule == GroupRule::CancelledGroupIsNothing && g.quarters == 0) t.kind = Class::Zero;
    if (rule == GroupRule::DataRaisesE) t.exponent += g.data_exponent;
    if (rule == GroupRule::UsesSignOfUe4m3 && g.negative_scale) t.significand = -t.significand;
    if (g.nan && (rule != GroupRule::NanScaleNeedsData || g.has_product)) t.kind = Class::Nan;
    t.negative = t.significand < 0;
    if (t.kind == Class::Zero || t.kind == Class::Nan) t.significand = 0;
    return t;
  }

  // Two groups as one term, aligned at the larger exponent. Groups whose scales are too far apart
  // for 64 bits stay apart: the smaller one is lost either way.
  static std::vector<Term> joined(const Term& x, const Term& y) {
    const int gap = std::abs(x.unit - y.unit);
    if (x.kind != Class::Finite || y.kind != Class::Finite || gap > 40) return {x, y};
    Term sum = x.unit <= y.unit ? x : y;
    const Term& upper = x.unit <= y.unit ? y : x;
    sum.significand += upper.significand * (std::int64_t{1} << gap);
    sum.exponent = std::max(x.exponent, y.exponent);
    sum.negative = sum.significand < 0;
    return {sum};
  }

  Model model() const {
    const DotTraits traits = tcgen05_dot_traits(form.opcode.kind, Type::f32);
    return {{Type::f32, Type::e2m1, Type::e2m1}, Rule::None, traits, 13};
  }

  std::vector<Term> terms(const tcgen05::DotOperands& in) const {
    std::vector<Term> all;
    for (int i = 0; i < tcgen05::group_count; i += 2) {
      const Term x = term(group(in, i));
      const Term y = term(group(in, i + 1));
      const std::vector<Term> both =
          rule == GroupRule::GroupsOf32 ? joined(x, y) : std::vector<Term>{x, y};
      all.insert(all.end(), both.begin(), both.end());
    }
    all.push_back(model().value(decode_float(Type::f32, in.c)));
    return all;
  }

  // Every term cut without the significands of its scale factors, which multiply the rest.
  std::uint32_t scaled_after_alignment(const tcgen05::DotOperands& in) const {
    Model m = model();
    std::vector<Term> all = terms(in);
    int exponent = m.base.floor_exponent;
    for (const Term& t : all)
      if (t.kind == Class::Finite) exponent = std::max(exponent, t.exponent);
    const int lsb = exponent - m.base.fraction_bits;
    for (int i = 0; i < tcgen05::group_count; ++i) {
      const Group g = group(in, i);
      Term& t = all[static_cast<std::size_t>(i)];
      if (t.kind != Class::Finite) continue;
      t.significand = m.aligned({t.kind, t.negative, g.quarters, g.exponent - 2, 0}, lsb) * g.scale;
      t.unit = lsb - 6;
    }
    Term& c = all.back();
    if (c.kind == Class::Finite) c = {c.kind, c.negative, m.aligned(c, lsb), lsb, c.exponent};
    m.base.fraction_bits += 6;
    return m.sum(all);
  }

  std::uint32_t operator()(const tcgen05::DotOperands& in) const {
    return rule == GroupRule::ScalesAfterAlignment ? scaled_after_alignment(in)
                                                   : model().sum(terms(in));
  }
};

// False if no input of the form can show the rule.
inline bool observable(const tcgen05::DotForm& form, GroupRule rule) {
  const bool is_ue4m3 = form.idesc.scale_type == tcgen05::ScaleType::ue4m3;
  switch (rule) {
    case GroupRule::ScalesAfterAlignment:  // ue8m0 has no significand
    case GroupRule::UsesSignOfUe4m3:
    case GroupRule::NormalisesScales: return is_ue4m3;
    case GroupRule::Ue8m0ZeroIsZero: return !is_ue4m3;
    default: return true;
  }
}

}  // namespace tcq::rivals
