// Laws of the mbarrier's state (sim/isa/mbarrier.h).
#include "sim/isa/mbarrier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tcq::mbarrier {
namespace {

Mbarrier made(std::uint32_t count) {
  Mbarrier barrier;
  EXPECT_EQ(init(barrier, count), Fault::None);
  return barrier;
}

TEST(Mbarrier, TheLastArrivalCompletesThePhase) {
  for (const std::uint32_t count : {1u, 2u, 128u}) {
    Mbarrier barrier = made(count);
    for (std::uint32_t i = 1; i < count; ++i) {
      EXPECT_EQ(arrive(barrier), Fault::None);
      EXPECT_EQ(barrier.phase, 0u);
    }
    EXPECT_EQ(arrive(barrier), Fault::None);
    EXPECT_EQ(barrier, (Mbarrier{1, count, count, 0}));
  }
}

TEST(Mbarrier, ThePhaseWaitsForItsBytes) {
  Mbarrier barrier = made(1);
  EXPECT_EQ(arrive_expect_tx(barrier, 48), Fault::None);
  EXPECT_EQ(complete_tx(barrier, 16), Fault::None);
  EXPECT_EQ(barrier.phase, 0u);
  EXPECT_EQ(complete_tx(barrier, 32), Fault::None);
  EXPECT_EQ(barrier.phase, 1u);
}

TEST(Mbarrier, BytesMayLandBeforeTheyAreExpected) {
  Mbarrier barrier = made(1);
  EXPECT_EQ(complete_tx(barrier, 48), Fault::None);
  EXPECT_EQ(barrier.tx, -48);
  EXPECT_EQ(barrier.phase, 0u);
  EXPECT_EQ(arrive_expect_tx(barrier, 48), Fault::None);
  EXPECT_EQ(barrier.phase, 1u);
}

TEST(Mbarrier, TheOrderWithinAPhaseDoesNotMatter) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    // Two arrivals that expect bytes, and copies of all of them but the last.
    std::vector<int> order = {0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    Mbarrier barrier = made(2);
    for (const int step : order)
      EXPECT_EQ(step < 2 ? arrive_expect_tx(barrier, 64) : complete_tx(barrier, 64), Fault::None);
    EXPECT_EQ(barrier, (Mbarrier{0, 2, 0, 64}));
  }
}

TEST(Mbarrier, DroppedArrivalsAreMissedByLaterPhases) {
  Mbarrier barrier = made(3);
  EXPECT_EQ(arrive_drop(barrier), Fault::None);
  EXPECT_EQ(arrive(barrier, 2), Fault::None);
  EXPECT_EQ(barrier, (Mbarrier{1, 2, 2, 0}));
}

TEST(Mbarrier, AParityNamesEverySecondPhase) {
  Mbarrier barrier = made(1);
  for (std::uint32_t phase = 0; phase < 6; ++phase) {
    EXPECT_TRUE(test_parity(barrier, (phase + 1) % 2));
    EXPECT_FALSE(test_parity(barrier, phase % 2));
    EXPECT_EQ(arrive(barrier), Fault::None);
  }
}

TEST(Mbarrier, AFaultLeavesItUnchanged) {
  const Mbarrier before = made(2);
  Mbarrier barrier = before;
  EXPECT_EQ(arrive(barrier, 3), Fault::MbarrierArrivals);
  EXPECT_EQ(arrive(barrier, 0), Fault::MbarrierArrivals);
  EXPECT_EQ(arrive_drop(barrier, 3), Fault::MbarrierArrivals);
  EXPECT_EQ(expect_tx(barrier, max_tx + 1), Fault::MbarrierTxCount);
  EXPECT_EQ(complete_tx(barrier, max_tx + 1), Fault::MbarrierTxCount);
  EXPECT_EQ(init(barrier, 0), Fault::MbarrierCount);
  EXPECT_EQ(init(barrier, max_count + 1), Fault::MbarrierCount);
  EXPECT_EQ(barrier, before);
  EXPECT_EQ(expect_tx(barrier, max_tx), Fault::None);
  EXPECT_EQ(arrive_expect_tx(barrier, 1), Fault::MbarrierTxCount);
  EXPECT_EQ(barrier.pending, 2u);
}

constexpr std::uint32_t phases_after(std::uint32_t arrivals) {
  Mbarrier barrier;
  init(barrier, 2);
  for (std::uint32_t i = 0; i < arrivals; ++i) arrive(barrier);
  return barrier.phase;
}
static_assert(phases_after(5) == 2);

}  // namespace
}  // namespace tcq::mbarrier
