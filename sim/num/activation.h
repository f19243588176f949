// The activations of a GEMM's epilogue, made of correctly rounded operations only.
//
// relu, gelu (the tanh form) and silu of an f32, with the same bits on every host and device: each
// step is one IEEE operation (add, multiply, divide, fused multiply-add), and nothing may contract
// two of them. Not the reference of any instruction: wgmma knows none of this. Errors against the
// real functions are a few units in the last place; see tests/num/activation_test.cc. Example: silu(1)
// = 0x3f3b26a8.
//
// Source: gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), silu(x) = x / (1 +
// e^-x).
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/isa/base/host_device.h"

namespace tcq {

enum class Activation : std::uint8_t { None, Relu, Gelu, Silu };
inline constexpr int activation_count = 4;

HOST_DEVICE constexpr const char* name(Activation activation) {
  switch (activation) {
    case Activation::None: return "none";
    case Activation::Relu: return "relu";
    case Activation::Gelu: return "gelu";
    case Activation::Silu: return "silu";
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

// 2^exponent. Requires: -126 <= exponent <= 127.
HOST_DEVICE inline float power_of_two(int exponent) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(exponent + 127) << 23);
}

// e^x, 0 below -87 and infinity above 88.
HOST_DEVICE inline float exponential(float x) {
  constexpr float log2_e = 1.44269504f;
  constexpr float ln2_high = 0.693359375f;
  constexpr float ln2_low = -2.12194440e-4f;
  constexpr float to_integer = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  if (x != x) return x;
  if (x > 88.0f) return INFINITY;
  if (x < -87.0f) return 0.0f;
  const float n = add(multiply_add(x, log2_e, to_integer), -to_integer);
  const float r = multiply_add(n, -ln2_low, multiply_add(n, -ln2_high, x));
  float p = 1.98412698e-4f;  // Taylor's coefficients, 1 / 7! down to 1 / 2!
  p = multiply_add(p, r, 1.38888889e-3f);
  p = multiply_add(p, r, 8.33333333e-3f);
  p = multiply_add(p, r, 4.16666667e-2f);
  p = multiply_add(p, r, 1.66666667e-1f);
  p = multiply_add(p, r, 0.5f);
  const float q = add(multiply_add(multiply(p, r), r, r), 1.0f);
  return multiply(q, power_of_two(static_cast<int>(n)));
}

}  // namespace rounded

HOST_DEVICE inline float silu(float x) {
  return rounded::divide(x, rounded::add(1.0f, rounded::exponential(-x)));
}

HOST_DEVICE inline float gelu(float x) {
  constexpr float twice_sqrt_2_over_pi = 1.59576912f;
  const float cube = rounded::multiply(rounded::multiply(x, x), x);
  const float u =
      rounded::multiply(twice_sqrt_2_over_pi, rounded::multiply_add(0.044715f, cube, x));
  // x / 2 * (1 + tanh(u / 2)) is x / (1 + e^-u).
  return rounded::divide(x, rounded::add(1.0f, rounded::exponential(-u)));
}

HOST_DEVICE inline float activate(Activation activation, float x) {
  switch (activation) {
    case Activation::None: return x;
    case Activation::Relu: return x < 0.0f ? 0.0f : x;
    case Activation::Gelu: return gelu(x);
    case Activation::Silu: return silu(x);
  }
  return x;
}

}  // namespace tcq
