// Canonical shared-memory layouts of matrix operands: (mn, k) -> byte offset, before swizzling.
//
// Decides what LBO and SBO mean for K-major and MN-major operands, and which LBO, SBO and steps
// along K a compact tile has. The swizzle itself and the start address: sim/isa/wgmma/operand.h.
//
// A core matrix is 8 rows x 16 bytes. `pitch` is the length in bytes of one row of the swizzle
// atom: 16 (none), 32, 64 or 128; an atom is 8 rows of one pitch. Example: bf16, K-major, pitch
// 128, SBO 1024: element (mn = 11, k = 5) lies at 1 * 1024 + 3 * 128 + 10 = 1418.
//
// K-major: SBO steps 8 rows, LBO one pitch along K; a dense instruction reads 32 bytes of K, so LBO
// counts without swizzle only, and for the 64 bytes of a sparse B in the 32B mode.
// MN-major: LBO and SBO exchange their roles between no swizzle and the swizzled modes. An atom has
// 8 rows of K, but 4 with the 32-byte swizzle atoms of tcgen05.
//
// Source: PTX ISA 9.2, 9.7.15.5.1.2 "Shared memory matrix layout".
// Source: CuTe layout of the atom of 4 rows, Sw<2,5,2> o ((T,8,m),(4,k)):((1,T,LBO),(8T,SBO)); PTX
// ISA 9.2, 9.7.16.10.3, table 55 draws the atom 4 wide, 9.7.16.3.2 says that SBO steps 8.
// Inferred: SBO steps 4 rows of such an atom, as CuTe has it; a chip that steps 8 would refute it.
// Measured: tests/vectors/wgmma_descriptors.tcqv, tests/vectors/wgmma_sparse.tcqv (sparse B)
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"

namespace tcq {

// Which index runs along contiguous memory. PTX: trans = 0 is K-major, 1 is MN-major.
enum class Major : std::uint8_t { K, MN };

HOST_DEVICE constexpr const char* name(Major major) { return major == Major::K ? "K" : "MN"; }

struct CanonicalLayout {
  Major major;
  std::uint32_t pitch_bytes;  // 16, 32, 64, 128
  std::uint32_t lbo_bytes;
  std::uint32_t sbo_bytes;
  std::uint32_t atom_rows = 8;  // MN-major: rows of K in an atom, 8 or 4
};

// A byte of an operand: row of A or column of B, and index along K, one of them in bytes.
// K-major: {mn, k byte}; MN-major: {mn byte, k}.
struct OperandByte {
  std::uint32_t mn;
  std::uint32_t k;
};

// Shape: any mn and k; linear in the group of 8 rows and in the column of one pitch.
HOST_DEVICE constexpr std::uint32_t offset_bytes(const CanonicalLayout& layout, OperandByte at) {
  const std::uint32_t pitch = layout.pitch_bytes;
  if (layout.major == Major::K) {
    return at.mn / 8 * layout.sbo_bytes + at.mn % 8 * pitch + at.k / pitch * layout.lbo_bytes +
           at.k % pitch;
  }
  const bool swizzled = pitch != 16;
  const std::uint32_t k_group = swizzled ? layout.sbo_bytes : layout.lbo_bytes;
  const std::uint32_t mn_group = swizzled ? layout.lbo_bytes : layout.sbo_bytes;
  return at.k / layout.atom_rows * k_group + at.k % layout.atom_rows * pitch +
         at.mn / pitch * mn_group + at.mn % pitch;
}

// Which offsets an instruction adds to any address: false where every value reads the same bytes.
struct OffsetsRead {
  bool lbo;
  bool sbo;
};

// `last` is the last byte that the instruction reads; the values of LBO and SBO do not matter.
HOST_DEVICE constexpr OffsetsRead offsets_read(CanonicalLayout layout, OperandByte last) {
  layout.lbo_bytes = layout.sbo_bytes = 0;
  CanonicalLayout lbo = layout;
  CanonicalLayout sbo = layout;
  lbo.lbo_bytes = sbo.sbo_bytes = 16;
  const std::uint32_t without = offset_bytes(layout, last);
  return {offset_bytes(lbo, last) != without, offset_bytes(sbo, last) != without};
}

// In which direction the atoms of a compact tile follow each other in memory.
enum class AtomOrder : std::uint8_t { MnFirst, KFirst };

// A dense tile in shared memory: one extent in bytes (the contiguous one), the other in elements.
struct Tile {
  Major major;
  std::uint32_t pitch_bytes;
  AtomOrder order;
  std::uint32_t contiguous_bytes;  // along K if K-major, along MN if MN-major
  std::uint32_t rows;              // the other extent: MN if K-major, K if MN-major
  std::uint32_t atom_rows = 8;     // 4 for MN-major tiles with 32-byte swizzle atoms

  HOST_DEVICE constexpr std::uint32_t bytes() const { return contiguous_bytes * rows; }
  HOST_DEVICE constexpr std::uint32_t atom_bytes() const { return atom_rows * pitch_bytes; }
  // Whole atoms only: then the tile has no holes.
  HOST_DEVICE constexpr bool is_whole() const {
    return contiguous_bytes != 0 && rows != 0 && contiguous_bytes % pitch_bytes == 0 &&
           rows % atom_rows == 0;
  }
};

// Bytes from one atom to the next along the contiguous direction and along the rows.
struct AtomSteps {
  std::uint32_t contiguous;
  std::uint32_t rows;
};

HOST_DEVICE constexpr AtomSteps atom_steps(const Tile& tile) {
  const bool contiguous_first = (tile.major == Major::K) == (tile.order == AtomOrder::KFirst);
  return contiguous_first ? AtomSteps{tile.atom_bytes(), tile.atom_rows * tile.contiguous_bytes}
                          : AtomSteps{tile.rows * tile.pitch_bytes, tile.atom_bytes()};
}

// LBO and SBO of a compact tile of which one instruction reads `k_bytes` along K (used if K-major).
// An LBO that is not read is written as 16, as CUTLASS does.
HOST_DEVICE constexpr CanonicalLayout canonical_layout(const Tile& tile,
                                                       std::uint32_t k_bytes = 32) {
  const AtomSteps steps = atom_steps(tile);
  if (tile.major == Major::K) {
    const bool reads_lbo = k_bytes > tile.pitch_bytes;
    return {tile.major, tile.pitch_bytes, reads_lbo ? steps.contiguous : 16, steps.rows,
            tile.atom_rows};
  }
  const bool swizzled = tile.pitch_bytes != 16;
  const std::uint32_t lbo = swizzled ? steps.contiguous : steps.rows;
  const std::uint32_t sbo = swizzled ? steps.rows : steps.contiguous;
  return {tile.major, tile.pitch_bytes, lbo, sbo, tile.atom_rows};
}

// Byte offset of index `k` of a compact tile; `k` in bytes if K-major, in elements if MN-major, and
// a multiple of what one instruction reads. Add it to the start address of a descriptor.
HOST_DEVICE constexpr std::uint32_t k_advance_bytes(const Tile& tile, std::uint32_t k) {
  const AtomSteps steps = atom_steps(tile);
  if (tile.major == Major::MN) return k / tile.atom_rows * steps.rows;
  return k / tile.pitch_bytes * steps.contiguous + k % tile.pitch_bytes;
}

// Byte offset of row or column `mn` of a compact tile (a multiple of 8 rows if K-major, of the
// pitch in bytes if MN-major).
HOST_DEVICE constexpr std::uint32_t mn_advance_bytes(const Tile& tile, std::uint32_t mn) {
  const AtomSteps steps = atom_steps(tile);
  return tile.major == Major::K ? mn / 8 * steps.rows : mn / tile.pitch_bytes * steps.contiguous;
}

}  // namespace tcq
