// Products of matrices are what `mma` says of each row and column, for every kind, chained or not.
#include "oracle/sum/mma_matrix.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/data_line.h"
#include "oracle/answer/words.h"
#include "sim/isa/base/element.h"

namespace tcq::oracle {
namespace {

using Words = std::vector<std::string_view>;

struct Instruction {
  Words words;
  std::uint32_t scale_limit = 0;  // factors are below
};

const std::vector<Instruction>& instructions() {
  static const std::vector<Instruction> all = {
      {{"wgmma.m64n8k16.f32.bf16.bf16"}},
      {{"wgmma.m64n8k16.f32.f16.f16", "accumulate=0"}},
      {{"wgmma.m64n8k16.f16.f16.f16", "negate_b=1"}},
      {{"wgmma.m64n8k8.f32.tf32.tf32", "negate_a=1"}},
      {{"wgmma.m64n8k32.f32.e4m3.e5m2"}},
      {{"wgmma.m64n8k32.satfinite.s32.s8.u8"}},
      {{"tcgen05.mma.cta_group::1.kind::f16", "m=128", "n=8", "negate_a=1", "negate_b=1"}},
      {{"tcgen05.mma.cta_group::1.kind::f16", "m=128", "n=8", "scale_input_d=3"}},
      {{"tcgen05.mma.cta_group::1.kind::tf32", "m=128", "n=8", "accumulate=0"}},
      {{"tcgen05.mma.cta_group::1.kind::f8f6f4", "m=128", "n=8", "type_a=e2m3", "type_b=e2m1"}},
      {{"tcgen05.mma.cta_group::1.kind::i8", "m=128", "n=8", "saturate=1"}},
      {{"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X", "m=128", "n=8"}, 256},
      {{"tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X", "m=128", "n=8"}, 256},
      {{"tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X", "m=128", "n=8",
        "negate_a=1"},
       256},
      {{"tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X", "m=128", "n=8"}, 128}};
  return all;
}

std::string name_of(const Instruction& in) {
  std::string name;
  for (const std::string_view word : in.words) name += fmt::format("{} ", word);
  return name;
}

std::vector<std::uint32_t> drawn(std::mt19937_64& draw, std::size_t count, int width) {
  std::vector<std::uint32_t> words(count);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(draw() >> (64 - width));
  return words;
}

std::vector<std::uint8_t> drawn_scales(std::mt19937_64& draw, int count, std::uint32_t limit) {
  std::vector<std::uint8_t> scales(static_cast<std::size_t>(count));
  for (std::uint8_t& scale : scales)
    scale = static_cast<std::uint8_t>(limit == 0 ? 0 : limit / 2 - 20 + draw() % 40);
  return scales;
}

MmaMatrices drawn(const MatrixMma& mma, int k, std::uint32_t limit, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  MmaMatrices m{3, 5, k, {}, {}, {}, {}, {}};
  const auto words = [&](int rows, int cols, Type type) {
    return drawn(draw, static_cast<std::size_t>(rows * cols), bits(type) == 19 ? 32 : bits(type));
  };
  m.a = words(m.m, k, mma.types().a);
  m.b = words(m.n, k, mma.types().b);
  m.d = words(m.m, m.n, mma.types().d);
  m.scales_a = drawn_scales(draw, m.m * mma.instructions(k) * mma.scales(), limit);
  m.scales_b = drawn_scales(draw, m.n * mma.instructions(k) * mma.scales(), limit);
  return m;
}

template <class Word>
std::string row_text(const std::vector<Word>& words, int row, int count, int digits) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}{:0{}x}", i == 0 ? "" : ",",
                        words[static_cast<std::size_t>(row * count + i)], digits);
  return text;
}

std::string line_of(const MatrixMma& mma, const MmaMatrices& m, int i, int j) {
  const DotTypes& types = mma.types();
  std::string line = fmt::format("{} {} {}", row_text(m.a, i, m.k, hex_digits(types.a)),
                                 row_text(m.b, j, m.k, hex_digits(types.b)),
                                 row_text(m.d, i * m.n + j, 1, hex_digits(types.d)));
  const int scales = mma.instructions(m.k) * mma.scales();
  if (scales > 0)
    line += fmt::format(" {} {}", row_text(m.scales_a, i, scales, 2),
                        row_text(m.scales_b, j, scales, 2));
  return line;
}

void expect_lines(const Instruction& in, int instructions_of_k, std::uint64_t seed) {
  const Question question{"mma", in.words, {}};
  const MatrixMma mma(question);
  MmaMatrices m = drawn(mma, instructions_of_k * mma.products(), in.scale_limit, seed);
  const MmaMatrices before = m;
  mma.advance(m);
  for (int i = 0; i < m.m; ++i)
    for (int j = 0; j < m.n; ++j) {
      const Answer answer = answer_line(question, line_of(mma, before, i, j));
      EXPECT_EQ(answer.text, row_text(m.d, i * m.n + j, 1, hex_digits(mma.types().d)))
          << name_of(in) << answer.complaint;
    }
}

TEST(MmaMatrix, IsMmaOfEveryRowAndColumn) {
  for (const Instruction& in : instructions())
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      expect_lines(in, 1, seed);
      expect_lines(in, 3, seed);
    }
}

// Zeros are added to the end of K, none to the end of a row of scale factors.
TEST(MmaMatrix, AnUnfilledInstructionHasZeros) {
  for (const Instruction& in : instructions()) {
    const MatrixMma mma({"mma", in.words, {}});
    const int whole = 2 * mma.products();
    const int k = whole - 5;
    MmaMatrices cut = drawn(mma, k, in.scale_limit, 4);
    MmaMatrices filled = cut;
    filled.k = whole;
    for (auto* words : {&filled.a, &filled.b}) {
      std::vector<std::uint32_t> wider;
      for (std::size_t i = 0; i < words->size(); ++i) {
        wider.push_back((*words)[i]);
        if ((i + 1) % static_cast<std::size_t>(k) == 0) wider.insert(wider.end(), 5, 0);
      }
      *words = std::move(wider);
    }
    mma.advance(cut);
    mma.advance(filled);
    EXPECT_EQ(cut.d, filled.d) << name_of(in);
  }
}

TEST(MmaMatrix, BitsAreCounted) {
  const Words words = {"wgmma.m64n8k256.s32.b1.b1.and.popc"};
  MmaMatrices m{1, 1, 3, {1, 0, 1}, {1, 1, 1}, {}, {}, {40}};
  MatrixMma({"mma", words, {}}).advance(m);
  EXPECT_EQ(m.d[0], 42u);
}

TEST(MmaMatrix, IntegersStayAtTheirEnd) {
  for (const Words& words :
       {Words{"wgmma.m64n8k32.satfinite.s32.s8.u8"},
        Words{"tcgen05.mma.cta_group::1.kind::i8", "m=128", "n=8", "saturate=1"}}) {
    MmaMatrices m{1, 1, 1, {127}, {127}, {}, {}, {0x7fffffff}};
    MatrixMma({"mma", words, {}}).advance(m);
    EXPECT_EQ(m.d[0], 0x7fffffffu) << words[0];
  }
}

TEST(MmaMatrix, RefusesWhatItCannotSum) {
  const auto ask = [](const Words& words) { return MatrixMma({"mma", words, {}}); };
  EXPECT_THROW(ask({"wgmma.sp.m64n8k32.f32.f16.f16"}), UnmodelledError);
  EXPECT_THROW(ask({"tcgen05.mma.sp.cta_group::1.kind::f16", "m=128", "n=8"}), UnmodelledError);
  EXPECT_THROW(ask({"tcgen05.ld.16x256b.x2"}), UsageError);
  EXPECT_THROW(ask({"wgmma.m64n9k16.f32.f16.f16"}), FaultError);
  EXPECT_THROW(ask({"wgmma.m64n8k16.f32.f16.f16", "numbers=decimal"}), UsageError);
  EXPECT_THROW(ask({}), UsageError);
}

}  // namespace
}  // namespace tcq::oracle
