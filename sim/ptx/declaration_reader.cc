// Reading declarations; see declaration_reader.h.
#include "sim/ptx/declaration_reader.h"

#include <array>
#include <limits>
#include <utility>

namespace tcq::ptx {
namespace {

constexpr std::array<std::string_view, 6> variable_spaces = {".global", ".const", ".local",
                                                             ".shared", ".param", ".tex"};

// Directives behind the header of a function.
constexpr std::array<std::string_view, 12> function_directives = {
    ".maxntid",        ".reqntid",  ".minnctapersm",      ".maxnctapersm",
    ".maxnreg",        ".noreturn", ".explicitcluster",   ".reqnctapercluster",
    ".maxclusterrank", ".unique",   ".blocksareclusters", ".abi_preserve"};
constexpr std::string_view abi_preserve_control = ".abi_preserve_control";

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  for (const std::string_view one : words)
    if (one == word) return true;
  return false;
}

}  // namespace

bool is_variable_space(std::string_view dotted) { return contains(variable_spaces, dotted); }

Linkage DeclarationReader::take_linkage() {
  constexpr std::array<std::string_view, 4> words = {".visible", ".extern", ".weak", ".common"};
  for (std::size_t i = 0; i < words.size(); ++i)
    if (cursor_.take_dotted(words[i])) return static_cast<Linkage>(i + 1);
  return Linkage::None;
}

std::uint8_t DeclarationReader::take_vector() {
  for (const auto& [word, width] : {std::pair{".v2", 2}, {".v4", 4}, {".v8", 8}})
    if (cursor_.take_dotted(word)) return static_cast<std::uint8_t>(width);
  return 1;
}

Type DeclarationReader::demand_type() {
  const Token& token = cursor_.token();
  const Type type = cursor_.is(TokenKind::Dotted) ? type_of(token.text.substr(1)) : Type::None;
  if (type == Type::None) cursor_.refuse("a type such as .b32");
  cursor_.advance();
  return type;
}

Range DeclarationReader::read_registers() {
  Range range{static_cast<std::uint32_t>(unit_.registers.size()), 0};
  RegisterItem item;
  item.vector = take_vector();
  item.type = demand_type();
  do {
    item.name = cursor_.demand_word("the name of a register");
    item.count = 0;
    if (cursor_.take('<')) {
      item.count = cursor_.demand_small("a number of registers");
      cursor_.demand('>');
    }
    unit_.registers.push_back(item);
    ++range.count;
  } while (cursor_.take(','));
  return range;
}

// .attribute(.managed), .attribute(.unified(1, 2))
void DeclarationReader::read_attribute() {
  cursor_.demand('(');
  for (int depth = 1; depth > 0; cursor_.advance()) {
    if (cursor_.is_end()) cursor_.refuse("')'");
    depth += cursor_.is('(') ? 1 : cursor_.is(')') ? -1 : 0;
  }
}

// Space, alignment, vector and type, in the orders that PTX has.
Variable DeclarationReader::read_type() {
  Variable variable;
  variable.at = cursor_.token().at;
  if (!cursor_.is(TokenKind::Dotted)) cursor_.refuse("a state space such as .global");
  variable.space = space_of(cursor_.token().text.substr(1));
  if (variable.space == Space::Generic) cursor_.refuse("a state space such as .global");
  cursor_.advance();
  if (variable.space == Space::Const && cursor_.take('[')) {  // .const[2] of old versions
    cursor_.demand_number("the number of a bank");
    cursor_.demand(']');
  }
  while (cursor_.is_dotted(".align") || cursor_.is_dotted(".attribute")) {
    const bool align = cursor_.is_dotted(".align");
    cursor_.advance();
    if (align)
      variable.align = cursor_.demand_small("an alignment");
    else
      read_attribute();
  }
  variable.vector = take_vector();
  variable.type = demand_type();
  if (cursor_.is_dotted(".ptr")) read_pointer(variable);
  return variable;
}

void DeclarationReader::read_pointer(Variable& variable) {
  cursor_.advance();
  variable.is_pointer = true;
  if (cursor_.is(TokenKind::Dotted) && is_variable_space(cursor_.token().text)) {
    variable.pointee_space = space_of(cursor_.token().text.substr(1));
    cursor_.advance();
  }
  if (cursor_.take_dotted(".align")) variable.pointee_align = cursor_.demand_small("an alignment");
}

void DeclarationReader::read_sizes(Variable& variable) {
  variable.sizes.first = static_cast<std::uint32_t>(unit_.sizes.size());
  while (cursor_.take('[')) {
    const Offset at = cursor_.token().at;
    const std::uint64_t size = cursor_.is(']') ? 0 : cursor_.demand_number("a number of elements");
    cursor_.demand(']');
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    if (size != 0 && variable.elements > most / size)
      cursor_.refuse_at(at, "expected at most 2^40 elements");
    variable.is_array = true;
    variable.elements *= size;
    unit_.sizes.push_back(size);
    ++variable.sizes.count;
  }
}

Range DeclarationReader::read_variables(Linkage linkage) {
  Range range{static_cast<std::uint32_t>(unit_.variables.size()), 0};
  const Variable type = read_type();
  do {
    Variable variable = type;
    variable.linkage = linkage;
    variable.at = cursor_.token().at;
    variable.name = cursor_.demand_word("the name of a variable");
    if (cursor_.take('<')) {  // %x<4> declares four; nvcc never does
      cursor_.refuse_at(variable.at, "a range of variables is not read");
    }
    read_sizes(variable);
    if (cursor_.take('=')) {
      const Operand value = operands_.read_value();
      variable.values = {static_cast<std::uint32_t>(unit_.operands.size()), 1};
      unit_.operands.push_back(value);
    }
    unit_.variables.push_back(variable);
    ++range.count;
  } while (cursor_.take(','));
  return range;
}

Range DeclarationReader::read_parameters() {
  Range range{static_cast<std::uint32_t>(unit_.variables.size()), 0};
  cursor_.demand('(');
  if (cursor_.take(')')) return range;
  do {
    Variable parameter = read_type();
    parameter.name = cursor_.demand_word("the name of a parameter");
    read_sizes(parameter);
    unit_.variables.push_back(parameter);
    ++range.count;
  } while (cursor_.take(','));
  cursor_.demand(')');
  return range;
}

bool DeclarationReader::read_directive(std::vector<Directive>& directives) {
  if (!cursor_.is(TokenKind::Dotted)) return false;
  const std::string_view word = cursor_.token().text;
  if (word == ".pragma") {
    cursor_.advance();
    operands_.read_value();
    while (cursor_.take(',')) operands_.read_value();
    cursor_.demand(';');
    return true;
  }
  if (!contains(function_directives, word) && word != abi_preserve_control) return false;
  Directive directive{unit_.names.intern(word.substr(1)),
                      {static_cast<std::uint32_t>(unit_.sizes.size()), 0}};
  cursor_.advance();
  if (cursor_.is(TokenKind::Number)) {
    do {
      unit_.sizes.push_back(cursor_.demand_number("a number"));
      ++directive.numbers.count;
    } while (cursor_.take(','));
  }
  directives.push_back(directive);
  return true;
}

Function DeclarationReader::read_header(FunctionKind kind, Linkage linkage) {
  Function function;
  function.kind = kind;
  function.linkage = linkage;
  function.at = cursor_.token().at;
  std::vector<Directive> directives;
  while (cursor_.is_dotted(".attribute") || cursor_.is(TokenKind::Dotted)) {
    if (cursor_.take_dotted(".attribute"))
      read_attribute();
    else if (!read_directive(directives))
      cursor_.refuse("the name of a function");
  }
  if (kind == FunctionKind::Func && cursor_.is('(')) function.returns = read_parameters();
  function.at = cursor_.token().at;
  function.name = cursor_.demand_word("the name of a function");
  if (cursor_.is('(')) function.parameters = read_parameters();
  while (cursor_.is(TokenKind::Dotted))
    if (!read_directive(directives)) cursor_.refuse("'{', ';' or a directive of a function");
  if (!cursor_.is('{') && !cursor_.is(';')) cursor_.refuse("'{', ';' or a directive of a function");
  function.directives = {static_cast<std::uint32_t>(unit_.directives.size()),
                         static_cast<std::uint32_t>(directives.size())};
  unit_.directives.insert(unit_.directives.end(), directives.begin(), directives.end());
  return function;
}

Function DeclarationReader::read_prototype() {
  Function function;
  function.kind = FunctionKind::Prototype;
  function.at = cursor_.token().at;
  if (cursor_.is('(')) function.returns = read_parameters();
  cursor_.demand_word("'_'");
  if (cursor_.is('(')) function.parameters = read_parameters();
  std::vector<Directive> directives;
  while (read_directive(directives)) continue;
  function.directives = {static_cast<std::uint32_t>(unit_.directives.size()),
                         static_cast<std::uint32_t>(directives.size())};
  unit_.directives.insert(unit_.directives.end(), directives.begin(), directives.end());
  return function;
}

}  // namespace tcq::ptx
