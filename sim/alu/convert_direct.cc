// The conversions that kernels are full of, in loops over the host's values: between integers and f32 or f64 in every
// rounding, between and within f32 and f64, from f16 and bf16 to f32, and from f32 to f16, bf16 and tf32.
//
// Rounding is done in doubles and brought to f32 by odd_double.h: integers of 64 bits are sums of two doubles. What is
// not here, and what every bit here is held against, is convert_float.cc's. Example: 2^53 + 1 is {2^53, error 1}, which
// .rp makes 2^53 + 2.
//
// Source: PTX ISA 9.2, 9.7.9.22 "cvt"; Dekker, "A floating-point technique for extending the available precision"
// Measured: tests/vectors/scalar.tcqv, as in convert_float.cc
#include <bit>
#include <cmath>
#include <limits>

#include "sim/alu/conversion.h"
#include "sim/alu/odd_double.h"
#include "sim/alu/small_float.h"
#include "sim/num/narrow.h"

namespace tcq::alu {
namespace {

using ptx::Rounding;
using ptx::Saturate;
using ptx::Type;

template <bool saturates, class T>
constexpr T bounded(T x) {
  if constexpr (!saturates) return x;
  return x > 0 ? (x < 1 ? x : T{1}) : T{0};
}

float canonical(float x) { return x == x ? x : std::bit_cast<float>(canonical_nan_f32); }

// ---- from integers ------------------------------------------------------------------------------

struct Nearest {
  double value, error;  // which add up to the integer
};

template <class S>
Nearest nearest(S x) {
  if constexpr (sizeof(S) < 8) {
    return {static_cast<double>(x), 0};
  } else {
    using Half = std::conditional_t<std::is_signed_v<S>, std::int32_t, std::uint32_t>;
    const double high = static_cast<double>(static_cast<Half>(x >> 32)) * 0x1p32;
    const double low = static_cast<std::uint32_t>(x);
    const double sum = high + low;
    return {sum, low - (sum - high)};
  }
}

template <Rounding mode>
double to_double(const Nearest& x) {
  const bool shrinks = (x.error < 0) == (x.value > 0);
  const bool steps = mode == Rounding::Rm   ? x.error < 0
                     : mode == Rounding::Rp ? x.error > 0
                     : mode == Rounding::Rz ? x.error != 0 && shrinks
                                            : false;
  const auto bits = std::bit_cast<std::uint64_t>(x.value);
  return std::bit_cast<double>(!steps ? bits : shrinks ? bits - 1 : bits + 1);
}

template <class D, class S, Rounding mode, bool saturates>
constexpr auto from_integer = [](S x) {
  const Nearest found = nearest(x);
  if constexpr (std::is_same_v<D, double>)
    return bounded<saturates>(to_double<mode>(found));
  else
    return bounded<saturates>(to_float<mode>(to_odd(found.value, found.error)));
};

// ---- to integers --------------------------------------------------------------------------------

// 2^52 and more are integers, and infinity; a sum with 2^52 is one.
template <Rounding mode>
double integral(double x) {
  constexpr double whole = 0x1p52;
  const double from_zero = std::copysign(whole, x);
  const double near = (x + from_zero) - from_zero;
  const double down = near > x ? near - 1 : near;
  const double up = near < x ? near + 1 : near;
  const double found = mode == Rounding::Rni   ? near
                       : mode == Rounding::Rmi ? down
                       : mode == Rounding::Rpi ? up
                       : x < 0                 ? up
                                               : down;
  return std::fabs(x) < whole ? found : x;
}

// Clamped before it is rounded: the bounds are integers, or of 64 bits the powers of two behind them.
template <class D, class S, Rounding mode, bool flushes>
constexpr auto to_integer = [](S s) {
  constexpr D most = std::numeric_limits<D>::max();
  constexpr auto least = static_cast<double>(std::numeric_limits<D>::min());
  constexpr auto bound = static_cast<double>(most);
  constexpr bool is_wide = sizeof(D) == 8;
  constexpr int top_bit = is_wide || std::is_same_v<S, double> ? 1 : 0;
  constexpr auto of_nan = static_cast<D>(std::uint64_t{top_bit} << (8 * sizeof(D) - 1));
  if constexpr (flushes) s = flush(s);
  const double x = s;
  const double above = x > least ? x : least;
  const double found = integral<mode>(above < bound ? above : bound);
  if constexpr (is_wide) {
    if (found >= bound) return most;
    return x == x ? static_cast<D>(found) : of_nan;
  } else {
    // The sum's low bits are the integer's.
    const auto word = static_cast<D>(std::bit_cast<std::uint64_t>(found + 0x1.8p52));
    return static_cast<Widened<D>>(x == x ? word : of_nan);
  }
};

// ---- between f32 and f64 ------------------------------------------------------------------------

// A NaN of f64 is cut, one of f32 that is more than moved is canonical.
template <class S, Rounding mode, bool flushes, bool saturates>
constexpr auto to_f32 = [](S s) {
  constexpr bool narrows = std::is_same_v<S, double>;
  if constexpr (flushes && !narrows) s = flush(s);
  float found;
  if constexpr (mode >= Rounding::Rni)
    found = static_cast<float>(std::copysign(integral<mode>(s), static_cast<double>(s)));
  else
    found = to_float<mode>(s);
  if constexpr (flushes) found = flush(found);
  return bounded<saturates>(narrows ? found : canonical(found));
};

template <bool flushes, bool saturates>
constexpr auto to_f64 = [](float x) {
  return bounded<saturates>(static_cast<double>(flushes ? canonical(flush(x)) : x));
};

// ---- 16 bits and tf32, to nearest ---------------------------------------------------------------

constexpr auto widened_f16 = [](std::uint16_t word) { return canonical(f16_value(word)); };
constexpr auto widened_bf16 = [](std::uint16_t word) { return std::uint32_t{word} << 16; };

constexpr std::uint32_t nearest_bf16(std::uint32_t word) {
  const bool is_nan = (word & 0x7fffffff) > infinity_f32;
  return is_nan ? canonical_nan_16 : (word + 0x7fff + (word >> 16 & 1)) >> 16;
}
constexpr auto bf16_pair = [](std::uint32_t high, std::uint32_t low) {
  return nearest_bf16(high) << 16 | nearest_bf16(low);
};

// A subnormal counts steps of 2^-24, which are those of f32 behind 0.5.
constexpr std::uint32_t nearest_f16(std::uint32_t word) {
  constexpr std::uint32_t rebias = 112 << 23, half = 0x3f000000, infinity = 0x7c00;
  const std::uint32_t magnitude = word & 0x7fffffff;
  const float sum = std::bit_cast<float>(magnitude) + 0.5F;
  const std::uint32_t small = std::bit_cast<std::uint32_t>(sum) - half;
  const std::uint32_t large = (magnitude - rebias + 0xfff + (magnitude >> 13 & 1)) >> 13;
  const std::uint32_t normal = large < infinity ? large : infinity;
  const std::uint32_t found = magnitude < (113U << 23) ? small : normal;
  return magnitude > infinity_f32 ? canonical_nan_16 : found | (word >> 16 & 0x8000);
}
constexpr auto f16_pair = [](std::uint32_t high, std::uint32_t low) {
  return nearest_f16(high) << 16 | nearest_f16(low);
};

// Ties away from zero; a NaN is cut.
constexpr auto tf32 = [](std::uint32_t word) {
  const bool is_nan = (word & 0x7fffffff) > infinity_f32;
  return (is_nan ? word : word + 0x1000) & ~std::uint32_t{0x1fff};
};

Evaluate of_nearest(const Conversion& c) {
  using U32 = std::uint32_t;
  if (c == Conversion{Type::F32, Type::F16}) return lanewise<widened_f16, float, std::uint16_t>;
  if (c == Conversion{Type::F32, Type::BF16}) return lanewise<widened_bf16, U32, std::uint16_t>;
  if (c == Conversion{Type::F16, Type::F32}) return lanewise<nearest_f16, U32, U32>;
  if (c == Conversion{Type::BF16, Type::F32}) return lanewise<nearest_bf16, U32, U32>;
  if (c == Conversion{Type::F16x2, Type::F32}) return lanewise<f16_pair, U32, U32, U32>;
  if (c == Conversion{Type::BF16x2, Type::F32}) return lanewise<bf16_pair, U32, U32, U32>;
  if (c == Conversion{Type::TF32, Type::F32, Rounding::Rna}) return lanewise<tf32, U32, U32>;
  return nullptr;
}

// ---- which one ----------------------------------------------------------------------------------

template <Rounding... modes>
Evaluate with_mode(Rounding mode, auto make) {
  Evaluate found = nullptr;
  (void)((mode == modes && (found = make(std::integral_constant<Rounding, modes>{}), true)) || ...);
  return found;
}
Evaluate with_direction(Rounding mode, auto make) {
  return with_mode<Rounding::Rn, Rounding::Rz, Rounding::Rm, Rounding::Rp>(mode, make);
}
Evaluate with_integral(Rounding mode, auto make) {
  return with_mode<Rounding::Rni, Rounding::Rzi, Rounding::Rmi, Rounding::Rpi>(mode, make);
}
Evaluate with(bool flag, auto make) {
  return flag ? make(std::true_type{}) : make(std::false_type{});
}

template <class D, class S>
Evaluate of_integer(const Conversion& c) {
  return with_direction(c.mode, [&](auto mode) {
    return with(c.saturate == Saturate::Sat, [&](auto saturates) -> Evaluate {
      return lanewise<from_integer<D, S, mode(), saturates()>, D, S>;
    });
  });
}

template <class D, class S>
Evaluate into_integer(const Conversion& c) {
  return with_integral(c.mode, [&](auto mode) {
    return with(c.flushes, [&](auto flushes) -> Evaluate {
      if constexpr (flushes() && std::is_same_v<S, double>)
        return nullptr;
      else
        return lanewise<to_integer<D, S, mode(), flushes()>, Widened<D>, S>;
    });
  });
}

template <class S>
Evaluate into_f32(const Conversion& c) {
  const auto of_mode = [&](auto mode) {
    return with(c.flushes, [&](auto flushes) {
      return with(c.saturate == Saturate::Sat, [&](auto saturates) -> Evaluate {
        return lanewise<to_f32<S, mode(), flushes(), saturates()>, float, S>;
      });
    });
  };
  if constexpr (std::is_same_v<S, double>) return with_direction(c.mode, of_mode);
  // A move of bits, which keeps a NaN's, is not here.
  if (c.mode == Rounding::Rn && !c.flushes && c.saturate == Saturate::None) return nullptr;
  return with_mode<Rounding::Rn, Rounding::Rni, Rounding::Rzi, Rounding::Rmi, Rounding::Rpi>(
      c.mode, of_mode);
}

Evaluate into_f64(const Conversion& c) {
  return with(c.flushes, [&](auto flushes) {
    return with(c.saturate == Saturate::Sat, [&](auto saturates) -> Evaluate {
      return lanewise<to_f64<flushes(), saturates()>, double, float>;
    });
  });
}

}  // namespace

Evaluate direct_conversion(const Conversion& c) {
  if (const Evaluate found = of_nearest(c)) return found;
  if (c.relu || c.saturate == Saturate::Satfinite) return nullptr;
  if (c.to == Type::F32 && c.from == Type::F32) return into_f32<float>(c);
  if (c.to == Type::F32 && c.from == Type::F64) return into_f32<double>(c);
  if (c.to == Type::F64 && c.from == Type::F32 && c.mode == Rounding::Rn) return into_f64(c);
  const Type integer = c.to == Type::F32 || c.to == Type::F64 ? c.from : c.to;
  return with_bytes(integer, [&]<class I>(I) -> Evaluate {
    if (c.to == Type::F32) return of_integer<float, I>(c);
    if (c.to == Type::F64) return of_integer<double, I>(c);
    if (c.from == Type::F32) return into_integer<I, float>(c);
    return c.from == Type::F64 ? into_integer<I, double>(c) : nullptr;
  });
}

}  // namespace tcq::alu
