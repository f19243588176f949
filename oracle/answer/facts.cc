// Printing facts; see facts.h.
#include "oracle/answer/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/answer/json.h"

namespace tcq::oracle {

std::string facts_text(const Facts& facts) {
  std::size_t width = 0;
  for (const Fact& fact : facts) width = std::max(width, fact.key.size());
  std::string text;
  for (const Fact& fact : facts)
    text += fmt::format("{}{:<{}}  {}", text.empty() ? "" : "\n", fact.key, width, fact.text);
  return text;
}

std::string facts_json(const Facts& facts,
                       const std::vector<std::pair<std::string_view, std::string>>& numbers) {
  std::vector<std::string> keys;
  for (const Fact& fact : facts) keys.push_back(json_key(fact.key));
  std::vector<std::pair<std::string_view, std::string>> members;
  for (std::size_t i = 0; i < facts.size(); ++i)
    members.emplace_back(keys[i], json_value(facts[i].text));
  members.insert(members.end(), numbers.begin(), numbers.end());
  return json_object(members);
}

}  // namespace tcq::oracle
