// Evaluating constant expressions; see constant.h. Nesting is bounded: nothing here recurses far.
#include "sim/ptx/constant.h"

#include <array>
#include <bit>
#include <charconv>
#include <string>
#include <system_error>

namespace tcq::ptx {
namespace {

constexpr int deepest = 64;

struct Operator {
  std::string_view text;
  int level;  // of precedence, higher binds closer
};
// Two characters before one.
constexpr std::array operators = {
    Operator{"||", 1}, Operator{"&&", 2}, Operator{"==", 6}, Operator{"!=", 6}, Operator{"<=", 7},
    Operator{">=", 7}, Operator{"<<", 8}, Operator{">>", 8}, Operator{"|", 3},  Operator{"^", 4},
    Operator{"&", 5},  Operator{"<", 7},  Operator{">", 7},  Operator{"+", 9},  Operator{"-", 9},
    Operator{"*", 10}, Operator{"/", 10}, Operator{"%", 10}};
constexpr int additive = 9;

bool is_float(const Constant& c) { return c.kind != OperandKind::Integer; }

double number_of(const Constant& c) {
  if (c.kind == OperandKind::Float64) return std::bit_cast<double>(c.value);
  if (c.kind == OperandKind::Float32)
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(c.value)));
  return c.is_unsigned ? static_cast<double>(static_cast<std::uint64_t>(c.value))
                       : static_cast<double>(c.value);
}

Constant truth(bool value) { return {OperandKind::Integer, false, value ? 1 : 0}; }

class Reader {
 public:
  explicit Reader(Cursor& cursor) : cursor_(cursor) {}

  Constant ternary() {
    enter();
    const Constant condition = binary(1);
    if (!cursor_.take('?')) return leave(condition);
    const Constant yes = ternary();
    cursor_.demand(':');
    const Constant no = ternary();
    return leave(is_float(condition) ? number_of(condition) != 0 : condition.value != 0) ? yes : no;
  }

  Constant binary(int level) {
    Constant left = unary();
    while (true) {
      const Operator* const found = next_operator();
      if (found == nullptr || found->level < level) return left;
      const Offset at = cursor_.token().at;
      for (std::size_t i = 0; i < found->text.size(); ++i) cursor_.advance();
      enter();
      const Constant right = leave(binary(found->level + 1));
      left = apply(found->text, left, right, at);
    }
  }

  Constant unary() {
    const char mark = cursor_.token().kind == TokenKind::Mark ? cursor_.token().mark : '\0';
    if (mark == '-' || mark == '+' || mark == '~' || mark == '!') {
      const Offset at = cursor_.token().at;
      cursor_.advance();
      enter();
      return sign(mark, leave(unary()), at);
    }
    if (mark == '(') return parenthesis();
    if (cursor_.token().kind == TokenKind::Word && cursor_.token().text == "WARP_SZ") {
      cursor_.advance();
      return {OperandKind::Integer, false, 32};
    }
    return literal();
  }

 private:
  void enter() {
    if (++depth_ > deepest)
      cursor_.refuse_at(cursor_.token().at,
                        "a constant expression nested deeper than " + std::to_string(deepest));
  }
  template <class Value>
  Value leave(Value value) {
    --depth_;
    return value;
  }

  // (1+2), (.s64)x
  Constant parenthesis() {
    cursor_.advance();
    enter();
    if (cursor_.is(TokenKind::Dotted)) {
      const bool is_signed = cursor_.is_dotted(".s64");
      if (!is_signed && !cursor_.is_dotted(".u64")) cursor_.refuse("'.s64' or '.u64'");
      cursor_.advance();
      cursor_.demand(')');
      Constant value = leave(unary());
      value.is_unsigned = !is_signed;
      return value;
    }
    const Constant value = ternary();
    cursor_.demand(')');
    return leave(value);
  }

  const Operator* next_operator() const {
    const Token& token = cursor_.token();
    if (token.kind != TokenKind::Mark) return nullptr;
    const std::string_view rest = std::string_view(cursor_.unit().text).substr(token.at);
    for (const Operator& one : operators)
      if (rest.starts_with(one.text)) return &one;
    return nullptr;
  }

  Constant sign(char mark, Constant c, Offset at) {
    if (mark == '!') return truth(is_float(c) ? number_of(c) == 0 : c.value == 0);
    if (mark == '+') return c;
    const auto bits = static_cast<std::uint64_t>(c.value);
    if (is_float(c)) {
      if (mark == '~') cursor_.refuse_at(at, "'~' of a floating-point constant");
      const std::uint64_t sign_bit =
          c.kind == OperandKind::Float32 ? std::uint64_t{1} << 31 : std::uint64_t{1} << 63;
      c.value = static_cast<std::int64_t>(bits ^ sign_bit);
      return c;
    }
    c.value = static_cast<std::int64_t>(mark == '-' ? 0 - bits : ~bits);
    if (mark == '-') c.is_unsigned = false;
    return c;
  }

  Constant apply(std::string_view op, const Constant& a, const Constant& b, Offset at) {
    if (is_float(a) || is_float(b)) return apply_float(op, number_of(a), number_of(b), at);
    const bool is_unsigned = a.is_unsigned || b.is_unsigned;
    const auto x = static_cast<std::uint64_t>(a.value);
    const auto y = static_cast<std::uint64_t>(b.value);
    const bool less = is_unsigned ? x < y : a.value < b.value;
    if (op == "||") return truth(x != 0 || y != 0);
    if (op == "&&") return truth(x != 0 && y != 0);
    if (op == "==") return truth(x == y);
    if (op == "!=") return truth(x != y);
    if (op == "<") return truth(less);
    if (op == "<=") return truth(less || x == y);
    if (op == ">") return truth(!less && x != y);
    if (op == ">=") return truth(!less);
    const auto as = [](std::uint64_t value, bool no_sign) {
      return Constant{OperandKind::Integer, no_sign, static_cast<std::int64_t>(value)};
    };
    if (op == "<<") return as(y > 63 ? 0 : x << y, a.is_unsigned);
    if (op == ">>") return as(shifted_right(a, y), a.is_unsigned);
    if (op == "|") return as(x | y, is_unsigned);
    if (op == "^") return as(x ^ y, is_unsigned);
    if (op == "&") return as(x & y, is_unsigned);
    if (op == "+") return as(x + y, is_unsigned);
    if (op == "-") return as(x - y, is_unsigned);
    if (op == "*") return as(x * y, is_unsigned);
    return as(divided(op == "/", is_unsigned, a.value, b.value, at), is_unsigned);
  }

  static std::uint64_t shifted_right(const Constant& a, std::uint64_t by) {
    if (a.is_unsigned) return by > 63 ? 0 : static_cast<std::uint64_t>(a.value) >> by;
    return static_cast<std::uint64_t>(a.value >> (by > 63 ? 63 : by));
  }

  std::uint64_t divided(bool quotient, bool is_unsigned, std::int64_t a, std::int64_t b,
                        Offset at) {
    if (b == 0) cursor_.refuse_at(at, "a division by zero");
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    if (is_unsigned) return quotient ? x / y : x % y;
    if (b == -1) return quotient ? 0 - x : 0;
    return static_cast<std::uint64_t>(quotient ? a / b : a % b);
  }

  Constant apply_float(std::string_view op, double a, double b, Offset at) {
    const auto as = [](double value) {
      return Constant{OperandKind::Float64, false, std::bit_cast<std::int64_t>(value)};
    };
    if (op == "+") return as(a + b);
    if (op == "-") return as(a - b);
    if (op == "*") return as(a * b);
    if (op == "/") return as(a / b);
    if (op == "<") return truth(a < b);
    if (op == ">") return truth(a > b);
    if (op == "<=") return truth(a <= b);
    if (op == ">=") return truth(a >= b);
    if (op == "==") return truth(a == b);
    if (op == "!=") return truth(a != b);
    cursor_.refuse_at(at, "'" + std::string(op) + "' of floating-point constants");
  }

  Constant literal() {
    const std::string_view text = cursor_.token().text;
    if (cursor_.token().kind != TokenKind::Number) cursor_.refuse("a constant");
    Constant c;
    if (!hex_float(text, c) && !integer(text, c) && !decimal_float(text, c))
      cursor_.refuse("a constant of at most 64 bits");
    cursor_.advance();
    return c;
  }

  static bool hex_float(std::string_view text, Constant& c) {
    const bool single = text.starts_with("0f") || text.starts_with("0F");
    if (!single && !text.starts_with("0d") && !text.starts_with("0D")) return false;
    std::uint64_t bits = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + 2, end, bits, 16);
    if (rest != end || error != std::errc() || text.size() != (single ? 10U : 18U)) return false;
    c = {single ? OperandKind::Float32 : OperandKind::Float64, false,
         static_cast<std::int64_t>(bits)};
    return true;
  }

  static bool integer(std::string_view text, Constant& c) {
    std::uint64_t value = 0;
    if (!integer_value(text, value, c.is_unsigned)) return false;
    c.value = static_cast<std::int64_t>(value);
    c.is_unsigned = c.is_unsigned || c.value < 0;
    return true;
  }

  static bool decimal_float(std::string_view text, Constant& c) {
    if (text.find_first_of(".eE") == text.npos || text.starts_with("0x")) return false;
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (rest != end || error != std::errc()) return false;
    c = {OperandKind::Float64, false, std::bit_cast<std::int64_t>(value)};
    return true;
  }

  Cursor& cursor_;
  int depth_ = 0;
};

}  // namespace

bool begins_constant(const Token& token) {
  if (token.kind == TokenKind::Number) return true;
  if (token.kind == TokenKind::Word) return token.text == "WARP_SZ";
  return token.is('-') || token.is('+') || token.is('~') || token.is('(');
}

Constant read_constant(Cursor& cursor) { return Reader(cursor).ternary(); }

std::int64_t read_term(Cursor& cursor) {
  const Constant c = Reader(cursor).binary(additive + 1);
  if (is_float(c)) cursor.refuse_at(cursor.last_end(), "an offset is no integer");
  return c.value;
}

std::int64_t read_offset(Cursor& cursor) {
  std::uint64_t offset = 0;
  while (cursor.is('+') || cursor.is('-')) {
    const bool plus = cursor.is('+');
    cursor.advance();
    const auto term = static_cast<std::uint64_t>(read_term(cursor));
    offset += plus ? term : 0 - term;
  }
  return static_cast<std::int64_t>(offset);
}

}  // namespace tcq::ptx
