// The benchmark's ceiling without a GPU: what counts of the loops that the SMs timed.
#include "tools/bench_ceiling.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/num/inputs/draw.h"

namespace tcq::tools {
namespace {

using cuda::CeilingLoop;

constexpr double operations = 1e9;
constexpr double tensor_clocks = 1000;

Ceiling of(const std::vector<CeilingLoop>& loops) {
  return ceiling_of(loops, operations, tensor_clocks);
}

TEST(Bench_Ceiling, TheTimeIsFromTheFirstLoopsBeginningToTheLastOnesEnd) {
  const Ceiling c = of({{1000, 3000, 2500}, {1500, 3500, 2500}});
  EXPECT_EQ(c.loop_microseconds, 2.5);
  EXPECT_EQ(c.operations_per_second, operations / 2.5e-6);
}

// Filling shared memory delays the loops; it does not lengthen them.
TEST(Bench_Ceiling, WhatIsAheadOfTheLoopsDoesNotCount) {
  Draw draw(1);
  for (int i = 0; i < 1000; ++i) {
    std::vector<CeilingLoop> loops;
    for (int k = draw.in(1, 264); k > 0; --k) {
      const auto begin = static_cast<std::uint64_t>(draw.below(1000));
      const auto length = static_cast<std::uint64_t>(draw.in(1, 1 << 30));
      loops.push_back({begin, begin + length, 2 * length});
    }
    const Ceiling now = of(loops);
    const auto later = static_cast<std::uint64_t>(draw.word()) * 1000;
    for (CeilingLoop& loop : loops) {
      loop.begin_ns += later;
      loop.end_ns += later;
    }
    const Ceiling then = of(loops);
    EXPECT_EQ(then.operations_per_second, now.operations_per_second);
    EXPECT_EQ(then.loop_microseconds, now.loop_microseconds);
    EXPECT_EQ(then.sm_mhz, now.sm_mhz);
    EXPECT_NEAR(now.sm_mhz, 2000, 1e-6);  // two clocks in a nanosecond
  }
}

// Two warpgroups of one SM share its tensor cores: their clocks are the same ones.
TEST(Bench_Ceiling, TheTensorCoresShareIsOfOneSmsClocks) {
  EXPECT_EQ(of({{0, 1000, 1250}, {0, 1000, 1250}}).tensor_share, 0.8);
  EXPECT_EQ(of({{0, 1000, 1000}, {0, 1000, 1000}}).tensor_share, 1);
}

// The peak of the data sheet: 4096 16-bit operations of an SM in a clock; tf32 half, s8 twice.
TEST(Bench_Ceiling, AtItsPeakALoopTakesItsTensorClocks) {
  for (const auto& [in, peak] : {std::pair{Type::bf16, 4096},
                                 {Type::f16, 4096},
                                 {Type::tf32, 2048},
                                 {Type::s8, 8192},
                                 {Type::u8, 8192}}) {
    for (const int rounds : {1, 7, 100000})
      EXPECT_EQ(cuda::ceiling_operations(in, 132, rounds),
                cuda::ceiling_tensor_clocks(rounds) * 132 * peak);
  }
}

}  // namespace
}  // namespace tcq::tools
