// A Unit as PTX text: one statement a line, numbers in one spelling.
//
// What is printed reads back as the same Unit, but for places: print(read(print(u))) == print(u).
// Debugger's data and pragmas of modules are left out.
#pragma once

#include <string>

#include "sim/ptx/syntax.h"

namespace tcq::ptx {

std::string print(const Unit& unit);

// One of its parts: for sentences that name it.
std::string print(const Unit& unit, const Statement& statement);
std::string print(const Unit& unit, const Operand& operand);

}  // namespace tcq::ptx
