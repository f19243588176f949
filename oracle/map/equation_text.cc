// Lines of closed forms as text and JSON; see equation_text.h.
#include "oracle/map/equation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "oracle/answer/json.h"

namespace tcq::oracle {
namespace {

bool is_cute(const std::string& label) { return label.starts_with("CuTe"); }

std::string json_key_of(const std::string& label) {
  if (is_cute(label)) return label.ends_with("*k") ? "cute_logical_k" : "cute";
  std::string key = label;
  std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

}  // namespace

std::string equation_text(const EquationLines& lines) {
  std::string text;
  for (const auto& [label, expression] : lines)
    text += fmt::format("{}{}{} {}", text.empty() ? "" : "\n", label, is_cute(label) ? ":" : " =",
                        expression);
  return text;
}

std::string equation_json(const EquationLines& lines) {
  std::vector<std::string> keys;
  for (const auto& line : lines) keys.push_back(json_key_of(line.first));
  std::vector<std::pair<std::string_view, std::string>> members;
  for (std::size_t i = 0; i < lines.size(); ++i)
    members.emplace_back(keys[i], json_string(lines[i].second));
  return json_object(members);
}

std::string swizzled_expression(const SwizzleFunction& f, std::uint32_t base_offset) {
  if (f.bits == 0) return "x";
  const int source = 1 << (f.base + f.shift);
  const std::string minus = base_offset == 0 ? "" : fmt::format(" - {}", base_offset);
  return fmt::format("x ^ (x/{}{} & {})*{}", source, minus, (1 << f.bits) - 1, 1 << f.base);
}

std::string cute_swizzle(const SwizzleFunction& f) {
  return fmt::format("Swizzle<{},{},{}>", f.bits, f.base, f.shift);
}

}  // namespace tcq::oracle
