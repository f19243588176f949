#include "oracle/gemm/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

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
  const std::string entry = report.has_batch ? fmt::format("[{}]", d.row / report.m) : "";
  return fmt::format("    {}: D{}[{}][{}] = {}, {} {} ({})\n", title, entry, d.row % report.m,
                     d.col, hex(report.out, d.predicted), other, hex(report.out, d.other),
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

std::string errors_text(const GemmErrors& errors) {
  const bool has_none = errors.compared == 0 && errors.not_finite > 0;
  std::string text = "  from float64: ";
  if (has_none)
    text += "no output can be compared: all";
  else
    text += fmt::format("at most {:.6g}, {:.6g} of the sum of |a| |b|; root mean square {:.6g}",
                        errors.max_absolute, errors.max_relative, errors.root_mean_square);
  if (errors.not_finite == 0) return text + "\n";
  return text + fmt::format("{} {} outputs are NaN or Inf in D or in float64\n",
                            has_none ? "" : "; besides", errors.not_finite);
}

std::string order_text(const Report& report, const OrderReport& order) {
  std::string text = fmt::format("{}: {}\n", printable(order.spec), order.sentence);
  text += fmt::format("  bits of D: fnv1a64 {:016x}\n", order.fingerprint);
  if (order.errors) text += errors_text(*order.errors);
  if (order.beside_first)
    text += comparison_text(report, "beside " + printable(report.orders[0].spec), "there",
                            *order.beside_first);
  if (order.device)
    text += comparison_text(report, shown_path(report.compared_with), "device", *order.device);
  if (order.explanation) text += explanation_text(*order.explanation);
  if (!order.out.empty()) text += fmt::format("  written: {}\n", shown_path(order.out));
  return text;
}

bool all_rows(const Report& report) { return report.rows.count() == report.batch * report.m; }

// --- JSON ------------------------------------------------------------------------------------------

Value::Members value_of(const Report& report, const Difference& d) {
  Value::Members members = {{"row", d.row % report.m},
                            {"col", d.col},
                            {"predicted", hex(report.out, d.predicted)},
                            {"there", hex(report.out, d.other)},
                            {"ulps", d.ulps == one_is_nan ? Value() : Value(d.ulps)}};
  if (report.has_batch) members.insert(members.begin(), {"entry", d.row / report.m});
  return members;
}

Value::Members value_of(const Report& report, const Comparison& c) {
  Value::Members members = {
      {"outputs", c.outputs}, {"differing", c.differing}, {"nan_payloads", c.nan_payloads}};
  if (c.first) members.push_back({"first", value_of(report, *c.first)});
  if (c.worst) members.push_back({"worst", value_of(report, *c.worst)});
  return members;
}

Value::Members value_of(const Explanation& e) {
  Value::Members members = {{"by", list_of(e.by)}, {"asked", e.asked}, {"outputs", e.outputs}};
  if (e.by.empty() && !e.nearest.empty())
    members.push_back(
        {"nearest", Value::Members{{"order", e.nearest}, {"outputs", e.nearest_outputs}}});
  return members;
}

Value::Members value_of(const GemmErrors& errors) {
  const auto figure = [&](double value) {
    return errors.compared == 0 && errors.not_finite > 0 ? Value() : Value(value);
  };
  return {{"max_absolute", figure(errors.max_absolute)},
          {"max_relative", figure(errors.max_relative)},
          {"root_mean_square", figure(errors.root_mean_square)},
          {"compared", errors.compared},
          {"not_finite", errors.not_finite}};
}

Value::Members value_of(const Report& report, const OrderReport& order) {
  Value::Members members = {{"order", order.spec},
                            {"meaning", order.sentence},
                            {"fnv1a64", fmt::format("{:016x}", order.fingerprint)}};
  if (order.errors) members.push_back({"from_float64", value_of(*order.errors)});
  if (order.beside_first)
    members.push_back({"beside_first", value_of(report, *order.beside_first)});
  if (order.device) {
    Value::Members compared = value_of(report, *order.device);
    if (order.explanation) compared.push_back({"explained", value_of(*order.explanation)});
    members.push_back({"compared", compared});
  }
  if (!order.out.empty()) members.push_back({"written", order.out});
  return members;
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
      fmt::format("D {}{} x {} = A {} * B {}, {} * {} -> {}",
                  report.has_batch ? fmt::format("{} x ", report.batch) : "", report.m,
                  EpilogueWords{.activation = report.activation}.columns(report.n), report.shape_a,
                  report.shape_b, name(p.a), name(p.b), name(report.out));
  if (p.scaling != Scaling::None) text += fmt::format(", factors {}", name(p.scaling));
  if (is_gated(report.activation))
    text += fmt::format(", {} of columns 2 j and 2 j + 1", name(report.activation));
  if (!all_rows(report)) text += fmt::format(", rows {}-{}", report.rows.first, report.rows.end);
  text += "\n";
  for (const std::string& path : report.saved) text += fmt::format("saved: {}\n", shown_path(path));
  for (const OrderReport& order : report.orders) text += order_text(report, order);
  for (const std::string& note : report.notes) text += fmt::format("note: {}\n", note);
  text.pop_back();
  return text;
}

Value value_of(const Report& report) {
  Value::Members members = {{"m", report.m},
                            {"n", report.n},
                            {"k", report.product.k},
                            {"type_a", name(report.product.a)},
                            {"type_b", name(report.product.b)},
                            {"out_type", name(report.out)},
                            {"first_row", report.rows.first},
                            {"end_row", report.rows.end},
                            {"orders", list_of(report.orders, [&](const OrderReport& order) {
                               return value_of(report, order);
                             })}};
  if (report.has_batch) members.insert(members.begin(), {"batch", report.batch});
  if (report.product.scaling != Scaling::None)
    members.push_back({"scaling", name(report.product.scaling)});
  if (is_gated(report.activation)) members.push_back({"activation", name(report.activation)});
  if (!report.saved.empty()) members.push_back({"saved", list_of(report.saved)});
  if (!report.compared_with.empty()) members.push_back({"compared_with", report.compared_with});
  members.push_back({"notes", list_of(report.notes)});
  return members;
}

}  // namespace tcq::oracle::gemm
