// What the threads of the copying kernel do (cuda/gemm/realign_units.h), run on the CPU one after the
// other: every byte of the copies, no unit twice, nothing read outside an operand.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "cuda/gemm/realign_units.h"
#include "tests/support/realign_case.h"

namespace tcq {
namespace {

using namespace gemm::realign;

bool is_unit(const std::uint8_t* at) {
  return reinterpret_cast<std::uintptr_t>(at) % unit_bytes == 0;
}

// What the threads may read, and how often they wrote each unit of the target.
struct Memory {
  static inline const std::uint8_t* begin = nullptr;
  static inline const std::uint8_t* end = nullptr;
  static inline std::uint8_t* target = nullptr;
  static inline std::vector<int> writes;
  static inline int copies = 0;  // byte by byte
  static inline int wrong = 0;

  static uint4 load(const std::uint8_t* from) {
    uint4 word = {};
    if (!is_unit(from) || from < begin || from + unit_bytes > end)
      ++wrong;
    else
      std::memcpy(&word, from, sizeof word);
    return word;
  }
  static void store(std::uint8_t* to, const uint4& word) {
    if (count(to)) std::memcpy(to, &word, sizeof word);
  }
  static void copy(std::uint8_t* to, const std::uint8_t* from, int bytes) {
    if (from < begin || from + bytes > end || bytes > unit_bytes)
      ++wrong;
    else if (count(to))
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
    ++copies;
  }
  static std::uint32_t behind(std::uint32_t low, std::uint32_t high, unsigned rest) {
    const std::array<std::uint32_t, 2> both = {low, high};
    std::array<std::uint8_t, sizeof both> bytes{};
    std::memcpy(bytes.data(), &both, sizeof both);
    std::uint32_t word = 0;
    std::memcpy(&word, &bytes[rest / static_cast<unsigned>(bits(Type::u8))], sizeof word);
    return word;
  }

 private:
  static bool count(const std::uint8_t* to) {
    const auto unit = static_cast<std::size_t>((to - target) / unit_bytes);
    if (!is_unit(to) || to < target || unit >= writes.size()) {
      ++wrong;
      return false;
    }
    ++writes[unit];
    return true;
  }
};

void expect_copied(const Lines& where, Draw& draw) {
  const Bytes source = random_bytes(where.end(), draw);
  Bytes target(static_cast<std::size_t>(where.target_bytes()), poison);
  ASSERT_TRUE(is_unit(source.data()) && is_unit(target.data()));
  const Task task = task_of(job_of(where, source.data(), target.data()));
  Memory::begin = source.data() + where.lead;
  Memory::end = source.data() + source.size();
  Memory::target = target.data();
  Memory::writes.assign(target.size() / unit_bytes, 0);
  Memory::copies = 0;
  Memory::wrong = 0;
  for (std::int64_t block = 0; block < task.blocks; ++block)
    for (std::uint32_t thread = 0; thread < static_cast<std::uint32_t>(threads); ++thread)
      copy_units<Memory>(task, block, thread);
  const std::string of = testing::PrintToString(
      std::array{where.lead, where.bytes, where.gap, where.lines, where.matrices});
  EXPECT_EQ(Memory::wrong, 0) << of;
  EXPECT_EQ(std::ranges::count(Memory::writes, 1),
            where.matrices * where.lines * (where.whole_units() / unit_bytes))
      << of;
  EXPECT_EQ(std::ranges::max(Memory::writes), 1) << of;
  EXPECT_TRUE(is_copied(where, source, target)) << of;
}

TEST(Gemm_Realign, SmallLinesOfEveryLeadLengthAndGap) {
  Draw draw(1);
  for (const Lines& where : small_lines()) expect_copied(where, draw);
}

TEST(Gemm_Realign, LinesThatTakeManyBlocks) {
  Draw draw(2);
  for (const std::int64_t lead : {0, 1, 6, 12}) {
    expect_copied({lead, 5000, 0, 300, 1}, draw);
    expect_copied({15 - lead, 1041, 7, 133, 3}, draw);
    expect_copied({lead, 34, 0, 10001, 1}, draw);
    expect_copied({lead, 70001, 5, 1, 2}, draw);
    EXPECT_LE(Memory::copies, 3);  // at the operand's ends
  }
}

TEST(Gemm_Realign, WholeUnitsAreNotCopiedByteByByteAndNoBlockIsIdle) {
  Draw draw(3);
  const Lines where = {0, 256 * unit_bytes, 0, 12, 1};
  expect_copied(where, draw);
  EXPECT_EQ(Memory::copies, 0);
  EXPECT_EQ(task_of(job_of(where, nullptr, nullptr)).blocks, 256 * 12 / block_units);
}

TEST(Gemm_Realign, MoreUnitsThanAGridHasAreRefused) {
  const std::int64_t most = INT32_MAX;
  const Task task = task_of({.line_bytes = 4 * most, .lines = most, .matrices = most});
  EXPECT_EQ(task.blocks, most);
  const std::array jobs = {
      gemm::RealignJob{.line_bytes = 4 * most, .lines = most, .matrices = most}};
  EXPECT_EQ(launch_realign(jobs, nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace tcq
