// Terms, alignment and words of one sum; see sum_story.h.
#include "oracle/sum/sum_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "oracle/answer/data_line.h"
#include "oracle/sum/element_text.h"

namespace tcq::oracle {
namespace {

using tcgen05::DotForm;
using tcgen05::DotOperands;

std::string hex_of(Type type, std::uint32_t element) {
  return fmt::format("{:0{}x}", element, hex_digits(type));
}

double value_of(const StoryTerm& term) {
  return std::ldexp(static_cast<double>(term.significand), term.lsb_exponent);
}

// "+0.5", exact: no significand has more bits than a double.
std::string signed_text(double value) { return fmt::format("{:+}", value); }

// ---- Terms --------------------------------------------------------------------------------------

struct Operands {
  Type type_a, type_b;
  const std::uint32_t* a;
  const std::uint32_t* b;
  bool negate_a, negate_b;
};

std::string product_text(const Operands& o, int k) {
  const auto value = [](Type type, std::uint32_t element, bool negate) {
    return fmt::format("{}{}", negate ? "-" : "", decimal_text(type, element));
  };
  return fmt::format("k {}: {} * {} = {} * {}", k, hex_of(o.type_a, o.a[k]),
                     hex_of(o.type_b, o.b[k]), value(o.type_a, o.a[k], o.negate_a),
                     value(o.type_b, o.b[k], o.negate_b));
}

void add(SumStory& story, StoryTerm term) {
  if (term.significand == 0)
    ++story.zeros;
  else
    story.terms.push_back(std::move(term));
}

void add_c(SumStory& story, Type d, std::uint32_t word, const Decoded& c) {
  if (c.significand == 0) return;
  story.terms.push_back({fmt::format("c: {} = {}", hex_of(d, word), decimal_text(d, word)),
                         c.significand, c.exponent - float_format(d).fraction_bits, c.exponent});
}

// What is neither finite nor zero, first of all.
std::string special_text(const Operands& o, const Decoded& x, const Decoded& y, int k) {
  SpecialSum special;
  if (is_special(x.kind) || is_special(y.kind)) special.add_product(x, y);
  return special.any() ? product_text(o, k) : "";
}

// ---- Alignment ----------------------------------------------------------------------------------

void align_terms(SumStory& story, const DotTraits& traits) {
  story.max_exponent = traits.floor_exponent;
  story.at_floor = true;
  for (const StoryTerm& term : story.terms)
    if (term.exponent > story.max_exponent) {
      story.max_exponent = term.exponent;
      story.at_floor = false;
    }
  story.step_exponent = story.max_exponent - traits.fraction_bits;
  for (StoryTerm& term : story.terms) {
    term.kept = align(term.significand, term.exponent - term.lsb_exponent, term.exponent,
                      traits.fraction_bits, story.max_exponent);
    story.sum += term.kept;
  }
  story.rounding = name(traits.conversion);
}

SumStory integer_story(const Operands& o, int count, std::uint32_t c, bool accumulate) {
  SumStory story;
  story.exact = true;
  story.type = Type::s32;
  for (int k = 0; k < count; ++k)
    add(story,
        {product_text(o, k),
         std::int64_t{decode_integer(o.type_a, o.a[k])} * decode_integer(o.type_b, o.b[k]), 0, 0});
  if (accumulate && c != 0)
    story.terms.push_back({fmt::format("c: {:08x} = {}", c, decode_integer(Type::s32, c)),
                           decode_integer(Type::s32, c), 0, 0});
  for (StoryTerm& term : story.terms) story.sum += term.kept = term.significand;
  return story;
}

// Products of two decoded rows, as fused_sum() takes them.
SumStory fused_story(const Operands& o, const DotTraits& traits, Type d, const Decoded* rows,
                     const Decoded* cols, int count, std::uint32_t c_word, const Decoded& c) {
  SumStory story;
  story.type = d;
  const int product_bits =
      float_format(o.type_a).fraction_bits + float_format(o.type_b).fraction_bits;
  for (int k = 0; k < count; ++k) {
    if (story.special.empty()) story.special = special_text(o, rows[k], cols[k], k);
    const int exponent = rows[k].exponent + cols[k].exponent;
    add(story, {product_text(o, k), std::int64_t{rows[k].significand} * cols[k].significand,
                exponent - product_bits, exponent});
  }
  if (is_special(c.kind) && story.special.empty())
    story.special = fmt::format("c: {} = {}", hex_of(d, c_word), decimal_text(d, c_word));
  add_c(story, d, c_word, c);
  align_terms(story, traits);
  return story;
}

// ---- tcgen05 ------------------------------------------------------------------------------------

Operands operands_of(const DotForm& form, const DotOperands& in) {
  return {form.idesc.a, form.idesc.b, in.a, in.b, form.idesc.negate_a, form.idesc.negate_b};
}

// A group of 16 products under one pair of scale factors is one term.
SumStory packed_story(const DotForm& form, const DotOperands& in) {
  using namespace tcgen05;
  const int block = scale_block(form.opcode);
  const InstructionDescriptor& d = form.idesc;
  const PackedRow a = decode_packed_row(in.a, d.negate_a, d.scale_type, in.scales_a, block);
  const PackedRow b = decode_packed_row(in.b, d.negate_b, d.scale_type, in.scales_b, block);
  SumStory story;
  story.type = d.d;
  if (a.nan || b.nan) story.special = "a scale factor is nan";
  const Decoded c = decode_input_d(form, in.c);
  if (is_special(c.kind)) story.special = fmt::format("c: {}", hex_of(d.d, in.c));
  for (int g = 0; g < group_count; ++g) {
    const int exponent = group_exponent(a, b, g);
    const std::int64_t sum = group_sum(a, b, g);
    if (exponent <= zero_exponent) {
      story.zeros += group_products;
      continue;
    }
    const int scale = g * group_products / block;
    story.terms.push_back(
        {fmt::format("k {} to {}: {} times the scales {:02x} and {:02x}", g * group_products,
                     (g + 1) * group_products - 1, static_cast<double>(sum) / 4, in.scales_a[scale],
                     in.scales_b[scale]),
         sum * a.significand[g] * b.significand[g], exponent - term_fraction_bits, exponent});
  }
  add_c(story, d.d, in.c, c);
  align_terms(story, tcgen05_dot_traits(form.opcode.kind, d.d));
  return story;
}

SumStory unpacked_story(const DotForm& form, const DotOperands& in) {
  using namespace tcgen05;
  const Operands o = operands_of(form, in);
  const Scale scale_a = row_scale(form, in.scales_a);
  const Scale scale_b = row_scale(form, in.scales_b);
  const int count = products(form.opcode.kind);
  std::vector<Decoded> rows, cols;
  for (int i = 0; i < count; ++i) {
    rows.push_back(scaled(decode_float(o.type_a, in.a[i], o.negate_a), scale_a));
    cols.push_back(scaled(decode_float(o.type_b, in.b[i], o.negate_b), scale_b));
  }
  SumStory story = fused_story(o, tcgen05_dot_traits(form.opcode.kind, form.idesc.d), form.idesc.d,
                               rows.data(), cols.data(), count, in.c, decode_input_d(form, in.c));
  if (scale_a.nan || scale_b.nan) story.special = "a scale factor is nan";
  if (in.scales_a == nullptr) return story;
  for (StoryTerm& term : story.terms)
    if (term.what.starts_with("k "))
      term.what +=
          fmt::format(" times the scales {:02x} and {:02x}", in.scales_a[0], in.scales_b[0]);
  return story;
}

// ---- Words --------------------------------------------------------------------------------------

std::string term_line(const SumStory& story, const StoryTerm& term) {
  const double value = value_of(term);
  if (story.exact) return fmt::format("{} = {}", term.what, term.significand);
  const double kept = std::ldexp(static_cast<double>(term.kept), story.step_exponent);
  const std::string cut =
      value == kept ? "nothing cut" : fmt::format("{} cut", signed_text(value - kept));
  return fmt::format("{} -> {} = {} * 2^{}, {}", term.what, signed_text(value), term.kept,
                     story.step_exponent, cut);
}

std::string exponent_line(const SumStory& story) {
  const auto owner = std::find_if(story.terms.begin(), story.terms.end(), [&](const StoryTerm& t) {
    return t.exponent == story.max_exponent;
  });
  const std::string whose = story.at_floor || owner == story.terms.end()
                                ? "the lowest that there is"
                                : "the largest, of " + owner->what.substr(0, owner->what.find(':'));
  return fmt::format("alignment exponent {}, {}: terms are cut to multiples of 2^{}, {} bits below",
                     story.max_exponent, whose, story.step_exponent,
                     story.max_exponent - story.step_exponent);
}

std::string result_line(const SumStory& story) {
  return fmt::format("d: {} = {}", hex_of(story.type, story.d), decimal_text(story.type, story.d));
}

}  // namespace

SumStory sum_story(const DotTypes& types, const std::uint32_t* a, const std::uint32_t* b, int count,
                   std::uint32_t c, const DotOptions& options) {
  const Operands o = {types.a, types.b, a, b, options.negate_a, options.negate_b};
  SumStory story;
  if (!is_float(types.a)) {
    story = integer_story(o, count, c, options.accumulate);
    story.rounding = options.satfinite ? "clamped to 32 bits" : "wrapped to 32 bits";
  } else {
    std::vector<Decoded> rows, cols;
    for (int i = 0; i < count; ++i) {
      rows.push_back(decode_float(types.a, a[i], options.negate_a));
      cols.push_back(decode_float(types.b, b[i], options.negate_b));
    }
    story = fused_story(o, wgmma_dot_traits(types.d, types.a), types.d, rows.data(), cols.data(),
                        count, c, decode_c(types.d, c, options.accumulate));
  }
  story.d = dot(types, a, b, count, c, options);
  return story;
}

SumStory sum_story(const DotForm& form, const DotOperands& in) {
  SumStory story;
  if (form.opcode.kind == tcgen05::Kind::i8) {
    story = integer_story(operands_of(form, in), products(form.opcode.kind), in.c, form.accumulate);
    story.rounding = form.idesc.saturate ? "clamped to 32 bits" : "wrapped to 32 bits";
  } else {
    story = is_packed_4bit(form.opcode.kind) ? packed_story(form, in) : unpacked_story(form, in);
  }
  story.d = dot(form, in);
  return story;
}

std::string text_of(const SumStory& story) {
  if (!story.special.empty())
    return fmt::format("{} decides at once: no sum is formed\n{}", story.special,
                       result_line(story));
  std::string text;
  if (!story.exact) text += exponent_line(story) + "\n";
  for (const StoryTerm& term : story.terms) text += term_line(story, term) + "\n";
  if (story.zeros > 0) text += fmt::format("{} products are zero\n", story.zeros);
  text += story.exact
              ? fmt::format("sum: {}, {}\n", story.sum, story.rounding)
              : fmt::format("sum: {} * 2^{} = {}, rounded {}\n", story.sum, story.step_exponent,
                            std::ldexp(static_cast<double>(story.sum), story.step_exponent),
                            story.rounding);
  return text + result_line(story);
}

Value value_of(const SumStory& story) {
  const auto term = [&](const StoryTerm& t) {
    return Value::Members{{"term", t.what.substr(0, t.what.find(':'))},
                          {"text", t.what},
                          {"value", value_of(t)},
                          {"exponent", t.exponent},
                          {"kept", t.kept}};
  };
  Value::Members members = {{"d", hex_of(story.type, story.d)},
                            {"value", element_value(story.type, story.d)}};
  if (!story.special.empty()) {
    members.push_back({"special", story.special});
    return members;
  }
  members.push_back({"alignment_exponent", story.exact ? Value() : Value(story.max_exponent)});
  members.push_back({"step_exponent", story.exact ? 0 : story.step_exponent});
  members.push_back({"terms", list_of(story.terms, term)});
  members.push_back({"zeros", story.zeros});
  members.push_back({"sum", story.sum});
  members.push_back({"rounding", story.rounding});
  return members;
}

}  // namespace tcq::oracle
