// sim/num/fast against the definitions, dot() of sim/num: every instruction, every set of vector
// instructions that this machine has, weighted inputs of every class, odd sizes, chains.
//
// Long runs: fast_subject.h. All pairs of narrow elements: fast_pairs_test.cc.
#include <gtest/gtest.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/num/fast_subject.h"

namespace tcq::fast {
namespace {

void expect_equal_chains(const Subject& s, std::int64_t count) {
  std::mt19937 random(drawing_seed());
  for (std::int64_t done = 0; done < count;) {
    const Chain chain = draw_chain(s, random);
    std::vector<std::uint32_t> want;
    for (int row = 0; row < chain.first().rows; ++row)
      for (int col = 0; col < chain.first().cols; ++col) want.push_back(chain.expected(row, col));
    const PackedChain packed(chain);
    on_every_target([&](const std::string& target) {
      ASSERT_EQ(packed.outputs(), want) << text(s) << " on " << target << " after " << done;
    });
    if (testing::Test::HasFatalFailure()) return;
    done += static_cast<std::int64_t>(want.size());
    if (done >= count) report(text(s) + ", chains", done);
  }
}

TEST(FastSums, EqualTheDefinitionInEveryBitOnEveryTarget) {
  const std::vector<Subject> all = subjects();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!in_shard(i)) continue;
    expect_equal_chains(all[i], is_long_run() ? wanted_outputs() / 100 : wanted_outputs());
    if (HasFatalFailure()) return;
  }
}

// --- the definition in lanes ---------------------------------------------------------------------------

TEST(FastSums, LanesOfTheDefinitionAreFusedSumInEveryBit) {
  for (const Subject& plain : subjects()) {
    if (!is_float(plain.form.idesc.a)) continue;
    std::mt19937 random(drawing_seed() + 3);
    for (int i = 0; i < 5 * mixture_class_count; ++i) {
      const Subject s = with_options(plain, random);
      const auto c = static_cast<MixtureClass>(i % mixture_class_count);
      const int rows = 1 + static_cast<int>(random() % 4);
      const int cols = 1 + static_cast<int>(random() % 40);
      const tcgen05::Tile tile = drawn(s, c, random(), rows, cols);
      const DefinedTile definition(s, tile);
      ASSERT_EQ(definition.sums_in_lanes(), definition.sums()) << text(s) << ", " << name(c);
    }
  }
}

// --- tiles -----------------------------------------------------------------------------------------------

// Tiles of one instruction: most outputs of a long run.
TEST(FastSums, TilesEqualTheDefinitionInEveryBitOnEveryTarget) {
  const std::vector<Subject> all = subjects();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!in_shard(i)) continue;
    std::mt19937 random(drawing_seed());
    std::int64_t done = 0;
    while (done < wanted_outputs()) {
      const Subject s = with_options(all[i], random);
      const int rows = 1 + static_cast<int>(random() % 40);
      const int cols = 1 + static_cast<int>(random() % 140);
      const auto c = static_cast<MixtureClass>(random() % mixture_class_count);
      const Chain chain{s, {drawn(s, c, random(), rows, cols)}};
      const std::vector<std::uint32_t> want = defined_tile(s, chain.first());
      const PackedChain packed(chain);
      on_every_target([&](const std::string& target) {
        ASSERT_EQ(packed.outputs(), want) << text(s) << " on " << target << " after " << done;
      });
      if (HasFatalFailure()) return;
      done += static_cast<std::int64_t>(want.size());
    }
    report(text(all[i]), done);
  }
}

// --- operands of 8 exponent bits, whose products leave the exponents of f32 -----------------------------

// An element whose exponent field is `field`, or near it.
std::uint32_t near(Type type, int field, std::mt19937& random) {
  const int spread = static_cast<int>(random() % 24) - 20;
  const auto held = static_cast<std::uint32_t>(std::clamp(field + spread, 0, 254));
  const auto word = static_cast<std::uint32_t>(random() & 0x807fffff) | held << 23;
  return type == Type::bf16 ? word >> 16 : word;
}

// Columns meet rows around one exponent of their products; some elements are any, some are zero.
tcgen05::Tile full_range(const Subject& s, int rows, int cols, std::mt19937& random) {
  tcgen05::Tile out{rows, cols, instruction(s).products, 0, {}, {}, {}, {}, {}};
  const int field = static_cast<int>(random() % 256);
  const int met = static_cast<int>(random() % 256);
  const auto any = 2 + random() % 40;
  const auto element = [&](Type type, int wanted) -> std::uint32_t {
    if (random() % 8 == 0) return 0;
    return near(type, random() % any == 0 ? static_cast<int>(random() % 256) : wanted, random);
  };
  for (int i = 0; i < rows * out.k; ++i) out.a.push_back(element(s.form.idesc.a, field));
  for (int i = 0; i < cols * out.k; ++i) out.b.push_back(element(s.form.idesc.b, met));
  const int sum = random() % 2 == 0 ? field + met - 127 : static_cast<int>(random() % 255);
  for (int i = 0; i < rows * cols; ++i)
    out.c.push_back(random() % 4 == 0 ? 0 : near(Type::f32, sum, random));
  return out;
}

// One instruction, or a chain of two or three.
Chain full_range_chain(const Subject& s, std::mt19937& random) {
  const int rows = 1 + static_cast<int>(random() % 20);
  const int cols = 1 + static_cast<int>(random() % 70);
  Chain out{s, {}};
  for (auto length = random() % 4 == 0 ? 2 + random() % 2 : 1; length > 0; --length)
    out.tiles.push_back(full_range(s, rows, cols, random));
  return out;
}

TEST(FastSums, OperandsOfAllExponentsEqualTheDefinition) {
  const std::vector<Subject> all = subjects();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Subject& plain = all[i];
    const Type type = plain.form.idesc.a;
    if ((type != Type::bf16 && type != Type::tf32) || !in_shard(i)) continue;
    std::mt19937 random(drawing_seed() + 2);
    std::int64_t done = 0;
    while (done < (is_long_run() ? 1 : 25) * wanted_outputs()) {
      const Subject s = with_options(plain, random);
      const Chain chain = full_range_chain(s, random);
      const std::vector<std::uint32_t> want = defined_chain(chain);
      const PackedChain packed(chain);
      on_every_target([&](const std::string& target) {
        ASSERT_TRUE(packed.outputs() == want) << text(s) << " on " << target << " after " << done;
      });
      if (HasFatalFailure()) return;
      done += static_cast<std::int64_t>(want.size());
    }
    report(text(plain) + ", all exponents", done);
  }
}

// One sum: products a[i] * b[i], zeros behind them, onto c.
Chain single(const tcgen05::DotForm& form, tcgen05::Words a, tcgen05::Words b, std::uint32_t c) {
  const int k = products(form.opcode.kind);
  a.resize(static_cast<std::size_t>(k));
  b.resize(static_cast<std::size_t>(k));
  return {{true, form}, {{1, 1, k, 0, a, b, {c}, {}, {}}}};
}

void expect_everywhere(const Chain& chain, std::uint32_t want) {
  EXPECT_EQ(chain.expected(0, 0), want);
  on_every_target([&](const std::string& target) {
    EXPECT_EQ(outputs(chain), std::vector<std::uint32_t>{want}) << target;
  });
}

#if defined(__x86_64__)
// Subnormal operands or results taken for 0, rounding up: whatever a caller has chosen.
TEST(FastSums, TheModeOfTheThreadIsAsItWas) {
  constexpr unsigned modes = 0xffc0;  // all but what has happened
  const unsigned before = _mm_getcsr();
  const Chain chain = single(tcgen05::bf16_form(), {0x0001, 0x7f00}, {0x0001, 0x7f00}, 0);
  on_every_target([&](const std::string& target) {
    for (const unsigned mode : {before, before | 0x40u, before | 0x8000u, before | 0x4000u}) {
      _mm_setcsr(mode);
      outputs(chain);
      const unsigned after = _mm_getcsr();
      _mm_setcsr(before);
      EXPECT_EQ(after & modes, mode & modes) << target;
    }
  });
}
#endif

// Far below every exponent that the vectors hold.
TEST(FastSums, TinyCSurvivesZeros) {
  for (const std::uint32_t c : {0x00000001u, 0x80000003u, 0x007fffffu, 0x00800001u, 0x0c7fffffu})
    expect_everywhere(single(tcgen05::bf16_form(), {}, {}, c), c);
}

// 2^-25 + 2^-39 + 2^-45 - 2^-24 * 2^-15: above the tie if C's own exponent is lowered as well.
TEST(FastSums, ScaledSubnormalCAlignsByItsLoweredExponent) {
  tcgen05::DotForm form = tcgen05::f16_to_f16();
  form.scale_input_d = 15;
  expect_everywhere(single(form, {0x0c00, 0x0200, 0x0008}, {0x0800, 0x0001, 0x0001}, 0x8001), 1);
}

// Sixteen products just below 4 leave 32 bits: the sum is made again, onto C that the first instruction has scaled.
TEST(FastSums, CIsScaledOnceAlsoWhereSumsAreMadeAgain) {
  tcgen05::DotForm form = tcgen05::bf16_form();
  form.idesc.a = form.idesc.b = Type::f16;
  form.scale_input_d = 1;
  const tcgen05::Words large(16, 0x3fff);
  Chain chain = single(form, {}, {}, 0x3f800000);
  chain.tiles.push_back(single(form, large, large, 0).first());
  expect_everywhere(chain, 0x4280e002);  // 16 * 1.9990234375^2 + 0.5 = 64.43751525878906
}

// --- kinds mxf4 and mxf4nvf4 -----------------------------------------------------------------------

TEST(FastSums, PackedKindsEqualTheDefinitionInEveryBitOnEveryTarget) {
  const std::vector<tcgen05::DotForm> all = tcgen05::packed_forms();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!in_shard(i)) continue;
    const tcgen05::DotForm& plain = all[i];
    std::mt19937 random(drawing_seed() + 1);
    std::int64_t done = 0;
    while (done < wanted_outputs()) {
      tcgen05::DotForm form = with_random_options(plain, random);
      form.accumulate = true;
      const auto c = static_cast<MixtureClass>(random() % mixture_class_count);
      const int rows = 1 + static_cast<int>(random() % (is_long_run() ? 40 : 5));
      const int cols = 1 + static_cast<int>(random() % (is_long_run() ? 200 : 70));
      const tcgen05::Tile tile = draw_tile(form, c, random(), rows, cols);
      const std::vector<std::uint32_t> want = defined_packed_tile(form, tile);
      const int row =
          static_cast<int>(random()) & 0x7fffffff;  // one whose operands are decoded for itself
      for (int col = 0; col < cols; ++col)
        ASSERT_EQ(dot(form, tile.operands(row % rows, col)),
                  want[static_cast<std::size_t>(row % rows * cols + col)]);
      const PackedLines row_lines = packed(form, tile, Side::Rows);
      const PackedLines column_lines = packed(form, tile, Side::Columns);
      on_every_target([&](const std::string& target) {
        std::vector<std::uint32_t> d = tile.c;
        advance_packed(form, row_lines, column_lines, {d.data(), cols});
        ASSERT_EQ(d, want) << name(c) << " on " << target << " after " << done;
      });
      if (HasFatalFailure()) return;
      done += static_cast<std::int64_t>(want.size());
    }
    report(tcgen05::text(plain), done);
  }
}

// Sums of four groups: group g is `count` products of a and b (codes of e2m1) at 2^exponent.
struct Group {
  int count;
  std::uint32_t a;
  std::uint32_t b;
  int exponent;
};

void expect_packed(const std::vector<Group>& groups, std::uint32_t c, std::uint32_t want) {
  const auto form = tcgen05::packed_form(tcgen05::Kind::mxf4nvf4, tcgen05::ScaleVec::Block16,
                                         tcgen05::ScaleType::ue8m0);
  tcgen05::Tile tile{1, 1, 64, 4, {}, {}, {c}, {}, {}};
  for (const Group& g : groups) {
    for (int i = 0; i < 16; ++i) {
      tile.a.push_back(i < g.count ? g.a : 0);
      tile.b.push_back(i < g.count ? g.b : 0);
    }
    tile.scales_a.push_back(static_cast<std::uint8_t>(127 + g.exponent / 2));
    tile.scales_b.push_back(static_cast<std::uint8_t>(127 + g.exponent - g.exponent / 2));
  }
  EXPECT_EQ(dot(form, tile.operands(0, 0)), want);
  on_every_target([&](const std::string& target) {
    std::vector<std::uint32_t> d = tile.c;
    advance_packed(form, packed(form, tile, Side::Rows), packed(form, tile, Side::Columns),
                   {d.data(), 1});
    EXPECT_EQ(d[0], want) << target;
  });
}

constexpr std::uint32_t half = 1;
constexpr std::uint32_t one = 2;
constexpr std::uint32_t one_and_a_half = 3;
constexpr std::uint32_t minus_half = 9;
constexpr Group nothing = {0, 0, 0, 0};

// 2^-126 + C - 2^-162: the last term is below what the exponent of C, -126, keeps.
TEST(FastSums, PackedSubnormalCHasTheSmallestExponent) {
  expect_packed({{16, one, one, -130}, {1, half, minus_half, -160}, nothing, nothing}, 5,
                0x00800005);
}

TEST(FastSums, PackedNegativeTermsThatVanishLeavePlusZero) {
  const Group tiny = {1, half, minus_half, -254};
  expect_packed({tiny, tiny, tiny, tiny}, 0x80000000, 0);
}

// 1025.5 of the smallest subnormals.
TEST(FastSums, PackedSubnormalResultsAreCut) {
  expect_packed({{1, one, one, -139}, {1, one_and_a_half, one, -149}, nothing, nothing}, 0, 0x401);
}

}  // namespace
}  // namespace tcq::fast
