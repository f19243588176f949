// Matching operands and roles; see roles.h.
#include "sim/ptx/roles.h"

#include <algorithm>

namespace tcq::ptx {
namespace {

Role::Place place_of(char mark) {
  switch (mark) {
    case '@': return Role::Place::Address;
    case ':': return Role::Place::Label;
    case '{': return Role::Place::Vector;
    case '~': return Role::Place::Any;
    default: return Role::Place::Value;
  }
}

std::vector<Role> parsed(std::string_view text) {
  std::vector<Role> roles;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    Role role;
    role.place = place_of(text[i]);
    role.access = text[i] == '>'   ? Access::Write
                  : text[i] == '+' ? Access::ReadWrite
                                   : Access::Read;
    for (++i; i < text.size() && text[i] != ' '; ++i) {
      if (text[i] == '?')
        role.is_optional = true;
      else if (text[i] == '|')
        role.second_type = text[++i];
      else
        role.type = text[i];
    }
    roles.push_back(role);
  }
  return roles;
}

bool fits(const Role& role, const Operand& operand) {
  const OperandKind kind = operand.kind;
  if (kind == OperandKind::List || kind == OperandKind::Span || kind == OperandKind::Masked ||
      kind == OperandKind::String)
    return false;
  const bool is_number =
      kind == OperandKind::Integer || kind == OperandKind::Float32 || kind == OperandKind::Float64;
  switch (role.place) {
    case Role::Place::Any: return true;
    case Role::Place::Address: return kind == OperandKind::Address;
    case Role::Place::Vector: return kind == OperandKind::Vector;
    case Role::Place::Label: return kind == OperandKind::Name;
    case Role::Place::Value: break;
  }
  if (kind == OperandKind::Address || (kind == OperandKind::Pair && role.second_type == 0))
    return false;
  return role.access == Access::Read || !is_number;
}

std::string what(const Role& role) {
  switch (role.place) {
    case Role::Place::Address: return "an address in brackets";
    case Role::Place::Label: return "a label";
    case Role::Place::Vector: return "a vector";
    default: return role.access == Access::Read ? "a value" : "a register";
  }
}

Type doubled(Type type) {
  switch (type) {
    case Type::U16: return Type::U32;
    case Type::S16: return Type::S32;
    case Type::U32: return Type::U64;
    case Type::S32: return Type::S64;
    default: return type;
  }
}

}  // namespace

const std::vector<Role>& roles_of(Opcode opcode) {
  static const std::vector<std::vector<Role>> all = [] {
    std::vector<std::vector<Role>> rows;
    for (const OpcodeRow& row : opcode_table()) rows.push_back(parsed(row.operands));
    return rows;
  }();
  return all[static_cast<std::size_t>(opcode)];
}

bool match(const Form& form, std::span<const Operand> operands, std::vector<Role>& matched,
           std::string& problem) {
  matched.clear();
  const std::vector<Role>& roles = roles_of(form.opcode);
  const auto needed = [&](std::size_t from) {
    return static_cast<std::size_t>(
        std::count_if(roles.begin() + static_cast<std::ptrdiff_t>(from), roles.end(),
                      [](const Role& role) { return !role.is_optional; }));
  };
  std::size_t next = 0;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const Role& role = roles[i];
    const std::size_t left = operands.size() - next;
    if (role.is_optional && (left <= needed(i) || !fits(role, operands[next]))) continue;
    if (left == 0) {
      problem =
          "has " + std::to_string(operands.size()) + " operands: expected " + what(role) + " next";
      return false;
    }
    if (!fits(role, operands[next])) {
      problem = "has an operand " + std::to_string(next + 1) + " that is not " + what(role);
      return false;
    }
    matched.push_back(role);
    ++next;
  }
  if (next == operands.size()) return true;
  problem =
      "has " + std::to_string(operands.size()) + " operands: expected " + std::to_string(next);
  return false;
}

Type type_of(const Form& form, char letter) {
  switch (letter) {
    case 'p': return Type::Pred;
    case 'h': return Type::B16;
    case 'w': return Type::B32;
    case 'l': return Type::B64;
    case 'q': return Type::B128;
    case 'X': return form.get<Part>() == Part::Wide ? doubled(form.types[0]) : form.types[0];
    case 0: return Type::None;
    default: return form.types[static_cast<std::size_t>(letter - '0')];
  }
}

}  // namespace tcq::ptx
