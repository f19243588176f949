// Printing facts; see facts.h.
#include "oracle/answer/facts.h"

#include <fmt/format.h>

#include <algorithm>

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

Value::Members facts_members(const Facts& facts) {
  Value::Members members;
  for (const Fact& fact : facts) members.push_back({key_of(fact.key), read_value(fact.text)});
  return members;
}

}  // namespace tcq::oracle
