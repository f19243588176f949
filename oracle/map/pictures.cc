// Shared memory in lines of 128 bytes, Tensor Memory in lanes and columns, D in blocks of 8 x 8; see pictures.h.
#include "oracle/map/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "oracle/map/units.h"
#include "sim/isa/tmem/layout.h"

namespace tcq::oracle {
namespace {

constexpr int unit_bytes = 16;
constexpr int units = 8;
constexpr int line_bytes = unit_bytes * units;
constexpr int banks_of_unit = 4;
constexpr int block = 8;
// Of more lines those in the middle are left out.
constexpr int most_lines = 72;
constexpr int first_lines = 40;
constexpr int last_lines = 16;

// ---- Shared memory ------------------------------------------------------------------------------

// What 16 bytes hold.
struct Unit {
  Coords first, last;  // elements
  bool marked = false;
};
using Lines = std::map<int, std::array<std::optional<Unit>, units>>;

Lines lines_of(const Map& map, const Marks& marks) {
  Lines lines;
  std::vector<Axis> axes = map.element;
  for (Axis& axis : axes) axis.extent /= axis.ctas;  // the operand of one CTA
  for_each(axes, false, [&](const Coords& e) {
    const Coords place = map.places(e)[0];
    std::optional<Unit>& unit =
        lines[place[1] / line_bytes][static_cast<std::size_t>(place[1] % line_bytes / unit_bytes)];
    if (!unit) unit = Unit{e, e};
    unit->last = e;
    unit->marked = unit->marked || (marks.any() && marks.fit(map, e, place));
  });
  return lines;
}

std::string range_text(int first, int last) {
  return first == last ? fmt::format("[{}]", first) : fmt::format("[{}..{}]", first, last);
}

// Which 16 bytes of its row, or of its column, where that lies along memory.
int unit_index(const Unit& unit) {
  const std::size_t along = unit.first[0] != unit.last[0] ? 0 : 1;
  return unit.first[along] / (unit.last[along] - unit.first[along] + 1);
}

Cell cell_of(const std::optional<Unit>& unit) {
  if (!unit) return {};
  Cell cell{range_text(unit->first[0], unit->last[0]) + range_text(unit->first[1], unit->last[1]),
            unit_index(*unit) % units};
  cell.marked = unit->marked;
  return cell;
}

bool is_marked(const Lines::mapped_type& line) {
  return std::any_of(line.begin(), line.end(),
                     [](const auto& unit) { return unit && unit->marked; });
}

// Lines that are drawn: all, or the first, the last and those with marks.
std::set<int> drawn(const Lines& lines) {
  std::set<int> all;
  const bool fits = lines.size() <= most_lines;
  int index = 0;
  for (const auto& [line, held] : lines) {
    const bool at_end = index < first_lines || index >= static_cast<int>(lines.size()) - last_lines;
    if (fits || at_end || is_marked(held)) all.insert(line);
    ++index;
  }
  return all;
}

// ---- Tensor Memory ------------------------------------------------------------------------------

// What 32 bits of a lane hold: the indices along each axis.
struct Held {
  std::array<std::set<int>, 2> indices;
  bool marked = false;
};
using Columns = std::map<int, std::map<int, Held>>;  // column -> lane

// Of the first CTA. Throws UsageError for marks that fit in the peer alone.
Columns columns_of(const Map& map, const Marks& marks) {
  Columns columns;
  bool fit_here = false, fit_in_peer = false;
  for_each(map.element, false, [&](const Coords& e) {
    for (const Coords& place : map.places(e)) {
      const bool fits = marks.any() && marks.fit(map, e, place);
      const bool is_peer = place[0] > 0;
      fit_here = fit_here || (fits && !is_peer);
      fit_in_peer = fit_in_peer || (fits && is_peer);
      if (is_peer) continue;
      Held& held = columns[place[2]][place[1]];
      for (std::size_t i = 0; i < map.element.size(); ++i) held.indices[i].insert(e[i]);
      held.marked = held.marked || fits;
    }
  });
  if (fit_in_peer && !fit_here)
    throw UsageError(
        fmt::format("{} lies in the second CTA: expected what the first one holds, whose lanes are "
                    "drawn; where says the place",
                    marks.words()));
  return columns;
}

// "5", "4..5", or "0+8" where something is between.
std::string indices_text(const Axis& axis, const std::set<int>& indices) {
  const int first = *indices.begin(), last = *indices.rbegin();
  if (first != last && last - first + 1 == static_cast<int>(indices.size()))
    return fmt::format("{}..{}", counted(axis, first), counted(axis, last));
  std::string text;
  for (const int index : indices)
    text += fmt::format("{}{}", text.empty() ? "" : "+", counted(axis, index));
  return text;
}

// "63,15", or "5,4..5" of two elements.
std::string held_text(const Map& map, const Held& held) {
  std::string text;
  for (std::size_t i = 0; i < map.element.size(); ++i)
    text += (i > 0 ? "," : "") + indices_text(map.element[i], held.indices[i]);
  return text;
}

Cell lane_cell(const Map& map, const std::map<int, Held>& column, int lane) {
  const auto held = column.find(lane);
  if (held == column.end()) return {};
  Cell cell{held_text(map, held->second), lane % lanes_per_warp, lane / lanes_per_warp};
  cell.marked = held->second.marked;
  return cell;
}

// ---- Blocks -------------------------------------------------------------------------------------

// A warp, and the registers that hold the block: "w5 r8,9".
std::string block_label(const std::set<int>& registers, int warp) {
  return fmt::format("w{} r{}{}", warp, *registers.begin(),
                     registers.size() > 1 ? fmt::format(",{}", *registers.rbegin()) : "");
}

Cell block_cell(const Map& map, const Marks& marks, int row, int col) {
  std::set<int> registers;
  bool marked = false;
  int thread = 0;
  for (int r = row; r < row + block; ++r)
    for (int c = col; c < col + block; ++c) {
      const Coords place = map.places({r, c})[0];
      thread = place[0];
      registers.insert(place[1]);
      marked = marked || (marks.any() && marks.fit(map, {r, c}, place));
    }
  Cell cell{block_label(registers, thread / lanes_per_warp), thread / threads_per_warpgroup,
            thread % threads_per_warpgroup / lanes_per_warp};
  cell.marked = marked;
  return cell;
}

}  // namespace

Picture memory_picture(const Map& map, const Marks& marks) {
  Picture picture;
  picture.title = map.title;
  picture.legend =
      "line: 128 bytes of shared memory, cell: the elements in 16 bytes; colour: which 16 bytes of "
      "their row (or column, if that lies along memory) of the matrix; dashed: not read; ...: "
      "lines "
      "that are left out or not read";
  picture.hue_word = "unit";
  picture.hues = units;
  picture.marked_word = marks.words();
  for (int i = 0; i < units; ++i)
    picture.column_names.push_back(
        fmt::format("banks {}-{}", banks_of_unit * i, banks_of_unit * (i + 1) - 1));
  const Lines lines = lines_of(map, marks);
  const std::set<int> shown = drawn(lines);
  int last = *shown.begin() - 1;
  for (const int line : shown) {
    if (line != last + 1) {
      picture.row_names.push_back("...");
      picture.cells.emplace_back(units);
    }
    picture.row_names.push_back(fmt::format("{:#x}", line * line_bytes));
    picture.cells.emplace_back();
    for (const std::optional<Unit>& unit : lines.at(line))
      picture.cells.back().push_back(cell_of(unit));
    last = line;
  }
  return picture;
}

bool has_peer(const Map& map) {
  return map.space == Space::TensorMemory && map.place[0].extent > 1;
}

Picture lanes_picture(const Map& map, const Marks& marks) {
  const Columns columns = columns_of(map, marks);
  Picture picture;
  picture.title = map.title;
  picture.legend = fmt::format(
      "line: a lane of Tensor Memory{}, cell: row,column of the element in its 32 bits; colour: "
      "the warp that reads the lane; dashed: nothing is here",
      has_peer(map) ? " of the first CTA" : "");
  picture.hue_word = "lane";
  picture.shade_word = "warp";
  picture.hues = lanes_per_warp;
  picture.shades = tcgen05::tmem_lanes / lanes_per_warp;
  picture.marked_word = marks.words();
  const std::map<int, Held> nothing;
  const int begin = columns.begin()->first, end = columns.rbegin()->first + 1;
  for (int column = begin; column < end; ++column)
    picture.column_names.push_back(std::to_string(column));
  for (int lane = 0; lane < tcgen05::tmem_lanes; ++lane) {
    picture.row_names.push_back(std::to_string(lane));
    picture.cells.emplace_back();
    for (int column = begin; column < end; ++column) {
      const auto held = columns.find(column);
      picture.cells.back().push_back(
          lane_cell(map, held == columns.end() ? nothing : held->second, lane));
    }
  }
  return picture;
}

Picture block_picture(const Map& map, const Marks& marks) {
  Picture picture;
  picture.title = map.title;
  picture.legend =
      "cell: 8 x 8 elements from this row and column on, their warp (counted in the CTA) and the "
      "registers that hold them; element (row, col) of it is in lane 4*row + col/2";
  picture.hue_word = "group";
  picture.shade_word = "warp";
  picture.hues = map.place[0].extent / threads_per_warpgroup;
  picture.shades = threads_per_warpgroup / lanes_per_warp;
  picture.marked_word = marks.words();
  for (int col = 0; col < map.element[1].extent; col += block)
    picture.column_names.push_back(std::to_string(col));
  for (int row = 0; row < map.element[0].extent; row += block) {
    picture.row_names.push_back(std::to_string(row));
    picture.cells.emplace_back();
    for (int col = 0; col < map.element[1].extent; col += block)
      picture.cells.back().push_back(block_cell(map, marks, row, col));
  }
  return picture;
}

}  // namespace tcq::oracle
