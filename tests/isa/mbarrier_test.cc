// Laws of mbarriers (sim/isa/copy/mbarrier.h).
#include "sim/isa/copy/mbarrier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tcq::mbarrier {
namespace {

constexpr auto most_bytes = static_cast<std::uint32_t>(max_tx);

constexpr Mbarrier fresh(std::uint32_t count) {
  Mbarrier barrier;
  (void)init(barrier, count);
  return barrier;
}

struct Step {
  Operation operation;
  std::uint32_t number;
};

// None, or the first Fault; the barrier is then as that step found it.
constexpr Fault run(Mbarrier& barrier, const Step* first, const Step* last) {
  for (; first != last; ++first)
    if (const Fault fault = apply(barrier, first->operation, first->number); fault != Fault::None)
      return fault;
  return Fault::None;
}

template <std::size_t Count>
constexpr Mbarrier after(std::uint32_t count, const Step (&steps)[Count]) {
  Mbarrier barrier = fresh(count);
  if (run(barrier, steps, steps + Count) != Fault::None) barrier.phase = 0xffffffff;
  return barrier;
}

static_assert(sizeof(Mbarrier) == 16 && size_bytes == 8 && alignment_bytes == 8);
static_assert(fresh(3) == Mbarrier{0, 3, 3, 0});
static_assert(after(1, {{Operation::ArriveExpectTx, 64}, {Operation::CompleteTx, 64}}) ==
              Mbarrier{1, 1, 1, 0});

TEST(Mbarrier, LastArrivalFlipsThePhase) {
  for (const std::uint32_t count : {1u, 2u, 7u, max_count}) {
    Mbarrier barrier = fresh(count);
    if (count > 1) {
      EXPECT_EQ(arrive(barrier, count - 1), Fault::None);
      EXPECT_EQ(barrier, (Mbarrier{0, count, 1, 0}));
    }
    EXPECT_EQ(arrive(barrier), Fault::None);
    EXPECT_EQ(barrier, (Mbarrier{1, count, count, 0}));
  }
}

TEST(Mbarrier, PhaseStaysOpenUntilTheTxCountIsZero) {
  EXPECT_EQ(after(1, {{Operation::ExpectTx, 48}, {Operation::Arrive, 1}}), (Mbarrier{0, 1, 0, 48}));
  EXPECT_EQ(after(1, {{Operation::ExpectTx, 48},
                      {Operation::Arrive, 1},
                      {Operation::CompleteTx, 16},
                      {Operation::CompleteTx, 32}}),
            (Mbarrier{1, 1, 1, 0}));
  // Above zero and below.
  EXPECT_EQ(after(1, {{Operation::CompleteTx, 16}, {Operation::Arrive, 1}}),
            (Mbarrier{0, 1, 0, -16}));
}

TEST(Mbarrier, PendingArrivalsKeepThePhaseOpenAtTxCountZero) {
  EXPECT_EQ(after(2, {{Operation::ExpectTx, 32},
                      {Operation::CompleteTx, 16},
                      {Operation::CompleteTx, 16},
                      {Operation::Arrive, 1}}),
            (Mbarrier{0, 2, 1, 0}));
}

TEST(Mbarrier, CompleteTxMayComeBeforeExpectTx) {
  EXPECT_EQ(after(1, {{Operation::CompleteTx, 64}, {Operation::ArriveExpectTx, 64}}),
            (Mbarrier{1, 1, 1, 0}));
}

TEST(Mbarrier, ExpectTxCompletesThePhaseIfAllElseIsThere) {
  EXPECT_EQ(
      after(1, {{Operation::CompleteTx, 16}, {Operation::Arrive, 1}, {Operation::ExpectTx, 16}}),
      (Mbarrier{1, 1, 1, 0}));
}

TEST(Mbarrier, ArriveExpectTxIsExpectTxAndThenArrive) {
  for (const std::uint32_t count : {1u, 2u})
    EXPECT_EQ(after(count, {{Operation::ArriveExpectTx, 32}}),
              after(count, {{Operation::ExpectTx, 32}, {Operation::Arrive, 1}}));
}

// All of these together complete one phase, and none of them earlier: while the tx-count passes
// through zero an arrival is pending.
TEST(Mbarrier, OrderDoesNotMatterWithinAPhase) {
  std::vector<Step> steps = {{Operation::Arrive, 2},
                             {Operation::ExpectTx, 32},
                             {Operation::CompleteTx, 48},
                             {Operation::ArriveDrop, 1},
                             {Operation::ArriveExpectTx, 16}};
  const auto less = [](const Step& x, const Step& y) {
    return std::pair(x.operation, x.number) < std::pair(y.operation, y.number);
  };
  std::sort(steps.begin(), steps.end(), less);
  int orders = 0;
  do {
    Mbarrier barrier = fresh(4);
    ASSERT_EQ(run(barrier, steps.data(), steps.data() + steps.size()), Fault::None);
    EXPECT_EQ(barrier, (Mbarrier{1, 3, 3, 0}));
    ++orders;
  } while (std::next_permutation(steps.begin(), steps.end(), less));
  EXPECT_EQ(orders, 120);
}

TEST(Mbarrier, DroppedArrivalsAreMissingFromTheNextPhaseOn) {
  Mbarrier barrier = fresh(3);
  EXPECT_EQ(arrive_drop(barrier, 2), Fault::None);
  EXPECT_EQ(barrier, (Mbarrier{0, 1, 1, 0}));
  EXPECT_EQ(arrive(barrier), Fault::None);
  EXPECT_EQ(barrier, (Mbarrier{1, 1, 1, 0}));
  EXPECT_EQ(arrive_drop(barrier), Fault::None);
  EXPECT_EQ(barrier, (Mbarrier{2, 0, 0, 0}));
}

TEST(Mbarrier, CountsOfArrivalsHaveLimits) {
  const Mbarrier before = fresh(2);
  for (const std::uint32_t count : {0u, max_count + 1, 0xffffffffu}) {
    Mbarrier barrier = before;
    EXPECT_EQ(init(barrier, count), Fault::MbarrierCount) << count;
    EXPECT_EQ(barrier, before);
  }
  for (const std::uint32_t count : {0u, 3u, max_count, 0xffffffffu}) {
    for (const Operation operation : {Operation::Arrive, Operation::ArriveDrop}) {
      Mbarrier barrier = before;
      EXPECT_EQ(apply(barrier, operation, count), Fault::MbarrierArrivals) << count;
      EXPECT_EQ(barrier, before);
    }
  }
}

TEST(Mbarrier, TheTxCountHasLimits) {
  Mbarrier barrier = fresh(1);
  EXPECT_EQ(expect_tx(barrier, most_bytes), Fault::None);
  EXPECT_EQ(expect_tx(barrier, 1), Fault::MbarrierTxCount);
  EXPECT_EQ(complete_tx(barrier, most_bytes), Fault::None);
  EXPECT_EQ(complete_tx(barrier, most_bytes), Fault::None);
  EXPECT_EQ(barrier, (Mbarrier{0, 1, 1, -static_cast<std::int32_t>(most_bytes)}));
  EXPECT_EQ(complete_tx(barrier, 1), Fault::MbarrierTxCount);
  for (const std::uint32_t bytes : {most_bytes + 1, 0x80000000u, 0xffffffffu}) {
    for (const Operation operation :
         {Operation::ExpectTx, Operation::CompleteTx, Operation::ArriveExpectTx}) {
      barrier = fresh(1);
      EXPECT_EQ(apply(barrier, operation, bytes), Fault::MbarrierTxCount);
      EXPECT_EQ(barrier, fresh(1)) << "a Fault leaves it unchanged";
    }
  }
}

TEST(Mbarrier, ArriveExpectTxWithNothingPendingLeavesTheTxCountAlone) {
  Mbarrier barrier = after(1, {{Operation::ExpectTx, 16}, {Operation::Arrive, 1}});
  const Mbarrier before = barrier;
  EXPECT_EQ(arrive_expect_tx(barrier, 16), Fault::MbarrierArrivals);
  EXPECT_EQ(barrier, before);
}

TEST(Mbarrier, ParityOfACompletedPhasePassesAndAliasesTwoPhasesLater) {
  Mbarrier barrier = fresh(1);
  EXPECT_TRUE(test_parity(barrier, 1)) << "the phase before the first";
  EXPECT_FALSE(test_parity(barrier, 0));
  for (std::uint32_t phase = 0; phase < 6; ++phase) {
    const std::uint32_t own = phase % 2;
    EXPECT_FALSE(test_parity(barrier, own));
    EXPECT_EQ(arrive(barrier), Fault::None);
    EXPECT_TRUE(test_parity(barrier, own));
    Mbarrier later = barrier;
    EXPECT_EQ(arrive(later), Fault::None);
    EXPECT_FALSE(test_parity(later, own)) << "a wait two phases behind waits again";
  }
}

}  // namespace
}  // namespace tcq::mbarrier
