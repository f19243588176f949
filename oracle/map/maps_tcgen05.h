// Maps of tcgen05: D, A, E, SFA and SFB in Tensor Memory, A and B in shared memory, registers of ld and
// st.
//
// E counts as a matrix of 4-bit codes (columns are chunks of K), the scale factors have their factors
// along K as columns. Rows and columns are those of the whole instruction: a pair of CTAs shares them.
// All arithmetic is sim/isa's. Example: D[37][10] of M = 64 lies in tmem_lane 69, tmem_column 10.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "oracle/map/map.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "sim/isa/tcgen05/fragment.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tmem/layout.h"

namespace tcq::oracle {

enum class TmemMatrix { A, D, E, SFA, SFB };
inline constexpr std::array<std::string_view, 5> tmem_matrices = {"A", "D", "E", "SFA", "SFB"};

// A matrix of an mma in Tensor Memory, and where its address points.
struct TmemOperand {
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

TmemOperand tmem_operand(const Tcgen05Instruction& instruction, TmemMatrix matrix);

// Faults: UnmodelledTmemOperand; None does not mean that the instruction exists.
Fault check(const TmemOperand& operand);

// Throws what check() deserves, and for addresses that the matrix cannot have.
void require(const TmemOperand& operand);

// Columns that the matrix occupies from its address on.
int columns(const TmemOperand& operand);

// What makes the answer doubtful: a sentence, or "" if all sources agree.
std::string doubt(const TmemOperand& operand);

// Requires: check() is None.
Map map_of(const TmemOperand& operand);

// What a selector says about the metadata of a sparse instruction: "they begin in the even column
// that their address names".
std::string selector_text(const tcgen05::MmaOpcode& op, int selector);

// A or B of an mma in shared memory.
struct SmemOperand {
  tcgen05::MmaOpcode opcode;
  tcgen05::InstructionDescriptor idesc;
  bool is_b;
  tcgen05::SmemDescriptor desc;
};

// Throws for a word that is no descriptor of the operand; `key` is where the word stands.
SmemOperand smem_operand(const Tcgen05Instruction& instruction, bool is_b, std::string_view word,
                         std::string_view key);

// Requires: check_operand() of the descriptor is None.
Map map_of(const SmemOperand& operand);

// The operand while no descriptor says where it is: a Map without places.
Map unplaced_map(const tcgen05::MmaOpcode& op, const tcgen05::InstructionDescriptor& d, bool is_b);

// What elements of fewer than 8 bits lie in, as a sentence; "" for wider ones.
std::string container_text(const SmemOperand& operand);

// ld or st by a warp of each quarter of the lanes, as a warpgroup does it; `at` is the address of warp 0.
struct TmemLoad {
  tcgen05::Fragment fragment;
  tcgen05::Cell at = {0, 0};
};

// Throws for addresses that the shape cannot have.
void require(const TmemLoad& load);
Map map_of(const TmemLoad& load);

}  // namespace tcq::oracle
