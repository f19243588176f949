// Reading statements; see statement_reader.h.
#include "sim/ptx/statement_reader.h"

#include <string>
#include <utility>

#include "sim/ptx/words.h"

namespace tcq::ptx {
void StatementReader::note(Offset at, std::string message) {
  unit_.diagnostics.push_back({unit_.lines.at(at), std::move(message)});
  if (unit_.diagnostics.size() >= most_) throw TooMany{};
}

void StatementReader::add(StatementKind kind, Offset at, Name name, Range items) {
  Statement statement;
  statement.kind = kind;
  statement.name = name;
  statement.at = at;
  statement.end = cursor_.last_end();
  statement.items = items;
  unit_.statements.push_back(statement);
}

// A statement without its semicolon ends where the next line begins.
void StatementReader::end_statement(Statement statement) {
  statement.end = cursor_.last_end();
  const bool line_ended = cursor_.begins_statement() || cursor_.is('}') || cursor_.is_end();
  if (!cursor_.is(';') && !(loose_ && line_ended)) cursor_.refuse("';'");
  unit_.statements.push_back(statement);
  cursor_.take(';');
}

// The braces of a statement are its vectors: they are counted from where it begins.
bool StatementReader::recover(const Refused& refused, Offset begin) {
  note(refused.at, refused.message);
  cursor_.restart(begin);
  int braces = 0;
  bool hides = false;
  for (; !cursor_.is_end(); cursor_.advance()) {
    const Token& token = cursor_.token();
    const bool is_first = token.at == begin;
    if (token.at >= refused.at && !is_first && cursor_.begins_statement()) return hides;
    if (token.is(';') && token.at >= refused.at) return hides;
    if (token.is('}') && !is_first && --braces < 0) return hides;
    if (token.is('{')) ++braces;
    const bool is_plain = token.text == "bra" || token.text == "call";
    hides = hides ||
            (token.at >= refused.at && !is_first && (is_plain || cursor_.may_begin_statement()));
  }
  return hides;
}

void StatementReader::take_guard(Statement& statement) {
  if (!cursor_.take('@')) return;
  statement.guard_negated = cursor_.take('!');
  statement.guard = cursor_.demand_word("the predicate of a guard");
}

// An opcode is one word where no blank divides it; otherwise its parts are joined here.
Name StatementReader::take_opcode(Statement& statement) {
  if (!cursor_.is(TokenKind::Word)) cursor_.refuse("an instruction");
  cursor_.extend();
  const std::string_view first = cursor_.token().text;
  const bool plain = first.find('.') == first.npos;
  cursor_.advance();
  if (plain && statement.guard == 0 && cursor_.is(':')) {
    statement.kind = StatementKind::Label;
    return unit_.names.intern(first);
  }
  if (!cursor_.is(TokenKind::Dotted)) return unit_.names.intern(first);
  std::string joined(first);
  while (cursor_.is(TokenKind::Dotted) &&
         !(cursor_.token().begins_line && cursor_.is_dotted(".reg"))) {
    joined += cursor_.token().text;
    cursor_.advance();
  }
  return unit_.names.keep(std::move(joined));
}

void StatementReader::read_instruction(Statement statement) {
  take_guard(statement);
  statement.name = take_opcode(statement);
  if (statement.kind == StatementKind::Label) {
    statement.end = cursor_.last_end();
    cursor_.advance();
    unit_.statements.push_back(statement);
    return;
  }
  const std::string_view opcode = unit_.names.text(statement.name);
  const bool is_call = opcode == "call" || opcode.starts_with("call.");
  const bool none = loose_ && (cursor_.begins_statement() || cursor_.is('}') || cursor_.is_end());
  if (!none) statement.items = operands_.read_until(';', is_call);
  end_statement(statement);
}

// .loc file line column[, function_name name[+offset], inlined_at file line column]
void StatementReader::read_location() {
  const Offset at = cursor_.token().at;
  cursor_.advance();
  LocationDirective location;
  location.file = cursor_.demand_small("the number of a file");
  location.line = cursor_.demand_small("a line");
  location.column = cursor_.demand_small("a column");
  while (cursor_.take(',')) {
    const Name key = cursor_.demand_word("'function_name' or 'inlined_at'");
    const std::string_view word = unit_.names.text(key);
    if (word == "function_name") {
      location.function_name = cursor_.demand_word("the label of a name");
      if (cursor_.take('+')) location.name_offset = cursor_.demand_small("an offset");
    } else if (word == "inlined_at") {
      location.is_inlined = true;
      location.at_file = cursor_.demand_small("the number of a file");
      location.at_line = cursor_.demand_small("a line");
      location.at_column = cursor_.demand_small("a column");
    } else {
      cursor_.refuse_at(cursor_.last_end() - index_of(word.size()),
                        "expected 'function_name' or 'inlined_at', got " + quoted(word));
    }
  }
  unit_.locations.push_back(location);
  add(StatementKind::Location, at, 0, {index_of(unit_.locations.size() - 1), 1});
}

// The label in front of .branchtargets, .calltargets and .callprototype is the directive's name.
void StatementReader::read_label_directive(StatementKind kind) {
  const Offset at = cursor_.token().at;
  if (unit_.statements.empty() || unit_.statements.back().kind != StatementKind::Label)
    cursor_.refuse_at(at, "expected a label before " + quoted(cursor_.token().text));
  const Statement label = unit_.statements.back();
  cursor_.advance();
  Statement statement = label;
  statement.kind = kind;
  if (kind == StatementKind::Prototype) {
    const Function prototype = declarations_.read_prototype();
    statement.items = {index_of(unit_.functions.size()), 1};
    unit_.functions.push_back(prototype);
  } else {
    statement.items = operands_.read_until(';', false);
  }
  unit_.statements.pop_back();
  end_statement(statement);
}

void StatementReader::read_variables() {
  const Offset at = cursor_.token().at;
  const Linkage linkage = declarations_.take_linkage();
  const Range range = declarations_.read_variables(linkage);
  for (std::uint32_t i = 0; i + 1 < range.count; ++i)
    add(StatementKind::Variable, at, 0, {range.first + i, 1});
  Statement last;
  last.kind = StatementKind::Variable;
  last.at = at;
  last.items = {range.first + range.count - 1, 1};
  end_statement(last);
}

void StatementReader::read_directive() {
  const std::string_view word = cursor_.token().text;
  Statement statement;
  statement.at = cursor_.token().at;
  if (word == ".loc") return read_location();
  if (word == ".branchtargets") return read_label_directive(StatementKind::Targets);
  if (word == ".calltargets") return read_label_directive(StatementKind::Callees);
  if (word == ".callprototype") return read_label_directive(StatementKind::Prototype);
  if (word == ".reg") {
    cursor_.advance();
    statement.kind = StatementKind::Registers;
    statement.items = declarations_.read_registers();
    return end_statement(statement);
  }
  if (word == ".pragma") {
    cursor_.advance();
    statement.kind = StatementKind::Pragma;
    statement.items.first = index_of(unit_.operands.size());
    do {
      const Operand text = operands_.read_value();
      unit_.operands.push_back(text);
      ++statement.items.count;
    } while (cursor_.take(','));
    return end_statement(statement);
  }
  if (is_variable_space(word) || word == ".extern" || word == ".visible" || word == ".weak")
    return read_variables();
  cursor_.refuse("a statement");
}

void StatementReader::read_statement() {
  const Token token = cursor_.token();
  if (token.is('{')) {
    if (depth_ >= deepest_scope)
      cursor_.refuse_at(token.at, "blocks nested deeper than " + std::to_string(deepest_scope));
    ++depth_;
    cursor_.advance();
    return add(StatementKind::Open, token.at);
  }
  if (token.is(';')) return cursor_.advance();
  if (token.kind == TokenKind::Dotted) return read_directive();
  Statement statement;
  statement.at = token.at;
  read_instruction(statement);
}

bool StatementReader::read_one() {
  const Offset begin = cursor_.token().at;
  const bool is_directive = cursor_.is(TokenKind::Dotted);
  if (cursor_.is_end()) return false;
  if (cursor_.is('}')) {
    if (depth_ == 0) return false;
    --depth_;
    cursor_.advance();
    add(StatementKind::Close, begin);
    return true;
  }
  try {
    read_statement();
  } catch (const Refused& refused) {
    const bool hides_another = recover(refused, begin);
    if (loose_ || !is_directive || hides_another) add(StatementKind::Malformed, begin);
    cursor_.take(';');
  }
  return true;
}

void StatementReader::read_body() {
  depth_ = 0;
  while (read_one()) continue;
  for (; depth_ > 0; --depth_) add(StatementKind::Close, cursor_.token().at);
  if (!cursor_.is_end()) return cursor_.advance();
  unit_.is_cut = true;
  note(cursor_.token().at, "expected '}', got the end of the text");
}

}  // namespace tcq::ptx
