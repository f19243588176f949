// Grids as shapes; see grid_picture.h.
#include "oracle/answer/grid_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "oracle/answer/svg.h"
#include "oracle/answer/value.h"

namespace tcq::oracle {
namespace {

using sheet::line_height;
using sheet::margin;

// A grid of more cells leaves out columns that repeat: it would fill several pages.
constexpr std::size_t most_cells = 2048;

int size_of(const std::vector<std::string>& names) { return static_cast<int>(names.size()); }

int cell_width(const Picture& picture) {
  int widest = width_of("000");
  for (const auto& row : picture.cells)
    for (const Cell& cell : row) widest = std::max(widest, width_of(cell.label));
  for (const std::string& name : picture.column_names) widest = std::max(widest, width_of(name));
  return widest + 5;
}

int name_width(const Picture& picture) {
  int widest = width_of("000");
  for (const std::string& name : picture.row_names) widest = std::max(widest, width_of(name));
  return widest + 6;
}

// ---- Which columns ------------------------------------------------------------------------------

bool repeats(const Picture& picture, std::size_t period) {
  for (const auto& row : picture.cells)
    for (std::size_t col = period; col < row.size(); ++col)
      if (row[col].hue_index != row[col - period].hue_index ||
          row[col].shade_index != row[col - period].shade_index)
        return false;
  return true;
}

// The first column that has something marked, or 0.
int first_marked(const Picture& picture) {
  for (int col = 0; col < size_of(picture.column_names); ++col)
    for (const auto& row : picture.cells)
      if (row[static_cast<std::size_t>(col)].marked) return col;
  return 0;
}

struct Columns {
  std::vector<int> shown;
  int per_band = 1;
  int period = 0;  // of those left out; 0: none is
};

void add_run(std::vector<int>& columns, int begin, int end) {
  for (int col = begin; col < end; ++col)
    if (columns.empty() || col > columns.back()) columns.push_back(col);
}

Columns columns_of(const Picture& picture, int fitting) {
  const int all = size_of(picture.column_names);
  Columns columns;
  columns.per_band = fitting >= 8 ? fitting / 8 * 8 : fitting;
  for (const int period : {4, 8, 16, 32}) {
    if (all * picture.row_names.size() <= most_cells || all <= fitting) break;
    if (2 * period > fitting || !repeats(picture, static_cast<std::size_t>(period))) continue;
    const int mark = first_marked(picture) / period * period;
    const int runs = fitting / period - 1;  // and the last one
    const bool is_between = mark >= runs * period && mark < all - period;
    add_run(columns.shown, 0, (runs - (is_between ? 1 : 0)) * period);
    if (is_between) add_run(columns.shown, mark, mark + period);
    add_run(columns.shown, all - period, all);
    columns.per_band = static_cast<int>(columns.shown.size());
    columns.period = period;
    return columns;
  }
  add_run(columns.shown, 0, all);
  return columns;
}

// "columns 16 to 247 are left out, ..."
std::string left_out_text(const Picture& picture, const Columns& columns) {
  std::string runs;
  for (std::size_t i = 0; i < columns.shown.size(); ++i) {
    const int last = i == 0 ? -1 : columns.shown[i - 1];
    const int next = columns.shown[i];
    if (next == last + 1) continue;
    runs += fmt::format("{}{} to {}", runs.empty() ? "" : ", ",
                        picture.column_names[static_cast<std::size_t>(last + 1)],
                        picture.column_names[static_cast<std::size_t>(next - 1)]);
  }
  return fmt::format("left out: columns {}; every {} columns the {}s are the same", runs,
                     columns.period, picture.hue_word);
}

// ---- Shapes -------------------------------------------------------------------------------------

struct Sizes {
  int cell = 0;
  int left = 0;
};

void add_cell(Drawing& drawing, Box at, const Picture& picture, const Cell& cell) {
  if (cell.hue_index == unread) return drawing.box(Ink::Unread, at);
  const bool faded = !picture.marked_word.empty() && !cell.marked;
  drawing.box(faded ? Ink::Faded : Ink::Box, at,
              pastel(cell.hue_index, picture.hues, cell.shade_index, picture.shades));
}

void add_label(Drawing& drawing, Box at, const Picture& picture, const Cell& cell) {
  const bool faded = !picture.marked_word.empty() && !cell.marked;
  const Ink ink = cell.hue_index == unread || faded ? Ink::Dim : Ink::Label;
  drawing.words(ink, at.x + at.width / 2, at.y, cell.label, Anchor::Middle);
}

// Boxes first, then what is written on them.
template <class Visit>
void for_each_cell(const Picture& picture, std::span<const int> columns, Sizes sizes, int top,
                   Visit&& visit) {
  for (std::size_t row = 0; row < picture.cells.size(); ++row)
    for (std::size_t i = 0; i < columns.size(); ++i)
      visit(picture.cells[row][static_cast<std::size_t>(columns[i])],
            Box{sizes.left + static_cast<int>(i) * sizes.cell,
                top + static_cast<int>(row) * line_height, sizes.cell - 1, line_height - 1});
}

int add_band(Drawing& drawing, const Picture& picture, std::span<const int> columns, Sizes sizes,
             int y) {
  const int top = y + line_height;
  for_each_cell(picture, columns, sizes, top,
                [&](const Cell& cell, Box at) { add_cell(drawing, at, picture, cell); });
  for_each_cell(picture, columns, sizes, top, [&](const Cell& cell, Box at) {
    if (cell.marked) drawing.box(Ink::Mark, at);
  });
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const int x = sizes.left + static_cast<int>(i) * sizes.cell;
    drawing.words(Ink::Text, x + sizes.cell / 2, y,
                  picture.column_names[static_cast<std::size_t>(columns[i])], Anchor::Middle);
    if (i > 0 && columns[i] != columns[i - 1] + 1)
      drawing.line(Ink::Line, x - 1, y, x - 1, top + size_of(picture.row_names) * line_height);
  }
  for (int row = 0; row < size_of(picture.row_names); ++row)
    drawing.words(Ink::Text, sizes.left - 4, top + row * line_height,
                  picture.row_names[static_cast<std::size_t>(row)], Anchor::End);
  for_each_cell(picture, columns, sizes, top,
                [&](const Cell& cell, Box at) { add_label(drawing, at, picture, cell); });
  return top + size_of(picture.row_names) * line_height + margin;
}

// Swatches, as many lines of them as they need.
int add_scale(Drawing& drawing, const std::string& word, int count, int y,
              const std::function<std::string(int)>& colour) {
  constexpr int swatch = 20;
  const int left = margin + std::max(width_of("region"), width_of(word)) + 8;
  const int in_line = std::max(1, (sheet::widest - left) / swatch);
  const auto at = [&](int i) {
    return Box{left + i % in_line * swatch, y + i / in_line * line_height, swatch - 1,
               line_height - 1};
  };
  drawing.words(Ink::Text, margin, y, word);
  for (int i = 0; i < count; ++i) drawing.box(Ink::Box, at(i), colour(i));
  for (int i = 0; i < count; ++i)
    drawing.words(Ink::Label, at(i).x + swatch / 2, at(i).y, std::to_string(i), Anchor::Middle);
  return y + ((count - 1) / in_line + 1) * line_height + 4;
}

int count_marked(const Picture& picture, std::span<const int> columns) {
  int marked = 0;
  for (const auto& row : picture.cells)
    for (const int col : columns) marked += row[static_cast<std::size_t>(col)].marked ? 1 : 0;
  return marked;
}

std::string marked_text(const Picture& picture, const Columns& columns) {
  std::vector<int> all;
  add_run(all, 0, size_of(picture.column_names));
  const int shown = count_marked(picture, columns.shown);
  const int marked = count_marked(picture, all);
  return fmt::format("outlined: {}, {} cell{}{}", picture.marked_word, marked,
                     marked == 1 ? "" : "s",
                     shown == marked ? "" : fmt::format(", {} of them shown", shown));
}

void add_legend(Drawing& drawing, const Picture& picture, const Columns& columns, int y) {
  const int letters = sheet::widest / sheet::letter_width;
  y = drawing.paragraph(Ink::Text, margin, y, picture.legend, letters);
  if (columns.period != 0)
    y = drawing.paragraph(Ink::Text, margin, y, left_out_text(picture, columns), letters);
  if (!picture.marked_word.empty())
    y = drawing.paragraph(Ink::Text, margin, y, marked_text(picture, columns), letters);
  y = add_scale(drawing, picture.hue_word, picture.hues, y + 4,
                [&](int hue) { return pastel(hue, picture.hues, 0, picture.shades); });
  if (picture.shades > 1)
    add_scale(drawing, picture.shade_word, picture.shades, y,
              [&](int shade) { return pastel(0, picture.hues, shade, picture.shades); });
}

Picture transposed(Picture picture) {
  std::vector<std::vector<Cell>> cells(picture.column_names.size());
  for (std::vector<Cell>& row : picture.cells)
    for (std::size_t col = 0; col < row.size(); ++col) cells[col].push_back(std::move(row[col]));
  picture.cells = std::move(cells);
  std::swap(picture.column_names, picture.row_names);
  return picture;
}

}  // namespace

Drawing drawing_of(const Picture& picture) {
  const Sizes sizes = {cell_width(picture), margin + name_width(picture)};
  const int fitting = std::max(1, (sheet::widest - sizes.left) / sizes.cell);
  const Columns columns = columns_of(picture, fitting);
  Drawing drawing{picture.title, 0, 0, {}};
  int y = drawing.paragraph(Ink::Title, margin, margin, picture.title, sheet::widest / 8) + 4;
  const std::span<const int> shown = columns.shown;
  const auto in_band = static_cast<std::size_t>(columns.per_band);
  for (std::size_t at = 0; at < shown.size(); at += in_band)
    y = add_band(drawing, picture, shown.subspan(at, std::min(in_band, shown.size() - at)), sizes,
                 y);
  add_legend(drawing, picture, columns, y);
  return drawing;
}

Answer draw(Picture picture, const Options& options) {
  if (options.style != Style::Text && options.style != Style::Json)
    throw UsageError("--svg writes a picture, no table: expected it alone or with --json");
  if (options.transpose) picture = transposed(std::move(picture));
  write_whole_file(options.svg_path, svg_text(drawing_of(picture)));
  if (options.style == Style::Json)
    return {Status::Yes,
            json_text(Value::Members{{"file", options.svg_path},
                                     {"title", picture.title},
                                     {"rows", picture.row_names.size()},
                                     {"columns", picture.column_names.size()}}),
            ""};
  return {Status::Yes,
          fmt::format("wrote {}: {}, {} x {} cells", options.svg_path, picture.title,
                      picture.row_names.size(), picture.column_names.size()),
          ""};
}

}  // namespace tcq::oracle
