// A matrix of one instruction as the fragment verbs see it: where its elements lie.
//
// One View serves registers (C, D, A with a=regs, the sparse metadata E) and shared memory (A and B
// with desc=WORD). E counts as a matrix of 4-bit codes: its rows are rows of A, its columns are
// chunks of K, and the part of a slot is the nibble of the metadata register. All maps are
// sim/isa's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "oracle/ptx/mnemonic.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/operand.h"

namespace tcq::oracle {

enum class Matrix { A, B, C, D, E };

struct View {
  Instruction instruction;
  Matrix matrix;
  Type type;  // of the elements; E: of A
  int rows;
  int cols;       // A: as stored; E: chunks
  int registers;  // 0: in shared memory, or nowhere yet
  int parts;
  Major major = Major::K;
  bool has_desc = false;
  wgmma::MatrixDescriptor desc = {};

  bool in_registers() const { return registers > 0; }
  bool is_metadata() const { return matrix == Matrix::E; }
};

char letter(Matrix matrix);

// "A" ... "E" in either case; throws UsageError.
Matrix parse_matrix(std::string_view word);

// Throws UsageError for E of a dense instruction.
View view_of(const Instruction& instruction, Matrix matrix);

// The same, for a verb that needs places: reads desc=, and throws UsageError that names the
// remedies if A or B has no place.
View placed_view_of(const Instruction& instruction, Matrix matrix, const Keys& keys);

// Adds what a descriptor word says. Requires: the matrix is A or B.
void set_desc(View& view, std::uint64_t word);

// Requires: in_registers(), and for E that is_read(slot.thread).
wgmma::Element element_of(const View& view, wgmma::Slot slot);
wgmma::Slot slot_of(const View& view, wgmma::Element element);

// False only for threads whose metadata register the instruction ignores.
bool is_read(const View& view, int thread);

// Requires: has_desc. The byte that holds the element, or its first.
std::uint32_t address_of(const View& view, wgmma::Element element);

// Stored columns -> columns as people count: E's chunk c starts at logical k = c * col_step.
int col_step(const View& view);

// "thread 6, register 3, part 1", "byte 0x890", "byte 0x890, bit 3", "thread 71, bits [20,24)".
std::string slot_text(const View& view, wgmma::Slot slot);
std::string place_text(const View& view, wgmma::Element element);

// "D[9][13]", "E[41][20..23]".
std::string element_text(const View& view, wgmma::Element element);

}  // namespace tcq::oracle
