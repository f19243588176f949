// What operands are; see function_decoder.h.
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "sim/ptx/function_decoder.h"
#include "sim/ptx/words.h"

namespace tcq::ptx {

// x y z w, or r g b a.
std::uint8_t FunctionDecoder::element_of(const Operand& operand) {
  if (operand.selector == 0) return 0;
  constexpr std::array<std::string_view, 8> names = {"x", "y", "z", "w", "r", "g", "b", "a"};
  const std::string_view word = unit_.names.text(operand.selector);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == word) return static_cast<std::uint8_t>(i % 4);
  fail("selects no element with " + quoted("." + std::string(word)));
}

// mx.y of ".reg .v2 .f32 mx" is the register behind mx.x.
Value FunctionDecoder::register_value(Value value, const Operand& operand) {
  value.kind = ValueKind::Register;
  const std::uint8_t count = program_.registers[first_register_ + value.index].vector;
  if (count == 1 || operand.selector == 0) return value;
  if (value.element >= count)
    fail("selects an element that " + quoted(unit_.names.text(operand.name)) + " lacks");
  value.index += std::exchange(value.element, std::uint8_t{0});
  return value;
}

// A vector without a selector: all its elements.
Value FunctionDecoder::whole_vector(Value first, const Role& role, Type type) {
  const std::uint8_t count = program_.registers[first_register_ + first.index].vector;
  Value value;
  value.kind = ValueKind::Vector;
  value.index = static_cast<Index>(program_.values.size());
  value.value = count;
  first.access = role.access;
  first.type = type;
  for (std::uint8_t i = 0; i < count; ++i, ++first.index) program_.values.push_back(first);
  return value;
}

bool FunctionDecoder::is_whole_vector(const Value& value, const Operand& operand) const {
  return value.kind == ValueKind::Register && operand.selector == 0 &&
         program_.registers[first_register_ + value.index].vector > 1;
}

Value FunctionDecoder::name_value(const Operand& operand) {
  if (operand.minus) fail("negates an operand");
  Value value;
  value.negated = operand.negated;
  value.element = element_of(operand);
  value.value = operand.value;
  const ScopeTable::Meaning meaning = meaning_of(operand.name);
  value.index = meaning.index;
  switch (meaning.kind) {
    case ScopeTable::Kind::Register: return register_value(value, operand);
    case ScopeTable::Kind::Variable: value.kind = ValueKind::Variable; return value;
    case ScopeTable::Kind::Function: value.kind = ValueKind::Function; return value;
    case ScopeTable::Kind::None: break;
  }
  const std::string_view word = unit_.names.text(operand.name);
  const auto special = special_of(word);
  if (!special) fail("names " + quoted(word) + ", which is not declared");
  value.kind = ValueKind::Special;
  value.index = static_cast<Index>(special->special);
  if (special->number != 0) value.element = special->number;
  return value;
}

// A float constant has the width of the type that reads it.
Value FunctionDecoder::immediate(const Operand& operand, Type type) {
  Value value;
  value.kind = ValueKind::Immediate;
  value.negated = operand.negated;
  value.value = operand.value;
  if (operand.kind == OperandKind::Float64 && type == Type::F32) {
    const auto narrow = static_cast<float>(std::bit_cast<double>(operand.value));
    value.value = std::bit_cast<std::uint32_t>(narrow);
  } else if (operand.kind == OperandKind::Float32 && type == Type::F64) {
    const auto wide =
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(operand.value)));
    value.value = std::bit_cast<std::int64_t>(wide);
  }
  return value;
}

// A branch's target, which may come yet: resolve() fills it in.
Value FunctionDecoder::label(Name name, Offset at) {
  later_.push_back(
      {false, none, scope_, name, at, static_cast<Index>(program_.instructions.size())});
  Value value;
  value.kind = ValueKind::Label;
  return value;
}

Value FunctionDecoder::with_items(ValueKind kind, Range items, const Role& role, const Form& form) {
  Value value;
  value.kind = kind;
  value.index = static_cast<Index>(program_.values.size());
  value.value = items.count;
  program_.values.resize(program_.values.size() + items.count);
  for (std::uint32_t i = 0; i < items.count; ++i) {
    Role of = role;
    if (kind == ValueKind::Pair && i == 1) of.type = role.second_type;
    const Value item = value_of(unit_.operands[items.first + i], of, form);
    program_.values[value.index + i] = item;
  }
  return value;
}

// [%r+4], [x+4], [4]
Value FunctionDecoder::base(const Operand& operand) {
  Value value;
  if (operand.kind == OperandKind::Integer) {
    value.kind = ValueKind::AtAddress;
    value.value = operand.value;
    return value;
  }
  if (operand.kind != OperandKind::Name) fail("has an address without a name or number");
  value = name_value(operand);
  if (value.kind == ValueKind::Register)
    value.kind = ValueKind::AtRegister;
  else if (value.kind == ValueKind::Variable)
    value.kind = ValueKind::AtVariable;
  else
    fail("has no register or variable as an address: " + quoted(unit_.names.text(operand.name)));
  return value;
}

Value FunctionDecoder::address(const Operand& operand, const Role& role, const Form& form) {
  const Operand& first = unit_.operands[operand.items.first];
  if (operand.items.count == 1) return base(first);
  Value value;
  value.kind = ValueKind::AtTensor;
  value.index = static_cast<Index>(program_.values.size());
  value.value = operand.items.count;
  program_.values.resize(program_.values.size() + operand.items.count);
  program_.values[value.index] = base(first);
  for (std::uint32_t i = 1; i < operand.items.count; ++i) {
    const Value item = value_of(unit_.operands[operand.items.first + i], role, form);
    program_.values[value.index + i] = item;
  }
  return value;
}

Value FunctionDecoder::value_of(const Operand& operand, const Role& role, const Form& form) {
  using enum OperandKind;
  const Type type = type_of(form, role.type);
  Value value;
  switch (operand.kind) {
    case Name:
      value =
          role.place == Role::Place::Label ? label(operand.name, operand.at) : name_value(operand);
      if (is_whole_vector(value, operand)) value = whole_vector(value, role, type);
      break;
    case Sink: value.kind = ValueKind::Sink; break;
    case Integer:
    case Float32:
    case Float64: value = immediate(operand, type); break;
    case Vector: value = with_items(ValueKind::Vector, operand.items, role, form); break;
    case Pair: value = with_items(ValueKind::Pair, operand.items, role, form); break;
    case List: value = with_items(ValueKind::List, operand.items, role, form); break;
    case Address: value = address(operand, {Role::Place::Value, Access::Read}, form); break;
    case Generic:
    case Span:
    case Masked:
    case String: fail("has an operand that only an initialiser may have");
  }
  const bool is_at = operand.kind == Address;
  value.access = is_at ? Access::Read : role.access;
  value.type = is_at ? Type::None : type;
  const bool writes = role.access != Access::Read && !is_at;
  if (writes &&
      (value.kind == ValueKind::Immediate || value.kind == ValueKind::Special ||
       value.kind == ValueKind::Function ||
       (value.kind == ValueKind::Variable && unit_.variables[value.index].space != Space::Param)))
    fail("writes " + quoted(unit_.text.substr(operand.at, operand.end - operand.at)) +
         ", which is no register");
  return value;
}

}  // namespace tcq::ptx
