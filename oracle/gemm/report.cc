#include "oracle/gemm/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "oracle/answer/json.h"
#include "oracle/answer/words.h"

namespace tcq::oracle::gemm {
namespace {

using Members = std::vector<std::pair<std::string_view, std::string>>;

int hex_digits(Type type) { return (bits(type) + 3) / 4; }

std::string hex(Type type, std::uint32_t word) {
  return fmt::format("{:0{}x}", word, hex_digits(type));
}

std::string distance(const Report& report, std::uint64_t ulps) {
  if (ulps == one_is_nan) return "one is NaN";
  return fmt::format("{} {}", ulps, is_float(report.out) ? "ulp" : "apart");
}

// --- text ------------------------------------------------------------------------------------------

std::string difference_text(const Report& report, std::string_view title, std::string_view other,
                            const Difference& d) {
  return fmt::format("    {}: D[{}][{}] = {}, {} {} ({})\n", title, d.row, d.col,
                     hex(report.out, d.predicted), other, hex(report.out, d.other),
                     distance(report, d.ulps));
}

std::string comparison_text(const Report& report, std::string_view with, std::string_view other,
                            const Comparison& c) {
  std::string text = fmt::format("  {}: {} outputs, {} differ\n", with, c.outputs, c.differing);
  if (c.first) text += difference_text(report, "first", other, *c.first);
  if (c.worst) text += difference_text(report, "worst", other, *c.worst);
  if (c.nan_payloads > 0)
    text += fmt::format("    {} of them are NaN in both, with other payloads\n", c.nan_payloads);
  return text;
}

std::string explanation_text(const Explanation& e) {
  const std::string of = fmt::format("{} rival orders on {} outputs", e.asked, e.outputs);
  if (!e.by.empty())
    return fmt::format("    explained by {} (of {})\n", fmt::join(e.by, " and "), of);
  if (e.nearest.empty()) return fmt::format("    explained by none of {}\n", of);
  return fmt::format("    explained by none of {}; nearest: {}, {} of {}\n", of, e.nearest,
                     e.nearest_outputs, e.outputs);
}

std::string order_text(const Report& report, const OrderReport& order) {
  std::string text = fmt::format("{}: {}\n", printable(order.spec), order.sentence);
  text += fmt::format("  bits of D: fnv1a64 {:016x}\n", order.fingerprint);
  if (order.errors)
    text += fmt::format(
        "  from float64: at most {:.6g}, {:.6g} of the sum of |a| |b|; root mean square {:.6g}\n",
        order.errors->max_absolute, order.errors->max_relative, order.errors->root_mean_square);
  if (order.beside_first)
    text += comparison_text(report, "beside " + printable(report.orders[0].spec), "there",
                            *order.beside_first);
  if (order.device)
    text += comparison_text(report, shown_path(report.compared_with), "device", *order.device);
  if (order.explanation) text += explanation_text(*order.explanation);
  if (!order.out.empty()) text += fmt::format("  written: {}\n", shown_path(order.out));
  return text;
}

bool all_rows(const Report& report) { return report.rows.count() == report.m; }

// --- JSON ------------------------------------------------------------------------------------------

std::string json_of(const Report& report, const Difference& d) {
  return json_object({{"row", std::to_string(d.row)},
                      {"col", std::to_string(d.col)},
                      {"predicted", json_string(hex(report.out, d.predicted))},
                      {"there", json_string(hex(report.out, d.other))},
                      {"ulps", d.ulps == one_is_nan ? "null" : std::to_string(d.ulps)}});
}

Members comparison_members(const Report& report, const Comparison& c) {
  Members members = {{"outputs", std::to_string(c.outputs)},
                     {"differing", std::to_string(c.differing)},
                     {"nan_payloads", std::to_string(c.nan_payloads)}};
  if (c.first) members.emplace_back("first", json_of(report, *c.first));
  if (c.worst) members.emplace_back("worst", json_of(report, *c.worst));
  return members;
}

std::string strings_json(const std::vector<std::string>& texts) {
  std::vector<std::string> values;
  for (const std::string& text : texts) values.push_back(json_string(text));
  return json_array(values);
}

std::string json_of(const Explanation& e) {
  Members members = {{"by", strings_json(e.by)},
                     {"asked", std::to_string(e.asked)},
                     {"outputs", std::to_string(e.outputs)}};
  if (e.by.empty() && !e.nearest.empty())
    members.emplace_back("nearest", json_object({{"order", json_string(e.nearest)},
                                                 {"outputs", std::to_string(e.nearest_outputs)}}));
  return json_object(members);
}

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : "null";
}

std::string json_of(const GemmErrors& errors) {
  return json_object({{"max_absolute", number(errors.max_absolute)},
                      {"max_relative", number(errors.max_relative)},
                      {"root_mean_square", number(errors.root_mean_square)}});
}

std::string json_of(const Report& report, const OrderReport& order) {
  Members members = {{"order", json_string(order.spec)},
                     {"meaning", json_string(order.sentence)},
                     {"fnv1a64", json_string(fmt::format("{:016x}", order.fingerprint))}};
  if (order.errors) members.emplace_back("from_float64", json_of(*order.errors));
  if (order.beside_first)
    members.emplace_back("beside_first",
                         json_object(comparison_members(report, *order.beside_first)));
  if (order.device) {
    Members compared = comparison_members(report, *order.device);
    if (order.explanation) compared.emplace_back("explained", json_of(*order.explanation));
    members.emplace_back("compared", json_object(compared));
  }
  if (!order.out.empty()) members.emplace_back("written", json_string(order.out));
  return json_object(members);
}

}  // namespace

bool Report::mismatch() const {
  return !compared_with.empty() && std::ranges::none_of(orders, [](const OrderReport& order) {
    return order.device && order.device->differing == 0;
  });
}

std::string text_of(const Report& report) {
  const Product& p = report.product;
  std::string text =
      fmt::format("D {} x {} = A {} x {} * B {} x {}, {} * {} -> {}", report.m, report.n, report.m,
                  p.k, p.k, report.n, name(p.a), name(p.b), name(report.out));
  if (!all_rows(report)) text += fmt::format(", rows {}-{}", report.rows.first, report.rows.end);
  text += "\n";
  for (const std::string& path : report.saved) text += fmt::format("saved: {}\n", shown_path(path));
  for (const OrderReport& order : report.orders) text += order_text(report, order);
  for (const std::string& note : report.notes) text += fmt::format("note: {}\n", note);
  text.pop_back();
  return text;
}

std::string json_of(const Report& report) {
  std::vector<std::string> orders;
  for (const OrderReport& order : report.orders) orders.push_back(json_of(report, order));
  Members members = {{"m", std::to_string(report.m)},
                     {"n", std::to_string(report.n)},
                     {"k", std::to_string(report.product.k)},
                     {"type_a", json_string(name(report.product.a))},
                     {"type_b", json_string(name(report.product.b))},
                     {"out_type", json_string(name(report.out))},
                     {"first_row", std::to_string(report.rows.first)},
                     {"end_row", std::to_string(report.rows.end)},
                     {"orders", json_array(orders)}};
  if (!report.saved.empty()) members.emplace_back("saved", strings_json(report.saved));
  if (!report.compared_with.empty())
    members.emplace_back("compared_with", json_string(report.compared_with));
  members.emplace_back("notes", strings_json(report.notes));
  return json_object(members);
}

}  // namespace tcq::oracle::gemm
