// Bytes of shared memory -> elements of an operand; see shared_bytes.h.
#include "oracle/map/shared_bytes.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/map/units.h"

namespace tcq::oracle {
namespace {

constexpr int unit_bits = 128;  // a row of a core matrix
constexpr int core_rows = 8;
constexpr int most_steps = 16;
constexpr int no_swizzle_pitch = 16;

std::size_t mn_axis(const Map& map) { return map.matrix == "B" ? 1 : 0; }

// The element with these indices, mn counted in its CTA.
Coords element_of(const Map& map, int mn, int k) {
  Coords e{};
  e[mn_axis(map)] = mn;
  e[1 - mn_axis(map)] = k;
  return e;
}

bool contiguous_k(const Map& map) { return *map.addressing->major == Major::K; }

int linear_bit(const Map& map, int mn, int k) {
  return map.addressing->linear_bit(element_of(map, mn, k));
}

// Elements side by side in the 16 bytes of a row of a core matrix.
int unit_elements(const Map& map) {
  int count = 1;
  while (linear_bit(map, contiguous_k(map) ? 0 : count, contiguous_k(map) ? count : 0) < unit_bits)
    ++count;
  return count;
}

CoreMatrix core_of(const Map& map, int mn, int k, int byte) {
  const int unit = unit_elements(map);
  const int along = contiguous_k(map) ? k : mn;
  const int across = contiguous_k(map) ? mn : k;
  const int first = along / unit * unit;
  const int bit = linear_bit(map, contiguous_k(map) ? mn : along, contiguous_k(map) ? along : k) -
                  linear_bit(map, contiguous_k(map) ? mn : first, contiguous_k(map) ? first : k);
  const int in_row = bit / byte_bits + byte;
  return contiguous_k(map)
             ? CoreMatrix{across / core_rows, along / unit, across % core_rows, in_row}
             : CoreMatrix{along / unit, across / core_rows, across % core_rows, in_row};
}

int steps_of(const Map& map) {
  const Addressing& a = *map.addressing;
  if (!a.major || !a.is_linear) return 1;
  if (!contiguous_k(map) || a.swizzle.bits == 0) return most_steps;
  const int pitch = no_swizzle_pitch << a.swizzle.bits;
  return std::max(1, pitch / std::max(1, k_step_bytes(map)));
}

// Bytes of an element from its first one on; a smaller one lies in one byte.
int bytes_of(const Map& map) { return std::max(1, map.bits / byte_bits); }

void add_if_there(std::vector<ByteElement>& found, const Map& map, const Coords& e, int first,
                  int byte, int step) {
  const int in_element = byte - first;
  if (in_element < 0 || in_element >= bytes_of(map)) return;
  ByteElement at{e, step, in_element, {}};
  const std::size_t mn = mn_axis(map);
  const int per_cta = map.element[mn].extent / map.element[mn].ctas;
  if (map.addressing && map.addressing->major && map.addressing->is_linear)
    at.core = core_of(map, e[mn] % per_cta, e[1 - mn], in_element);
  found.push_back(at);
}

}  // namespace

int k_step_bytes(const Map& map) {
  return linear_bit(map, 0, map.element[1 - mn_axis(map)].extent) / byte_bits;
}

std::vector<ByteElement> elements_at_byte(const Map& map, int cta, int byte) {
  std::vector<ByteElement> found;
  for_each(map.element, false, [&](const Coords& e) {
    for (const Coords& place : map.places(e))
      if (place[0] == cta || place[0] == both_ctas) add_if_there(found, map, e, place[1], byte, 0);
  });
  const int steps = found.empty() ? steps_of(map) : 1;
  const std::size_t mn = mn_axis(map);
  const int per_cta = map.element[mn].extent / map.element[mn].ctas;
  for (int step = 1; step < steps && found.empty(); ++step)
    for_each(map.element, false, [&](const Coords& e) {
      if (e[mn] / per_cta != cta) return;
      const Addressing& a = *map.addressing;
      const int linear = linear_bit(map, e[mn] % per_cta, e[1 - mn]) / byte_bits;
      const auto x = static_cast<std::uint32_t>(linear + step * k_step_bytes(map));
      const std::uint32_t first = a.swizzle.apply(a.start_bytes + x, a.base_offset);
      add_if_there(found, map, e, static_cast<int>(first), byte, step);
    });
  return found;
}

std::string place_in_operand(const Map& map, const ByteElement& at) {
  std::string text;
  if (bytes_of(map) > 1) text += fmt::format(", byte {} of its {}", at.byte, bytes_of(map));
  if (at.core)
    text += fmt::format("; core matrix {} along {}, {} along K, row {}, byte {}", at.core->mn,
                        map.matrix == "B" ? "N" : "M", at.core->k, at.core->row, at.core->byte);
  if (at.k_step > 0)
    text += fmt::format(
        "; not read by this descriptor, but by that of K step {}, whose start is {} bytes further",
        at.k_step, at.k_step * k_step_bytes(map));
  return text;
}

Value core_value(const CoreMatrix& core) {
  return Value::Members{{"mn", core.mn}, {"k", core.k}, {"row", core.row}, {"byte", core.byte}};
}

}  // namespace tcq::oracle
