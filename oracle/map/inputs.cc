// Builds the products behind one output once, then writes them as text or JSON; see inputs.h.
#include "oracle/map/inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/answer/answer.h"
#include "oracle/answer/json.h"
#include "oracle/map/metadata.h"
#include "sim/isa/wgmma/place.h"

namespace tcq::oracle {
namespace {

using wgmma::Element;

struct Product {
  Element a;
  std::vector<Element> b;  // more than one: the metadata code decides which
};

struct Sum {
  View a;
  View b;
  bool negate_a;
  bool negate_b;
  bool accumulate;
  std::vector<Product> products;
  std::size_t written;  // how many products are spelt out
};

bool has_place(const View& view) { return view.has_desc || view.in_registers(); }

void read_desc(View& view, const Keys& keys, std::string_view key) {
  if (!keys.has(key)) return;
  if (view.in_registers())
    throw UsageError(
        fmt::format("{}= is for shared memory, but A is in registers: expected no {}=", key, key));
  set_desc(view, parse_number(keys.text(key, ""), std::string(key) + "="));
}

Sum sum_of(const View& d, Element element, const Keys& keys) {
  const wgmma::Form& form = d.instruction.form;
  Sum sum{view_of(d.instruction, Matrix::A),
          view_of(d.instruction, Matrix::B),
          form.negate_a,
          form.negate_b,
          d.instruction.accumulate,
          {},
          0};
  read_desc(sum.a, keys, "desc_a");
  read_desc(sum.b, keys, "desc_b");
  if (keys.has("codes") && !form.sparse)
    throw UsageError("codes= is for wgmma.sp only: expected no codes=");
  const std::vector<std::uint32_t> codes = keys.has("codes")
                                               ? parse_codes(keys.text("codes", ""), form.a)
                                               : std::vector<std::uint32_t>{};
  check_codes(codes, form.a);
  for (int col = 0; col < sum.a.cols; ++col) {
    Product product{{element.row, col}, {}};
    const std::vector<int> rows =
        form.sparse ? logical_ks(form.a, col, codes) : std::vector<int>{col};
    for (const int row : rows) product.b.push_back({row, element.col});
    sum.products.push_back(std::move(product));
  }
  sum.written = keys.number_or("terms", 1, sum.products.size(), sum.products.size());
  return sum;
}

// "@0x890", "@0x890.3" for b1, "@thread 6, register 3, part 1".
std::string place_suffix(const View& view, Element element) {
  if (!has_place(view)) return "";
  if (view.in_registers()) return "@" + place_text(view, element);
  const int k = view.matrix == Matrix::B ? element.row : element.col;
  const std::string bit =
      view.type == Type::b1 ? fmt::format(".{}", wgmma::bit_in_byte(view.type, k)) : "";
  return fmt::format("@{:#x}{}", address_of(view, element), bit);
}

std::string b_text(const View& view, const std::vector<Element>& candidates) {
  if (candidates.size() == 1)
    return element_text(view, candidates[0]) + place_suffix(view, candidates[0]);
  std::string text = fmt::format("B[{{{}..{}}}][{}]", candidates.front().row, candidates.back().row,
                                 candidates.front().col);
  if (!has_place(view)) return text;
  std::string places;
  for (const Element& candidate : candidates) {
    if (!places.empty()) places += ",";
    places += place_suffix(view, candidate).substr(1);
  }
  return text + "@{" + places + "}";
}

std::string element_json(const View& view, Element element) {
  std::vector<std::pair<std::string_view, std::string>> members = {
      {"row", std::to_string(element.row)}, {"col", std::to_string(element.col)}};
  if (view.in_registers()) {
    const wgmma::Slot slot = slot_of(view, element);
    members.emplace_back("thread", std::to_string(slot.thread));
    members.emplace_back("register", std::to_string(slot.reg));
    members.emplace_back("part", std::to_string(slot.part));
  } else if (has_place(view)) {
    members.emplace_back("byte", std::to_string(address_of(view, element)));
    const int k = view.matrix == Matrix::B ? element.row : element.col;
    if (view.type == Type::b1)
      members.emplace_back("bit", std::to_string(wgmma::bit_in_byte(view.type, k)));
  }
  return json_object(members);
}

}  // namespace

std::string inputs_text(const View& d, Element element, const Keys& keys) {
  const Sum sum = sum_of(d, element, keys);
  std::string text;
  for (std::size_t i = 0; i < sum.written; ++i) {
    const Product& product = sum.products[i];
    if (i > 0) text += " + ";
    text += sum.negate_a ? "-" : "";
    text += element_text(sum.a, product.a) + place_suffix(sum.a, product.a);
    text += sum.negate_b ? "*-" : "*";
    text += b_text(sum.b, product.b);
  }
  if (sum.written < sum.products.size()) text += " + ...";
  if (sum.accumulate) text += " + C@" + place_text(d, element);
  return text;
}

std::string inputs_json(const View& d, Element element, const Keys& keys) {
  const Sum sum = sum_of(d, element, keys);
  std::vector<std::string> products;
  for (std::size_t i = 0; i < sum.written; ++i) {
    std::vector<std::string> candidates;
    for (const Element& b : sum.products[i].b) candidates.push_back(element_json(sum.b, b));
    products.push_back(json_object({{"a", element_json(sum.a, sum.products[i].a)},
                                    {"b", json_array(candidates)},
                                    {"negate_a", sum.negate_a ? "true" : "false"},
                                    {"negate_b", sum.negate_b ? "true" : "false"}}));
  }
  return json_object({{"products", json_array(products)},
                      {"c", sum.accumulate ? element_json(d, element) : "null"}});
}

}  // namespace tcq::oracle
