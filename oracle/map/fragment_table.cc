// The verb table: the whole map of one matrix as a grid, a list or a picture.
//
// Grids have the matrix's rows and columns (`6:7`: thread 6, register 7; `6:3.1`: its part 1; bytes
// in shared memory), or with --by slot threads and registers (`[9][13]`). --csv and --json list one
// element per line, thread,register,part,row,col; E's part is the nibble and its col is logical k.
#include <fmt/format.h>

#include <utility>

#include "oracle/answer/svg.h"
#include "oracle/answer/table.h"
#include "oracle/answer/verbs.h"
#include "oracle/map/tcgen05_fragments.h"
#include "oracle/map/view.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "sim/isa/wgmma/place.h"

namespace tcq::oracle {
namespace {

using wgmma::Element;
using wgmma::Slot;

// Shared memory is coloured by 16-byte unit, in turns of so many.
constexpr std::uint32_t coloured_unit_bytes = 16;
constexpr std::uint32_t coloured_units = 8;

std::string cell_text(const View& view, Element element) {
  if (!view.in_registers()) return fmt::format("{:#x}", address_of(view, element));
  const Slot slot = slot_of(view, element);
  if (view.is_metadata()) return fmt::format("{}.{}", slot.thread, slot.part);
  return view.parts == 1 ? fmt::format("{}:{}", slot.thread, slot.reg)
                         : fmt::format("{}:{}.{}", slot.thread, slot.reg, slot.part);
}

std::string corner_text(const View& view) {
  return fmt::format("{}[{}][{}]", letter(view.matrix), view.rows, view.cols * col_step(view));
}

Table element_grid(const View& view) {
  Table table;
  table.header.push_back(corner_text(view));
  for (int col = 0; col < view.cols; ++col)
    table.header.push_back(std::to_string(col * col_step(view)));
  for (int row = 0; row < view.rows; ++row) {
    std::vector<std::string> line = {std::to_string(row)};
    for (int col = 0; col < view.cols; ++col) line.push_back(cell_text(view, {row, col}));
    table.rows.push_back(std::move(line));
  }
  return table;
}

std::string slot_name(const View& view, Slot slot) {
  if (view.is_metadata()) return fmt::format("nibble {}", slot.part);
  return view.parts == 1 ? fmt::format("r{}", slot.reg)
                         : fmt::format("r{}.{}", slot.reg, slot.part);
}

// Calls visit(slot) for every register and part of one thread.
template <class Visit>
void for_each_slot(const View& view, int thread, Visit&& visit) {
  for (int reg = 0; reg < view.registers; ++reg)
    for (int part = 0; part < view.parts; ++part) visit(Slot{thread, reg, part});
}

Table slot_grid(const View& view) {
  Table table;
  table.header.push_back("thread");
  for_each_slot(view, 0, [&](Slot slot) { table.header.push_back(slot_name(view, slot)); });
  for (int thread = 0; thread < wgmma::threads_per_warpgroup; ++thread) {
    std::vector<std::string> line = {std::to_string(thread)};
    for_each_slot(view, thread, [&](Slot slot) {
      line.push_back(is_read(view, thread) ? element_text(view, element_of(view, slot)).substr(1)
                                           : "-");
    });
    table.rows.push_back(std::move(line));
  }
  return table;
}

std::vector<std::string> register_line(const View& view, Slot slot, Element element) {
  return {std::to_string(slot.thread), std::to_string(slot.reg), std::to_string(slot.part),
          std::to_string(element.row), std::to_string(element.col * col_step(view))};
}

// Elements in row order, or column order if transposed.
template <class Visit>
void for_each_element(const View& view, bool by_columns, Visit&& visit) {
  const int outer = by_columns ? view.cols : view.rows;
  const int inner = by_columns ? view.rows : view.cols;
  for (int i = 0; i < outer; ++i)
    for (int j = 0; j < inner; ++j) visit(by_columns ? Element{j, i} : Element{i, j});
}

// Slots in the order of threads, or of registers if transposed.
template <class Visit>
void for_each_read_slot(const View& view, bool by_registers, Visit&& visit) {
  std::vector<Slot> own;
  for_each_slot(view, 0, [&](Slot slot) { own.push_back(slot); });
  const int threads = wgmma::threads_per_warpgroup;
  const int slots = static_cast<int>(own.size());
  for (int i = 0; i < (by_registers ? slots : threads); ++i)
    for (int j = 0; j < (by_registers ? threads : slots); ++j) {
      Slot slot = own[static_cast<std::size_t>(by_registers ? i : j)];
      slot.thread = by_registers ? j : i;
      if (is_read(view, slot.thread)) visit(slot);
    }
}

Table register_list(const View& view, const Options& options) {
  Table table{{"thread", "register", "part", "row", "col"}, {}};
  if (options.by_slot)
    for_each_read_slot(view, options.transpose, [&](Slot slot) {
      table.rows.push_back(register_line(view, slot, element_of(view, slot)));
    });
  else
    for_each_element(view, options.transpose, [&](Element element) {
      table.rows.push_back(register_line(view, slot_of(view, element), element));
    });
  return table;
}

Table byte_list(const View& view, const Options& options) {
  const bool with_bit = view.type == Type::b1;
  Table table{{"row", "col", "byte"}, {}};
  if (with_bit) table.header.push_back("bit");
  for_each_element(view, options.transpose, [&](Element e) {
    std::vector<std::string> line = {std::to_string(e.row), std::to_string(e.col),
                                     std::to_string(address_of(view, e))};
    const int k = view.matrix == Matrix::B ? e.row : e.col;
    if (with_bit) line.push_back(std::to_string(wgmma::bit_in_byte(view.type, k)));
    table.rows.push_back(std::move(line));
  });
  return table;
}

// ---- Pictures -----------------------------------------------------------------------------------

Cell coloured(int thread, std::string label) {
  return {std::move(label), wgmma::lane(thread), wgmma::warp(thread)};
}

Cell element_cell(const View& view, Element element) {
  std::string label = cell_text(view, element);
  if (view.in_registers()) return coloured(slot_of(view, element).thread, std::move(label));
  const std::uint32_t unit = address_of(view, element) / coloured_unit_bytes % coloured_units;
  return {std::move(label), static_cast<int>(unit), 0};
}

Picture empty_picture(const View& view) {
  Picture picture;
  picture.title =
      fmt::format("{} of {}", letter(view.matrix), mnemonic_with_keys(view.instruction));
  const bool registers = view.in_registers();
  picture.hue_word = registers ? "lane" : "unit";
  picture.shade_word = registers ? "warp" : "";
  picture.hues = registers ? wgmma::threads_per_warp : static_cast<int>(coloured_units);
  picture.shades = registers ? wgmma::warp(wgmma::threads_per_warpgroup) : 1;
  picture.legend = !registers
                       ? "cell: address of the element's first byte; colour: its 16-byte unit"
                   : view.is_metadata() ? "cell: thread.nibble of the metadata register"
                   : view.parts > 1     ? "cell: thread:register.part, part 0 in the lowest bits"
                                        : "cell: thread:register";
  return picture;
}

// The grid's texts, coloured by `cell(row, column)`.
template <class MakeCell>
Picture picture_of(const View& view, const Table& grid, MakeCell&& cell) {
  Picture picture = empty_picture(view);
  picture.column_names.assign(grid.header.begin() + 1, grid.header.end());
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    picture.row_names.push_back(grid.rows[row][0]);
    std::vector<Cell> line;
    for (std::size_t col = 1; col < grid.header.size(); ++col)
      line.push_back(cell(static_cast<int>(row), static_cast<int>(col - 1), grid.rows[row][col]));
    picture.cells.push_back(std::move(line));
  }
  return picture;
}

Picture picture_of(const View& view, const Options& options) {
  Picture picture =
      options.by_slot
          ? picture_of(
                view, slot_grid(view),
                [&](int thread, int, const std::string& label) { return coloured(thread, label); })
          : picture_of(view, element_grid(view), [&](int row, int col, const std::string&) {
              return element_cell(view, {row, col});
            });
  if (options.by_slot) picture.legend = "cell: [row][col] of the element";
  return picture;
}

}  // namespace

Answer table(const Question& question) {
  if (is_tcgen05(word_at(question, 0, "MNEMONIC MATRIX"))) return table_tcgen05(question);
  const Matrix matrix = parse_matrix(word_at(question, 1, "a matrix, A, B, C, D or E"));
  const Keys keys(words_from(question, 2), instruction_keys, {"desc"});
  const View view = placed_view_of(instruction_of(question, keys), matrix, keys);
  const Options& options = question.options;
  if (options.by_slot && !view.in_registers())
    throw UsageError("--by slot is for registers: expected --by element for shared memory");
  if (!options.svg_path.empty()) return draw(picture_of(view, options), options);
  if (options.style == Style::Csv || options.style == Style::Json) {
    const Table list =
        view.in_registers() ? register_list(view, options) : byte_list(view, options);
    return {Status::Yes, render(list, options.style), ""};
  }
  const Table grid = options.by_slot ? slot_grid(view) : element_grid(view);
  return {Status::Yes, render(options.transpose ? transposed(grid) : grid, options.style), ""};
}

}  // namespace tcq::oracle
