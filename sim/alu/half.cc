// Arithmetic of f16 and bf16, single and in pairs: add, sub, mul, fma, rounded once to nearest.
//
// Computed in doubles rounded to odd (odd_double.h), brought to f32 the same way and narrowed by sim/num/narrow.h.
// min, max, neg and abs: float_order.cc.
//
// Source: PTX ISA 9.2, 9.7.4 "Half Precision Floating-Point Instructions"
// Measured: tests/vectors/scalar.tcqv: .relu and .sat make +0 of -0; .ftz flushes what is too small when rounded
// to 11 bits, however small it is, as in float.cc
#include "sim/alu/families.h"
#include "sim/alu/lanes.h"
#include "sim/alu/odd_double.h"
#include "sim/alu/small_float.h"
#include "sim/num/narrow.h"

namespace tcq::alu {
namespace {

using ptx::Opcode;
using ptx::Saturate;
using U32 = std::uint32_t;

enum class Compute { Add, Sub, Mul, Fma };
enum class Bound { None, Relu, Sat };

template <Type type>
float value_of(U32 word) {
  return type == Type::f16 ? f16_value(word) : bf16_value(word);
}

template <Type type>
U32 flushed(U32 word) {
  constexpr U32 exponent = type == Type::f16 ? 0x7c00 : 0x7f80;
  return (word & exponent) == 0 ? word & 0x8000 : word;
}

template <Compute op>
double odd(double x, double y, double z) {
  switch (op) {
    case Compute::Add: return odd_sum(x, y);
    case Compute::Sub: return odd_sum(x, -y);
    case Compute::Mul: return x * y;
    case Compute::Fma: return odd_sum(x * y, z);
  }
}

template <Type type, Compute op, Bound bound, bool flushes>
U32 element(U32 x, U32 y, U32 z) {
  if (flushes) x = flushed<type>(x), y = flushed<type>(y), z = flushed<type>(z);
  const double exact = odd<op>(value_of<type>(x), value_of<type>(y), value_of<type>(z));
  const bool is_nan = exact != exact;
  if (bound == Bound::Sat && is_nan) return 0;
  if (bound != Bound::None && !is_nan && !(exact > 0)) return 0;
  constexpr U32 one = type == Type::f16 ? 0x3c00 : 0x3f80;
  if (bound == Bound::Sat && exact > 1) return one;
  const U32 result = narrow(type, std::bit_cast<U32>(to_odd_float(exact)));
  // Half a step of 11 or 8 bits below the smallest normal number, a tie.
  constexpr double least = type == Type::f16 ? 0x1.ffep-15 : 0x1.ffp-127;
  return flushes && std::fabs(exact) < least ? result & 0x8000 : result;
}

template <Type type, Compute op, Bound bound, bool flushes, bool is_pair>
void half(const Arguments& a) {
  each_lane(a.lanes, [&](int lane) {
    const U32 x = cells<U32>(a.in[0])[lane];
    const U32 y = cells<U32>(a.in[1])[lane];
    const U32 z = op == Compute::Fma ? cells<U32>(a.in[2])[lane] : 0;
    constexpr U32 low = 0xffff;
    U32 result = element<type, op, bound, flushes>(x & low, y & low, z & low);
    if (is_pair) result |= element<type, op, bound, flushes>(x >> 16, y >> 16, z >> 16) << 16;
    cells<U32>(a.out[0])[lane] = result;
  });
}

template <Type type, Compute op, Bound bound, bool is_pair>
Evaluate with_flush(const ptx::Form& form) {
  return form.has(ptx::Flag::Ftz) ? half<type, op, bound, true, is_pair>
                                  : half<type, op, bound, false, is_pair>;
}

template <Type type, Compute op, bool is_pair>
Evaluate with_bound(const ptx::Form& form) {
  if (form.has(ptx::Flag::Relu)) return with_flush<type, op, Bound::Relu, is_pair>(form);
  if (form.get<Saturate>() == Saturate::Sat) return with_flush<type, op, Bound::Sat, is_pair>(form);
  return with_flush<type, op, Bound::None, is_pair>(form);
}

template <Compute op>
Evaluate of_type(const ptx::Form& form) {
  switch (form.types[0]) {
    case ptx::Type::F16: return with_bound<Type::f16, op, false>(form);
    case ptx::Type::BF16: return with_bound<Type::bf16, op, false>(form);
    case ptx::Type::F16x2: return with_bound<Type::f16, op, true>(form);
    case ptx::Type::BF16x2: return with_bound<Type::bf16, op, true>(form);
    default: return nullptr;
  }
}

}  // namespace

Evaluate half_operation(const ptx::Form& form) {
  const auto mode = form.get<ptx::Rounding>();
  const bool is_nearest = mode == ptx::Rounding::None || mode == ptx::Rounding::Rn;
  if (!is_nearest || form.type_count > 1 || form.has(ptx::Flag::Oob)) return nullptr;
  switch (form.opcode) {
    case Opcode::Add: return of_type<Compute::Add>(form);
    case Opcode::Sub: return of_type<Compute::Sub>(form);
    case Opcode::Mul: return of_type<Compute::Mul>(form);
    case Opcode::Fma: return of_type<Compute::Fma>(form);
    default: return nullptr;
  }
}

}  // namespace tcq::alu
