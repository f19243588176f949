// Rows of a data line of `tcq mma`: hex or decimals, shorter than K or longer.
//
// A row shorter than an instruction's K ends with zeros; a longer one is summed by a chain of
// instructions, D of one being C of the next. Example: "38" is one 1.0 of e4m3 and 31 zeros, 64 elements
// of it are two instructions of K = 32. What the words mean is data_line.h's and element_text.h's.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "oracle/answer/words.h"
#include "sim/isa/base/element.h"

namespace tcq::oracle {

// The key of all data lines: numbers=hex|decimal.
inline constexpr std::string_view numbers_key = "numbers";
bool reads_decimals(const Keys& keys);

// One element: fixed-width hex unless it looks like a decimal, or all words are.
std::uint32_t read_element(std::string_view word, Type type, std::string_view what, bool decimals);

// Comma-separated elements, at least one.
std::vector<std::uint32_t> read_row(std::string_view word, Type type, std::string_view what,
                                    bool decimals);

// Instructions that so many elements need, at least one.
std::size_t instructions_for(std::size_t elements, int per_instruction);

// Makes the row as long as that many instructions read.
void fill(std::vector<std::uint32_t>& row, std::size_t instructions, int per_instruction);

// "40000000", with numbers=decimal "40000000 = 2".
std::string element_answer(Type type, std::uint32_t element, bool decimals);

}  // namespace tcq::oracle
