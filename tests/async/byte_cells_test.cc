// Cells of bytes: they hold what a plain array holds, runs are as long as they can be, and equal bytes
// are stored once.
#include "sim/async/byte_cells.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace tcq::machine {
namespace {

std::uint32_t end_of_run(const std::vector<int>& plain, std::uint32_t begin, std::uint32_t end) {
  std::uint32_t i = begin;
  while (i < end && plain[i] == plain[begin]) ++i;
  return i;
}

TEST(ByteCells, HoldWhatAPlainArrayHolds) {
  std::mt19937 random(3);
  for (const std::uint32_t bytes : {1u, 16u, 40u, 257u}) {
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    ByteCells<int> cells(bytes);
    std::vector<int> plain(bytes);
    for (int turn = 0; turn < 3000; ++turn) {
      const std::uint32_t unit = 1u << below(5);  // mostly aligned, as accesses are
      const std::uint32_t begin = below(bytes) / unit * unit;
      const std::uint32_t end = std::min(bytes, begin + unit * (1 + below(4)));
      const int value = static_cast<int>(below(3));
      cells.fill(begin, end, value);
      std::fill(plain.begin() + begin, plain.begin() + end, value);
      for (std::uint32_t i = 0; i < bytes; ++i) ASSERT_EQ(cells.at(i), plain[i]) << i;
      const std::uint32_t from = below(bytes);
      const std::uint32_t to = from + below(bytes - from + 1);
      ASSERT_EQ(cells.end_of_run(from, to), end_of_run(plain, from, to)) << from << " " << to;
    }
  }
}

TEST(ByteCells, EqualBytesAreStoredOnce) {
  ByteCells<int> cells(64);
  const auto stored = [&] {
    int count = 0;
    cells.for_each([&](int) { ++count; });
    return count;
  };
  EXPECT_EQ(stored(), 4);
  cells.fill(20, 24, 1);
  EXPECT_EQ(stored(), 3 + 16);
  for (const std::uint32_t begin : {16u, 24u, 28u}) cells.fill(begin, begin + 4, 1);
  EXPECT_EQ(stored(), 4);
  const std::size_t memory = cells.memory();
  cells.fill(2, 60, 2);
  EXPECT_EQ(stored(), 2 + 2 * 16);
  cells.fill(0, 64, 3);
  cells.fill(4, 40, 4);
  EXPECT_LE(cells.memory(), memory + 16 * sizeof(int));  // what is whole again is used again
}

TEST(ByteCells, EveryStoredCellIsVisitedOnceAndMayBeChanged) {
  ByteCells<int> cells(48);
  cells.fill(0, 48, 1);
  cells.fill(17, 18, 5);
  cells.for_each([](int& cell) { ++cell; });
  for (std::uint32_t i = 0; i < 48; ++i) EXPECT_EQ(cells.at(i), i == 17 ? 6 : 2);
}

}  // namespace
}  // namespace tcq::machine
