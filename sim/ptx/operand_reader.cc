// Reading operands; see operand_reader.h.
#include "sim/ptx/operand_reader.h"

#include <string>

#include "sim/ptx/constant.h"

namespace tcq::ptx {

Range OperandReader::settle(std::size_t mark) {
  const Range range{static_cast<std::uint32_t>(unit_.operands.size()),
                    static_cast<std::uint32_t>(stack_.size() - mark)};
  unit_.operands.insert(unit_.operands.end(), stack_.begin() + static_cast<std::ptrdiff_t>(mark),
                        stack_.end());
  stack_.resize(mark);
  return range;
}

Operand OperandReader::with_items(Operand operand, std::size_t mark) {
  operand.items = settle(mark);
  operand.end = cursor_.last_end();
  return operand;
}

Range OperandReader::read_until(char close, bool is_call) {
  stack_.clear();  // an error may have left something
  if (cursor_.is(close)) return {static_cast<std::uint32_t>(unit_.operands.size()), 0};
  do {
    const Operand operand = read(is_call);
    stack_.push_back(operand);
  } while (cursor_.take(','));
  return settle(0);
}

Operand OperandReader::read(bool is_call) {
  if (cursor_.is('[')) return read_address();
  if (cursor_.is('{')) return read_vector();
  if (is_call && cursor_.is('(')) return read_list();
  Operand first = read_simple();
  if (!cursor_.is('|')) return first;
  Operand pair;
  pair.kind = OperandKind::Pair;
  pair.at = first.at;
  const std::size_t mark = stack_.size();
  stack_.push_back(first);
  cursor_.advance();
  const Operand second = read_simple();
  stack_.push_back(second);
  return with_items(pair, mark);
}

// A name, a constant or the sink, perhaps behind a '!', a name perhaps behind a '-'.
Operand OperandReader::read_simple() {
  const Offset at = cursor_.token().at;
  if (cursor_.take('-')) {
    if (cursor_.is(TokenKind::Word) && !begins_constant(cursor_.token())) {
      Operand operand = read_name();
      operand.minus = true;
      operand.at = at;
      return operand;
    }
    cursor_.restart(at);
  }
  const bool negated = cursor_.take('!');
  Operand operand = begins_constant(cursor_.token()) ? read_number() : read_name();
  operand.negated = negated;
  operand.at = at;
  return operand;
}

Operand OperandReader::read_number() {
  Operand operand;
  operand.at = cursor_.token().at;
  const Constant c = read_constant(cursor_);
  operand.kind = c.kind;
  operand.is_unsigned = c.is_unsigned;
  operand.value = c.value;
  operand.end = cursor_.last_end();
  return operand;
}

Operand OperandReader::read_name() {
  if (!cursor_.is(TokenKind::Word)) cursor_.refuse("an operand");
  Operand operand;
  operand.at = cursor_.token().at;
  const std::size_t length = cursor_.token().text.size();
  cursor_.extend();
  const std::string_view text = cursor_.token().text;
  operand.name = unit_.names.intern(text.substr(0, length));
  if (text.size() > length) operand.selector = unit_.names.intern(text.substr(length + 1));
  if (text == "_") operand.kind = OperandKind::Sink;
  cursor_.advance();
  if (text == "generic" && cursor_.take('(')) {
    operand.kind = OperandKind::Generic;
    operand.name = cursor_.demand_word("the name of a variable");
    cursor_.demand(')');
  }
  operand.value = read_offset(cursor_);
  operand.end = cursor_.last_end();
  return operand;
}

// An operand of several takes its opening mark.
Operand OperandReader::opened(OperandKind kind) {
  Operand operand;
  operand.kind = kind;
  operand.at = cursor_.token().at;
  cursor_.advance();
  return operand;
}

// ITEM, ITEM and so on, before the closing mark.
template <typename ReadItem>
void OperandReader::read_items(const ReadItem& read_item) {
  do {
    const Operand item = read_item();
    stack_.push_back(item);
  } while (cursor_.take(','));
}

Operand OperandReader::read_address() {
  const Operand address = opened(OperandKind::Address);
  const std::size_t mark = stack_.size();
  read_items([&] { return cursor_.is('{') ? read_vector() : read_simple(); });
  cursor_.demand(']');
  return with_items(address, mark);
}

Operand OperandReader::read_vector() {
  const Operand vector = opened(OperandKind::Vector);
  const std::size_t mark = stack_.size();
  read_items([&] {
    const Operand item = read_simple();
    return cursor_.is('.') ? read_span(item) : item;
  });
  if (!cursor_.take('}')) cursor_.refuse("',' or '}'");
  return with_items(vector, mark);
}

// %f0..%f63, as people abbreviate a vector.
Operand OperandReader::read_span(Operand first) {
  cursor_.advance();
  const Operand last = read_name();
  first.kind = OperandKind::Span;
  first.selector = last.name;
  first.end = last.end;
  return first;
}

Operand OperandReader::read_list() {
  const Operand list = opened(OperandKind::List);
  const std::size_t mark = stack_.size();
  if (!cursor_.is(')')) read_items([&] { return read_simple(); });
  cursor_.demand(')');
  return with_items(list, mark);
}

// 0xff(name) takes a byte of an address.
Operand OperandReader::read_masked(Operand mask) {
  Operand masked;
  masked.kind = OperandKind::Masked;
  masked.at = mask.at;
  cursor_.demand('(');
  const std::size_t mark = stack_.size();
  stack_.push_back(mask);
  masked.name = cursor_.demand_word("the name of a variable");
  masked.value = read_offset(cursor_);
  cursor_.demand(')');
  return with_items(masked, mark);
}

Operand OperandReader::read_value(int depth) {
  if (cursor_.is('{')) return read_values(depth);
  if (cursor_.is(TokenKind::String)) {
    Operand text;
    text.kind = OperandKind::String;
    text.at = cursor_.token().at;
    const std::string_view quotes = cursor_.token().text;
    text.name = unit_.names.intern(quotes.substr(1, quotes.size() - 2));
    cursor_.advance();
    text.end = cursor_.last_end();
    return text;
  }
  if (!begins_constant(cursor_.token())) return read_name();
  const Operand number = read_number();
  return cursor_.is('(') ? read_masked(number) : number;
}

Operand OperandReader::read_values(int depth) {
  constexpr int deepest = 16;
  if (depth > deepest)
    cursor_.refuse_at(cursor_.token().at,
                      "an initialiser nested deeper than " + std::to_string(deepest));
  if (depth == 1) stack_.clear();
  const Operand list = opened(OperandKind::List);
  const std::size_t mark = stack_.size();
  if (!cursor_.is('}')) read_items([&] { return read_value(depth + 1); });
  cursor_.demand('}');
  return with_items(list, mark);
}

}  // namespace tcq::ptx
