// Passes of shared memory against another count: each phase as sets of words, bank by bank; and what every
// tutorial says of pitches, padding and swizzles.
#include "sim/isa/base/banks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "sim/isa/base/swizzle.h"

namespace tcq::shared {
namespace {

int counted(const std::vector<std::uint32_t>& addresses, int bytes) {
  std::map<int, std::set<std::uint32_t>> of_bank;
  for (const std::uint32_t address : addresses)
    for (std::uint32_t byte = address; byte < address + static_cast<std::uint32_t>(bytes); ++byte)
      of_bank[static_cast<int>(byte / 4 % 32)].insert(byte / 4);
  std::size_t most = 1;
  for (const auto& [bank, words] : of_bank) most = std::max(most, words.size());
  return static_cast<int>(most);
}

TEST(Banks, PassesAreTheMostWordsOfOneBank) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const int bytes = 1 << (random() % 5);
    const auto span = static_cast<std::uint32_t>(64 << (random() % 6));
    std::vector<std::uint32_t> addresses;
    for (int lane = 0; lane < phase_lanes(bytes); ++lane)
      addresses.push_back(static_cast<std::uint32_t>(random()) % span *
                          static_cast<std::uint32_t>(bytes));
    ASSERT_EQ(passes(addresses.data(), phase_lanes(bytes), bytes), counted(addresses, bytes));
  }
}

int strided(int lanes, int pitch, int bytes, Swizzle swizzle = Swizzle::None) {
  std::vector<std::uint32_t> addresses;
  for (int lane = 0; lane < lanes; ++lane)
    addresses.push_back(swizzle_function(swizzle).apply(static_cast<std::uint32_t>(lane * pitch)));
  return passes(addresses.data(), lanes, bytes);
}

TEST(Banks, OfColumnsPaddedAndSwizzled) {
  EXPECT_EQ(strided(32, 128, 4), 32);
  EXPECT_EQ(strided(32, 132, 4), 1);
  EXPECT_EQ(strided(32, 64, 4), 16);
  EXPECT_EQ(strided(32, 4, 4), 1);
  EXPECT_EQ(strided(32, 0, 4), 1) << "a word for all";
  EXPECT_EQ(strided(32, 1, 1), 1);
  EXPECT_EQ(strided(16, 8, 8), 1);
  EXPECT_EQ(strided(8, 16, 16), 1);
  EXPECT_EQ(strided(8, 128, 16), 8);
  EXPECT_EQ(strided(8, 144, 16), 1);
  EXPECT_EQ(strided(8, 128, 16, Swizzle::B128), 1);
  EXPECT_EQ(strided(8, 64, 16, Swizzle::B64), 1);
  EXPECT_EQ(strided(8, 32, 16, Swizzle::B32), 1);
  EXPECT_EQ(strided(8, 128, 16, Swizzle::B64), 2);
}

TEST(Banks, APhaseHas128Bytes) {
  EXPECT_EQ(phase_lanes(4), 32);
  EXPECT_EQ(phase_lanes(8), 16);
  EXPECT_EQ(phase_lanes(16), 8);
  EXPECT_EQ(phase_lanes(1), 32);
}

}  // namespace
}  // namespace tcq::shared
