// Tensor Memory and the accumulator D in it: D[row][col] <-> (tmem_lane, tmem_column).
//
// Decides the datapath layouts A to G, which of them an instruction has, and the lanes that
// disable-output-lane names. A and sparse metadata in Tensor Memory: sim/isa/tmem/operand.h; scale factors:
// scale_layout.h; which registers tcgen05.ld fills: sim/isa/tcgen05/fragment.h. An element of D fills one
// 32-bit cell; f16 lies in its low half. Rows are those of one CTA: CTA `rank` of a pair holds rows
// rank * rows(datapath) and up of the whole D, with all N columns. Columns count from D's address.
// Example: M = 64, cta_group::1 is layout F, and D[37][10] lies in tmem_lane 69, tmem_column 10.
//
// Source: PTX ISA 9.2, 9.7.16.1 "Tensor Memory", 9.7.16.10.4.1, 9.7.16.10.5 "Data path layout".
// Source: CuTe layouts tmem_frg (cute/atom/mma_traits_sm100_frag.hpp): equal for A, B, D, E, F, G.
// Inferred: layout C is F with two CTAs, from the manual's "half datapath"; CuTe types it as B
// (cute/atom/mma_traits_sm100.hpp). One sparse mma of cta_group::2, M = 128 tells them apart.
// Inferred: words 4 to 7 of disable-output-lane belong to the peer CTA, as eight words of 32 lanes
// cover two CTAs; one mma with word 4 set refutes it.
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"

namespace tcq::tcgen05 {

inline constexpr int tmem_lanes = 128;
inline constexpr int tmem_columns = 512;

// One 32-bit cell. Columns count from the address of the matrix unless a function says otherwise.
struct Cell {
  int tmem_lane;
  int tmem_column;
  friend constexpr bool operator==(const Cell&, const Cell&) = default;
};

struct Element {
  int row;
  int col;
  friend constexpr bool operator==(const Element&, const Element&) = default;
};

enum class Datapath : std::uint8_t { A, B, C, D, E, F, G };
inline constexpr int datapath_count = 7;

HOST_DEVICE constexpr const char* name(Datapath datapath) {
  switch (datapath) {
    case Datapath::A: return "A";
    case Datapath::B: return "B";
    case Datapath::C: return "C";
    case Datapath::D: return "D";
    case Datapath::E: return "E";
    case Datapath::F: return "F";
    case Datapath::G: return "G";
  }
  return "?";
}

// The layout of D; m is M of the whole instruction.
// Requires: the opcode has this M (sim/isa/tcgen05/shape.h).
HOST_DEVICE constexpr Datapath datapath(int m, int cta_group, bool ws, bool sparse) {
  if (cta_group == 2) return m == 256 ? Datapath::A : sparse ? Datapath::C : Datapath::B;
  if (m == 128) return Datapath::D;
  if (m == 32) return Datapath::G;
  return ws ? Datapath::E : Datapath::F;
}

HOST_DEVICE constexpr Datapath datapath(const MmaOpcode& opcode, int m) {
  return datapath(m, opcode.cta_group, opcode.ws, opcode.sparse);
}

// True where the manual and CuTe disagree: the maps below follow the manual.
HOST_DEVICE constexpr bool is_disputed(Datapath datapath) { return datapath == Datapath::C; }

// Rows of D in one CTA.
HOST_DEVICE constexpr int rows(Datapath datapath) {
  switch (datapath) {
    case Datapath::A:
    case Datapath::D: return 128;
    case Datapath::G: return 32;
    default: return 64;
  }
}

// Pieces of D along N that lie beside each other in lanes: "2x2" and "1x4" layouts have several.
HOST_DEVICE constexpr int n_pieces(Datapath datapath) {
  switch (datapath) {
    case Datapath::B:
    case Datapath::E: return 2;
    case Datapath::G: return 4;
    default: return 1;
  }
}

// Layouts that use 16 of every 32 lanes, so that a second D fits into the same columns.
HOST_DEVICE constexpr bool is_half_datapath(Datapath datapath) {
  return datapath == Datapath::C || datapath == Datapath::F;
}

// Lanes that D's address may name.
HOST_DEVICE constexpr bool is_lane_base(Datapath datapath, int lane_base) {
  return lane_base == 0 || (is_half_datapath(datapath) && lane_base == 16);
}

// D of one CTA: N of the instruction and the lane of D's address.
struct Accumulator {
  Datapath datapath;
  int n;
  int lane_base = 0;
};

// Columns that D occupies from its address on.
HOST_DEVICE constexpr int columns(const Accumulator& d) { return d.n / n_pieces(d.datapath); }

// The first lane of row `row`, without the pieces along N.
HOST_DEVICE constexpr int row_lane(Datapath datapath, int row) {
  return is_half_datapath(datapath) ? row % 16 + 32 * (row / 16) : row;
}

// Shape: row [0, rows(datapath)), col [0, n) <-> the cells with holds_d(): a bijection.
// Requires: is_lane_base(), n a multiple of n_pieces().
HOST_DEVICE constexpr Cell d_cell(const Accumulator& d, Element e) {
  const int width = columns(d);
  const int piece = e.col / width;
  return {d.lane_base + row_lane(d.datapath, e.row) + rows(d.datapath) * piece, e.col % width};
}

// True if an element of D lies in the cell.
HOST_DEVICE constexpr bool holds_d(const Accumulator& d, Cell cell) {
  if (cell.tmem_lane < 0 || cell.tmem_lane >= tmem_lanes) return false;
  if (cell.tmem_column < 0 || cell.tmem_column >= columns(d)) return false;
  return !is_half_datapath(d.datapath) || cell.tmem_lane % 32 / 16 == d.lane_base / 16;
}

// Requires: holds_d(d, cell).
HOST_DEVICE constexpr Element d_element(const Accumulator& d, Cell cell) {
  if (is_half_datapath(d.datapath))
    return {16 * (cell.tmem_lane / 32) + cell.tmem_lane % 16, cell.tmem_column};
  const int height = rows(d.datapath);
  return {cell.tmem_lane % height, cell.tmem_column + columns(d) * (cell.tmem_lane / height)};
}

// --- disable-output-lane --------------------------------------------------------------------------

// One bit of the vector of 32-bit words: four words with cta_group::1, eight with ::2. A set bit
// keeps the lane from being written.
struct DisableBit {
  int word;
  int bit;
  friend constexpr bool operator==(const DisableBit&, const DisableBit&) = default;
};

struct OutputLane {
  bool peer_cta;
  int tmem_lane;
  friend constexpr bool operator==(const OutputLane&, const OutputLane&) = default;
};

// Words of the vector.
HOST_DEVICE constexpr int disable_words(int cta_group) { return tmem_lanes / 32 * cta_group; }

// Shape: word [0, disable_words()), bit [0, 32) <-> the lanes of one or two CTAs: a bijection.
HOST_DEVICE constexpr OutputLane disabled_lane(DisableBit at) {
  return {at.word >= tmem_lanes / 32, (32 * at.word + at.bit) % tmem_lanes};
}

HOST_DEVICE constexpr DisableBit disable_bit(OutputLane lane) {
  return {lane.tmem_lane / 32 + (lane.peer_cta ? tmem_lanes / 32 : 0), lane.tmem_lane % 32};
}

}  // namespace tcq::tcgen05
