// What follows from the axes and functions of a Map; see map.h.
#include "oracle/map/map.h"

#include <algorithm>

namespace tcq::oracle {

int value(const Axis& axis, int index) { return axis.first + axis.step * index; }

int counted(const Axis& axis, int index) {
  return axis.alias.empty() ? value(axis, index) : axis.first + index;
}

std::string_view symbol(const Axis& axis) { return axis.alias.empty() ? axis.name : axis.alias; }

bool is_known(const Map& map) { return static_cast<bool>(map.places); }

bool has_parts(const Map& map) { return std::max(map.place[2].extent, map.place[2].largest) > 1; }

bool is_of_registers(const Map& map) {
  return map.space == Space::Registers || map.space == Space::Metadata;
}

bool is_of_cells(const Map& map) { return map.element[0].name == "tmem_lane"; }

bool is_accumulator(const Map& map) {
  return map.space == Space::TensorMemory && map.matrix == "D" && map.place.back().extent == 1;
}

bool contains(const std::vector<Axis>& axes, const Coords& at) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (at[i] < 0 || at[i] >= axes[i].extent) return false;
  return true;
}

// The element that the arithmetic names need not lie there: its own places decide.
bool holds(const Map& map, const Coords& place) {
  const Coords element = map.element_at(place);
  if (!contains(map.element, element)) return false;
  const std::vector<Coords> places = map.places(element);
  return std::any_of(places.begin(), places.end(), [&](Coords at) {
    if (at[0] == both_ctas) at[0] = place[0];
    return at == place;
  });
}

}  // namespace tcq::oracle
