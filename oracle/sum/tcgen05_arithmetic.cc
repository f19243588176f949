// Facts about the arithmetic of tcgen05.mma; every number is sim/num's. See tcgen05_arithmetic.h.
#include "oracle/sum/tcgen05_arithmetic.h"

#include <fmt/format.h>

#include "oracle/sum/sum_story.h"
#include "oracle/sum/tcgen05_evidence.h"
#include "sim/num/block_scaled_sum.h"
#include "sim/num/dot_traits.h"

namespace tcq::oracle {
namespace {

using tcgen05::DotForm;
using tcgen05::Reason;

void add_integer_sum(Facts& facts, const DotForm& form) {
  facts.push_back({"sum", "D plus the products, exact"});
  facts.push_back({"overflow", form.idesc.saturate ? "clamped to s32 once at the end (saturate)"
                                                   : "wraps to 32 bits"});
}

std::string sum_text(const DotForm& form, const DotTraits& traits) {
  if (!is_packed_4bit(form.opcode.kind))
    return fmt::format(
        "exact products and D, cut to multiples of 2^(E - {}), added exactly, rounded once; E = "
        "largest exponent of a term",
        traits.fraction_bits);
  return fmt::format(
      "{} groups of {} products, each added exactly and multiplied by its scale factors; groups "
      "and "
      "D cut to multiples of 2^(E - {}), added exactly, rounded once; E = largest exponent of D "
      "and "
      "of the scale factors of a group with a product that is not zero",
      tcgen05::group_count, tcgen05::group_products, traits.fraction_bits);
}

std::string scale_text(const DotForm& form) {
  return form.idesc.scale_type == tcgen05::ScaleType::ue8m0
             ? "ue8m0: 2^(byte - 127), 0xff is NaN"
             : "ue4m3: e4m3 without its sign bit, 0x7f is NaN";
}

std::string nan_text(const DotForm& form, const DotTraits& traits) {
  const std::string always = fmt::format("{:#x}, always positive", nan_bits(traits.conversion));
  return is_block_scaled(form.opcode.kind) ? always + "; a NaN scale factor makes D NaN" : always;
}

void add_float_sum(Facts& facts, const DotForm& form) {
  const DotTraits traits = tcgen05_dot_traits(form.opcode.kind, form.idesc.d);
  facts.push_back({"sum", sum_text(form, traits)});
  facts.push_back({"fraction bits kept", std::to_string(traits.fraction_bits)});
  facts.push_back({"floor", fmt::format("E is at least {}", traits.floor_exponent)});
  if (!is_packed_4bit(form.opcode.kind))
    facts.push_back({"exponent of a term", std::string(term_exponent_text)});
  facts.push_back({"rounding", name(traits.conversion)});
  facts.push_back({"overflow", std::string(float_overflow_text)});
  facts.push_back({"NaN", nan_text(form, traits)});
  facts.push_back({"subnormals", "kept in A, B and D"});
  if (!is_block_scaled(form.opcode.kind)) return;
  facts.push_back({"scale format", scale_text(form)});
  if (!is_packed_4bit(form.opcode.kind))
    facts.push_back({"scaling", "scale factors add to exponents, before alignment"});
}

}  // namespace

void add_arithmetic(Facts& facts, const DotForm& form) {
  if (check_modelled(form) != Fault::None)
    facts.push_back({"sum", fmt::format("not modelled: {}", sentence(Reason::K96))});
  else if (form.opcode.kind == tcgen05::Kind::i8)
    add_integer_sum(facts, form);
  else
    add_float_sum(facts, form);
}

void add_arithmetic_evidence(Facts& facts, const DotForm& form) {
  std::string text;
  for (int i = 0; i < tcgen05::reason_count; ++i) {
    const auto reason = static_cast<Reason>(i);
    if (!applies(reason, form)) continue;
    text +=
        fmt::format("{}{}: {}", text.empty() ? "" : "; ", name(grade(reason)), sentence(reason));
  }
  facts.push_back({"arithmetic is", name(evidence(form))});
  facts.push_back({"evidence, arithmetic", text});
}

}  // namespace tcq::oracle
