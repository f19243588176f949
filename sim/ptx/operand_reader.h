// Operands of statements, from tokens to nodes of the Unit.
//
// Decides every form an operand may have; which of them an instruction takes is opcode_table.h. Example:
// "[%rd1, {%r1, 4}]" is an Address of the Name %rd1 and a Vector of a Name and an Integer.
//
// Source: PTX ISA 9.2, 6 "Instruction Operands"
#pragma once

#include <vector>

#include "sim/ptx/cursor.h"

namespace tcq::ptx {

class OperandReader {
 public:
  explicit OperandReader(Cursor& cursor) : cursor_(cursor), unit_(cursor.unit()) {}

  // Operands up to the closing mark, which stays; none if it comes at once.
  Range read_until(char close, bool is_call);
  // One value of an initialiser or a list of them; nested lists count from 1.
  Operand read_value(int depth = 1);

 private:
  Operand read(bool is_call);
  Operand read_simple();
  Operand read_name();
  Operand read_span(Operand first);
  Operand read_address();
  Operand read_vector();
  Operand read_list();
  Operand read_number();
  Operand read_masked(Operand mask);
  Operand read_values(int depth);
  Operand opened(OperandKind kind);
  template <typename ReadItem>
  void read_items(const ReadItem& read_item);
  Operand with_items(Operand operand, std::size_t mark);
  // What was put on the stack since, as neighbours in Unit::operands.
  Range settle(std::size_t mark);

  Cursor& cursor_;
  Unit& unit_;
  std::vector<Operand> stack_;
};

}  // namespace tcq::ptx
