// Scale factors: factor (mn, s) <-> byte of the memory atom, and its copies in Tensor Memory.
//
// mn is a row of A or a column of B, s counts factors along K from the start of the buffer. In
// memory 128 mn x 4 s make an atom of 512 bytes, which tcgen05.cp.32x128b.warpx4 (or .64x128b for
// the split buffer) moves unchanged. In Tensor Memory four factors share a cell; every group of
// 32 lanes that computes needs its copy. How many factors an instruction reads is sim/isa/tcgen05/shape.h.
// Example: mn = 77, s = 5 of 8 lies in byte 729 of memory, and in column 6, byte 1 of tmem_lane 13
// (and 45, 77, 109) with 128 mn.
//
// Source: PTX ISA 9.2, 9.7.16.10.7 "Block scaling" for the modes, copies and ids.
// Source: CuTe layouts SfAtom (cutlass/detail/sm100_blockscaled_layout.hpp, sm103_...) and
// tmem_sf_frg (cute/atom/mma_traits_sm100_frag.hpp): equal.
// Inferred: SFA of cta_group::2, M = 128 has the 64 rows of its CTA, after an example of NVIDIA's;
// CuTe sizes it for 128. One mma whose factors differ from row to row tells them apart.
// Inferred: each half of a split SFB begins at lane 0 of its groups, also where N / 2 is no multiple of
// 32: CuTe never has such an N, it rounds up. One mma with N = 96 and distinct factors refutes it.
// Inferred: a K = 96 block that ends beyond its four factors goes on in the next column group, 4
// columns further for N or M up to 128, else 8; one K = 96 mma with id 2 and 6 factors refutes it.
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/tmem/layout.h"

namespace tcq::tcgen05 {

struct ScaleFactor {
  int mn;
  int s;
  friend constexpr bool operator==(const ScaleFactor&, const ScaleFactor&) = default;
};

// --- Memory ---------------------------------------------------------------------------------------

inline constexpr int scale_atom_mn = 128;
inline constexpr int scale_group = 4;  // factors that share a 32-bit cell
inline constexpr int scale_atom_bytes = scale_atom_mn * scale_group;

// Atoms that hold so many rows or columns, and their rows.
HOST_DEVICE constexpr std::int64_t scale_atoms_along_mn(std::int64_t mn) {
  return (mn + scale_atom_mn - 1) / scale_atom_mn;
}
HOST_DEVICE constexpr std::int64_t whole_scale_atoms(std::int64_t mn) {
  return scale_atoms_along_mn(mn) * scale_atom_mn;
}

// Atoms along K that hold `factors` factors.
HOST_DEVICE constexpr int scale_atoms_along_k(int factors) {
  return (factors + scale_group - 1) / scale_group;
}

// Bytes of a buffer of mn x factors scale factors, padded to whole atoms.
HOST_DEVICE constexpr int scale_bytes(int mn, int factors) {
  return static_cast<int>(scale_atoms_along_mn(mn)) * scale_atoms_along_k(factors) *
         scale_atom_bytes;
}

// Byte offset of a factor in a buffer with `factors` of them along K.
// Shape: mn >= 0, s [0, factors padded to scale_group) <-> bytes from 0 on: a bijection.
HOST_DEVICE constexpr int scale_byte(ScaleFactor f, int factors) {
  const int atom = f.mn / scale_atom_mn * scale_atoms_along_k(factors) + f.s / scale_group;
  return atom * scale_atom_bytes + 16 * (f.mn % 32) + 4 * (f.mn % scale_atom_mn / 32) +
         f.s % scale_group;
}

HOST_DEVICE constexpr ScaleFactor scale_factor(int byte, int factors) {
  const int atom = byte / scale_atom_bytes;
  const int atoms = scale_atoms_along_k(factors);
  const int in_atom = byte % scale_atom_bytes;
  return {scale_atom_mn * (atom / atoms) + 32 * (in_atom % 16 / 4) + in_atom / 16,
          scale_group * (atom % atoms) + in_atom % 4};
}

// Blocks of 8 rows x 4 factors, 32 bytes, in global memory: what libraries keep for a few rows of A. No instruction
// takes them: a kernel spreads them over atoms.
// Source: FlashInfer and TensorRT-LLM, SfLayout "8x4", get_sf_out_offset_8x4() of quantization_utils.cuh.
inline constexpr int small_block_mn = 8;

HOST_DEVICE constexpr int small_block_byte(ScaleFactor f, int factors) {
  const int block = f.mn / small_block_mn * scale_atoms_along_k(factors) + f.s / scale_group;
  return scale_group * (small_block_mn * block + f.mn % small_block_mn) + f.s % scale_group;
}

HOST_DEVICE constexpr ScaleFactor small_block_factor(int byte, int factors) {
  const int block = byte / (small_block_mn * scale_group);
  const int atoms = scale_atoms_along_k(factors);
  return {small_block_mn * (block / atoms) + byte / scale_group % small_block_mn,
          scale_group * (block % atoms) + byte % scale_group};
}

// --- Tensor Memory --------------------------------------------------------------------------------

struct CellByte {
  int tmem_lane;
  int tmem_column;
  int byte;
  friend constexpr bool operator==(const CellByte&, const CellByte&) = default;
};

// The factors of one operand in one CTA.
struct ScaleBuffer {
  int mn;              // SFA: rows of A in the CTA; SFB: N of the instruction, in both CTAs
  bool split = false;  // each half of N in its half of the lanes
  int column_step;     // columns from four factors to the next four: the program's choice
};

// Columns that four factors of each mn occupy, and the column step of a dense buffer.
HOST_DEVICE constexpr int scale_group_columns(int mn, bool split) {
  const int across = split ? mn / 2 : mn;
  return (across + 31) / 32;
}

HOST_DEVICE constexpr ScaleBuffer scale_buffer(int mn, bool split = false) {
  return {mn, split, scale_group_columns(mn, split)};
}

// SFA and SFB of an instruction without gaps between column groups; m and n are the instruction's.
HOST_DEVICE constexpr ScaleBuffer sfa_buffer(int m, int cta_group) {
  return scale_buffer(m / cta_group);
}

HOST_DEVICE constexpr ScaleBuffer sfb_buffer(int m, int n, int cta_group) {
  return scale_buffer(n, cta_group == 2 && m == 128);
}

// True where an example of NVIDIA's and CuTe disagree: sfa_buffer() follows the example.
HOST_DEVICE constexpr bool is_disputed_sfa(int m, int cta_group) {
  return cta_group == 2 && m == 128;
}

// True where only inference says which lanes the second half of N takes.
HOST_DEVICE constexpr bool is_inferred(const ScaleBuffer& buffer) {
  return buffer.split && buffer.mn / 2 % 32 != 0;
}

// Places of each factor: one per group of 32 lanes that needs it.
HOST_DEVICE constexpr int scale_copies(const ScaleBuffer& buffer) { return buffer.split ? 2 : 4; }

// Columns that `factors` factors of each mn occupy.
HOST_DEVICE constexpr int scale_columns(const ScaleBuffer& buffer, int factors) {
  return (scale_atoms_along_k(factors) - 1) * buffer.column_step +
         scale_group_columns(buffer.mn, buffer.split);
}

// Shape: mn [0, buffer.mn), s >= 0, copy [0, scale_copies()) -> distinct bytes.
// Requires: column_step >= scale_group_columns(); split: mn even.
HOST_DEVICE constexpr CellByte scale_place(const ScaleBuffer& buffer, ScaleFactor f, int copy) {
  const int half = buffer.split ? buffer.mn / 2 : buffer.mn;
  const int in_half = f.mn % half;
  return {64 * (f.mn / half) + 32 * copy + in_half % 32,
          in_half / 32 + buffer.column_step * (f.s / scale_group), f.s % scale_group};
}

// True if a factor lies in the byte.
HOST_DEVICE constexpr bool holds_scale(const ScaleBuffer& buffer, CellByte place) {
  const int across = buffer.split ? buffer.mn / 2 : buffer.mn;
  const int in_step = place.tmem_column % buffer.column_step;
  return in_step < scale_group_columns(buffer.mn, buffer.split) &&
         32 * in_step + place.tmem_lane % 32 < across;
}

// The factor in any of its copies. Requires: holds_scale(buffer, place).
HOST_DEVICE constexpr ScaleFactor scale_factor(const ScaleBuffer& buffer, CellByte place) {
  const int half = buffer.split ? place.tmem_lane / 64 : 0;
  const int in_half = 32 * (place.tmem_column % buffer.column_step) + place.tmem_lane % 32;
  return {half * (buffer.mn / 2) + in_half,
          scale_group * (place.tmem_column / buffer.column_step) + place.byte};
}

// --- One instruction ------------------------------------------------------------------------------

// Where the first factor of a K block is: what the scale address adds, and the instruction
// descriptor's id.
struct ScaleStart {
  int tmem_column;
  int id;
  friend constexpr bool operator==(const ScaleStart&, const ScaleStart&) = default;
};

HOST_DEVICE constexpr ScaleStart scale_start(const ScaleBuffer& buffer, int first_factor) {
  return {buffer.column_step * (first_factor / scale_group), first_factor % scale_group};
}

// True if an instruction reads beyond the four factors of its first column group.
HOST_DEVICE constexpr bool scales_spill(int factors, int id) { return id + factors > scale_group; }

// The column step that the instruction itself takes when its factors spill.
HOST_DEVICE constexpr int scale_spill_step(int mn) { return mn <= 128 ? 4 : 8; }

}  // namespace tcq::tcgen05
