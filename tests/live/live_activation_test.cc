// Activations of drawn inputs on a real sm_90 GPU beside the host's, bit by bit. Skips loudly without a GPU.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "cuda/probe/activation_sm90.h"
#include "tests/live/live_device.h"

namespace tcq {
namespace {

using LiveActivation = Live;

TEST_F(LiveActivation, DrawnInputsGiveTheHostsBits) {
  std::mt19937 random(static_cast<unsigned>(chosen_seed()));
  std::vector<std::uint32_t> got(1u << 16);
  for (const Activation activation :
       {Activation::Relu, Activation::Gelu, Activation::Silu, Activation::GeluErf}) {
    std::int64_t differing = 0;
    for (int draw = 0; draw < 64; ++draw) {
      const auto first = static_cast<std::uint32_t>(random());
      cuda::probe_activations(activation, first, got);
      for (std::uint32_t i = 0; i < got.size(); ++i) {
        const float want = activate(activation, std::bit_cast<float>(first + i));
        const float answer = std::bit_cast<float>(got[i]);
        const bool same =
            std::isnan(want) ? std::isnan(answer) : std::bit_cast<std::uint32_t>(want) == got[i];
        differing += !same;
      }
    }
    EXPECT_EQ(differing, 0) << name(activation);
  }
}

}  // namespace
}  // namespace tcq
