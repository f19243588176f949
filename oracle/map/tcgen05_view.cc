// Places of elements in Tensor Memory, read from sim/isa and put into words; see tcgen05_view.h.
#include "oracle/map/tcgen05_view.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "oracle/answer/answer.h"
#include "oracle/answer/json.h"
#include "oracle/answer/words.h"
#include "sim/isa/tcgen05/fragment.h"
#include "sim/isa/tmem/operand.h"
#include "sim/isa/tmem/scale_layout.h"

namespace tcq::oracle {
namespace {

using tcgen05::Cell;
using tcgen05::CellBit;
using tcgen05::CellByte;
using tcgen05::Datapath;
using tcgen05::Element;

constexpr std::array<std::string_view, 5> matrix_names = {"A", "D", "E", "SFA", "SFB"};
constexpr int cell_bits = 32;
constexpr int byte_bits = 8;

Datapath datapath_of(const TmemView& view) { return datapath(view.opcode, view.m); }

// Rows of D, A and E that one CTA holds.
int rows_per_cta(const TmemView& view) { return rows(datapath_of(view)); }

bool is_scale(TmemMatrix matrix) { return matrix == TmemMatrix::SFA || matrix == TmemMatrix::SFB; }

tcgen05::Accumulator accumulator_of(const TmemView& view) {
  return {datapath_of(view), view.n, view.base.tmem_lane};
}

tcgen05::TmemA a_of(const TmemView& view) {
  return {datapath_of(view), view.opcode.kind, view.base.tmem_lane};
}

tcgen05::TmemMetadata metadata_of(const TmemView& view) {
  return {datapath_of(view), view.opcode.kind, view.selector, view.opcode.ws};
}

tcgen05::ScaleBuffer scales_of(const TmemView& view) {
  const int cta_group = view.opcode.cta_group;
  tcgen05::ScaleBuffer buffer = view.matrix == TmemMatrix::SFA
                                    ? tcgen05::sfa_buffer(view.m, cta_group)
                                    : tcgen05::sfb_buffer(view.m, view.n, cta_group);
  if (view.column_step != 0) buffer.column_step = view.column_step;
  return buffer;
}

// The CTA that holds an element, and its row there.
struct Owner {
  int cta;
  Element local;
};

Owner owner_of(const TmemView& view, Element e) {
  if (view.matrix == TmemMatrix::SFB) return {view.opcode.cta_group == 2 ? both_ctas : 0, e};
  const int height = view.matrix == TmemMatrix::SFA ? scales_of(view).mn : rows_per_cta(view);
  return {e.row / height, {e.row % height, e.col}};
}

TmemPlace place(const TmemView& view, int cta, CellBit at, int bits) {
  return {cta, {at.tmem_lane, at.tmem_column + view.base.tmem_column}, at.low_bit, bits};
}

// One copy, or nothing if there are fewer.
std::optional<TmemPlace> copy_of(const TmemView& view, Owner owner, int copy) {
  const Element e = owner.local;
  switch (view.matrix) {
    case TmemMatrix::D: {
      if (copy > 0) return std::nullopt;
      const Cell cell = d_cell(accumulator_of(view), e);
      return place(view, owner.cta, {cell.tmem_lane, cell.tmem_column, 0}, bits(view.type));
    }
    case TmemMatrix::A: {
      const tcgen05::TmemA a = a_of(view);
      if (copy >= a_copies(a)) return std::nullopt;
      CellBit at = a_place(a, e, copy);
      at.low_bit += tcgen05::tmem_payload_low_bit(view.opcode.kind, view.type);
      return place(view, owner.cta, at, bits(view.type));
    }
    case TmemMatrix::E: {
      const tcgen05::TmemMetadata metadata = metadata_of(view);
      if (copy >= metadata_copies(metadata)) return std::nullopt;
      return place(view, owner.cta, metadata_place(metadata, {e.row, e.col}, copy),
                   tcgen05::metadata_code_bits);
    }
    case TmemMatrix::SFA:
    case TmemMatrix::SFB: break;
  }
  const tcgen05::ScaleBuffer buffer = scales_of(view);
  if (copy >= scale_copies(buffer)) return std::nullopt;
  const CellByte at = scale_place(buffer, {e.row, view.first_factor + e.col}, copy);
  return place(view, owner.cta, {at.tmem_lane, at.tmem_column, byte_bits * at.byte}, byte_bits);
}

std::string cta_text(const TmemView& view, int cta) {
  if (view.opcode.cta_group == 1) return "";
  return cta == both_ctas ? ", in both CTAs" : fmt::format(", in CTA {} of the pair", cta);
}

std::string cell_name(Cell cell) {
  return fmt::format("tmem_lane {}, tmem_column {}", cell.tmem_lane, cell.tmem_column);
}

std::string bits_text(const TmemPlace& at) {
  if (at.bits == cell_bits) return "";
  return fmt::format(", bits [{},{})", at.low_bit, at.low_bit + at.bits);
}

// "; copies in tmem_lane 45, 77 and 109".
std::string copies_text(const std::vector<TmemPlace>& places) {
  std::string lanes;
  for (std::size_t i = 1; i < places.size(); ++i) {
    const char* separator = i == 1 ? "" : i + 1 < places.size() ? ", " : " and ";
    lanes += fmt::format("{}{}", separator, places[i].cell.tmem_lane);
  }
  if (lanes.empty()) return "";
  return fmt::format("; {} in tmem_lane {}", places.size() == 2 ? "a copy" : "copies", lanes);
}

std::string place_json(const TmemPlace& at) {
  return json_object({{"cta", at.cta == both_ctas ? "null" : std::to_string(at.cta)},
                      {"tmem_lane", std::to_string(at.cell.tmem_lane)},
                      {"tmem_column", std::to_string(at.cell.tmem_column)},
                      {"low_bit", std::to_string(at.low_bit)},
                      {"bits", std::to_string(at.bits)},
                      {"warp", std::to_string(tcgen05::warp_of_tmem_lane(at.cell.tmem_lane))}});
}

std::string element_json(const TmemView& view, Element e) {
  return json_object({{"matrix", json_string(name(view.matrix))},
                      {"row", std::to_string(e.row)},
                      {"col", std::to_string(e.col)}});
}

// The element whose lowest bits are in the cell, if the cell is the matrix's: local row.
std::optional<Element> element_at(const TmemView& view, CellBit at) {
  if (view.matrix == TmemMatrix::D) {
    const Cell cell = {at.tmem_lane, at.tmem_column};
    if (!holds_d(accumulator_of(view), cell)) return std::nullopt;
    return d_element(accumulator_of(view), cell);
  }
  if (view.matrix == TmemMatrix::A) return a_element(a_of(view), at);
  if (view.matrix == TmemMatrix::E) {
    const tcgen05::MetadataChunk chunk = metadata_chunk(metadata_of(view), at);
    return Element{chunk.row, chunk.chunk};
  }
  const CellByte byte = {at.tmem_lane, at.tmem_column, at.low_bit / byte_bits};
  if (!holds_scale(scales_of(view), byte)) return std::nullopt;
  const tcgen05::ScaleFactor factor = scale_factor(scales_of(view), byte);
  if (factor.s < view.first_factor) return std::nullopt;
  return Element{factor.mn, factor.s - view.first_factor};
}

int unit_bits(const TmemView& view) {
  switch (view.matrix) {
    case TmemMatrix::D: return cell_bits;
    case TmemMatrix::A: return tcgen05::tmem_container_bits(view.opcode.kind);
    case TmemMatrix::E: return tcgen05::metadata_code_bits;
    default: return byte_bits;
  }
}

// An element in the numbering of the whole instruction.
Element whole_element(const TmemView& view, int cta, Element local) {
  if (view.matrix == TmemMatrix::SFB) return local;
  const int height = view.matrix == TmemMatrix::SFA ? scales_of(view).mn : rows_per_cta(view);
  return {cta * height + local.row, local.col};
}

// True if one of the element's places is in this cell: maps of fewer lanes answer for all of them.
bool lies_in(const TmemView& view, Element e, int cta, Cell cell) {
  for (const TmemPlace& at : places_of(view, e))
    if (at.cell == cell && (at.cta == both_ctas || at.cta == cta)) return true;
  return false;
}

std::string disputed(std::string_view here, std::string_view other) {
  return fmt::format(
      "sources disagree: this is {}, CuTe has {}, and no Blackwell device has decided it", here,
      other);
}

}  // namespace

std::string_view name(TmemMatrix matrix) { return matrix_names[static_cast<std::size_t>(matrix)]; }

TmemMatrix parse_tmem_matrix(std::string_view word) {
  for (std::size_t i = 0; i < matrix_names.size(); ++i)
    if (same_word(word, matrix_names[i])) return static_cast<TmemMatrix>(i);
  throw_unknown("matrix", word, matrix_names);
}

int rows(const TmemView& view) { return view.matrix == TmemMatrix::SFB ? view.n : view.m; }

int cols(const TmemView& view) { return view.matrix == TmemMatrix::D ? view.n : view.k_extent; }

Fault check(const TmemView& view) {
  if (view.matrix == TmemMatrix::A) return check(a_of(view));
  if (view.matrix != TmemMatrix::E) return Fault::None;
  const Fault fault = check(metadata_of(view));
  return fault != Fault::None ? fault : tcgen05::check_metadata_column(view.base.tmem_column);
}

int columns(const TmemView& view) {
  switch (view.matrix) {
    case TmemMatrix::D: return columns(accumulator_of(view));
    case TmemMatrix::A: return a_columns(a_of(view), view.k_extent);
    case TmemMatrix::E: return metadata_reach(metadata_of(view));
    case TmemMatrix::SFA:
    case TmemMatrix::SFB: break;
  }
  return scale_columns(scales_of(view), view.first_factor + view.k_extent);
}

std::string doubt(const TmemView& view) {
  if (view.matrix == TmemMatrix::SFA && tcgen05::is_disputed_sfa(view.m, view.opcode.cta_group))
    return disputed("SFA with the 64 rows of its CTA, after an example of NVIDIA's", "128 rows");
  if (view.matrix == TmemMatrix::SFB && is_inferred(scales_of(view)))
    return "inferred: no source says how SFB lies when N/2 is no multiple of 32; padding N avoids "
           "it";
  if (view.matrix == TmemMatrix::E && view.selector != 0)
    return "CuTe's code is the only source: selector 1 means the column behind the address's";
  if (!is_scale(view.matrix) && is_disputed(datapath_of(view)))
    return disputed("the manual's layout C", "layout B");
  return "";
}

std::string selector_text(const tcgen05::MmaOpcode& op, int selector) {
  if (selector >= tcgen05::metadata_selectors(op.kind, op.ws))
    return "no source says in which column they begin";
  return selector == 0
             ? "they begin in the even column that their address names"
             : "they begin in the odd column behind the even one that their address names";
}

std::vector<TmemPlace> places_of(const TmemView& view, Element element) {
  const Owner owner = owner_of(view, element);
  std::vector<TmemPlace> places;
  for (int copy = 0;; ++copy) {
    const std::optional<TmemPlace> at = copy_of(view, owner, copy);
    if (!at) return places;
    places.push_back(*at);
  }
}

std::vector<Element> elements_in(const TmemView& view, int cta, Cell cell) {
  std::vector<Element> found;
  const int column = cell.tmem_column - view.base.tmem_column;
  if (column < 0) return found;
  for (int bit = 0; bit < cell_bits; bit += unit_bits(view)) {
    const std::optional<Element> local = element_at(view, {cell.tmem_lane, column, bit});
    if (!local) continue;
    const Element e = whole_element(view, cta, *local);
    if (e.row >= rows(view) || e.col >= cols(view) || !lies_in(view, e, cta, cell)) continue;
    found.push_back(e);
  }
  return found;
}

std::string element_text(const TmemView& view, Element e) {
  if (view.matrix != TmemMatrix::E)
    return fmt::format("{}[{}][{}]", name(view.matrix), e.row, e.col);
  const int step = tcgen05::metadata_chunk_elements(view.opcode.kind);
  return fmt::format("E[{}][{}..{}]", e.row, step * e.col, step * e.col + step - 1);
}

std::string where_text(const TmemView& view, Element element) {
  const std::vector<TmemPlace> places = places_of(view, element);
  const TmemPlace& first = places[0];
  std::string text =
      fmt::format("{} = {}{}{}{}", element_text(view, element), cell_name(first.cell),
                  bits_text(first), copies_text(places), cta_text(view, first.cta));
  if (view.matrix == TmemMatrix::D)
    text += fmt::format(" (warp {} of the warpgroup reads it)",
                        tcgen05::warp_of_tmem_lane(first.cell.tmem_lane));
  return text;
}

std::string where_json(const TmemView& view, Element element) {
  std::vector<std::string> places;
  for (const TmemPlace& at : places_of(view, element)) places.push_back(place_json(at));
  return json_object({{"matrix", json_string(name(view.matrix))},
                      {"row", std::to_string(element.row)},
                      {"col", std::to_string(element.col)},
                      {"places", json_array(places)},
                      {"doubt", json_string(doubt(view))}});
}

std::string what_text(const TmemView& view, int cta, Cell cell) {
  std::string text = cell_name(cell) + cta_text(view, cta);
  const std::vector<Element> elements = elements_in(view, cta, cell);
  if (elements.empty()) return text + fmt::format(" holds nothing of {}", name(view.matrix));
  const char* separator = " = ";
  for (const Element& e : elements) {
    text += separator + element_text(view, e);
    separator = ", ";
  }
  return text;
}

std::string what_json(const TmemView& view, int cta, Cell cell) {
  std::vector<std::string> elements;
  for (const Element& e : elements_in(view, cta, cell)) elements.push_back(element_json(view, e));
  return json_array(elements);
}

namespace {

std::string grid_cell(const TmemView& view, Element e) {
  const TmemPlace at = places_of(view, e)[0];
  return at.bits == cell_bits
             ? fmt::format("{}:{}", at.cell.tmem_lane, at.cell.tmem_column)
             : fmt::format("{}:{}.{}", at.cell.tmem_lane, at.cell.tmem_column, at.low_bit);
}

Table grid_of(const TmemView& view) {
  Table table;
  table.header.push_back(fmt::format("{}[{}][{}]", name(view.matrix), rows(view), cols(view)));
  for (int col = 0; col < cols(view); ++col) table.header.push_back(std::to_string(col));
  for (int row = 0; row < rows(view); ++row) {
    std::vector<std::string> line = {std::to_string(row)};
    for (int col = 0; col < cols(view); ++col) line.push_back(grid_cell(view, {row, col}));
    table.rows.push_back(std::move(line));
  }
  return table;
}

void add_places(Table& table, const TmemView& view, Element e) {
  for (const TmemPlace& at : places_of(view, e))
    table.rows.push_back({std::to_string(e.row), std::to_string(e.col),
                          at.cta == both_ctas ? "" : std::to_string(at.cta),
                          std::to_string(at.cell.tmem_lane), std::to_string(at.cell.tmem_column),
                          std::to_string(at.low_bit)});
}

Table list_of(const TmemView& view, bool by_columns) {
  Table table{{"row", "col", "cta", "tmem_lane", "tmem_column", "low_bit"}, {}};
  const int outer = by_columns ? cols(view) : rows(view);
  const int inner = by_columns ? rows(view) : cols(view);
  for (int i = 0; i < outer; ++i)
    for (int j = 0; j < inner; ++j)
      add_places(table, view, by_columns ? Element{j, i} : Element{i, j});
  return table;
}

}  // namespace

Table table_of(const TmemView& view, bool list, bool by_columns) {
  return list ? list_of(view, by_columns) : grid_of(view);
}

}  // namespace tcq::oracle
