// What several passes over decoded instructions do alike: the registers of an operand, and all paths of a function.
//
// Decides nothing about PTX. Paths are followed until no state at the beginning of a block changes any more: a state
// has join(other), which makes it allow for what the other one allows for and says whether it changed. Example:
// emission_proxy.cc asks with it which stores may lie behind an instruction on some path.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/ptx/program.h"

namespace tcq::oracle {

// Calls visit(register of the function, access) for each one that the operand names.
template <class Visit>
void for_registers(const ptx::Program& text, const ptx::Value& value, const Visit& visit) {
  switch (value.kind) {
    case ptx::ValueKind::Register: return visit(value.index, value.access);
    case ptx::ValueKind::AtRegister: return visit(value.index, ptx::Access::Read);
    case ptx::ValueKind::Vector:
    case ptx::ValueKind::Pair:
    case ptx::ValueKind::List:
    case ptx::ValueKind::AtTensor:
      for (std::int64_t i = 0; i < value.value; ++i)
        for_registers(text, text.values[value.index + static_cast<std::size_t>(i)], visit);
      return;
    default: return;
  }
}

// Of the operands of an instruction.
template <class Visit>
void for_registers(const ptx::Program& text, const ptx::Instruction& one, const Visit& visit) {
  for (ptx::Index k = one.values.first; k < one.values.end(); ++k)
    for_registers(text, text.values[k], visit);
}

// Calls step(state, instruction) along every path from the function's begin.
template <class State, class Step>
void follow_paths(const ptx::Program& text, const ptx::Code& code, State begin, const Step& step) {
  std::vector<std::optional<State>> met(code.blocks.count);
  std::set<ptx::Index> pending = {0};
  met[0] = std::move(begin);
  while (!pending.empty()) {
    const ptx::Index at = pending.extract(pending.begin()).value();
    const ptx::Block& block = text.blocks[code.blocks.first + at];
    State state = *met[at];
    for (ptx::Index i = block.first; i < block.last; ++i) step(state, i);
    for (ptx::Index k = block.next.first; k < block.next.end(); ++k) {
      const ptx::Index next = text.edges[k] - code.blocks.first;
      if (!met[next])
        met[next] = state;
      else if (!met[next]->join(state))
        continue;
      pending.insert(next);
    }
  }
}

}  // namespace tcq::oracle
