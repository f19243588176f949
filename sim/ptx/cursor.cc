// Taking tokens; see cursor.h.
#include "sim/ptx/cursor.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "sim/ptx/words.h"

namespace tcq::ptx {

void Cursor::restart(Offset at) {
  lexer_ = Lexer(unit_.text, at);
  token_ = lexer_.next();
}

bool Cursor::may_begin_statement() const {
  if (is('@') || is_dotted(".reg")) return true;
  if (!is(TokenKind::Word) || token_.text[0] == '%') return false;
  std::string_view rest = unit_.text.substr(token_.end());
  if (rest.starts_with('.')) return true;
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
  const bool is_label = rest.starts_with(':') && !rest.starts_with("::");
  const bool ends = token_.text == "ret" || token_.text == "exit" || token_.text == "trap";
  return is_label || ends;
}

bool Cursor::take(char mark) {
  if (!token_.is(mark)) return false;
  advance();
  return true;
}

bool Cursor::take_dotted(std::string_view word) {
  if (!is_dotted(word)) return false;
  advance();
  return true;
}

void Cursor::demand(char mark) {
  if (!take(mark)) refuse(std::string("'") + mark + "'");
}

Name Cursor::demand_word(std::string_view what) {
  if (token_.kind != TokenKind::Word) refuse(what);
  const Name name = unit_.names.intern(token_.text);
  advance();
  return name;
}

std::uint64_t Cursor::demand_number(std::string_view what) {
  std::uint64_t value = 0;
  bool is_unsigned = false;
  if (token_.kind != TokenKind::Number || !integer_value(token_.text, value, is_unsigned))
    refuse(what);
  advance();
  return value;
}

std::uint32_t Cursor::demand_small(std::string_view what) {
  const Offset at = token_.at;
  const std::uint64_t value = demand_number(what);
  if (value > std::numeric_limits<std::uint32_t>::max())
    refuse_at(at, "expected " + std::string(what) + " below 2^32");
  return static_cast<std::uint32_t>(value);
}

void Cursor::refuse(std::string_view expected) const {
  std::string got = quoted(token_.text);
  if (token_.kind == TokenKind::End) got = "the end of the text";
  if (token_.kind == TokenKind::Bad && token_.text == "/*") got = "a comment without an end";
  if (token_.kind == TokenKind::Bad && token_.text.starts_with('"'))
    got = "a string without an end";
  refuse_at(token_.at, "expected " + std::string(expected) + ", got " + got);
}

void Cursor::refuse_at(Offset at, std::string message) const {
  throw Refused{at, std::move(message)};
}

bool integer_value(std::string_view text, std::uint64_t& value, bool& is_unsigned) {
  is_unsigned = text.ends_with('U');
  if (is_unsigned) text.remove_suffix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char second = text[1];
    base = second == 'x' || second == 'X' ? 16 : second == 'b' || second == 'B' ? 2 : 8;
    if (base != 8) text.remove_prefix(2);
  }
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, base);
  return !text.empty() && rest == end && error == std::errc();
}

}  // namespace tcq::ptx
