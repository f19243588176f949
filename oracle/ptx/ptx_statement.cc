// Taking a PTX statement apart; see ptx_statement.h. Linear in the length of the line.
#include "oracle/ptx/ptx_statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "oracle/answer/words.h"
#include "oracle/ptx/letters.h"
#include "oracle/ptx/ptx_scopes.h"
#include "sim/ptx/special.h"

namespace tcq::oracle {
namespace {

// ---- Registers and immediates -------------------------------------------------------------------

struct RegisterName {
  std::string_view prefix;  // without the number at the end
  std::uint64_t number = 0;
  bool numbered = false;
};

std::optional<RegisterName> register_name(std::string_view text) {
  if (text.empty() || is_digit(text[0]) || !std::all_of(text.begin(), text.end(), is_word))
    return std::nullopt;
  if (text.find('%', 1) != std::string_view::npos || text == "%") return std::nullopt;
  std::size_t end = text.size();
  while (end > 0 && is_digit(text[end - 1])) --end;
  RegisterName name{text.substr(0, end)};
  const char* const last = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + end, last, name.number);
  name.numbered = error == std::errc() && rest == last;
  return name;
}

RegisterClass class_of(const RegisterName& name, std::string_view text, RegisterScope scope) {
  if (scope.scopes != nullptr)
    if (const auto declared = scope.scopes->find(scope.scope, text)) return declared->type;
  struct Convention {
    std::string_view prefix;
    RegisterClass register_class;
  };
  static constexpr std::array<Convention, 6> conventions = {{{"%p", RegisterClass::Pred},
                                                             {"%rs", RegisterClass::B16},
                                                             {"%r", RegisterClass::B32},
                                                             {"%f", RegisterClass::F32},
                                                             {"%rd", RegisterClass::B64},
                                                             {"%fd", RegisterClass::F64}}};
  for (const Convention& c : conventions)
    if (name.numbered && name.prefix == c.prefix) return c.register_class;
  return RegisterClass::Unknown;
}

// What `mov` alone may read. Measured: ptxas 13.0.88 takes them inside braces of wgmma and mma, too, and refuses them
// everywhere else.
bool is_special(std::string_view text) { return ptx::special_of(text).has_value(); }

// Outside braces: no sink either.
bool can_be_named(std::string_view text) { return text != "_" && !is_special(text); }

// 0f00000000, 0d0000000000000000.
bool is_float_constant(std::string_view text, char letter, std::size_t digits) {
  return text.size() == digits + 2 && text[0] == '0' && (text[1] | 0x20) == letter &&
         text.find_first_not_of("0123456789abcdefABCDEF", 2) == text.npos;
}

// ---- Operands -----------------------------------------------------------------------------------

void add_to_vector(PtxOperand& vector, RegisterClass register_class, std::uint64_t count) {
  vector.count += count;
  vector.holds[static_cast<std::size_t>(register_class)] = true;
}

bool add_constant(PtxOperand& vector, std::string_view text) {
  const bool integer = immediate_value(text).has_value();
  const bool single = !integer && is_float_constant(text, 'f', 8);
  const bool twice = !integer && is_float_constant(text, 'd', 16);
  vector.integers += integer ? 1 : 0;
  vector.floats += single ? 1 : 0;
  vector.doubles += twice ? 1 : 0;
  return integer || single || twice;
}

// One element of a vector: a register, or first..last.
bool add_element(PtxOperand& vector, std::string_view text, std::string& malformed,
                 RegisterScope scope) {
  const std::size_t dots = text.find("..");
  const auto first = register_name(trimmed(text.substr(0, dots)));
  if (dots == std::string_view::npos) {
    if (text.empty()) {
      malformed = "a vector has an empty element";
      return false;
    }
    add_to_vector(vector, first ? class_of(*first, text, scope) : RegisterClass::Unknown, 1);
    const bool is_register = first && !is_special(text);
    vector.sinks += text == "_" ? 1 : 0;
    vector.has_sink = vector.sinks > 0;
    vector.only_registers = vector.only_registers && is_register;
    vector.only_values = (add_constant(vector, text) || is_register) && vector.only_values;
    return true;
  }
  const std::string_view last_text = trimmed(text.substr(dots + 2));
  const auto last = register_name(last_text);
  if (!first || !last || !first->numbered || !last->numbered || first->prefix != last->prefix ||
      first->number > last->number || last->number - first->number > 0xffffffff) {
    malformed = fmt::format("{} is no range of registers such as %f0..%f63", quoted(text));
    return false;
  }
  add_to_vector(vector, class_of(*first, last_text, scope), last->number - first->number + 1);
  return true;
}

bool parse_vector(PtxOperand& vector, std::string& malformed, RegisterScope scope) {
  vector.kind = PtxOperand::Kind::Vector;
  std::string_view inside = vector.text.substr(1, vector.text.size() - 2);
  while (true) {
    const std::size_t comma = inside.find(',');
    if (!add_element(vector, trimmed(inside.substr(0, comma)), malformed, scope)) return false;
    if (comma == std::string_view::npos) return true;
    inside.remove_prefix(comma + 1);
  }
}

// [%r0], [%r0+4] and [4]; anything else stays Kind::Other.
void parse_address(std::string_view text, PtxOperand& operand, RegisterScope scope) {
  const std::string_view inside = trimmed(text.substr(1, text.size() - 2));
  const std::size_t plus = inside.find('+');
  const std::string_view base_text = trimmed(inside.substr(0, plus));
  const auto base = register_name(base_text);
  const auto number =
      immediate_value(plus == std::string_view::npos ? inside : trimmed(inside.substr(plus + 1)));
  const bool plain_base = base && plus == std::string_view::npos;
  if (!plain_base && (!number || (plus != std::string_view::npos && !base))) return;
  if (base && !can_be_named(base_text)) return;
  operand.kind = PtxOperand::Kind::Address;
  operand.has_base = base.has_value();
  operand.register_class = base ? class_of(*base, base_text, scope) : RegisterClass::Unknown;
  operand.value = plain_base ? 0 : *number;
}

bool parse_operand(std::string_view text, PtxOperand& operand, std::string& malformed,
                   RegisterScope scope) {
  operand.text = text;
  if (text.empty()) {
    malformed = "an operand is empty";
    return false;
  }
  if (text.front() == '{' && text.back() == '}') return parse_vector(operand, malformed, scope);
  if (text.front() == '[' && text.back() == ']') {
    parse_address(text, operand, scope);
    return true;
  }
  if (text.front() == '!') {
    operand.negated = true;
    text = trimmed(text.substr(1));
  }
  if (const auto value = immediate_value(text)) {
    operand.kind = PtxOperand::Kind::Immediate;
    operand.value = *value;
  } else if (const auto name = register_name(text); name && can_be_named(text)) {
    operand.kind = PtxOperand::Kind::Register;
    operand.register_class = class_of(*name, text, scope);
  }
  return true;
}

// Splits at commas outside braces and parentheses.
bool parse_operands(std::string_view text, std::vector<PtxOperand>& operands,
                    std::string& malformed, RegisterScope scope) {
  if (trimmed(text).empty()) return true;
  int braces = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '{') ++braces;
    if (c == '}') --braces;
    if (braces < 0 || braces > 1 || (i == text.size() && braces != 0)) {
      malformed = "the braces do not match";
      return false;
    }
    if (c != ',' || braces != 0) continue;
    PtxOperand operand;
    if (!parse_operand(trimmed(text.substr(begin, i - begin)), operand, malformed, scope))
      return false;
    operands.push_back(operand);
    begin = i + 1;
  }
  return true;
}

// The opcode and its qualifiers, which blanks may precede; takes them off the text.
bool take_opcode(std::string_view& text, PtxStatement& statement, std::string& malformed) {
  const auto end_of_word = [](std::string_view word) {
    const auto end = std::find_if(word.begin(), word.end(),
                                  [](char c) { return is_blank(c) || c == '{' || c == '.'; });
    return static_cast<std::size_t>(end - word.begin());
  };
  statement.opcode = text.substr(0, end_of_word(text));
  text.remove_prefix(statement.opcode.size());
  bool joined = true;
  for (std::string_view rest = trimmed(text); rest.starts_with('.'); rest = trimmed(text)) {
    joined = joined && text.starts_with('.');
    rest.remove_prefix(1);
    statement.qualifiers.push_back(rest.substr(0, end_of_word(rest)));
    if (statement.qualifiers.back().empty()) {
      malformed = "a qualifier is empty";
      return false;
    }
    if (joined) ++statement.joined;
    text = rest.substr(statement.qualifiers.back().size());
  }
  return true;
}

// @%p0, @!%p0, @ ! %p0.
bool take_guard(std::string_view& text, PtxStatement& statement, std::string& malformed,
                RegisterScope scope) {
  if (!text.starts_with('@')) return true;
  text = trimmed(text.substr(1));
  const bool negated = text.starts_with('!');
  if (negated) text = trimmed(text.substr(1));
  const auto end = std::find_if(text.begin(), text.end(), is_blank);
  const auto length = static_cast<std::size_t>(end - text.begin());
  PtxOperand guard;
  if (!parse_operand(text.substr(0, length), guard, malformed, scope)) return false;
  guard.negated = negated;
  statement.guard = guard;
  text = trimmed(text.substr(length));
  return true;
}

}  // namespace

// Measured against ptxas 13.0.88: 64 bits, which wrap: 18446744073709551615 is -1. Longer numbers
// are none.
std::optional<std::int64_t> immediate_value(std::string_view text) {
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  text = trimmed(text);
  if (text.ends_with('U')) text.remove_suffix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X"))
    base = 16;
  else if (text.starts_with("0b") || text.starts_with("0B"))
    base = 2;
  else if (text.size() > 1 && text[0] == '0')
    base = 8;
  if (base == 16 || base == 2) text.remove_prefix(2);
  std::uint64_t magnitude = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, magnitude, base);
  if (text.empty() || rest != end || error != std::errc()) return std::nullopt;
  return static_cast<std::int64_t>(minus ? 0 - magnitude : magnitude);
}

bool is_register(const PtxOperand& operand, std::initializer_list<RegisterClass> allowed) {
  if (operand.kind != PtxOperand::Kind::Register || operand.negated) return false;
  return operand.register_class == RegisterClass::Unknown ||
         std::find(allowed.begin(), allowed.end(), operand.register_class) != allowed.end();
}

bool is_vector_of(const PtxOperand& operand, std::initializer_list<RegisterClass> allowed) {
  if (operand.kind != PtxOperand::Kind::Vector || !operand.only_registers) return false;
  for (std::size_t i = 0; i < register_class_count; ++i) {
    const auto c = static_cast<RegisterClass>(i);
    const bool fine = c == RegisterClass::Unknown ||
                      std::find(allowed.begin(), allowed.end(), c) != allowed.end();
    if (operand.holds[i] && !fine) return false;
  }
  return true;
}

std::optional<PtxStatement> parse_statement(std::string_view text, std::string& malformed,
                                            RegisterScope scope) {
  PtxStatement statement;
  const std::size_t end = text.find(';');
  if (end != std::string_view::npos && !trimmed(text.substr(end + 1)).empty()) {
    malformed = "something follows the semicolon: expected one statement per line";
    return std::nullopt;
  }
  text = trimmed(text.substr(0, end));
  if (!take_guard(text, statement, malformed, scope)) return std::nullopt;
  if (!take_opcode(text, statement, malformed)) return std::nullopt;
  if (statement.guard && statement.opcode.empty()) {
    malformed = "a guard without an instruction";
    return std::nullopt;
  }
  if (!parse_operands(text, statement.operands, malformed, scope)) return std::nullopt;
  return statement;
}

}  // namespace tcq::oracle
