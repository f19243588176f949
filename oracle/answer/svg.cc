// SVG through pugixml, and writing a file whole; see svg.h.
#include "oracle/answer/svg.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <pugixml.hpp>
#include <sstream>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

// ---- What roles look like -----------------------------------------------------------------------

constexpr std::array<const char*, inks> class_names = {
    "tcq-title", "tcq-text", "tcq-dim",  "tcq-label",   "tcq-box",   "tcq-faded",
    "tcq-unread", "tcq-mark", "tcq-line", "tcq-waiting", "tcq-arrow", "tcq-bad"};

// Boxes keep their colours and dark labels on dark pages, a little dimmed.
constexpr const char* style_sheet = R"(
.tcq-paper{fill:#fff}
.tcq-title{fill:#111;font-size:13px}
.tcq-text{fill:#111}
.tcq-dim{fill:#555}
.tcq-label{fill:#111}
.tcq-faded{opacity:.35}
.tcq-unread{fill:#f4f4f4;stroke:#999;stroke-width:.5;stroke-dasharray:2 2}
.tcq-mark{fill:none;stroke:#c00000;stroke-width:2}
.tcq-line{stroke:#777;stroke-width:.75}
.tcq-waiting{fill:#e4e4e4;stroke:#777;stroke-width:.5}
.tcq-arrow{stroke:#1457b8;stroke-width:1}
.tcq-tip{fill:#1457b8}
.tcq-bad{fill:none;stroke:#c00000;stroke-width:2;stroke-dasharray:4 2}
@media (prefers-color-scheme:dark){
.tcq-paper{fill:#16181c}
.tcq-title,.tcq-text{fill:#eee}
.tcq-dim{fill:#b4b4b4}
.tcq-box{opacity:.85}
.tcq-unread{fill:#26292f;stroke:#777}
.tcq-mark,.tcq-bad{stroke:#ff7b72}
.tcq-line{stroke:#999}
.tcq-waiting{fill:#3a3e46;stroke:#999}
.tcq-arrow{stroke:#79b8ff}
.tcq-tip{fill:#79b8ff}
}
)";

constexpr const char* anchor_name(Anchor anchor) {
  switch (anchor) {
    case Anchor::Start: return "start";
    case Anchor::Middle: return "middle";
    case Anchor::End: break;
  }
  return "end";
}

// ---- Shapes -------------------------------------------------------------------------------------

void add_box(pugi::xml_node parent, const Shape& shape) {
  pugi::xml_node rect = parent.append_child("rect");
  rect.append_attribute("x") = shape.at.x;
  rect.append_attribute("y") = shape.at.y;
  rect.append_attribute("width") = shape.at.width;
  rect.append_attribute("height") = shape.at.height;
  if (!shape.text.empty()) rect.append_attribute("fill") = shape.text.c_str();
}

void add_words(pugi::xml_node parent, const Shape& shape) {
  pugi::xml_node node = parent.append_child("text");
  node.append_attribute("x") = shape.at.x;
  node.append_attribute("y") = shape.at.y;
  if (shape.anchor != Anchor::Start)
    node.append_attribute("text-anchor") = anchor_name(shape.anchor);
  node.text().set(shape.text.c_str());
}

void add_line(pugi::xml_node parent, const Shape& shape) {
  pugi::xml_node line = parent.append_child("line");
  line.append_attribute("x1") = shape.at.x;
  line.append_attribute("y1") = shape.at.y;
  line.append_attribute("x2") = shape.at.x + shape.at.width;
  line.append_attribute("y2") = shape.at.y + shape.at.height;
  if (shape.ink == Ink::Arrow) line.append_attribute("marker-end") = "url(#tcq-tip)";
}

void add(pugi::xml_node parent, const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::Box: return add_box(parent, shape);
    case Shape::Kind::Words: return add_words(parent, shape);
    case Shape::Kind::Line: return add_line(parent, shape);
  }
}

void add_arrow_head(pugi::xml_node svg) {
  pugi::xml_node marker = svg.append_child("defs").append_child("marker");
  marker.append_attribute("id") = "tcq-tip";
  marker.append_attribute("viewBox") = "0 0 8 8";
  marker.append_attribute("refX") = 7;
  marker.append_attribute("refY") = 4;
  marker.append_attribute("markerWidth") = 7;
  marker.append_attribute("markerHeight") = 7;
  marker.append_attribute("orient") = "auto";
  pugi::xml_node head = marker.append_child("path");
  head.append_attribute("class") = "tcq-tip";
  head.append_attribute("d") = "M0 0L8 4L0 8z";
}

// Neighbours of one role share a group.
void add_shapes(pugi::xml_node svg, const std::vector<Shape>& shapes) {
  pugi::xml_node group;
  const Shape* last = nullptr;
  for (const Shape& shape : shapes) {
    if (last == nullptr || last->ink != shape.ink) {
      group = svg.append_child("g");
      group.append_attribute("class") = class_names[static_cast<std::size_t>(shape.ink)];
    }
    add(group, shape);
    last = &shape;
  }
}

bool has_arrows(const Drawing& drawing) {
  for (const Shape& shape : drawing.shapes)
    if (shape.ink == Ink::Arrow) return true;
  return false;
}

// ---- Files --------------------------------------------------------------------------------------

std::string reason(int error) { return std::strerror(error); }

[[noreturn]] void throw_unwritable(const std::string& path, const std::string& why) {
  throw UsageError(
      fmt::format("{} cannot be written: {}; expected the path of a new or existing file",
                  oracle::quoted(path), why));
}

}  // namespace

std::string svg_text(const Drawing& drawing) {
  pugi::xml_document document;
  pugi::xml_node svg = document.append_child("svg");
  svg.append_attribute("xmlns") = "http://www.w3.org/2000/svg";
  svg.append_attribute("width") = fmt::format("{}pt", drawing.width).c_str();
  svg.append_attribute("height") = fmt::format("{}pt", drawing.height).c_str();
  svg.append_attribute("viewBox") = fmt::format("0 0 {} {}", drawing.width, drawing.height).c_str();
  svg.append_attribute("role") = "img";
  svg.append_attribute("font-family") = "DejaVu Sans Mono,Menlo,Consolas,monospace";
  svg.append_attribute("font-size") = 10;
  svg.append_child("title").text().set(drawing.title.c_str());
  svg.append_child("style").text().set(style_sheet);
  if (has_arrows(drawing)) add_arrow_head(svg);
  pugi::xml_node paper = svg.append_child("rect");
  paper.append_attribute("class") = "tcq-paper";
  paper.append_attribute("width") = "100%";
  paper.append_attribute("height") = "100%";
  add_shapes(svg, drawing.shapes);
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

}  // namespace tcq::oracle
