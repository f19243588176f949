// SVG through pugixml, and writing a file whole; see svg.h.
#include "oracle/answer/svg.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <pugixml.hpp>
#include <sstream>

#include "oracle/answer/answer.h"
#include "oracle/answer/value.h"
#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

// Unit: pixels.
constexpr int cell_height = 18;
constexpr int margin = 10;
constexpr int name_width = 36;
constexpr int title_height = 30;
constexpr int swatch_width = 24;
constexpr int character_width = 7;

struct Box {
  int x;
  int y;
  int width;
  int height;
};

// Channel of a hue in [0, 6): 1 at `centre`, falling to 0 two sixths away.
double channel(double hue, double centre) {
  double distance = std::abs(hue - centre);
  distance = std::min(distance, 6 - distance);
  return std::clamp(2 - distance, 0.0, 1.0);
}

// Pastel: hues go round the circle, shades get darker.
std::string colour(const Picture& picture, const Cell& cell) {
  const double hue = 6.0 * cell.hue_index / picture.hues;
  const double strength = 0.25 + 0.3 * cell.shade_index / std::max(1, picture.shades - 1);
  const auto byte = [&](double centre) {
    return static_cast<int>(255 * (1 - strength * (1 - channel(hue, centre))));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(0), byte(2), byte(4));
}

void add_text(pugi::xml_node parent, int x, int y, const std::string& text, const char* anchor) {
  pugi::xml_node node = parent.append_child("text");
  node.append_attribute("x") = x;
  node.append_attribute("y") = y;
  node.append_attribute("text-anchor") = anchor;
  node.text().set(text.c_str());
}

void add_cell(pugi::xml_node parent, Box box, const std::string& fill, const std::string& label) {
  pugi::xml_node rect = parent.append_child("rect");
  rect.append_attribute("x") = box.x;
  rect.append_attribute("y") = box.y;
  rect.append_attribute("width") = box.width;
  rect.append_attribute("height") = box.height;
  rect.append_attribute("fill") = fill.c_str();
  add_text(parent, box.x + box.width / 2, box.y + box.height - 5, label, "middle");
}

int cell_width(const Picture& picture) {
  std::size_t longest = 3;
  for (const auto& row : picture.cells)
    for (const Cell& cell : row) longest = std::max(longest, cell.label.size());
  return character_width * static_cast<int>(longest) + 6;
}

void add_legend(pugi::xml_node svg, const Picture& picture, int y) {
  add_text(svg, margin, y + cell_height - 5, picture.legend, "start");
  y += cell_height + 4;
  add_text(svg, margin, y + cell_height - 5, picture.hue_word, "start");
  for (int hue = 0; hue < picture.hues; ++hue)
    add_cell(svg, {margin + 2 * name_width + hue * swatch_width, y, swatch_width, cell_height},
             colour(picture, {"", hue, 0}), std::to_string(hue));
  if (picture.shades < 2) return;
  y += cell_height + 4;
  add_text(svg, margin, y + cell_height - 5, picture.shade_word, "start");
  for (int shade = 0; shade < picture.shades; ++shade)
    add_cell(svg, {margin + 2 * name_width + shade * swatch_width, y, swatch_width, cell_height},
             colour(picture, {"", 0, shade}), std::to_string(shade));
}

std::string reason(int error) { return std::strerror(error); }

[[noreturn]] void throw_unwritable(const std::string& path, const std::string& why) {
  throw UsageError(
      fmt::format("{} cannot be written: {}; expected the path of a new or existing file",
                  oracle::quoted(path), why));
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

std::string svg_text(const Picture& picture) {
  const int width = cell_width(picture);
  const int columns = static_cast<int>(picture.column_names.size());
  const int rows = static_cast<int>(picture.row_names.size());
  const int left = margin + name_width;
  const int top = margin + title_height + cell_height;
  const int bottom = top + rows * cell_height + margin;
  const int legend_width = 3 * name_width + picture.hues * swatch_width;
  pugi::xml_document document;
  pugi::xml_node svg = document.append_child("svg");
  svg.append_attribute("xmlns") = "http://www.w3.org/2000/svg";
  svg.append_attribute("width") = std::max(left + columns * width, legend_width) + margin;
  svg.append_attribute("height") = bottom + 3 * (cell_height + 4) + margin;
  svg.append_attribute("font-family") = "monospace";
  svg.append_attribute("font-size") = 11;
  svg.append_child("title").text().set(picture.title.c_str());
  pugi::xml_node background = svg.append_child("rect");
  background.append_attribute("width") = "100%";
  background.append_attribute("height") = "100%";
  background.append_attribute("fill") = "white";
  pugi::xml_node heading = svg.append_child("g");
  heading.append_attribute("font-size") = 15;
  add_text(heading, margin, margin + 15, picture.title, "start");
  pugi::xml_node grid = svg.append_child("g");
  grid.append_attribute("stroke") = "none";
  for (int column = 0; column < columns; ++column)
    add_text(grid, left + column * width + width / 2, top - 5,
             picture.column_names[static_cast<std::size_t>(column)], "middle");
  for (int row = 0; row < rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    add_text(grid, left - 4, top + (row + 1) * cell_height - 5, picture.row_names[r], "end");
    for (int column = 0; column < columns; ++column) {
      const Cell& cell = picture.cells[r][static_cast<std::size_t>(column)];
      add_cell(grid, {left + column * width, top + row * cell_height, width - 1, cell_height - 1},
               colour(picture, cell), cell.label);
    }
  }
  add_legend(svg, picture, bottom);
  std::ostringstream text;
  document.save(text, "", pugi::format_indent);
  return text.str();
}

void write_whole_file(const std::string& path, const std::string& text) {
  if (path.empty()) throw_unwritable(path, "the path is empty");
  if (path.find('\0') != std::string::npos) throw_unwritable(path, "it holds a NUL");
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) throw_unwritable(path, "it is a directory");
  // The rename would replace a device or a pipe by a file.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw_unwritable(path, "it is no regular file");
  const std::string temporary = fmt::format("{}.{}.part", path, ::getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wbx");
  if (file == nullptr) throw_unwritable(path, reason(errno));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int write_error = errno;
  const bool closed = std::fclose(file) == 0;
  const int close_error = errno;
  if (written && closed && std::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int why = !written ? write_error : !closed ? close_error : errno;
  std::remove(temporary.c_str());
  throw_unwritable(path, reason(why));
}

Answer draw(Picture picture, const Options& options) {
  if (options.style != Style::Text && options.style != Style::Json)
    throw UsageError("--svg writes a picture, no table: expected it alone or with --json");
  if (options.transpose) picture = transposed(std::move(picture));
  write_whole_file(options.svg_path, svg_text(picture));
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
