#include "sim/num/fast/lines.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

namespace tcq::fast {
namespace {

// Scaled exponents further from 0 than this are left to sim/num: a value must fit an f32.
constexpr int scaled_limit = 100;

constexpr float power_of_two(int exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

// Requires: not special.
template <Type type>
constexpr float value_of(std::uint32_t word, bool negate, const Decoded& x) {
  if constexpr (type == Type::bf16) {
    return std::bit_cast<float>((word << 16) ^ (negate ? 0x80000000u : 0u));
  } else if constexpr (type == Type::tf32) {
    return std::bit_cast<float>((word & 0xffffe000u) ^ (negate ? 0x80000000u : 0u));
  } else {
    if (x.kind == Class::Zero) return 0;
    return static_cast<float>(x.significand) *
           power_of_two(x.exponent - float_format(type).fraction_bits);
  }
}

// An element in the engines' form, before its scale factor.
struct Unpacked {
  float value;  // 0 for NaN and infinity
  std::int16_t exponent;
  Class kind;
};

template <Type type>
constexpr Unpacked unpack(std::uint32_t word, bool negate) {
  const Decoded x = decode_float(type, word, negate);
  return {is_special(x.kind) ? 0.0f : value_of<type>(word, negate, x), x.exponent, x.kind};
}

// All elements of a byte: decoding one costs what some thirty multiply-adds do.
constexpr std::size_t codes = 256;

template <Type type>
constexpr std::array<Unpacked, 2 * codes> unpacked_codes() {
  std::array<Unpacked, 2 * codes> all{};
  for (std::size_t code = 0; code < 2 * codes; ++code)
    all[code] = unpack<type>(static_cast<std::uint32_t>(code % codes), code >= codes);
  return all;
}

template <Type type>
Unpacked unpacked(std::uint32_t word, bool negate) {
  if constexpr (bits(type) <= 8) {
    static constexpr std::array<Unpacked, 2 * codes> all = unpacked_codes<type>();
    if (word < codes) return all[word + (negate ? codes : 0)];
  }
  return unpack<type>(word, negate);
}

}  // namespace

Lines::Lines(const Instruction& in, Side side, int count, int k)
    : side_(side),
      type_(side == Side::Rows ? in.types.a : in.types.b),
      negate_(side == Side::Rows ? in.negate_a : in.negate_b),
      products_(in.products),
      count_(count),
      k_((k + in.products - 1) / in.products * in.products),
      words_(at(count, 0)),
      ranges_(static_cast<std::size_t>(count)) {
  const int lines =
      side == Side::Rows ? count : (count + panel_columns - 1) / panel_columns * panel_columns;
  values_.resize(at(lines, 0));
  if (!is_float(type_)) return;
  if (side == Side::Rows)
    pairs_.resize(at(lines, 0));
  else
    exponents_.assign(at(lines, 0), zero_exponent);
}

tcgen05::Scale Lines::scale_of(int line, int k) const {
  const int factors = k_ / products_;
  return tcgen05::decode_scale(tcgen05::ScaleType::ue8m0,
                               scales[static_cast<std::size_t>(line * factors + k / products_)]);
}

// Where the elements of a line go, and how far apart they are.
struct Lines::Place {
  float* values;
  std::uint32_t* pairs;
  std::int16_t* exponents;
  std::size_t step;
};

Lines::Place Lines::place(int line) {
  const bool is_row = side_ == Side::Rows;
  const std::size_t first = is_row ? at(line, 0)
                                   : at(line / panel_columns * panel_columns, 0) +
                                         static_cast<std::size_t>(line % panel_columns);
  return {values_.data() + first, pairs_.empty() ? nullptr : pairs_.data() + first,
          exponents_.empty() ? nullptr : exponents_.data() + first,
          is_row ? 1 : static_cast<std::size_t>(panel_columns)};
}

template <Type type>
void Lines::pack_integers(int line) {
  const Place to = place(line);
  const std::uint32_t* from = words(line);
  for (std::size_t k = 0; k < static_cast<std::size_t>(k_); ++k)
    to.values[k * to.step] = static_cast<float>(decode_integer(type, from[k]));
}

template <Type type>
void Lines::pack_floats(int line) {
  const Place to = place(line);
  const std::uint32_t* from = words(line);
  Range range;
  for (std::size_t k = 0; k < static_cast<std::size_t>(k_); ++k) {
    const Unpacked x = unpacked<type>(from[k], negate_);
    float value = x.value;
    int exponent = x.exponent;
    range.special = range.special || is_special(x.kind);
    if (!scales.empty()) {
      const tcgen05::Scale s = scale(line, static_cast<int>(k));
      const bool fits = !s.nan && std::abs(s.exponent) < scaled_limit;
      range.special = range.special || !fits;
      value *= power_of_two(fits ? s.exponent : 0);
      exponent += s.exponent;
    }
    const bool counts = x.kind == Class::Finite;
    range.least = counts ? std::min(range.least, exponent) : range.least;
    range.most = counts ? std::max(range.most, exponent) : range.most;
    to.values[k * to.step] = value;
    const auto half = static_cast<std::uint16_t>(exponent);
    if (to.pairs != nullptr)
      to.pairs[k] = std::uint32_t{half} << 16 | half;
    else
      to.exponents[k * to.step] = static_cast<std::int16_t>(half);
  }
  ranges_[static_cast<std::size_t>(line)] = range;
}

void Lines::pack() {
  for (int line = 0; line < count_; ++line) {
    switch (type_) {
      case Type::f16: pack_floats<Type::f16>(line); break;
      case Type::bf16: pack_floats<Type::bf16>(line); break;
      case Type::tf32: pack_floats<Type::tf32>(line); break;
      case Type::e4m3: pack_floats<Type::e4m3>(line); break;
      case Type::e5m2: pack_floats<Type::e5m2>(line); break;
      case Type::e2m3: pack_floats<Type::e2m3>(line); break;
      case Type::e3m2: pack_floats<Type::e3m2>(line); break;
      case Type::e2m1: pack_floats<Type::e2m1>(line); break;
      case Type::s8: pack_integers<Type::s8>(line); break;
      default: pack_integers<Type::u8>(line); break;
    }
  }
}

}  // namespace tcq::fast
