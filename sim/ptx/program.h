// Decoded PTX: instructions as flat arrays of numbers, for whoever executes or follows them.
//
// Executing is a switch over Instruction::opcode; what its words say is its Form, of which a program has
// few; its operands are neighbours in Program::values. No name is left to be looked up: registers are
// dense numbers of their function, labels are instructions, variables are those of the Unit. Example:
// "@!p add.s32 %r1, %r2, 4;" has guard p, guard_negated, and three values: Register, written, S32;
// Register, read; Immediate 4. decode() of decode.h makes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/ptx/form.h"
#include "sim/ptx/special.h"
#include "sim/ptx/syntax.h"

namespace tcq::ptx {

inline constexpr Index none = ~Index{0};

enum class ValueKind : std::uint8_t {
  Register,    // index: of the function's registers
  Immediate,   // value: bits, as wide as the type where that is a float
  Special,     // index: Special
  Variable,    // index: of Unit::variables; value: offset. Its address
  Function,    // index: of Unit::functions, that with the body
  Label,       // index: of Program::instructions
  Table,       // index: of Program::tables
  Prototype,   // index: of Unit::functions
  Sink,        // _
  Vector,      // items
  Pair,        // items: two
  List,        // items: arguments of a call
  AtRegister,  // [index+value]
  AtVariable,  // [index+value]
  AtAddress,   // [value]
  AtTensor,    // [a, {b, c}]: items, the first one At...
};

enum class Access : std::uint8_t { Read, Write, ReadWrite };

struct Value {
  ValueKind kind = ValueKind::Sink;
  Access access = Access::Read;  // of At...: of the register in it, which is read
  Type type = Type::None;        // that the instruction says, None where it says none
  bool negated = false;          // !p
  std::uint8_t element = 0;      // x y z w of a vector register or a Special; N of %envregN
  Index index = none;            // of Vector, Pair, List and AtTensor the first of its items
  std::int64_t value = 0;        // of these how many
};

struct Instruction {
  Opcode opcode = Opcode::Unknown;
  bool guard_negated = false;
  Index guard = none;     // register
  Index form = 0;         // of Program::forms
  Range values = {};      // of Program::values, one per operand
  Index location = none;  // of Program::locations
  Offset at = 0;          // in the text
};

struct Register {
  Name name = 0;
  Type type = Type::None;
  std::uint8_t vector = 1;
};

// Instructions [first, last) that are entered at the first and left at the last.
struct Block {
  Index first = 0;
  Index last = 0;
  Range next = {};              // of Program::edges: blocks
  Index post_dominator = none;  // the block where all ways on meet again, none: behind the function
};

struct SourceLocation {
  std::uint32_t file = 0, line = 0, column = 0;
  Name function = 0;    // of the inlined function, as .debug_str has it; else 0
  Index caller = none;  // where that was inlined
};

struct Code {
  Index declaration = none;  // of Unit::functions, where it has its body
  Name name = 0;
  Range instructions = {};
  Range registers = {};  // of Program::registers
  Range blocks = {};     // the first one is where it begins
};

struct Program {
  Unit unit;
  std::vector<Form> forms;
  std::vector<Code> functions;
  std::vector<Instruction> instructions;
  std::vector<Value> values;
  std::vector<Register> registers;
  std::vector<Block> blocks;
  std::vector<Index> edges;
  std::vector<Index> code_of;  // by function of the Unit: of functions, none without a body
  // What a name means outside of functions, as initialisers say it: a Variable or a Function.
  std::unordered_map<Name, Value> symbols;
  std::vector<Range> tables;         // of brx.idx: of table_targets
  std::vector<Index> table_targets;  // instructions
  std::vector<SourceLocation> locations;

  std::size_t unknown = 0;  // instructions that are not understood
  std::vector<Diagnostic>
      diagnostics;  // of the text, then of these, at most most_diagnostics of each

  const Form& form_of(const Instruction& i) const { return forms[i.form]; }
  // Requires: the instruction has more than `k` operands.
  const Value& operand(const Instruction& i, std::size_t k) const {
    return values[i.values.first + k];
  }
};

}  // namespace tcq::ptx
