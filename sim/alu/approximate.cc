// Functions that a chip approximates: div, rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh with .approx and .full.
//
// The chip's bits: its multi-function unit (sim/num/mufu.h), and round it the products and sums that ptxas 13.0 emits for
// sm_90a. The unit takes subnormals for zero, so without .ftz they are scaled into it and out of it. Of f64 the unit has the
// upper half; rsqrt.approx.f64 refines that twofold. Example: ex2.approx.ftz.f32 of -inf is +0.
//
// Source: PTX ISA 9.2, 9.7.3 "Floating-Point Instructions" and 9.7.4; the machine code of each form
// Measured: tests/vectors/scalar_approx.tcqv
#include <cmath>

#include "sim/alu/families.h"
#include "sim/alu/lanes.h"
#include "sim/alu/odd_double.h"
#include "sim/alu/small_float.h"
#include "sim/num/mufu.h"
#include "sim/num/round.h"

namespace tcq::alu {
namespace {

using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;
using Word = std::uint32_t;

float value(Word word) { return std::bit_cast<float>(word); }
Word word(float x) { return std::bit_cast<Word>(x == x ? x : value(canonical_nan_f32)); }

template <bool flushes>
float product(float x, float y) {
  if (flushes) x = flush(x), y = flush(y);
  const double exact = double{x} * y;
  const float result = to_float<Rounding::Rn>(exact);
  return flushes && is_flushed<Rounding::Rn>(exact) ? std::copysign(0.0F, result) : result;
}

constexpr float least_normal = 0x1p-126F, up = 0x1p24F;
bool is_small(float x) { return std::fabs(x) < least_normal; }  // not so of NaN
bool is_large(float x) { return std::fabs(x) > 0x1p126F; }

template <Word (*function)(Word, const mufu::Format&)>
Word of_unit(Word x) {
  return function(x, mufu::f32);
}

// A root of 2^24 x is 2^12 or 2^-12 times that of x: `back`.
template <Word (*function)(Word)>
Word scaled_root(Word x, float back) {
  if (!is_small(value(x))) return function(x);
  return word(product<false>(value(function(word(product<false>(value(x), up)))), back));
}

template <bool flushes>
Word rcp(Word x) {
  if (flushes) return mufu::rcp(x);
  const float scale = is_large(value(x)) ? 0.25F : is_small(value(x)) ? up : 1.0F;
  return word(product<false>(scale, value(mufu::rcp(word(product<false>(value(x), scale))))));
}

template <bool flushes>
Word sqrt(Word x) {
  return flushes ? mufu::sqrt(x) : scaled_root<mufu::sqrt>(x, 0x1p-12F);
}

template <bool flushes>
Word rsqrt(Word x) {
  return flushes ? mufu::rsqrt(x) : scaled_root<of_unit<mufu::rsqrt>>(x, 0x1p12F);
}

template <bool flushes>
Word lg2(Word x) {
  if (flushes || !is_small(value(x))) return mufu::lg2(x);
  return word(value(mufu::lg2(word(product<false>(value(x), up)))) - 24);
}

template <bool flushes>
Word ex2(Word x) {
  if (flushes || !(value(x) < -126)) return mufu::ex2(x);
  const float root = value(mufu::ex2(word(value(x) * 0.5F)));
  return word(product<false>(root, root));
}

// Of radians: the unit takes turns.
template <Word (*function)(Word)>
Word of_turns(Word x) {
  constexpr float turns = 0x1.45f306p-3F;  // 1 / (2 pi)
  return function(word(to_float<Rounding::Rz>(double{value(x)} * turns)));
}

// .full scales divisors whose reciprocal would be zero.
template <bool flushes, bool is_full>
Word div(Word x, Word y) {
  float dividend = value(x), divisor = value(y);
  const bool is_down = is_full && is_large(divisor), is_up = !flushes && is_small(divisor);
  const float scale = is_down ? 0.25F : up;
  if (is_down || is_up) {
    dividend = product<flushes>(dividend, scale);
    divisor = product<flushes>(divisor, scale);
  }
  return word(product<flushes>(dividend, value(mufu::rcp(word(divisor)))));
}

// ---- f64 ----------------------------------------------------------------------------------------

constexpr int upper_shift = 32;

template <Word (*function)(Word, const mufu::Format&)>
double upper_half(double x) {
  const auto upper = static_cast<Word>(std::bit_cast<std::uint64_t>(x) >> upper_shift);
  return std::bit_cast<double>(std::uint64_t{function(upper, mufu::f64_upper)} << upper_shift);
}

// The unit's root, refined: y + y e (1/2 + 3/8 e) with e = 1 - x y^2.
double refined_rsqrt(double x) {
  const double y = upper_half<mufu::rsqrt>(x);
  const double error = std::fma(x, -(y * y), 1.0);
  return std::fma(std::fma(error, 0.375, 0.5), y * error, y);
}

double rsqrt_f64(double x) {
  if (x == 0) return std::copysign(INFINITY, x);
  if (x != x) return x + x;
  if (x < 0) return std::bit_cast<double>(std::uint64_t{0xfff8} << 48);
  if (std::isinf(x)) return 0;
  return x < 0x1p-1022 ? refined_rsqrt(x * 0x1p54) * 0x1p27 : refined_rsqrt(x);
}

// ---- operations ---------------------------------------------------------------------------------

template <auto f>
void of_one(const Arguments& a) {
  each_lane(a.lanes,
            [&](int lane) { cells<Word>(a.out[0])[lane] = f(cells<Word>(a.in[0])[lane]); });
}

template <auto f>
void of_two(const Arguments& a) {
  each_lane(a.lanes, [&](int lane) {
    cells<Word>(a.out[0])[lane] = f(cells<Word>(a.in[0])[lane], cells<Word>(a.in[1])[lane]);
  });
}

template <double (*f)(double)>
void of_f64(const Arguments& a) {
  each_lane(a.lanes, [&](int lane) {
    cells<double>(a.out[0])[lane] = to_cell(f(value_at<double>(a.in[0], lane)));
  });
}

template <Word (*f)(Word, const mufu::Format&), const mufu::Format& format, int count>
void of_halves(const Arguments& a) {
  each_lane(a.lanes, [&](int lane) {
    const Word in = cells<Word>(a.in[0])[lane];
    Word result = 0;
    for (int i = 0; i < count; ++i) result |= f(in >> (16 * i) & 0xffff, format) << (16 * i);
    cells<Word>(a.out[0])[lane] = result;
  });
}

template <Word (*f)(Word, const mufu::Format&)>
Evaluate halves(Type type) {
  switch (type) {
    case Type::F16: return of_halves<f, mufu::f16, 1>;
    case Type::F16x2: return of_halves<f, mufu::f16, 2>;
    case Type::BF16: return of_halves<f, mufu::bf16, 1>;
    case Type::BF16x2: return of_halves<f, mufu::bf16, 2>;
    default: return nullptr;
  }
}

template <bool flushes>
Evaluate of_f32(const ptx::Form& form) {
  const bool is_full = form.get<ptx::Precision>() != ptx::Precision::Approx;
  switch (form.opcode) {
    case Opcode::Div: return is_full ? of_two<div<flushes, true>> : of_two<div<flushes, false>>;
    case Opcode::Rcp: return of_one<rcp<flushes>>;
    case Opcode::Sqrt: return of_one<sqrt<flushes>>;
    case Opcode::Rsqrt: return of_one<rsqrt<flushes>>;
    case Opcode::Sin: return of_one<of_turns<mufu::sin_of_turns>>;
    case Opcode::Cos: return of_one<of_turns<mufu::cos_of_turns>>;
    case Opcode::Lg2: return of_one<lg2<flushes>>;
    case Opcode::Ex2: return of_one<ex2<flushes>>;
    case Opcode::Tanh: return of_one<of_unit<mufu::tanh>>;
    default: return nullptr;
  }
}

Evaluate of_f64(const ptx::Form& form) {
  const bool flushes = form.has(ptx::Flag::Ftz);
  if (form.get<ptx::Precision>() != ptx::Precision::Approx) return nullptr;
  if (form.opcode == Opcode::Rcp) return flushes ? of_f64<upper_half<mufu::rcp>> : nullptr;
  if (form.opcode != Opcode::Rsqrt) return nullptr;
  return flushes ? of_f64<upper_half<mufu::rsqrt>> : of_f64<rsqrt_f64>;
}

}  // namespace

Evaluate approximate_operation(const ptx::Form& form) {
  const Type type = form.types[0];
  if (type == Type::F64) return of_f64(form);
  if (type == Type::F32) return form.has(ptx::Flag::Ftz) ? of_f32<true>(form) : of_f32<false>(form);
  if (form.opcode == Opcode::Ex2) return halves<mufu::ex2>(type);
  return form.opcode == Opcode::Tanh ? halves<mufu::tanh>(type) : nullptr;
}

}  // namespace tcq::alu
