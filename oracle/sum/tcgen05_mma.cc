// Data lines of tcgen05.mma; see tcgen05_mma.h.
#include "oracle/sum/tcgen05_mma.h"

#include <fmt/format.h>

#include <vector>

#include "oracle/answer/data_line.h"
#include "oracle/answer/value.h"
#include "oracle/answer/words.h"
#include "oracle/sum/tcgen05_evidence.h"

namespace tcq::oracle {
namespace {

using tcgen05::DotForm;
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

Value value_of(const DotForm& form, const std::string& d) {
  return Value::Members{
      {"d", d},
      {"evidence", name(evidence(form))},
      {"reasons", list_of(reasons_of(form), [](Reason reason) { return sentence(reason); })}};
}

}  // namespace

Answer tcgen05_mma_line(const DotForm& form, std::string_view line, Style style) {
  if (const Fault fault = check_modelled(form); fault != Fault::None) throw FaultError(fault);
  const bool is_scaled = is_block_scaled(form.opcode.kind);
  const std::vector<std::string_view> words =
      split_data_line(line, is_scaled ? 5 : 3, is_scaled ? "'a b c sfa sfb'" : "'a b c'");
  const int k = products(form.opcode.kind);
  const std::vector<std::uint32_t> a = parse_row(words[0], form.idesc.a, k, "a");
  const std::vector<std::uint32_t> b = parse_row(words[1], form.idesc.b, k, "b");
  tcgen05::DotOperands in{a.data(), b.data(), parse_element(words[2], form.idesc.d, "c")};
  std::vector<std::uint8_t> scales_a;
  std::vector<std::uint8_t> scales_b;
  if (is_scaled) {
    scales_a = parse_scales(words[3], scale_count(form.opcode), "sfa");
    scales_b = parse_scales(words[4], scale_count(form.opcode), "sfb");
    in.scales_a = scales_a.data();
    in.scales_b = scales_b.data();
  }
  const std::string d = fmt::format("{:0{}x}", dot(form, in), hex_digits(form.idesc.d));
  return {Status::Yes, style == Style::Json ? json_text(value_of(form, d)) : d, ""};
}

std::string tcgen05_mma_evidence(const DotForm& form) {
  std::string text;
  for (const Reason reason : reasons_of(form))
    text += fmt::format("{}evidence: {}: {}", text.empty() ? "" : "\n", name(grade(reason)),
                        sentence(reason));
  return text;
}

}  // namespace tcq::oracle
