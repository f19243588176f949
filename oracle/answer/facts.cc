// Printing facts; see facts.h.
#include "oracle/answer/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace tcq::oracle {

std::string facts_text(const Facts& facts) {
  std::size_t width = 0;
  for (const Fact& fact : facts) width = std::max(width, fact.key.size());
  std::string text;
  for (const Fact& fact : facts)
    text += fmt::format("{}{:<{}}  {}", text.empty() ? "" : "\n", fact.key, width, fact.text);
  return text;
}

std::string facts_lines(const Facts& facts) {
  std::string text;
  for (const Fact& fact : facts)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", fact.key, fact.text);
  return text;
}

std::string facts_markdown(const Facts& facts) {
  const auto cell = [](std::string_view text) {
    std::string escaped;
    for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
    return escaped;
  };
  std::string text = fmt::format("# {}\n\n| | |\n|---|---|", facts.at(0).text);
  for (std::size_t i = 1; i < facts.size(); ++i) {
    const bool code = facts[i].key == "PTX" || facts[i].key == "example";
    text += fmt::format("\n| {} | {}{}{} |", facts[i].key, code ? "`" : "", cell(facts[i].text),
                        code ? "`" : "");
  }
  return text;
}

Answer facts_answer(const Facts& facts, Value::Members value, Style style) {
  if (style == Style::Json) return {Status::Yes, json_text(std::move(value)), ""};
  return {Status::Yes, style == Style::Markdown ? facts_markdown(facts) : facts_text(facts), ""};
}

Value::Members facts_members(const Facts& facts) {
  Value::Members members;
  for (const Fact& fact : facts) members.push_back({key_of(fact.key), read_value(fact.text)});
  return members;
}

}  // namespace tcq::oracle
