// sim/num/fast against the definitions, dot() of sim/num: every instruction, every set of vector
// instructions that this machine has, weighted inputs of every class, odd sizes, chains.
//
// TCQ_OUTPUTS=N runs about N outputs of every instruction on every target.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdlib>
#include <random>
#include <string>

#include "sim/num/fast/chain.h"
#include "sim/num/fast/packed.h"
#include "tests/support/tcgen05_inputs.h"

namespace tcq::fast {
namespace {

// One instruction as its definition knows it: kind i8 and others of tcgen05, or wgmma.
struct Subject {
  bool is_tcgen05 = false;
  tcgen05::DotForm form = {};  // of wgmma only types and signs
};

Instruction instruction(const Subject& s) {
  const tcgen05::InstructionDescriptor& x = s.form.idesc;
  const DotTypes types{x.d, x.a, x.b};
  Instruction out =
      s.is_tcgen05 ? tcgen05_instruction(s.form.opcode.kind, types) : wgmma_instruction(types);
  out.negate_a = x.negate_a;
  out.negate_b = x.negate_b;
  out.saturate = x.saturate;
  out.scale_c = s.form.scale_input_d;
  return out;
}

std::uint32_t defined(const Subject& s, const tcgen05::DotOperands& in) {
  if (s.is_tcgen05) return tcgen05::dot(s.form, in);
  const tcgen05::InstructionDescriptor& x = s.form.idesc;
  return dot({x.d, x.a, x.b}, in.a, in.b, wgmma::stored_k(x.a), in.c,
             {.negate_a = x.negate_a, .negate_b = x.negate_b, .satfinite = x.saturate});
}

std::vector<Subject> subjects() {
  std::vector<Subject> out;
  for (const tcgen05::DotForm& form : tcgen05::all_forms())
    if (!is_packed_4bit(form.opcode.kind)) out.push_back({true, form});
  for (const Type d : {Type::f16, Type::f32, Type::s32})
    for (int a = 0; a < type_count; ++a)
      for (int b = 0; b < type_count; ++b) {
        const auto type_a = static_cast<Type>(a);
        const auto type_b = static_cast<Type>(b);
        if (type_a != Type::b1 && wgmma::types_exist(d, type_a, type_b))
          out.push_back({false, {{}, {.d = d, .a = type_a, .b = type_b}}});
      }
  return out;
}

std::string text(const Subject& s) {
  return std::string(s.is_tcgen05 ? name(s.form.opcode.kind) : "wgmma") + " " +
         name(s.form.idesc.d) + " " + name(s.form.idesc.a) + " " + name(s.form.idesc.b);
}

// A tile of K = one or several instructions: the mixture's slots repeat, shifted by one row.
tcgen05::Tile drawn(const Subject& s, MixtureClass c, std::uint64_t seed, int rows, int cols) {
  if (s.is_tcgen05) return draw_tile(s.form, c, seed, rows, cols);
  const tcgen05::InstructionDescriptor& x = s.form.idesc;
  tcgen05::Tile tile{rows, cols, wgmma::stored_k(x.a), 0, {}, {}, {}, {}, {}};
  draw_elements(Mixture({x.d, x.a, x.b}, tile.k, c, seed), tile);
  return tile;
}

// Tiles one behind the other along K.
struct Chain {
  Subject subject;
  std::vector<tcgen05::Tile> tiles;

  const tcgen05::Tile& first() const { return tiles.front(); }
  int k() const { return first().k * static_cast<int>(tiles.size()); }

  Lines lines(Side side) const {
    const bool is_row = side == Side::Rows;
    Lines out(instruction(subject), side, is_row ? first().rows : first().cols, k());
    if (first().scales > 0) out.scales.resize(static_cast<std::size_t>(out.count()) * tiles.size());
    for (int i = 0; i < out.count(); ++i) {
      for (std::size_t t = 0; t < tiles.size(); ++t) {
        const auto& words = is_row ? tiles[t].a : tiles[t].b;
        std::copy_n(words.begin() + i * first().k, first().k,
                    out.words(i) + static_cast<int>(t) * first().k);
        if (first().scales > 0)
          out.scales[static_cast<std::size_t>(i) * tiles.size() + t] =
              (is_row ? tiles[t].scales_a : tiles[t].scales_b)[static_cast<std::size_t>(i)];
      }
    }
    out.pack();
    return out;
  }

  std::uint32_t expected(int row, int col) const {
    std::uint32_t c = first().operands(row, col).c;
    Subject step = subject;
    for (const tcgen05::Tile& tile : tiles) {
      tcgen05::DotOperands in = tile.operands(row, col);
      in.c = c;
      c = defined(step, in);
      step.form.scale_input_d = 0;
    }
    return c;
  }
};

Chain draw_chain(Subject s, std::mt19937& random) {
  s.form = with_random_options(s.form, random);
  s.form.accumulate = true;
  if (!s.is_tcgen05) {
    s.form.scale_input_d = 0;
    s.form.idesc.negate_a = is_float(s.form.idesc.a) && random() % 4 == 0;
    s.form.idesc.saturate = is_int8(s.form.idesc.a) && random() % 2 == 0;
  }
  const int rows = 1 + static_cast<int>(random() % 5);
  const int cols = 1 + static_cast<int>(random() % 70);
  Chain chain{s, {}};
  const auto length = 1 + random() % 3 * (random() % 6);
  const auto one_class = static_cast<MixtureClass>(random() % mixture_class_count);
  for (std::uint64_t i = 0; i < length; ++i) {
    const auto any = static_cast<MixtureClass>(random() % mixture_class_count);
    chain.tiles.push_back(drawn(s, random() % 8 == 0 ? any : one_class, random(), rows, cols));
  }
  return chain;
}

std::vector<std::uint32_t> outputs(const Chain& chain) {
  std::vector<std::uint32_t> d = chain.first().c;
  advance(instruction(chain.subject), chain.lines(Side::Rows), chain.lines(Side::Columns),
          {d.data(), chain.first().cols});
  return d;
}

std::int64_t wanted_outputs() {
  const char* text = std::getenv("TCQ_OUTPUTS");
  return text == nullptr ? 4000 : std::atoll(text);
}

// Calls work(name) once for every target that this machine can run.
template <class Work>
void on_every_target(Work work) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    work(std::string(hwy::TargetName(target)));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(FastSums, EqualTheDefinitionInEveryBitOnEveryTarget) {
  for (const Subject& s : subjects()) {
    std::mt19937 random(1);
    std::int64_t done = 0;
    while (done < wanted_outputs()) {
      const Chain chain = draw_chain(s, random);
      std::vector<std::uint32_t> want;
      for (int row = 0; row < chain.first().rows; ++row)
        for (int col = 0; col < chain.first().cols; ++col) want.push_back(chain.expected(row, col));
      on_every_target([&](const std::string& target) {
        ASSERT_EQ(outputs(chain), want) << text(s) << " on " << target << " after " << done;
      });
      if (HasFatalFailure()) return;
      done += static_cast<std::int64_t>(want.size());
    }
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

// --- kinds mxf4 and mxf4nvf4 -----------------------------------------------------------------------

PackedLines packed(const tcgen05::DotForm& form, const tcgen05::Tile& tile, Side side) {
  const bool is_row = side == Side::Rows;
  PackedLines out(side, is_row ? tile.rows : tile.cols);
  for (int i = 0; i < out.count(); ++i)
    out.set(i, tcgen05::decode_packed_row(
                   (is_row ? tile.a : tile.b).data() + i * tile.k,
                   is_row ? form.idesc.negate_a : form.idesc.negate_b, form.idesc.scale_type,
                   (is_row ? tile.scales_a : tile.scales_b).data() + i * tile.scales,
                   scale_block(form.opcode)));
  return out;
}

TEST(FastSums, PackedKindsEqualTheDefinitionInEveryBitOnEveryTarget) {
  for (const tcgen05::DotForm& plain : tcgen05::packed_forms()) {
    std::mt19937 random(2);
    std::int64_t done = 0;
    while (done < wanted_outputs()) {
      tcgen05::DotForm form = with_random_options(plain, random);
      form.accumulate = true;
      const auto c = static_cast<MixtureClass>(random() % mixture_class_count);
      const int rows = 1 + static_cast<int>(random() % 5);
      const int cols = 1 + static_cast<int>(random() % 70);
      const tcgen05::Tile tile = draw_tile(form, c, random(), rows, cols);
      std::vector<std::uint32_t> want;
      for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col) want.push_back(dot(form, tile.operands(row, col)));
      on_every_target([&](const std::string& target) {
        std::vector<std::uint32_t> d = tile.c;
        advance_packed(form, packed(form, tile, Side::Rows), packed(form, tile, Side::Columns),
                       {d.data(), cols});
        ASSERT_EQ(d, want) << name(c) << " on " << target << " after " << done;
      });
      if (HasFatalFailure()) return;
      done += static_cast<std::int64_t>(want.size());
    }
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
