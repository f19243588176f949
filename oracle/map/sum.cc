// Products of one output as text and JSON; see sum.h.
#include "oracle/map/sum.h"

#include <fmt/format.h>

namespace tcq::oracle {
namespace {

std::string at_place(const Map& map, const Coords& element) {
  return is_known(map) ? "@" + sum_text(map, map.places(element)[0]) : "";
}

std::string factor_text(const Map& map, const Coords& element) {
  return element_text(map, element) + at_place(map, element);
}

// "B[{0..2}][13]@{0x2ad0,0x2ad2,0x2ad4}".
std::string b_text(const Map& map, const std::vector<Coords>& candidates) {
  if (candidates.size() == 1) return factor_text(map, candidates[0]);
  const std::string text = fmt::format("B[{{{}..{}}}][{}]", candidates.front()[0],
                                       candidates.back()[0], candidates.front()[1]);
  if (!is_known(map)) return text;
  std::string places;
  for (const Coords& candidate : candidates)
    places += (places.empty() ? "" : ",") + at_place(map, candidate).substr(1);
  return text + "@{" + places + "}";
}

std::string product_text(const Sum& sum, const Product& product) {
  std::string text;
  if (sum.sfa)
    text += factor_text(*sum.sfa, product.sfa) + "*" + factor_text(*sum.sfb, product.sfb) + "*";
  return text + (sum.negate_a ? "-" : "") + factor_text(sum.a, product.a) +
         (sum.negate_b ? "*-" : "*") + b_text(sum.b, product.b);
}

Value product_value(const Sum& sum, const Product& product) {
  Value::Members members = {
      {"a", element_members(sum.a, product.a)},
      {"b", list_of(product.b, [&](const Coords& b) { return element_members(sum.b, b); })}};
  if (sum.sfa) {
    members.push_back({"sfa", element_members(*sum.sfa, product.sfa)});
    members.push_back({"sfb", element_members(*sum.sfb, product.sfb)});
  }
  members.push_back({"negate_a", sum.negate_a});
  members.push_back({"negate_b", sum.negate_b});
  return members;
}

}  // namespace

std::string sum_text(const Sum& sum, const Map& d, const Coords& element) {
  std::string text;
  for (std::size_t i = 0; i < sum.written; ++i)
    text += (i > 0 ? " + " : "") + product_text(sum, sum.products[i]);
  if (sum.written < sum.products.size()) text += " + ...";
  if (!sum.accumulate) return text;
  // In registers C has a name of its own, in Tensor Memory it is D.
  return text + " + " + (is_of_registers(d) ? "C" : element_text(d, element)) +
         at_place(d, element);
}

Value sum_value(const Sum& sum, const Map& d, const Coords& element) {
  Value::List products;
  for (std::size_t i = 0; i < sum.written; ++i)
    products.push_back(product_value(sum, sum.products[i]));
  return Value::Members{{"products", std::move(products)},
                        {"c", sum.accumulate ? Value(element_members(d, element)) : Value()}};
}

}  // namespace tcq::oracle
