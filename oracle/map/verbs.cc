// The verbs where, what and bytes: one element -> its places, one place -> its elements, and the bytes
// of an operand.
//
// Reading the question is asked.h, words are map.h's. Tables are table.cc, closed forms equation.cc.
#include "oracle/answer/verbs.h"

#include <fmt/format.h>

#include "oracle/answer/table.h"
#include "oracle/map/asked.h"
#include "oracle/map/pictures.h"
#include "oracle/map/shared_bytes.h"
#include "sim/isa/base/shared_limits.h"

namespace tcq::oracle {
namespace {

Value::Members noted_members(const Map& map, const Coords& element) {
  Value::Members members = element_members(map, element);
  members.push_back({"notes", list_of(map.notes)});
  return members;
}

// A descriptor reaches further than the shared memory that a CTA has.
void note_window_end(Map& map, int byte) {
  if (map.window_end == 0 || static_cast<std::uint32_t>(byte) < map.window_end) return;
  map.notes.push_back(
      fmt::format("byte {:#x} is none that a CTA has: its window ends at {:#x}, {} bytes and the "
                  "{} that the system keeps",
                  byte, map.window_end, max_cta_shared_bytes, reserved_shared_bytes));
}

// "thread 12, register 1 = D[11][0], D[11][1]".
std::string what_text(const Map& map, const std::vector<Coords>& asked,
                      const std::vector<Coords>& elements) {
  std::string text = asked_text(map, asked[0], asked.size() > 1);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    text += i == 0 ? " = " : is_of_cells(map) ? "; " : ", ";
    text += element_text(map, elements[i]);
    if (is_of_cells(map) && map.bits < 32) text += fmt::format(", bits [0,{})", map.bits);
  }
  return text;
}

// ---- Bytes of shared memory ---------------------------------------------------------------------

std::vector<ByteElement> at_byte(const Map& map, int cta, int byte) {
  if (!map.element_at) return elements_at_byte(map, cta, byte);
  const Coords place = {cta, byte, 0};
  if (!holds(map, place)) return {};
  return {{map.element_at(place)}};
}

Value byte_value(const Map& map, const ByteElement& at) {
  Value::Members members = noted_members(map, at.element);
  members.push_back({"k_step", at.k_step});
  if (at.core) members.push_back({"core_matrix", core_value(*at.core)});
  return members;
}

// Elements that begin in the range, in the order of bytes.
Answer what_in_range(const Asked& asked, int cta, int first, Style style) {
  constexpr std::uint64_t most = 1024;
  const Map& map = asked.map;
  const auto count = static_cast<int>(asked.keys.number("bytes", 1, most));
  std::string text;
  Value::List all;
  for (int byte = first; byte < first + count; ++byte)
    for (const ByteElement& at : at_byte(map, cta, byte)) {
      if (at.byte != 0) continue;
      text += fmt::format("{}byte {:#x} = {}{}", text.empty() ? "" : "\n", byte,
                          element_text(map, at.element),
                          at.k_step == 0 ? "" : fmt::format(" of K step {}", at.k_step));
      all.push_back(byte_value(map, at));
    }
  if (all.empty())
    return {Status::No, "",
            fmt::format("bytes {:#x} to {:#x} hold nothing of {}", first, first + count - 1,
                        map.matrix)};
  return with_notes(map, style == Style::Json ? json_text(std::move(all)) : text, style);
}

Answer what_at_byte(Asked asked, Style style) {
  constexpr std::uint64_t last_byte = (std::uint64_t{1} << 31) - 1;
  Map& map = asked.map;
  const auto byte = static_cast<int>(asked.keys.number("byte", 0, last_byte));
  note_window_end(map, byte);
  const auto ctas = static_cast<std::uint64_t>(map.place[0].extent);
  const auto cta = static_cast<int>(asked.keys.number_or("cta", 0, ctas - 1, 0));
  if (asked.keys.has("bytes")) return what_in_range(asked, cta, byte, style);
  const std::vector<ByteElement> found = at_byte(map, cta, byte);
  const std::string where =
      fmt::format("byte {:#x}", byte) +
      (ctas > 1 ? fmt::format(" of CTA {}'s shared memory", cta) : std::string());
  if (found.empty())
    return {Status::No, "",
            where + " " + (map.nothing.empty() ? "is not read as " + map.matrix : map.nothing)};
  if (style == Style::Json)
    return with_notes(
        map, json_text(list_of(found, [&](const ByteElement& at) { return byte_value(map, at); })),
        style);
  std::string text = where;
  for (std::size_t i = 0; i < found.size(); ++i)
    text += (i == 0 ? " = " : ", ") + element_text(map, found[i].element);
  return with_notes(map, text + place_in_operand(map, found[0]), style);
}

}  // namespace

Answer where(const Question& question) {
  Asked asked = read_map(question, Ask::Element);
  Map& map = asked.map;
  const Style style = question.options.style;
  const Coords element = coords_from(map.element, asked.keys)[0];
  const std::vector<Coords> places = map.places(element);
  if (places.empty())
    return {
        Status::No, "",
        fmt::format("no warp of the load reads {}: {}", element_text(map, element), map.nothing)};
  if (map.space == Space::SharedMemory) note_window_end(map, places[0][1]);
  if (style == Style::Json) {
    Value::Members members = noted_members(map, element);
    if (asked.sum) members.push_back({"inputs", sum_value(asked.sum(element), map, element)});
    return with_notes(map, json_text(std::move(members)), style);
  }
  std::string text = element_text(map, element) + " = " + places_text(map, places);
  if (!asked.sum || !is_of_registers(map)) text += reader_text(map, places[0]);
  if (asked.sum) text += " = " + sum_text(asked.sum(element), map, element);
  return with_notes(map, std::move(text), style);
}

// All places that the keys leave open: of one thread, with warp= of all threads of a warp, or with warp=
// and lane= of that one, warp 0 if there is one only.
std::vector<Coords> places_asked(const Map& map, const Keys& keys) {
  if (!is_of_registers(map) || !(keys.has("warp") || keys.has("lane")))
    return coords_from(map.place, keys);
  if (keys.has("thread"))
    throw UsageError("warp= and lane= are given beside thread=: expected one or the other");
  constexpr std::uint64_t lanes_per_warp = 32;
  std::vector<Axis> axes = map.place;
  axes[0].missing = Missing::All;
  const std::uint64_t warps = static_cast<std::uint64_t>(axes[0].extent) / lanes_per_warp;
  const std::uint64_t warp =
      warps == 1 && !keys.has("warp") ? 0 : keys.number("warp", 0, warps - 1);
  const auto asked = [&](const Coords& at) {
    const auto thread = static_cast<std::uint64_t>(at[0]);
    return thread / lanes_per_warp == warp &&
           (!keys.has("lane") ||
            thread % lanes_per_warp == keys.number("lane", 0, lanes_per_warp - 1));
  };
  std::vector<Coords> all = coords_from(axes, keys);
  std::erase_if(all, [&](const Coords& at) { return !asked(at); });
  return all;
}

// Places of one register, or of one cell: what one line of text is about.
std::vector<std::vector<Coords>> lines_of(const Map& map, const std::vector<Coords>& places) {
  std::vector<std::vector<Coords>> lines;
  for (const Coords& at : places) {
    const bool same = !lines.empty() && is_of_registers(map) && lines.back()[0][0] == at[0] &&
                      lines.back()[0][1] == at[1];
    if (same || (!lines.empty() && !is_of_registers(map)))
      lines.back().push_back(at);
    else
      lines.push_back({at});
  }
  return lines;
}

Answer what(const Question& question) {
  Asked asked = read_map(question, Ask::Place);
  const Map& map = asked.map;
  if (map.space == Space::SharedMemory)
    return what_at_byte(std::move(asked), question.options.style);
  const std::vector<Coords> places = places_asked(map, asked.keys);
  std::vector<Coords> elements;
  std::string text;
  for (const std::vector<Coords>& line : lines_of(map, places)) {
    std::vector<Coords> held;
    for (const Coords& place : line)
      if (holds(map, place)) held.push_back(map.element_at(place));
    if (!held.empty()) text += (text.empty() ? "" : "\n") + what_text(map, line, held);
    elements.insert(elements.end(), held.begin(), held.end());
  }
  if (elements.empty())
    return {Status::No, "", asked_text(map, places[0], true) + " " + map.nothing};
  if (question.options.style != Style::Json) return with_notes(map, text, Style::Text);
  const Value::List all = list_of(elements, [&](const Coords& e) { return noted_members(map, e); });
  return with_notes(map, json_text(all), Style::Json);
}

// The operand of one CTA. A bit that eight elements of b1 share tells them apart in text only: the lists
// that programs read have a byte there.
Answer bytes(const Question& asked) {
  Question question = asked;
  const Marks marks(question);
  Map map = read_map(question, Ask::Bytes).map;
  marks.require(map);
  const Options& options = question.options;
  if (!options.svg_path.empty()) {
    map.title = fmt::format("{} of {} in shared memory", map.matrix, printable(question.words[0]));
    Answer drawn = draw(memory_picture(map, marks), options);
    drawn.complaint = notes_text(map);
    return drawn;
  }
  const bool with_bit = map.bits < 8 && (map.bits > 1 || options.style == Style::Text);
  Table table{{"mn", "k", "byte"}, {}};
  if (with_bit) table.header.push_back("bit");
  const std::size_t mn = map.matrix == "B" ? 1 : 0;
  const std::vector<Axis> axes = {map.element[mn], map.element[1 - mn]};
  Coords element{};
  int largest = 0;
  for (int i = 0; i < axes[0].extent / axes[0].ctas; ++i)
    for (int k = 0; k < axes[1].extent; ++k) {
      element[mn] = i;
      element[1 - mn] = k;
      const Coords at = map.places(element)[0];
      largest = std::max(largest, at[1]);
      table.rows.push_back({std::to_string(i), std::to_string(k), std::to_string(at[1])});
      if (with_bit) table.rows.back().push_back(std::to_string(at[2]));
    }
  note_window_end(map, largest);
  return {Status::Yes, render(options.transpose ? transposed(table) : table, options.style),
          notes_text(map)};
}

}  // namespace tcq::oracle
