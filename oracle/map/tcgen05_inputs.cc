// Products of one output of tcgen05.mma; see tcgen05_inputs.h.
#include "oracle/map/tcgen05_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/answer/json.h"

namespace tcq::oracle {
namespace {

using tcgen05::Element;

// "@69:10.0": lane, column and lowest bit of the first place.
std::string place_suffix(const TmemView& view, Element e) {
  const TmemPlace at = places_of(view, e)[0];
  return fmt::format("@{}:{}.{}", at.cell.tmem_lane, at.cell.tmem_column, at.low_bit);
}

// "@0x890", "@0x890.4" for elements of fewer than 8 bits.
std::string place_suffix(const SmemView& view, Element e) {
  const SmemPlace at = place_of(view, e);
  return bits(type_of(view)) < 8 ? fmt::format("@{:#x}.{}", at.byte, at.low_bit)
                                 : fmt::format("@{:#x}", at.byte);
}

int scale_block(const TmemInputs& inputs) { return inputs.k / cols(*inputs.sfa); }

std::string scale_text(const TmemView& view, Element factor) {
  return element_text(view, factor) + place_suffix(view, factor) + "*";
}

std::string product_text(const TmemInputs& inputs, Element d, int k) {
  std::string text;
  if (inputs.sfa) {
    const int s = k / scale_block(inputs);
    text += scale_text(*inputs.sfa, {d.row, s}) + scale_text(*inputs.sfb, {d.col, s});
  }
  const Element a = {d.row, k};
  const Element b = {k, d.col};
  text += fmt::format("{}A[{}][{}]", inputs.negate_a ? "-" : "", a.row, a.col);
  if (inputs.a) text += place_suffix(*inputs.a, a);
  if (inputs.smem_a) text += place_suffix(*inputs.smem_a, a);
  text += fmt::format("*{}B[{}][{}]", inputs.negate_b ? "-" : "", b.row, b.col);
  if (inputs.smem_b) text += place_suffix(*inputs.smem_b, b);
  return text;
}

int written_terms(const TmemInputs& inputs) {
  return inputs.terms == 0 ? inputs.k : std::min(inputs.terms, inputs.k);
}

std::string bare_json(Element e) {
  return json_object({{"row", std::to_string(e.row)}, {"col", std::to_string(e.col)}});
}

std::string product_json(const TmemInputs& inputs, Element d, int k) {
  const Element a = {d.row, k};
  const Element b = {k, d.col};
  std::vector<std::pair<std::string_view, std::string>> members = {
      {"a", inputs.a        ? where_json(*inputs.a, a)
            : inputs.smem_a ? where_json(*inputs.smem_a, a)
                            : bare_json(a)},
      {"b", inputs.smem_b ? where_json(*inputs.smem_b, b) : bare_json(b)}};
  if (inputs.sfa) {
    const int s = k / scale_block(inputs);
    members.emplace_back("sfa", where_json(*inputs.sfa, {d.row, s}));
    members.emplace_back("sfb", where_json(*inputs.sfb, {d.col, s}));
  }
  members.emplace_back("negate_a", inputs.negate_a ? "true" : "false");
  members.emplace_back("negate_b", inputs.negate_b ? "true" : "false");
  return json_object(members);
}

}  // namespace

std::string inputs_text(const TmemInputs& inputs, Element element) {
  const int terms = written_terms(inputs);
  std::string text;
  for (int k = 0; k < terms; ++k) text += (k > 0 ? " + " : "") + product_text(inputs, element, k);
  if (terms < inputs.k) text += " + ...";
  if (!inputs.accumulate) return text;
  return text + " + " + element_text(inputs.d, element) + place_suffix(inputs.d, element);
}

std::string inputs_json(const TmemInputs& inputs, Element element) {
  std::vector<std::string> products;
  for (int k = 0; k < written_terms(inputs); ++k)
    products.push_back(product_json(inputs, element, k));
  return json_object({{"products", json_array(products)},
                      {"c", inputs.accumulate ? where_json(inputs.d, element) : "null"}});
}

}  // namespace tcq::oracle
