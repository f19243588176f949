// Finding digits, proving them, and writing them down; see linear_map.h.
#include "oracle/map/linear_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tcq::oracle {
namespace {

using wgmma::Element;

Element operator-(Element a, Element b) { return {a.row - b.row, a.col - b.col}; }
Element operator+(Element a, Element b) { return {a.row + b.row, a.col + b.col}; }
Element operator*(int factor, Element e) { return {factor * e.row, factor * e.col}; }

bool moves_nothing(Element step) { return step == Element{0, 0}; }

// Steps at powers of two, neighbours merged where the step doubles.
std::vector<Digit> find_digits(const ElementMap& map, std::vector<int>& values, std::size_t input,
                               const Input& extent) {
  const Element origin = map(values);
  std::vector<Digit> digits;
  for (int power = 1; power < extent.largest_extent; power *= 2) {
    values[input] = power;
    const Element step = map(values) - origin;
    const bool continues =
        !digits.empty() && power / digits.back().divisor * digits.back().step == step;
    if (!continues) digits.push_back({power, 1, step});
  }
  values[input] = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const int end = i + 1 < digits.size() ? digits[i + 1].divisor : extent.extent;
    digits[i].extent = (end + digits[i].divisor - 1) / digits[i].divisor;
  }
  return digits;
}

Element evaluate(const ClosedForm& form, std::span<const int> values) {
  Element sum = form.origin;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (const Digit& digit : form.digits[i])
      sum = sum + values[i] / digit.divisor % digit.extent * digit.step;
  return sum;
}

// Evaluates the map everywhere.
void prove(const ClosedForm& form, const ElementMap& map) {
  std::vector<int> values(form.inputs.size(), 0);
  while (true) {
    if (map(values) != evaluate(form, values))
      throw std::logic_error("the layout is not a sum of digits");
    std::size_t i = 0;
    while (i < values.size() && ++values[i] == form.inputs[i].extent) values[i++] = 0;
    if (i == values.size()) return;
  }
}

// "thread", "thread%4", "thread/32", "thread/4%8": value / divisor % extent for values below
// `limit`.
std::string digit_expression(std::string_view name, int divisor, int extent, int limit) {
  std::string text(name);
  if (divisor > 1) text += fmt::format("/{}", divisor);
  if (divisor * extent < limit) text += fmt::format("%{}", extent);
  return text;
}

struct Term {
  int factor;
  std::string digit;
};

std::string sum_expression(std::vector<Term> terms, int constant) {
  std::stable_sort(terms.begin(), terms.end(),
                   [](const Term& a, const Term& b) { return a.factor > b.factor; });
  std::string text = constant != 0 ? std::to_string(constant) : "";
  for (const Term& term : terms) {
    if (!text.empty()) text += " + ";
    const bool simple = term.digit.find_first_of("/%") == std::string::npos;
    text += term.factor == 1 ? term.digit
            : simple         ? fmt::format("{}*{}", term.factor, term.digit)
                             : fmt::format("{}*({})", term.factor, term.digit);
  }
  return text.empty() ? "0" : text;
}

int stride(const Digit& digit, int rows) { return digit.step.row + digit.step.col * rows; }

// The digits of several inputs as one list, neighbours merged where the step continues.
std::vector<Digit> joined(const ClosedForm& form, std::size_t first) {
  std::vector<Digit> all;
  for (std::size_t i = first; i < form.digits.size(); ++i)
    for (const Digit& digit : form.digits[i]) {
      const bool continues = !all.empty() && !moves_nothing(digit.step) &&
                             all.back().extent * all.back().step == digit.step;
      if (continues)
        all.back().extent *= digit.extent;
      else
        all.push_back(digit);
    }
  return all;
}

}  // namespace

ClosedForm closed_form(std::vector<Input> inputs, const ElementMap& map) {
  std::vector<int> values(inputs.size(), 0);
  ClosedForm form{std::move(inputs), {}, map(values)};
  for (std::size_t i = 0; i < form.inputs.size(); ++i)
    form.digits.push_back(find_digits(map, values, i, form.inputs[i]));
  prove(form, map);
  return form;
}

std::string forward_expression(const ClosedForm& form, int Element::*axis) {
  std::vector<Term> terms;
  for (std::size_t i = 0; i < form.inputs.size(); ++i)
    for (const Digit& digit : form.digits[i])
      if (digit.step.*axis != 0 && digit.extent > 1)
        terms.push_back({digit.step.*axis, digit_expression(form.inputs[i].name, digit.divisor,
                                                            digit.extent, form.inputs[i].extent)});
  return sum_expression(std::move(terms), form.origin.*axis);
}

std::string inverse_expression(const ClosedForm& form, std::size_t input, Element extents,
                               std::string_view col_name, std::string_view free_digit) {
  std::vector<Term> terms;
  for (const Digit& digit : form.digits[input]) {
    if (digit.extent == 1) continue;
    const bool by_row = digit.step.row != 0;
    terms.push_back(
        {digit.divisor,
         moves_nothing(digit.step)
             ? std::string(free_digit)
             : digit_expression(by_row ? "row" : col_name, by_row ? digit.step.row : digit.step.col,
                                digit.extent, by_row ? extents.row : extents.col)});
  }
  return sum_expression(std::move(terms), 0);
}

std::string idle_expression(const ClosedForm& form, std::size_t input) {
  for (const Digit& digit : form.digits[input])
    if (moves_nothing(digit.step) && digit.extent > 1)
      return digit_expression(form.inputs[input].name, digit.divisor, digit.extent,
                              form.inputs[input].extent);
  return "";
}

std::string cute_string(const ClosedForm& form, int rows) {
  std::string shapes;
  std::string strides;
  const auto add_mode = [&](const std::vector<Digit>& digits) {
    shapes += shapes.empty() ? "((" : ",(";
    strides += strides.empty() ? "((" : ",(";
    for (std::size_t i = 0; i < digits.size(); ++i) {
      shapes += fmt::format("{}{}", i > 0 ? "," : "", digits[i].extent);
      strides += fmt::format("{}{}", i > 0 ? "," : "", stride(digits[i], rows));
    }
    shapes += ")";
    strides += ")";
  };
  add_mode(form.digits[0]);
  add_mode(joined(form, 1));
  return shapes + "):" + strides + ")";
}

}  // namespace tcq::oracle
