// The closed form of a layout, found by asking the layout itself: no formula is written down twice.
//
// The maps of sim/isa are sums of digits: an input such as a thread splits into digits (thread % 4,
// thread / 4 % 8, ...), and each digit adds a fixed (row, column) step. closed_form() finds the
// digits by evaluating the map at powers of two, proves the result by evaluating it everywhere, and
// writes it as C expressions and as a CuTe shape:stride string. Example: D of f32 has row =
// 16*(thread/32) + 8*(reg/2%2) + thread/4%8 and CuTe ((4,8,4),(2,2,N/8)):((128,1,16),(64,8,512)).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/isa/wgmma/fragment.h"

namespace tcq::oracle {

// An input of a map: its name in expressions, how many values it has, and how many it has in the
// largest layout of its family (so that an extent of 1 keeps its mode).
struct Input {
  std::string_view name;
  int extent;
  int largest_extent;
};

// Values of the inputs, in order -> (row, col).
using ElementMap = std::function<wgmma::Element(std::span<const int>)>;

// Digit `value / divisor % extent` of an input adds `step` per unit.
struct Digit {
  int divisor;
  int extent;
  wgmma::Element step;
};

struct ClosedForm {
  std::vector<Input> inputs;
  std::vector<std::vector<Digit>> digits;  // of each input, lowest first
  wgmma::Element origin;
};

// Throws std::logic_error if the map is not a sum of digits.
ClosedForm closed_form(std::vector<Input> inputs, const ElementMap& map);

// "16*(thread/32) + 8*(reg/2%2) + thread/4%8"; `axis` picks row or col.
std::string forward_expression(const ClosedForm& form, int wgmma::Element::*axis);

// What an input is, from row and col; `extents` are those of the matrix, `free_digit` names the
// value of digits that move nothing (the threads of which only some are read).
std::string inverse_expression(const ClosedForm& form, std::size_t input, wgmma::Element extents,
                               std::string_view col_name, std::string_view free_digit);

// Digits of one input that move nothing, as an expression: "thread/2%2"; empty if there are none.
std::string idle_expression(const ClosedForm& form, std::size_t input);

// CuTe string with the first input as one mode and all others together as the second, ordered as
// given; strides are step.row + step.col * rows.
std::string cute_string(const ClosedForm& form, int rows);

}  // namespace tcq::oracle
