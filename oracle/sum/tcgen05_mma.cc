// Data lines of tcgen05.mma; see tcgen05_mma.h.
#include "oracle/sum/tcgen05_mma.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "oracle/answer/data_line.h"
#include "oracle/answer/value.h"
#include "oracle/answer/words.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "oracle/sum/data_row.h"
#include "oracle/sum/element_text.h"
#include "oracle/sum/tcgen05_evidence.h"

namespace tcq::oracle {
namespace {

using tcgen05::DotForm;
using tcgen05::DotOperands;
using tcgen05::Reason;

std::vector<Reason> reasons_of(const DotForm& form) {
  std::vector<Reason> reasons;
  for (int i = 0; i < tcgen05::reason_count; ++i)
    if (applies(static_cast<Reason>(i), form)) reasons.push_back(static_cast<Reason>(i));
  return reasons;
}

std::vector<std::uint8_t> parse_scales(std::string_view word, int count, std::string_view what) {
  std::vector<std::uint8_t> scales;
  // Any type of two digits has their syntax.
  for (const std::uint32_t byte : parse_row(word, Type::u8, count, what))
    scales.push_back(static_cast<std::uint8_t>(byte));
  return scales;
}

Value::Members evidence_of(const DotForm& form) {
  return {{"evidence", name(evidence(form))},
          {"reasons", list_of(reasons_of(form), [](Reason reason) { return sentence(reason); })}};
}

// Several instructions: what is behind `text` of the words of each.
std::string heading(std::size_t instruction, std::size_t instructions) {
  return instructions == 1 ? ""
                           : fmt::format("instruction {} of {}\n", instruction + 1, instructions);
}

}  // namespace

DotForm dot_form_of(const Question& question, const Keys& keys) {
  const Tcgen05Instruction instruction = tcgen05_instruction_of(question, keys);
  const auto* mma = std::get_if<tcgen05::MmaForm>(&instruction.form);
  if (mma == nullptr)
    throw UsageError(fmt::format("tcgen05.{} sums nothing: expected tcgen05.mma",
                                 instruction_name(instruction.form)));
  const DotForm form = {mma->opcode, instruction.idesc, instruction.accumulate,
                        instruction.scale_input_d};
  if (const Fault fault = check_modelled(form); fault != Fault::None)
    throw FaultError(fault, fmt::format("; {}", sentence(tcgen05::Reason::K96)));
  return form;
}

Answer mma_answer(Type type, std::uint32_t d, const std::vector<SumStory>& stories, LineStyle style,
                  Value::Members more) {
  if (style.style == Style::Json) {
    Value::Members members = {{"d", fmt::format("{:0{}x}", d, hex_digits(type))}};
    if (style.decimals) members.push_back({"value", element_value(type, d)});
    if (style.explain)
      members.push_back({"instructions",
                         list_of(stories, [](const SumStory& story) { return value_of(story); })});
    for (Value::Member& member : more) members.push_back(std::move(member));
    return {Status::Yes, json_text(members), ""};
  }
  if (!style.explain) return {Status::Yes, element_answer(type, d, style.decimals), ""};
  std::string text;
  for (std::size_t i = 0; i < stories.size(); ++i)
    text +=
        fmt::format("{}{}{}", i > 0 ? "\n" : "", heading(i, stories.size()), text_of(stories[i]));
  return {Status::Yes, text, ""};
}

Answer tcgen05_mma_line(const DotForm& form, std::string_view line, LineStyle style) {
  if (const Fault fault = check_modelled(form); fault != Fault::None) throw FaultError(fault);
  const bool is_scaled = is_block_scaled(form.opcode.kind);
  const std::vector<std::string_view> words = split_data_line(
      line, is_scaled ? 5 : 3, is_scaled ? "'a b c sfa sfb'" : "'a b c'", is_scaled ? 5 : 2);
  const int k = products(form.opcode.kind);
  std::vector<std::uint32_t> a = read_row(words[0], form.idesc.a, "a", style.decimals);
  std::vector<std::uint32_t> b = read_row(words[1], form.idesc.b, "b", style.decimals);
  const std::size_t count = instructions_for(std::max(a.size(), b.size()), k);
  fill(a, count, k);
  fill(b, count, k);
  std::vector<std::uint8_t> scales_a, scales_b;
  const int scales = scale_count(form.opcode);
  if (is_scaled) {
    scales_a = parse_scales(words[3], static_cast<int>(count) * scales, "sfa");
    scales_b = parse_scales(words[4], static_cast<int>(count) * scales, "sfb");
  }
  std::uint32_t d =
      words.size() > 2 ? read_element(words[2], form.idesc.d, "c", style.decimals) : 0;
  std::vector<SumStory> stories;
  DotForm step = form;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i * static_cast<std::size_t>(k);
    const std::size_t scale_at = i * static_cast<std::size_t>(scales);
    DotOperands in{a.data() + at, b.data() + at, d};
    if (is_scaled) {
      in.scales_a = scales_a.data() + scale_at;
      in.scales_b = scales_b.data() + scale_at;
    }
    d = dot(step, in);
    if (style.explain) stories.push_back(sum_story(step, in));
    step.accumulate = true;
  }
  return mma_answer(form.idesc.d, d, stories, style, evidence_of(form));
}

std::string tcgen05_mma_evidence(const DotForm& form) {
  std::string text;
  for (const Reason reason : reasons_of(form))
    text += fmt::format("{}evidence: {}: {}", text.empty() ? "" : "\n", name(grade(reason)),
                        sentence(reason));
  return text;
}

}  // namespace tcq::oracle
