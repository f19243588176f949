// The activations of a GEMM's epilogue: relu, gelu (the tanh form), silu and gelu_erf of an f32, with the same bits on host
// and device.
//
// Each step is one IEEE operation (add, multiply, fused multiply-add), which nothing may contract, or one of the chip's
// multi-function unit (mufu.h), 2^x and 1 / x. swiglu makes one output of two columns beside each other: silu of the
// even one by the odd one. Not the reference of any instruction. Errors against the real functions: within 5e-7 |x| where |x|
// is at most 12 (gelu 2e-6), and 2^-17 of the result where that is smaller than 2^-100; tests/num/activation_test.cc.
// Example: silu(1) = 0x3f3b26a8.
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

// x times the normal distribution's share below x, q of which lies beyond |x|: e^(-x^2 / 2) times a
// function of s = 1 / (1 + |x| / 4) that a polynomial meets within 1.4e-8.
HOST_DEVICE inline float gelu_erf(float x) {
  using namespace rounded;
  const float a = x < 0.0f ? -x : x;
  const float s = unit::reciprocal(multiply_add(0.25f, a, 1.0f));
  float p = 0.0294926973f;
  p = multiply_add(p, s, -0.171137469f);
  p = multiply_add(p, s, 0.334024763f);
  p = multiply_add(p, s, -0.249225207f);
  p = multiply_add(p, s, 0.231871894f);
  p = multiply_add(p, s, 0.0200274352f);
  p = multiply_add(p, s, 0.107075905f);
  p = multiply_add(p, s, 0.0980442609f);
  p = multiply_add(p, s, 0.099825714f);
  const float e = unit::power_of_two(multiply(multiply(a, a), -0.5f * log2_e));
  const float q = multiply(multiply(p, s), e);
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
