// From a Unit to a Program: names become numbers, opcodes forms, labels instructions.
//
// Decides what every name means and whether operands fit their instruction; an instruction that cannot be
// decoded stays as Opcode::Unknown with its place, and the rest is decoded all the same. What an
// instruction does is not decided here. Begin with program.h. Of a loose text what is not declared is made up,
// see loose.h.
#pragma once

#include <string>
#include <string_view>

#include "sim/ptx/program.h"
#include "sim/ptx/reader.h"

namespace tcq::ptx {

// Options: those that the Unit was read with.
Program decode(Unit unit, const ReadOptions& options = {});

// read() and decode(). Requires: the text outlives the Program.
inline Program load(std::string_view text, const ReadOptions& options = {}) {
  return decode(read(text, options), options);
}
Program load(std::string&& text, const ReadOptions& options = {}) = delete;

}  // namespace tcq::ptx
