// Functions that the chip approximates: div, rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh with .approx and .full.
//
// Not the chip's bits: the correctly rounded result, from doubles, with the special values and the flushing that PTX
// says. `bound` is how far the chip may be from it, distance() how far a word is. Example: ex2.approx.ftz.f32 of -inf
// is +0.
//
// Source: PTX ISA 9.2, 9.7.3 "Floating-Point Instructions" and 9.7.4, the tables and the text of each instruction
// Measured: tests/vectors/scalar_approx.tcqv; bounds that an H200 exceeds are those that it keeps, and say so
#include <algorithm>
#include <array>
#include <cmath>

#include "sim/alu/families.h"
#include "sim/alu/lanes.h"
#include "sim/alu/small_float.h"
#include "sim/num/narrow.h"

namespace tcq::alu {
namespace {

using ptx::Opcode;
using ptx::Type;

enum class Function { Div, Rcp, Sqrt, Rsqrt, Sin, Cos, Lg2, Ex2, Tanh };

template <Function function>
double exact(double x, double y) {
  switch (function) {
    case Function::Div: return x / y;
    case Function::Rcp: return 1 / x;
    case Function::Sqrt: return std::sqrt(x);
    case Function::Rsqrt: return 1 / std::sqrt(x);
    case Function::Sin: return std::sin(x);
    case Function::Cos: return std::cos(x);
    case Function::Lg2: return std::log2(x);
    case Function::Ex2: return std::exp2(x);
    case Function::Tanh: return std::tanh(x);
  }
}

template <Function function, bool flushes>
float approximated(float x, float y) {
  if (flushes) x = flush(x), y = flush(y);
  const auto result = static_cast<float>(exact<function>(x, y));
  if (result != result) return std::bit_cast<float>(canonical_nan_f32);
  return flushes ? flush(result) : result;
}

// div.approx multiplies by a reciprocal that is zero where the divisor is beyond 2^126: infinity times that is NaN.
float divisor(float y) {
  const bool is_large = std::fabs(y) > 0x1p126F && std::isfinite(y);
  return is_large ? std::copysign(INFINITY, y) : y;
}

template <Function function, bool flushes, bool multiplies>
void f32(const Arguments& a) {
  each_lane(a.lanes, [&](int lane) {
    float y = function == Function::Div ? value_at<float>(a.in[1], lane) : 0.0F;
    if (multiplies) y = divisor(y);
    const float result = approximated<function, flushes>(value_at<float>(a.in[0], lane), y);
    cells<float>(a.out[0])[lane] = to_cell(result);
  });
}

template <Function function, tcq::Type type, int count, bool flushes>
void halves(const Arguments& a) {
  each_lane(a.lanes, [&](int lane) {
    const std::uint32_t word = cells<std::uint32_t>(a.in[0])[lane];
    std::uint32_t result = 0;
    for (int i = 0; i < count; ++i) {
      const std::uint32_t part = word >> (16 * i) & 0xffff;
      const float x = type == tcq::Type::f16 ? f16_value(part) : bf16_value(part);
      const float y = approximated<function, flushes>(x, 0);
      result |= narrow(type, std::bit_cast<std::uint32_t>(y)) << (16 * i);
    }
    cells<std::uint32_t>(a.out[0])[lane] = result;
  });
}

// Subnormals of bf16 are those of f32.
template <Function function, int count>
Evaluate bf16(bool flushes) {
  return flushes ? halves<function, tcq::Type::bf16, count, true>
                 : halves<function, tcq::Type::bf16, count, false>;
}

template <Function function>
Evaluate of_type(const ptx::Form& form) {
  const bool has_halves = function == Function::Ex2 || function == Function::Tanh;
  const bool flushes = form.has(ptx::Flag::Ftz);
  if (form.types[0] == Type::F32 && function == Function::Div &&
      form.get<ptx::Precision>() == ptx::Precision::Approx)
    return flushes ? f32<function, true, true> : f32<function, false, true>;
  if (form.types[0] == Type::F32)
    return flushes ? f32<function, true, false> : f32<function, false, false>;
  if constexpr (has_halves) {
    switch (form.types[0]) {
      case Type::F16: return halves<function, tcq::Type::f16, 1, false>;
      case Type::F16x2: return halves<function, tcq::Type::f16, 2, false>;
      case Type::BF16: return bf16<function, 1>(flushes);
      case Type::BF16x2: return bf16<function, 2>(flushes);
      default: break;
    }
  }
  return nullptr;
}

// ---- how far the chip may be --------------------------------------------------------------------

enum class Measure : std::uint8_t { Ulp, Relative, Absolute };
struct Bound {
  Measure measure;
  double value;
  const char* text;
};

constexpr double two_pi = 6.283185307179586;

Bound bound_of(Function function, Type type) {
  using enum Measure;
  const bool is_f16 = type == Type::F16 || type == Type::F16x2;
  const bool is_f32 = type == Type::F32;
  switch (function) {
    case Function::Div: return {Ulp, 2.04, "2.04 ulp (measured; PTX says 2)"};
    case Function::Rcp: return {Ulp, 1, "1 ulp"};
    case Function::Sqrt: return {Relative, 0x1p-23, "2^-23 relative"};
    case Function::Rsqrt: return {Relative, std::exp2(-22.9), "2^-22.9 relative"};
    case Function::Sin: return {Absolute, std::exp2(-20.5), "2^-20.5 absolute in [-2 pi, 2 pi]"};
    case Function::Cos:
      return {Absolute, std::exp2(-20.43),
              "2^-20.43 absolute in [-2 pi, 2 pi] (measured; PTX says 2^-20.5)"};
    case Function::Lg2: return {Relative, 0x1p-22, "2^-22 absolute in [0.5, 2], else relative"};
    case Function::Ex2:
      if (is_f32) return {Relative, 0x1p-22, "2^-22 relative, 1.5 ulp if subnormal (measured)"};
      return is_f16 ? Bound{Relative, std::exp2(-9.9), "2^-9.9 relative"}
                    : Bound{Relative, 0x1p-7, "2^-7 relative"};
    case Function::Tanh: break;
  }
  if (is_f32) return {Relative, 0x1p-11, "2^-11 relative"};
  return is_f16 ? Bound{Absolute, std::exp2(-10.987), "2^-10.987 absolute"}
                : Bound{Absolute, std::exp2(-7.999), "2^-7.999 absolute (measured; PTX says 2^-8)"};
}

// What a format can tell apart: its fraction, its smallest normal number, its largest one.
struct Range {
  int fraction_bits, least_exponent;
  double largest;
};
constexpr Range range_of(Type type) {
  if (type == Type::F16 || type == Type::F16x2) return {10, -14, 65504};
  if (type == Type::BF16 || type == Type::BF16x2) return {7, -126, 0x1.fep127};
  return {23, -126, 0x1.fffffep127};
}

double ulp_at(double x, const Range& range) {
  const int exponent = x == 0 ? range.least_exponent : std::ilogb(x);
  return std::ldexp(1, std::max(exponent, range.least_exponent) - range.fraction_bits);
}

// 0: nothing is promised.
template <Function function>
double tolerance(double x, double want, Type type) {
  const Bound bound = bound_of(function, type);
  const Range range = range_of(type);
  const bool has_period = function == Function::Sin || function == Function::Cos;
  if (has_period && std::fabs(x) > two_pi) return 0;
  if (bound.measure == Measure::Ulp) return bound.value * ulp_at(want, range);
  const bool is_absolute =
      bound.measure == Measure::Absolute || (function == Function::Lg2 && x >= 0.5 && x <= 2);
  // Subnormals are no nearer to one another; ex2.approx.f32 rounds them twice.
  const bool is_twice = function == Function::Ex2 && type == Type::F32;
  const double least = ulp_at(0, range) * (is_twice ? 1.5 : 1);
  return is_absolute ? bound.value : std::max(bound.value * std::fabs(want), least);
}

template <Function function>
double distance_of(float x, float y, float got, Type type, bool flushes) {
  if (flushes) x = flush(x), y = flush(y);
  const double want = exact<function>(x, y);
  if (want != want || got != got) return (want != want) == (got != got) ? 0 : INFINITY;
  const double allowed = tolerance<function>(x, want, type);
  if (allowed == 0 || got == want) return 0;
  const Range range = range_of(type);
  const double least_normal = std::ldexp(1, range.least_exponent);
  const double size = std::fabs(want);
  const bool is_flushed = flushes && got == 0 && size < least_normal + allowed;
  if (is_flushed) return std::signbit(got) == std::signbit(want) ? 0 : INFINITY;
  if (std::isinf(got) && !std::isinf(want)) {
    const bool may = size + allowed >= range.largest + ulp_at(range.largest, range) / 2;
    return may && (got > 0) == (want > 0) ? 1 : INFINITY;
  }
  if (std::isinf(want)) return INFINITY;
  return std::fabs(got - want) / allowed;
}

template <Function function, bool flushes, bool multiplies>
double distance_f32(const std::uint32_t* in, std::uint32_t got) {
  const float x = std::bit_cast<float>(in[0]);
  float y = function == Function::Div ? std::bit_cast<float>(in[1]) : 0.0F;
  if (multiplies) y = divisor(y);
  return distance_of<function>(x, y, std::bit_cast<float>(got), Type::F32, flushes);
}

template <Function function, Type type, int count, bool flushes>
double distance_halves(const std::uint32_t* in, std::uint32_t got) {
  constexpr bool is_f16 = type == Type::F16;
  double worst = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t x = in[0] >> (16 * i) & 0xffff;
    const std::uint32_t y = got >> (16 * i) & 0xffff;
    const double here = distance_of<function>(is_f16 ? f16_value(x) : bf16_value(x), 0,
                                              is_f16 ? f16_value(y) : bf16_value(y), type, flushes);
    worst = std::max(worst, here);
  }
  return worst;
}

using Distance = double (*)(const std::uint32_t*, std::uint32_t);

template <Function function>
Distance distance(const ptx::Form& form) {
  const bool flushes = form.has(ptx::Flag::Ftz);
  switch (form.types[0]) {
    case Type::F16: return distance_halves<function, Type::F16, 1, false>;
    case Type::F16x2: return distance_halves<function, Type::F16, 2, false>;
    case Type::BF16:
      return flushes ? distance_halves<function, Type::BF16, 1, true>
                     : distance_halves<function, Type::BF16, 1, false>;
    case Type::BF16x2:
      return flushes ? distance_halves<function, Type::BF16, 2, true>
                     : distance_halves<function, Type::BF16, 2, false>;
    default: break;
  }
  if (function == Function::Div && form.get<ptx::Precision>() == ptx::Precision::Approx)
    return flushes ? distance_f32<function, true, true> : distance_f32<function, false, true>;
  return flushes ? distance_f32<function, true, false> : distance_f32<function, false, false>;
}

template <Function function>
Operation of_function(const ptx::Form& form) {
  const Evaluate found = of_type<function>(form);
  if (found == nullptr) return {};
  return {found, true, bound_of(function, form.types[0]).text, distance<function>(form)};
}

struct Row {
  Opcode opcode;
  Operation (*of)(const ptx::Form&);
};
constexpr std::array rows = {
    Row{Opcode::Div, of_function<Function::Div>},
    Row{Opcode::Rcp, of_function<Function::Rcp>},
    Row{Opcode::Sqrt, of_function<Function::Sqrt>},
    Row{Opcode::Rsqrt, of_function<Function::Rsqrt>},
    Row{Opcode::Sin, of_function<Function::Sin>},
    Row{Opcode::Cos, of_function<Function::Cos>},
    Row{Opcode::Lg2, of_function<Function::Lg2>},
    Row{Opcode::Ex2, of_function<Function::Ex2>},
    Row{Opcode::Tanh, of_function<Function::Tanh>},
};

}  // namespace

Operation approximate_operation(const ptx::Form& form) {
  for (const Row& row : rows)
    if (row.opcode == form.opcode) return row.of(form);
  return {};
}

}  // namespace tcq::alu
