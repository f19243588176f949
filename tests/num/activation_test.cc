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

double ulps(float got, double want) {
  const float near = std::abs(static_cast<float>(want));
  const double ulp = std::nextafter(near, infinity) - near;
  return std::abs(got - want) / std::max(ulp, 1e-37);
}

TEST(Activation, ExponentialIsWithinTwoUlps) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> any(-87.0f, 88.0f);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const float x = any(random);
    worst = std::max(worst, ulps(rounded::exponential(x), std::exp(static_cast<double>(x))));
  }
  EXPECT_LT(worst, 2);
  EXPECT_GT(worst, 0.5) << "rounded at least once";
}

TEST(Activation, SiluAndGeluAreCloseToTheirFunctions) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> any(-12.0f, 12.0f);
  for (int i = 0; i < 200000; ++i) {
    const float x = any(random);
    EXPECT_NEAR(silu(x), x / (1 + std::exp(-static_cast<double>(x))), 4e-7 * std::abs(x)) << x;
    EXPECT_NEAR(gelu(x), true_gelu(x), 2e-6 * std::abs(x)) << x;
    const double by_erf = x / 2.0 * std::erfc(-x * M_SQRT1_2);
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

// rounded::reciprocal() on a chip: its approximation, then one step.
float stepped(float y, float start) { return std::fma(start, std::fma(-y, start, 1.0f), start); }

// All mantissas; the exponent only moves both.
TEST(Activation, OneStepFromWithinAUlpEndsAtTheRoundedReciprocal) {
  int others = 0;
  for (std::uint32_t mantissa = 0; mantissa < 1u << 23; ++mantissa) {
    const float y = std::bit_cast<float>(0x3f800000u + mantissa);
    const float want = 1.0f / y;
    EXPECT_EQ(rounded::reciprocal(y), want);
    const double exact =
        1.0 / y;  // the float on its other side is as well within a unit in the last place
    const float beside = std::nextafter(want, want < exact ? 2.0f : 0.0f);
    others += stepped(y, want) != want;
    if (want != exact) others += stepped(y, beside) != want;
  }
  // 1 / (2 - 2^-23) lies just above the middle of two floats: from the lower one there is no way up.
  EXPECT_EQ(others, 1);
  const float last = std::bit_cast<float>(0x3fffffffu);
  EXPECT_NE(stepped(last, 0.5f), 1.0f / last);
}

TEST(Activation, SwigluIsSiluOfTheGateByTheValue) {
  EXPECT_EQ(swiglu(1.0f, -2.0f), -2.0f * silu(1.0f));
  EXPECT_TRUE(is_gated(Activation::Swiglu));
  EXPECT_FALSE(is_gated(Activation::Silu));
}

TEST(Activation, NoneChangesNothing) { EXPECT_EQ(activate(Activation::None, -1.5f), -1.5f); }

}  // namespace
}  // namespace tcq
