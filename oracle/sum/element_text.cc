// Decimals of elements; see element_text.h.
#include "oracle/sum/element_text.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "sim/num/float_bits.h"

namespace tcq::oracle {
namespace {

double read_decimal(std::string_view word, std::string_view what) {
  const std::string_view digits = word.substr(word.starts_with('+') ? 1 : 0);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw UsageError(fmt::format("{} is no number: {} needs a decimal such as -1.5 or 3e-2",
                                 quoted(word), what));
  return value;
}

[[noreturn]] void throw_beyond(std::string_view word, Type type, std::string_view what) {
  throw UsageError(fmt::format("{} is no {}: {} lies beyond what the type holds", quoted(word),
                               name(type), what));
}

std::uint32_t integer_element(double value, std::string_view word, Type type,
                              std::string_view what) {
  constexpr double two = 2.0;
  const bool is_signed = type == Type::s8 || type == Type::s32;
  const double high = std::ldexp(1.0, bits(type) - (is_signed ? 1 : 0)) - 1;
  const double low = is_signed ? -high - 1 : 0;
  if (!(value >= low && value <= high) || value != std::floor(value))
    throw_beyond(word, type, what);
  const double modulus = std::pow(two, bits(type));
  return static_cast<std::uint32_t>(value < 0 ? value + modulus : value);
}

// The code of a magnitude without its sign and ignored bits: neighbours are neighbouring numbers.
std::uint64_t magnitude_code(const FloatFormat& f, double magnitude) {
  if (magnitude == 0) return 0;
  const int min_quantum = 1 - f.bias - f.fraction_bits;
  const int quantum = std::max(std::ilogb(magnitude) - f.fraction_bits, min_quantum);
  const auto kept = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(magnitude, -quantum)));
  return (static_cast<std::uint64_t>(quantum - min_quantum) << f.fraction_bits) + kept;
}

// Bits of NaN, or none where the type has no such code.
std::uint64_t special_code(const FloatFormat& f, bool nan) {
  const std::uint64_t ones = (std::uint64_t{1} << (f.exponent_bits + f.fraction_bits)) - 1;
  const std::uint64_t infinity = ones >> f.fraction_bits << f.fraction_bits;
  return nan ? ones : infinity;
}

}  // namespace

bool looks_decimal(std::string_view word) {
  if (word.empty()) return false;
  const std::string_view unsigned_word = word.substr(word[0] == '-' || word[0] == '+' ? 1 : 0);
  return unsigned_word.size() < word.size() || word.find('.') != word.npos ||
         word.find("e-") != word.npos || word.find("e+") != word.npos ||
         same_word(unsigned_word, "inf") || same_word(unsigned_word, "nan");
}

std::uint32_t parse_decimal(std::string_view word, Type type, std::string_view what) {
  const double value = read_decimal(word, what);
  if (!is_float(type)) return integer_element(value, word, type, what);
  const FloatFormat f = float_format(type);
  const bool special = std::isnan(value) || std::isinf(value);
  const bool has_it =
      f.specials == Specials::Ieee || (f.specials == Specials::NanOnly && std::isnan(value));
  if (special && !has_it) throw_beyond(word, type, what);
  const std::uint64_t code =
      special ? special_code(f, std::isnan(value)) : magnitude_code(f, std::fabs(value));
  const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} : 0;
  const std::uint64_t whole = (sign << (f.exponent_bits + f.fraction_bits)) + code;
  const auto element = static_cast<std::uint32_t>(whole << f.ignored_low_bits);
  const bool overflows =
      code > special_code(f, true) || is_special(decode_float(type, element).kind);
  if (!special && overflows) throw_beyond(word, type, what);
  return element;
}

double element_value(Type type, std::uint32_t element) {
  if (!is_float(type)) return decode_integer(type, element);
  const Decoded x = decode_float(type, element);
  const double sign = x.negative ? -1.0 : 1.0;
  if (x.kind == Class::Nan) return std::numeric_limits<double>::quiet_NaN();
  if (x.kind == Class::Infinite) return sign * std::numeric_limits<double>::infinity();
  if (x.kind == Class::Zero) return sign * 0.0;
  return std::ldexp(static_cast<double>(x.significand),
                    x.exponent - float_format(type).fraction_bits);
}

std::string decimal_text(Type type, std::uint32_t element) {
  const double value = element_value(type, element);
  if (std::isnan(value)) return "nan";
  return is_float(type) ? fmt::format("{}", static_cast<float>(value))
                        : fmt::format("{}", static_cast<std::int64_t>(value));
}

}  // namespace tcq::oracle
