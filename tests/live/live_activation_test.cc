// The arithmetic of activations on a real sm_90 GPU beside the host's, bit by bit: all reciprocals that they can
// ask for, and each activation of drawn inputs. Skips loudly without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "cuda/probe/activation_sm90.h"
#include "tests/live/live_device.h"

namespace tcq {
namespace {

using LiveActivation = Live;

constexpr std::uint32_t one = std::bit_cast<std::uint32_t>(1.0f);
constexpr std::uint32_t largest = std::bit_cast<std::uint32_t>(0x1p126f);

TEST_F(LiveActivation, EveryReciprocalIsTheRoundedOne) {
  constexpr std::uint32_t chunk = 1u << 26;
  std::vector<std::uint32_t> got;
  std::int64_t compared = 0;
  std::int64_t differing = 0;
  for (std::uint32_t first = one; first <= largest; first += chunk) {
    got.resize(std::min(chunk, largest - first + 1));
    cuda::probe_reciprocals(first, got);
    for (std::uint32_t i = 0; i < got.size(); ++i)
      differing += got[i] != std::bit_cast<std::uint32_t>(1.0f / std::bit_cast<float>(first + i));
    compared += static_cast<std::int64_t>(got.size());
  }
  fmt::print("{} reciprocals compared, {} differing\n", compared, differing);
  EXPECT_EQ(compared, 126 * (std::int64_t{1} << 23) + 1);
  EXPECT_EQ(differing, 0);
}

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
