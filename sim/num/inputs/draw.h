// Random numbers and random floats as pure functions of a key: what mixture.h draws from.
//
// A Draw is a short stream of words from one hash; make_float() turns an exponent and a shape of
// fraction into the bits of any float type. Example: make_float(Type::f16, -15, Fraction::Zero,
// ...) is the subnormal 0x0200.
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"

namespace tcq {

// A bijective mixer of 64-bit words (the finalizer of splitmix64).
HOST_DEVICE constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A small stream of random numbers drawn from one hash.
class Draw {
 public:
  HOST_DEVICE constexpr explicit Draw(std::uint64_t key) : state_(mix(key)) {}
  HOST_DEVICE constexpr std::uint32_t word() {
    state_ = mix(state_);
    return static_cast<std::uint32_t>(state_ >> 32);
  }
  // In [0, n).
  HOST_DEVICE constexpr int below(int n) {
    return static_cast<int>((std::uint64_t{word()} * static_cast<std::uint64_t>(n)) >> 32);
  }
  HOST_DEVICE constexpr int in(int low, int high) { return low + below(high - low + 1); }
  HOST_DEVICE constexpr bool one_in(int n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

// The exponents a float type can represent, subnormals included.
struct ExponentRange {
  int lowest;   // of the smallest subnormal
  int normal;   // of the smallest normal
  int highest;  // of the largest finite
};

HOST_DEVICE constexpr ExponentRange exponent_range(Type type) {
  const FloatFormat f = float_format(type);
  const int top_field = (1 << f.exponent_bits) - (f.specials == Specials::Ieee ? 2 : 1);
  return {1 - f.bias - f.fraction_bits, 1 - f.bias, top_field - f.bias};
}

HOST_DEVICE constexpr std::uint32_t sign_bit(Type type) { return 1u << (bits(type) - 1); }

// How the fraction of a drawn value looks.
enum class Fraction : std::uint8_t { Zero, Ones, SingleBit, Uniform };

// A value near 2^exponent, clamped into the type's range; below the normals it is a subnormal.
HOST_DEVICE constexpr std::uint32_t make_float(Type type, int exponent, Fraction fraction,
                                               bool negative, Draw& draw) {
  const FloatFormat f = float_format(type);
  const ExponentRange range = exponent_range(type);
  const std::uint32_t sign = negative ? sign_bit(type) : 0;
  const std::uint32_t dropped =
      f.ignored_low_bits == 0 ? 0 : draw.word() >> (32 - f.ignored_low_bits);
  if (exponent < range.lowest) return sign | dropped;
  if (exponent > range.highest) exponent = range.highest;
  const std::uint32_t ones = (1u << f.fraction_bits) - 1;
  std::uint32_t low = 0;
  if (fraction == Fraction::Ones) low = ones;
  if (fraction == Fraction::SingleBit) low = 1u << draw.below(f.fraction_bits);
  if (fraction == Fraction::Uniform) low = draw.word() & ones;
  std::uint32_t magnitude = 0;
  if (exponent >= range.normal) {
    const auto field = static_cast<std::uint32_t>(exponent + f.bias);
    magnitude = field << f.fraction_bits | low;
    const bool is_nan = f.specials == Specials::NanOnly && exponent == range.highest && low == ones;
    if (is_nan) magnitude -= 1;
  } else {
    magnitude = ((ones + 1) | low) >> (range.normal - exponent);
  }
  return sign | magnitude << f.ignored_low_bits | dropped;
}

// As data of real models lie: magnitudes in a bell round zero, about 1 wide, fractions uniform, every integer as
// likely as the others.
HOST_DEVICE constexpr std::uint32_t bell(Type type, Draw& draw) {
  if (!is_float(type)) return draw.word() & ((1u << bits(type)) - 1);
  constexpr int unit_bits = 12;
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += draw.in(-(1 << unit_bits), 1 << unit_bits);
  if (sum == 0) return 0;
  int exponent = -unit_bits;
  for (int rest = sum < 0 ? -sum : sum; rest > 1; rest /= 2) ++exponent;
  return make_float(type, exponent, Fraction::Uniform, sum < 0, draw);
}

// The elements of a word of random bits, forced into a narrow range of exponents: each of them then
// changes the sum that it is part of. Integers stay as they are.
HOST_DEVICE constexpr std::uint32_t tame(Type type, std::uint32_t word) {
  switch (type) {
    case Type::f16: return (word & 0x8fff8fffu) | 0x30003000u;
    case Type::bf16: return (word & 0x81ff81ffu) | 0x3e003e00u;
    case Type::tf32:
    case Type::f32: return (word & 0x81ffffffu) | 0x3e000000u;
    case Type::e4m3:
    case Type::e5m2: return (word & 0x8f8f8f8fu) | 0x30303030u;
    default: return word;
  }
}

HOST_DEVICE constexpr std::uint32_t infinity_of(Type type) {
  const FloatFormat f = float_format(type);
  const std::uint32_t field = (1u << f.exponent_bits) - 1;
  const std::uint32_t fraction = f.specials == Specials::NanOnly ? (1u << f.fraction_bits) - 1 : 0;
  return (field << f.fraction_bits | fraction) << f.ignored_low_bits;
}

}  // namespace tcq
