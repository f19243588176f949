// The module level of decoding; see decode.h.
#include "sim/ptx/decode.h"

#include <unordered_map>
#include <utility>

#include "sim/ptx/control_flow.h"
#include "sim/ptx/function_decoder.h"
#include "sim/ptx/loose.h"
#include "sim/ptx/words.h"

namespace tcq::ptx {
namespace {

// A function's declarations before its body and its body are one: the last one that has a body, or the last.
void find_symbols(Program& program) {
  const Unit& unit = program.unit;
  for (const Item& item : unit.items) {
    const bool is_variable = item.kind == ItemKind::Variable;
    Value value;
    value.kind = is_variable ? ValueKind::Variable : ValueKind::Function;
    value.index = item.index;
    if (is_variable) {
      program.symbols[unit.variables[item.index].name] = value;
      continue;
    }
    const Function& function = unit.functions[item.index];
    if (function.kind == FunctionKind::Loose) continue;
    const auto known = program.symbols.find(function.name);
    const bool has_body = known != program.symbols.end() &&
                          known->second.kind == ValueKind::Function &&
                          unit.functions[known->second.index].has_body;
    if (!has_body) program.symbols[function.name] = value;
  }
}

void declare(const Program& program, ScopeTable& scopes) {
  for (const auto& [name, value] : program.symbols)
    scopes.declare(
        name,
        value.kind == ValueKind::Variable ? ScopeTable::Kind::Variable : ScopeTable::Kind::Function,
        value.index);
}

}  // namespace

Program decode(Unit unit, const ReadOptions& options) {
  if (options.loose) loosen(unit);
  Program program;
  program.unit = std::move(unit);
  program.unit.names.intern("ret");  // what ends a function that does not say it
  program.diagnostics = program.unit.diagnostics;
  program.instructions.reserve(program.unit.statements.size());
  program.values.reserve(program.unit.operands.size());
  ScopeTable scopes(program.unit.names);
  find_symbols(program);
  declare(program, scopes);
  program.code_of.assign(program.unit.functions.size(), none);
  Locations locations(program);
  FunctionDecoder decoder(program, scopes, locations, options);
  for (Index i = 0; i < index_of(program.unit.functions.size()); ++i) {
    if (!program.unit.functions[i].has_body) continue;
    program.code_of[i] = index_of(program.functions.size());
    decoder.decode(i);
    add_blocks(program, program.functions.back());
  }
  return program;
}

}  // namespace tcq::ptx
