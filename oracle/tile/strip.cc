// Four panels and the arrows between them; see strip.h.
#include "oracle/tile/strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "oracle/answer/decoded_word.h"
#include "sim/isa/copy/tma_box.h"

namespace tcq::oracle {
namespace {

using sheet::line_height;
using sheet::margin;

constexpr std::uint32_t unit_bytes = 16;
constexpr std::uint32_t line_bytes = 128;
constexpr int units = line_bytes / unit_bytes;
constexpr std::uint32_t drawn_lines = 8;
constexpr int banks_of_unit = 4;
constexpr int hues = 8;
constexpr int word_bits = 64;

// Where panels stand, and how large the tile and the instruction are drawn.
constexpr int panel_width = 210, panel_height = 150;
constexpr int memory_x = 300, unit_width = 56, name_width = 52;
constexpr int top = 44, lower = 240;
constexpr int letters = 80;  // of a line of the right half

// 16 bytes of the tile as the matrix counts them: `along` memory, `across` the other way.
struct Unit {
  std::uint32_t along, across;
  friend bool operator<(const Unit& x, const Unit& y) {
    return std::pair(x.across, x.along) < std::pair(y.across, y.along);
  }
};

struct Strip {
  const OperandLayout& layout;
  TileElement element;

  bool k_major() const { return layout.tile.major == Major::K; }
  std::uint32_t bits() const { return stored_bits(layout.type); }
  std::uint32_t along_bytes(TileElement e) const { return (k_major() ? e.k : e.mn) * bits() / 8; }
  std::uint32_t across(TileElement e) const { return k_major() ? e.mn : e.k; }
  Unit unit(TileElement e) const { return {along_bytes(e) / unit_bytes, across(e)}; }

  std::uint32_t address(Unit u) const {
    const std::uint32_t bytes = u.along * unit_bytes;
    const OperandByte at = k_major() ? OperandByte{u.across, bytes} : OperandByte{bytes, u.across};
    const std::uint32_t linear =
        layout.blocks[0].start_bytes +
        offset_bytes(canonical_layout(layout.tile, layout.tile.contiguous_bytes), at);
    return swizzle_function(layout.swizzle).apply(linear);
  }

  // The instruction's part of the tile that has the element.
  const OperandBlock& block() const {
    const OperandBlock* found = &layout.blocks[0];
    for (const OperandBlock& one : layout.blocks)
      if (one.mn <= element.mn && one.k <= element.k && one.mn >= found->mn && one.k >= found->k)
        found = &one;
    return *found;
  }
};

std::string colour_of(Unit unit) { return pastel(static_cast<int>(unit.along % hues), hues, 1, 3); }

int scaled(std::uint32_t index, std::uint32_t of, int points) {
  return static_cast<int>(static_cast<std::uint64_t>(index) * static_cast<std::uint64_t>(points) /
                          of);
}

// A part of a matrix of `columns` x `rows` drawn at (x, y), as large as a panel; at least a few points wide.
Box part(int x, int y, std::uint32_t columns, std::uint32_t rows, Box in_matrix) {
  const auto u = [](int value) { return static_cast<std::uint32_t>(value); };
  const int left = scaled(u(in_matrix.x), columns, panel_width);
  const int upper = scaled(u(in_matrix.y), rows, panel_height);
  const int right = scaled(u(in_matrix.x + in_matrix.width), columns, panel_width);
  const int low = scaled(u(in_matrix.y + in_matrix.height), rows, panel_height);
  return {x + left, y + upper, std::max(right - left - 1, 4), std::max(low - upper - 1, 4)};
}

// K runs to the right, MN down, whichever lies along memory.
Box oriented(bool k_right, std::uint32_t along, std::uint32_t across, std::uint32_t length,
             std::uint32_t rows) {
  const Box box = {static_cast<int>(along), static_cast<int>(across), static_cast<int>(length),
                   static_cast<int>(rows)};
  return k_right ? box : Box{box.y, box.x, box.height, box.width};
}

Box middle_right(Box box) { return {box.x + box.width, box.y + box.height / 2, 0, 0}; }

// ---- Panels -------------------------------------------------------------------------------------

// The boxes of TMA; returns the unit's place.
Box add_boxes(Drawing& drawing, const Strip& strip) {
  const Tile& tile = strip.layout.tile;
  const TmaBoxes boxes = tma_boxes(tile);
  const bool k_right = strip.k_major();
  const std::uint32_t columns = k_right ? tile.contiguous_bytes : tile.rows;
  const std::uint32_t rows = k_right ? tile.rows : tile.contiguous_bytes;
  const int y = top + 2 * line_height;
  drawing.words(Ink::Text, margin, top, "1 in global memory, boxes of TMA");
  drawing.words(Ink::Dim, margin, top + line_height,
                fmt::format("K to the right, MN down{}", k_right ? "" : " (along memory)"));
  for (std::uint32_t j = 0; j < boxes.count_rows; ++j)
    for (std::uint32_t i = 0; i < boxes.count_contiguous; ++i)
      drawing.box(Ink::Waiting,
                  part(margin, y, columns, rows,
                       oriented(k_right, i * boxes.box.inner_bytes, j * boxes.box.rows,
                                boxes.box.inner_bytes, boxes.box.rows)));
  const Unit unit = strip.unit(strip.element);
  const Box at = part(margin, y, columns, rows,
                      oriented(k_right, unit.along * unit_bytes, unit.across, unit_bytes, 1));
  drawing.box(Ink::Box, at, colour_of(unit));
  drawing.box(Ink::Mark, at);
  return at;
}

// The 1024 bytes around the unit; returns its place.
Box add_memory(Drawing& drawing, const Strip& strip) {
  const Tile& tile = strip.layout.tile;
  const Unit asked = strip.unit(strip.element);
  const std::uint32_t around = line_bytes * drawn_lines;
  const std::uint32_t first = strip.address(asked) / around * around;
  std::map<std::uint32_t, Unit> held;
  for (std::uint32_t across = 0; across < tile.rows; ++across)
    for (std::uint32_t along = 0; along < tile.contiguous_bytes / unit_bytes; ++along) {
      const std::uint32_t address = strip.address({along, across});
      if (address / around == first / around) held[address] = {along, across};
    }
  drawing.words(Ink::Text, memory_x, top,
                "2 in shared memory: lines of 128 bytes, 16 a cell, 4 banks a cell");
  const int x = memory_x + name_width, y = top + 2 * line_height;
  for (int u = 0; u < units; ++u)
    drawing.words(Ink::Dim, x + u * unit_width + unit_width / 2, top + line_height,
                  fmt::format("{}-{}", banks_of_unit * u, banks_of_unit * (u + 1) - 1),
                  Anchor::Middle);
  Box found{};
  std::vector<std::pair<Box, std::string>> labels;
  for (std::uint32_t line = 0; line < drawn_lines; ++line) {
    drawing.words(Ink::Text, x - 4, y + static_cast<int>(line) * line_height,
                  fmt::format("{:#x}", first + line * line_bytes), Anchor::End);
    for (int u = 0; u < units; ++u) {
      const std::uint32_t address =
          first + line * line_bytes + static_cast<std::uint32_t>(u) * unit_bytes;
      const Box at = {x + u * unit_width, y + static_cast<int>(line) * line_height, unit_width - 1,
                      line_height - 1};
      const auto unit = held.find(address);
      if (unit == held.end()) {
        drawing.box(Ink::Unread, at);
        continue;
      }
      drawing.box(Ink::Box, at, colour_of(unit->second));
      labels.push_back({at, fmt::format("{}:{}", unit->second.across, unit->second.along)});
      if (address == strip.address(asked)) found = at;
    }
  }
  for (const auto& [at, label] : labels)
    drawing.words(Ink::Label, at.x + at.width / 2, at.y, label, Anchor::Middle);
  drawing.box(Ink::Mark, found);
  return found;
}

void add_legend(Drawing& drawing, const Strip& strip, int y) {
  y = drawing.paragraph(
      Ink::Dim, memory_x, y,
      fmt::format("1: {}", tma_text(strip.layout.tile, strip.layout.swizzle, strip.layout.type)),
      letters);
  drawing.paragraph(
      Ink::Dim, memory_x, y,
      fmt::format(
          "2: a cell is {}:unit, where unit u is 16 bytes along {} from byte 16 u on; colour: "
          "the unit; dashed: not of the tile",
          strip.k_major() ? "mn" : "k", strip.k_major() ? "K" : "MN"),
      letters);
}

// Returns the descriptor's place.
Box add_descriptor(Drawing& drawing, const Strip& strip) {
  const OperandBlock& block = strip.block();
  const int y = lower + 2 * line_height;
  drawing.words(Ink::Text, memory_x, lower,
                fmt::format("3 the descriptor of its instruction, mn {} k {}", block.mn, block.k));
  const Box word = {memory_x, lower + line_height + 2, 20 * sheet::letter_width, line_height};
  drawing.box(Ink::Waiting, word);
  drawing.words(Ink::Text, memory_x + 6, word.y, hex_word(block.word, word_bits));
  const int below = drawing.paragraph(
      Ink::Text, memory_x, y + 8,
      fmt::format("start_bytes {}, lbo_bytes {}, sbo_bytes {}, swizzle {}", block.start_bytes,
                  strip.layout.lbo_bytes, strip.layout.sbo_bytes, name(strip.layout.swizzle)),
      letters);
  add_legend(drawing, strip, below + line_height);
  return word;
}

// The element in its instruction's part of the tile.
Box add_instruction(Drawing& drawing, const Strip& strip) {
  const OperandBlock& block = strip.block();
  const OperandLayout& layout = strip.layout;
  const int y = lower + 2 * line_height;
  drawing.words(Ink::Text, margin, lower, "4 in the instruction");
  drawing.words(Ink::Dim, margin, lower + line_height,
                fmt::format("{} x {} of the tile", layout.instruction_mn, layout.instruction_k));
  drawing.box(Ink::Waiting, {margin, y, panel_width, panel_height});
  const Box at = part(margin, y, layout.instruction_k, layout.instruction_mn,
                      {static_cast<int>(strip.element.k - block.k),
                       static_cast<int>(strip.element.mn - block.mn), 1, 1});
  drawing.box(Ink::Box, at, colour_of(strip.unit(strip.element)));
  drawing.box(Ink::Mark, at);
  return at;
}

std::string sentence_of(const Strip& strip) {
  const Unit unit = strip.unit(strip.element);
  const std::uint32_t byte = strip.address(unit) + strip.along_bytes(strip.element) % unit_bytes;
  const OperandBlock& block = strip.block();
  return fmt::format(
      "mn {}, k {} of the tile: byte {:#x}, bank {}; mn {}, k {} of the instruction that begins at "
      "mn {}, k {}",
      strip.element.mn, strip.element.k, byte, byte / 4 % 32, strip.element.mn - block.mn,
      strip.element.k - block.k, block.mn, block.k);
}

}  // namespace

Drawing strip_of(const OperandLayout& layout, TileElement element) {
  const Strip strip = {layout, element};
  Drawing drawing{layout.title, 0, 0, {}};
  drawing.words(Ink::Title, margin, margin, drawing.title);
  const Box global = middle_right(add_boxes(drawing, strip));
  const Box unit = add_memory(drawing, strip);
  const Box word = add_descriptor(drawing, strip);
  const Box inside = middle_right(add_instruction(drawing, strip));
  const int below = top + (2 + static_cast<int>(drawn_lines)) * line_height;
  drawing.line(Ink::Arrow, global.x + 2, global.y, memory_x - 2, unit.y + unit.height / 2);
  drawing.line(Ink::Arrow, word.x + word.width + 2, word.y + word.height / 2,
               unit.x + unit.width / 2, below + 2);
  drawing.line(Ink::Arrow, word.x - 2, word.y + word.height / 2, inside.x + 2, inside.y);
  drawing.paragraph(Ink::Text, margin, lower + 2 * line_height + panel_height + 8,
                    sentence_of(strip), 130);
  return drawing;
}

}  // namespace tcq::oracle
