// Bulk copies without a tensor map on the CPU: which bytes each direction moves, which sizes,
// addresses and reductions exist, and that a fault changes nothing.
#include "sim/machine/bulk.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "sim/num/inputs/draw.h"
#include "sim/num/reduce_float.h"

namespace tcq::bulk {
namespace {

using tma::DataType;
using tma::Reduction;

constexpr std::uint32_t base = shared_base_sm90;
constexpr std::uint32_t shared_bytes = 4096;
constexpr std::size_t global_bytes = 8192;

State random_state(std::uint64_t seed) {
  State state{SharedMemory(base, shared_bytes), std::vector<std::uint8_t>(global_bytes)};
  Draw draw(seed);
  for (std::uint32_t i = 0; i < shared_bytes; ++i)
    state.shared.data()[i] = static_cast<std::uint8_t>(draw.below(256));
  for (std::uint8_t& byte : state.global) byte = static_cast<std::uint8_t>(draw.below(256));
  return state;
}

// Every CTA's shared memory is different.
ClusterState random_cluster(int ctas) {
  ClusterState state;
  for (int rank = 0; rank < ctas; ++rank)
    state.shared.push_back(random_state(static_cast<std::uint64_t>(10 + rank)).shared);
  state.global = random_state(9).global;
  return state;
}

Range random_range(Draw& draw) {
  const int bytes = 16 * draw.in(0, 64);
  return {
      static_cast<std::uint64_t>(16 * draw.below((static_cast<int>(global_bytes) - bytes) / 16)),
      base + 16 * static_cast<std::uint32_t>(
                      draw.below((static_cast<int>(shared_bytes) - bytes) / 16)),
      static_cast<std::uint32_t>(bytes)};
}

bool inside(std::size_t at, std::size_t first, std::size_t bytes) {
  return at >= first && at < first + bytes;
}

TEST(BulkCopy, LoadCopiesTheRangeAndNothingElse) {
  Draw draw(1);
  for (int i = 0; i < 200; ++i) {
    const Range range = random_range(draw);
    const State before = random_state(2);
    State after = before;
    ASSERT_EQ(execute(after, Load{range}), Fault::None);
    EXPECT_EQ(after.global, before.global);
    for (std::uint32_t at = 0; at < shared_bytes; ++at) {
      const std::size_t first = range.shared - base;
      const std::uint8_t want = inside(at, first, range.bytes)
                                    ? before.global[range.global + at - first]
                                    : before.shared.data()[at];
      ASSERT_EQ(after.shared.data()[at], want) << at;
    }
  }
}

TEST(BulkCopy, StoreIsTheInverseOfLoad) {
  Draw draw(3);
  for (int i = 0; i < 200; ++i) {
    const Range range = random_range(draw);
    const State before = random_state(4);
    State after = before;
    ASSERT_EQ(execute(after, Store{range}), Fault::None);
    EXPECT_EQ(after.shared, before.shared);
    State loaded = after;
    loaded.shared = SharedMemory(base, shared_bytes);
    ASSERT_EQ(execute(loaded, Load{range}), Fault::None);
    for (std::uint32_t at = 0; at < range.bytes; ++at)
      ASSERT_EQ(loaded.shared.data()[range.shared - base + at],
                before.shared.data()[range.shared - base + at]);
    for (std::size_t at = 0; at < global_bytes; ++at)
      if (!inside(at, range.global, range.bytes)) {
        ASSERT_EQ(after.global[at], before.global[at]) << at;
      }
  }
}

TEST(BulkReduce, CombinesElementByElement) {
  const Range range{64, base + 128, 48};
  for (const auto& [op, type] : {std::pair{Reduction::Add, DataType::UInt32},
                                 {Reduction::Max, DataType::Int64},
                                 {Reduction::And, DataType::UInt64},
                                 {Reduction::Dec, DataType::UInt32},
                                 {Reduction::Add, DataType::Float32},
                                 {Reduction::Min, DataType::BFloat16}}) {
    const State before = random_state(5);
    State after = before;
    ASSERT_EQ(execute(after, Reduce{range, op, type}), Fault::None);
    EXPECT_EQ(after.shared, before.shared);
    State want = before;
    const std::uint32_t width = tma::element_bytes(type);
    for (std::uint32_t i = 0; i < range.bytes; i += width) {
      std::uint64_t old = 0, tile = 0;
      std::memcpy(&old, &before.global[range.global + i], width);
      std::memcpy(&tile, before.shared.data() + (range.shared - base) + i, width);
      const std::uint64_t result = tma::reduced_bits(op, type, old, tile);
      std::memcpy(&want.global[range.global + i], &result, width);
    }
    EXPECT_EQ(after.global, want.global) << tma::name(op) << tma::name(type);
  }
}

TEST(BulkMulticast, WritesTheCtasOfTheMask) {
  const Range range{256, base + 64, 512};
  const ClusterState before = random_cluster(4);
  ClusterState after = before;
  ASSERT_EQ(execute(after, MulticastLoad{range, 0b0110}), Fault::None);
  EXPECT_EQ(after.global, before.global);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    State one{before.shared[rank], before.global};
    ASSERT_EQ(execute(one, Load{range}), Fault::None);
    const bool named = rank == 1 || rank == 2;
    EXPECT_EQ(after.shared[rank], named ? one.shared : before.shared[rank]) << rank;
  }
}

TEST(BulkSend, WritesTheDestinationOnly) {
  const ClusterState before = random_cluster(4);
  ClusterState after = before;
  ASSERT_EQ(execute(after, Send{2, base + 16, 1, base + 1024, 64}), Fault::None);
  ClusterState want = before;
  std::memcpy(want.shared[1].data() + 1024, before.shared[2].data() + 16, 64);
  EXPECT_EQ(after, want);
}

TEST(BulkSend, ReducesAtTheDestination) {
  const ClusterState before = random_cluster(2);
  ClusterState after = before;
  const Send send{0, base + 16, 1, base + 1024, 64};
  ASSERT_EQ(execute(after, SendReduce{send, Reduction::Xor, DataType::UInt32}), Fault::None);
  ClusterState want = before;
  for (std::uint32_t i = 0; i < 64; ++i)
    want.shared[1].data()[1024 + i] ^= before.shared[0].data()[16 + i];
  EXPECT_EQ(after, want);
}

// Ranges that overlap in one CTA: every byte is read before it is written.
TEST(BulkSend, ToTheOwnCtaMovesTheOldBytes) {
  const ClusterState before = random_cluster(2);
  ClusterState after = before;
  ASSERT_EQ(execute(after, Send{1, base, 1, base + 16, 64}), Fault::None);
  EXPECT_EQ(std::memcmp(after.shared[1].data() + 16, before.shared[1].data(), 64), 0);
}

TEST(BulkCopy, CompleteTxIsTheSize) {
  EXPECT_EQ(complete_tx_bytes(48), 48u);
  EXPECT_EQ(complete_tx_bytes(max_bytes), 1048560u);
}

TEST(BulkCopy, MovedBytesAreWholeUnitsInSixteenBits) {
  for (const std::uint32_t bytes : {0u, 16u, 48u, 65536u, max_bytes})
    EXPECT_EQ(moved_bytes(bytes), bytes) << "a legal size";
  EXPECT_EQ(moved_bytes(15), 0u);
  EXPECT_EQ(moved_bytes(17), 16u);
  EXPECT_EQ(moved_bytes(40), 32u);
  EXPECT_EQ(moved_bytes(max_bytes + unit_bytes), 0u);
}

TEST(BulkFaults, ChangeNothing) {
  const State before = random_state(6);
  const Range good{64, base + 64, 64};
  const auto expect = [&](Fault fault, const std::function<void(Range&)>& change) {
    Range range = good;
    change(range);
    State after = before;
    EXPECT_EQ(execute(after, Load{range}), fault) << info(fault).name;
    EXPECT_EQ(execute(after, Store{range}), fault) << info(fault).name;
    EXPECT_EQ(execute(after, Reduce{range, Reduction::Add, DataType::UInt32}), fault);
    EXPECT_EQ(after, before);
    ClusterState cluster{{before.shared, before.shared}, before.global};
    const ClusterState unchanged = cluster;
    EXPECT_EQ(execute(cluster, MulticastLoad{range, 3}), fault);
    EXPECT_EQ(cluster, unchanged);
  };
  for (const std::uint32_t offset : {1u, 4u, 8u}) {
    expect(Fault::BulkUnaligned, [=](Range& r) { r.global += offset; });
    expect(Fault::BulkUnaligned, [=](Range& r) { r.shared += offset; });
    expect(Fault::BulkBytes, [=](Range& r) { r.bytes += offset; });
  }
  expect(Fault::BulkBytes, [](Range& r) { r.bytes = max_bytes + unit_bytes; });
  expect(Fault::SharedMemoryOutOfRange, [](Range& r) { r.bytes = max_bytes; });
  expect(Fault::SharedMemoryOutOfRange, [](Range& r) { r.shared = base + shared_bytes - 48; });
  expect(Fault::SharedMemoryOutOfRange, [](Range& r) { r.shared = base - 16; });
  expect(Fault::GlobalOutOfRange, [](Range& r) { r.global = global_bytes - 48; });
  expect(Fault::GlobalOutOfRange, [](Range& r) { r.global = ~std::uint64_t{15}; });
  State after = before;
  EXPECT_EQ(execute(after, Load{{global_bytes, base + shared_bytes, 0}}), Fault::None);
  EXPECT_EQ(after, before) << "nothing is moved";
}

TEST(BulkFaults, OfClusters) {
  const ClusterState before = random_cluster(2);
  ClusterState after = before;
  const auto send = [&after](const Send& s) {
    const Fault fault = execute(after, s);
    EXPECT_EQ(execute(after, SendReduce{s, Reduction::Add, DataType::UInt32}), fault);
    return fault;
  };
  EXPECT_EQ(send({2, base, 0, base, 64}), Fault::CtaRankOutOfRange);
  EXPECT_EQ(send({0, base, 2, base, 64}), Fault::CtaRankOutOfRange);
  EXPECT_EQ(send({0, base + 8, 1, base, 64}), Fault::BulkUnaligned);
  EXPECT_EQ(send({0, base, 1, base + 4, 64}), Fault::BulkUnaligned);
  EXPECT_EQ(send({0, base, 1, base, 40}), Fault::BulkBytes);
  EXPECT_EQ(send({0, base + shared_bytes, 1, base, 64}), Fault::SharedMemoryOutOfRange);
  EXPECT_EQ(send({0, base, 1, base + shared_bytes, 64}), Fault::SharedMemoryOutOfRange);
  EXPECT_EQ(execute(after, MulticastLoad{{0, base, 64}, 0}), Fault::MulticastMask);
  EXPECT_EQ(execute(after, MulticastLoad{{0, base, 64}, 4}), Fault::MulticastMask);
  EXPECT_EQ(execute(after, SendReduce{{0, base, 1, base, 64}, Reduction::Add, DataType::Float32}),
            Fault::ReductionType);
  EXPECT_EQ(after, before);
}

// Counted by trying every spelling on ptxas 13.0.
TEST(BulkReductions, AreThoseThatPtxasAccepts) {
  int global = 0, shared = 0;
  for (int op = 0; op < tma::reduction_count; ++op) {
    for (int type = 0; type < tma::data_type_count; ++type) {
      const auto o = static_cast<Reduction>(op);
      const auto t = static_cast<DataType>(type);
      const bool bits_of_signed = o >= Reduction::And && t == DataType::Int32;  // .b32 once
      if (bits_of_signed) continue;
      global += check_global(o, t) == Fault::None ? 1 : 0;
      shared += check_shared(o, t) == Fault::None ? 1 : 0;
    }
  }
  EXPECT_EQ(global, 27);
  EXPECT_EQ(shared, 12);
  EXPECT_EQ(check_global(Reduction::Add, DataType::Float32Ftz), Fault::ReductionType);
  EXPECT_EQ(check_global(Reduction::Max, DataType::Float16), Fault::None);
  EXPECT_EQ(check_shared(Reduction::Max, DataType::UInt64), Fault::ReductionType);
  EXPECT_EQ(check_shared(Reduction::Add, DataType::Int64), Fault::ReductionType);
}

}  // namespace
}  // namespace tcq::bulk
