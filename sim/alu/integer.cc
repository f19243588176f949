// Arithmetic of integers: what wraps, what clamps, which half of a product.
//
// Source: PTX ISA 9.2, 9.7.1 "Integer Arithmetic Instructions"
// Measured: tests/vectors/scalar.tcqv: of a division by 0 quotient and remainder are all ones; PTX leaves both open
#include <limits>

#include "sim/alu/families.h"
#include "sim/alu/lanes.h"

namespace tcq::alu {
namespace {

using ptx::Opcode;
using ptx::Part;
using ptx::Saturate;
using ptx::Type;

template <class T>
using Twice = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
    std::conditional_t<sizeof(T) == 4,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, S128, U128>>>;

constexpr auto add = []<class T>(T x, T y) { return static_cast<T>(Wrap<T>(x) + Wrap<T>(y)); };
constexpr auto sub = []<class T>(T x, T y) { return static_cast<T>(Wrap<T>(x) - Wrap<T>(y)); };
constexpr auto mul_lo = []<class T>(T x, T y) { return static_cast<T>(Wrap<T>(x) * Wrap<T>(y)); };
constexpr auto mul_hi = []<class T>(T x, T y) {
  return static_cast<T>((Twice<T>(x) * Twice<T>(y)) >> (8 * sizeof(T)));
};
constexpr auto mad_lo = []<class T>(T x, T y, T z) { return add(mul_lo(x, y), z); };
constexpr auto mad_hi = []<class T>(T x, T y, T z) { return add(mul_hi(x, y), z); };
constexpr auto minimum = []<class T>(T x, T y) { return x < y ? x : y; };
constexpr auto maximum = []<class T>(T x, T y) { return x < y ? y : x; };
constexpr auto negate = []<class T>(T x) { return sub(T{0}, x); };
constexpr auto absolute = []<class T>(T x) { return x < 0 ? negate(x) : x; };
constexpr auto sad = []<class T>(T x, T y, T z) { return add(z, x < y ? sub(y, x) : sub(x, y)); };
constexpr auto relu = []<class T>(T x) { return x < 0 ? T{0} : x; };
constexpr auto min_relu = []<class T>(T x, T y) { return relu(minimum(x, y)); };
constexpr auto max_relu = []<class T>(T x, T y) { return relu(maximum(x, y)); };

// Of a division by 0, quotient and remainder.
template <class T>
constexpr T undivided = static_cast<T>(~T{0});

constexpr auto divide = []<class T>(T x, T y) {
  if (y == 0) return undivided<T>;
  if constexpr (std::is_signed_v<T>)
    if (y == -1) return negate(x);
  return static_cast<T>(x / y);
};
constexpr auto remainder = []<class T>(T x, T y) {
  if (y == 0) return undivided<T>;
  if constexpr (std::is_signed_v<T>)
    if (y == -1) return T{0};
  return static_cast<T>(x % y);
};

constexpr std::int32_t clamp32(std::int64_t x) {
  constexpr std::int64_t low = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t high = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(x < low ? low : x > high ? high : x);
}
using S32 = std::int32_t;
using U32 = std::uint32_t;
constexpr auto add_sat = [](S32 x, S32 y) { return clamp32(std::int64_t{x} + y); };
constexpr auto sub_sat = [](S32 x, S32 y) { return clamp32(std::int64_t{x} - y); };
constexpr auto mad_hi_sat = [](S32 x, S32 y, S32 z) {
  return clamp32(std::int64_t{mul_hi(x, y)} + z);
};

// The low 24 bits of a word, as a number of its sign.
template <class T>
constexpr std::int64_t low24(T x) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<S32>(static_cast<U32>(x) << 8) >> 8;
  else
    return x & 0xffffff;
}
constexpr auto mul24_lo = []<class T>(T x, T y) { return static_cast<T>(low24(x) * low24(y)); };
constexpr auto mul24_hi = []<class T>(T x, T y) {
  return static_cast<T>((low24(x) * low24(y)) >> 16);
};
constexpr auto mad24_lo = []<class T>(T x, T y, T z) { return add(mul24_lo(x, y), z); };
constexpr auto mad24_hi = []<class T>(T x, T y, T z) { return add(mul24_hi(x, y), z); };
constexpr auto mad24_hi_sat = [](S32 x, S32 y, S32 z) {
  return clamp32(std::int64_t{mul24_hi(x, y)} + z);
};

template <auto f, class D, class T, int count>
constexpr Evaluate of_count() {
  if constexpr (count == 1) return lanewise<f, D, T>;
  if constexpr (count == 2) return lanewise<f, D, T, T>;
  if constexpr (count == 3) return lanewise<f, D, T, T, T>;
}

// f on both halves of a word.
template <auto f, class T, int count>
constexpr auto halves = [](auto... x) {
  const U32 low = static_cast<std::uint16_t>(f(static_cast<T>(x)...));
  const U32 high = static_cast<std::uint16_t>(f(static_cast<T>(x >> 16)...));
  return high << 16 | low;
};

template <auto f, int count>
Evaluate same(Type type) {
  if (type == Type::U16x2) return of_count<halves<f, std::uint16_t, count>, U32, U32, count>();
  if (type == Type::S16x2) return of_count<halves<f, std::int16_t, count>, U32, U32, count>();
  return for_integer(type, [](auto zero) -> Evaluate {
    return of_count<f, decltype(zero), decltype(zero), count>();
  });
}

// mul and mad .wide: of twice the width.
template <bool adds>
Evaluate wide(Type type) {
  return for_integer(type, [](auto zero) -> Evaluate {
    using T = decltype(zero);
    if constexpr (sizeof(T) == 8) {
      return nullptr;
    } else if constexpr (adds) {
      constexpr auto f = [](T x, T y, Twice<T> z) { return add(Twice<T>(Twice<T>(x) * y), z); };
      return lanewise<f, Twice<T>, T, T, Twice<T>>;
    } else {
      constexpr auto f = [](T x, T y) { return Twice<T>(x) * Twice<T>(y); };
      return lanewise<f, Twice<T>, T, T>;
    }
  });
}

// 4 products of bytes, or 2 of half-words with the bytes from `first` on, added to z.
template <class A, class B, int count, int first>
constexpr auto dot = [](U32 x, U32 y, U32 z) {
  constexpr int width = 32 / count;
  using Half = std::conditional_t<std::is_signed_v<A>, std::int16_t, std::uint16_t>;
  using Left = std::conditional_t<count == 2, Half, A>;
  for (int i = 0; i < count; ++i) {
    const auto left = static_cast<std::int64_t>(static_cast<Left>(x >> (i * width)));
    const auto right = static_cast<std::int64_t>(static_cast<B>(y >> (8 * (first + i))));
    z += static_cast<U32>(left * right);
  }
  return z;
};

template <int count, int first>
Evaluate dots(const ptx::Form& form) {
  const bool a = form.types[0] == Type::S32;
  const bool b = form.types[1] == Type::S32;
  if ((!a && form.types[0] != Type::U32) || (!b && form.types[1] != Type::U32)) return nullptr;
  using S = std::int8_t;
  using U = std::uint8_t;
  if (a)
    return b ? of_count<dot<S, S, count, first>, U32, U32, 3>()
             : of_count<dot<S, U, count, first>, U32, U32, 3>();
  return b ? of_count<dot<U, S, count, first>, U32, U32, 3>()
           : of_count<dot<U, U, count, first>, U32, U32, 3>();
}

Evaluate multiply24(const ptx::Form& form) {
  const Type type = form.types[0];
  const bool high = form.get<Part>() == Part::Hi;
  if (type != Type::U32 && type != Type::S32) return nullptr;
  if (form.opcode == Opcode::Mul24) return high ? same<mul24_hi, 2>(type) : same<mul24_lo, 2>(type);
  if (form.has(ptx::Slot::Saturate))
    return high && type == Type::S32 ? lanewise<mad24_hi_sat, S32, S32, S32, S32> : nullptr;
  return high ? same<mad24_hi, 3>(type) : same<mad24_lo, 3>(type);
}

Evaluate multiply(const ptx::Form& form) {
  const Type type = form.types[0];
  const bool adds = form.opcode == Opcode::Mad;
  if (form.has(ptx::Slot::Saturate)) {
    const bool exists = adds && form.get<Part>() == Part::Hi && type == Type::S32;
    return exists ? lanewise<mad_hi_sat, S32, S32, S32, S32> : nullptr;
  }
  switch (form.get<Part>()) {
    case Part::Wide: return adds ? wide<true>(type) : wide<false>(type);
    case Part::Hi: return adds ? same<mad_hi, 3>(type) : same<mul_hi, 2>(type);
    case Part::Lo: return adds ? same<mad_lo, 3>(type) : same<mul_lo, 2>(type);
    default: return nullptr;
  }
}

Evaluate sum(const ptx::Form& form) {
  const bool is_add = form.opcode == Opcode::Add;
  if (form.has(ptx::Slot::Saturate)) {
    if (form.types[0] != Type::S32) return nullptr;
    return is_add ? lanewise<add_sat, S32, S32, S32> : lanewise<sub_sat, S32, S32, S32>;
  }
  return is_add ? same<add, 2>(form.types[0]) : same<sub, 2>(form.types[0]);
}

Evaluate extreme(const ptx::Form& form) {
  const Type type = form.types[0];
  const bool is_min = form.opcode == Opcode::Min;
  if (form.has(ptx::Flag::Relu)) return is_min ? same<min_relu, 2>(type) : same<max_relu, 2>(type);
  return is_min ? same<minimum, 2>(type) : same<maximum, 2>(type);
}

}  // namespace

Evaluate integer_operation(const ptx::Form& form) {
  const Type type = form.types[0];
  switch (form.opcode) {
    case Opcode::Add:
    case Opcode::Sub: return sum(form);
    case Opcode::Mul:
    case Opcode::Mad: return multiply(form);
    case Opcode::Mul24:
    case Opcode::Mad24: return multiply24(form);
    case Opcode::Div: return same<divide, 2>(type);
    case Opcode::Rem: return same<remainder, 2>(type);
    case Opcode::Min:
    case Opcode::Max: return extreme(form);
    case Opcode::Neg: return same<negate, 1>(type);
    case Opcode::Abs: return same<absolute, 1>(type);
    case Opcode::Sad: return same<sad, 3>(type);
    case Opcode::Dp4a: return dots<4, 0>(form);
    case Opcode::Dp2a: return form.get<Part>() == Part::Hi ? dots<2, 2>(form) : dots<2, 0>(form);
    default: return nullptr;
  }
}

}  // namespace tcq::alu
