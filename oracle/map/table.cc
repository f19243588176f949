// The verb table: a whole Map as a grid, a list or a picture.
//
// Grids have the rows and columns of the matrix, cells name the first place (`6:7`: thread 6, register
// 7; `6:3.1`: its part 1; `69:0.16`: lane, column and bit of Tensor Memory; bytes); with --by slot they
// have threads and registers, or lanes and columns, cells name elements. --csv and --json list every place on a line.
#include "oracle/answer/table.h"

#include <fmt/format.h>

#include "oracle/answer/grid_picture.h"
#include "oracle/answer/verbs.h"
#include "oracle/map/asked.h"
#include "oracle/map/pictures.h"
#include "oracle/map/units.h"

namespace tcq::oracle {
namespace {

constexpr int warp_shades = 4;
// Shared memory is coloured by 16-byte unit, in turns of so many.
constexpr int coloured_unit_bytes = 16;
constexpr int coloured_units = 8;

using Line = std::vector<std::string>;

// ---- Grids --------------------------------------------------------------------------------------

// "0", or "1:5" where the rows of a grid have two indices.
std::string label_of(const std::vector<Axis>& axes, const Coords& at) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i)
    text += fmt::format("{}{}", i > 0 ? ":" : "", counted(axes[i], at[i]));
  return text;
}

std::string corner_text(const Map& map) {
  if (is_of_cells(map)) return std::string(map.element[0].name);
  std::string text = map.matrix;
  for (const Axis& axis : map.element)
    text += fmt::format("[{}]", axis.alias.empty() ? axis.extent * axis.step : axis.extent);
  return text;
}

std::string place_cell(const Map& map, const Coords& element) {
  const std::vector<Coords> places = map.places(element);
  return places.empty() ? "-" : short_text(map, places[0]);
}

// Without the matrix's name: "[9][13]", "69:10".
std::string element_cell(const Map& map, const Coords& place) {
  if (!holds(map, place)) return "-";
  const Coords e = map.element_at(place);
  if (is_of_cells(map))
    return fmt::format("{}:{}", value(map.element[0], e[0]), value(map.element[1], e[1]));
  return element_text(map, e).substr(map.matrix.size());
}

std::string register_name(const Map& map, const Coords& place) {
  if (map.space == Space::Metadata) return fmt::format("nibble {}", place[2]);
  return has_parts(map) ? fmt::format("r{}.{}", place[1], value(map.place[2], place[2]))
                        : fmt::format("r{}", place[1]);
}

// A grid of texts and, for pictures, what each cell is about.
struct Grid {
  Table table;
  std::vector<std::vector<Coords>> at;
};

// The last axis runs along the lines.
Grid grid_of(const std::vector<Axis>& axes, std::string corner,
             const std::function<std::string(const Coords&)>& column_name,
             const std::function<std::string(const Coords&)>& cell, std::size_t row_axes) {
  Grid grid;
  grid.table.header.push_back(std::move(corner));
  const std::vector<Axis> of_rows(axes.begin(),
                                  axes.begin() + static_cast<std::ptrdiff_t>(row_axes));
  const std::vector<Axis> of_columns(axes.begin() + static_cast<std::ptrdiff_t>(row_axes),
                                     axes.end());
  const auto joined = [&](const Coords& row, const Coords& column) {
    Coords at = row;
    for (std::size_t i = 0; i < of_columns.size(); ++i) at[row_axes + i] = column[i];
    return at;
  };
  for_each(of_columns, false, [&](const Coords& column) {
    grid.table.header.push_back(column_name(joined({}, column)));
  });
  for_each(of_rows, false, [&](const Coords& row) {
    Line line = {label_of(of_rows, row)};
    grid.at.emplace_back();
    for_each(of_columns, false, [&](const Coords& column) {
      grid.at.back().push_back(joined(row, column));
      line.push_back(cell(grid.at.back().back()));
    });
    grid.table.rows.push_back(std::move(line));
  });
  return grid;
}

Grid grid_of(const Map& map, bool by_slot) {
  if (by_slot)
    return grid_of(
        map.place, "thread", [&](const Coords& at) { return register_name(map, at); },
        [&](const Coords& at) { return element_cell(map, at); }, 1);
  const std::size_t last = map.element.size() - 1;
  return grid_of(
      map.element, corner_text(map),
      [&](const Coords& at) { return std::to_string(counted(map.element[last], at[last])); },
      [&](const Coords& at) { return place_cell(map, at); }, last);
}

// ---- Lists --------------------------------------------------------------------------------------

// Lists of metadata have a col as those of every matrix.
std::string heading_of(const Axis& axis) {
  return axis.name == "k" ? "col" : std::string(axis.name);
}

void add_element(Line& line, const Map& map, const Coords& element) {
  for (std::size_t i = 0; i < map.element.size(); ++i)
    line.push_back(std::to_string(counted(map.element[i], element[i])));
}

// Empty for what lies alike in both CTAs.
std::string cta_cell(int cta) { return cta == both_ctas ? "" : std::to_string(cta); }

void add_place(Line& line, const Map& map, const Coords& place) {
  for (std::size_t i = 0; i < map.place.size(); ++i)
    line.push_back(map.place[i].name == "cta" ? cta_cell(place[i])
                                              : std::to_string(value(map.place[i], place[i])));
}

// thread, register, part, then the element: by elements, or by threads and registers.
Table register_list(const Map& map, const Options& options) {
  Table table;
  for (const Axis& axis : map.place) table.header.push_back(heading_of(axis));
  for (const Axis& axis : map.element) table.header.push_back(heading_of(axis));
  const auto add = [&](const Coords& place, const Coords& element) {
    Line line;
    add_place(line, map, place);
    add_element(line, map, element);
    table.rows.push_back(std::move(line));
  };
  if (!options.by_slot && !is_of_cells(map)) {
    for_each(map.element, options.transpose, [&](const Coords& element) {
      for (const Coords& place : map.places(element)) add(place, element);
    });
    return table;
  }
  // --transpose: registers and parts outside, threads inside.
  std::vector<Axis> axes = map.place;
  if (options.transpose) axes = {map.place[1], map.place[2], map.place[0]};
  for_each(axes, false, [&](const Coords& at) {
    const Coords place = options.transpose ? Coords{at[2], at[0], at[1]} : at;
    if (holds(map, place)) add(place, map.element_at(place));
  });
  return table;
}

// row, col, then every place in memory.
Table memory_list(const Map& map, const Options& options) {
  Table table{{"row", "col"}, {}};
  const bool bytes = map.space == Space::SharedMemory;
  const bool narrow = bytes && map.bits < 8;
  const bool pair = bytes && map.place[0].extent == 2;
  if (bytes)
    table.header.push_back("byte");
  else
    for (const Axis& axis : map.place) table.header.push_back(heading_of(axis));
  if (narrow) table.header.push_back("bit");
  if (pair) table.header.push_back("cta");
  for_each(map.element, options.transpose, [&](const Coords& element) {
    for (const Coords& at : map.places(element)) {
      Line line;
      add_element(line, map, element);
      if (bytes)
        line.push_back(std::to_string(at[1]));
      else
        add_place(line, map, at);
      if (narrow) line.push_back(std::to_string(at[2]));
      if (pair) line.push_back(cta_cell(at[0]));
      table.rows.push_back(std::move(line));
    }
  });
  return table;
}

// ---- Pictures -----------------------------------------------------------------------------------

Cell by_lane(int lane, std::string label) {
  return {std::move(label), lane % lanes_per_warp, lane / lanes_per_warp};
}

Cell coloured(const Map& map, const Coords& at, bool by_slot, std::string label) {
  if (by_slot) return holds(map, at) ? by_lane(at[0], std::move(label)) : Cell{};
  const std::vector<Coords> places = map.places(at);
  if (places.empty()) return {};
  if (is_of_registers(map)) return by_lane(places[0][0], std::move(label));
  if (map.space == Space::TensorMemory) return by_lane(places[0][1], std::move(label));
  return {std::move(label), places[0][1] / coloured_unit_bytes % coloured_units, 0};
}

std::string legend_of(const Map& map, bool by_slot) {
  if (is_of_cells(map))
    return by_slot ? "cell: tmem_lane:tmem_column of thread and register"
                   : "cell: thread:register of tmem_lane and tmem_column";
  if (by_slot) return "cell: [row][col] of the element";
  switch (map.space) {
    case Space::Registers:
      return has_parts(map) ? "cell: thread:register.part, part 0 in the lowest bits"
                            : "cell: thread:register";
    case Space::Metadata: return "cell: thread.nibble of the metadata register";
    case Space::TensorMemory:
      return "cell: tmem_lane:tmem_column.bit; colour: the warp that reads it";
    case Space::SharedMemory: break;
  }
  return "cell: address of the element's first byte; colour: its 16-byte unit";
}

Picture picture_of(const Map& map, bool by_slot, const Marks& marks) {
  const Grid grid = grid_of(map, by_slot);
  const bool bytes = map.space == Space::SharedMemory;
  Picture picture;
  picture.title = map.title;
  picture.legend = legend_of(map, by_slot);
  picture.hue_word = bytes ? "unit" : "lane";
  picture.shade_word = bytes ? "" : "warp";
  picture.hues = bytes ? coloured_units : lanes_per_warp;
  picture.shades = bytes ? 1 : warp_shades;
  picture.marked_word = marks.words();
  const Table& table = grid.table;
  picture.column_names.assign(table.header.begin() + 1, table.header.end());
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    picture.row_names.push_back(table.rows[row][0]);
    picture.cells.emplace_back();
    for (std::size_t col = 0; col < grid.at[row].size(); ++col) {
      const Coords& at = grid.at[row][col];
      Cell cell = coloured(map, at, by_slot, table.rows[row][col + 1]);
      cell.marked =
          marks.any() && (by_slot ? holds(map, at) && marks.fit(map, map.element_at(at), at)
                                  : marks.fit_element(map, at));
      picture.cells.back().push_back(std::move(cell));
    }
  }
  return picture;
}

// The same grid as text.
Table table_of(const Picture& picture, std::string corner) {
  Table table;
  table.header = {std::move(corner)};
  table.header.insert(table.header.end(), picture.column_names.begin(), picture.column_names.end());
  for (std::size_t row = 0; row < picture.cells.size(); ++row) {
    table.rows.push_back({picture.row_names[row]});
    for (const Cell& cell : picture.cells[row])
      table.rows.back().push_back(cell.hue_index == unread ? "-" : cell.label);
  }
  return table;
}

Picture picture_asked(const Map& map, bool by_slot, const Marks& marks) {
  if (by_slot && map.space == Space::TensorMemory) return lanes_picture(map, marks);
  return map.blocks && !by_slot ? block_picture(map, marks) : picture_of(map, by_slot, marks);
}

Table grid_asked(const Map& map, bool by_slot, const Marks& marks) {
  if (by_slot && map.space == Space::TensorMemory)
    return table_of(lanes_picture(map, marks), "tmem_lane");
  return grid_of(map, by_slot).table;
}

}  // namespace

Answer table(const Question& asked) {
  Question question = asked;
  const Marks marks(question);
  Map map = read_map(question, Ask::Whole).map;
  marks.require(map);
  const Options& options = question.options;
  if (options.by_slot && map.space == Space::SharedMemory)
    throw UsageError(
        "--by slot is for registers and Tensor Memory: expected --by element for shared memory, or "
        "'tcq bytes', whose "
        "--svg FILE has its lines of 128 bytes");
  if (!options.svg_path.empty()) {
    Answer drawn = draw(picture_asked(map, options.by_slot, marks), options);
    drawn.complaint = notes_text(map);
    return drawn;
  }
  if (options.style == Style::Csv || options.style == Style::Json) {
    const Table list =
        is_of_registers(map) ? register_list(map, options) : memory_list(map, options);
    return with_notes(map, render(list, options.style), options.style);
  }
  if (options.by_slot && has_peer(map))
    map.notes.push_back("the lanes of the first CTA; the second one's are in --csv and --json");
  const Table grid = grid_asked(map, options.by_slot, marks);
  return with_notes(map, render(options.transpose ? transposed(grid) : grid, options.style),
                    options.style);
}

}  // namespace tcq::oracle
