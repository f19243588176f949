// The activations of a GEMM's epilogue: relu, gelu (the tanh form), silu and gelu_erf of an f32, with the same bits on host
// and device.
//
// Each step is one IEEE operation (add, multiply, fused multiply-add), which nothing may contract, or one of the chip's
// multi-function unit (mufu.h), 2^x and 1 / x. swiglu makes one output of two columns beside each other: silu of the
// even one by the odd one. Not the reference of any instruction. Errors where |x| is at most 12 (tests/num/activation_test.cc):
// silu and gelu within 2e-7 |x|, silu also 2^-19 and gelu_erf 5e-7 of the result. A share of x below 2^-126 is 0. Example:
// silu(1) = 0x3f3b26a8.
//
// Source: gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), silu(x) = x / (1 + e^-x), gelu_erf(x) = x / 2 * (1 +
// erf(x / sqrt(2)))
// Inferred: that an sm_100 has these bits, too, whose unit was not asked
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/num/mufu.h"

namespace tcq {

enum class Activation : std::uint8_t { None, Relu, Gelu, Silu, GeluErf, Swiglu };
inline constexpr int activation_count = 6;

// D has half as many columns as the product.
HOST_DEVICE constexpr bool is_gated(Activation activation) {
  return activation == Activation::Swiglu;
}

HOST_DEVICE constexpr const char* name(Activation activation) {
  switch (activation) {
    case Activation::None: return "none";
    case Activation::Relu: return "relu";
    case Activation::Gelu: return "gelu";
    case Activation::Silu: return "silu";
    case Activation::GeluErf: return "gelu_erf";
    case Activation::Swiglu: return "swiglu";
  }
  return "?";
}

// One IEEE operation each, rounded to nearest even.
namespace rounded {

HOST_DEVICE inline float multiply(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

HOST_DEVICE inline float add(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}

HOST_DEVICE inline float divide(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fdiv_rn(a, b);
#else
  return a / b;
#endif
}

HOST_DEVICE inline float multiply_add(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

}  // namespace rounded

// One operation of the multi-function unit each.
namespace unit {

HOST_DEVICE inline float power_of_two(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return __builtin_bit_cast(float, mufu::ex2(__builtin_bit_cast(std::uint32_t, x)));
#endif
}

HOST_DEVICE inline float reciprocal(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return __builtin_bit_cast(float, mufu::rcp(__builtin_bit_cast(std::uint32_t, x)));
#endif
}

}  // namespace unit

inline constexpr float log2_e = 1.44269502f;

// silu(x) and gelu(x) are x / (1 + 2^(x slope)), as x / 2 * (1 + tanh(u / 2)) is x / (1 + e^-u). Beyond the largest power
// the share of x is 0.
HOST_DEVICE inline float logistic(float x, float slope) {
  const float power = unit::power_of_two(rounded::multiply(x, slope));
  return rounded::multiply(x, unit::reciprocal(rounded::add(1.0f, power)));
}

inline constexpr float silu_slope = -log2_e;

HOST_DEVICE inline float gelu_slope(float x) {
  constexpr float linear = -2.30220819f;  // -log2(e) sqrt(8 / pi)
  constexpr float cubic = -0.102943241f;  // 0.044715 times that
  return rounded::multiply_add(rounded::multiply(x, x), cubic, linear);
}

HOST_DEVICE inline float silu(float x) { return logistic(x, silu_slope); }
HOST_DEVICE inline float gelu(float x) { return logistic(x, gelu_slope(x)); }

// 2^(c t^2) for c = -log2(e) / 2 in two parts: what rounding takes off the exponent is a factor.
HOST_DEVICE inline float half_gaussian(float t) {
  using namespace rounded;
  constexpr float c = -0.5f * log2_e, c_low = -0.5f * 1.92596299e-8f, ln_2 = 0.693147182f;
  const float square = multiply(t, t);
  const float power = multiply(square, c);
  float lost = multiply_add(square, c, -power);
  lost = multiply_add(square, c_low, lost);
  lost = multiply_add(multiply_add(t, t, -square), c, lost);
  const float e = unit::power_of_two(power);
  return multiply_add(e, multiply(lost, ln_2), e);
}

// x times the normal distribution's share below x, q of which lies beyond |x|: e^(-x^2 / 2) times a
// function of s = 1 / (1 + |x| / 4) that a polynomial meets within 1.4e-8. The unit's s takes a Newton step.
HOST_DEVICE inline float gelu_erf(float x) {
  using namespace rounded;
  constexpr float beyond = 15.0f;  // nothing is left
  const float a = x < 0.0f ? -x : x;
  const float t = a < beyond ? a : beyond;
  const float y = multiply_add(0.25f, t, 1.0f);
  const float near = unit::reciprocal(y);
  const float s = multiply_add(near, multiply_add(-y, near, 1.0f), near);
  float p = 0.0294926973f;
  p = multiply_add(p, s, -0.171137469f);
  p = multiply_add(p, s, 0.334024763f);
  p = multiply_add(p, s, -0.249225207f);
  p = multiply_add(p, s, 0.231871894f);
  p = multiply_add(p, s, 0.0200274352f);
  p = multiply_add(p, s, 0.107075905f);
  p = multiply_add(p, s, 0.0980442609f);
  p = multiply_add(p, s, 0.099825714f);
  const float q = multiply(multiply(p, s), half_gaussian(t));
  return multiply(x, x < 0.0f ? q : add(1.0f, -q));
}

HOST_DEVICE inline float swiglu(float gate, float value) {
  return rounded::multiply(silu(gate), value);
}

// Of one column. Requires: !is_gated(activation).
HOST_DEVICE inline float activate(Activation activation, float x) {
  switch (activation) {
    case Activation::None: return x;
    case Activation::Relu: return x < 0.0f ? 0.0f : x;
    case Activation::Gelu: return gelu(x);
    case Activation::Silu: return silu(x);
    case Activation::GeluErf: return gelu_erf(x);
    case Activation::Swiglu: break;
  }
  return x;
}

}  // namespace tcq
