#include "oracle/gemm/error_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <pugixml.hpp>
#include <sstream>

namespace tcq::oracle::gemm {
namespace {

constexpr std::int64_t first_k = 128;

std::vector<std::int64_t> ks_up_to(std::int64_t k) {
  std::vector<std::int64_t> ks;
  for (std::int64_t at = first_k; at < k; at *= 2) ks.push_back(at);
  ks.push_back(k);
  return ks;
}

// --- the picture -------------------------------------------------------------------------------------

constexpr int left = 70;
constexpr int top = 40;
constexpr int plot_width = 480;
constexpr int plot_height = 300;
constexpr int label_width = 230;
constexpr int axis_height = 50;
// Of light and of dark pages.
constexpr const char* axis_colour = "#888888";
constexpr std::array colours = {"#d62728", "#1f77b4", "#2ca02c", "#ff7f0e",
                                "#9467bd", "#8c564b", "#e377c2", "#17becf"};
constexpr int least_decade = -9;  // what is nearer lies on the axis, so do exact sums

double log_of(std::int64_t k) {
  return std::log2(static_cast<double>(std::max<std::int64_t>(k, 1)));
}

struct Axes {
  double first_k, last_k;  // logarithms to base 2
  int least, most;         // decades

  double x(std::int64_t k) const {
    const double span = std::max(last_k - first_k, 1.0);
    return left + plot_width * (log_of(k) - first_k) / span;
  }
  double y(double error) const {
    const double decade = error > 0 ? std::max(std::log10(error), double(least)) : least;
    return top + plot_height * (most - decade) / (most - least);
  }
};

Axes axes_of(const ErrorPicture& picture) {
  double least = 0;
  double most = least_decade;
  for (const ErrorLine& line : picture.lines) {
    for (const double error : line.errors) {
      if (error <= 0) continue;
      least = std::min(least, std::log10(error));
      most = std::max(most, std::log10(error));
    }
  }
  const int low = std::max(static_cast<int>(std::floor(least)), least_decade);
  const int high = std::max(static_cast<int>(std::ceil(most)), low + 1);
  return {log_of(picture.ks.front()), log_of(picture.ks.back()), low, high};
}

std::string number(double value) { return fmt::format("{:.1f}", value); }

void add_text(pugi::xml_node parent, double x, double y, const std::string& words,
              const char* anchor, const char* fill = axis_colour) {
  pugi::xml_node text = parent.append_child("text");
  text.append_attribute("x") = number(x).c_str();
  text.append_attribute("y") = number(y).c_str();
  text.append_attribute("text-anchor") = anchor;
  text.append_attribute("fill") = fill;
  text.text().set(words.c_str());
}

void add_line(pugi::xml_node parent, double x1, double y1, double x2, double y2) {
  pugi::xml_node line = parent.append_child("line");
  line.append_attribute("x1") = number(x1).c_str();
  line.append_attribute("y1") = number(y1).c_str();
  line.append_attribute("x2") = number(x2).c_str();
  line.append_attribute("y2") = number(y2).c_str();
}

void add_axes(pugi::xml_node svg, const ErrorPicture& picture, const Axes& axes) {
  pugi::xml_node grid = svg.append_child("g");
  grid.append_attribute("stroke") = axis_colour;
  grid.append_attribute("stroke-width") = "0.5";
  pugi::xml_node names = svg.append_child("g");
  for (int decade = axes.least; decade <= axes.most; ++decade) {
    const double y = axes.y(std::pow(10.0, decade));
    add_line(grid, left, y, left + plot_width, y);
    add_text(names, left - 6, y + 4, fmt::format("1e{}", decade), "end");
  }
  for (const std::int64_t k : picture.ks) {
    add_line(grid, axes.x(k), top, axes.x(k), top + plot_height);
    add_text(names, axes.x(k), top + plot_height + 16, fmt::format("{}", k), "middle");
  }
  add_text(names, left + plot_width / 2.0, top + plot_height + 36,
           "K; upwards: root mean square of the error of D by that of D", "middle");
}

void add_curve(pugi::xml_node svg, const ErrorPicture& picture, const Axes& axes, std::size_t which,
               double label_y) {
  const ErrorLine& line = picture.lines[which];
  const char* colour = colours[which % colours.size()];
  std::string points;
  for (std::size_t i = 0; i < line.errors.size(); ++i)
    points += fmt::format("{}{:.1f},{:.1f}", i > 0 ? " " : "", axes.x(picture.ks[i]),
                          axes.y(line.errors[i]));
  pugi::xml_node curve = svg.append_child("polyline");
  curve.append_attribute("points") = points.c_str();
  curve.append_attribute("fill") = "none";
  curve.append_attribute("stroke") = colour;
  curve.append_attribute("stroke-width") = "2";
  add_text(svg, left + plot_width + 8, label_y, line.spec, "start", colour);
}

// Names of lines that end close to each other stand below each other.
std::vector<double> label_places(const ErrorPicture& picture, const Axes& axes) {
  constexpr double apart = 15;
  std::vector<std::size_t> order(picture.lines.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto end_of = [&](std::size_t i) { return axes.y(picture.lines[i].errors.back()) + 4; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return end_of(a) < end_of(b); });
  std::vector<double> places(order.size());
  double above = 0;
  for (const std::size_t i : order) above = places[i] = std::max(end_of(i), above + apart);
  return places;
}

}  // namespace

ErrorPicture errors_by_k(const Request& request, const Pulse& pulse) {
  ErrorPicture picture;
  picture.ks = ks_up_to(request.sizes.k);
  bool leaves_out = false;
  for (const std::string& spec : request.orders) picture.lines.push_back({spec, {}});
  for (const std::int64_t k : picture.ks) {
    Request one = request;
    one.sizes.k = k;
    const Problem problem = load_problem(one);
    picture.title = fmt::format("{} * {} -> {}, {} x {} outputs, operands drawn: {}",
                                name(problem.product.a), name(problem.product.b), name(problem.out),
                                problem.rows(), problem.n, request.mixture);
    Matrix d = zeros(problem.out, problem.rows(), problem.n);
    char* elements = d.array.bytes.data() + d.array.first;
    for (ErrorLine& line : picture.lines) {
      const Order order = parse_order(line.spec, problem.product);
      const Rows rows = {0, problem.rows()};
      if (!predict(problem, order, rows, request.threads, elements, pulse)) return picture;
      const GemmErrors errors = errors_of(problem, order, rows, elements);
      leaves_out = leaves_out || errors.not_finite > 0;
      const double size = errors.exact_root_mean_square;
      line.errors.push_back(size > 0 ? errors.root_mean_square / size : 0);
    }
  }
  if (leaves_out) picture.title += ", without those that are NaN or Inf";
  return picture;
}

std::string svg_text(const ErrorPicture& picture) {
  const Axes axes = axes_of(picture);
  const std::vector<double> labels = label_places(picture, axes);
  pugi::xml_document document;
  pugi::xml_node svg = document.append_child("svg");
  svg.append_attribute("xmlns") = "http://www.w3.org/2000/svg";
  const int bottom = top + plot_height + axis_height;
  const double last_label = *std::ranges::max_element(labels);
  svg.append_attribute("viewBox") =
      fmt::format("0 0 {} {}", left + plot_width + label_width,
                  std::max(bottom, static_cast<int>(last_label) + axis_height / 2))
          .c_str();
  svg.append_attribute("font-family") = "sans-serif";
  svg.append_attribute("font-size") = 12;
  svg.append_child("title").text().set(picture.title.c_str());
  add_text(svg, left, top - 16, picture.title, "start");
  add_axes(svg, picture, axes);
  for (std::size_t i = 0; i < picture.lines.size(); ++i)
    add_curve(svg, picture, axes, i, labels[i]);
  std::ostringstream text;
  document.save(text, "", pugi::format_indent);
  return text.str();
}

}  // namespace tcq::oracle::gemm
