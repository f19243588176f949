// What --explain tells is what dot() computes: its sum rounds to D, its terms add up, nothing more is cut
// than the alignment says; for every kind of both architectures. And the rows of data lines: decimals are
// read back from what is written and round as neighbours say, short rows are zeros, long ones chains.
#include "oracle/sum/sum_story.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "oracle/sum/element_text.h"
#include "sim/num/round.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

// ---- Stories ------------------------------------------------------------------------------------

void expect_told(const SumStory& story, Conversion conversion, const std::string& of) {
  if (!story.special.empty()) return;
  std::int64_t sum = 0;
  int largest = story.max_exponent - (story.at_floor ? 0 : 1);
  for (const StoryTerm& term : story.terms) {
    sum += term.kept;
    largest = std::max(largest, term.exponent);
    const double value = std::ldexp(static_cast<double>(term.significand), term.lsb_exponent);
    const double kept = std::ldexp(static_cast<double>(term.kept), story.step_exponent);
    EXPECT_LE(std::fabs(kept), std::fabs(value)) << of;
    EXPECT_LT(std::fabs(value - kept), std::ldexp(1.0, story.step_exponent)) << of;
  }
  EXPECT_EQ(sum, story.sum) << of;
  EXPECT_EQ(largest, story.max_exponent) << of;
  EXPECT_EQ(round_sum(conversion, story.sum, story.step_exponent), story.d) << of;
}

// Few exponents, so that sums cancel, and now and then anything.
std::uint32_t drawn(Type type, std::mt19937& random) {
  const auto any = static_cast<std::uint32_t>(random());
  const std::uint32_t word = bits(type) == 32 ? any : any % (1u << bits(type));
  if (!is_float(type) || random() % 16 == 0) return word;
  const double small = static_cast<double>(static_cast<int>(random() % 33) - 16);
  return parse_decimal(fmt::format("{}", small / (type == Type::e2m1 ? 4 : 8)), type, "");
}

std::vector<std::uint32_t> drawn_row(Type type, int count, std::mt19937& random) {
  std::vector<std::uint32_t> row;
  for (int i = 0; i < count; ++i) row.push_back(drawn(type, random));
  return row;
}

// Smaller than the sums are, or as large, with bits to the last place: what is cut shows.
std::uint32_t drawn_c(Type type, std::mt19937& random) {
  if (!is_float(type) || random() % 2 == 0) return drawn(type, random);
  const double fraction = 1 + static_cast<double>(random()) / 4294967296.0;
  return parse_decimal(
      fmt::format("{}", std::ldexp(fraction, static_cast<int>(random() % 40) - 30)), type, "");
}

// C alone is left, with what the largest product leaves of it.
void let_products_cancel(Type type_a, std::vector<std::uint32_t>& a,
                         std::vector<std::uint32_t>& b) {
  const std::size_t half = a.size() / 2;
  for (std::size_t k = 0; k < half; ++k) {
    a[half + k] = a[k] ^ 1u << (bits(type_a) - 1);
    b[half + k] = b[k];
  }
}

TEST(SumStory, OfEveryWgmmaEndsInD) {
  std::mt19937 random(1);
  int told = 0;
  for (const wgmma::Form& f : all_forms()) {
    if (f.n != 64 || f.sparse || f.a == Type::b1) continue;
    for (int i = 0; i < 40; ++i) {
      const int count = wgmma::stored_k(f.a);
      const auto a = drawn_row(f.a, count, random), b = drawn_row(f.b, count, random);
      const std::uint32_t c = drawn_c(f.d, random);
      const DotOptions options = {i % 3 != 0, i % 5 == 0, i % 7 == 0, false};
      const SumStory story =
          sum_story(DotTypes{f.d, f.a, f.b}, a.data(), b.data(), count, c, options);
      EXPECT_EQ(story.d, dot({f.d, f.a, f.b}, a.data(), b.data(), count, c, options));
      if (is_float(f.a))
        expect_told(story, wgmma_dot_traits(f.d, f.a).conversion, short_mnemonic(f));
      else
        EXPECT_EQ(static_cast<std::uint32_t>(story.sum), story.d) << short_mnemonic(f);
      ++told;
    }
  }
  EXPECT_GE(told, 400);
}

TEST(SumStory, OfEveryKindOfTcgen05EndsInD) {
  std::mt19937 random(2);
  for (const char* kind : {"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4.block_scale",
                           "mxf4.block_scale", "mxf4nvf4.block_scale.scale_vec::4X"}) {
    const Tcgen05Instruction instruction =
        parse_tcgen05(fmt::format("tcgen05.mma.cta_group::1.kind::{}", kind), Keys({}, {}));
    const tcgen05::DotForm form = {std::get<tcgen05::MmaForm>(instruction.form).opcode,
                                   instruction.idesc};
    const int count = tcgen05::products(form.opcode.kind);
    for (int i = 0; i < 60; ++i) {
      auto a = drawn_row(form.idesc.a, count, random);
      auto b = drawn_row(form.idesc.b, count, random);
      std::vector<std::uint8_t> scales;
      for (int s = 0; s < 8; ++s) scales.push_back(static_cast<std::uint8_t>(125 + random() % 5));
      if (is_float(form.idesc.a) && i % 2 == 0) {
        let_products_cancel(form.idesc.a, a, b);
        std::ranges::fill(scales, scales[0]);
      }
      const tcgen05::DotOperands in{a.data(), b.data(), drawn_c(form.idesc.d, random),
                                    scales.data(), scales.data() + 4};
      const SumStory story = sum_story(form, in);
      EXPECT_EQ(story.d, dot(form, in)) << kind;
      if (form.opcode.kind == tcgen05::Kind::i8)
        EXPECT_EQ(static_cast<std::uint32_t>(story.sum), story.d);
      else
        expect_told(story, tcgen05_dot_traits(form.opcode.kind, form.idesc.d).conversion, kind);
    }
  }
}

TEST(SumStory, NamesWhatDecidesAtOnce) {
  const Options options = [] {
    Options o;
    o.explain = true;
    return o;
  }();
  const auto told = [&](const std::string& line) {
    return answer_line({"mma", {"wgmma.m64n8k16.f32.f16.f16"}, options}, line).text;
  };
  EXPECT_TRUE(told("1.0,0.0 1.0,inf").starts_with("k 1: 0000 * 7c00 = 0 * inf decides at once"));
  EXPECT_TRUE(told("1.0 1.0 -inf").starts_with("c: ff800000 = -inf decides at once"));
}

// ---- Decimals -----------------------------------------------------------------------------------

TEST(Decimals, OfEveryElementReadBackAsItself) {
  for (const Type type : {Type::e4m3, Type::e5m2, Type::e2m3, Type::e3m2, Type::e2m1, Type::f16,
                          Type::bf16, Type::s8, Type::u8})
    for (std::uint32_t word = 0; word < 1u << bits(type); ++word) {
      const std::string text = decimal_text(type, word);
      if (text == "nan") continue;
      ASSERT_EQ(parse_decimal(text, type, ""), word) << name(type) << " " << text;
    }
  std::mt19937 random(3);
  for (int i = 0; i < 100000; ++i) {
    const auto word = static_cast<std::uint32_t>(random());
    const std::string text = decimal_text(Type::f32, word);
    if (text == "nan") continue;
    ASSERT_EQ(parse_decimal(text, Type::f32, ""), word) << text;
  }
}

TEST(Decimals, RoundToTheNearerNeighbourAndToTheEvenOneOfTwo) {
  for (const Type type : {Type::e4m3, Type::e5m2, Type::e2m1, Type::f16, Type::bf16})
    for (std::uint32_t word = 0; word + 1 < 1u << (bits(type) - 1); ++word) {
      const double low = element_value(type, word), high = element_value(type, word + 1);
      if (!std::isfinite(low) || !std::isfinite(high)) break;
      const auto read = [&](double x) { return parse_decimal(fmt::format("{}", x), type, ""); };
      ASSERT_EQ(read(low + (high - low) / 4), word);
      ASSERT_EQ(read(high - (high - low) / 4), word + 1);
      ASSERT_EQ(read((low + high) / 2), word % 2 == 0 ? word : word + 1) << name(type) << low;
    }
}

TEST(Decimals, BeyondTheTypeAreRefused) {
  for (const char* line : {"500.0 1.0", "1.0 inf", "-465.0 1.0"})
    EXPECT_EQ(ask_line("mma wgmma.m64n8k32.f32.e4m3.e4m3", line).status, Status::Usage) << line;
  EXPECT_EQ(ask_line("mma wgmma.m64n8k32.f32.e4m3.e4m3", "464.0 1.0").text, "43e00000");
  for (const char* line : {"128 1", "-129 1", "1.5 1", "x 1"})
    EXPECT_EQ(ask_line("mma wgmma.m64n8k32.s32.s8.s8 numbers=decimal", line).status, Status::Usage);
  EXPECT_EQ(ask_line("mma wgmma.m64n8k32.s32.s8.s8 numbers=decimal", "-128 1").text,
            "ffffff80 = -128");
}

// ---- Rows ---------------------------------------------------------------------------------------

std::string row_of(std::mt19937& random, int count) {
  std::string row;
  for (int i = 0; i < count; ++i)
    row += fmt::format("{}{:02x}", i > 0 ? "," : "", random() % 0x70 + (random() % 2) * 0x80);
  return row;
}

TEST(DataRows, ShortOnesEndWithZeros) {
  const std::string mma = "mma wgmma.m64n8k32.f32.e4m3.e4m3";
  std::mt19937 random(4);
  for (int count = 1; count <= 72; ++count) {
    const std::string a = row_of(random, count), b = row_of(random, count);
    std::string zeros;
    for (int i = count; i % 32 != 0; ++i) zeros += ",00";
    EXPECT_EQ(ask_line(mma, a + " " + b + " 3f800000").text,
              ask_line(mma, a + zeros + " " + b + zeros + " 3f800000").text);
    EXPECT_EQ(ask_line(mma, a + " " + b).text,
              ask_line(mma, a + zeros + " " + b + zeros + " 00000000").text);
  }
}

TEST(DataRows, LongOnesAreChainsOfInstructions) {
  std::mt19937 random(5);
  for (const std::string mma :
       {"mma wgmma.m64n8k32.f32.e4m3.e4m3", "mma tcgen05.mma.cta_group::1.kind::f8f6f4"}) {
    for (int i = 0; i < 20; ++i) {
      std::string all_a, all_b, d = "40490fdb";
      for (int step = 0; step < 4; ++step) {
        const std::string a = row_of(random, 32), b = row_of(random, 32);
        const std::string line = a + " " + b + " " + d;
        d = ask_line(mma + (step == 0 ? " accumulate=0" : ""), line).text;
        all_a += (step > 0 ? "," : "") + a;
        all_b += (step > 0 ? "," : "") + b;
      }
      EXPECT_EQ(ask_line(mma + " accumulate=0", all_a + " " + all_b + " 40490fdb").text, d) << mma;
    }
  }
}

TEST(DataRows, ChainsOfSparseAndScaledFormsTakeTheirCodesAndScalesInTurn) {
  std::mt19937 random(6);
  const std::string sparse = "mma wgmma.sp.m64n8k64.f32.e4m3.e4m3";
  const std::string a0 = row_of(random, 32), a1 = row_of(random, 32);
  const std::string b0 = row_of(random, 64), b1 = row_of(random, 64);
  const std::string first = ask_line(sparse, a0 + " " + b0 + " 00000000 4444444444444444").text;
  EXPECT_EQ(ask_line(sparse, a0 + "," + a1 + " " + b0 + "," + b1 +
                                 " 00000000 4444444444444444eeeeeeeeeeeeeeee")
                .text,
            ask_line(sparse, a1 + " " + b1 + " " + first + " eeeeeeeeeeeeeeee").text);
  const std::string scaled = "mma tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale";
  const std::string half = ask_line(scaled, a0 + " " + a1 + " 00000000 7f 80").text;
  EXPECT_EQ(ask_line(scaled, a0 + "," + a1 + " " + a1 + "," + a0 + " 00000000 7f,81 80,7e").text,
            ask_line(scaled, a1 + " " + a0 + " " + half + " 81 7e").text);
}

}  // namespace
}  // namespace tcq::oracle
