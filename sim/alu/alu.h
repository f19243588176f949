// What an instruction on registers computes, for all lanes of a warp at once.
//
// Decides nothing about programs, memory or order: operation() gives the function of a Form, and that function reads
// and writes cells. Example: operation(read_form("add.s32")).evaluate adds 32 pairs of cells. The functions lie in a
// file for each family (families.h); what has none is listed in tests/alu/coverage_test.cc.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/isa/fault/fault.h"
#include "sim/ptx/form.h"

namespace tcq::alu {

// Registers of up to 32 bits live in 32-bit cells, zero-extended, 64-bit ones in 64-bit cells, 128-bit ones in two of
// those, {low, high}; a cell for each lane. A predicate is one mask, bit = lane.
struct Arguments {
  void* const* out;       // in the order of the text: destinations, of pairs and vectors one by one
  const void* const* in;  // sources in the order of the text; immediates fill cells, too
  std::uint32_t lanes;    // those that execute; the cells of the others stay as they are
  std::uint32_t* carry;   // the condition code CC.CF, a mask: carry.cc
  int outs, ins;          // how many there are
};
using Evaluate = void (*)(const Arguments&);

struct Operation {
  Evaluate evaluate = nullptr;  // null: not modelled
  bool approximate = false;     // the chip's bits are not known; what is, says `bound`
  const char* bound = "";
  // Whether PTX defines what becomes of these words; null: of all. None: it does.
  Fault (*check)(const Arguments&) = nullptr;
};

// Depends on the words alone: looked up once for each Form, not for each instruction.
Operation operation(const ptx::Form& form);

// Has an instruction of this form so many registers, those of vectors and pairs one by one? Operation::evaluate reads them
// all. Requires: an operation exists, and there are as many operands as the form's row says.
bool takes(const ptx::Form& form, std::size_t outs, std::size_t ins);

// May source `i` be this: a constant, or what a register holds? Selectors of mma.sp and of scale factors have few values;
// evaluate and check take it that they have been asked for. Requires: takes().
bool takes_source(const ptx::Form& form, std::size_t i, std::optional<std::uint64_t> constant);

// mma.sync and movmatrix: undefined unless all lanes of the warp execute it.
bool is_of_all_lanes(const ptx::Form& form);

}  // namespace tcq::alu
