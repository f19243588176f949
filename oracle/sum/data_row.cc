// Reading, filling and answering rows; see data_row.h.
#include "oracle/sum/data_row.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/answer/answer.h"
#include "oracle/answer/data_line.h"
#include "oracle/sum/element_text.h"

namespace tcq::oracle {

bool reads_decimals(const Keys& keys) {
  return keys.choice(numbers_key, {"hex", "decimal"}, 0) == 1;
}

std::uint32_t read_element(std::string_view word, Type type, std::string_view what, bool decimals) {
  if (decimals || looks_decimal(word)) return parse_decimal(word, type, what);
  return parse_element(word, type, what);
}

std::vector<std::uint32_t> read_row(std::string_view word, Type type, std::string_view what,
                                    bool decimals) {
  std::vector<std::uint32_t> elements;
  while (true) {
    const std::size_t comma = word.find(',');
    elements.push_back(read_element(word.substr(0, comma), type,
                                    fmt::format("element {} of {}", elements.size(), what),
                                    decimals));
    if (comma == word.npos) return elements;
    word.remove_prefix(comma + 1);
  }
}

std::size_t instructions_for(std::size_t elements, int per_instruction) {
  const auto each = static_cast<std::size_t>(per_instruction);
  return std::max<std::size_t>(1, (elements + each - 1) / each);
}

void fill(std::vector<std::uint32_t>& row, std::size_t instructions, int per_instruction) {
  row.resize(instructions * static_cast<std::size_t>(per_instruction), 0);
}

std::string element_answer(Type type, std::uint32_t element, bool decimals) {
  const std::string hex = fmt::format("{:0{}x}", element, hex_digits(type));
  return decimals ? fmt::format("{} = {}", hex, decimal_text(type, element)) : hex;
}

}  // namespace tcq::oracle
