// The activations of sim/num/activation.h against double precision, and their exact special values.
#include "sim/num/activation.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace tcq {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

double true_gelu(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST(Activation, SiluAndGeluAreCloseToTheirFunctions) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> any(-12.0f, 12.0f);
  for (int i = 0; i < 200000; ++i) {
    const float x = any(random);
    const double size = std::abs(static_cast<double>(x));
    const double by_exp = x / (1 + std::exp(-static_cast<double>(x)));
    const double by_erf = x / 2.0 * std::erfc(-x * M_SQRT1_2);
    EXPECT_NEAR(silu(x), by_exp, std::min(2e-7 * size, 0x1p-19 * std::abs(by_exp))) << x;
    EXPECT_NEAR(gelu(x), true_gelu(x), 2e-7 * size) << x;
    EXPECT_NEAR(gelu_erf(x), by_erf, 5e-7 * std::abs(by_erf)) << x;
  }
}

TEST(Activation, SpecialValues) {
  EXPECT_EQ(activate(Activation::Relu, -3.0f), 0.0f);
  EXPECT_EQ(activate(Activation::Relu, 2.5f), 2.5f);
  EXPECT_TRUE(std::isnan(activate(Activation::Relu, NAN)));
  for (const Activation activation : {Activation::Gelu, Activation::Silu, Activation::GeluErf}) {
    EXPECT_EQ(activate(activation, 0.0f), 0.0f);
    EXPECT_EQ(activate(activation, 200.0f), 200.0f);
    EXPECT_EQ(activate(activation, -200.0f), 0.0f);
    EXPECT_EQ(activate(activation, infinity), infinity);
    EXPECT_TRUE(std::isnan(activate(activation, NAN)));
  }
  EXPECT_EQ(std::bit_cast<std::uint32_t>(silu(1.0f)), 0x3f3b26a8u);
}

TEST(Activation, SwigluIsSiluOfTheGateByTheValue) {
  EXPECT_EQ(swiglu(1.0f, -2.0f), -2.0f * silu(1.0f));
  EXPECT_TRUE(is_gated(Activation::Swiglu));
  EXPECT_FALSE(is_gated(Activation::Silu));
}

TEST(Activation, NoneChangesNothing) { EXPECT_EQ(activate(Activation::None, -1.5f), -1.5f); }

}  // namespace
}  // namespace tcq
