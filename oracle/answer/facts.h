// A list of facts about an instruction, as `describe` answers it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tcq::oracle {

struct Fact {
  std::string key;
  std::string text;
};
using Facts = std::vector<Fact>;

// One line per fact, the texts in one column.
std::string facts_text(const Facts& facts);

// The lines of the text, then `numbers`, which are JSON already.
std::string facts_json(const Facts& facts,
                       const std::vector<std::pair<std::string_view, std::string>>& numbers);

}  // namespace tcq::oracle
