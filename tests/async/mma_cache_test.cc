// Results that are kept, lists of chunks that are kept, and accumulators that stay out of the registers: none of them
// may show in a bit.
#include "sim/async/mma_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "oracle/diagnosis/diagnosis.h"
#include "sim/async/explore.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/machine/tma.h"
#include "tests/async/catalogue_kit.h"

namespace tcq {
namespace {

using namespace machine;
using catalogue::a_bytes;
using catalogue::b_bytes;
using catalogue::d_registers;
using catalogue::descriptor;
using catalogue::f16_tensor;
using catalogue::mma;
using catalogue::mma_n;

constexpr std::uint32_t tile_a = shared_base_sm90;
constexpr std::uint32_t tile_b = tile_a + a_bytes;

SharedMemory tiles() {
  SharedMemory shared(shared_base_sm90, a_bytes + b_bytes);
  for (std::uint32_t at = 0; at < a_bytes + b_bytes;
       at += 2)  // halves of 1 to 2, all rows and columns different
    shared.store(shared_base_sm90 + at, static_cast<std::uint16_t>(0x3c00 + at * at / 8 % 1021));
  return shared;
}

void load(MmaCache::Tile& tile, float value) {
  std::array<std::uint32_t, 32> lanes;
  lanes.fill(std::bit_cast<std::uint32_t>(value));
  tile.load(
      mma(0, 0, true).form, [&](int, int) -> auto& { return lanes; });
}

MmaCache::Tile tile_of(float value) {
  MmaCache::Tile tile;
  load(tile, value);
  return tile;
}

class KeptResults : public testing::Test {
 protected:
  // Against what is computed anew.
  void expect_right(std::vector<wgmma::Instruction> chain, MmaCache::Tile& d) {
    wgmma::Outputs want = d.words();
    ASSERT_EQ(wgmma::execute_chain(shared_, registers_, chain, want), Fault::None);
    ASSERT_EQ(cache_.advance(shared_, registers_, chain, d), Fault::None);
    EXPECT_EQ(d.words(), want);
  }

  SharedMemory shared_ = tiles();
  WarpgroupRegisters registers_;
  MmaCache cache_;
  const wgmma::Instruction op_ = mma(descriptor(tile_a), descriptor(tile_b), true);
};

TEST_F(KeptResults, AreThoseOfTheSameAccumulators) {
  MmaCache::Tile d;
  for (const float value : {1.0f, 2.0f, 1.0f}) {
    load(d, value);
    expect_right({op_}, d);
    expect_right({op_, op_}, d);  // goes on with what is known by its key
  }
  EXPECT_EQ(cache_.misses(), 4u);
  EXPECT_EQ(cache_.hits(), 2u);
}

TEST_F(KeptResults, AreThoseOfTheSameOperands) {
  for (const std::uint32_t at : {tile_a, tile_b + 1, tile_a}) {
    shared_.store<std::uint8_t>(at, static_cast<std::uint8_t>(shared_.load<std::uint8_t>(at) ^ 2));
    MmaCache::Tile d = tile_of(1);
    expect_right({op_}, d);
  }
  EXPECT_EQ(cache_.misses(), 3u);
}

// Three bits of two words that a hash takes in one behind the other, top bits among them.
TEST_F(KeptResults, AreNotThoseOfOperandsWithFlippedTopBits) {
  MmaCache::Tile d = tile_of(1);
  expect_right({op_}, d);
  const SharedMemory before = shared_;
  for (std::uint32_t at = tile_a; at < tile_a + 32; at += 8) {
    shared_ = before;
    const auto flip = [&](std::uint32_t address, std::uint64_t bits) {
      shared_.store(address, shared_.load<std::uint64_t>(address) ^ bits);
    };
    flip(at, std::uint64_t{1} << 63);
    flip(at + 32, std::uint64_t{1} << 63 | std::uint64_t{1} << 34);
    d = tile_of(1);
    expect_right({op_}, d);
  }
  EXPECT_EQ(cache_.misses(), 5u);
}

TEST_F(KeptResults, AreThoseOfTheSameInstructions) {
  wgmma::Instruction negated = op_;
  negated.form.negate_b = true;
  wgmma::Instruction fresh = op_;
  fresh.accumulate = false;
  wgmma::Instruction next = op_;
  next.desc_a = descriptor(tile_a + 32);
  for (const std::vector<wgmma::Instruction>& chain : std::vector<std::vector<wgmma::Instruction>>{
           {op_}, {negated}, {fresh}, {next}, {op_, next}, {next, op_}, {op_, op_}}) {
    MmaCache::Tile d = tile_of(1);
    expect_right(chain, d);
  }
  EXPECT_EQ(cache_.misses(), 7u);
}

// A chain leaves what its parts leave, under the same key.
TEST_F(KeptResults, OfAChainServeItsParts) {
  MmaCache::Tile whole = tile_of(1);
  expect_right({op_, op_}, whole);
  MmaCache::Tile parts = tile_of(1);
  expect_right({op_}, parts);
  EXPECT_EQ(cache_.misses(), 2u);
  expect_right({op_}, parts);
  EXPECT_EQ(cache_.misses(), 2u);
  EXPECT_EQ(parts.words(), whole.words());
}

TEST(KeptChunks, AreThoseOfTheOperand) {
  ChunkLists lists;
  for (int round = 0; round < 2; ++round)
    for (const int n : {8, 64, 256})
      for (const Major major : {Major::K, Major::MN})
        for (std::uint32_t start = 1024; start < 1024 + 16 * 300; start += 16) {
          wgmma::Instruction op = mma(descriptor(start), descriptor(start), true);
          op.form.n = n;
          op.form.major_a = op.form.major_b = major;
          for (const Operand which : {Operand::A, Operand::B})
            ASSERT_EQ(lists.find(op, which)->addresses, chunks_of(op, which).addresses) << n;
          const wgmma::MatrixDescriptor d = wgmma::decode(op.desc_b);
          const auto& addresses = lists.find(op, Operand::B)->addresses;
          ASSERT_EQ(addresses.size(), static_cast<std::size_t>(2 * n));
          const OperandByte last =
              major == Major::K
                  ? wgmma::operand_byte(major, Type::f16, {static_cast<std::uint32_t>(n - 1), 8})
                  : wgmma::operand_byte(major, Type::f16, {static_cast<std::uint32_t>(n - 8), 15});
          ASSERT_EQ(addresses.back(), wgmma::byte_address(d, major, last));
        }
}

// Two accumulators in turns, each group waited for while the next is in flight.
struct Turns {
  Program p{{.threads = 128}};
  std::uint64_t out = 0;

  static constexpr RegisterRange registers(int i) { return {4 * i, 4}; }

  explicit Turns(const std::vector<int>& accumulators) {
    const Address full = p.mbarrier("full");
    const std::uint32_t a = p.shared("A", a_bytes, 1024);
    const std::uint32_t b = p.shared("B", b_bytes, 1024);
    const int map_a = f16_tensor(p, 64, 64, 64);
    const int map_b = f16_tensor(p, mma_n, 64, mma_n);
    out = catalogue::result_buffer(p, 2 * 128 * 16);
    Role all = p.warps("all", 0, 4);
    all.elect().mbarrier_init(full, 1).fence_mbarrier_init();
    all.barrier_sync();
    Role one = all.elect();
    one.mbarrier_arrive_expect_tx(full, a_bytes + b_bytes);
    one.tensor_load(map_a, {{0, 0}}, a, full).tensor_load(map_b, {{0, 0}}, b, full);
    all.mbarrier_try_wait(full, 0).wgmma_fence();
    std::vector<bool> begun(2);
    std::uint32_t step = 0;
    for (const int i : accumulators) {
      const auto at = static_cast<std::size_t>(i);
      all.wgmma(mma(descriptor(a + 32 * (step % 4)), descriptor(b + 32 * (step % 4)), begun[at]),
                registers(i));
      all.wgmma_commit().wgmma_wait(1);
      begun[at] = true;
      ++step;
    }
    all.wgmma_wait(0);
    for (int i = 0; i < 2; ++i)
      all.store_global(out + 128 * 16 * static_cast<std::uint64_t>(i), 16, registers(i));
  }

  std::vector<std::uint32_t> expected(const std::vector<int>& accumulators, int which) const {
    wgmma::State state;
    state.shared = SharedMemory(shared_base_sm90, a_bytes + b_bytes);
    state.registers.d.resize(128 * 4);
    const std::uint32_t a = shared_base_sm90;
    tma::execute(tma::Load{{p.maps()[0], {{0, 0}}, a}}, state.shared, p.initial_global());
    tma::execute(tma::Load{{p.maps()[1], {{0, 0}}, a + a_bytes}}, state.shared, p.initial_global());
    bool begun = false;
    std::uint32_t step = 0;
    for (const int i : accumulators) {
      const std::uint32_t at = 32 * (step++ % 4);
      if (i != which) continue;
      wgmma::execute(state, mma(descriptor(a + at), descriptor(a + a_bytes + at), begun));
      begun = true;
    }
    return state.registers.d;
  }
};

TEST(HeldAccumulators, AreInTheRegistersWhenTheyMayBeRead) {
  for (const std::vector<int>& turns :
       std::vector<std::vector<int>>{{0, 1, 0, 1}, {0, 0, 1, 1}, {0, 1, 1, 0}, {1, 0, 0, 0}}) {
    const Turns in_turns(turns);
    const Report report = explore(in_turns.p, {});
    ASSERT_EQ(report.outcome, Outcome::Right) << oracle::report_text(in_turns.p, report);
    for (int i = 0; i < 2; ++i) {
      std::vector<std::uint32_t> d(128 * 4);
      std::memcpy(d.data(), &report.global[in_turns.out + 128 * 16 * static_cast<std::size_t>(i)],
                  d.size() * 4);
      EXPECT_EQ(d, in_turns.expected(turns, i));
    }
  }
}

// What is true of the first bytes that a store wrote need not be true of all: each lane fences its own.
TEST(KeptChunks, EachLaneHasToFenceItsOwn) {
  for (int missing = -1; missing < 32; ++missing) {
    Program p({.threads = 128});
    const std::uint32_t a = p.shared("A", a_bytes, 1024);
    const std::uint32_t b = p.shared("B", b_bytes, 1024);
    Role all = p.warps("all", 0, 4);
    all.move({8, 4}, 0x3c003c00);
    for (std::uint32_t at = 0; at < a_bytes; at += 128 * 16) all.store_shared({a + at, 16}, 8, 16);
    all.store_shared({b, 8}, 8, 8);
    const std::uint32_t mask = missing < 0 ? all_lanes : all_lanes & ~(1u << missing);
    all.lanes(mask).fence_proxy_async();
    all.barrier_sync();
    all.wgmma_fence();
    all.wgmma(mma(descriptor(a), descriptor(b), false), d_registers).wgmma_commit().wgmma_wait(0);
    const Report report = explore(p, {});
    EXPECT_EQ(report.outcome, missing < 0 ? Outcome::Right : Outcome::Wrong) << missing;
  }
}

// One half of an operand is in order, and so was the other half that lay there before.
TEST(KeptChunks, HalvesOfATileAreLookedAtBoth) {
  for (const int row : {0, 1}) {
    Program p({.threads = 128});
    const auto full = p.mbarriers("full", 2);
    const std::uint32_t a = p.shared("A", a_bytes, 1024);
    const std::uint32_t b = p.shared("B", b_bytes, 1024);
    const int map_a = f16_tensor(p, 64, 64, 64);
    const int map_b = f16_tensor(p, 16, 64, mma_n / 2);
    Role all = p.warps("all", 0, 4);
    for (const Address& barrier : full) all.elect().mbarrier_init(barrier, 1);
    all.elect().fence_mbarrier_init();
    all.barrier_sync();
    Role one = all.elect();
    one.mbarrier_arrive_expect_tx(full[0], a_bytes + b_bytes);
    one.tensor_load(map_a, {{0, 0}}, a, full[0]);
    one.tensor_load(map_b, {{0, 0}}, b, full[0]);
    one.tensor_load(map_b, {{0, mma_n / 2}}, b + b_bytes / 2, full[0]);
    const auto multiply = [&](const Address& barrier) {
      all.mbarrier_try_wait(barrier, 0).wgmma_fence();
      all.wgmma(mma(descriptor(a), descriptor(b), false), d_registers);
      all.wgmma_commit().wgmma_wait(0);
    };
    multiply(full[0]);
    all.barrier_sync();
    one.mbarrier_arrive_expect_tx(full[1], b_bytes / 2);
    one.tensor_load(map_b, {{0, row}}, b, full[1]);
    multiply(full[1]);
    const Report report = explore(p, {});
    ASSERT_EQ(report.outcome, Outcome::Right) << oracle::report_text(p, report);
    EXPECT_EQ(report.suspicions.empty(), row == 0);
  }
}

// A tile that was found in order says nothing of one that another map brings to the same place.
TEST(KeptChunks, AnotherTileAtTheSamePlaceIsLookedAt) {
  for (const Swizzle second : {Swizzle::B128, Swizzle::None}) {
    Program p({.threads = 128});
    const auto full = p.mbarriers("full", 2);
    const std::uint32_t a = p.shared("A", a_bytes, 1024);
    const std::uint32_t b = p.shared("B", b_bytes, 1024);
    const int map_a = f16_tensor(p, 64, 64, 64);
    const int right_b = f16_tensor(p, mma_n, 64, mma_n);
    tma::TensorMap other = p.maps()[static_cast<std::size_t>(right_b)];
    other.swizzle = second;
    const int other_b = p.tensor(other);
    Role all = p.warps("all", 0, 4);
    for (const Address& barrier : full) all.elect().mbarrier_init(barrier, 1);
    all.elect().fence_mbarrier_init();
    all.barrier_sync();
    Role one = all.elect();
    one.mbarrier_arrive_expect_tx(full[0], a_bytes + b_bytes);
    one.tensor_load(map_a, {{0, 0}}, a, full[0]).tensor_load(right_b, {{0, 0}}, b, full[0]);
    const auto multiply = [&](const Address& barrier) {
      all.mbarrier_try_wait(barrier, 0).wgmma_fence();
      all.wgmma(mma(descriptor(a), descriptor(b), false), d_registers);
      all.wgmma_commit().wgmma_wait(0);
    };
    multiply(full[0]);
    all.barrier_sync();
    one.mbarrier_arrive_expect_tx(full[1], b_bytes);
    one.tensor_load(other_b, {{0, 0}}, b, full[1]);
    multiply(full[1]);
    const Report report = explore(p, {});
    ASSERT_EQ(report.outcome, Outcome::Right) << oracle::report_text(p, report);
    const auto is_found =
        std::any_of(report.suspicions.begin(), report.suspicions.end(),
                    [](const Finding& f) { return f.fault == Fault::OperandScrambled; });
    EXPECT_EQ(is_found, second == Swizzle::None);
  }
}

}  // namespace
}  // namespace tcq
