// Marks among words, and what fits them; see marks.h.
#include "oracle/map/marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "oracle/answer/words.h"
#include "oracle/map/units.h"

namespace tcq::oracle {
namespace {

constexpr std::uint64_t largest = (std::uint64_t{1} << 30) - 1;
constexpr std::array<std::string_view, 11> keys = {"thread", "warp", "lane",      "register",
                                                   "reg",    "part", "tmem_lane", "tmem_column",
                                                   "row",    "col",  "byte"};

bool has_lanes(const Map& map) { return map.space != Space::SharedMemory; }

int lane_index(const Map& map, const Coords& place) {
  return is_of_registers(map) ? place[0] : place[1];
}

// What is at these coordinates under the key, if an axis has it.
std::optional<int> under(std::string_view key, const std::vector<Axis>& axes, const Coords& at) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name == key || axes[i].alias == key) return value(axes[i], at[i]);
  return std::nullopt;
}

}  // namespace

Marks::Marks(Question& question) {
  std::vector<std::string_view> rest;
  for (std::size_t i = 0; i < question.words.size(); ++i) {
    const std::string_view word = question.words[i];
    const std::string_view key = word.substr(0, word.find('='));
    const bool is_mark = i >= 2 && key.size() < word.size() &&
                         std::find(keys.begin(), keys.end(), key) != keys.end();
    if (!is_mark) {
      rest.push_back(word);
      continue;
    }
    const Keys one(std::span(&word, 1), {}, {key});
    marks_.push_back({key, static_cast<int>(one.number(key, 0, largest))});
  }
  if (any() && question.options.svg_path.empty())
    throw UsageError(
        fmt::format("{}= outlines cells of a picture: expected --svg FILE with it; where and what "
                    "answer in words",
                    marks_[0].key));
  question.words = std::move(rest);
}

std::string Marks::words() const {
  std::string text;
  for (const Mark& mark : marks_)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", mark.key, mark.value);
  return text;
}

void Marks::require(const Map& map) const {
  for (const Mark& mark : marks_) {
    int first = 0, end = 0;
    for (const auto* axes : {&map.element, &map.place})
      for (const Axis& axis : *axes)
        if (axis.name == mark.key || axis.alias == mark.key) {
          first = axis.first;
          end = axis.first + axis.step * axis.extent;
        }
    if (has_lanes(map) && mark.key == "warp")
      end = std::max(1, map.place[is_of_registers(map) ? 0 : 1].extent / lanes_per_warp);
    if (is_of_registers(map) && mark.key == "lane") end = lanes_per_warp;
    if (map.space == Space::SharedMemory && mark.key == "byte") end = static_cast<int>(largest);
    if (end == 0)
      throw UsageError(
          fmt::format("{}= outlines nothing: {} has no {}", mark.key, map.matrix, mark.key));
    if (mark.value < first || mark.value >= end)
      throw UsageError(fmt::format("{}={} is out of range: expected [{}, {}]", mark.key, mark.value,
                                   first, end - 1));
  }
}

bool Marks::fit(const Map& map, const Coords& element, const Coords& place) const {
  return std::all_of(marks_.begin(), marks_.end(), [&](const Mark& mark) {
    if (mark.key == "warp") return lane_index(map, place) / lanes_per_warp == mark.value;
    if (mark.key == "lane") return lane_index(map, place) % lanes_per_warp == mark.value;
    if (mark.key == "byte")
      return mark.value >= place[1] && mark.value < place[1] + std::max(1, map.bits / 8);
    const std::optional<int> of_place = under(mark.key, map.place, place);
    return (of_place ? of_place : under(mark.key, map.element, element)) == mark.value;
  });
}

bool Marks::fit_element(const Map& map, const Coords& element) const {
  const std::vector<Coords> places = map.places(element);
  return any() && std::any_of(places.begin(), places.end(),
                              [&](const Coords& place) { return fit(map, element, place); });
}

}  // namespace tcq::oracle
