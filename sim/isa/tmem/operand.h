// A and its sparse metadata in Tensor Memory: element -> lane, column and bits, copies included.
//
// A is K-major and packed: a row lies in one lane, element after element, in containers of 4 to 32
// bits. Some forms read A or the metadata from several places: the program must store every copy.
// Columns count from the operand's address. D: sim/isa/tmem/layout.h; scale factors: scale_layout.h; how
// A lies in shared memory: sim/isa/tcgen05/operand.h. Example: kind f16, M = 128: A[77][5] lies in
// tmem_lane 77, tmem_column 2, bits 16 to 31.
//
// Source: PTX ISA 9.2, 9.7.16.10.4 "Packing", 9.7.16.10.5, 9.7.16.10.8 "Sparse matrices".
// Source: CuTe layouts tmem_frg and tmem_e_frg (cute/atom/mma_traits_sm100_frag.hpp): equal for A of
// f16, tf32 and 8-bit kinds, and for metadata of 128 rows and of .ws.
// Inferred: sparse A is its compressed row in the same cells; 4-bit elements lie in bits 2 to 5 of
// an 8-bit container and 6-bit ones in bits 1 to 6, after an example of NVIDIA's; the even one of two
// 4-bit elements is the low half of a byte. One mma on one-hot data refutes each.
#pragma once

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tmem/layout.h"

namespace tcq::tcgen05 {

// The first bit of something narrower than a cell.
struct CellBit {
  int tmem_lane;
  int tmem_column;
  int low_bit;
  friend constexpr bool operator==(const CellBit&, const CellBit&) = default;
};

// --- A --------------------------------------------------------------------------------------------

// Unit: bits that one element of A takes in Tensor Memory.
HOST_DEVICE constexpr int tmem_container_bits(Kind kind) {
  switch (kind) {
    case Kind::tf32: return 32;
    case Kind::f16: return 16;
    case Kind::mxf4:
    case Kind::mxf4nvf4: return 4;
    default: return 8;
  }
}

// The lowest bit of an element within its container.
HOST_DEVICE constexpr int tmem_payload_low_bit(Kind kind, Type a) {
  if (tmem_container_bits(kind) != 8) return 0;
  return (8 - bits(a)) / 2;
}

// A of one CTA: the datapath is D's, and the lane of A's address equals that of D's.
struct TmemA {
  Datapath datapath;
  Kind kind;
  int lane_base = 0;
};

// Faults: UnmodelledTmemOperand for .ws with M of 64 or 32, where no source says how A lies.
HOST_DEVICE constexpr Fault check(const TmemA& a) {
  const bool unknown = a.datapath == Datapath::E || a.datapath == Datapath::G;
  return unknown ? Fault::UnmodelledTmemOperand : Fault::None;
}

// How often A must be stored: cta_group::2 with M = 128 reads its 64 rows from both lane halves.
HOST_DEVICE constexpr int a_copies(const TmemA& a) { return a.datapath == Datapath::B ? 2 : 1; }

// Columns that k_elements stored elements of A occupy.
HOST_DEVICE constexpr int a_columns(const TmemA& a, int k_elements) {
  return (k_elements * tmem_container_bits(a.kind) + 31) / 32;
}

// First bit of the container; e.col counts stored elements along K.
// Shape: row [0, rows(datapath)), col >= 0, copy [0, a_copies()) -> distinct places.
// Requires: check(a) == Fault::None.
HOST_DEVICE constexpr CellBit a_place(const TmemA& a, Element e, int copy = 0) {
  const int bit = e.col * tmem_container_bits(a.kind);
  return {a.lane_base + row_lane(a.datapath, e.row) + 64 * copy, bit / 32, bit % 32};
}

// The element whose container starts at `place`, which may be any copy.
// Requires: check(a) == Fault::None, and an element lies there.
HOST_DEVICE constexpr Element a_element(const TmemA& a, CellBit place) {
  const int lane = place.tmem_lane;
  const int row =
      is_half_datapath(a.datapath) ? 16 * (lane / 32) + lane % 16 : lane % rows(a.datapath);
  return {row, (32 * place.tmem_column + place.low_bit) / tmem_container_bits(a.kind)};
}

// --- Sparse metadata ------------------------------------------------------------------------------

inline constexpr int metadata_code_bits = 4;

// One 4-bit code per chunk of logical K.
struct MetadataChunk {
  int row;
  int chunk;  // logical k / metadata_chunk_elements(kind)
  friend constexpr bool operator==(const MetadataChunk&, const MetadataChunk&) = default;
};

// Logical elements along K that one code covers: 1:2 for tf32, 4:8 in pairs for packed 4-bit
// elements, 2:4 otherwise.
HOST_DEVICE constexpr int metadata_chunk_elements(Kind kind) {
  if (is_packed_4bit(kind)) return 8;
  return kind == Kind::tf32 ? 2 : 4;
}

// 16- and 32-bit kinds spread a row's codes over two lanes and put two rows into one cell.
HOST_DEVICE constexpr bool metadata_pairs_rows(Kind kind) {
  return kind == Kind::f16 || kind == Kind::tf32;
}

// Codes per row of A that one instruction reads.
HOST_DEVICE constexpr int metadata_chunks(Kind kind) { return metadata_pairs_rows(kind) ? 8 : 16; }

// Columns that the metadata of one instruction occupies.
HOST_DEVICE constexpr int metadata_columns(Kind kind) { return metadata_pairs_rows(kind) ? 1 : 2; }

// Columns that one copy of metadata fills: an allocation for it is a multiple of them.
// Source: CuTe's tmem_e_frg (cute/atom/mma_traits_sm100_frag.hpp) assumes that metadata begins at
// a multiple of 4 columns; its memory atoms (sm1xx_sparse_config.inl) have 16 bytes per lane.
inline constexpr int metadata_column_unit = 4;

// What an instruction is told about the metadata of one block of K.
struct MetadataAddress {
  int tmem_column;  // of the address
  int selector;     // of the instruction descriptor
  friend constexpr bool operator==(const MetadataAddress&, const MetadataAddress&) = default;
};

// The selectors that are understood: [0, this).
HOST_DEVICE constexpr int metadata_selectors(Kind kind, bool ws) {
  return metadata_pairs_rows(kind) && !ws ? 2 : 1;
}

// The metadata of a block of K that begins in a column -> how the instruction names that column.
// 16- and 32-bit kinds never name an odd one: it is the even one before it, with selector 1.
// Shape: a bijection; metadata_place() goes the other way.
// Source: CuTe splits the column in mma_unpack of SM100_MMA_{F16BF16,TF32}_SS_SPARSE and of their
// 2x1SM forms (cute/atom/mma_traits_sm100.hpp); its other sparse forms leave the selector 0. It
// has layouts for 128 rows per CTA only, and issues no sparse .ws.
// Inferred: that a chip follows CuTe; two blocks of different metadata side by side refute it.
HOST_DEVICE constexpr MetadataAddress metadata_address(Kind kind, int column) {
  const int selector = metadata_pairs_rows(kind) ? column % 2 : 0;
  return {column - selector, selector};
}

// Faults: UnmodelledTmemOperand for an odd column, which CuTe never names in any kind.
HOST_DEVICE constexpr Fault check_metadata_column(int column) {
  return column % 2 != 0 ? Fault::UnmodelledTmemOperand : Fault::None;
}

// Metadata of one CTA.
struct TmemMetadata {
  Datapath datapath;
  Kind kind;
  int selector = 0;  // of the instruction descriptor
  bool ws = false;
};

// Faults: UnmodelledTmemOperand for 64 rows per CTA without .ws, for selectors 2 and 3, and for 1
// with .ws: the manual shows them in figures only, CuTe neither lays them out nor issues them.
HOST_DEVICE constexpr Fault check(const TmemMetadata& e) {
  const bool unknown = e.datapath == Datapath::B || e.datapath == Datapath::C ||
                       e.datapath == Datapath::F || e.selector < 0 ||
                       e.selector >= metadata_selectors(e.kind, e.ws);
  return unknown ? Fault::UnmodelledTmemOperand : Fault::None;
}

// Columns from the address up to the last one that the instruction reads.
HOST_DEVICE constexpr int metadata_reach(const TmemMetadata& e) {
  return e.selector + metadata_columns(e.kind);
}

// .ws with fewer than 128 rows reads a copy per group of rows(datapath) lanes.
HOST_DEVICE constexpr int metadata_copies(const TmemMetadata& e) {
  return tmem_lanes / rows(e.datapath);
}

// First bit of a code. Shape: row [0, rows(datapath)), chunk [0, metadata_chunks()), copy
// [0, metadata_copies()) -> every nibble of 128 lanes and metadata_columns() columns from the
// selector on: a bijection.
// Requires: check(e) == Fault::None.
HOST_DEVICE constexpr CellBit metadata_place(const TmemMetadata& e, MetadataChunk c, int copy = 0) {
  const int first_lane = rows(e.datapath) * copy;
  if (!metadata_pairs_rows(e.kind))
    return {first_lane + c.row, c.chunk / 8, metadata_code_bits * (c.chunk % 8)};
  return {first_lane + c.row % 8 + 16 * (c.row / 16) + 8 * (c.chunk / 4), e.selector,
          metadata_code_bits * (4 * (c.row / 8 % 2) + c.chunk % 4)};
}

// The chunk whose code starts at `place`, in any copy. Requires: check(e) == Fault::None.
HOST_DEVICE constexpr MetadataChunk metadata_chunk(const TmemMetadata& e, CellBit place) {
  const int lane = place.tmem_lane % rows(e.datapath);
  const int nibble = place.low_bit / metadata_code_bits;
  if (!metadata_pairs_rows(e.kind)) return {lane, 8 * place.tmem_column + nibble};
  return {lane % 8 + 16 * (lane / 16) + 8 * (nibble / 4), 4 * (lane / 8 % 2) + nibble % 4};
}

}  // namespace tcq::tcgen05
