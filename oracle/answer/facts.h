// A list of facts about an instruction or a tile, as `describe`, `layout` and `partition` answer it.
#pragma once

#include <string>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/value.h"

namespace tcq::oracle {

struct Fact {
  std::string key;
  std::string text;
};
using Facts = std::vector<Fact>;

// One line per fact, the texts in one column; or "key: text" lines.
std::string facts_text(const Facts& facts);
std::string facts_lines(const Facts& facts);

// A page of Markdown: a heading with the first fact, and a table of the others.
std::string facts_markdown(const Facts& facts);

// What the lines of the text say, numbers as numbers.
Value::Members facts_members(const Facts& facts);

// The facts in the style that was asked for; in JSON what `value` holds.
Answer facts_answer(const Facts& facts, Value::Members value, Style style);

}  // namespace tcq::oracle
