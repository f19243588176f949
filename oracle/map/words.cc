// A Map in words and in JSON: elements, places, and who has them; see map.h.
#include <fmt/format.h>

#include "oracle/map/map.h"
#include "oracle/map/units.h"

namespace tcq::oracle {
namespace {

// Places of the four spaces, by index of their axes.
struct RegisterPlace {
  int thread, reg, part;
  RegisterPlace(const Map& map, const Coords& at)
      : thread(at[0]), reg(at[1]), part(value(map.place[2], at[2])) {}
};

int low_bit(const Map& map, const Coords& place) {
  if (map.space == Space::Metadata) return place[2] * map.bits;
  if (is_of_registers(map)) return value(map.place[2], place[2]) * map.bits + map.payload_low_bit;
  return value(map.place.back(), place[map.place.size() - 1]);
}

std::string bits_text(const Map& map, const Coords& place) {
  const int low = low_bit(map, place);
  return map.bits == 1 ? fmt::format("bit {}", low)
                       : fmt::format("bits [{},{})", low, low + map.bits);
}

bool is_pair(const Map& map) { return map.place[0].extent == 2; }

std::string cell_text(const Coords& at) {
  return fmt::format("tmem_lane {}, tmem_column {}", at[1], at[2]);
}

std::string cta_text(const Map& map, int cta) {
  if (!is_pair(map)) return "";
  const bool both = cta == both_ctas;
  if (map.space == Space::SharedMemory)
    return both ? " of each CTA's shared memory" : fmt::format(" of CTA {}'s shared memory", cta);
  return both ? ", in both CTAs" : fmt::format(", in CTA {} of the pair", cta);
}

std::string narrow_text(const Map& map, const Coords& place, int whole_bits) {
  return map.bits < whole_bits ? ", " + bits_text(map, place) : "";
}

// "; copies in tmem_lane 45, 77 and 109".
std::string copies_text(const std::vector<Coords>& places) {
  std::string lanes;
  for (std::size_t i = 1; i < places.size(); ++i) {
    const char* separator = i == 1 ? "" : i + 1 < places.size() ? ", " : " and ";
    lanes += fmt::format("{}{}", separator, places[i][1]);
  }
  if (lanes.empty()) return "";
  return fmt::format("; {} in tmem_lane {}", places.size() == 2 ? "a copy" : "copies", lanes);
}

std::string thread_text(const RegisterPlace& slot) {
  return fmt::format("thread {}, register {}", slot.thread, slot.reg);
}

// The bit where a byte or a cell does not say enough.
std::string dot_bit(const Map& map, const Coords& place, int whole_bits) {
  return map.bits < whole_bits ? fmt::format(".{}", low_bit(map, place)) : "";
}

Value place_value(const Map& map, const Coords& place) {
  Value::Members members;
  members.reserve(map.place.size() + 4);
  for (std::size_t i = 0; i < map.place.size(); ++i) {
    const Axis& axis = map.place[i];
    if (axis.name == "low_bit") continue;
    const bool both = axis.name == "cta" && place[i] == both_ctas;
    members.push_back({std::string(axis.name), both ? Value() : Value(value(axis, place[i]))});
  }
  members.push_back({"low_bit", low_bit(map, place)});
  members.push_back({"bits", map.payload_bits == 0 ? map.bits : map.payload_bits});
  const int thread = is_of_registers(map) ? place[0] : place[1];
  if (map.space != Space::SharedMemory) members.push_back({"warp", thread / lanes_per_warp});
  if (is_of_registers(map)) members.push_back({"lane", thread % lanes_per_warp});
  return members;
}

}  // namespace

std::string element_text(const Map& map, const Coords& element) {
  std::string text = is_of_cells(map) ? "" : map.matrix;
  for (std::size_t i = 0; i < map.element.size(); ++i) {
    const Axis& axis = map.element[i];
    const int v = value(axis, element[i]);
    if (is_of_cells(map))
      text += fmt::format("{}{} {}", i > 0 ? ", " : "", axis.name, v);
    else if (axis.step > 1)
      text += fmt::format("[{}..{}]", v, v + axis.step - 1);
    else
      text += fmt::format("[{}]", v);
  }
  return text;
}

std::string place_text(const Map& map, const Coords& place) {
  switch (map.space) {
    case Space::Registers: {
      const RegisterPlace slot(map, place);
      return thread_text(slot) + (has_parts(map) ? fmt::format(", part {}", slot.part) : "");
    }
    case Space::Metadata: return fmt::format("thread {}, {}", place[0], bits_text(map, place));
    case Space::TensorMemory: return cell_text(place) + narrow_text(map, place, cell_bits);
    case Space::SharedMemory: break;
  }
  return fmt::format("byte {:#x}{}{}", place[1], narrow_text(map, place, 8),
                     cta_text(map, place[0]));
}

std::string places_text(const Map& map, const std::vector<Coords>& places) {
  std::string text = place_text(map, places[0]);
  if (map.space == Space::TensorMemory)
    return text + copies_text(places) + cta_text(map, places[0][0]);
  for (std::size_t i = 1; i < places.size(); ++i) text += " and " + place_text(map, places[i]);
  return text;
}

std::string reader_text(const Map& map, const Coords& place) {
  const int warp = (is_of_registers(map) ? place[0] : place[1]) / lanes_per_warp;
  if (map.space == Space::TensorMemory)
    return is_accumulator(map) ? fmt::format(" (warp {} of the warpgroup reads it)", warp) : "";
  const bool of_warpgroup = is_of_registers(map) && map.place[0].extent > lanes_per_warp;
  if (!of_warpgroup || is_of_cells(map)) return "";
  const std::string nibble =
      map.space == Space::Metadata ? fmt::format("nibble {}, ", place[2]) : "";
  const std::string group = map.place[0].extent > threads_per_warpgroup
                                ? fmt::format("warpgroup {}, ", place[0] / threads_per_warpgroup)
                                : "";
  return fmt::format(" ({}{}warp {}, lane {})", nibble, group, warp, place[0] % lanes_per_warp);
}

std::string asked_text(const Map& map, const Coords& place, bool whole) {
  if (map.space == Space::TensorMemory) return cell_text(place) + cta_text(map, place[0]);
  if (!whole) return place_text(map, place);
  return map.space == Space::Metadata ? fmt::format("thread {}", place[0])
                                      : thread_text(RegisterPlace(map, place));
}

std::string short_text(const Map& map, const Coords& place) {
  switch (map.space) {
    case Space::Registers: {
      const RegisterPlace slot(map, place);
      return fmt::format("{}:{}", slot.thread, slot.reg) +
             (has_parts(map) ? fmt::format(".{}", slot.part) : "");
    }
    case Space::Metadata: return fmt::format("{}.{}", place[0], place[2]);
    case Space::TensorMemory:
      return fmt::format("{}:{}", place[1], place[2]) + dot_bit(map, place, cell_bits);
    case Space::SharedMemory: break;
  }
  return fmt::format("{:#x}", place[1]) + dot_bit(map, place, 8);
}

std::string sum_text(const Map& map, const Coords& place) {
  if (is_of_registers(map)) return place_text(map, place);
  if (map.space == Space::SharedMemory) return short_text(map, place);
  return fmt::format("{}:{}.{}", place[1], place[2], low_bit(map, place));
}

Value::Members element_members(const Map& map, const Coords& element) {
  Value::Members members;
  members.reserve(map.element.size() + 4);
  members.push_back({"matrix", map.matrix});
  for (std::size_t i = 0; i < map.element.size(); ++i)
    members.push_back({std::string(map.element[i].name), value(map.element[i], element[i])});
  if (!is_known(map)) return members;
  members.push_back({"places", list_of(map.places(element), [&](const Coords& place) {
                       return place_value(map, place);
                     })});
  return members;
}

}  // namespace tcq::oracle
