// What the threads of the kernel that turns operands do (cuda/gemm/turn_units.h), run on the CPU: every byte of the copies, no
// unit twice, nothing read outside a line, and threads that read shared memory together read from all banks.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "cuda/gemm/turn_units.h"
#include "tests/support/realign_case.h"

namespace tcq {
namespace {

using namespace gemm::turn;

// What the threads may read, and how often they wrote each unit of the target.
struct Memory {
  static inline const gemm::RealignJob* job = nullptr;
  static inline std::vector<int> writes;
  static inline int bytes = 0;
  static inline int wrong = 0;

  static uint4 load(const std::uint8_t* from) {
    uint4 word = {};
    if (!inside(from, unit_bytes) || reinterpret_cast<std::uintptr_t>(from) % unit_bytes != 0)
      ++wrong;
    else
      std::memcpy(&word, from, sizeof word);
    return word;
  }
  static std::uint8_t byte(const std::uint8_t* from) {
    ++bytes;
    if (inside(from, 1)) return *from;
    ++wrong;
    return 0;
  }
  static void store(std::uint8_t* to, const uint4& word) {
    const auto unit = static_cast<std::size_t>((to - job->target) / unit_bytes);
    if (to < job->target || (to - job->target) % unit_bytes != 0 || unit >= writes.size()) {
      ++wrong;
      return;
    }
    ++writes[unit];
    std::memcpy(to, &word, sizeof word);
  }
  static std::uint32_t bytes_of(std::uint32_t low, std::uint32_t high, unsigned selector) {
    std::array<std::uint8_t, 8> all{};
    std::memcpy(all.data(), &low, 4);
    std::memcpy(all.data() + 4, &high, 4);
    std::uint32_t out = 0;
    for (unsigned i = 0; i < 4; ++i) out |= std::uint32_t{all[selector >> (4 * i) & 7]} << (8 * i);
    return out;
  }

 private:
  // Within a line of the source.
  static bool inside(const std::uint8_t* from, int count) {
    std::int64_t at = from - job->source;
    if (at < 0) return false;
    const std::int64_t matrix =
        job->source_batch > 0 ? std::min(at / job->source_batch, job->matrices - 1) : 0;
    at -= matrix * job->source_batch;
    const std::int64_t line = std::min(at / job->source_pitch, job->lines - 1);
    return at - line * job->source_pitch + count <= job->line_bytes;
  }
};

template <int Bytes>
void turn_all(const Task& task) {
  alignas(tile_bytes) std::array<std::uint8_t, shared_bytes<Bytes>> shared{};
  for (std::int64_t block = 0; block < task.blocks; ++block) {
    const TileAt tile = tile_of<Bytes>(task, block);
    for (int thread = 0; thread < threads; ++thread)
      load_tile<Bytes, Memory>(task, tile, thread, shared.data());
    for (int thread = 0; thread < threads; ++thread)
      store_tile<Bytes, Memory>(task, tile, thread, shared.data());
  }
}

void expect_turned(const TurnedLines& where, Draw& draw) {
  const Bytes source = random_bytes(where.source.end(), draw);
  Bytes target(static_cast<std::size_t>(where.target_bytes()), poison);
  const gemm::RealignJob job = job_of(where, source.data(), target.data());
  const Task task = task_of(job);
  Memory::job = &job;
  Memory::writes.assign(target.size() / unit_bytes, 0);
  Memory::bytes = Memory::wrong = 0;
  if (where.element == 1) turn_all<1>(task);
  if (where.element == 2) turn_all<2>(task);
  if (where.element == 4) turn_all<4>(task);
  const std::string of = testing::PrintToString(
      std::array<std::int64_t, 6>{where.element, where.source.lead, where.source.bytes,
                                  where.source.gap, where.source.lines, where.source.matrices});
  EXPECT_EQ(Memory::wrong, 0) << of;
  EXPECT_EQ(std::ranges::count(Memory::writes, 1),
            where.source.matrices * where.lines() * (where.whole_units() / unit_bytes))
      << of;
  EXPECT_LE(std::ranges::max(Memory::writes), 1) << of;
  EXPECT_TRUE(is_turned(where, source, target)) << of;
}

TEST(Gemm_Turn, TilesAndPartsOfThem) {
  Draw draw(4);
  for (const TurnedLines& where : turned_lines()) expect_turned(where, draw);
}

TEST(Gemm_Turn, LinesOfWholeUnitsAreNotReadByteByByteAndNoBlockIsIdle) {
  Draw draw(5);
  for (const int element : {1, 2, 4}) {
    const TurnedLines where = {{0, 512, 0, 300, 1}, element};
    expect_turned(where, draw);
    EXPECT_EQ(Memory::bytes, 0);
    EXPECT_EQ(task_of(job_of(where, nullptr, nullptr)).blocks, 4 * (element == 1   ? 3
                                                                    : element == 2 ? 5
                                                                                   : 10));
  }
}

// Of the 32 threads of a warp each reads a word of another bank.
template <int Bytes>
void expect_all_banks() {
  for (int line = 0; line < unit_elements<Bytes>; ++line) {
    std::set<int> banks;
    for (int thread = 0; thread < 32; ++thread) {
      const int column = thread / line_units;
      const int at =
          place_of<Bytes>(thread % line_units * unit_elements<Bytes> + line, column / 4) +
          column % 4 * word_bytes;
      banks.insert(at / word_bytes % 32);
    }
    EXPECT_EQ(banks.size(), 32u) << line;
  }
}

TEST(Gemm_Turn, NoTwoThreadsReadOneBank) {
  expect_all_banks<1>();
  expect_all_banks<2>();
  expect_all_banks<4>();
}

TEST(Gemm_Turn, MoreTilesThanAGridHasAreRefused) {
  const std::int64_t most = INT32_MAX;
  const Task task =
      task_of({.line_bytes = 128 * most, .lines = most, .matrices = most, .turned_bytes = 1});
  EXPECT_EQ(task.blocks, most);
  const std::array jobs = {gemm::RealignJob{
      .line_bytes = 128 * most, .lines = most, .matrices = most, .turned_bytes = 4}};
  EXPECT_EQ(launch_realign(jobs, nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace tcq
