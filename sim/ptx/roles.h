// What an instruction does with each of its operands: opcode_table.h's second column, taken apart.
//
// Decides which operand stands in which place where some may be left out. Example: the last three of
// "mma.sync ... d, a, b, c;" are read, d is written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/ptx/form.h"
#include "sim/ptx/program.h"

namespace tcq::ptx {

struct Role {
  enum class Place : std::uint8_t { Value, Address, Label, Vector, Any };
  Place place = Place::Value;
  Access access = Access::Read;
  char type = 0;         // as in opcode_table.h
  char second_type = 0;  // of a pair
  bool is_optional = false;
};

// Of the opcode's row.
const std::vector<Role>& roles_of(Opcode opcode);

// For each operand its role, onto `matched`; false, and what is wrong, if they do not fit.
bool match(const Form& form, std::span<const Operand> operands, std::vector<Role>& matched,
           std::string& problem);

// The type that a role's letter stands for.
Type type_of(const Form& form, char letter);

}  // namespace tcq::ptx
