// Closed forms of matrices in Tensor Memory and of the registers of tcgen05.ld: C expressions and
// CuTe strings, derived from the maps of sim/isa by linear_map.h; see tcgen05_view.h.
#include <fmt/format.h>

#include "oracle/map/linear_map.h"
#include "oracle/map/tcgen05_view.h"
#include "sim/isa/tmem/scale_layout.h"

namespace tcq::oracle {
namespace {

using tcgen05::Cell;
using Axes = wgmma::Element;  // linear_map's pair: here (lane, column) or (row, col)

// An index that a layout cuts into pieces of `width`, which need not be a power of two.
struct CutIndex {
  std::string low_name;
  std::string high_name;
  int width;
  int pieces;
};

CutIndex cut(const std::string& index, int extent, int pieces) {
  const int width = extent / pieces;
  if (pieces == 1) return {index, "", width, 1};
  return {fmt::format("{}%{}", index, width), fmt::format("{}/{}", index, width), width, pieces};
}

int d_pieces(const TmemView& view) { return n_pieces(datapath(view.opcode, view.m)); }

int rows_in_cta(const TmemView& view) {
  if (view.matrix == TmemMatrix::SFB) return view.n;
  return view.m / view.opcode.cta_group;
}

bool is_split(const TmemView& view) {
  return view.matrix == TmemMatrix::SFB &&
         tcgen05::sfb_buffer(view.m, view.n, view.opcode.cta_group).split;
}

// (lane, column) and (low bit, 0) of an element of CTA 0 and one of its copies.
ClosedForm form_of(const TmemView& view, const CutIndex& row, const CutIndex& col, int copies,
                   bool low_bit) {
  const auto map = [&](std::span<const int> v) {
    const tcgen05::Element e = {v[0] + row.width * v[1], v[2] + col.width * v[3]};
    const TmemPlace at = places_of(view, e)[static_cast<std::size_t>(v[4])];
    return low_bit ? Axes{at.low_bit, 0} : Axes{at.cell.tmem_lane, at.cell.tmem_column};
  };
  return closed_form({{row.low_name, row.width, row.width},
                      {row.high_name, row.pieces, row.pieces},
                      {col.low_name, col.width, col.width},
                      {col.high_name, col.pieces, col.pieces},
                      {"copy", copies, copies}},
                     map);
}

std::string column_word(const TmemView& view) {
  switch (view.matrix) {
    case TmemMatrix::E: return "chunk";
    case TmemMatrix::A:
    case TmemMatrix::D: return "col";
    default: return "s";
  }
}

// A pair of CTAs shares the rows; everything below them counts in one CTA.
EquationLines cta_lines(const TmemView& view) {
  if (view.opcode.cta_group == 1 || view.matrix == TmemMatrix::SFB) return {};
  const std::string index = view.matrix == TmemMatrix::SFA ? "mn" : "row";
  const int height = rows_in_cta(view);
  return {{"cta", fmt::format("whole_{}/{}", index, height)},
          {index + " in the CTA", fmt::format("whole_{}%{}", index, height)}};
}

void add_inverse(EquationLines& lines, const TmemView& view) {
  const tcgen05::Accumulator d = {datapath(view.opcode, view.m), view.n, view.base.tmem_lane};
  const int width = columns(d);
  const ClosedForm form = closed_form(
      {{"tmem_lane", tcgen05::tmem_lanes, tcgen05::tmem_lanes}, {"tmem_column", width, width}},
      [&](std::span<const int> v) {
        const tcgen05::Element e = d_element(d, {v[0], v[1]});
        return Axes{e.row, e.col};
      });
  lines.emplace_back("row", forward_expression(form, &Axes::row));
  lines.emplace_back("col", forward_expression(form, &Axes::col));
}

}  // namespace

EquationLines equation_of(const TmemView& view) {
  const bool is_scale = view.matrix == TmemMatrix::SFA || view.matrix == TmemMatrix::SFB;
  const CutIndex row = cut(is_scale ? "mn" : "row", rows_in_cta(view), is_split(view) ? 2 : 1);
  const CutIndex col =
      cut(column_word(view), cols(view), view.matrix == TmemMatrix::D ? d_pieces(view) : 1);
  const int copies = static_cast<int>(places_of(view, {0, 0}).size());
  const ClosedForm place = form_of(view, row, col, copies, false);
  EquationLines lines = cta_lines(view);
  lines.insert(lines.end(), {{"tmem_lane", forward_expression(place, &Axes::row)},
                             {"tmem_column", forward_expression(place, &Axes::col)}});
  if (places_of(view, {0, 0})[0].bits != 32)
    lines.emplace_back("low_bit",
                       forward_expression(form_of(view, row, col, copies, true), &Axes::row));
  if (copies > 1) lines.emplace_back("copy", fmt::format("0 to {}", copies - 1));
  if (view.matrix != TmemMatrix::D) return lines;
  TmemView at_zero = view;
  at_zero.base = {view.base.tmem_lane, 0};
  add_inverse(lines, at_zero);
  const ClosedForm for_cute =
      closed_form({{"row", row.width, row.width},
                   {"low", col.width, col.width},
                   {"high", col.pieces, col.pieces}},
                  [&](std::span<const int> v) {
                    const Cell cell = places_of(at_zero, {v[0], v[1] + col.width * v[2]})[0].cell;
                    return Axes{cell.tmem_lane, cell.tmem_column};
                  });
  lines.emplace_back("CuTe (row, col) -> tmem_lane + 128*tmem_column",
                     cute_string(for_cute, tcgen05::tmem_lanes));
  return lines;
}

}  // namespace tcq::oracle
