// Declarations: registers, variables, parameters, headers of functions.
//
// Decides what a declaration says, not whether its space and type go together. Example:
// ".extern .shared .align 16 .b8 x[]" is a Variable of space Shared, one size, not said.
//
// Source: PTX ISA 9.2, 5.4 (variables), 7.1 and 11.1 to 11.4 (functions and their directives)
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/ptx/operand_reader.h"

namespace tcq::ptx {

class DeclarationReader {
 public:
  DeclarationReader(Cursor& cursor, OperandReader& operands)
      : cursor_(cursor), unit_(cursor.unit()), operands_(operands) {}

  // Behind ".reg" and up to the semicolon.
  Range read_registers();
  // A space, a type and one or more names up to the semicolon; onto Unit::variables.
  Range read_variables(Linkage linkage);
  // Behind .entry or .func and up to the body or the semicolon, which stay.
  Function read_header(FunctionKind kind, Linkage linkage);
  // Behind ".callprototype".
  Function read_prototype();

  // The linkage that a word is, if any, which is taken.
  Linkage take_linkage();
  // .maxntid and its kind, which stand between a header and its body; false for another word.
  bool read_directive(std::vector<Directive>& directives);

 private:
  Variable read_type();
  void read_attribute();
  void read_pointer(Variable& variable);
  void read_sizes(Variable& variable);
  Range read_parameters();
  std::uint8_t take_vector();
  Type demand_type();

  Cursor& cursor_;
  Unit& unit_;
  OperandReader& operands_;
};

// Whether variables may be declared in it: .global, .shared and so on.
bool is_variable_space(std::string_view dotted);

}  // namespace tcq::ptx
