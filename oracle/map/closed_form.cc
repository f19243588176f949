// Finding digits, proving them, and writing them down; see closed_form.h.
#include "oracle/map/closed_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace tcq::oracle {
namespace {

template <class Combine>
Coords combined(const Coords& a, const Coords& b, Combine&& combine) {
  Coords result;
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), combine);
  return result;
}

Coords sum(const Coords& a, const Coords& b) { return combined(a, b, std::plus<>()); }
Coords difference(const Coords& a, const Coords& b) { return combined(a, b, std::minus<>()); }
Coords scaled(int factor, Coords step) {
  for (int& s : step) s *= factor;
  return step;
}

bool moves_nothing(const Coords& step) { return step == Coords{}; }

// Steps at powers of two, neighbours merged where the step doubles.
std::vector<Digit> find_digits(const Layout& layout, std::vector<int>& values, std::size_t input,
                               const Input& extent) {
  const Coords origin = layout(values);
  std::vector<Digit> digits;
  for (int power = 1; power < extent.largest_extent; power *= 2) {
    values[input] = power;
    const Coords step = difference(layout(values), origin);
    const bool continues =
        !digits.empty() && scaled(power / digits.back().divisor, digits.back().step) == step;
    if (!continues) digits.push_back({power, 1, step});
  }
  values[input] = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const int end = i + 1 < digits.size() ? digits[i + 1].divisor : extent.extent;
    digits[i].extent = (end + digits[i].divisor - 1) / digits[i].divisor;
  }
  return digits;
}

Coords evaluate(const ClosedForm& form, std::span<const int> values) {
  Coords total = form.origin;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (const Digit& digit : form.digits[i])
      total = sum(total, scaled(values[i] / digit.divisor % digit.extent, digit.step));
  return total;
}

// Evaluates the layout everywhere.
void prove(const ClosedForm& form, const Layout& layout) {
  std::vector<int> values(form.inputs.size(), 0);
  while (true) {
    if (layout(values) != evaluate(form, values))
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

int stride(const Digit& digit, const Coords& weights) {
  return std::inner_product(weights.begin(), weights.end(), digit.step.begin(), 0);
}

// The digits of several inputs as one list, neighbours merged where the step continues.
std::vector<Digit> joined(const ClosedForm& form, std::size_t first) {
  std::vector<Digit> all;
  for (std::size_t i = first; i < form.digits.size(); ++i)
    for (const Digit& digit : form.digits[i]) {
      const bool continues = !all.empty() && !moves_nothing(digit.step) &&
                             scaled(all.back().extent, all.back().step) == digit.step;
      if (continues)
        all.back().extent *= digit.extent;
      else
        all.push_back(digit);
    }
  return all;
}

}  // namespace

ClosedForm closed_form(std::vector<Input> inputs, const Layout& layout) {
  std::vector<int> values(inputs.size(), 0);
  ClosedForm form{std::move(inputs), {}, layout(values)};
  for (std::size_t i = 0; i < form.inputs.size(); ++i)
    form.digits.push_back(find_digits(layout, values, i, form.inputs[i]));
  prove(form, layout);
  return form;
}

std::string forward_expression(const ClosedForm& form, std::size_t output) {
  std::vector<Term> terms;
  for (std::size_t i = 0; i < form.inputs.size(); ++i)
    for (const Digit& digit : form.digits[i])
      if (digit.step[output] != 0 && digit.extent > 1)
        terms.push_back(
            {digit.step[output], digit_expression(form.inputs[i].name, digit.divisor, digit.extent,
                                                  form.inputs[i].extent)});
  return sum_expression(std::move(terms), form.origin[output]);
}

std::string inverse_expression(const ClosedForm& form, std::size_t input,
                               const std::vector<Input>& outputs, std::string_view free_digit) {
  std::vector<Term> terms;
  for (const Digit& digit : form.digits[input]) {
    if (digit.extent == 1) continue;
    std::string term(free_digit);
    for (std::size_t i = outputs.size(); i-- > 0;)
      if (digit.step[i] != 0)
        term = digit_expression(outputs[i].name, digit.step[i], digit.extent, outputs[i].extent);
    terms.push_back({digit.divisor, term});
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

std::string cute_string(const ClosedForm& form, const Coords& weights) {
  std::string shapes;
  std::string strides;
  const auto add_mode = [&](const std::vector<Digit>& digits) {
    shapes += shapes.empty() ? "((" : ",(";
    strides += strides.empty() ? "((" : ",(";
    for (std::size_t i = 0; i < digits.size(); ++i) {
      shapes += fmt::format("{}{}", i > 0 ? "," : "", digits[i].extent);
      strides += fmt::format("{}{}", i > 0 ? "," : "", stride(digits[i], weights));
    }
    shapes += ")";
    strides += ")";
  };
  add_mode(form.digits[0]);
  add_mode(joined(form, 1));
  return shapes + "):" + strides + ")";
}

std::string swizzled_expression(const SwizzleFunction& f, std::uint32_t base_offset) {
  if (f.bits == 0) return "x";
  const int source = 1 << (f.base + f.shift);
  const std::string minus = base_offset == 0 ? "" : fmt::format(" - {}", base_offset);
  return fmt::format("x ^ (x/{}{} & {})*{}", source, minus, (1 << f.bits) - 1, 1 << f.base);
}

std::string cute_swizzle(const SwizzleFunction& f) {
  return fmt::format("Swizzle<{},{},{}>", f.bits, f.base, f.shift);
}

}  // namespace tcq::oracle
