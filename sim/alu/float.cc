// f32 and f64 in every rounding: add, sub, mul, fma, mad, div, rcp, sqrt.
//
// Rounded to nearest the host's operations are those of the chip; the others are rounded from odd doubles
// (odd_double.h). NaN is canonical in f32: 0x7fffffff. .approx and .full are in approximate.cc.
// min, max, neg, abs, and which NaN of f64: float_order.h. f64 in other directions than .rn: double.cc.
//
// Source: PTX ISA 9.2, 9.7.3 "Floating-Point Instructions", 9.7.5 "Mixed Precision Floating Point Instructions"
// Measured: tests/vectors/scalar.tcqv: .ftz flushes what is too small when rounded to 24 bits, however small it is: of
// some results that the bits of a subnormal round up to the smallest normal number; .sat makes +0 of -0
#include "sim/alu/families.h"
#include "sim/alu/float_order.h"
#include "sim/alu/lanes.h"
#include "sim/alu/odd_double.h"
#include "sim/alu/small_float.h"
#include "sim/num/round.h"

namespace tcq::alu {
namespace {

using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;

enum class Compute { Add, Sub, Mul, Fma, Div, Rcp, Sqrt };

template <Compute op, class T>
T nearest(T x, T y, T z) {
  switch (op) {
    case Compute::Add: return x + y;
    case Compute::Sub: return x - y;
    case Compute::Mul: return x * y;
    case Compute::Fma: return std::fma(x, y, z);
    case Compute::Div: return x / y;
    case Compute::Rcp: return 1 / x;
    case Compute::Sqrt: return std::sqrt(x);
  }
}

template <Compute op, Rounding mode>
double odd(double x, double y, double z) {
  switch (op) {
    case Compute::Add: return signed_zero_sum<mode>(x, y);
    case Compute::Sub: return signed_zero_sum<mode>(x, -y);
    case Compute::Mul: return x * y;
    case Compute::Fma: return signed_zero_sum<mode>(x * y, z);
    case Compute::Div: return odd_quotient(x, y);
    case Compute::Rcp: return odd_quotient(1, x);
    case Compute::Sqrt: return odd_root(x);
  }
}

template <bool saturates>
float finished(float x) {
  if (saturates) return x > 0 ? (x < 1 ? x : 1.0F) : 0.0F;
  return x == x ? x : std::bit_cast<float>(canonical_nan_f32);
}

template <Compute op, Rounding mode, bool flushes, bool saturates>
constexpr auto f32 = [](float x, float y, float z) {
  if (flushes) x = flush(x), y = flush(y), z = flush(z);
  // Products with a sum rounded once, which std::fma is only where the host has it.
  constexpr bool is_native = mode == Rounding::Rn && op != Compute::Fma && !flushes;
  if (is_native) return finished<saturates>(nearest<op>(x, y, z));
  const double exact = odd<op, mode>(x, y, z);
  const float result = to_float<mode>(exact);
  const bool is_zero = flushes && is_flushed<mode>(exact);
  return finished<saturates>(is_zero ? std::copysign(0.0F, result) : result);
};

template <Compute op>
constexpr int arity = op == Compute::Fma                          ? 3
                      : op == Compute::Rcp || op == Compute::Sqrt ? 1
                                                                  : 2;

template <auto f, class T, Compute op>
Evaluate of_arity() {
  if constexpr (arity<op> == 3) return lanewise<f, T, T, T, T>;
  if constexpr (arity<op> == 2) return lanewise<[](T x, T y) { return f(x, y, T{0}); }, T, T, T>;
  if constexpr (arity<op> == 1) return lanewise<[](T x) { return f(x, T{0}, T{0}); }, T, T>;
}

template <Compute op, Rounding mode>
Evaluate f32_of(const ptx::Form& form) {
  const bool saturates = form.has(ptx::Slot::Saturate);
  if (form.has(ptx::Flag::Ftz))
    return saturates ? of_arity<f32<op, mode, true, true>, float, op>()
                     : of_arity<f32<op, mode, true, false>, float, op>();
  return saturates ? of_arity<f32<op, mode, false, true>, float, op>()
                   : of_arity<f32<op, mode, false, false>, float, op>();
}

// ---- f64 ----------------------------------------------------------------------------------------

template <Compute op>
constexpr auto f64 = [](double x, double y, double z) {
  const double result = nearest<op>(x, y, z);
  if (result == result) return result;
  const auto word = [](double operand) { return std::bit_cast<std::uint64_t>(operand); };
  const std::uint64_t nan = passed_nan(op == Compute::Div, word(x), word(y), word(z));
  return std::bit_cast<double>(nan != 0 ? nan : invalid_f64);
};

// Two f32 in 64 bits.
template <auto f>
constexpr auto f32x2 = [](auto... x) {
  const auto half = [](std::uint64_t word, int shift) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(word >> shift));
  };
  const auto low = std::bit_cast<std::uint32_t>(f(half(x, 0)...));
  const auto high = std::bit_cast<std::uint32_t>(f(half(x, 32)...));
  return std::uint64_t{high} << 32 | low;
};

template <Compute op, Rounding mode, bool flushes>
Evaluate pair_of() {
  using U64 = std::uint64_t;
  static constexpr auto f = f32<op, mode, flushes, false>;
  if constexpr (arity<op> == 3) return lanewise<f32x2<f>, U64, U64, U64, U64>;
  if constexpr (arity<op> == 2)
    return lanewise<f32x2<[](float x, float y) { return f(x, y, 0.0F); }>, U64, U64, U64>;
  return nullptr;
}

// ---- f32 with a source or two of f16 or bf16, which count as the f32 that they are --------------------

template <Type type>
float half_value(std::uint16_t word) {
  return type == Type::F16 ? f16_value(word) : bf16_value(word);
}

template <Compute op, Rounding mode, bool saturates, Type type>
Evaluate mixed() {
  using Half = std::uint16_t;
  static constexpr auto f = f32<op, mode, false, saturates>;
  if constexpr (op == Compute::Fma)
    return lanewise<[](Half x, Half y, float z) {
      return f(half_value<type>(x), half_value<type>(y), z);
    },
                    float, Half, Half, float>;
  else
    return lanewise<[](Half x, float y) { return f(half_value<type>(x), y, 0.0F); }, float, Half,
                    float>;
}

template <Compute op, Rounding mode>
Evaluate mixed_of(const ptx::Form& form) {
  const bool is_f16 = form.types[1] == Type::F16;
  if (form.has(ptx::Slot::Saturate))
    return is_f16 ? mixed<op, mode, true, Type::F16>() : mixed<op, mode, true, Type::BF16>();
  return is_f16 ? mixed<op, mode, false, Type::F16>() : mixed<op, mode, false, Type::BF16>();
}

template <Compute op>
Evaluate of_mixed_types(const ptx::Form& form) {
  const bool has_half = form.types[1] == Type::F16 || form.types[1] == Type::BF16;
  const bool is_plain = !form.has(ptx::Flag::Ftz) && !form.has(ptx::Flag::Relu) &&
                        form.get<ptx::Saturate>() != ptx::Saturate::Satfinite;
  if (form.types[0] != Type::F32 || !has_half || !is_plain) return nullptr;
  switch (form.get<Rounding>()) {
    case Rounding::None:  // of fma PTX demands one
      return op == Compute::Fma ? nullptr : mixed_of<op, Rounding::Rn>(form);
    case Rounding::Rn: return mixed_of<op, Rounding::Rn>(form);
    case Rounding::Rz: return mixed_of<op, Rounding::Rz>(form);
    case Rounding::Rm: return mixed_of<op, Rounding::Rm>(form);
    case Rounding::Rp: return mixed_of<op, Rounding::Rp>(form);
    default: return nullptr;
  }
}

Evaluate mixed_operation(const ptx::Form& form) {
  switch (form.opcode) {
    case Opcode::Add: return of_mixed_types<Compute::Add>(form);
    case Opcode::Sub: return of_mixed_types<Compute::Sub>(form);
    case Opcode::Fma: return of_mixed_types<Compute::Fma>(form);
    default: return nullptr;
  }
}

template <Compute op>
Evaluate of_type(const ptx::Form& form) {
  Rounding mode = form.get<Rounding>();
  if (mode == Rounding::None) mode = Rounding::Rn;
  if (form.types[0] == Type::F64)
    return mode == Rounding::Rn && !form.has(ptx::Slot::Saturate) ? of_arity<f64<op>, double, op>()
                                                                  : nullptr;
  const bool pairs = form.types[0] == Type::F32x2;
  const bool flushes = form.has(ptx::Flag::Ftz);
  if (!pairs && form.types[0] != Type::F32) return nullptr;
  switch (mode) {
    case Rounding::Rn:
      if (!pairs) return f32_of<op, Rounding::Rn>(form);
      return flushes ? pair_of<op, Rounding::Rn, true>() : pair_of<op, Rounding::Rn, false>();
    case Rounding::Rz:
      if (!pairs) return f32_of<op, Rounding::Rz>(form);
      return flushes ? pair_of<op, Rounding::Rz, true>() : pair_of<op, Rounding::Rz, false>();
    case Rounding::Rm:
      if (!pairs) return f32_of<op, Rounding::Rm>(form);
      return flushes ? pair_of<op, Rounding::Rm, true>() : pair_of<op, Rounding::Rm, false>();
    case Rounding::Rp:
      if (!pairs) return f32_of<op, Rounding::Rp>(form);
      return flushes ? pair_of<op, Rounding::Rp, true>() : pair_of<op, Rounding::Rp, false>();
    default: return nullptr;
  }
}

}  // namespace

Evaluate float_operation(const ptx::Form& form) {
  if (form.has(ptx::Slot::Precision) || form.type_count > 2) return nullptr;
  if (form.type_count == 2) return mixed_operation(form);
  switch (form.opcode) {
    case Opcode::Add: return of_type<Compute::Add>(form);
    case Opcode::Sub: return of_type<Compute::Sub>(form);
    case Opcode::Mul: return of_type<Compute::Mul>(form);
    case Opcode::Fma:
    case Opcode::Mad: return of_type<Compute::Fma>(form);
    case Opcode::Div: return of_type<Compute::Div>(form);
    case Opcode::Rcp: return of_type<Compute::Rcp>(form);
    case Opcode::Sqrt: return of_type<Compute::Sqrt>(form);
    default: return nullptr;
  }
}

}  // namespace tcq::alu
