// sim/num/fast against the definitions for every pair of elements of at most 8 bits, and every pair of
// their scale factors: a row for each code of A, a column for each code of B, one product in each sum.
//
// Sums of many products: fast_sums_test.cc.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "sim/isa/base/element.h"
#include "tests/num/fast_subject.h"

namespace tcq::fast {
namespace {

// What products meet: nothing, neighbours in size, subnormals, the largest, specials; of f16 or f32.
std::uint32_t c_word(Type d, int row, int col) {
  constexpr std::array<std::uint32_t, 8> wide = {0x3f8007ff, 0xbf800001, 0x00000003, 0x0d000001,
                                                 0x7f7fffff, 0xff800000, 0x7fc00001, 0x80000000};
  constexpr std::array<std::uint32_t, 8> narrow = {0x3c01, 0xbc01, 0x0003, 0x8001,
                                                   0x7bff, 0xfc00, 0x7e01, 0x8000};
  const auto at = static_cast<std::size_t>(row * 3 + col * 5) % wide.size();
  return d == Type::f16 ? narrow[at] : wide[at];
}

enum class C : std::uint8_t { Zero, Varied };

// One product in each sum, of codes `row` and `col`, at place `at` of K.
tcgen05::Tile all_pairs(const Subject& s, std::size_t at, C c) {
  const int rows = 1 << bits(s.form.idesc.a);
  const int cols = 1 << bits(s.form.idesc.b);
  const int k = instruction(s).products;
  tcgen05::Tile out{rows, cols, k, 0, {}, {}, {}, {}, {}};
  out.a.resize(static_cast<std::size_t>(rows * k));
  out.b.resize(static_cast<std::size_t>(cols * k));
  for (int i = 0; i < rows; ++i)
    out.a[static_cast<std::size_t>(i * k) + at] = static_cast<std::uint32_t>(i);
  for (int j = 0; j < cols; ++j)
    out.b[static_cast<std::size_t>(j * k) + at] = static_cast<std::uint32_t>(j);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) out.c.push_back(c == C::Zero ? 0 : c_word(s.form.idesc.d, i, j));
  return out;
}

void expect_equal(const Subject& s, const tcgen05::Tile& tile) {
  const std::vector<std::uint32_t> want = defined_tile(s, tile);
  on_every_target([&](const std::string& target) {
    EXPECT_TRUE(outputs({s, {tile}}) == want) << text(s) << " on " << target;
  });
}

bool is_narrow(const Subject& s) { return bits(s.form.idesc.a) <= 8 && bits(s.form.idesc.b) <= 8; }

void set_scales(tcgen05::Tile& tile, std::uint8_t scale) {
  tile.scales = 1;
  tile.scales_a.assign(static_cast<std::size_t>(tile.rows), scale);
  tile.scales_b.assign(static_cast<std::size_t>(tile.cols), scale);
}

TEST(FastPairs, EveryPairOfNarrowElementsIsTheDefinitions) {
  int seen = 0;
  for (const Subject& s : subjects()) {
    if (!is_narrow(s)) continue;
    ++seen;
    const auto last = static_cast<std::size_t>(instruction(s).products - 1);
    for (const C c : {C::Zero, C::Varied}) {
      tcgen05::Tile tile = all_pairs(s, c == C::Zero ? 0 : last, c);
      if (scale_count(s.form.opcode) > 0) set_scales(tile, 127);
      expect_equal(s, tile);
    }
  }
  // 25 mixes of types in three forms of tcgen05, four of wgmma to two D; four of int8 in each, two
  // of them mixed.
  EXPECT_EQ(seen, 25 * 3 + 4 * 2 + 4 + 4);
}

// A row for each scale factor of A, a column for each of B.
TEST(FastPairs, EveryPairOfScaleFactorsOfMxf8f6f4IsTheDefinitions) {
  const Subject s{true, tcgen05::mxf8_form(Type::e4m3, Type::e5m2)};
  for (const C c : {C::Zero, C::Varied}) {
    tcgen05::Tile tile = all_pairs(s, 0, c);
    set_scales(tile, 0);
    for (std::size_t i = 0; i < 256; ++i) {
      tile.a[i * static_cast<std::size_t>(tile.k)] = 0x3d;  // 1.625
      tile.b[i * static_cast<std::size_t>(tile.k)] = 0x3e;  // 1.5
      tile.scales_a[i] = tile.scales_b[i] = static_cast<std::uint8_t>(i);
    }
    expect_equal(s, tile);
  }
}

// --- kinds mxf4 and mxf4nvf4 -----------------------------------------------------------------------

void expect_packed_equal(const tcgen05::DotForm& form, const tcgen05::Tile& tile) {
  std::vector<std::uint32_t> want;
  for (int row = 0; row < tile.rows; ++row)
    for (int col = 0; col < tile.cols; ++col) want.push_back(dot(form, tile.operands(row, col)));
  on_every_target([&](const std::string& target) {
    std::vector<std::uint32_t> d = tile.c;
    advance_packed(form, packed(form, tile, Side::Rows), packed(form, tile, Side::Columns),
                   {d.data(), tile.cols});
    EXPECT_TRUE(d == want) << tcgen05::text(form) << " on " << target;
  });
}

// The product lies at place `at` of K; every group has scale factor `scale`.
tcgen05::Tile packed_pairs(const tcgen05::DotForm& form, int lines, C c, std::uint8_t scale) {
  constexpr int k = tcgen05::packed_products;
  tcgen05::Tile out{lines, lines, k, scale_count(form.opcode), {}, {}, {}, {}, {}};
  const auto count = static_cast<std::size_t>(lines);
  out.a.resize(count * k);
  out.b.resize(count * k);
  out.scales_a.assign(count * static_cast<std::size_t>(out.scales), scale);
  out.scales_b = out.scales_a;
  for (int i = 0; i < lines; ++i)
    for (int j = 0; j < lines; ++j) out.c.push_back(c == C::Zero ? 0 : c_word(Type::f32, i, j));
  return out;
}

TEST(FastPairs, EveryPairOfPackedElementsIsTheDefinitions) {
  for (const tcgen05::DotForm& form : tcgen05::packed_forms())
    for (const C c : {C::Zero, C::Varied})
      for (std::size_t at = 0; at < tcgen05::packed_products; at += 7) {
        const std::uint8_t one = form.idesc.scale_type == tcgen05::ScaleType::ue8m0 ? 127 : 0x38;
        tcgen05::Tile tile = packed_pairs(form, 16, c, one);
        for (std::uint32_t i = 0; i < 16; ++i)
          tile.a[i * tcgen05::packed_products + at] = tile.b[i * tcgen05::packed_products + at] = i;
        expect_packed_equal(form, tile);
      }
}

// The other groups hold no elements, and scale factors of 1.
TEST(FastPairs, EveryPairOfScaleFactorsOfPackedKindsIsTheDefinitions) {
  for (const tcgen05::DotForm& form : tcgen05::packed_forms())
    for (const C c : {C::Zero, C::Varied}) {
      const std::uint8_t one = form.idesc.scale_type == tcgen05::ScaleType::ue8m0 ? 127 : 0x38;
      tcgen05::Tile tile = packed_pairs(form, 256, c, one);
      for (std::size_t i = 0; i < 256; ++i) {
        tile.a[i * tcgen05::packed_products] = 3;  // 1.5
        tile.b[i * tcgen05::packed_products] = 5;  // 3
        const std::size_t scale = i * static_cast<std::size_t>(tile.scales);
        tile.scales_a[scale] = tile.scales_b[scale] = static_cast<std::uint8_t>(i);
      }
      expect_packed_equal(form, tile);
    }
}

}  // namespace
}  // namespace tcq::fast
