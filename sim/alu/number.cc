// Decoding and rounding; see number.h.
//
// Source: PTX ISA 9.2, 9.7.9.22 "cvt": a NaN, unless convert_float.cc has another: of f16, bf16 is 7fff, of tf32 and f32 7fffffff, of e4m3 and e5m2 7f, of
// ue8m0 ff; formats without NaN have their largest number instead
// Inferred: ue8m0 drops the sign; without .satfinite what is too large for it becomes NaN; an f64 NaN is 7ff8...
#include "sim/alu/number.h"

#include "sim/num/float_bits.h"
#include "sim/num/round.h"

namespace tcq::alu {
namespace {

using ptx::Rounding;

constexpr FloatFormat f64_format = {11, 52, 1023, 0, Specials::Ieee};

FloatFormat format_of(ptx::Type type) {
  switch (type) {
    case ptx::Type::F16: return float_format(Type::f16);
    case ptx::Type::BF16: return float_format(Type::bf16);
    case ptx::Type::TF32: return float_format(Type::tf32);
    case ptx::Type::E4M3: return float_format(Type::e4m3);
    case ptx::Type::E5M2: return float_format(Type::e5m2);
    case ptx::Type::E2M3: return float_format(Type::e2m3);
    case ptx::Type::E3M2: return float_format(Type::e3m2);
    case ptx::Type::E2M1: return float_format(Type::e2m1);
    case ptx::Type::F64: return f64_format;
    default: return float_format(Type::f32);
  }
}

bool is_signed(ptx::Type type) {
  return type == ptx::Type::S8 || type == ptx::Type::S16 || type == ptx::Type::S32 ||
         type == ptx::Type::S64;
}
bool is_integer(ptx::Type type) {
  return is_signed(type) || type == ptx::Type::U8 || type == ptx::Type::U16 ||
         type == ptx::Type::U32 || type == ptx::Type::U64;
}

std::uint64_t low_bits(int count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

Number decode_integer_number(ptx::Type type, std::uint64_t word) {
  const int bits = ptx::bits(type);
  word &= low_bits(bits);
  const bool negative = is_signed(type) && (word >> (bits - 1) & 1) != 0;
  return {NumberKind::Finite, negative, negative ? (0 - word) & low_bits(bits) : word, 0};
}

// Bits as IEEE 754 has them, except what a format has instead of infinity and NaN.
Number decode_float_number(const FloatFormat& f, std::uint64_t word) {
  word >>= f.ignored_low_bits;
  const std::uint64_t fraction = word & low_bits(f.fraction_bits);
  const std::uint64_t field = word >> f.fraction_bits & low_bits(f.exponent_bits);
  const bool negative = (word >> (f.fraction_bits + f.exponent_bits) & 1) != 0;
  const bool is_last = field == low_bits(f.exponent_bits);
  if (is_last && f.specials == Specials::Ieee)
    return {fraction == 0 ? NumberKind::Infinite : NumberKind::Nan, negative, 0, 0};
  if (is_last && f.specials == Specials::NanOnly && fraction == low_bits(f.fraction_bits))
    return {NumberKind::Nan, negative, 0, 0};
  const std::uint64_t hidden = field == 0 ? 0 : std::uint64_t{1} << f.fraction_bits;
  const int exponent = (field == 0 ? 1 : static_cast<int>(field)) - f.bias - f.fraction_bits;
  return {NumberKind::Finite, negative, fraction | hidden, exponent};
}

// magnitude / 2^count as an integer.
std::uint64_t rounded_shift(Rounding mode, bool negative, std::uint64_t magnitude, int count) {
  if (count <= 0) return magnitude << -count;
  const std::uint64_t kept = shift_right(magnitude, count);
  const bool is_exact = count <= 63 ? kept << count == magnitude : magnitude == 0;
  switch (mode) {
    case Rounding::Rz:
    case Rounding::Rzi: return kept;
    case Rounding::Rm:
    case Rounding::Rmi: return kept + (negative && !is_exact ? 1 : 0);
    case Rounding::Rp:
    case Rounding::Rpi: return kept + (!negative && !is_exact ? 1 : 0);
    case Rounding::Rna: return kept + (count <= 63 ? magnitude >> (count - 1) & 1 : 0);
    default: return nearest_even_shift_right(magnitude, count);
  }
}

struct Limits {
  std::uint64_t largest;   // finite
  std::uint64_t overflow;  // what is beyond: infinity, or NaN where there is none
  std::uint64_t nan;
};
Limits limits_of(const FloatFormat& f) {
  const std::uint64_t all = low_bits(f.exponent_bits + f.fraction_bits);
  const std::uint64_t infinity = low_bits(f.exponent_bits) << f.fraction_bits;
  if (f.specials == Specials::Finite) return {all, all, all};
  if (f.specials == Specials::NanOnly) return {all - 1, all, all};
  return {infinity - 1, infinity, f.fraction_bits == 52 ? infinity | infinity >> 1 : all};
}

bool overflows_to_infinity(Rounding mode, bool negative) {
  if (mode == Rounding::Rz) return false;
  if (mode == Rounding::Rm) return negative;
  return mode != Rounding::Rp || !negative;
}

std::uint64_t encode_scale(const Target& target, const Number& x) {
  constexpr std::uint64_t nan = 0xff;
  const std::uint64_t beyond = target.is_finite ? nan - 1 : nan;
  if (x.kind == NumberKind::Nan) return nan;
  if (x.kind == NumberKind::Infinite) return beyond;
  if (x.magnitude == 0) return 0;
  const int low = floor_log2(x.magnitude);
  const bool is_power = x.magnitude == std::uint64_t{1} << low;
  const int code = low + x.exponent + 127 + (target.mode == Rounding::Rp && !is_power ? 1 : 0);
  if (code < 0) return 0;
  return code > 0xfe ? beyond : static_cast<std::uint64_t>(code);
}

std::uint64_t magnitude_word(const Target& target, const FloatFormat& f, const Number& x) {
  const Limits limits = limits_of(f);
  const std::uint64_t beyond = target.is_finite ? limits.largest : limits.overflow;
  if (x.kind == NumberKind::Infinite) return beyond;
  if (x.magnitude == 0) return 0;
  const int min_quantum = 1 - f.bias - f.fraction_bits;
  const int wanted = floor_log2(x.magnitude) + x.exponent - f.fraction_bits;
  const int quantum = wanted > min_quantum ? wanted : min_quantum;
  const std::uint64_t kept =
      rounded_shift(target.mode, x.negative, x.magnitude, quantum - x.exponent);
  // A kept value of 2^fraction_bits and more adds into the exponent.
  const auto steps = static_cast<std::uint64_t>(quantum - min_quantum);
  const bool is_large = steps > low_bits(f.exponent_bits);
  const std::uint64_t word = is_large ? ~std::uint64_t{0} : (steps << f.fraction_bits) + kept;
  if (word <= limits.largest) return word;
  return overflows_to_infinity(target.mode, x.negative) ? beyond : limits.largest;
}

}  // namespace

Number decode_number(ptx::Type type, std::uint64_t word) {
  if (is_integer(type)) return decode_integer_number(type, word);
  if (type != ptx::Type::UE8M0) return decode_float_number(format_of(type), word);
  const auto code = static_cast<int>(word & 0xff);
  return {code == 0xff ? NumberKind::Nan : NumberKind::Finite, false, 1, code - 127};
}

std::uint64_t encode_number(const Target& target, const Number& x) {
  if (target.type == ptx::Type::UE8M0) return encode_scale(target, x);
  const FloatFormat f = format_of(target.type);
  if (x.kind == NumberKind::Nan) {
    const std::uint64_t nan = limits_of(f).nan << f.ignored_low_bits;
    return nan | low_bits(f.ignored_low_bits);
  }
  const std::uint64_t sign = std::uint64_t{x.negative} << (f.exponent_bits + f.fraction_bits);
  return (sign | magnitude_word(target, f, x)) << f.ignored_low_bits;
}

Number integral(Rounding mode, const Number& x) {
  if (x.kind != NumberKind::Finite || x.exponent >= 0) return x;
  return {x.kind, x.negative, rounded_shift(mode, x.negative, x.magnitude, -x.exponent), 0};
}

std::uint64_t encode_integer(ptx::Type type, ptx::Type from, const Number& x) {
  const int bits = ptx::bits(type);
  const std::uint64_t half = std::uint64_t{1} << (bits - 1);
  if (x.kind == NumberKind::Nan)
    return from == ptx::Type::F64 || bits == 64 ? half : std::uint64_t{0};
  const std::uint64_t most = !is_signed(type) ? (x.negative ? 0 : low_bits(bits))
                             : x.negative     ? half
                                              : half - 1;
  const bool is_large = x.kind == NumberKind::Infinite ||
                        (x.magnitude != 0 && floor_log2(x.magnitude) + x.exponent > 63);
  const std::uint64_t magnitude = is_large ? most : x.magnitude << x.exponent;
  const std::uint64_t clamped = magnitude < most ? magnitude : most;
  return (x.negative ? 0 - clamped : clamped) & low_bits(bits);
}

}  // namespace tcq::alu
