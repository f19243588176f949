// TMA copies of packed types, 4 and 6 bits to an element, and what a store reads of a box that the tensor has not whole.
// Those of whole bytes: tma_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "sim/isa/copy/tensor_map.h"
#include "sim/machine/tma.h"

namespace tcq::tma {
namespace {

// 256 x 4 elements, of 4 bits or padded ones.
TensorMap packed_map(DataType type) {
  const bool padded = is_padded(type);
  return {type, 2, 0, {256, 4}, {192}, {padded ? 128u : 64u, 4}};
}

TEST(TensorMap, PackedTypesHaveLimitsOfTheirOwn) {
  using enum DataType;
  const auto fault = [](DataType type, const std::function<void(TensorMap&)>& change) {
    TensorMap map = packed_map(type);
    change(map);
    return check(map, Capability::V10);
  };
  for (const DataType type : {U4Align8, U4Align16, U6Align16}) {
    EXPECT_EQ(fault(type, [](TensorMap&) {}), Fault::None) << name(type);
    EXPECT_EQ(check(packed_map(type)), Fault::TargetLacksPackedTypes) << name(type);
    EXPECT_EQ(fault(type, [](TensorMap& m) { m.fill = Fill::NaN; }), Fault::TensorMapFill);
    EXPECT_EQ(fault(type, [](TensorMap& m) { m.dims[0] = 255; }), Fault::TensorMapDim);
    const Fault of_padded = is_padded(type) ? Fault::TensorMapDim : Fault::None;
    EXPECT_EQ(fault(type, [](TensorMap& m) { m.dims[0] = 254; }), of_padded);
  }
  EXPECT_EQ(fault(U4Align8, [](TensorMap& m) { m.address = 16; }), Fault::None);
  EXPECT_EQ(fault(U4Align16, [](TensorMap& m) { m.address = 16; }), Fault::TensorMapAddress);
  EXPECT_EQ(fault(U4Align8, [](TensorMap& m) { m.stride_bytes[0] = 208; }), Fault::None);
  EXPECT_EQ(fault(U6Align16, [](TensorMap& m) { m.stride_bytes[0] = 208; }),
            Fault::TensorMapStride);
  EXPECT_EQ(fault(U4Align8, [](TensorMap& m) { m.box[0] = 48; }), Fault::TensorMapInnerBox);
  EXPECT_EQ(fault(U4Align8, [](TensorMap& m) { m.box[0] = 65; }), Fault::TensorMapInnerBox);
  EXPECT_EQ(fault(U4Align16, [](TensorMap& m) { m.box[0] = 64; }), Fault::TensorMapInnerBox);
  EXPECT_EQ(fault(U4Align8, [](TensorMap& m) { m.swizzle = Swizzle::B32; }), Fault::None);
  EXPECT_EQ(fault(U4Align16, [](TensorMap& m) { m.swizzle = Swizzle::B64; }), Fault::TensorMapSpan);
  EXPECT_EQ(fault(U4Align16, [](TensorMap& m) { m.swizzle = Swizzle::B128Atom32; }), Fault::None);
  EXPECT_EQ(info(fault(U4Align8, [](TensorMap& m) { m.swizzle = Swizzle::B128Atom32Flip8; })).kind,
            FaultKind::Unmodelled);
}

TEST(TensorMap, PackedTypesCountTheBytesOfGlobalMemory) {
  EXPECT_EQ(complete_tx_bytes(packed_map(DataType::U4Align8)), 4 * 32u);
  EXPECT_EQ(complete_tx_bytes(packed_map(DataType::U4Align16)), 4 * 64u);
  EXPECT_EQ(complete_tx_bytes(packed_map(DataType::U6Align16)), 4 * 96u);
  EXPECT_EQ(box_bytes(packed_map(DataType::U4Align8)), 4 * 32u);
  EXPECT_EQ(box_bytes(packed_map(DataType::U4Align16)), 4 * 128u);
  EXPECT_EQ(box_bytes(packed_map(DataType::U6Align16)), 4 * 128u);
}

struct PackedState {
  SharedMemory shared{0, 1024};
  Global global = Global(1024);
  PackedState() {
    for (std::size_t i = 0; i < global.size(); ++i)
      global[i] = static_cast<std::uint8_t>(1 + i % 251);
    std::fill_n(shared.data(), 1024, std::uint8_t{0xee});
  }
};

TEST(Load, PackedElementsOfFourBitsLieDensely) {
  PackedState s;
  const Load load{{packed_map(DataType::U4Align8), {{224, 1}}, 0}};
  ASSERT_EQ(check(load, s.shared, s.global, Capability::V10), Fault::None);
  execute(load, s.shared, s.global);
  for (std::uint32_t row = 0; row < 4; ++row)
    for (std::uint32_t i = 0; i < 32; ++i)
      ASSERT_EQ(s.shared.data()[32 * row + i],
                row < 3 && i < 16 ? s.global[192 * (row + 1) + 112 + i] : 0)
          << row << " " << i;
  Load inside = load;
  inside.tile.start.at[0] = 16;
  EXPECT_EQ(check(inside, s.shared, s.global, Capability::V10), Fault::TileStartUnaligned);
}

TEST(Load, PaddedElementsLieSixteenToSixteenBytes) {
  for (const DataType type : {DataType::U4Align16, DataType::U6Align16}) {
    PackedState s;
    const std::uint32_t bytes = grain(type).bytes;
    Load load{{packed_map(type), {{128, 1}}, 0}};
    ASSERT_EQ(check(load, s.shared, s.global, Capability::V10), Fault::None);
    execute(load, s.shared, s.global);
    for (std::uint32_t i = 0; i < 512; ++i) {
      const std::uint32_t group = i % 128 / 16;
      const std::uint64_t at = 192 * (i / 128 + 1) + bytes * (8 + group) + i % 16;
      const int loaded = i / 128 < 3 ? s.global[at] : 0;
      ASSERT_EQ(s.shared.data()[i], i % 16 < bytes ? loaded : 0xee) << name(type) << i;
    }
    load.tile.start.at[0] = 64;
    EXPECT_EQ(check(load, s.shared, s.global, Capability::V10), Fault::TileStartUnaligned);
  }
}

TEST(Store, SixBitsOfEveryByteAreStored) {
  PackedState s;
  for (int i = 0; i < 16; ++i) s.shared.data()[i] = static_cast<std::uint8_t>(0xc0 + i);
  const Store store{{packed_map(DataType::U6Align16), {}, 0}};
  ASSERT_EQ(check(store, s.shared, s.global, Capability::V10), Fault::None);
  execute(store, s.shared, s.global);
  for (int i = 0; i < 16; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, &s.global[static_cast<std::size_t>(i / 4 * 3)], 3);
    EXPECT_EQ(word >> (6 * (i % 4)) & 0x3f, static_cast<std::uint32_t>(i));
  }
  EXPECT_EQ(
      check(Store{{packed_map(DataType::U4Align16), {}, 0}}, s.shared, s.global, Capability::V10),
      Fault::TargetLacksPackedTypes);
}

TEST(Store, WhatLiesOutsideTheTensorIsNotRead) {
  TensorMap map{DataType::UInt32, 2, 0, {20, 3}, {128}, {32, 4}};
  const auto bytes = [&](std::int32_t column, std::int32_t row) {
    std::uint32_t sum = 0;
    for (const SharedRun& run : runs_sent({map, {{column, row}}, 0})) sum += run.end - run.begin;
    return sum;
  };
  EXPECT_EQ(bytes(0, 0), 3 * 80u);
  EXPECT_EQ(bytes(16, 2), 16u);
  EXPECT_EQ(bytes(32, 0), 0u);
  EXPECT_EQ(bytes(0, 3), 0u);
  map.swizzle = Swizzle::B128;
  EXPECT_EQ(bytes(0, 1), 2 * 80u);
  map.dims[0] = 32;
  const auto runs = runs_sent({map, {{0, 1}}, 0});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].end, 256u);
}

}  // namespace
}  // namespace tcq::tma
