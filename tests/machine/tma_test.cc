// TMA copies on the CPU: which tensor maps exist, where a box lies in shared memory and in the
// tensor, what loads, stores and reductions move. The point of it all is the last group: a tile
// written by TMA and read through a wgmma descriptor gives the tensor's element, in every mode.
#include "sim/machine/tma.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sim/isa/copy/tma_box.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/num/inputs/draw.h"

namespace tcq::tma {
namespace {

constexpr std::uint32_t base = shared_base_sm90;

// 64 x 64 bf16 in rows of 144 bytes, boxes of 32 x 16.
TensorMap small_map() {
  TensorMap map{DataType::BFloat16, 2, 0, {64, 64}, {144}, {32, 16}};
  map.swizzle = Swizzle::B64;
  return map;
}

std::vector<std::uint8_t> random_bytes(std::size_t size, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::uint8_t>(mix(mix(seed) ^ i) >> 20);
  return bytes;
}

State random_state(std::uint32_t shared_bytes, std::size_t global_bytes, std::uint64_t seed) {
  State state{SharedMemory(base, shared_bytes), random_bytes(global_bytes, seed)};
  const std::vector<std::uint8_t> image = random_bytes(shared_bytes, seed + 1);
  std::memcpy(state.shared.data(), image.data(), shared_bytes);
  return state;
}

std::uint64_t element_of(const std::uint8_t* bytes, std::uint32_t width) {
  std::uint64_t element = 0;
  std::memcpy(&element, bytes, width);
  return element;
}

std::uint64_t shared_element(const State& state, const Tile& tile, const BoxElement& e) {
  const std::uint32_t address = shared_address(tile.map, tile.shared_address, e);
  return element_of(state.shared.data() + (address - base), element_bytes(tile.map.type));
}

// A legal map of any swizzle, type, rank and element strides, with a start that a load may have and
// that may lie outside.
Tile random_tile(Draw& draw) {
  Tile tile;
  TensorMap& map = tile.map;
  map.type = static_cast<DataType>(draw.below(data_type_count - 3));
  map.rank = draw.in(1, max_rank);
  map.swizzle = static_cast<Swizzle>(draw.below(4));
  const int span = map.swizzle == Swizzle::None ? 128 : static_cast<int>(span_bytes(map.swizzle));
  map.box[0] = static_cast<std::uint32_t>(16 * draw.in(1, span / 16)) / element_bytes(map.type);
  map.dims[0] = static_cast<std::uint64_t>(draw.in(1, 100));
  std::uint64_t stride = (map.dims[0] * element_bytes(map.type) + 15) / 16 * 16;
  for (int d = 1; d < map.rank; ++d) {
    map.box[d] = static_cast<std::uint32_t>(draw.in(1, 4));
    map.element_strides[d] = static_cast<std::uint32_t>(draw.in(1, 3));
    map.dims[d] = static_cast<std::uint64_t>(draw.in(1, 6));
    map.stride_bytes[d - 1] = stride;
    stride *= map.dims[d];
  }
  for (int d = 0; d < map.rank; ++d) tile.start.at[d] = draw.in(-3, static_cast<int>(map.dims[d]));
  const int unit = 16 / static_cast<int>(element_bytes(map.type));
  tile.start.at[0] = draw.in(-3, static_cast<int>(map.dims[0]) / unit) * unit;
  tile.shared_address = base + 128 * static_cast<std::uint32_t>(draw.below(9));
  return tile;
}

// The same for stores and reductions.
Tile random_outward_tile(Draw& draw) {
  Tile tile = random_tile(draw);
  for (std::int32_t& at : tile.start.at) at = std::max(at, 0);
  return tile;
}

constexpr std::uint32_t room = 64 * 1024;     // for any random_tile's box
constexpr std::size_t tensor_room = 2 << 20;  // and its tensor

// --- which maps exist ----------------------------------------------------------------------------

TEST(TensorMap, TheExampleIsLegal) {
  EXPECT_EQ(check(small_map()), Fault::None);
  EXPECT_EQ(check({DataType::BFloat16,
                   2,
                   0,
                   {1024, 512},
                   {2048},
                   {64, 128},
                   {1, 1},
                   Interleave::None,
                   Swizzle::B128,
                   Fill::Zero}),
            Fault::None);
}

TEST(TensorMap, CheckNamesEveryLimit) {
  const auto fault_after = [](const std::function<void(TensorMap&)>& change) {
    TensorMap map = small_map();
    change(map);
    return check(map);
  };
  const std::vector<std::pair<Fault, std::function<void(TensorMap&)>>> table = {
      {Fault::TensorMapRank, [](TensorMap& m) { m.rank = 0; }},
      {Fault::TensorMapRank, [](TensorMap& m) { m.rank = 6; }},
      {Fault::None, [](TensorMap& m) { m.rank = 1; }},
      {Fault::TensorMapRank, [](TensorMap& m) { m.interleave = Interleave::B16; }},
      {Fault::TensorMapAddress, [](TensorMap& m) { m.address = 8; }},
      {Fault::None, [](TensorMap& m) { m.address = 16; }},
      {Fault::TensorMapDim, [](TensorMap& m) { m.dims[1] = 0; }},
      {Fault::None, [](TensorMap& m) { m.dims[1] = max_dim; }},
      {Fault::TensorMapDim, [](TensorMap& m) { m.dims[1] = max_dim + 1; }},
      {Fault::TensorMapStride, [](TensorMap& m) { m.stride_bytes[0] = 152; }},
      {Fault::None, [](TensorMap& m) { m.stride_bytes[0] = stride_limit - 16; }},
      {Fault::TensorMapStride, [](TensorMap& m) { m.stride_bytes[0] = stride_limit; }},
      {Fault::TensorMapBox, [](TensorMap& m) { m.box[1] = 0; }},
      {Fault::None, [](TensorMap& m) { m.box[1] = 256; }},
      {Fault::TensorMapBox, [](TensorMap& m) { m.box[1] = 257; }},
      {Fault::TensorMapInnerBox, [](TensorMap& m) { m.box[0] = 12; }},
      {Fault::None, [](TensorMap& m) { m.box[0] = 8; }},
      {Fault::TensorMapSpan, [](TensorMap& m) { m.box[0] = 40; }},
      {Fault::TensorMapElementStride, [](TensorMap& m) { m.element_strides[1] = 0; }},
      {Fault::None, [](TensorMap& m) { m.element_strides[1] = 8; }},
      {Fault::TensorMapElementStride, [](TensorMap& m) { m.element_strides[1] = 9; }},
      {Fault::TensorMapElementStride, [](TensorMap& m) { m.element_strides[0] = 0; }},
      {Fault::None, [](TensorMap& m) { m.element_strides[0] = 8; }},
      {Fault::TensorMapElementStride, [](TensorMap& m) { m.element_strides[0] = 9; }},
      {Fault::TensorMapBoxBytes,
       [](TensorMap& m) {
         m.swizzle = Swizzle::None;
         m.box[0] = m.box[1] = 256;
         m.dims[2] = m.box[2] = 2;
         m.rank = 3;
       }},
      {Fault::None,
       [](TensorMap& m) {
         m.swizzle = Swizzle::None;
         m.box[0] = m.box[1] = 256;
         m.dims[2] = m.box[2] = m.element_strides[2] = 2;
         m.rank = 3;
       }},
      // Three of seven count as none, although one is moved.
      {Fault::None,
       [](TensorMap& m) {
         m.swizzle = Swizzle::None;
         m.box[0] = m.box[1] = 256;
         m.dims[2] = m.box[2] = 3;
         m.element_strides[2] = 7;
         m.rank = 3;
       }},
      // So does the element stride of dimension 0, which moves nothing less.
      {Fault::None,
       [](TensorMap& m) {
         m.swizzle = Swizzle::None;
         m.box[0] = m.box[1] = 256;
         m.dims[2] = m.box[2] = m.element_strides[0] = 2;
         m.rank = 3;
       }},
      {Fault::None, [](TensorMap& m) { m.fill = Fill::NaN; }},
      {Fault::TargetLacksSwizzleAtoms, [](TensorMap& m) { m.swizzle = Swizzle::B128Atom32; }},
      {Fault::TargetLacksSwizzleAtoms, [](TensorMap& m) { m.swizzle = Swizzle::B128Atom64; }},
      {Fault::TargetLacksPackedTypes, [](TensorMap& m) { m.type = DataType::U4Align8; }},
  };
  for (std::size_t i = 0; i < table.size(); ++i)
    EXPECT_EQ(info(fault_after(table[i].second)).name, info(table[i].first).name) << "line " << i;
  EXPECT_EQ(fault_after([](TensorMap& m) {
              m.type = DataType::UInt16;
              m.fill = Fill::NaN;
            }),
            Fault::TensorMapFill);
}

TEST(TensorMap, InterleavedOnesAreCheckedButNotModelled) {
  TensorMap map{DataType::UInt16, 3, 0, {16, 8, 8}, {32, 256}, {16, 4, 4}};
  map.interleave = Interleave::B32;
  EXPECT_EQ(info(check(map)).kind, FaultKind::Unmodelled);
  map.swizzle = Swizzle::B64;
  EXPECT_EQ(info(check(map)).kind, FaultKind::Unmodelled);
  map.stride_bytes[0] = 48;
  EXPECT_EQ(check(map), Fault::TensorMapStride);
}

TEST(TensorMap, AnInterleavedBoxHasEveryLimitButTheSpan) {
  for (const Interleave interleave : {Interleave::B16, Interleave::B32}) {
    TensorMap map{DataType::UInt64, 3, 0, {21, 15, 2}, {192, 2656}, {255, 12, 1}};
    map.interleave = interleave;
    map.swizzle = Swizzle::B32;
    EXPECT_EQ(check(map), Fault::TensorMapInnerBox) << "2040 bytes";
    map.box[0] = 254;
    EXPECT_EQ(check(map), Fault::UnmodelledInterleave) << "127 times 16 bytes, far over the span";
    map.box[1] = 114;
    EXPECT_EQ(check(map), Fault::UnmodelledInterleave) << "226.2 KiB";
    map.box[1] = 115;
    EXPECT_EQ(check(map), Fault::TensorMapBoxBytes) << "228.2 KiB";
    map.element_strides[0] = 2;
    EXPECT_EQ(check(map), Fault::UnmodelledInterleave) << "counts as half of it";
  }
}

// --- the box in shared memory --------------------------------------------------------------------

TEST(Swizzle, WorkedAddresses) {
  EXPECT_EQ(swizzle_function(Swizzle::None).apply(0x5e0), 0x5e0u);
  EXPECT_EQ(swizzle_function(Swizzle::B32).apply(0x5e0), 0x5f0u);
  EXPECT_EQ(swizzle_function(Swizzle::B64).apply(0x5e0), 0x5d0u);
  EXPECT_EQ(swizzle_function(Swizzle::B128).apply(0x5e0), 0x5d0u);
  EXPECT_EQ(swizzle_function(Swizzle::B128Atom32).apply(0x5e0), 0x580u);
  EXPECT_EQ(swizzle_function(Swizzle::B128Atom64).apply(0x5e0), 0x5a0u);
}

TEST(TmaTile, WorkedElement) {
  TensorMap map{DataType::BFloat16, 2, 0, {1024, 512}, {2048}, {64, 128}};
  map.swizzle = Swizzle::B128;
  EXPECT_EQ(shared_address(map, 1024, {{5, 11}}), 2490u);
  EXPECT_EQ(global_address(map, {{64, 100}}, {{5, 11}}), 111u * 2048 + 69 * 2);
  EXPECT_EQ(complete_tx_bytes(map), 16384u);
}

TEST(TmaTile, AddressesAreABijectionOntoWholeChunks) {
  Draw draw(1);
  for (int i = 0; i < 300; ++i) {
    const Tile tile = random_tile(draw);
    const TensorMap& map = tile.map;
    const std::uint32_t width = element_bytes(map.type);
    std::set<std::uint32_t> bytes;
    for (std::uint32_t j = 0; j < box_elements(map); ++j) {
      const std::uint32_t address = shared_address(map, tile.shared_address, box_element(map, j));
      EXPECT_EQ(address % width, 0u);
      EXPECT_GE(address, tile.shared_address / 128 * 128);
      bytes.insert(address);
    }
    EXPECT_EQ(bytes.size(), box_elements(map));
    EXPECT_EQ(complete_tx_bytes(map), box_elements(map) * width);
  }
}

TEST(TmaTile, BoxElementsCountEveryDimensionOnce) {
  TensorMap map{DataType::UInt32, 3, 0, {8, 8, 8}, {32, 256}, {4, 5, 7}, {4, 2, 3}};
  EXPECT_EQ(extent(map, 0), 4u);  // dimension 0 has no stride
  EXPECT_EQ(extent(map, 1), 3u);
  EXPECT_EQ(extent(map, 2), 3u);
  EXPECT_EQ(box_element(map, 4 * 3 * 2 + 4 * 1 + 3), (BoxElement{{3, 1, 2}}));
  EXPECT_EQ(tensor_coordinate(map, {{0, 1, 1}}, {{3, 1, 2}}, 2), 7);
}

// --- moving bytes --------------------------------------------------------------------------------

TEST(TmaLoad, WritesTheBoxAndNothingElse) {
  Draw draw(2);
  for (int i = 0; i < 200; ++i) {
    const Tile tile = random_tile(draw);
    const State before = random_state(room, tensor_room, 10 + static_cast<std::uint64_t>(i));
    State after = before;
    ASSERT_EQ(execute(after, Load{tile}), Fault::None);
    EXPECT_EQ(after.global, before.global);
    std::set<std::uint32_t> written;
    for (std::uint32_t j = 0; j < box_elements(tile.map); ++j)
      for (std::uint32_t b = 0; b < element_bytes(tile.map.type); ++b)
        written.insert(shared_address(tile.map, tile.shared_address, box_element(tile.map, j)) -
                       base + b);
    for (std::uint32_t at = 0; at < room; ++at) {
      if (written.contains(at)) continue;
      ASSERT_EQ(after.shared.data()[at], before.shared.data()[at]) << at;
    }
  }
}

TEST(TmaLoad, ElementsComeFromTheTensorOrAreFilled) {
  Draw draw(3);
  int outside = 0;
  for (int i = 0; i < 200; ++i) {
    Tile tile = random_tile(draw);
    tile.map.fill = is_float(tile.map.type) && draw.one_in(2) ? Fill::NaN : Fill::Zero;
    State state = random_state(room, tensor_room, 500 + static_cast<std::uint64_t>(i));
    ASSERT_EQ(execute(state, Load{tile}), Fault::None);
    for (std::uint32_t j = 0; j < box_elements(tile.map); ++j) {
      const BoxElement e = box_element(tile.map, j);
      std::uint64_t want = fill_bits(tile.map.type, tile.map.fill);
      if (in_bounds(tile.map, tile.start, e))
        want = loaded_bits(tile.map.type,
                           element_of(&state.global[global_address(tile.map, tile.start, e)],
                                      element_bytes(tile.map.type)));
      else
        ++outside;
      ASSERT_EQ(shared_element(state, tile, e), want);
    }
  }
  EXPECT_GT(outside, 1000);
}

TEST(TmaLoad, RoundsTf32AndFillsWithNaN) {
  using enum DataType;
  for (const DataType type : {TFloat32, TFloat32Ftz}) {
    EXPECT_EQ(loaded_bits(type, 0x3f801000), 0x3f800000u);  // ties to even
    EXPECT_EQ(loaded_bits(type, 0x3f803000), 0x3f804000u);
    EXPECT_EQ(loaded_bits(type, 0x807fffff), 0x80800000u);  // no flush
    EXPECT_EQ(loaded_bits(type, 0x7f7fffff), 0x7f800000u);
    EXPECT_EQ(loaded_bits(type, 0xffbfffff), 0x7fffe000u);
  }
  EXPECT_EQ(loaded_bits(Float32Ftz, 0x80000001), 0x80000001u);
  EXPECT_EQ(fill_bits(BFloat16, Fill::NaN), 0x7ff7u);
  EXPECT_EQ(fill_bits(TFloat32, Fill::NaN), 0x7ff77ff7u);
  EXPECT_EQ(fill_bits(Float64, Fill::NaN), 0x7ff77ff77ff77ff7u);
  EXPECT_EQ(fill_bits(Float64, Fill::Zero), 0u);
}

TEST(TmaStore, WritesWholeUnitsOfTheTensorAndNothingElse) {
  Draw draw(4);
  for (int i = 0; i < 200; ++i) {
    const Tile tile = random_outward_tile(draw);
    const State before = random_state(room, tensor_room, 900 + static_cast<std::uint64_t>(i));
    State after = before;
    ASSERT_EQ(execute(after, Store{tile}), Fault::None);
    EXPECT_EQ(after.shared, before.shared);
    std::vector<std::uint8_t> want = before.global;
    for (std::uint32_t j = 0; j < box_elements(tile.map); ++j) {
      const BoxElement e = box_element(tile.map, j);
      if (!is_written(tile.map, tile.start, e)) continue;
      const std::uint64_t element = shared_element(before, tile, e);
      std::memcpy(&want[global_address(tile.map, tile.start, e)], &element,
                  element_bytes(tile.map.type));
    }
    EXPECT_EQ(after.global, want);
  }
}

TEST(TmaReduce, WorkedResults) {
  using enum DataType;
  EXPECT_EQ(reduce(Reduction::Add, UInt32, 0xffffffff, 2) & 0xffffffff, 1u);
  EXPECT_EQ(reduce(Reduction::Min, UInt32, 0xffffffff, 2), 2u);
  EXPECT_EQ(reduce(Reduction::Min, Int32, 0xffffffff, 2), 0xffffffffu);
  EXPECT_EQ(reduce(Reduction::Max, Int64, ~std::uint64_t{0}, 2), 2u);
  EXPECT_EQ(reduce(Reduction::Max, UInt64, ~std::uint64_t{0}, 2), ~std::uint64_t{0});
  EXPECT_EQ(reduce(Reduction::Inc, UInt32, 6, 7), 7u);
  EXPECT_EQ(reduce(Reduction::Inc, UInt32, 7, 7), 0u);
  EXPECT_EQ(reduce(Reduction::Dec, UInt32, 0, 7), 7u);
  EXPECT_EQ(reduce(Reduction::Dec, UInt32, 8, 7), 7u);
  EXPECT_EQ(reduce(Reduction::Dec, UInt32, 5, 7), 4u);
  EXPECT_EQ(reduce(Reduction::Xor, UInt32, 5, 7), 2u);
}

TEST(TmaReduce, ExistsForTheTypesOfThePtxTableAndTf32) {
  EXPECT_EQ(check(Reduction::Inc, DataType::UInt64), Fault::ReductionType);
  EXPECT_EQ(check(Reduction::Add, DataType::UInt8), Fault::ReductionType);
  EXPECT_EQ(check(Reduction::And, DataType::Float32), Fault::ReductionType);
  EXPECT_EQ(check(Reduction::Min, DataType::Float32), Fault::ReductionType);
  EXPECT_EQ(check(Reduction::Inc, DataType::BFloat16), Fault::ReductionType);
  EXPECT_EQ(check(Reduction::Add, DataType::TFloat32), Fault::None);
  EXPECT_EQ(check(Reduction::Add, DataType::Float64), Fault::None);
  EXPECT_EQ(check(Reduction::Min, DataType::BFloat16), Fault::None);
  EXPECT_EQ(check(Reduction::Max, DataType::Int64), Fault::None);
}

// Row 0 of the box is row 1 of the tensor; 24 of its 32 bytes belong to the tensor, and the last
// unit of 16 bytes is written whole.
TEST(TmaReduce, ChangesWholeUnitsOfTheRowsInBounds) {
  Tile tile{{DataType::UInt32, 2, 0, {6, 3}, {32}, {4, 4}}, {{4, 1}}, base};
  const State before = random_state(1024, 96, 7);
  State after = before;
  ASSERT_EQ(execute(after, Reduce{tile, Reduction::Xor}), Fault::None);
  for (std::size_t at = 0; at < 96; ++at) {
    const std::size_t row = at / 32, byte = at % 32;
    const bool inside = row >= 1 && row < 3 && byte >= 16;
    const std::uint8_t flip =
        inside ? before.shared.data()[(row - 1) * 16 + byte - 16] : std::uint8_t{0};
    EXPECT_EQ(after.global[at], before.global[at] ^ flip) << at;
  }
}

TEST(TmaMulticast, WritesTheCtasOfTheMask) {
  const Tile tile{small_map(), {{8, 4}}, base + 512};
  const State one = random_state(8192, 64 * 144, 8);
  State loaded = one;
  ASSERT_EQ(execute(loaded, Load{tile}), Fault::None);
  ClusterState cluster{std::vector<SharedMemory>(4, one.shared), one.global};
  ASSERT_EQ(execute(cluster, MulticastLoad{tile, 0b1010}), Fault::None);
  for (std::size_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(cluster.shared[rank], rank % 2 == 1 ? loaded.shared : one.shared) << rank;
}

// A box of 2^32 bytes, which the encoder counts as none: an element stride is larger than its side.
TensorMap large_strided_map() {
  TensorMap map;
  map.type = DataType::UInt8;
  map.rank = 5;
  for (int d = 0; d < 5; ++d) {
    map.dims[d] = 256;
    map.box[d] = d == 4 ? 1 : 256;
    map.element_strides[d] = d == 4 ? 2 : 1;
    if (d < 4) map.stride_bytes[d] = 256;
  }
  return map;
}

TEST(TmaFaults, ChangeNothing) {
  const State state = random_state(4096, 64 * 144, 9);
  const auto expect_fault = [&state](Tile tile, Fault fault) {
    State after = state;
    EXPECT_EQ(execute(after, Load{tile}), fault) << info(fault).name;
    EXPECT_EQ(after, state);
    EXPECT_EQ(execute(after, Store{tile}), fault) << info(fault).name;
    EXPECT_EQ(after, state);
  };
  const Tile good{small_map(), {}, base};
  State after = state;
  EXPECT_EQ(execute(after, Load{good}), Fault::None);
  Tile bad = good;
  bad.map.rank = 0;
  expect_fault(bad, Fault::TensorMapRank);
  bad = good;
  bad.shared_address += 64;
  expect_fault(bad, Fault::TileUnaligned);
  bad = good;
  bad.start.at[0] = 4;  // 8 bytes
  expect_fault(bad, Fault::TileStartUnaligned);
  bad = good;
  bad.shared_address = base + 4096 - 512;
  expect_fault(bad, Fault::SharedMemoryOutOfRange);
  bad.map = large_strided_map();
  ASSERT_EQ(check(bad.map), Fault::None);
  expect_fault(bad, Fault::SharedMemoryOutOfRange);
  bad = good;
  bad.map.address = 1024;
  bad.start.at[1] = 48;
  expect_fault(bad, Fault::TileOutOfTensorMemory);
  ClusterState cluster{std::vector<SharedMemory>(2, state.shared), state.global};
  const ClusterState before = cluster;
  EXPECT_EQ(execute(cluster, MulticastLoad{good, 0}), Fault::MulticastMask);
  EXPECT_EQ(execute(cluster, MulticastLoad{good, 0b100}), Fault::MulticastMask);
  EXPECT_EQ(cluster, before);
  after = state;
  EXPECT_EQ(execute(after, Reduce{good, Reduction::Xor}), Fault::ReductionType);
  EXPECT_EQ(after, state);
  for (const Coordinates& start : {Coordinates{{-8, 0}}, Coordinates{{8, -1}}}) {
    Tile tile = good;
    tile.start = start;
    after = state;
    EXPECT_EQ(execute(after, Store{tile}), Fault::TileStartNegative);
    EXPECT_EQ(execute(after, Reduce{tile, Reduction::Min}), Fault::TileStartNegative);
    EXPECT_EQ(after, state);
    EXPECT_EQ(execute(after, Load{tile}), Fault::None);
  }
}

// --- TMA writes, wgmma reads ---------------------------------------------------------------------

struct Composition {
  Swizzle swizzle;
  Major major;
  DataType data_type;
  Type type;
  AtomOrder order;
  std::uint32_t start;
};

// The tile as the boxes of tma_box.h, out of a tensor whose rows are the tile's.
State written_by_tma(const Composition& c, const ::tcq::Tile& tile) {
  const std::uint32_t width = element_bytes(c.data_type);
  const TmaBoxes boxes = tma_boxes(tile);
  TensorMap map{c.data_type,
                2,
                0,
                {tile.contiguous_bytes / width, tile.rows},
                {tile.contiguous_bytes},
                {boxes.box.inner_bytes / width, boxes.box.rows}};
  map.swizzle = c.swizzle;
  State state = random_state(room, tile.bytes(), 77);
  for (std::uint32_t i = 0; i < boxes.count_contiguous; ++i) {
    for (std::uint32_t j = 0; j < boxes.count_rows; ++j) {
      const Coordinates start{
          {static_cast<std::int32_t>(i * map.box[0]), static_cast<std::int32_t>(j * map.box[1])}};
      const std::uint32_t at =
          c.start + i * boxes.step_contiguous_bytes + j * boxes.step_rows_bytes;
      EXPECT_EQ(execute(state, Load{{map, start, at}}), Fault::None);
    }
  }
  return state;
}

// Steps along K as a kernel does: the start moves by k_advance_bytes().
void expect_wgmma_reads_the_tensor(const Composition& c) {
  const std::uint32_t width = element_bytes(c.data_type);
  const std::uint32_t pitch = pitch_bytes(c.swizzle);
  const ::tcq::Tile tile{c.major, pitch, c.order, 2 * std::max(pitch, 32u),
                         c.major == Major::K ? 64u : 32u};
  const State state = written_by_tma(c, tile);
  const CanonicalLayout layout = canonical_layout(tile);
  const std::uint32_t step = 32 / width;  // elements of K per instruction
  const std::uint32_t mns = c.major == Major::K ? tile.rows : tile.contiguous_bytes / width;
  const std::uint32_t ks = c.major == Major::K ? tile.contiguous_bytes / width : tile.rows;
  for (std::uint32_t block = 0; block < ks / step; ++block) {
    const std::uint32_t k0 = block * step;
    const std::uint32_t advance = k_advance_bytes(tile, c.major == Major::K ? k0 * width : k0);
    const wgmma::MatrixDescriptor d{c.start + advance, layout.lbo_bytes, layout.sbo_bytes, 0,
                                    c.swizzle};
    for (std::uint32_t mn = 0; mn < mns; ++mn) {
      for (std::uint32_t k = 0; k < step; ++k) {
        const std::uint32_t row = c.major == Major::K ? mn : k0 + k;
        const std::uint32_t col = c.major == Major::K ? k0 + k : mn;
        const std::uint32_t address = wgmma::element_address(d, c.major, c.type, {mn, k});
        ASSERT_EQ(element_of(state.shared.data() + (address - base), width),
                  element_of(&state.global[row * tile.contiguous_bytes + col * width], width))
            << name(c.swizzle) << " start " << c.start << " mn " << mn << " k " << k0 + k;
      }
    }
  }
}

TEST(TmaThenWgmma, EveryModeReadsTheTensorsElement) {
  using enum Swizzle;
  for (const Swizzle swizzle : {None, B32, B64, B128}) {
    for (const AtomOrder order : {AtomOrder::MnFirst, AtomOrder::KFirst}) {
      for (std::uint32_t start = base; start < base + 1024; start += 128) {
        for (const Major major : {Major::K, Major::MN})
          expect_wgmma_reads_the_tensor(
              {swizzle, major, DataType::BFloat16, Type::bf16, order, start});
        for (const auto& [data_type, type] :
             {std::pair{DataType::UInt8, Type::s8}, {DataType::Float32, Type::tf32}})
          expect_wgmma_reads_the_tensor({swizzle, Major::K, data_type, type, order, start});
      }
    }
  }
}

TEST(TmaThenWgmma, TheDriversNamesAreTheModes) {
  for (int i = 0; i < swizzle_count; ++i) {
    const auto swizzle = static_cast<Swizzle>(i);
    EXPECT_EQ(
        "CU_TENSOR_MAP_SWIZZLE_" + std::string(swizzle == Swizzle::None ? "NONE" : name(swizzle)),
        tensor_map_swizzle(swizzle));
  }
}

}  // namespace
}  // namespace tcq::tma
