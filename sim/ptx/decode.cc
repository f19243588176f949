// The module level of decoding; see decode.h.
#include "sim/ptx/decode.h"

#include <unordered_map>
#include <utility>

#include "sim/ptx/control_flow.h"
#include "sim/ptx/function_decoder.h"
#include "sim/ptx/words.h"

namespace tcq::ptx {
namespace {

Index index_of(std::size_t size) { return static_cast<Index>(size); }

// A function's declarations before its body and its body are one: the last one that has a body, or the last.
void declare_module(const Unit& unit, ScopeTable& scopes) {
  std::unordered_map<Name, Index> bodies;
  for (const Item& item : unit.items)
    if (item.kind == ItemKind::Function && unit.functions[item.index].has_body)
      bodies[unit.functions[item.index].name] = item.index;
  for (const Item& item : unit.items) {
    if (item.kind == ItemKind::Variable) {
      scopes.declare(unit.variables[item.index].name, ScopeTable::Kind::Variable, item.index);
      continue;
    }
    const Function& function = unit.functions[item.index];
    if (function.kind == FunctionKind::Loose) continue;
    const auto body = bodies.find(function.name);
    scopes.declare(function.name, ScopeTable::Kind::Function,
                   body == bodies.end() ? item.index : body->second);
  }
}

}  // namespace

Program decode(Unit unit) {
  Program program;
  program.unit = std::move(unit);
  program.unit.names.intern("ret");  // what ends a function that does not say it
  program.diagnostics = program.unit.diagnostics;
  program.instructions.reserve(program.unit.statements.size());
  program.values.reserve(program.unit.operands.size());
  ScopeTable scopes(program.unit.names);
  declare_module(program.unit, scopes);
  Locations locations(program);
  FunctionDecoder decoder(program, scopes, locations);
  for (Index i = 0; i < index_of(program.unit.functions.size()); ++i) {
    if (!program.unit.functions[i].has_body) continue;
    decoder.decode(i);
    add_blocks(program, program.functions.back());
  }
  return program;
}

}  // namespace tcq::ptx
