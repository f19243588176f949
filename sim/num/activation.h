// The activations of a GEMM's epilogue, made of correctly rounded operations only.
//
// relu, gelu (the tanh form), silu and gelu_erf of an f32, with the same bits on every host and device:
// each step is one IEEE operation (add, multiply, fused multiply-add), and nothing may contract
// two of them. swiglu makes one output of two columns beside each other: silu of the even one by the odd
// one. Not the reference of any instruction: wgmma knows none of this. Errors against the real functions
// are a few units in the last place; see tests/num/activation_test.cc. Example: silu(1) = 0x3f3b26a8.
//
// Source: gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), silu(x) = x / (1 +
// e^-x), gelu_erf(x) = x / 2 * (1 + erf(x / sqrt(2))).
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/isa/base/host_device.h"

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

// The limits of exponential().
inline constexpr float exponent_limit = 87.0f;

// e^x for -87 <= x <= 88, as 2^n times 2^f with |f| at most a half. Without a branch.
HOST_DEVICE inline float exponential(float x) {
  constexpr float log2_e = 1.44269502f;
  constexpr float log2_e_low = 1.92596299e-8f;
  constexpr float to_integer = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = multiply_add(x, log2_e, to_integer);
  const float n = add(shifted, -to_integer);
  const float f = multiply_add(x, log2_e_low, multiply_add(x, log2_e, -n));
  float p = 1.53280183e-4f;  // 2^f within 4e-9 of it, rounding aside
  p = multiply_add(p, f, 1.33910065e-3f);
  p = multiply_add(p, f, 9.61850304e-3f);
  p = multiply_add(p, f, 5.55035956e-2f);
  p = multiply_add(p, f, 2.40226477e-1f);
  p = multiply_add(p, f, 6.93147182e-1f);
  p = multiply_add(p, f, 1.0f);
  // The low bits of `shifted` are those of n: 2^n without a conversion.
  const std::uint32_t power = __builtin_bit_cast(std::uint32_t, shifted) << 23;
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, p) + power);
}

// 1 / y, correctly rounded, for 1 <= y <= 2^126. A chip divides by a subroutine, which would cost a kernel more
// registers than Newton's step behind the chip's approximation. That step ends at the same bits wherever within
// a unit in the last place it starts: tests/num/activation_test.cc, on the chip tests/live/live_activation_test.cc.
HOST_DEVICE inline float reciprocal(float y) {
#ifdef __CUDA_ARCH__
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(y));
  return multiply_add(r, multiply_add(-y, r, 1.0f), r);
#else
  return 1.0f / y;
#endif
}

// x / (1 + e^-u); x times nothing below u = -87.
HOST_DEVICE inline float logistic(float x, float u) {
  const float low = u > -exponent_limit ? u : -exponent_limit;
  const float inside = low < exponent_limit ? low : exponent_limit;
  const float share = reciprocal(add(1.0f, exponential(-inside)));
  return multiply(x, u < -exponent_limit ? 0.0f : share);
}

}  // namespace rounded

HOST_DEVICE inline float silu(float x) { return rounded::logistic(x, x); }

// x / 2 * (1 + tanh(u / 2)) is x / (1 + e^-u).
HOST_DEVICE inline float gelu_exponent(float x) {
  constexpr float twice_sqrt_2_over_pi = 1.59576912f;
  const float cube = rounded::multiply(rounded::multiply(x, x), x);
  return rounded::multiply(twice_sqrt_2_over_pi, rounded::multiply_add(0.044715f, cube, x));
}

HOST_DEVICE inline float gelu(float x) { return rounded::logistic(x, gelu_exponent(x)); }

// x times the normal distribution's share below x, q of which lies beyond |x|: e^(-x^2 / 2) times a
// function of s = 1 / (1 + |x| / 4) that a polynomial meets within 1.4e-8.
HOST_DEVICE inline float gelu_erf(float x) {
  using namespace rounded;
  constexpr float beyond = 13.0f;  // nothing is left
  const float a = x < 0.0f ? -x : x;
  const float t = a < beyond ? a : beyond;
  const float s = reciprocal(multiply_add(0.25f, t, 1.0f));
  float p = 0.0294926973f;
  p = multiply_add(p, s, -0.171137469f);
  p = multiply_add(p, s, 0.334024763f);
  p = multiply_add(p, s, -0.249225207f);
  p = multiply_add(p, s, 0.231871894f);
  p = multiply_add(p, s, 0.0200274352f);
  p = multiply_add(p, s, 0.107075905f);
  p = multiply_add(p, s, 0.0980442609f);
  p = multiply_add(p, s, 0.099825714f);
  const float square = multiply(t, t);
  const float lost = multiply_add(t, t, -square);  // of it by rounding
  const float e = exponential(multiply(-0.5f, square));
  const float inside = multiply(multiply(p, s), multiply_add(e, multiply(-0.5f, lost), e));
  const float q = a > beyond ? 0.0f : inside;
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
