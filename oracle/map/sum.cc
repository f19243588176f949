// Products of one output as text and JSON; see sum.h.
#include "oracle/map/sum.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tcq::oracle {
namespace {

using Json = nlohmann::ordered_json;

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

Json product_json(const Sum& sum, const Product& product) {
  Json candidates = Json::array();
  for (const Coords& b : product.b) candidates.push_back(element_json(sum.b, b));
  Json json = {{"a", element_json(sum.a, product.a)}, {"b", std::move(candidates)}};
  if (sum.sfa) {
    json["sfa"] = element_json(*sum.sfa, product.sfa);
    json["sfb"] = element_json(*sum.sfb, product.sfb);
  }
  json["negate_a"] = sum.negate_a;
  json["negate_b"] = sum.negate_b;
  return json;
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

Json sum_json(const Sum& sum, const Map& d, const Coords& element) {
  Json products = Json::array();
  for (std::size_t i = 0; i < sum.written; ++i)
    products.push_back(product_json(sum, sum.products[i]));
  return {{"products", std::move(products)},
          {"c", sum.accumulate ? element_json(d, element) : Json()}};
}

}  // namespace tcq::oracle
