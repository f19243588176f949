// Tables of answers: one Table, rendered as text, CSV, Markdown, AsciiDoc or JSON, or transposed.
#pragma once

#include <string>
#include <vector>

#include "oracle/answer/answer.h"

namespace tcq::oracle {

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // each as long as the header
};

Table transposed(const Table& table);

// Text pads columns with blanks; CSV is bare (no title lines), quoted where RFC 4180 asks for it;
// JSON is an array of objects with the header's words as keys (key_of), numbers as numbers.
std::string render(const Table& table, Style style);

}  // namespace tcq::oracle
