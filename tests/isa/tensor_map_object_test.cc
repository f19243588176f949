// A tensor map's bytes as tcq lays them out: every map comes back from them, and codes that mean nothing are refused.
#include "sim/isa/copy/tensor_map_object.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tcq::tma {
namespace {

class Drawn {
 public:
  std::uint64_t below(std::uint64_t count) { return random_() % count; }
  TensorMap map() {
    TensorMap m;
    m.type = static_cast<DataType>(below(data_type_count));
    m.rank = static_cast<int>(below(max_rank)) + 1;
    m.address = random_();
    for (std::uint64_t& dim : m.dims) dim = 1 + below(max_dim);
    m.dims[below(max_rank)] = max_dim;
    for (std::uint64_t& stride : m.stride_bytes) stride = below(stride_limit);
    for (std::uint32_t& box : m.box) box = static_cast<std::uint32_t>(1 + below(max_box));
    m.box[below(max_rank)] = max_box;
    for (std::uint32_t& stride : m.element_strides)
      stride = static_cast<std::uint32_t>(1 + below(max_element_stride));
    m.interleave = static_cast<Interleave>(below(3));
    m.swizzle = static_cast<Swizzle>(below(7));
    m.fill = static_cast<Fill>(below(2));
    return m;
  }

 private:
  std::mt19937_64 random_{20261123};
};

TEST(TensorMapObject, EveryMapComesBack) {
  Drawn draw;
  for (int i = 0; i < 20000; ++i) {
    const TensorMap map = draw.map();
    TensorMap back;
    ASSERT_TRUE(map_of(object_of(map), back));
    ASSERT_EQ(back, map) << i;
  }
}

// In the bytes that the CuTe DSL's kernels copy.
TEST(TensorMapObject, PartsLieApart) {
  std::vector<bool> taken(map_object_said_bytes);
  for (int part = 0; part <= static_cast<int>(MapPart::FillMode); ++part)
    for (std::uint32_t ordinal = 0;; ++ordinal) {
      const MapPlaceInObject place = place_of(static_cast<MapPart>(part), ordinal);
      if (place.bytes == 0) break;
      for (std::uint32_t i = place.at; i < place.at + place.bytes; ++i) {
        ASSERT_LT(i, taken.size());
        EXPECT_FALSE(taken[i]) << "part " << part << " byte " << i;
        taken[i] = true;
      }
    }
}

// The numbers of PTX's table, which are not the driver's from F32_FTZ on.
TEST(TensorMapObject, ElementTypesHaveTheInstructionsNumbers) {
  EXPECT_EQ(code_of(DataType::UInt8), 0u);
  EXPECT_EQ(code_of(DataType::Float32Ftz), 8u);
  EXPECT_EQ(code_of(DataType::Float64), 9u);
  EXPECT_EQ(code_of(DataType::BFloat16), 10u);
  EXPECT_EQ(code_of(DataType::U6Align16), 15u);
}

TEST(TensorMapObject, WhatNoFieldCanBeIsRefused) {
  const std::uint64_t rank = max_rank;
  EXPECT_FALSE(is_code(MapPart::Rank, rank));
  EXPECT_TRUE(is_code(MapPart::Rank, rank - 1));
  EXPECT_FALSE(is_code(MapPart::ElementType, 16));
  EXPECT_FALSE(is_code(MapPart::SwizzleMode, 4));
  for (const MapPart size : {MapPart::BoxDim, MapPart::GlobalDim, MapPart::ElementStride})
    EXPECT_FALSE(is_code(size, 0));
  EXPECT_TRUE(is_code(MapPart::BoxDim, max_box));
  EXPECT_FALSE(is_code(MapPart::BoxDim, max_box + 1));
  EXPECT_FALSE(is_code(MapPart::ElementStride, max_element_stride + 1));
  EXPECT_FALSE(is_code(MapPart::GlobalStride, stride_limit));
  TensorMap map;
  EXPECT_FALSE(map_of(MapObject{}, map)) << "zeros are no map";
}

}  // namespace
}  // namespace tcq::tma
