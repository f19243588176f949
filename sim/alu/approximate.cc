// Functions that the chip approximates: div, rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh with .approx and .full.
//
// Not the chip's bits: the correctly rounded result, from doubles, with the special values and the flushing that PTX
// says. `bound` is how far the chip may be from it. Example: ex2.approx.ftz.f32 of -inf is +0.
//
// Source: PTX ISA 9.2, 9.7.3 "Floating-Point Instructions", the table of each instruction
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

struct Row {
  Opcode opcode;
  Evaluate (*of)(const ptx::Form&);
  const char* bound;
};
constexpr std::array rows = {
    Row{Opcode::Div, of_type<Function::Div>, "2 ulp"},
    Row{Opcode::Rcp, of_type<Function::Rcp>, "1 ulp"},
    Row{Opcode::Sqrt, of_type<Function::Sqrt>, "2^-23 relative"},
    Row{Opcode::Rsqrt, of_type<Function::Rsqrt>, "2^-22.9 relative"},
    Row{Opcode::Sin, of_type<Function::Sin>, "2^-20.5 absolute in [-2 pi, 2 pi]"},
    Row{Opcode::Cos, of_type<Function::Cos>, "2^-20.5 absolute in [-2 pi, 2 pi]"},
    Row{Opcode::Lg2, of_type<Function::Lg2>, "2^-22 absolute in [0.5, 2], else relative"},
    Row{Opcode::Ex2, of_type<Function::Ex2>, "2^-22 relative"},
    Row{Opcode::Tanh, of_type<Function::Tanh>, "2^-11 relative"},
};

}  // namespace

Operation approximate_operation(const ptx::Form& form) {
  for (const Row& row : rows)
    if (row.opcode == form.opcode && form.has(ptx::Slot::Precision))
      if (const Evaluate found = row.of(form)) return {found, true, row.bound};
  return {};
}

}  // namespace tcq::alu
