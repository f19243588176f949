// What a PTX text says, word for word: declarations, statements, operands. Nothing is looked up yet.
//
// One Unit holds a text. Its nodes lie in arrays and name ranges of other arrays, so that a text of
// megabytes costs a few allocations. read() of reader.h makes it, print() of printer.h writes it, decode()
// of decode.h makes instructions of it. Example: "@!p bra L;" is a Statement Instruction with guard "p",
// negated, name "bra", and one operand of kind Name.
//
// Source: PTX ISA 9.2, 4 (syntax), 5.4 (variables), 11 (directives)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/ptx/names.h"
#include "sim/ptx/source.h"
#include "sim/ptx/types.h"

namespace tcq::ptx {

// A place in an array of a Unit or a Program.
using Index = std::uint32_t;
constexpr Index index_of(std::size_t place) { return static_cast<Index>(place); }

// Elements [first, first + count) of an array of the Unit.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t end() const { return first + count; }
};

enum class OperandKind : std::uint8_t {
  Name,     // register, variable, function or label; name, selector, value: offset
  Sink,     // _
  Integer,  // value; unsigned if is_unsigned
  Float32,  // 0f3F800000: bits in value
  Float64,  // 0d..., 1.5: bits in value
  Vector,   // {a, b}: items
  Span,     // {%f0..%f63} in a vector: name to selector
  Address,  // [a+4], [a, {b, c}]: items
  Pair,     // p|q: items
  List,     // (a, b): items
  Generic,  // generic(name)+value
  Masked,   // 0xff(name)+value in an initialiser; the mask in items
  String,   // "...": the name is what stands between the quotes
};

struct Operand {
  OperandKind kind = OperandKind::Name;
  bool negated = false;      // !p
  bool minus = false;        // -a, of video instructions
  bool is_unsigned = false;  // 1U, or no int64
  Name name = 0;
  Name selector = 0;  // "x" of %tid.x
  Offset at = 0;
  Offset end = 0;
  Range items = {};  // of Unit::operands
  std::int64_t value = 0;
};

enum class StatementKind : std::uint8_t {
  Instruction,  // name: opcode with all its words; operands: items
  Label,        // name
  Open,         // {
  Close,        // }
  Registers,    // items of Unit::registers
  Variable,     // items.first of Unit::variables
  Location,     // items.first of Unit::locations
  Pragma,       // operands: items, all strings
  Targets,      // name: .branchtargets; operands: items
  Callees,      // name: .calltargets; operands: items
  Prototype,    // name; items.first of Unit::functions
  Malformed,    // keeps the place of what could not be read; but for directives of a whole text
};

struct Statement {
  StatementKind kind = StatementKind::Instruction;
  bool guard_negated = false;
  Name guard = 0;
  Name name = 0;
  Offset at = 0;
  Offset end = 0;  // behind the last token, without the semicolon
  Range items = {};
};

// `%r<count>` or, with no count, one register.
struct RegisterItem {
  Name name = 0;
  std::uint32_t count = 0;
  Type type = Type::None;
  std::uint8_t vector = 1;
};

enum class Linkage : std::uint8_t { None, Visible, Extern, Weak, Common };

struct Variable {
  Name name = 0;
  Linkage linkage = Linkage::None;
  Space space = Space::Generic;
  Type type = Type::None;
  std::uint8_t vector = 1;
  std::uint32_t align = 0;  // 0: that of the type
  bool is_array = false;
  bool is_pointer = false;               // a parameter with .ptr
  Space pointee_space = Space::Generic;  // of .ptr
  std::uint32_t pointee_align = 0;       // of .ptr, 0: not said
  Range sizes = {};                      // of Unit::sizes; 0: not said
  std::uint64_t elements = 1;            // product of the sizes, 0 where one is not said
  Range values = {};                     // of Unit::operands: one, a List or none
  Offset at = 0;
};

// .maxntid 256, 1, 1
struct Directive {
  Name name = 0;       // without the dot
  Range numbers = {};  // of Unit::sizes
};

enum class FunctionKind : std::uint8_t { Entry, Func, Prototype, Loose };

struct Function {
  FunctionKind kind = FunctionKind::Func;  // Loose: statements outside of functions
  Linkage linkage = Linkage::None;
  Name name = 0;
  Range returns = {};     // of Unit::variables
  Range parameters = {};  // of Unit::variables
  Range directives = {};  // of Unit::directives
  bool has_body = false;
  Range body = {};  // of Unit::statements, without the outer braces
  Offset at = 0;
  Offset end = 0;  // of its closing brace
};

// .loc file line column, function_name name+offset, inlined_at file line column
struct LocationDirective {
  std::uint32_t file = 0, line = 0, column = 0;
  Name function_name = 0;
  std::uint32_t name_offset = 0;
  bool is_inlined = false;
  std::uint32_t at_file = 0, at_line = 0, at_column = 0;
};

struct FileDirective {
  std::uint32_t index = 0;
  Name path = 0;
};

// A string of .section .debug_str and the label before it.
struct DebugString {
  Name label = 0;
  Name text = 0;
};

enum class ItemKind : std::uint8_t { Variable, Function };
struct Item {
  ItemKind kind = ItemKind::Variable;
  std::uint32_t index = 0;
};

struct Unit {
  std::string_view text;
  LineTable lines;
  Names names;

  std::uint32_t version_major = 0, version_minor = 0;
  std::uint32_t address_size = 0;
  std::vector<Name> targets;  // sm_90a, debug
  std::vector<FileDirective> files;
  std::vector<DebugString> debug_strings;
  std::vector<Item> items;  // variables and functions in their order

  std::vector<Function> functions;
  std::vector<Variable> variables;
  std::vector<Statement> statements;
  std::vector<Operand> operands;
  std::vector<RegisterItem> registers;
  std::vector<LocationDirective> locations;
  std::vector<Directive> directives;
  std::vector<std::uint64_t> sizes;

  std::vector<Diagnostic> diagnostics;  // what could not be read
  bool is_cut = false;                  // it ends within a function, or was not read to its end
};

// Of sm_90 or sm_90a, which devices were asked about.
inline bool is_for_sm90(const Unit& unit) {
  return !unit.targets.empty() && unit.names.text(unit.targets[0]).starts_with("sm_90");
}
// Without the suffix a: ptxas takes neither wgmma nor setmaxnreg.
inline bool is_for_any_sm90(const Unit& unit) {
  return !unit.targets.empty() && unit.names.text(unit.targets[0]) == "sm_90";
}

}  // namespace tcq::ptx
