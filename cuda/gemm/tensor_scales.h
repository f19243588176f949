// Scale factors of blocks in the GEMM kernel on tcgen05: how many a stage has, and where they lie in it and in Tensor
// Memory.
//
// A stage's tiles are followed by whole atoms of 128 rows x 4 factors (sim/isa/tmem/scale_layout.h): those of A's rows, then
// those of B's columns, 128 by 128. tcgen05.cp takes each to four columns of the stage's own: A's first, then B's, in
// which the columns of D lie beside each other and each four factors of K behind the last. Tiles of 64 columns of D copy the
// whole atom and read half of it. Example: 128 x 256 NVFP4 has 16 factors of a row in a stage, 2 + 4 KiB, and 16 + 32
// columns. What the caller's arrays are: ScaleCodes of cuda/gemm/arguments.h.
//
// Nothing of it has run on silicon.
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tmem/scale_layout.h"

namespace tcq::gemm {

// Columns of Tensor Memory that one atom fills.
inline constexpr int scale_atom_columns =
    tcgen05::scale_group_columns(tcgen05::scale_atom_mn, false);

// TMA's elements: of 8 bytes, as a box is at most 256 of them wide and a stage of NVFP4 has 2 KiB of a row of atoms.
inline constexpr int scale_atom_words = tcgen05::scale_atom_bytes / 8;

template <tcgen05::MmaOpcode Opcode, int BlockN, int BlockK, int InstructionK,
          bool Exist = tcgen05::is_block_scaled(Opcode.kind)>
struct StageScales {
  static constexpr bool exist = false;
  static constexpr std::uint32_t bytes = 0;
  static constexpr int columns = 0;
};

template <tcgen05::MmaOpcode Opcode, int BlockN, int BlockK, int InstructionK>
struct StageScales<Opcode, BlockN, BlockK, InstructionK, true> {
  static constexpr bool exist = true;
  static constexpr int block = tcgen05::scale_block(Opcode);  // of K under one factor
  static constexpr int factors = BlockK / block;              // of a row
  static constexpr int of_step = InstructionK / block;        // of these, what an instruction reads
  static constexpr int atoms = factors / tcgen05::scale_group;  // along K
  static constexpr int atoms_of_n = static_cast<int>(tcgen05::scale_atoms_along_mn(BlockN));
  static_assert(atoms * tcgen05::scale_group == factors);
  static_assert(BlockN % tcgen05::scale_atom_mn == 0 || tcgen05::scale_atom_mn % BlockN == 0,
                "tiles begin with an atom or lie in one");
  static_assert(tcgen05::scale_group % of_step == 0);

  static constexpr std::uint32_t bytes_a = atoms * tcgen05::scale_atom_bytes;
  static constexpr std::uint32_t bytes = bytes_a + atoms_of_n * bytes_a;
  static constexpr int columns_a = atoms * scale_atom_columns;
  static constexpr int columns = columns_a + atoms_of_n * columns_a;

  // Of a CTA: A's are those of its own rows, B's of all columns, in each CTA of a pair.
  HOST_DEVICE static constexpr tcgen05::ScaleBuffer buffer_a() {
    return {tcgen05::scale_atom_mn, false, scale_atom_columns};
  }
  HOST_DEVICE static constexpr tcgen05::ScaleBuffer buffer_b() {
    return {BlockN, false, atoms_of_n * scale_atom_columns};
  }

  // Where the factors of one step along K begin in the buffer.
  HOST_DEVICE static constexpr tcgen05::ScaleStart start_a(int step) {
    return tcgen05::scale_start(buffer_a(), step * of_step);
  }
  HOST_DEVICE static constexpr tcgen05::ScaleStart start_b(int step) {
    return tcgen05::scale_start(buffer_b(), step * of_step);
  }
  // Columns from the first of an atom to those of column `col` of D.
  HOST_DEVICE static constexpr int columns_before(int col) {
    return tcgen05::scale_place(buffer_a(), {col % tcgen05::scale_atom_mn, 0}, 0).tmem_column;
  }
};

}  // namespace tcq::gemm
