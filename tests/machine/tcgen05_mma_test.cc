// Multiplying tcgen05 tiles: every output equals the front door of the arithmetic, sparse tiles sum
// the elements that they select, and what is not modelled changes nothing.
#include "sim/machine/tcgen05_mma.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "tests/support/tcgen05_inputs.h"

namespace tcq::tcgen05 {
namespace {

constexpr int m = 8;
constexpr int n = 16;

MmaTile tile_of(DotForm form, const Tile& drawn) {
  form.idesc.m = m;
  form.idesc.n = n;
  return {form, drawn.a, drawn.b, drawn.scales_a, drawn.scales_b, {}};
}

TEST(Tcgen05Mma, EveryOutputEqualsTheFrontDoor) {
  std::mt19937 random(1);
  for (const DotForm& plain : all_forms()) {
    for (int i = 0; i < mixture_class_count; ++i) {
      const DotForm form = with_random_options(plain, random);
      const Tile drawn = draw_tile(form, static_cast<MixtureClass>(i), 3, m, n);
      std::vector<std::uint32_t> d = drawn.c;
      ASSERT_EQ(multiply(tile_of(form, drawn), d), Fault::None);
      for (int at = 0; at < m * n; ++at) {
        ASSERT_EQ(d[static_cast<std::size_t>(at)], dot(form, drawn.operands(at / n, at % n)))
            << text(form) << " " << name(static_cast<MixtureClass>(i)) << " " << at;
      }
    }
  }
}

// B has twice as many rows as A stores; every row of A picks its own half of them.
TEST(Tcgen05Mma, SparseTilesSumTheElementsThatTheySelect) {
  std::mt19937 random(2);
  for (DotForm form : all_forms()) {
    form.opcode.sparse = true;
    const Tile drawn = draw_tile(form, MixtureClass::Cluster, 4, m, n);
    MmaTile tile = tile_of(form, drawn);
    const auto k = static_cast<std::size_t>(drawn.k);
    tile.b.assign(2 * k * n, 0);
    for (std::uint32_t& word : tile.b)
      word = drawn.b[static_cast<std::size_t>(random()) % drawn.b.size()];
    for (std::size_t i = 0; i < k * m; ++i)
      tile.selected_k.push_back(static_cast<std::uint16_t>(2 * (i % k) + random() % 2));
    std::vector<std::uint32_t> d = drawn.c;
    ASSERT_EQ(multiply(tile, d), Fault::None);
    for (std::size_t at = 0; at < m * n; ++at) {
      Words met;
      for (std::size_t i = 0; i < k; ++i)
        met.push_back(tile.b[at % n * 2 * k + tile.selected_k[at / n * k + i]]);
      DotOperands in = drawn.operands(static_cast<int>(at / n), static_cast<int>(at % n));
      in.b = met.data();
      ASSERT_EQ(d[at], dot(form, in)) << text(form) << " " << at;
    }
  }
}

TEST(Tcgen05Mma, WhatIsNotModelledChangesNothing) {
  DotForm form = packed_forms()[0];
  const Tile drawn = draw_tile(form, MixtureClass::Cluster, 5, m, n);
  form.idesc.k96 = true;
  std::vector<std::uint32_t> d = drawn.c;
  EXPECT_EQ(multiply(tile_of(form, drawn), d), Fault::UnmodelledK96);
  EXPECT_EQ(d, drawn.c);
  EXPECT_EQ(info(Fault::UnmodelledK96).kind, FaultKind::Unmodelled);
}

// Published: MMA-Sim, arXiv 2511.10909, Table 8, on a B200.
TEST(Tcgen05Mma, GivesThePublishedResultInEveryOutput) {
  DotForm form = plain_form(Kind::f8f6f4, Type::f32, Type::e5m2, Type::e5m2);
  form.idesc.m = m;
  form.idesc.n = n;
  MmaTile tile{form, {}, {}, {}, {}, {}};
  const Words a = operands("0:f0 1:b8 2:b4 3:b0", 32);
  const Words b = operands("0:64 1-3:3c", 32);
  for (int i = 0; i < m; ++i) tile.a.insert(tile.a.end(), a.begin(), a.end());
  for (int j = 0; j < n; ++j) tile.b.insert(tile.b.end(), b.begin(), b.end());
  std::vector<std::uint32_t> d(m * n, 0x4b000000);
  ASSERT_EQ(multiply(tile, d), Fault::None);
  EXPECT_EQ(d, std::vector<std::uint32_t>(m * n, 0xbf400000));
}

}  // namespace
}  // namespace tcq::tcgen05
