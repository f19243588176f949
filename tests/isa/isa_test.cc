// Laws of shared memory in sim/isa: fields, the matrix descriptor, swizzles, canonical layouts, and
// the operand address law. Registers: fragment_test.cc; what exists: shape_test.cc.
//
// Golden words and worked addresses are the tables of descriptors and addresses that CUTLASS and an
// H200 agree on; the address law has a second formulation in plain code below.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/field.h"
#include "sim/isa/base/ptx_text.h"
#include "sim/isa/base/swizzle.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/descriptor.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/shape.h"
#include "tests/support/descriptor_laws.h"

namespace tcq {
namespace {

using wgmma::Form;
using wgmma::MatrixDescriptor;
using wgmma::Place;

constexpr Swizzle swizzles[] = {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128};

std::uint32_t random_multiple_of_16(std::mt19937_64& random) {
  return static_cast<std::uint32_t>(random() % 16384) * 16;
}

// --- fields --------------------------------------------------------------------------------------

template <class F>
void expect_field_laws() {
  std::mt19937_64 random(F::low);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t word = random();
    const std::uint64_t value = random() >> (random() % 64);
    const std::uint64_t encoded = F::encode(value);
    ASSERT_EQ(encoded & ~F::mask, 0u) << "bits outside the mask";
    ASSERT_EQ(F::fits(value), F::decode(encoded) == value);
    ASSERT_EQ(F::encode(F::decode(word)), word & F::mask);
    ASSERT_EQ(F::decode(word), F::decode(word & F::mask)) << "reads bits outside the mask";
    ASSERT_EQ(F::decode(word), F::code(word) << F::unit_log2);
  }
  EXPECT_TRUE(F::fits(F::max_value));
  EXPECT_EQ(F::encode(F::max_value), F::mask);
  EXPECT_FALSE(F::fits(F::max_value + (std::uint64_t{1} << F::unit_log2)));
}

TEST(Field, EncodeAndDecodeAreInverseAndKeepToTheMask) {
  expect_field_laws<StartAddress>();
  expect_field_laws<LeadingByteOffset>();
  expect_field_laws<StrideByteOffset>();
  expect_field_laws<BaseOffset>();
  expect_field_laws<wgmma::SwizzleMode>();
  expect_field_laws<Field<5, 7, 9>>();
  expect_field_laws<Field<63, 1>>();
}

TEST(Field, WorkedExamples) {
  using Lbo = Field<16, 14, 4>;
  EXPECT_EQ(Lbo::encode(1024), 0x400000u);
  EXPECT_EQ(Lbo::mask, 0x3fff0000u);
  EXPECT_EQ(Lbo::max_value, 0x3fff0u);
  EXPECT_FALSE(Lbo::fits(8));
  EXPECT_EQ(Lbo::decode(0xffffffffffffffff), 0x3fff0u);
}

TEST(Fixed, HoldsExactlyItsConstant) {
  using Constant = Fixed<46, 3, 0b001>;
  for (std::uint64_t code = 0; code < 8; ++code) {
    EXPECT_EQ(Constant::holds(code << 46), code == 1);
    EXPECT_EQ(Constant::holds(code << 46 | 0x8000000000000001), code == 1);
  }
  EXPECT_EQ(Constant::bits, std::uint64_t{1} << 46);
}

TEST(Format, MaskAndUnusedBitsPartitionTheWord) {
  using wgmma::MatrixDescriptorFormat;
  std::uint64_t unused = 0;
  for (const int bit : {14, 15, 30, 31, 46, 47, 48}) unused |= std::uint64_t{1} << bit;
  for (int bit = 52; bit <= 61; ++bit) unused |= std::uint64_t{1} << bit;
  EXPECT_EQ(MatrixDescriptorFormat::unused, unused);
  EXPECT_EQ(MatrixDescriptorFormat::mask, ~unused);
  EXPECT_EQ(MatrixDescriptorFormat::size, 5);
}

TEST(Format, ForEachVisitsEveryFieldLowestFirst) {
  std::vector<std::string> names;
  int end = 0;
  wgmma::MatrixDescriptorFormat::for_each([&](auto field) {
    EXPECT_GE(field.low, end);
    end = field.low + field.width;
    names.emplace_back(field.name);
  });
  const std::vector<std::string> want = {"start_bytes", "lbo_bytes", "sbo_bytes", "base_offset",
                                         "swizzle"};
  EXPECT_EQ(names, want);
}

// --- the matrix descriptor -----------------------------------------------------------------------

TEST(Wgmma_Descriptor, DecodeInvertsEncode) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 50000; ++i) {
    const MatrixDescriptor d{random_multiple_of_16(random), random_multiple_of_16(random),
                             random_multiple_of_16(random),
                             static_cast<std::uint32_t>(random() % 8), swizzles[random() % 4]};
    ASSERT_EQ(check(d), Fault::None);
    ASSERT_EQ(wgmma::decode(encode(d)), d);
    const std::uint64_t word = random();
    ASSERT_EQ(encode(wgmma::decode(word)), word & wgmma::MatrixDescriptorFormat::mask);
    ASSERT_EQ(wgmma::decode(word), wgmma::decode(word | wgmma::MatrixDescriptorFormat::unused));
  }
}

TEST(Wgmma_Descriptor, CheckNamesWhatWouldBeLost) {
  const MatrixDescriptor right{1024, 16, 1024, 0, Swizzle::B128};
  expect_check_names_what_would_be_lost(right);
  MatrixDescriptor other = right;
  other.swizzle = Swizzle::B128Atom32;
  EXPECT_EQ(check(other), Fault::DescriptorSwizzleCode);
}

TEST(Wgmma_Descriptor, SwizzleCodesPitchesAndFunctions) {
  const std::tuple<Swizzle, std::uint64_t, std::uint32_t, int, std::string_view> rows[] = {
      {Swizzle::None, 0, 16, 0, "none"},
      {Swizzle::B128, 1, 128, 3, "128B"},
      {Swizzle::B64, 2, 64, 2, "64B"},
      {Swizzle::B32, 3, 32, 1, "32B"}};
  for (const auto& [swizzle, code, pitch, b, text] : rows) {
    EXPECT_EQ(encode(MatrixDescriptor{0, 0, 0, 0, swizzle}), code << 62);
    EXPECT_EQ(pitch_bytes(swizzle), pitch);
    EXPECT_EQ(swizzle_function(swizzle), (SwizzleFunction{b, 4, 3}));
    EXPECT_EQ(name(swizzle), text);
  }
}

TEST(Wgmma_Descriptor, AdvanceChangesTheStartOnly) {
  expect_advance_changes_the_start_only(wgmma::decode);
}

// Tiles at shared byte 1024: extents in elements, what the descriptor must be, and the start fields
// of the following blocks along K.
struct GoldenTile {
  const char* text;
  Type type;
  std::uint32_t mn, k;
  Major major;
  Swizzle swizzle;
  AtomOrder order;
  std::uint32_t lbo, sbo;
  std::uint64_t word;
  std::vector<std::uint64_t> next_starts;
  bool one_atom_along_mn = false;  // CUTLASS then writes an LBO of 0
};

constexpr AtomOrder mn_first = AtomOrder::MnFirst;
constexpr AtomOrder k_first = AtomOrder::KFirst;

// clang-format off
const std::vector<GoldenTile> golden_tiles = {
    {"64x64 K 128B mn-first", Type::bf16, 64, 64, Major::K, Swizzle::B128, mn_first, 16, 1024,
     0x4000004000010040, {0x42, 0x44, 0x46}},
    {"64x64 K 128B k-first", Type::bf16, 64, 64, Major::K, Swizzle::B128, k_first, 16, 1024,
     0x4000004000010040, {0x42, 0x44, 0x46}},
    {"128x64 K 128B", Type::bf16, 128, 64, Major::K, Swizzle::B128, mn_first, 16, 1024,
     0x4000004000010040, {0x42, 0x44, 0x46}},
    {"256x64 K 128B", Type::bf16, 256, 64, Major::K, Swizzle::B128, mn_first, 16, 1024,
     0x4000004000010040, {0x42, 0x44, 0x46}},
    {"128x128 K 128B k-first", Type::bf16, 128, 128, Major::K, Swizzle::B128, k_first, 16, 2048,
     0x4000008000010040, {0x42, 0x44, 0x46, 0x80}},
    {"64x64 K 64B mn-first", Type::bf16, 64, 64, Major::K, Swizzle::B64, mn_first, 16, 512,
     0x8000002000010040, {0x42, 0x140, 0x142}},
    {"64x64 K 32B mn-first", Type::bf16, 64, 64, Major::K, Swizzle::B32, mn_first, 16, 256,
     0xc000001000010040, {0xc0, 0x140, 0x1c0}},
    {"64x64 K none mn-first", Type::bf16, 64, 64, Major::K, Swizzle::None, mn_first, 1024, 128,
     0x0000000800400040, {0xc0, 0x140, 0x1c0}},
    {"64x64 K none k-first", Type::bf16, 64, 64, Major::K, Swizzle::None, k_first, 128, 1024,
     0x0000004000080040, {0x50, 0x60, 0x70}},
    {"128x128 K 128B, 8-bit", Type::e4m3, 128, 128, Major::K, Swizzle::B128, mn_first, 16, 1024,
     0x4000004000010040, {0x42, 0x44, 0x46}},
    {"128x32 K 128B, tf32", Type::tf32, 128, 32, Major::K, Swizzle::B128, mn_first, 16, 1024,
     0x4000004000010040, {0x42, 0x44, 0x46}},
    {"64x64 MN 128B", Type::bf16, 64, 64, Major::MN, Swizzle::B128, mn_first, 0, 1024,
     0x4000004000000040, {0xc0, 0x140, 0x1c0}, true},
    {"128x64 MN 128B mn-first", Type::bf16, 128, 64, Major::MN, Swizzle::B128, mn_first, 1024, 2048,
     0x4000008000400040, {0x140, 0x240, 0x340}},
    {"128x64 MN 128B k-first", Type::bf16, 128, 64, Major::MN, Swizzle::B128, k_first, 8192, 1024,
     0x4000004002000040, {0xc0, 0x140, 0x1c0}},
    {"64x64 MN 64B mn-first", Type::bf16, 64, 64, Major::MN, Swizzle::B64, mn_first, 512, 1024,
     0x8000004000200040, {0xc0, 0x140, 0x1c0}},
    {"64x64 MN 32B mn-first", Type::bf16, 64, 64, Major::MN, Swizzle::B32, mn_first, 256, 1024,
     0xc000004000100040, {0xc0, 0x140, 0x1c0}},
    {"64x64 MN none mn-first", Type::bf16, 64, 64, Major::MN, Swizzle::None, mn_first, 1024, 128,
     0x0000000800400040, {0xc0, 0x140, 0x1c0}},
};

Tile tile_of(const GoldenTile& g) {
  const auto width = static_cast<std::uint32_t>(bits(g.type)) / 8;
  const bool k_major = g.major == Major::K;
  return {g.major, pitch_bytes(g.swizzle), g.order, (k_major ? g.k : g.mn) * width,
          k_major ? g.mn : g.k};
}
// clang-format on

TEST(Wgmma_Descriptor, GoldenWordsOfCompactTiles) {
  for (const GoldenTile& g : golden_tiles) {
    const CanonicalLayout layout = canonical_layout(tile_of(g));
    const std::uint32_t lbo = g.one_atom_along_mn ? 0 : layout.lbo_bytes;
    EXPECT_EQ(lbo, g.lbo) << g.text;
    EXPECT_EQ(layout.sbo_bytes, g.sbo) << g.text;
    const MatrixDescriptor d{1024, lbo, layout.sbo_bytes, 0, g.swizzle};
    EXPECT_EQ(encode(d), g.word) << g.text;
    EXPECT_EQ(wgmma::decode(g.word), d) << g.text;
  }
}

TEST(Wgmma_Descriptor, GoldenStartFieldsAlongK) {
  for (const GoldenTile& g : golden_tiles) {
    const std::uint32_t block = g.major == Major::K ? 32 : 16;  // bytes, or elements
    for (std::uint32_t i = 0; i < g.next_starts.size(); ++i) {
      const std::uint32_t step = k_advance_bytes(tile_of(g), (i + 1) * block);
      const std::uint64_t moved = advance(g.word, step);
      EXPECT_EQ(StartAddress::code(moved), g.next_starts[i]) << g.text << " " << i + 1;
    }
  }
}

// --- swizzles ------------------------------------------------------------------------------------

TEST(Swizzle, IsAnInvolutionThatKeepsTheLow4BitsAndEverythingAbove7) {
  for (const Swizzle swizzle : swizzles) {
    const SwizzleFunction f = swizzle_function(swizzle);
    for (std::uint32_t base = 0; base < 8; ++base) {
      for (std::uint32_t address = 0; address < 8192; ++address) {
        const std::uint32_t moved = f.apply(address, base);
        ASSERT_EQ(f.apply(moved, base), address);
        ASSERT_EQ((moved ^ address) & ~0x70u, 0u);
      }
    }
  }
}

TEST(Swizzle, EveryXorOfEveryModeOccursAtOneLineOfAnAtom) {
  for (const Swizzle swizzle : swizzles) {
    const SwizzleFunction f = swizzle_function(swizzle);
    for (std::uint32_t base = 0; base < 8; ++base) {
      for (std::uint32_t line = 0; line < 16; ++line) {
        const std::uint32_t period = 1u << f.bits;
        EXPECT_EQ(f.apply(line * 128, base) - line * 128, (line + 8 - base) % period * 16);
      }
    }
  }
}

TEST(Swizzle, WorkedExamples) {
  EXPECT_EQ((SwizzleFunction{1, 4, 3}.apply(0x5e0)), 0x5f0u);
  EXPECT_EQ((SwizzleFunction{2, 4, 3}.apply(0x5e0)), 0x5d0u);
  EXPECT_EQ((SwizzleFunction{3, 4, 3}.apply(0x5e0)), 0x5d0u);
  EXPECT_EQ((SwizzleFunction{2, 5, 2}.apply(0x5e0)), 0x580u);
  EXPECT_EQ((SwizzleFunction{0, 4, 3}.apply(0x5e0)), 0x5e0u);
}

// --- the address law -----------------------------------------------------------------------------

// The second formulation. Swizzle code 0, 1, 2, 3 is none, 128B, 64B, 32B; `width` is the element's
// bytes.
std::uint32_t reference_address(std::uint64_t word, bool mn_major, std::uint32_t mn,
                                std::uint32_t k, std::uint32_t width) {
  const auto bytes = [&](int low) { return static_cast<std::uint32_t>(word >> low & 0x3fff) * 16; };
  const std::uint32_t start = bytes(0), lbo = bytes(16), sbo = bytes(32);
  const auto base = static_cast<std::uint32_t>(word >> 49 & 7);
  const auto code = static_cast<std::uint32_t>(word >> 62);
  const std::uint32_t b = (4 - code) & 3;
  const std::uint32_t r = 16u << b;
  const std::uint32_t kb = k * width;
  const std::uint32_t mb = mn * width;
  std::uint32_t offset = 0;
  if (!mn_major) {
    offset = (mn / 8) * sbo + (mn % 8) * r + (kb / r) * lbo + kb % r;
  } else if (b != 0) {
    offset = (k / 8) * sbo + (k % 8) * r + (mb / r) * lbo + mb % r;
  } else {
    offset = (k / 8) * lbo + (k % 8) * 16 + (mb / 16) * sbo + mb % 16;
  }
  const std::uint32_t a = start + offset;
  return a ^ ((((a >> 7) - base) & ((1u << b) - 1)) << 4);
}

// A random word in which LBO and SBO are often 0 or as large as they get.
std::uint64_t random_descriptor(std::mt19937_64& random) {
  std::uint64_t word = random();
  for (const std::uint64_t field : {LeadingByteOffset::mask, StrideByteOffset::mask}) {
    if (random() % 8 == 0) word |= field;
    if (random() % 8 == 0) word &= ~field;
  }
  return word;
}

TEST(Wgmma_Operand, AddressLawHoldsForRandomDescriptors) {
  std::mt19937_64 random(3);
  const Type types[] = {Type::f16, Type::bf16, Type::e4m3, Type::e5m2,
                        Type::s8,  Type::u8,   Type::tf32};
  for (int i = 0; i < 250000; ++i) {
    const std::uint64_t word = random_descriptor(random);
    const Type type = types[random() % 7];
    const Major major = bits(type) == 16 && random() % 2 == 0 ? Major::MN : Major::K;
    const auto width = static_cast<std::uint32_t>(bits(type)) / 8;
    const auto mn = static_cast<std::uint32_t>(random() % 256);
    const auto k = static_cast<std::uint32_t>(random() % (64 / width));
    ASSERT_EQ(element_address(wgmma::decode(word), major, type, {mn, k}),
              reference_address(word, major == Major::MN, mn, k, width))
        << std::hex << word << std::dec << " " << name(type) << " mn " << mn << " k " << k;
  }
}

TEST(Wgmma_Operand, BytesOfB1AreTheBytesOf8BitTypes) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t word = random_descriptor(random);
    const auto mn = static_cast<std::uint32_t>(random() % 256);
    const auto k = static_cast<std::uint32_t>(random() % 256);
    ASSERT_EQ(element_address(wgmma::decode(word), Major::K, Type::b1, {mn, k}),
              reference_address(word, false, mn, k / 8, 1));
  }
}

TEST(Wgmma_Operand, WorkedAddresses) {
  struct Row {
    std::uint64_t word;
    Major major;
    Type type;
    std::uint32_t mn, k, want;
  };
  const Row rows[] = {
      {0x4000004000010040, Major::K, Type::bf16, 11, 5, 2490},
      {0x4000004000010044, Major::K, Type::bf16, 11, 5, 2554},
      {0x4000004000010040, Major::K, Type::bf16, 11, 37, 2554},
      {0x8000002000010040, Major::K, Type::s8, 13, 21, 1909},
      {0x0000000800400040, Major::K, Type::bf16, 13, 9, 2258},
      {0x0000000800400040, Major::MN, Type::bf16, 13, 9, 2202},
      {0x8000010000200040, Major::MN, Type::bf16, 100, 11, 6872},
      {0x4000004002000040, Major::MN, Type::bf16, 100, 11, 10744},
      {0x4000004000010050, Major::K, Type::bf16, 0, 0, 1312},
      {0x4000004000010050, Major::K, Type::bf16, 1, 0, 1456},
      {0x4000004000010050, Major::K, Type::bf16, 7, 0, 2192},
      {0x4004004000010050, Major::K, Type::bf16, 0, 0, 1280},
      {0x4004004000010050, Major::K, Type::bf16, 1, 0, 1424},
      {0x4004004000010050, Major::K, Type::bf16, 7, 0, 2288},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(element_address(wgmma::decode(row.word), row.major, row.type, {row.mn, row.k}),
              row.want)
        << std::hex << row.word << std::dec << " mn " << row.mn << " k " << row.k;
  }
}

// 32 bytes of K are at most one atom wide.
TEST(Wgmma_Operand, LboOfASwizzledKMajorOperandIsNotReadByDenseForms) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 10000; ++i) {
    MatrixDescriptor d = wgmma::decode(random());
    if (d.swizzle == Swizzle::None) d.swizzle = Swizzle::B64;
    const wgmma::OperandElement e{static_cast<std::uint32_t>(random() % 64),
                                  static_cast<std::uint32_t>(random() % 16)};
    const std::uint32_t address = element_address(d, Major::K, Type::f16, e);
    d.lbo_bytes = random_multiple_of_16(random);
    ASSERT_EQ(element_address(d, Major::K, Type::f16, e), address);
  }
}

// --- compact tiles -------------------------------------------------------------------------------

std::vector<Tile> some_tiles() {
  std::vector<Tile> tiles;
  for (const Major major : {Major::K, Major::MN})
    for (const std::uint32_t pitch : {16u, 32u, 64u, 128u})
      for (const AtomOrder order : {mn_first, k_first})
        for (const std::uint32_t contiguous : {128u, 256u, 384u})
          for (const std::uint32_t rows : {16u, 48u, 64u})
            tiles.push_back({major, pitch, order, contiguous, rows});
  return tiles;
}

// Absolute address of a byte of a tile, read as a kernel reads it: a descriptor per block of K (32
// bytes, or 16 elements) and per block of MN.
std::uint32_t tile_address(const Tile& tile, std::uint32_t start, std::uint32_t contiguous,
                           std::uint32_t row, Swizzle swizzle) {
  const bool k_major = tile.major == Major::K;
  const CanonicalLayout layout = canonical_layout(tile);
  const std::uint32_t k = k_major ? contiguous : row;
  const std::uint32_t mn = k_major ? row : contiguous;
  const std::uint32_t k_block = k / (k_major ? 32 : 16) * (k_major ? 32 : 16);
  const std::uint32_t mn_unit = k_major ? 8 : tile.pitch_bytes;
  const std::uint32_t mn_block = mn / (2 * mn_unit) * (2 * mn_unit);
  const std::uint32_t step = k_advance_bytes(tile, k_block) + mn_advance_bytes(tile, mn_block);
  const MatrixDescriptor d{start + step, layout.lbo_bytes, layout.sbo_bytes, 0, swizzle};
  return byte_address(d, tile.major, {mn - mn_block, k - k_block});
}

TEST(Wgmma_CompactTile, ByteAddressesAreABijectionOntoTheTileForEveryLayout) {
  constexpr std::uint32_t start = 4096;
  for (const Tile& tile : some_tiles()) {
    ASSERT_TRUE(tile.is_whole());
    const Swizzle swizzle = tile.pitch_bytes == 16   ? Swizzle::None
                            : tile.pitch_bytes == 32 ? Swizzle::B32
                            : tile.pitch_bytes == 64 ? Swizzle::B64
                                                     : Swizzle::B128;
    std::vector<int> seen(tile.bytes());
    for (std::uint32_t row = 0; row < tile.rows; ++row) {
      for (std::uint32_t c = 0; c < tile.contiguous_bytes; ++c) {
        const std::uint32_t offset = tile_address(tile, start, c, row, swizzle) - start;
        ASSERT_LT(offset, tile.bytes());
        ASSERT_EQ(++seen[offset], 1) << "row " << row << " byte " << c;
      }
    }
  }
}

// Advancing a descriptor and indexing further say the same where one descriptor reaches that far.
TEST(Wgmma_CompactTile, AdvancingAlongKEqualsIndexing) {
  for (const Tile& tile : some_tiles()) {
    const CanonicalLayout layout = canonical_layout(tile);
    const bool k_major = tile.major == Major::K;
    const bool one_atom = k_major && tile.pitch_bytes != 16;
    const std::uint32_t k_end = one_atom  ? tile.pitch_bytes
                                : k_major ? tile.contiguous_bytes
                                          : tile.rows;
    const std::uint32_t block = k_major ? 32 : 16;
    for (std::uint32_t k = 0; k < k_end; ++k) {
      const std::uint32_t advanced = k_advance_bytes(tile, k / block * block);
      for (const std::uint32_t mn : {0u, 5u, 8u, 13u}) {
        EXPECT_EQ(advanced + offset_bytes(layout, {mn, k % block}), offset_bytes(layout, {mn, k}));
      }
    }
  }
}

// Sparse B: one instruction reads 64 bytes of K, more than an atom of 32B is wide.
TEST(Wgmma_CompactTile, OneReadOf64BytesOfKIsTwoReadsOf32) {
  for (const Tile& tile : some_tiles()) {
    if (tile.major != Major::K) continue;
    const CanonicalLayout narrow = canonical_layout(tile);
    const CanonicalLayout wide = canonical_layout(tile, 64);
    for (std::uint32_t k = 0; k < tile.contiguous_bytes; ++k) {
      const std::uint32_t in_wide = k_advance_bytes(tile, k / 64 * 64);
      const std::uint32_t in_narrow = k_advance_bytes(tile, k / 32 * 32);
      EXPECT_EQ(in_wide + offset_bytes(wide, {9, k % 64}),
                in_narrow + offset_bytes(narrow, {9, k % 32}))
          << "pitch " << tile.pitch_bytes << " byte " << k;
    }
  }
}

TEST(Wgmma_CompactTile, AdvancingAlongMnEqualsIndexing) {
  for (const Tile& tile : some_tiles()) {
    const CanonicalLayout layout = canonical_layout(tile);
    const bool k_major = tile.major == Major::K;
    const std::uint32_t unit = k_major ? 8 : tile.pitch_bytes;
    const std::uint32_t mn_end = k_major ? tile.rows : tile.contiguous_bytes;
    for (std::uint32_t mn = 0; mn < mn_end; ++mn) {
      const std::uint32_t advanced = mn_advance_bytes(tile, mn / unit * unit);
      EXPECT_EQ(advanced + offset_bytes(layout, {mn % unit, 3}), offset_bytes(layout, {mn, 3}));
    }
  }
}

TEST(Wgmma_CompactTile, OnlyWholeAtomsHaveNoHoles) {
  Tile tile{Major::K, 64, mn_first, 128, 16};
  EXPECT_TRUE(tile.is_whole());
  EXPECT_EQ(tile.bytes(), 2048u);
  EXPECT_EQ(tile.atom_bytes(), 512u);
  tile.rows = 12;
  EXPECT_FALSE(tile.is_whole());
  tile.rows = 0;
  EXPECT_FALSE(tile.is_whole());
  tile = {Major::K, 64, mn_first, 96, 16};
  EXPECT_FALSE(tile.is_whole());
  tile.contiguous_bytes = 0;
  EXPECT_FALSE(tile.is_whole());
}

// --- at compile time -----------------------------------------------------------------------------

static_assert(encode(MatrixDescriptor{1024, 16, 1024, 0, Swizzle::B128}) == 0x4000004000010040);
static_assert(wgmma::decode(encode(MatrixDescriptor{16, 32, 48, 5, Swizzle::B32})) ==
              MatrixDescriptor{16, 32, 48, 5, Swizzle::B32});
static_assert(SwizzleFunction{3, 4, 3}.apply(0x5e0) == 0x5d0);
static_assert(element_address(wgmma::decode(0x4000004000010040), Major::K, Type::bf16, {11, 5}) ==
              2490);
static_assert(Field<16, 14, 4>::decode(Field<16, 14, 4>::encode(1024)) == 1024);
static_assert(address_space_bytes == 262144);

}  // namespace
}  // namespace tcq
