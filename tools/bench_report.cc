#include "tools/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <tuple>

namespace tcq::tools {
namespace {

using Json = nlohmann::ordered_json;

const char* regime(bool burst) { return burst ? "burst" : "sustained"; }

double tera(double amount, double microseconds) { return amount / microseconds * 1e-6; }

double share(const Measured& m) {
  return m.ceiling ? m.operations / (m.ours.median * 1e-6) / m.ceiling->operations_per_second : 0;
}

Json json_of(const Quartiles& q) {
  return {{"median", q.median}, {"first_quartile", q.first}, {"third_quartile", q.third}};
}

Json json_of(const std::optional<Quartiles>& q) { return q ? json_of(*q) : Json(); }

Json json_of(const std::optional<Ceiling>& c) {
  if (!c) return {};
  Json out = {{"tera_operations_per_s", c->operations_per_second * 1e-12},
              {"sm_mhz_in_loop", c->sm_mhz},
              {"tensor_share_of_clocks", c->tensor_share},
              {"loop_us", c->loop_microseconds},
              {"launch_us", c->launch_microseconds}};
  out["sm_mhz"] = c->reading ? Json(c->reading->sm_mhz) : Json();
  out["watts"] = c->reading ? Json(c->reading->watts) : Json();
  return out;
}

Json json_of(const Measured& m) {
  const bool deals_rows = m.variant.groups > 0 && !m.variant.along_k;
  Json row = {{"m", m.shape.m},
              {"n", m.shape.n},
              {"k", m.shape.k},
              {"type", name(m.in)},
              {"regime", regime(m.burst)},
              {"variant", m.variant.name()},
              {"batch", m.variant.batch},
              {"shared_b", m.variant.shared_b},
              {"groups", m.variant.groups},
              {"along_k", m.variant.along_k},
              {"rows_by", deals_rows ? Json(m.variant.rows_by) : Json()},
              {"pad", m.variant.pad},
              {"has_workspace", m.variant.has_workspace},
              {"kernel", m.kernel},
              {"realigned", m.realigned},
              {"ours_us", json_of(m.ours)},
              {"cublaslt_default_us", json_of(m.theirs)},
              {"cublaslt_best_us", json_of(m.best)},
              {"ratio_default", json_of(m.ratio)},
              {"ratio_best", json_of(m.best_ratio)},
              {"tera_operations_per_s", tera(m.operations, m.ours.median)},
              {"terabytes_per_s", tera(m.bytes, m.ours.median)},
              {"ceiling", json_of(m.ceiling)},
              {"share_of_ceiling", m.ceiling ? Json(share(m)) : Json()},
              {"checked_outputs", m.checked},
              {"differing_outputs", m.differing}};
  row["sm_mhz"] = m.reading ? Json(m.reading->sm_mhz) : Json();
  row["watts"] = m.reading ? Json(m.reading->watts) : Json();
  row["joules_per_tera_operation"] =
      m.reading ? Json(m.reading->watts / tera(m.operations, m.ours.median)) : Json();
  row["sm_mhz_behind"] = m.sm_mhz_behind ? Json(*m.sm_mhz_behind) : Json();
  return row;
}

struct Mean {
  int count = 0;
  double geometric = 0;
  double least = 0;
  Shape least_shape;
};

template <class Holds, class Ratio>
Mean mean_of(const std::vector<Measured>& rows, Holds holds, Ratio ratio) {
  Mean mean;
  double logs = 0;
  for (const Measured& m : rows) {
    const std::optional<Quartiles>& q = ratio(m);
    if (!q || !holds(m)) continue;
    logs += std::log(q->median);
    if (mean.count++ == 0 || q->median < mean.least) {
      mean.least = q->median;
      mean.least_shape = m.shape;
    }
  }
  if (mean.count > 0) mean.geometric = std::exp(logs / mean.count);
  return mean;
}

// --- the picture -----------------------------------------------------------------------------------

constexpr int row_height = 16;
constexpr int name_width = 260;
constexpr int plot_width = 560;
constexpr int top = 70;
constexpr double least_ratio = 0.7;
constexpr double most_ratio = 1.5;

double x_of(double ratio) {
  const double clamped = std::clamp(ratio, least_ratio, most_ratio);
  return name_width + plot_width * (clamped - least_ratio) / (most_ratio - least_ratio);
}

void add_text(pugi::xml_node parent, double x, double y, const std::string& text,
              const char* anchor) {
  pugi::xml_node node = parent.append_child("text");
  node.append_attribute("x") = x;
  node.append_attribute("y") = y;
  node.append_attribute("text-anchor") = anchor;
  node.text().set(text.c_str());
}

void add_rectangle(pugi::xml_node parent, double x, double y, double width, double height,
                   const char* fill) {
  pugi::xml_node node = parent.append_child("rect");
  node.append_attribute("x") = x;
  node.append_attribute("y") = y;
  node.append_attribute("width") = width;
  node.append_attribute("height") = height;
  node.append_attribute("fill") = fill;
}

void add_bar(pugi::xml_node svg, const Measured& m, int y) {
  const double one = x_of(1);
  const double at = x_of(m.ratio->median);
  add_text(svg, name_width - 6, y + 12,
           fmt::format("{} {} {}", name(m.shape), name(m.in), regime(m.burst)), "end");
  add_rectangle(svg, std::min(one, at), y + 2, std::abs(at - one), row_height - 5,
                m.ratio->median >= 1 ? "#4a90d9" : "#d9694a");
  add_rectangle(svg, x_of(m.ratio->first), y + 6,
                std::max(1.0, x_of(m.ratio->third) - x_of(m.ratio->first)), 3, "#222222");
  add_text(svg, name_width + plot_width + 6, y + 12,
           fmt::format("{:.3f}  {:.0f} T/s", m.ratio->median, tera(m.operations, m.ours.median)),
           "start");
}

}  // namespace

std::string header_line() {
  return fmt::format(
      "{:<18} {:<5} {:<9} {:>10} {:>10} {:>10} {:>7} {:>15} {:>7} {:>7} {:>6} {:>7} "
      "{:>5} {:>5}  {}\n",
      "shape", "type", "regime", "ours us", "default us", "best us", "ratio", "quartiles",
      "to best", "T op/s", "TB/s", "ceiling", "MHz", "W", "kernel");
}

std::string line(const Ceiling& c, Type in, bool burst) {
  const std::string read =
      c.reading ? fmt::format("NVML {:.0f} MHz, {:.0f} W", c.reading->sm_mhz, c.reading->watts)
                : "no reading of NVML";
  return fmt::format(
      "{:<18} {:<5} {:<9} {:.1f} T op/s, SMs at {:.0f} MHz, tensor cores busy {:.1f} %; {}; loop "
      "{:.1f} of {:.1f} us\n",
      "wgmma alone", name(in), regime(burst), c.operations_per_second * 1e-12, c.sm_mhz,
      100 * c.tensor_share, read, c.loop_microseconds, c.launch_microseconds);
}

std::string line(const Measured& m) {
  const auto number = [](const std::optional<Quartiles>& q, int digits) {
    return q ? fmt::format("{:.{}f}", q->median, digits) : std::string("-");
  };
  const std::string spread =
      m.ratio ? fmt::format("{:.3f} to {:.3f}", m.ratio->first, m.ratio->third) : "-";
  const std::string of_ceiling = m.ceiling ? fmt::format("{:.1f}%", 100 * share(m)) : "-";
  const std::string mhz = m.reading ? fmt::format("{:.0f}", m.reading->sm_mhz) : "-";
  const std::string watts = m.reading ? fmt::format("{:.0f}", m.reading->watts) : "-";
  const std::string variant = m.variant.name();
  return fmt::format(
      "{:<18} {:<5} {:<9} {:>10.2f} {:>10} {:>10} {:>7} {:>15} {:>7} {:>7.1f} {:>6.2f} {:>7} "
      "{:>5} {:>5}  {}{}{}{}\n",
      name(m.shape), name(m.in), regime(m.burst), m.ours.median, number(m.theirs, 2),
      number(m.best, 2), number(m.ratio, 3), spread, number(m.best_ratio, 3),
      tera(m.operations, m.ours.median), tera(m.bytes, m.ours.median), of_ceiling, mhz, watts,
      variant == "none" ? "" : variant + ": ", m.realigned ? "realigned, " : "", m.kernel,
      m.differing == 0 ? "" : fmt::format("  {} OF {} OUTPUTS DIFFER", m.differing, m.checked));
}

std::string summary(const Run& run) {
  std::string text;
  std::set<std::tuple<Type, bool, std::string>> kinds;
  for (const Measured& m : run.rows) kinds.insert({m.in, m.burst, m.variant.name()});
  for (const auto& [type, burst, variant] : kinds) {
    for (const Group& group : groups()) {
      const auto holds = [&](const Measured& m) {
        return m.in == type && m.burst == burst && m.variant.name() == variant &&
               group.holds(m.shape);
      };
      const Mean mean = mean_of(run.rows, holds, [](const Measured& m) { return m.ratio; });
      if (mean.count == 0) continue;
      const Mean best = mean_of(run.rows, holds, [](const Measured& m) { return m.best_ratio; });
      text += fmt::format(
          "{:<5} {:<9} {:<12} {:<28} {:>3} shapes: geometric mean {:.3f} (to their best {:.3f}), "
          "least "
          "{:.3f} at {}\n",
          name(type), regime(burst), variant, group.name, mean.count, mean.geometric,
          best.geometric, mean.least, name(mean.least_shape));
    }
  }
  return text;
}

std::string json(const Run& run) {
  Json out = {{"device", run.device},        {"driver", run.driver},
              {"cuda_runtime", run.runtime}, {"cublaslt", run.cublas},
              {"tuned", run.tuned},          {"control_ratio", json_of(run.control)}};
  out["results"] = Json::array();
  for (const Measured& m : run.rows) out["results"].push_back(json_of(m));
  return out.dump(1) + "\n";
}

std::string picture(const Run& run) {
  std::vector<const Measured*> rows;
  for (const Measured& m : run.rows)
    if (m.ratio) rows.push_back(&m);
  const int bottom = top + static_cast<int>(rows.size()) * row_height;
  pugi::xml_document document;
  pugi::xml_node svg = document.append_child("svg");
  svg.append_attribute("xmlns") = "http://www.w3.org/2000/svg";
  svg.append_attribute("width") = name_width + plot_width + 160;
  svg.append_attribute("height") = bottom + 20;
  svg.append_attribute("font-family") = "monospace";
  svg.append_attribute("font-size") = 11;
  add_rectangle(svg, 0, 0, name_width + plot_width + 160, bottom + 20, "white");
  add_text(svg, 10, 20, fmt::format("cuBLASLt {} default by tcq, time", run.cublas), "start");
  add_text(svg, 10, 36,
           fmt::format("{}, driver {}; above 1: tcq is faster; black: quartiles", run.device,
                       run.driver),
           "start");
  for (int tick = 7; tick <= 15; ++tick) {
    const double ratio = tick / 10.0;
    add_text(svg, x_of(ratio), top - 6, fmt::format("{:.1f}", ratio), "middle");
    add_rectangle(svg, x_of(ratio), top, 1, bottom - top, tick == 10 ? "#222222" : "#dddddd");
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    add_bar(svg, *rows[i], top + static_cast<int>(i) * row_height);
  std::ostringstream text;
  document.save(text, "", pugi::format_indent);
  return text.str();
}

}  // namespace tcq::tools
