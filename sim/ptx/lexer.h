// A PTX text as tokens, one after another; nothing is copied.
//
// Decides where a token begins and ends, and what is a comment. Example: "@p bra L;" is the mark '@', the
// words "p", "bra" and "L" and the mark ';'. A word ends at its dot: "add" and ".s32" are two tokens,
// which extend() joins where they are an opcode.
//
// Source: PTX ISA 9.2, 4.1 to 4.4 (format, comments, identifiers)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/ptx/source.h"

namespace tcq::ptx {

enum class TokenKind : std::uint8_t {
  End,
  Word,    // %r1, $L__BB0, add
  Dotted,  // .visible, .128x256b, .shared::cta
  Number,  // 12, 0x1fU, 0f3F800000, 1.5e-3
  String,  // with its quotes
  Mark,    // one character, or ".."
  Bad,     // `text` is what no token can begin with, or a string or comment without an end
};

struct Token {
  TokenKind kind = TokenKind::End;
  char mark = 0;               // of a Mark its first character
  bool begins_line = false;    // nothing but blanks and comments stand before it
  std::string_view text = {};  // of a Dotted with the dot
  Offset at = 0;

  Offset end() const { return at + static_cast<Offset>(text.size()); }
  bool is(char c) const { return kind == TokenKind::Mark && mark == c; }
};

// A text as sentences show it: without comments, one blank where there were any.
std::string without_comments(std::string_view text);

class Lexer {
 public:
  // Requires: the text outlives this object.
  explicit Lexer(std::string_view text, Offset from = 0) : text_(text), next_(from) {}

  Token next();
  // Joins what follows a word without a blank: ".s32" to "add", ".x" to "%tid". Requires: it is the last.
  void extend(Token& word);

 private:
  char peek(std::size_t ahead) const {
    return next_ + ahead < text_.size() ? text_[next_ + ahead] : '\0';
  }
  // False, and the token, for a comment without an end.
  bool skip_blanks(Token& token);
  bool skip_comment();
  void skip_word();
  void skip_number();
  void skip_string(Token& token);
  void take_mark(Token& token);

  std::string_view text_;
  std::size_t next_;
};

}  // namespace tcq::ptx
