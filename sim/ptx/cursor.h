// The token that is read next, and what is said when it is another one than expected.
//
// The readers of this folder share one. Where a text cannot be understood they throw Refused, which never
// leaves the folder: reader.cc catches it, notes it and goes on behind the statement.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/ptx/lexer.h"
#include "sim/ptx/syntax.h"

namespace tcq::ptx {

struct Refused {
  Offset at;
  std::string message;
};

class Cursor {
 public:
  explicit Cursor(Unit& unit) : unit_(unit), lexer_(unit.text) { advance(); }

  Unit& unit() { return unit_; }
  const Token& token() const { return token_; }
  // Behind the token before this one.
  Offset last_end() const { return last_end_; }

  void advance() {
    last_end_ = token_.end();
    token_ = lexer_.next();
  }
  void extend() { lexer_.extend(token_); }
  // Goes back to a token.
  void restart(Offset at);

  bool is(char mark) const { return token_.is(mark); }
  bool is(TokenKind kind) const { return token_.kind == kind; }
  bool is_dotted(std::string_view word) const {
    return token_.kind == TokenKind::Dotted && token_.text == word;
  }
  // What a statement may begin with: a guard, an opcode with a dot, a label.
  bool may_begin_statement() const;
  // The same on a line of its own.
  bool begins_statement() const { return token_.begins_line && may_begin_statement(); }
  bool is_end() const { return token_.kind == TokenKind::End; }

  // Takes it if it is there.
  bool take(char mark);
  bool take_dotted(std::string_view word);
  void demand(char mark);
  Name demand_word(std::string_view what);
  std::uint64_t demand_number(std::string_view what);
  std::uint32_t demand_small(std::string_view what);

  // "expected WHAT, got TOKEN" at the token.
  [[noreturn]] void refuse(std::string_view expected) const;
  [[noreturn]] void refuse_at(Offset at, std::string message) const;

 private:
  Unit& unit_;
  Lexer lexer_;
  Token token_;
  Offset last_end_ = 0;
};

// The value of a Number token without a dot or exponent; false if it is none or has more than 64 bits.
bool integer_value(std::string_view text, std::uint64_t& value, bool& is_unsigned);

}  // namespace tcq::ptx
