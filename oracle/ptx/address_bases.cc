// Bases of registers; see address_bases.h.
#include "oracle/ptx/address_bases.h"

#include <algorithm>

#include "oracle/ptx/instructions.h"

namespace tcq::oracle {
namespace {

using Base = AddressBases::Base;
using ptx::Index;
using ptx::Instruction;
using ptx::Value;
using ptx::ValueKind;

// Through the instructions of a function. Compilers' texts need a few; what needs more is not followed.
constexpr int most_rounds = 64;

bool is_address(const Value& value) {
  return value.kind == ValueKind::AtRegister || value.kind == ValueKind::AtVariable ||
         value.kind == ValueKind::AtAddress || value.kind == ValueKind::AtTensor;
}

// Of what is computed from both: an address and a number that was loaded give an address.
Base made_of(Base a, Base b) {
  if (a < 0) return b >= 0 ? b : std::max(a, b);
  return b < 0 || a == b ? a : AddressBases::unknown;
}

// Of what is one or the other.
Base either(Base a, Base b) {
  if (a <= AddressBases::number) return b == AddressBases::unset ? a : b;
  if (b <= AddressBases::number) return a;
  return a == b ? a : AddressBases::unknown;
}

}  // namespace

AddressBases::AddressBases(const ptx::Program& text, const ptx::Code& code)
    : text_(text), code_(code), bases_(code.registers.count, unset) {
  for (Index v = 0; v < ptx::index_of(text.unit.variables.size()) && dynamic_ == ptx::none; ++v) {
    const ptx::Variable& one = text.unit.variables[v];
    if (one.linkage == ptx::Linkage::Extern && ptx::is_shared(one.space)) dynamic_ = v;
  }
  std::vector<bool> written(code.registers.count, false);
  for (Index i = code.instructions.first; i < code.instructions.end(); ++i)
    for_registers(text, text.instructions[i], [&](Index index, ptx::Access access) {
      if (access != ptx::Access::Read) written[index] = true;
    });
  const auto variables = static_cast<Base>(text.unit.variables.size());
  for (Index r = 0; r < code.registers.count; ++r)
    if (!written[r]) bases_[r] = variables + r;
  bool changed = true;
  for (int round = 0; changed && round < most_rounds; ++round) {
    changed = false;
    for (Index i = code.instructions.first; i < code.instructions.end(); ++i)
      changed = follow(text.instructions[i]) || changed;
  }
  if (changed) bases_.assign(bases_.size(), unknown);
}

Base AddressBases::of_variable(Index variable) const {
  const ptx::Variable& one = text_.unit.variables[variable];
  return one.linkage == ptx::Linkage::Extern && ptx::is_shared(one.space) ? dynamic_ : variable;
}

bool AddressBases::is_shared(Base base) const {
  return is_variable(base) &&
         ptx::is_shared(text_.unit.variables[static_cast<std::size_t>(base)].space);
}

bool AddressBases::is_predicate(Index number) const {
  return text_.registers[code_.registers.first + number].type == ptx::Type::Pred;
}

Base AddressBases::of(const Value& value) const {
  switch (value.kind) {
    case ValueKind::Register: return is_predicate(value.index) ? number : bases_[value.index];
    case ValueKind::AtRegister: return bases_[value.index];
    case ValueKind::Variable:
    case ValueKind::AtVariable: return of_variable(value.index);
    case ValueKind::Vector: {
      Base base = unset;
      for (std::int64_t i = 0; i < value.value; ++i)
        base = made_of(base, of(text_.values[value.index + static_cast<std::size_t>(i)]));
      return base;
    }
    case ValueKind::AtTensor: return of(text_.values[value.index]);
    case ValueKind::AtAddress: return unknown;
    default: return number;
  }
}

// True if a register's base changed.
bool AddressBases::give(const Value& value, Base base) {
  bool changed = false;
  for_registers(text_, value, [&](Index index, ptx::Access) {
    const Base now = either(bases_[index], base);
    changed = changed || now != bases_[index];
    bases_[index] = now;
  });
  return changed;
}

bool AddressBases::follow(const Instruction& one) {
  Base base = unset;
  bool is_loaded = one.opcode == ptx::Opcode::Call;
  for (Index k = one.values.first; k < one.values.end(); ++k) {
    const Value& value = text_.values[k];
    is_loaded = is_loaded || is_address(value);
    if (value.access != ptx::Access::Write) base = made_of(base, of(value));
  }
  if (is_loaded) base = unknown;  // what memory holds, or a function returns, may be anything
  bool changed = false;
  for (Index k = one.values.first; k < one.values.end(); ++k) {
    const Value& value = text_.values[k];
    if (value.access == ptx::Access::Read || is_address(value)) continue;
    changed = give(value, base) || changed;
  }
  return changed;
}

}  // namespace tcq::oracle
