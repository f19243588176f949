// The closed form of a layout, found by asking the layout itself: no formula is written down twice.
//
// The maps of sim/isa are sums of digits: an input such as a thread splits into digits (thread % 4,
// thread / 4 % 8, ...), and each digit adds fixed steps to the outputs. closed_form() finds the digits
// by evaluating the map at powers of two, proves the result by evaluating it everywhere, and writes it
// as C expressions and as a CuTe shape:stride string. Example: D of f32 has row = 16*(thread/32) +
// 8*(reg/2%2) + thread/4%8 and CuTe ((4,8,4),(2,2,N/8)):((128,1,16),(64,8,512)).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/map/map.h"
#include "sim/isa/base/swizzle.h"

namespace tcq::oracle {

// An input of a layout: its name in expressions, how many values it has, and how many it has in the
// largest layout of its family (so that an extent of 1 keeps its mode).
struct Input {
  std::string_view name;
  int extent;
  int largest_extent;
};

// Values of the inputs, in order -> values of the outputs.
using Layout = std::function<Coords(std::span<const int>)>;

// Digit `value / divisor % extent` of an input adds `step` per unit.
struct Digit {
  int divisor;
  int extent;
  Coords step;
};

struct ClosedForm {
  std::vector<Input> inputs;
  std::vector<std::vector<Digit>> digits;  // of each input, lowest first
  Coords origin;
};

// Throws std::logic_error if the layout is not a sum of digits.
ClosedForm closed_form(std::vector<Input> inputs, const Layout& layout);

// "16*(thread/32) + 8*(reg/2%2) + thread/4%8".
std::string forward_expression(const ClosedForm& form, std::size_t output);

// What an input is, from outputs of these names and extents; `free_digit` names the value of digits that
// move nothing (the threads of which only some are read).
std::string inverse_expression(const ClosedForm& form, std::size_t input,
                               const std::vector<Input>& outputs, std::string_view free_digit);

// Digits of one input that move nothing, as an expression: "thread/2%2"; empty if there are none.
std::string idle_expression(const ClosedForm& form, std::size_t input);

// CuTe string with the first input as one mode and all others together as the second, ordered as
// given; a stride is the sum of the steps, each output times its weight.
std::string cute_string(const ClosedForm& form, const Coords& weights);

// SwizzleFunction::apply() of x, as C, and the function in CuTe's words: "Swizzle<3,4,3>".
std::string swizzled_expression(const SwizzleFunction& f, std::uint32_t base_offset);
std::string cute_swizzle(const SwizzleFunction& f);

}  // namespace tcq::oracle
