// Where tokens end; see lexer.h. Every byte is looked at once.
#include "sim/ptx/lexer.h"

#include <algorithm>
#include <array>

namespace tcq::ptx {
namespace {

enum CharClass : std::uint8_t { Other, Blank, Digit, Letter };

constexpr std::array<CharClass, 256> classes = [] {
  std::array<CharClass, 256> table{};
  for (const char c : {' ', '\t', '\r', '\n', '\v', '\f'})
    table[static_cast<unsigned char>(c)] = Blank;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = Digit;
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = Letter;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = Letter;
  table['_'] = table['$'] = Letter;
  return table;
}();

CharClass class_of(char c) { return classes[static_cast<unsigned char>(c)]; }
bool is_word(char c) { return class_of(c) >= Digit; }

}  // namespace

std::string without_comments(std::string_view text) {
  std::string plain;
  Lexer lexer(text);
  Offset end = 0;
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    if (token.at > end && !plain.empty()) plain += ' ';
    plain += token.text;
    end = token.end();
  }
  return plain;
}

bool Lexer::skip_comment() {
  const bool line = peek(1) == '/';
  const std::size_t end = line ? text_.find('\n', next_) : text_.find("*/", next_ + 2);
  if (end == text_.npos) {
    next_ = text_.size();
    return line;
  }
  next_ = line ? end : end + 2;
  return true;
}

bool Lexer::skip_blanks(Token& token) {
  token.begins_line = next_ == 0;
  while (next_ < text_.size()) {
    const char c = text_[next_];
    if (class_of(c) == Blank) {
      if (c == '\n') token.begins_line = true;
      ++next_;
    } else if (c == '/' && (peek(1) == '/' || peek(1) == '*')) {
      const std::size_t begin = next_;
      if (skip_comment()) {
        if (text_.substr(begin, next_ - begin).find('\n') != text_.npos) token.begins_line = true;
        continue;
      }
      token.kind = TokenKind::Bad;
      token.at = static_cast<Offset>(begin);
      token.text = text_.substr(begin, 2);
      return false;
    } else if (c == '#' && token.begins_line) {  // what a preprocessor leaves
      next_ = std::min(text_.find('\n', next_), text_.size());
    } else {
      break;
    }
  }
  return true;
}

void Lexer::skip_word() {
  while (next_ < text_.size() && is_word(text_[next_])) ++next_;
}

// 1.5e-3 is one number, 0x1e-3 three tokens, 0..3 three. ptxas takes 1. and 1.e5, too.
void Lexer::skip_number() {
  const std::size_t begin = next_;
  skip_word();
  const char second = begin + 1 < next_ ? text_[begin + 1] : '0';
  if (second != '.' && !is_digit(second) && second != 'e' && second != 'E') return;
  if (peek(0) == '.' && peek(1) != '.') {
    ++next_;
    skip_word();
  }
  const char last = text_[next_ - 1];
  if ((last == 'e' || last == 'E') && (peek(0) == '+' || peek(0) == '-') && is_digit(peek(1))) {
    ++next_;
    skip_word();
  }
}

// A string ends with its line.
void Lexer::skip_string(Token& token) {
  for (++next_; next_ < text_.size() && text_[next_] != '\n'; ++next_) {
    if (text_[next_] == '"') {
      ++next_;
      return;
    }
    if (text_[next_] == '\\' && peek(1) != '\n' && next_ + 1 < text_.size()) ++next_;
  }
  token.kind = TokenKind::Bad;
}

void Lexer::take_mark(Token& token) {
  constexpr std::string_view marks = "{}()[]<>,;:=+-*/%!@|&^~?.";
  token.mark = text_[next_];
  if (marks.find(token.mark) != marks.npos) {
    token.kind = TokenKind::Mark;
    next_ += token.mark == '.' && peek(1) == '.' ? 2 : 1;
    return;
  }
  token.kind = TokenKind::Bad;
  ++next_;
}

Token Lexer::next() {
  Token token;
  if (!skip_blanks(token)) return token;
  token.at = static_cast<Offset>(next_);
  if (next_ == text_.size()) return token;
  const std::size_t begin = next_;
  const char c = text_[next_];
  if (class_of(c) == Letter || (c == '%' && is_word(peek(1)))) {
    token.kind = TokenKind::Word;
    ++next_;
    skip_word();
  } else if (is_digit(c)) {
    token.kind = TokenKind::Number;
    skip_number();
  } else if (c == '.' && is_word(peek(1))) {
    token.kind = TokenKind::Dotted;
    ++next_;
    skip_word();
    while (peek(0) == ':' && peek(1) == ':' && is_word(peek(2))) {
      next_ += 2;
      skip_word();
    }
  } else if (c == '"') {
    token.kind = TokenKind::String;
    skip_string(token);
  } else {
    take_mark(token);
  }
  token.text = text_.substr(begin, next_ - begin);
  return token;
}

void Lexer::extend(Token& word) {
  while (peek(0) == '.' && is_word(peek(1))) {
    ++next_;
    skip_word();
    while (peek(0) == ':' && peek(1) == ':' && is_word(peek(2))) {
      next_ += 2;
      skip_word();
    }
  }
  word.text = text_.substr(word.at, next_ - word.at);
}

}  // namespace tcq::ptx
