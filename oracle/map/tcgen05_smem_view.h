// A or B of one tcgen05.mma in shared memory as the verbs see it: element <-> byte and bit.
//
// Rows and columns are those of the whole instruction: with cta_group::2 each CTA of the pair holds
// half of A's rows and half of B's columns, at the addresses that the one descriptor names. The law
// of addresses is sim/isa/tcgen05/operand.h. Example: A[9][3] of kind f8f6f4, e2m1, is "byte 0x91,
// bits [4,8)" of a tile without swizzle at 0.
#pragma once

#include <cstdint>
#include <string>

#include "oracle/answer/table.h"
#include "oracle/map/equation_text.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tmem/layout.h"

namespace tcq::oracle {

struct SmemView {
  tcgen05::MmaOpcode opcode;
  tcgen05::InstructionDescriptor idesc;
  bool is_b;
  tcgen05::SmemDescriptor desc;
};

Type type_of(const SmemView& view);
int rows(const SmemView& view);
int cols(const SmemView& view);  // A: as stored

// Faults: those of check_operand().
Fault check(const SmemView& view);

struct SmemPlace {
  int cta;  // of the pair
  std::uint32_t byte;
  std::uint32_t low_bit;  // of the element in that byte
};

// Requires: check(view) == Fault::None; row < rows, col < cols.
SmemPlace place_of(const SmemView& view, tcgen05::Element element);

// What elements of fewer than 8 bits lie in, as a sentence; "" for wider ones.
std::string container_text(const SmemView& view);

std::string element_text(const SmemView& view, tcgen05::Element element);

// "byte 0x890", "byte 0x890, bits [4,8)", "byte 0x890 of CTA 1's shared memory".
std::string place_text(const SmemView& view, tcgen05::Element element);

std::string where_text(const SmemView& view, tcgen05::Element element);
std::string where_json(const SmemView& view, tcgen05::Element element);

// Addresses in the rows and columns of the matrix; or row,col,byte, with bit for narrow types and
// cta for pairs, by rows or by columns.
Table grid_of(const SmemView& view);
Table list_of(const SmemView& view, bool by_columns);

// The operand of one CTA as `tcq bytes` lists it: mn,k,byte and for narrow types bit.
Table bytes_of(const SmemView& view);

// One linear offset, then the swizzle. Throws UnmodelledError with an absolute LBO.
EquationLines equation_of(const SmemView& view);

}  // namespace tcq::oracle
