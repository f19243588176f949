// Making a fragment whole; see loose.h.
#include "sim/ptx/loose.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tcq::ptx {
namespace {

struct Numbered {
  std::string_view prefix;
  std::uint32_t number = 0;
};

// "%f12" is {"%f", 12}. "%f012" and numbers beyond any count are none.
std::optional<Numbered> numbered(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  const std::string_view number = name.substr(digits);
  Numbered parts{name.substr(0, digits)};
  const char* const end = number.data() + number.size();
  const auto [rest, error] = std::from_chars(number.data(), end, parts.number);
  const bool is_plain =
      rest == end && error == std::errc() && !(number.size() > 1 && number[0] == '0');
  return is_plain ? std::optional(parts) : std::nullopt;
}

// The registers of a span, each where the span stands; nothing if they are none or too many.
std::vector<Operand> registers_of(Unit& unit, const Operand& span) {
  const auto first = numbered(unit.names.text(span.name));
  const auto last = numbered(unit.names.text(span.selector));
  std::vector<Operand> registers;
  if (!first || !last || first->prefix != last->prefix || last->number < first->number ||
      last->number - first->number >= longest_span)
    return registers;
  const std::string prefix(first->prefix);
  for (std::uint32_t n = first->number; n <= last->number; ++n) {
    Operand one = span;
    one.kind = OperandKind::Name;
    one.name = unit.names.keep(prefix + std::to_string(n));
    one.selector = 0;
    registers.push_back(one);
  }
  return registers;
}

bool has_span(const Unit& unit, const Operand& vector) {
  if (vector.kind != OperandKind::Vector) return false;
  for (std::uint32_t i = vector.items.first; i < vector.items.end(); ++i)
    if (unit.operands[i].kind == OperandKind::Span) return true;
  return false;
}

void name_all(Unit& unit) {
  const std::size_t count =
      unit.operands.size();  // what is added behind has no spans that could be named
  for (std::size_t at = 0; at < count; ++at) {
    if (!has_span(unit, unit.operands[at])) continue;
    const Range items = unit.operands[at].items;
    std::vector<Operand> all;
    for (std::uint32_t i = items.first; i < items.end(); ++i) {
      const Operand item = unit.operands[i];
      std::vector<Operand> registers;
      if (item.kind == OperandKind::Span) registers = registers_of(unit, item);
      if (registers.empty()) registers.push_back(item);
      all.insert(all.end(), registers.begin(), registers.end());
    }
    if (unit.operands.size() + all.size() > count + most_in_spans) return;
    unit.operands[at].items = {index_of(unit.operands.size()), index_of(all.size())};
    unit.operands.insert(unit.operands.end(), all.begin(), all.end());
  }
}

void join_loose(Unit& unit) {
  std::vector<Statement> all;
  Function* whole = nullptr;
  for (Function& function : unit.functions) {
    if (function.kind != FunctionKind::Loose) continue;
    const auto first = unit.statements.begin() + function.body.first;
    all.insert(all.end(), first, first + function.body.count);
    if (whole == nullptr) {
      whole = &function;
      continue;
    }
    whole->end = function.end;
    function.has_body = false;
  }
  if (whole == nullptr || all.size() == whole->body.count) return;
  whole->body = {index_of(unit.statements.size()), index_of(all.size())};
  unit.statements.insert(unit.statements.end(), all.begin(), all.end());
}

}  // namespace

void loosen(Unit& unit) {
  join_loose(unit);
  name_all(unit);
}

}  // namespace tcq::ptx
