// From a Unit to a Program: names become numbers, opcodes forms, labels instructions.
//
// Decides what every name means and whether operands fit their instruction; an instruction that cannot be
// decoded stays as Opcode::Unknown with its place, and the rest is decoded all the same. What an
// instruction does is not decided here. Begin with program.h.
#pragma once

#include <string>
#include <string_view>

#include "sim/ptx/program.h"
#include "sim/ptx/reader.h"

namespace tcq::ptx {

Program decode(Unit unit);

// read() and decode(). Requires: the text outlives the Program.
inline Program load(std::string_view text) { return decode(read(text)); }
Program load(std::string&& text) = delete;

}  // namespace tcq::ptx
