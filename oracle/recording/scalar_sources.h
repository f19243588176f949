// What the sources of a scalar instruction hold: rows drawn so that rival readings of the instruction differ.
//
// Decides which values are drawn, nothing about their use: scalar_case.h. A row is a pure function of its number and of
// a seed. Of two floats the first rows pair every special value with every other; integers, shift counts and masks have
// their own; packed types are drawn element by element. Example: row 0 of add.f32 is {+0, +0}.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/alu/forms.h"

namespace tcq::oracle {

// Which rows a case has, and how many.
enum class ScalarRows : std::uint8_t {
  Drawn,      // special values, then drawn ones
  EveryHalf,  // of one source of 16 bits, or two such: every value
  Survey,     // of one or two f32: everywhere alike, and where the function is not trivial
};
inline constexpr int scalar_rows_count = 3;

std::uint32_t row_count(ScalarRows rows);

// Requires: row < row_count(rows), out has alu::source_words() words.
void draw_sources(const alu::ScalarForm& form, ScalarRows rows, std::uint64_t seed,
                  std::uint32_t row, std::span<std::uint64_t> out);

}  // namespace tcq::oracle
