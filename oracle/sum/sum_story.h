// One instruction's sum told term by term: what `tcq mma --explain` prints.
//
// Every term that is not zero with its value, the exponent at which all are aligned and whose it is, what
// is left of each term there and what is cut, the exact sum, and how it becomes D. The steps are those of
// sim/num/fused_sum.h and block_scaled_sum.h, told with the same functions; D itself is dot()'s, and
// tests/oracle/sum_story_test.cc holds the two together. Example: e4m3, 1 * 1 + 1.000244: E = 0, terms are
// cut to multiples of 2^-13, 16385 of them, rounded to 2.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/value.h"
#include "sim/num/dot.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::oracle {

// A term of the sum: value = significand * 2^lsb_exponent.
struct StoryTerm {
  std::string what;  // "k 0: 38 * 38 = 1 * 1"
  std::int64_t significand;
  int lsb_exponent;
  int exponent;           // that alignment sees
  std::int64_t kept = 0;  // multiples of the step that are left
};

struct SumStory {
  std::vector<StoryTerm> terms;  // that are not zero
  int zeros = 0;                 // products that are
  std::string special;           // what decides D at once: a NaN or an infinity
  bool exact = false;            // integers: nothing is aligned, nothing cut
  int max_exponent = 0;
  bool at_floor = false;
  int step_exponent = 0;  // terms are cut to multiples of 2^step_exponent
  std::int64_t sum = 0;   // in these steps
  std::string rounding;
  Type type = Type::f32;
  std::uint32_t d = 0;
};

SumStory sum_story(const DotTypes& types, const std::uint32_t* a, const std::uint32_t* b, int count,
                   std::uint32_t c, const DotOptions& options);
SumStory sum_story(const tcgen05::DotForm& form, const tcgen05::DotOperands& in);

// The exponent that a term of any fused sum has where terms are aligned (sim/num/fused_sum.h), and what D is beyond the largest
// number (sim/num/round.h).
inline constexpr std::string_view term_exponent_text =
    "of a product the sum of its factors' exponents, whatever the product is "
    "(1.875 * 1.875 has 0); of a subnormal the smallest normal one";
inline constexpr std::string_view float_overflow_text = "Inf, toward zero too";

// Lines without the last newline.
std::string text_of(const SumStory& story);
Value value_of(const SumStory& story);

}  // namespace tcq::oracle
