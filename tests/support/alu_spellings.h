// Every spelling that the rows of sim/ptx/opcode_table.h allow the ALU's opcodes, with any types: legal ones and many that
// are not.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ptx/form.h"

namespace tcq::alu {

inline std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// The words of one place of a row, with nothing where it may be left out.
inline std::vector<std::string> choices(std::string_view place) {
  const bool is_mandatory = place.back() == '!';
  if (is_mandatory) place.remove_suffix(1);
  std::vector<std::string> out;
  if (!is_mandatory) out.emplace_back();
  if (place[0] == '.') return out.emplace_back(place), out;
  for (const ptx::SlotRow& slot : ptx::slot_table)
    if (slot.name == place)
      for (const std::string_view word : words_of(slot.words))
        out.push_back("." + std::string(word));
  return out;
}

template <class Visit>
void each_form(const ptx::OpcodeRow& row, Visit visit) {
  std::vector<std::string> texts = {std::string(row.name)};
  int types = 0;
  const auto extend = [&](const std::vector<std::string>& by) {
    std::vector<std::string> longer;
    for (const std::string& text : texts)
      for (const std::string& word : by) longer.push_back(text + word);
    texts = std::move(longer);
  };
  for (const std::string_view place : words_of(row.modifiers)) {
    if (place[0] == 't' && place.size() > 1 && place[1] >= '1' && place[1] <= '5')
      types = place[1] - '0';
    else if (place.substr(0, 5) != "shape")
      extend(choices(place));
  }
  std::vector<std::string> names;
  for (const ptx::TypeInfo& type : ptx::type_table)
    if (!type.name.empty()) names.push_back("." + std::string(type.name));
  if (types >= 1) extend(names);
  if (types == 2) extend(names);
  for (const std::string& text : texts) visit(text);
}

inline bool is_of_the_alu(ptx::Opcode opcode) {
  if (opcode <= ptx::Opcode::Mov && opcode != ptx::Opcode::Unknown) return true;
  return opcode >= ptx::Opcode::ShflSync && opcode <= ptx::Opcode::ElectSync;
}

template <class Visit>
void each_alu_spelling(Visit visit) {
  for (const ptx::OpcodeRow& row : ptx::opcode_table())
    if (is_of_the_alu(row.opcode)) each_form(row, visit);
}

}  // namespace tcq::alu
