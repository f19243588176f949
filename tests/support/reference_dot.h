// One element of D of a Hopper wgmma, computed the slow and obvious way: every product and C is
// written into a 1024-bit fixed-point number at the binary position it really has, the bits of its
// magnitude below the alignment LSB are masked off, positive and negative terms are added exactly,
// and the bits of D are read out of their difference. This is a second formulation, there to check
// the simulator's: it decides the same values and shares nothing with sim/num, not even the table
// of formats, so that one mistake cannot be made in both. Layouts, shapes and metadata are left to
// others: the caller hands over the products that take part, dense or sparse.
//
// Example, f16 -> f32: A = {2^7, -2^7, 2^-6}, B = {2^7, 2^7, 2^-5}, C = 0. The terms are 2^14,
// -2^14 and 2^-11. The largest exponent is 14 and 25 fraction bits follow it, so bits below
// 2^(14-25) = 2^-11 are masked off: the tail just survives and D = 2^-11 = 3a000000. With
// B[2] = 2^-6 the tail is 2^-12, all of it below the LSB, and D = 0.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tcq::reference {

enum class Format { F16, Bf16, Tf32, F32, E4m3, E5m2, E2m3, E3m2, E2m1, S8, U8, B1, S32 };

struct Spec {
  Format d;
  Format a;
  Format b;
};

struct Options {
  bool accumulate = true;  // false: C is +0, whatever the argument holds
  bool negate_a = false;   // floating-point kinds only
  bool negate_b = false;   // floating-point kinds only
  bool satfinite = false;  // s8 and u8 only
};

// PTX type names, in PTX's order D, A, B -> Spec. Throws std::invalid_argument for an unknown name
// and for types that no wgmma combines.
Spec spec(std::string_view d, std::string_view a, std::string_view b);

// Products a[k] * b[k] and the input value c of D -> the bits of D. Each word holds one element in
// its low bits; bits above the element are ignored. A tf32 word is the full 32 bits.
// Requires: a Spec from spec(), a.size() == b.size(), and only the options its kind has; else
// throws std::invalid_argument.
std::uint32_t dot(const Spec& types, std::span<const std::uint32_t> a,
                  std::span<const std::uint32_t> b, std::uint32_t c, const Options& options);

namespace internal {

// A non-negative number: bit i of the 1024 weighs 2^(i + kLowest).
class Magnitude {
 public:
  static constexpr int kLowest = -384;
  static constexpr int kLimbs = 16;
  static constexpr int kHighest = kLowest + 64 * kLimbs - 1;

  Magnitude() = default;

  // integer * 2^unit
  Magnitude(std::uint64_t integer, int unit) {
    for (; integer != 0; integer >>= 1, ++unit) {
      if ((integer & 1) != 0) set(unit);
    }
  }

  bool is_zero() const { return limbs_ == decltype(limbs_){}; }

  // The bit that weighs 2^exponent.
  bool bit(int exponent) const { return ((limbs_[limb(exponent)] >> offset(exponent)) & 1) != 0; }

  // The integer made of `count` bits, the lowest of which weighs 2^exponent.
  std::uint32_t bits(int exponent, int count) const {
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i) {
      if (bit(exponent + i)) value |= std::uint32_t{1} << i;
    }
    return value;
  }

  // The exponent of the highest set bit. Requires: not zero.
  int top() const {
    int exponent = kHighest;
    while (limbs_[limb(exponent)] == 0) exponent -= 64;
    while (!bit(exponent)) --exponent;
    return exponent;
  }

  void clear_below(int exponent) {
    for (int i = 0; i < kLimbs && kLowest + 64 * i < exponent; ++i) {
      const int dropped = std::clamp(exponent - (kLowest + 64 * i), 0, 64);
      const std::uint64_t kept = dropped == 64 ? 0 : ~std::uint64_t{0} << dropped;
      limbs_[static_cast<std::size_t>(i)] &= kept;
    }
  }

  void add(const Magnitude& other) {
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < limbs_.size(); ++i) {
      const std::uint64_t partial = limbs_[i] + carry;
      const std::uint64_t sum = partial + other.limbs_[i];
      carry = (partial < carry || sum < partial) ? 1 : 0;
      limbs_[i] = sum;
    }
  }

  // Requires: other <= *this.
  void subtract(const Magnitude& other) {
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < limbs_.size(); ++i) {
      const std::uint64_t partial = limbs_[i] - borrow;
      const std::uint64_t difference = partial - other.limbs_[i];
      borrow = (partial > limbs_[i] || difference > partial) ? 1 : 0;
      limbs_[i] = difference;
    }
  }

  friend bool operator==(const Magnitude&, const Magnitude&) = default;

  friend std::strong_ordering operator<=>(const Magnitude& x, const Magnitude& y) {
    return std::lexicographical_compare_three_way(x.limbs_.rbegin(), x.limbs_.rend(),
                                                  y.limbs_.rbegin(), y.limbs_.rend());
  }

 private:
  static std::size_t limb(int exponent) {
    return static_cast<std::size_t>(exponent - kLowest) / 64;
  }
  static int offset(int exponent) { return (exponent - kLowest) % 64; }

  void set(int exponent) { limbs_[limb(exponent)] |= std::uint64_t{1} << offset(exponent); }

  std::array<std::uint64_t, kLimbs> limbs_{};  // least significant first
};

// The smallest product is tf32's (2^-136)^2. The largest is below 2^256, so 2^64 of them fit.
static_assert(Magnitude::kLowest <= 2 * (-126 - 10));
static_assert(Magnitude::kHighest > 256 + 64);

struct FloatFormat {
  int exponent_bits;
  int fraction_bits;
  int bias;
  bool has_infinity = true;  // false: the one NaN is all ones, the rest of its binade is finite
  int ignored_bits = 0;      // low bits of the word that the unit never sees
  bool has_nan = true;       // false: every code is a number; has_infinity is false as well

  int emin() const { return 1 - bias; }
  std::uint32_t all_exponents() const { return (std::uint32_t{1} << exponent_bits) - 1; }
  std::uint32_t all_fractions() const { return (std::uint32_t{1} << fraction_bits) - 1; }
};

struct IntegerFormat {
  int width;
  bool is_signed;
};

// A format without infinity and NaN.
inline FloatFormat numbers_only(int exponent_bits, int fraction_bits, int bias) {
  return {.exponent_bits = exponent_bits,
          .fraction_bits = fraction_bits,
          .bias = bias,
          .has_infinity = false,
          .has_nan = false};
}

inline std::optional<FloatFormat> float_format(Format format) {
  switch (format) {
    case Format::F16: return FloatFormat{.exponent_bits = 5, .fraction_bits = 10, .bias = 15};
    case Format::Bf16: return FloatFormat{.exponent_bits = 8, .fraction_bits = 7, .bias = 127};
    case Format::Tf32:
      return FloatFormat{.exponent_bits = 8, .fraction_bits = 10, .bias = 127, .ignored_bits = 13};
    case Format::F32: return FloatFormat{.exponent_bits = 8, .fraction_bits = 23, .bias = 127};
    case Format::E4m3:
      return FloatFormat{.exponent_bits = 4, .fraction_bits = 3, .bias = 7, .has_infinity = false};
    case Format::E5m2: return FloatFormat{.exponent_bits = 5, .fraction_bits = 2, .bias = 15};
    case Format::E2m3: return numbers_only(2, 3, 1);
    case Format::E3m2: return numbers_only(3, 2, 3);
    case Format::E2m1: return numbers_only(2, 1, 1);
    default: return std::nullopt;
  }
}

inline IntegerFormat integer_format(Format format) {
  switch (format) {
    case Format::S8: return {.width = 8, .is_signed = true};
    case Format::U8: return {.width = 8, .is_signed = false};
    case Format::B1: return {.width = 1, .is_signed = false};
    case Format::S32: return {.width = 32, .is_signed = true};
    default: throw std::invalid_argument("not an integer format");
  }
}

enum class Class { Finite, Infinity, Nan };

// An operand, C, or a product. Finite: (-1)^negative * significand * 2^unit, never normalised.
struct Number {
  Class type = Class::Finite;
  bool negative = false;
  std::uint64_t significand = 0;
  int unit = 0;
  int exponent = 0;  // what alignment sees; of a product, the sum of its factors' exponents
  bool aligns_as_zero = false;  // alignment sees the exponent even if the number is zero

  bool is_zero() const { return type == Class::Finite && significand == 0; }
};

inline Number decode_float(const FloatFormat& format, std::uint32_t word) {
  const std::uint32_t bits = word >> format.ignored_bits;
  const std::uint32_t fraction = bits & format.all_fractions();
  const std::uint32_t field = (bits >> format.fraction_bits) & format.all_exponents();
  Number number;
  number.negative = ((bits >> (format.fraction_bits + format.exponent_bits)) & 1) != 0;
  if (field == format.all_exponents()) {
    if (format.has_infinity) number.type = fraction == 0 ? Class::Infinity : Class::Nan;
    if (!format.has_infinity && format.has_nan && fraction == format.all_fractions())
      number.type = Class::Nan;
  }
  const bool subnormal = field == 0;
  number.significand = subnormal ? fraction : fraction + format.all_fractions() + 1;
  number.exponent = subnormal ? format.emin() : static_cast<int>(field) - format.bias;
  number.unit = number.exponent - format.fraction_bits;
  return number;
}

inline Number decode_integer(const IntegerFormat& format, std::uint32_t word) {
  const std::uint64_t modulus = std::uint64_t{1} << format.width;
  const std::uint64_t bits = word & (modulus - 1);
  Number number;
  number.negative = format.is_signed && bits >= modulus / 2;
  number.significand = number.negative ? modulus - bits : bits;
  return number;
}

inline Number decode(Format format, std::uint32_t word) {
  const std::optional<FloatFormat> floating = float_format(format);
  return floating ? decode_float(*floating, word) : decode_integer(integer_format(format), word);
}

inline Number product(const Number& a, const Number& b) {
  Number number;
  number.negative = a.negative != b.negative;
  const bool infinite = a.type == Class::Infinity || b.type == Class::Infinity;
  if (a.type == Class::Nan || b.type == Class::Nan) {
    number.type = Class::Nan;
  } else if (infinite) {
    number.type = a.is_zero() || b.is_zero() ? Class::Nan : Class::Infinity;
  } else {
    number.significand = a.significand * b.significand;
    number.unit = a.unit + b.unit;
    number.exponent = a.exponent + b.exponent;
  }
  return number;
}

inline std::vector<Number> terms(const Spec& types, std::span<const std::uint32_t> a,
                                 std::span<const std::uint32_t> b, std::uint32_t c,
                                 const Options& options) {
  std::vector<Number> result;
  result.push_back(decode(types.d, options.accumulate ? c : 0));
  for (std::size_t k = 0; k < a.size(); ++k) {
    Number x = decode(types.a, a[k]);
    Number y = decode(types.b, b[k]);
    x.negative = x.negative != options.negate_a;
    y.negative = y.negative != options.negate_b;
    result.push_back(product(x, y));
  }
  return result;
}

struct Exact {
  bool negative = false;
  Magnitude magnitude;
};

// Finite terms, each cut toward zero to a multiple of 2^lsb -> their sum.
inline Exact sum(std::span<const Number> numbers, int lsb) {
  Magnitude positive;
  Magnitude negative;
  for (const Number& number : numbers) {
    if (number.significand == 0) continue;
    Magnitude term(number.significand, number.unit);
    term.clear_below(lsb);
    (number.negative ? negative : positive).add(term);
  }
  Exact result;
  result.negative = negative > positive;
  result.magnitude = std::max(positive, negative);
  result.magnitude.subtract(std::min(positive, negative));
  return result;
}

// What the fused sum of a floating-point kind does besides being exact.
struct Rules {
  int fraction_bits;       // kept below the alignment exponent
  int floor;               // lowest alignment exponent
  int kept_fraction_bits;  // of the result, before it is widened to D
  bool nearest;            // ties to even; else toward zero
};

// The answers of sm_90 that fix these constants are the worked examples of reference_dot_test.cc.
// Inferred: the floor of f8 kinds, which no input can show.
inline Rules rules(const Spec& types) {
  const bool f8 = types.a == Format::E4m3 || types.a == Format::E5m2;
  const int fraction_bits = f8 ? 13 : 25;
  if (types.d == Format::F16) {
    return {
        .fraction_bits = fraction_bits, .floor = -21, .kept_fraction_bits = 10, .nearest = true};
  }
  return {.fraction_bits = fraction_bits,
          .floor = -133,
          .kept_fraction_bits = f8 ? 13 : 23,
          .nearest = false};
}

// The largest exponent of a non-zero term, or `floor` if that is larger.
inline int alignment_exponent(std::span<const Number> numbers, int floor) {
  int exponent = floor;
  for (const Number& number : numbers) {
    if (!number.is_zero() || number.aligns_as_zero) exponent = std::max(exponent, number.exponent);
  }
  return exponent;
}

// value -> a neighbouring multiple of 2^quantum.
inline Magnitude rounded(const Magnitude& value, int quantum, bool nearest) {
  Magnitude below = value;
  below.clear_below(quantum);
  Magnitude rest = value;
  rest.subtract(below);
  const Magnitude half(1, quantum - 1);
  const bool odd = below.bit(quantum);
  if (nearest && (rest > half || (rest == half && odd))) below.add(Magnitude(1, quantum));
  return below;
}

inline std::uint32_t assemble(const FloatFormat& format, bool negative, std::uint32_t field,
                              std::uint32_t fraction) {
  const std::uint32_t sign = negative ? 1 : 0;
  return (((sign << format.exponent_bits) | field) << format.fraction_bits) | fraction;
}

inline std::uint32_t infinity(const FloatFormat& format, bool negative) {
  return assemble(format, negative, format.all_exponents(), 0);
}

inline std::uint32_t canonical_nan(const FloatFormat& format) {
  return assemble(format, false, format.all_exponents(), format.all_fractions());
}

// A value without bits below the format's last place -> its bits; too large -> infinity.
inline std::uint32_t encode(const FloatFormat& format, const Exact& value) {
  const Magnitude& magnitude = value.magnitude;
  if (magnitude.is_zero()) return 0;  // +0, also after negative terms
  const int exponent = std::max(magnitude.top(), format.emin());
  if (exponent > format.bias) return infinity(format, value.negative);
  const bool subnormal = magnitude.top() < format.emin();
  const std::uint32_t field = subnormal ? 0 : static_cast<std::uint32_t>(exponent + format.bias);
  const std::uint32_t fraction =
      magnitude.bits(exponent - format.fraction_bits, format.fraction_bits);
  return assemble(format, value.negative, field, fraction);
}

// NaN or infinity if the terms decide D without any arithmetic.
inline std::optional<std::uint32_t> special(const FloatFormat& format,
                                            std::span<const Number> numbers) {
  bool nan = false;
  bool plus_infinity = false;
  bool minus_infinity = false;
  for (const Number& number : numbers) {
    if (number.type == Class::Nan) nan = true;
    if (number.type == Class::Infinity) (number.negative ? minus_infinity : plus_infinity) = true;
  }
  if (nan || (plus_infinity && minus_infinity)) return canonical_nan(format);
  if (plus_infinity || minus_infinity) return infinity(format, minus_infinity);
  return std::nullopt;
}

inline std::uint32_t float_dot(Format format_d, const Rules& rule,
                               std::span<const Number> numbers) {
  const FloatFormat d = float_format(format_d).value();
  if (const std::optional<std::uint32_t> decided = special(d, numbers)) return *decided;
  const int lsb = alignment_exponent(numbers, rule.floor) - rule.fraction_bits;
  Exact value = sum(numbers, lsb);
  if (value.magnitude.is_zero()) return 0;
  const int quantum = std::max(value.magnitude.top(), d.emin()) - rule.kept_fraction_bits;
  value.magnitude = rounded(value.magnitude, quantum, rule.nearest);
  return encode(d, value);
}

// Source: PTX ISA 9.7.15.5 (satfinite). Inferred: one clamp, on the exact C + sum.
inline std::uint32_t integer_dot(std::span<const Number> numbers, bool satfinite) {
  const Exact value = sum(numbers, 0);
  const bool overflow = !value.magnitude.is_zero() && value.magnitude.top() >= 31;
  if (satfinite && overflow) return value.negative ? 0x80000000u : 0x7fffffffu;
  const std::uint32_t low = value.magnitude.bits(0, 32);
  return value.negative ? 0u - low : low;
}

inline Format parse(std::string_view name) {
  if (name == "f16") return Format::F16;
  if (name == "bf16") return Format::Bf16;
  if (name == "tf32") return Format::Tf32;
  if (name == "f32") return Format::F32;
  if (name == "e4m3") return Format::E4m3;
  if (name == "e5m2") return Format::E5m2;
  if (name == "e2m3") return Format::E2m3;
  if (name == "e3m2") return Format::E3m2;
  if (name == "e2m1") return Format::E2m1;
  if (name == "s8") return Format::S8;
  if (name == "u8") return Format::U8;
  if (name == "b1") return Format::B1;
  if (name == "s32") return Format::S32;
  throw std::invalid_argument("unknown type: " + std::string(name));
}

inline bool is_f8(Format format) { return format == Format::E4m3 || format == Format::E5m2; }
inline bool is_i8(Format format) { return format == Format::S8 || format == Format::U8; }

// Source: PTX ISA 9.7.15.5.
inline bool exists(const Spec& types) {
  const bool f16_or_f32 = types.d == Format::F16 || types.d == Format::F32;
  if (is_f8(types.a) && is_f8(types.b)) return f16_or_f32;
  if (is_i8(types.a) && is_i8(types.b)) return types.d == Format::S32;
  if (types.a != types.b) return false;
  switch (types.a) {
    case Format::F16: return f16_or_f32;
    case Format::Bf16:
    case Format::Tf32: return types.d == Format::F32;
    case Format::B1: return types.d == Format::S32;
    default: return false;
  }
}

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

}  // namespace internal

inline Spec spec(std::string_view d, std::string_view a, std::string_view b) {
  const Spec types{.d = internal::parse(d), .a = internal::parse(a), .b = internal::parse(b)};
  internal::require(internal::exists(types), "no wgmma combines these types");
  return types;
}

inline std::uint32_t dot(const Spec& types, std::span<const std::uint32_t> a,
                         std::span<const std::uint32_t> b, std::uint32_t c,
                         const Options& options) {
  const bool integer = types.d == Format::S32;
  internal::require(internal::exists(types), "no wgmma combines these types");
  internal::require(a.size() == b.size(), "a and b differ in length");
  internal::require(!integer || !(options.negate_a || options.negate_b), "integers do not negate");
  internal::require(internal::is_i8(types.a) || !options.satfinite, "only s8 and u8 saturate");
  const std::vector<internal::Number> numbers = internal::terms(types, a, b, c, options);
  return integer ? internal::integer_dot(numbers, options.satfinite)
                 : internal::float_dot(types.d, internal::rules(types), numbers);
}

}  // namespace tcq::reference
