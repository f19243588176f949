// How well the weighted inputs of the tcgen05 kinds tell rival models of the arithmetic apart: every
// rule that can be observed must be seen often enough. The tables it prints are rates per million
// outputs. Rivals: tests/num/rivals.h, tests/num/packed_rivals.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/num/packed_rivals.h"
#include "tests/support/effort.h"
#include "tests/support/tcgen05_inputs.h"

namespace tcq::tcgen05 {
namespace {

using rivals::GroupModel;
using rivals::GroupRule;
using rivals::Model;
using rivals::Rule;
using rivals::Term;

constexpr int rows = 16;
constexpr int cols = 8;
constexpr int tiles = tests::effort(300);
constexpr int least_per_million = 300;

// Differences from dot() per rule; the entry of rule None holds the model's own.
struct Rates {
  std::array<double, rivals::rule_count> rules{};
  std::array<double, rivals::group_rule_count> groups{};
  double late_scale = 0;  // mxf8f6f4: the products rounded to f32 before scaling
  double nan_scale = 0;   // mxf8f6f4: a NaN scale without data ignored
  int outputs = 0;
};

DotTypes types_of(const DotForm& form) { return {form.idesc.d, form.idesc.a, form.idesc.b}; }

std::vector<Decoded> decode_all(Type type, const std::uint32_t* words, int count) {
  std::vector<Decoded> decoded;
  for (int i = 0; i < count; ++i) decoded.push_back(decode_float(type, words[i]));
  return decoded;
}

// What the scale factors add to every product, and whether one of them is NaN.
struct RowScales {
  int exponent = 0;
  bool nan = false;
};

RowScales row_scales(const DotForm& form, const DotOperands& in) {
  const Scale a = row_scale(form, in.scales_a);
  const Scale b = row_scale(form, in.scales_b);
  if (a.nan || b.nan) return {0, true};
  return {a.exponent + b.exponent, false};
}

void move(Term& term, int exponent) {
  term.unit += exponent;
  term.exponent += exponent;
}

// Products of one output as a model sees them, C last.
std::vector<Term> terms_of(const DotForm& form, const Model& model, const DotOperands& in,
                           int scale_exponent) {
  const int k = products(form.opcode.kind);
  const std::vector<Decoded> a = decode_all(form.idesc.a, in.a, k);
  const std::vector<Decoded> b = decode_all(form.idesc.b, in.b, k);
  std::vector<Term> terms = model.terms(a, b, decode_float(form.idesc.d, in.c));
  for (std::size_t i = 0; i + 1 < terms.size(); ++i) move(terms[i], scale_exponent);
  return terms;
}

Model model_of(const DotForm& form, int rule) {
  return {types_of(form), static_cast<Rule>(rule),
          tcgen05_dot_traits(form.opcode.kind, form.idesc.d)};
}

// The sum of the products, rounded to f32, then scaled, then added to C.
std::uint32_t scaled_late(const DotForm& form, const Model& model, std::vector<Term> terms,
                          int scale_exponent) {
  const Term c = terms.back();
  terms.pop_back();
  for (Term& t : terms) move(t, -scale_exponent);
  Term sum = model.value(decode_float(form.idesc.d, model.sum(terms)));
  move(sum, scale_exponent);
  const Term both[] = {sum, c};
  return model.sum(both);
}

bool has_data(const std::vector<Term>& terms) {
  return std::any_of(terms.begin(), terms.end() - 1,
                     [](const Term& t) { return t.kind != Class::Zero; });
}

void count_plain(const DotForm& form, const DotOperands& in, Rates& rates) {
  const std::uint32_t truth = dot(form, in);
  const RowScales scales = row_scales(form, in);
  const Model model = model_of(form, 0);
  const std::vector<Term> terms = terms_of(form, model, in, scales.exponent);
  if (scales.nan) {
    rates.nan_scale += !has_data(terms) && model.sum(terms) != truth;
    return;
  }
  for (int r = 0; r < rivals::rule_count; ++r) {
    const Model rival = model_of(form, r);
    const std::uint32_t answer =
        rival.changes_terms() ? rival(terms_of(form, rival, in, scales.exponent)) : rival(terms);
    rates.rules[static_cast<std::size_t>(r)] += answer != truth;
  }
  rates.late_scale += scaled_late(form, model, terms, scales.exponent) != truth;
}

void count_packed(const DotForm& form, const DotOperands& in, Rates& rates) {
  const std::uint32_t truth = dot(form, in);
  for (int r = 0; r < rivals::group_rule_count; ++r) {
    const auto rule = static_cast<GroupRule>(r);
    if (rule != GroupRule::None && !rivals::observable(form, rule)) continue;
    rates.groups[static_cast<std::size_t>(r)] += GroupModel{form, rule}(in) != truth;
  }
  const GroupModel groups{form};
  std::vector<Term> terms = groups.terms(in);
  for (int r = 0; r < rivals::rule_count; ++r) {
    Model rival = groups.model();
    rival.rule = static_cast<Rule>(r);
    terms.back() = rival.value(decode_float(Type::f32, in.c));
    rates.rules[static_cast<std::size_t>(r)] += rival(terms) != truth;
  }
}

Rates detect(const DotForm& form) {
  Rates rates;
  for (int i = 0; i < tiles; ++i) {
    const auto seed = static_cast<std::uint64_t>(i) * 7919 + 12345;
    const Tile tile = draw_tile(form, mixture_class(seed), seed, rows, cols);
    for (int output = 0; output < rows * cols; ++output) {
      const DotOperands in = tile.operands(output / cols, output % cols);
      is_packed_4bit(form.opcode.kind) ? count_packed(form, in, rates)
                                       : count_plain(form, in, rates);
    }
  }
  rates.outputs = tiles * rows * cols;
  return rates;
}

// --- what must be seen ---------------------------------------------------------------------------

// True if no input of a kind with single products can show the rule, or only inputs that are too
// rare here: those have a test of their own in tcgen05_num_test.cc.
bool is_out_of_sight(const DotForm& form, Rule rule) {
  const InstructionDescriptor& idesc = form.idesc;
  const bool is_scaled = form.opcode.kind == Kind::mxf8f6f4;
  const bool wide = idesc.a == Type::bf16 || idesc.a == Type::tf32;
  const bool to_f16 = idesc.d == Type::f16;
  // Products of e2m1 lie too close together to lose one and show another at random.
  const bool narrowest = idesc.a == Type::e2m1 && idesc.b == Type::e2m1;
  const bool reaches_floor = wide || is_scaled || (to_f16 && idesc.a == Type::f16);
  const bool is_narrow = form.opcode.kind == Kind::f8f6f4;
  switch (rule) {
    case Rule::FloorOneUp:
    case Rule::FloorOneDown: return !reaches_floor || narrowest;
    case Rule::UnderflowKeepsSign: return !reaches_floor && !(to_f16 && idesc.a == Type::e5m2);
    case Rule::RoundsTwice: return !to_f16;
    case Rule::NormalisesSubnormals:
      return is_narrow && to_f16;  // rare: needs C near 2^-24
    // The largest sums: 8 * 4 + 2 of tf32 fit; all significands at once are rare in narrow types.
    case Rule::NarrowAdder: return idesc.a == Type::tf32 || !(bits(idesc.b) >= 8);
    case Rule::InfTimesZeroIsZero: return float_format(idesc.a).specials != Specials::Ieee;
    case Rule::OverflowsToLargest: return !wide && !to_f16 && !is_scaled;
    case Rule::ProductOverflows: return !wide;
    default: return false;
  }
}

bool is_out_of_packed_sight(const DotForm& form, Rule rule) {
  const bool is_ue4m3 = form.idesc.scale_type == ScaleType::ue4m3;
  switch (rule) {
    case Rule::NormalisesSubnormals:  // products are exact inside a group
    case Rule::FlushesOperands:
    case Rule::RenormalisesProducts:
    case Rule::KeepsMinusZero:
    case Rule::RoundsTwice:
    case Rule::InfTimesZeroIsZero:
    case Rule::ProductOverflows: return true;
    case Rule::NarrowAdder: return !is_ue4m3;  // 4 * 576 < 2^12
    case Rule::FloorOneUp:                     // the smallest scale of ue4m3 is 2^-9
    case Rule::FloorOneDown:
    case Rule::UnderflowKeepsSign:
    case Rule::OverflowsToLargest: return is_ue4m3;
    default: return false;
  }
}

void expect_seen(const char* rule, double seen, int outputs) {
  const double rate = seen * 1e6 / outputs;
  std::printf("  %-28s %8.0f per million\n", rule, rate);
  if (!tests::sanitized) {
    EXPECT_GE(rate, least_per_million) << rule;
  }
}

class Tcgen05Mixture : public testing::TestWithParam<DotForm> {};

TEST_P(Tcgen05Mixture, TellsEveryRivalApart) {
  const DotForm& form = GetParam();
  const bool packed = is_packed_4bit(form.opcode.kind);
  const Rates rates = detect(form);
  std::printf("%s, %d outputs\n", text(form).c_str(), rates.outputs);
  EXPECT_EQ(rates.rules[0], 0) << "the second copy of the sum is not the model";
  EXPECT_EQ(rates.groups[0], 0) << "the second copy of the groups is not the model";
  for (int r = 1; r < rivals::rule_count; ++r) {
    const auto rule = static_cast<Rule>(r);
    if (packed ? is_out_of_packed_sight(form, rule) : is_out_of_sight(form, rule)) continue;
    expect_seen(name(rule), rates.rules[static_cast<std::size_t>(r)], rates.outputs);
  }
  for (int r = 1; packed && r < rivals::group_rule_count; ++r) {
    const auto rule = static_cast<GroupRule>(r);
    if (!rivals::observable(form, rule)) continue;
    expect_seen(name(rule), rates.groups[static_cast<std::size_t>(r)], rates.outputs);
  }
  if (form.opcode.kind != Kind::mxf8f6f4) return;
  expect_seen("scales after rounding", rates.late_scale, rates.outputs);
  expect_seen("NaN scale needs data", rates.nan_scale, rates.outputs);
}

// Every type once as A; those of f8f6f4 and mxf8f6f4 with themselves and with the narrowest.
std::vector<DotForm> telling_forms() {
  std::vector<DotForm> forms;
  for (const DotForm& form : all_forms()) {
    const InstructionDescriptor& idesc = form.idesc;
    const bool to_f16 = idesc.d == Type::f16 && !is_fp8(idesc.a) && idesc.a != Type::f16;
    if (form.opcode.kind == Kind::i8 || to_f16) continue;
    const bool with_narrowest = idesc.a == Type::e4m3 && idesc.b == Type::e2m1;
    if (idesc.a == idesc.b || with_narrowest) forms.push_back(form);
  }
  return forms;
}

INSTANTIATE_TEST_SUITE_P(EveryKind, Tcgen05Mixture, testing::ValuesIn(telling_forms()),
                         [](const testing::TestParamInfo<DotForm>& info) {
                           std::string title = text(info.param);
                           for (char& c : title)
                             if (c == '.' || c == ' ') c = '_';
                           return title;
                         });

// The same sum may be drawn on any machine: nothing depends on what was drawn before.
TEST(Tcgen05MixtureOfOneOutput, IsAPureFunctionOfSeedAndPosition) {
  constexpr PackedMixture one(ScaleType::ue4m3, 16, MixtureClass::Cancel, 42);
  static_assert(one.a(3, 5) ==
                PackedMixture(ScaleType::ue4m3, 16, MixtureClass::Cancel, 42).a(3, 5));
  static_assert(one.c(3, 5) ==
                PackedMixture(ScaleType::ue4m3, 16, MixtureClass::Cancel, 42).c(3, 5));
  constexpr ScaledMixture two({Type::f32, Type::e4m3, Type::e2m1}, 32, MixtureClass::Floor, 42);
  static_assert(
      two.scale_a(3) ==
      ScaledMixture({Type::f32, Type::e4m3, Type::e2m1}, 32, MixtureClass::Floor, 42).scale_a(3));
}

TEST(Tcgen05MixtureOfOneOutput, HasNoBitsBeyondItsTypes) {
  for (const DotForm& form : all_forms()) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const Tile tile = draw_tile(form, mixture_class(seed), seed, 4, 4);
      for (const std::uint32_t word : tile.a)
        ASSERT_EQ(std::uint64_t{word} >> bits(form.idesc.a), 0u) << text(form);
      for (const std::uint32_t word : tile.b)
        ASSERT_EQ(std::uint64_t{word} >> bits(form.idesc.b), 0u) << text(form);
      for (const std::uint32_t word : tile.c)
        ASSERT_EQ(std::uint64_t{word} >> bits(form.idesc.d), 0u) << text(form);
    }
  }
}

}  // namespace
}  // namespace tcq::tcgen05
