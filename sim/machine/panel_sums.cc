// Sums of a panel advance together in integers of 32 bits; exponents are the largest's.
#include "sim/machine/panel_sums.h"

#include <algorithm>

#include "sim/isa/wgmma/shape.h"
#include "sim/num/dot.h"

// Compiled twice, with and without wide vectors; the loader chooses.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TCQ_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define TCQ_WIDE_VECTORS
#endif

namespace tcq::sums {
namespace {

constexpr DotTraits traits = wgmma_dot_traits(Type::f32, Type::bf16);
static_assert(traits == wgmma_dot_traits(Type::f32, Type::f16));
static_assert(traits == wgmma_dot_traits(Type::f32, Type::tf32));
static_assert(traits.conversion == Conversion::F32TowardZero);

// One fused sum in every lane: products of one row with a panel, `count` of them, and C.
// Bit budget: a product cut to 25 fraction bits is below 2^27, so are eight of them below 2^30, C
// below 2^26; lows and highs take half of the products each.
struct Terms {
  std::array<std::int32_t, lanes> c;  // significand, cut and scaled like a product
  std::array<std::int32_t, lanes> c_exponents;
  std::array<std::int32_t, lanes> exponents;  // the largest
  std::array<std::int32_t, lanes> lows;
  std::array<std::int32_t, lanes> highs;
};

// Toward zero, as align() of fused_sum.h.
inline std::int32_t cut(std::int32_t value, std::int32_t distance) {
  const std::int32_t sign = value >> 31;
  const std::int32_t count = distance > 31 ? 31 : distance;
  const auto magnitude = static_cast<std::uint32_t>((value ^ sign) - sign);
  return (static_cast<std::int32_t>(magnitude >> count) ^ sign) - sign;
}

TCQ_WIDE_VECTORS
void add_products(Terms& t, const std::int16_t* row, const std::int16_t* row_exponents,
                  const std::int16_t* panel, const std::int16_t* panel_exponents, int count,
                  std::int32_t scale) {
  for (int j = 0; j < lanes; ++j)
    t.exponents[j] =
        t.c_exponents[j] > traits.floor_exponent ? t.c_exponents[j] : traits.floor_exponent;
  for (int i = 0; i < count; ++i) {
    const std::int32_t exponent = row_exponents[i];
    const std::int16_t* exponents = panel_exponents + i * lanes;
    for (int j = 0; j < lanes; ++j) {
      const std::int32_t sum = exponent + exponents[j];
      t.exponents[j] = sum > t.exponents[j] ? sum : t.exponents[j];
    }
  }
  for (int j = 0; j < lanes; ++j) {
    t.lows[j] = cut(t.c[j], t.exponents[j] - t.c_exponents[j]);
    t.highs[j] = 0;
  }
  for (int i = 0; i < count; ++i) {
    const std::int32_t significand = row[i] * scale;
    const std::int32_t exponent = row_exponents[i];
    const std::int16_t* significands = panel + i * lanes;
    const std::int16_t* exponents = panel_exponents + i * lanes;
    auto& half = i % 2 == 0 ? t.lows : t.highs;
    for (int j = 0; j < lanes; ++j)
      half[j] += cut(significand * significands[j], t.exponents[j] - exponent - exponents[j]);
  }
}

TCQ_WIDE_VECTORS
void add_integers(std::uint32_t* sums, const std::int16_t* row, const std::int16_t* panel,
                  std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t value = row[i];
    for (int j = 0; j < lanes; ++j)
      sums[j] += static_cast<std::uint32_t>(value * panel[i * lanes + j]);
  }
}

// C of the next instruction. False if it is an infinity, which stays.
bool set_c(Terms& t, std::size_t lane, std::uint32_t word) {
  const Decoded c = decode_float(Type::f32, word);
  constexpr int missing = traits.fraction_bits - float_format(Type::f32).fraction_bits;
  t.c[lane] = c.significand * (1 << missing);
  t.c_exponents[lane] = c.exponent;
  return !is_special(c.kind);
}

}  // namespace

Small small_of(Type type, std::uint32_t word) {
  if (!is_float(type)) return {static_cast<std::int16_t>(decode_integer(type, word)), 0, false};
  const Decoded d = decode_float(type, word);
  return {static_cast<std::int16_t>(d.significand), d.exponent, is_special(d.kind)};
}

Sums chain(Type type, const Line& row, const Line& panel, std::int64_t first, std::int64_t length) {
  const int step = wgmma::stored_k(type);
  const int left = traits.fraction_bits - 2 * float_format(type).fraction_bits;
  Terms t{};
  t.c_exponents.fill(zero_exponent);
  Sums sums{};
  std::array<bool, lanes> infinite{};
  for (std::int64_t k = first; k < first + length; k += step) {
    const auto count = static_cast<int>(std::min<std::int64_t>(step, first + length - k));
    const auto at = static_cast<std::size_t>(k);
    add_products(t, &row.significands[at], &row.exponents[at], &panel.significands[at * lanes],
                 &panel.exponents[at * lanes], count, 1 << left);
    for (std::size_t j = 0; j < lanes; ++j) {
      if (infinite[j]) continue;
      sums[j] = round_sum(traits.conversion, std::int64_t{t.lows[j]} + t.highs[j],
                          t.exponents[j] - traits.fraction_bits);
      infinite[j] = !set_c(t, j, sums[j]);
    }
  }
  return sums;
}

Sums integer_chain(const Line& row, const Line& panel, std::int64_t k) {
  Sums sums{};
  add_integers(sums.data(), row.significands.data(), panel.significands.data(), k);
  return sums;
}

}  // namespace tcq::sums
