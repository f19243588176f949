// Reading the words of one data line of `tcq mma`: rows of elements in fixed-width hex.
//
// An element has one digit per four bits, rounded up: 8 for tf32, 4 for 16-bit types, 2 for 8- and
// 6-bit types, 1 for e2m1. Example: "38,00" as two e4m3 is {0x38, 0x00}. Every reader throws
// UsageError.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/isa/base/element.h"

namespace tcq::oracle {

int hex_digits(Type type);

// Blank-separated words of a line, at least `least` of them. `layout` names them for the complaint, in
// quotes: "'a b c'".
std::vector<std::string_view> split_data_line(std::string_view line, std::size_t expected,
                                              std::string_view layout, std::size_t least);

// One element; bits beyond its type are refused.
std::uint32_t parse_element(std::string_view word, Type type, std::string_view what);

// `count` comma-separated elements.
std::vector<std::uint32_t> parse_row(std::string_view word, Type type, int count,
                                     std::string_view what);

}  // namespace tcq::oracle
