// A matrix of one tcgen05.mma in Tensor Memory as the fragment verbs see it.
//
// One TmemView serves D, A, its metadata E (a matrix of 4-bit codes: columns are chunks of K) and
// the scale factors SFA and SFB (columns are factors along K). Rows are those of the whole
// instruction. Extents along K are the caller's: they depend on the kind (sim/isa/tcgen05/shape.h). The
// registers that tcgen05.ld makes of it are tcgen05_load_view.h. All maps are sim/isa's. Example: D[37][10] of M = 64 = tmem_lane 69, tmem_column 10 (warp 2 reads it).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oracle/answer/table.h"
#include "oracle/map/equation_text.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tmem/layout.h"

namespace tcq::oracle {

enum class TmemMatrix { A, D, E, SFA, SFB };

std::string_view name(TmemMatrix matrix);

// "D", "sfa" in either case; throws UsageError.
TmemMatrix parse_tmem_matrix(std::string_view word);

struct TmemView {
  TmemMatrix matrix;
  tcgen05::MmaOpcode opcode;
  int m;                        // of the whole instruction
  int n;                        // D, SFB
  int k_extent = 0;             // A: stored elements; E: codes per row; SFA, SFB: factors
  Type type = Type::f32;        // of the elements; E: of A
  int selector = 0;             // E
  int column_step = 0;          // SFA, SFB: columns from four factors to the next; 0: no gaps
  tcgen05::Cell base = {0, 0};  // the matrix's address
  int first_factor = 0;         // SFA, SFB: byte in the cell of factor 0, as scale_a_id says
};

int rows(const TmemView& view);
int cols(const TmemView& view);

// Faults: UnmodelledTmemOperand; None does not mean that the instruction exists.
Fault check(const TmemView& view);

// Columns that the matrix occupies from its address on.
int columns(const TmemView& view);

// What makes the answer doubtful: a sentence, or "" if all sources agree.
std::string doubt(const TmemView& view);

// What a selector says about the metadata of a sparse instruction: "they begin in the even column
// that their address names".
std::string selector_text(const tcgen05::MmaOpcode& op, int selector);

// Bits [low_bit, low_bit + bits) of one cell; columns and lanes count from (0, 0) of the CTA.
struct TmemPlace {
  int cta;  // of the pair; the same place in both CTAs is listed once, with cta = both_ctas
  tcgen05::Cell cell;
  int low_bit;
  int bits;
};
inline constexpr int both_ctas = -1;

// Every copy of an element. Requires: check(view) == Fault::None; row < rows, col < cols.
std::vector<TmemPlace> places_of(const TmemView& view, tcgen05::Element element);

// The elements in a cell of a CTA, lowest bits first; none if the cell is not the matrix's.
std::vector<tcgen05::Element> elements_in(const TmemView& view, int cta, tcgen05::Cell cell);

// "D[37][10]", "E[41][20..23]", "SFA[77][5]".
std::string element_text(const TmemView& view, tcgen05::Element element);

// "D[37][10] = tmem_lane 69, tmem_column 10 (warp 2 of the warpgroup reads it)".
std::string where_text(const TmemView& view, tcgen05::Element element);
std::string where_json(const TmemView& view, tcgen05::Element element);

// "tmem_lane 77, tmem_column 2 = A[77][4], A[77][5]"; "... holds nothing of A".
std::string what_text(const TmemView& view, int cta, tcgen05::Cell cell);
std::string what_json(const TmemView& view, int cta, tcgen05::Cell cell);

// A grid of "lane:column" or "lane:column.bit" of each element's first place, or with `list` one
// line per place: row,col,cta,tmem_lane,tmem_column,low_bit (cta empty: both), by rows or columns.
Table table_of(const TmemView& view, bool list, bool by_columns = false);

// Both directions for D, from elements to places otherwise.
EquationLines equation_of(const TmemView& view);

}  // namespace tcq::oracle
