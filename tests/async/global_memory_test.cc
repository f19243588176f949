// Memory that executions write in place: what one has changed, and that the next begins with what the launch gave.
#include "sim/async/global_memory.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tcq::machine {
namespace {

constexpr std::size_t page = GlobalMemory::page_bytes;

std::shared_ptr<LaunchMemory> memory_of(std::size_t size) {
  auto memory = std::make_shared<LaunchMemory>();
  memory->bytes.resize(size);
  std::iota(memory->bytes.begin(), memory->bytes.end(), std::uint8_t{0});
  return memory;
}

void write(GlobalMemory& memory, std::size_t at, std::uint8_t value) {
  const auto begin = static_cast<std::uint32_t>(at);
  memory.keep({begin, begin + 1});
  memory.bytes()[at] = value;
}

TEST(GlobalMemory, GivesBackWhatItFound) {
  const auto launch = memory_of(3 * page + 5);
  const std::vector<std::uint8_t> before = launch->bytes;
  std::vector<std::uint8_t> after;
  GlobalChanges changes;
  {
    GlobalMemory memory(launch);
    memory.keep({static_cast<std::uint32_t>(page) - 1, static_cast<std::uint32_t>(page) + 1});
    memory.bytes()[page - 1] = 7;
    memory.bytes()[page] = 8;
    write(memory, 3 * page + 4, 9);
    write(memory, 2 * page, before[2 * page]);  // the value that is there
    after = memory.bytes();
    changes = memory.changes();
  }
  EXPECT_EQ(launch->bytes, before);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[2].begin, 3 * page);
  EXPECT_EQ(changes[2].bytes.size(), 5u);
  machine::apply(changes, *launch);
  EXPECT_EQ(launch->bytes, after);
}

TEST(GlobalMemory, OneExecutionHasItAtATime) {
  const auto launch = memory_of(page);
  GlobalMemory first(launch);
  write(first, 4, 98);
  GlobalMemory second(launch);
  write(second, 3, 99);
  EXPECT_EQ(first.bytes()[3], 3);
  EXPECT_EQ(second.bytes()[3], 99);
  EXPECT_EQ(second.bytes()[4], 4);  // as the launch gave it
}

TEST(GlobalMemory, ACopyOfAnExecutionGoesOnByItself) {
  const auto launch = memory_of(2 * page);
  GlobalMemory first(launch);
  write(first, 3, 99);
  GlobalMemory copy = first;
  write(copy, page, 7);
  EXPECT_EQ(copy.bytes()[3], 99);
  EXPECT_NE(first.bytes()[page], 7);
  EXPECT_EQ(copy.changes().size(), 2u);
  EXPECT_EQ(first.changes().size(), 1u);
}

TEST(GlobalMemory, ACopyOfAProgramHasItsOwn) {
  const ProgramMemory mine(memory_of(page));
  const std::vector<std::uint8_t> before = mine.launch()->bytes;
  GlobalMemory memory(mine.launch());
  write(memory, 3, 99);
  const ProgramMemory copy = mine;
  EXPECT_EQ(copy.launch()->bytes, before);
  copy.launch()->bytes[5] = 77;
  EXPECT_EQ(memory.bytes()[5], 5);
}

TEST(GlobalMemory, TheFirstByteThatDiffers) {
  const auto launch = memory_of(4 * page);
  const auto left_by = [&](std::vector<std::size_t> at) {
    GlobalMemory memory(launch);
    for (const std::size_t byte : at) write(memory, byte, 255);
    return memory.changes();
  };
  const auto difference = [&](std::vector<std::size_t> at, std::vector<std::size_t> other) {
    const GlobalChanges theirs = left_by(std::move(other));
    GlobalMemory memory(launch);
    for (const std::size_t byte : at) write(memory, byte, 255);
    return memory.first_difference(theirs);
  };
  EXPECT_EQ(difference({5, 3 * page}, {3 * page, 5}), std::nullopt);
  EXPECT_EQ(difference({5, 2 * page}, {5}), 2 * page);
  EXPECT_EQ(difference({5}, {5, 2 * page + 1}), 2 * page + 1);
  EXPECT_EQ(difference({7, 9}, {7, 8}), 8u);
  EXPECT_EQ(difference({2 * page}, {page}), page);
}

}  // namespace
}  // namespace tcq::machine
