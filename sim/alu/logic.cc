// Logic and shifts, of words and of predicates.
//
// Source: PTX ISA 9.2, 9.7.8 "Logic and Shift Instructions"
#include "sim/alu/families.h"
#include "sim/alu/lanes.h"

namespace tcq::alu {
namespace {

using ptx::BoolOp;
using ptx::Clamp;
using ptx::Direction;
using ptx::Opcode;
using ptx::Type;
using U32 = std::uint32_t;

constexpr auto both = []<class T>(T x, T y) { return static_cast<T>(x & y); };
constexpr auto either = []<class T>(T x, T y) { return static_cast<T>(x | y); };
constexpr auto differ = []<class T>(T x, T y) { return static_cast<T>(x ^ y); };
constexpr auto invert = []<class T>(T x) { return static_cast<T>(~x); };
constexpr auto is_zero = []<class T>(T x) { return static_cast<T>(x == 0); };

// A shift by the width and more leaves zeros, or copies of the sign.
constexpr auto shift_left = []<class T>(T x, U32 by) {
  constexpr U32 width = 8 * sizeof(T);
  return by >= width ? T{0} : static_cast<T>(static_cast<Wrap<T>>(x) << (by % width));
};
constexpr auto shift_right = []<class T>(T x, U32 by) {
  constexpr U32 width = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>) return static_cast<T>(x >> (by >= width ? width - 1 : by));
  return by >= width ? T{0} : static_cast<T>(x >> (by % width));
};

template <auto f>
void predicate2(const Arguments& a) {
  write_mask(a.out[0], f(mask_at(a.in[0]), mask_at(a.in[1])), a.lanes);
}
template <auto f>
void predicate1(const Arguments& a) {
  write_mask(a.out[0], f(mask_at(a.in[0])), a.lanes);
}

template <auto f>
Evaluate binary(Type type) {
  if (type == Type::Pred) return predicate2<f>;
  return for_width(type, [](auto zero) -> Evaluate {
    using T = decltype(zero);
    return lanewise<f, T, T, T>;
  });
}

template <auto f>
Evaluate unary(Type type) {
  return for_width(type, [](auto zero) -> Evaluate {
    using T = decltype(zero);
    return lanewise<f, T, T>;
  });
}

template <auto f>
Evaluate shift(Type type) {
  return for_integer(type, [](auto zero) -> Evaluate {
    using T = decltype(zero);
    return lanewise<f, T, T, U32>;
  });
}

template <bool left, bool clamps>
constexpr auto funnel = [](U32 low, U32 high, U32 by) {
  const U32 n = clamps ? (by < 32 ? by : 32) : by % 32;
  const std::uint64_t word = std::uint64_t{high} << 32 | low;
  return static_cast<U32>(left ? word >> (32 - n) : word >> n);
};

Evaluate funnel_shift(const ptx::Form& form) {
  if (form.types[0] != Type::B32) return nullptr;
  const bool clamps = form.get<Clamp>() == Clamp::Clamp;
  if (form.get<Direction>() == Direction::Left)
    return clamps ? lanewise<funnel<true, true>, U32, U32, U32, U32>
                  : lanewise<funnel<true, false>, U32, U32, U32, U32>;
  return clamps ? lanewise<funnel<false, true>, U32, U32, U32, U32>
                : lanewise<funnel<false, false>, U32, U32, U32, U32>;
}

// Bit 4 a + 2 b + c of the table says what a, b, c become.
constexpr auto by_table = [](U32 a, U32 b, U32 c, U32 table) {
  U32 result = 0;
  for (U32 i = 0; i < 8; ++i) {
    const U32 hits = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    result |= hits & (0 - (table >> i & 1));
  }
  return result;
};

void lop3(const Arguments& a) { lanewise<by_table, U32, U32, U32, U32, U32>(a); }

// d|p with a predicate: whether d is not 0, and another predicate.
template <BoolOp combine>
void lop3_with_predicate(const Arguments& a) {
  const U32 other = mask_at(a.in[4]);
  const U32 hits = lanes_where<[](U32 x, U32 y, U32 z, U32 t) { return by_table(x, y, z, t) != 0; },
                               U32, U32, U32, U32>(a);
  lop3(a);
  const U32 mask = combine == BoolOp::And ? hits & other : hits | other;
  if (a.outs > 1) write_mask(a.out[1], mask, a.lanes);
}

Evaluate lop3_of(const ptx::Form& form) {
  if (form.types[0] != Type::B32) return nullptr;
  switch (form.get<BoolOp>()) {
    case BoolOp::None: return lop3;
    case BoolOp::And: return lop3_with_predicate<BoolOp::And>;
    case BoolOp::Or: return lop3_with_predicate<BoolOp::Or>;
    default: return nullptr;
  }
}

}  // namespace

Evaluate logic_operation(const ptx::Form& form) {
  const Type type = form.types[0];
  switch (form.opcode) {
    case Opcode::And: return binary<both>(type);
    case Opcode::Or: return binary<either>(type);
    case Opcode::Xor: return binary<differ>(type);
    case Opcode::Not: return type == Type::Pred ? predicate1<invert> : unary<invert>(type);
    case Opcode::Cnot: return unary<is_zero>(type);
    case Opcode::Shl: return shift<shift_left>(type);
    case Opcode::Shr: return shift<shift_right>(type);
    case Opcode::Shf: return funnel_shift(form);
    case Opcode::Lop3: return lop3_of(form);
    default: return nullptr;
  }
}

}  // namespace tcq::alu
