// The arithmetic of tcgen05.mma: published and worked examples, exhaustive sweeps of scale factors
// and single products, and laws that hold for every input. No chip was asked: rows marked Published
// are results that others measured on a B200, the rest is what the model says. Random inputs against
// the second implementation: tcgen05_mixture_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sim/num/tcgen05_dot.h"
#include "tests/num/reference_tcgen05.h"
#include "tests/num/tcgen05_reference_form.h"
#include "tests/support/tcgen05_kinds.h"

namespace tcq::tcgen05 {
namespace {

constexpr std::uint32_t nan = canonical_nan_f32;

// The operands of one output, owned.
struct Inputs {
  Words a, b;
  std::uint32_t c = 0;
  Bytes scales_a, scales_b;

  DotOperands view() const { return {a.data(), b.data(), c, scales_a.data(), scales_b.data()}; }
};

std::uint32_t dot_of(const DotForm& form, const Inputs& in) { return dot(form, in.view()); }

std::uint32_t reference_of(const DotForm& form, const Inputs& in) {
  return reference::dot(reference_spec(form), {in.a, in.b, in.c, in.scales_a, in.scales_b},
                        reference_options(form));
}

// --- worked examples -----------------------------------------------------------------------------

struct Example {
  const char* a;
  const char* b;
  const char* scales_a;
  const char* scales_b;
  const char* c;
  const char* d;
  const char* why;
};

Inputs inputs_of(const DotForm& form, const Example& e) {
  const int count = products(form.opcode.kind);
  const int scales = scale_count(form.opcode);
  return {operands(e.a, count), operands(e.b, count), hex(e.c), scale_bytes(e.scales_a, scales),
          scale_bytes(e.scales_b, scales)};
}

void expect_all(const DotForm& form, const std::vector<Example>& examples) {
  for (const Example& e : examples) {
    const Inputs in = inputs_of(form, e);
    EXPECT_EQ(dot_of(form, in), hex(e.d))
        << text(form) << "  A " << e.a << "  B " << e.b << "  C " << e.c << "\n"
        << e.why;
    EXPECT_EQ(reference_of(form, in), hex(e.d)) << "reference: " << text(form) << "\n" << e.why;
  }
}

// Published: MMA-Sim, arXiv 2511.10909, Table 8: 2^23 - 2^23 - 0.5 - 0.25 - 0.125 with C = 2^23, on
// a B200. The exact answer is -0.875.
TEST(Tcgen05Dot, GivesThePublishedResultsOfTheTruncationExample) {
  expect_all(f16_form(), {{"0:f000 1:b800 2:b400 3:b000", "0:6400 1-3:3c00", "", "", "4b000000",
                           "bf400000", "LSB is 2^-2"}});
  const char* a = "0:f0 1:b8 2:b4 3:b0";
  const char* b = "0:64 1-3:3c";
  expect_all(f8_form(Type::e5m2, Type::e5m2),
             {{a, b, "", "", "4b000000", "bf400000", "25 fraction bits, where Hopper has 13"}});
  expect_all(mxf8_form(Type::e5m2, Type::e5m2),
             {{a, b, "7f", "7f", "4b000000", "bf400000", "scales of 1 change nothing"}});
  expect_all(nvf4_16(), {{"0:e 16:a 17:a 18:9", "0:6 16:2 17:1 18:1", "8a 7f 7f 7f", "87 7e 7f 7f",
                          "4b000000", "bf600000", "35 fraction bits keep everything"}});
}

TEST(Tcgen05Dot, Fp8KeepsTwentyFiveFractionBitsAndAllOfF32) {
  expect_all(f8_form(Type::e4m3, Type::e4m3),
             {{"", "", "", "", "3f800001", "3f800001", "C passes uncut, unlike on Hopper"},
              {"0:58 1:d8", "0:58 1:58", "", "", "3f800040", "3f800040", "2^-17 is the LSB"},
              {"0:58 1:d8", "0:58 1:58", "", "", "3f800020", "3f800000", "2^-18 is lost"}});
}

TEST(Tcgen05Dot, ScalesOfMxf8f6f4AddToExponents) {
  expect_all(
      mxf8_form(Type::e4m3, Type::e4m3),
      {{"0:38", "0:38", "7f", "80", "00000000", "40000000", "1 * 1 * 2"},
       {"0:38 1:b8", "0:38 1:38", "98", "7f", "3f800000", "3f800000", "pair at E = 25, C kept"},
       {"0:38 1:b8", "0:38 1:38", "99", "7f", "3f800000", "00000000", "pair at E = 26, C lost"},
       {"0:18 1:81", "0:18 1:01", "39", "38", "00000000", "00000001", "2^-149 - 2^-159"},
       {"0:18 1:81", "0:10 1:01", "39", "39", "00000000", "00000000", "2^-149 - 2^-158"},
       {"0:38", "0:38", "fe", "80", "00000000", "7f800000", "2^128"},
       {"0:38", "0:38", "00", "7f", "00000000", "00400000", "00 is 2^-127, not zero"},
       {"", "", "ff", "7f", "3f800000", "7fffffff", "a NaN scale, all data zero"},
       {"", "", "7f", "ff", "3f800000", "7fffffff", "of B"}});
}

// A quarter is the smallest product: 2^-158 and 2^-159 here, on either side of the last bit kept.
TEST(Tcgen05Dot, TheFloorOfMxf8f6f4ShowsForTheNarrowestOperands) {
  expect_all(
      mxf8_form(Type::e2m1, Type::e2m1),
      {{"0-2:7 3:6 4-19:1", "0-2:7 3:6 4-19:1", "7f", "00", "00000000", "03800000", "128 * 2^-127"},
       {"0-2:7 3:6 4-19:1", "0-2:7 3:6 4-19:1", "31", "31", "00000000", "00000001",
        "512 quarters; floor -132: 496, 0"},
       {"0-6:7 7-22:1", "0-6:7 7-22:1", "31", "30", "00000000", "00000000",
        "1008 of 1024 quarters are kept; floor -134: 00000001"}});
}

TEST(Tcgen05Dot, GroupsOfMxf4AreScaledAsAWhole) {
  expect_all(mxf4(),
             {{"0:2 16:a 32:1", "0:2 16:2 32:1", "7f 5e", "7f 7f", "00000000", "2e000000",
               "1 - 1 + 2^-35: the LSB"},
              {"0:2 16:a 32:1", "0:2 16:2 32:1", "7f 5d", "7f 7f", "00000000", "00000000",
               "2^-36 is lost"},
              {"0:2 1:a 32:2", "0:2 1:2 32:2", "a3 7f", "7f 7f", "00000000", "00000000",
               "a group that cancels still raises E to 36: LSB = 2"},
              {"0:2 1:a 32:2", "0:2 1:2 32:2", "a2 7f", "7f 7f", "00000000", "3f800000", "E = 35"},
              {"0:2 32:a", "0:2 32:2", "34 28", "35 27", "00000000", "00000001",
               "2^-149 - 2^-175 below LSB 2^-174"},
              {"0:2 32:a", "0:2 32:2", "34 28", "35 28", "00000000", "00000000", "2^-149 - 2^-174"},
              {"0:2 32:0", "0:2 32:2", "7f fe", "7f fe", "00000000", "3f800000",
               "a group without products does not count"}});
}

TEST(Tcgen05Dot, ScalesOfNvf4AreUnsignedE4m3) {
  expect_all(nvf4(), {{"0:2", "0:2", "38", "3c", "00000000", "3fc00000", "1 * 1.0 * 1.5"},
                      {"0:2", "0:2", "01", "38", "00000000", "3b000000", "the smallest: 2^-9"},
                      {"0:2", "0:2", "b8", "38", "00000000", "3f800000", "b8 means 38"},
                      {"0:2", "0:2", "00", "38", "80000000", "00000000", "zero"},
                      {"", "", "38 7f 38 38", "38", "00000000", "7fffffff", "NaN, all data zero"},
                      {"", "", "38", "38 38 38 ff", "00000000", "7fffffff", "ff is NaN, too"},
                      {"0-63:7", "0-63:7", "7e", "7e", "00000000", "4ddc8000", "64 * 36 * 448^2"}});
}

// Inferred: what the model says where no chip has been asked; each row names its rival.
TEST(Tcgen05Dot, OpenQuestionsAsTheModelAnswersThem) {
  expect_all(f16_to_f16(),
             {{"0:0400 1:0004", "0:1000 1:0001", "", "", "0000", "0001", "floor -21: 2^-46 kept"},
              {"0:0400 1:0002", "0:1000 1:0001", "", "", "0000", "0000", "2^-47 lost; -133: 0001"},
              {"0:0200 1:0200 2:0600", "0:7800 1:f800 2:1400", "", "", "0000", "0001",
               "a subnormal keeps the smallest exponent; normalised: 0002"}});
  const char* why = "a subnormal keeps the smallest exponent; normalised: C is returned";
  expect_all(f8_form(Type::e2m1, Type::e4m3),
             {{"0:1 1:9", "0:38 1:38", "", "", "32800000", "00000000", why}});
  expect_all(f8_form(Type::e2m3, Type::e4m3),
             {{"0:04 1:24", "0:38 1:38", "", "", "32800000", "00000000", why}});
  expect_all(f8_form(Type::e3m2, Type::e4m3),
             {{"0:02 1:22", "0:38 1:38", "", "", "31800000", "00000000", why}});
}

TEST(Tcgen05Dot, ScaleInputDIsExactBeforeAlignment) {
  DotForm form = f16_form();
  form.scale_input_d = 15;
  expect_all(form, {{"0:0400 1:0001", "0:b800 1:0100", "", "", "3f800000", "2b800000",
                     "2^-15 - 2^-15 + 2^-40; C aligned before scaling: 0"}});
  form.scale_input_d = 1;
  expect_all(form, {{"", "", "", "", "00800003", "00400001", "cut; to nearest: 00400002"}});
  form = f16_to_f16();
  form.scale_input_d = 1;
  expect_all(form, {{"0:0400", "0:1000", "", "", "0401", "0201", "C rounded first: 0200"}});
  form.scale_input_d = 15;
  expect_all(form, {{"", "", "", "", "7c00", "7c00", "infinity stays"},
                    {"", "", "", "", "fe01", "7fff", "NaN stays"},
                    {"", "", "", "", "8000", "0000", "zero stays"}});
}

TEST(Tcgen05Dot, IntegersWrapOrSaturateOnceAtTheEnd) {
  DotForm form = plain_form(Kind::i8, Type::s32, Type::s8, Type::s8);
  const Example all_max = {"0-31:7f", "0-31:7f", "", "", "7fffffff", "8007e01f", "wraps"};
  expect_all(form, {all_max});
  form.idesc.saturate = true;
  expect_all(form, {{"0-31:7f", "0-31:7f", "", "", "7fffffff", "7fffffff", "clamped"},
                    {"0-31:7f", "0-15:7f 16-31:81", "", "", "7fffffff", "7fffffff",
                     "one clamp; in halves: 7ffc0fef"},
                    {"0-31:80", "0-31:7f", "", "", "80000000", "80000000", "clamped below"}});
  form = plain_form(Kind::i8, Type::s32, Type::u8, Type::s8);
  expect_all(form, {{"0-31:ff", "0-31:80", "", "", "00000000", "fff01000", "signs per operand"}});
}

TEST(Tcgen05Dot, SpecialsAreCanonical) {
  expect_all(bf16_form(), {{"0:7f80", "0:0000", "", "", "00000000", "7fffffff", "Inf * 0"},
                           {"0:7f80", "0:0001", "", "", "00000000", "7f800000", "Inf * subnormal"},
                           {"0:7f00", "0:7f00", "", "", "ff800000", "ff800000", "2^254 is finite"},
                           {"0:3f80 1:3f80", "0:7f00 1:7f00", "", "", "00000000", "7f800000",
                            "overflows to infinity"}});
  expect_all(nvf4(), {{"0:2", "0:2", "38", "38", "ff800000", "ff800000", "C = -Inf"},
                      {"0:2", "0:2", "38", "38", "ff800001", "7fffffff", "C = NaN"},
                      {"0:2", "0:2", "7f", "38", "ff800000", "7fffffff", "NaN scale before Inf"}});
  expect_all(mxf4(), {{"0:2", "0:2", "fe", "80", "00000000", "7f800000", "2^128"},
                      {"0:a", "0:2", "fe", "80", "00000000", "ff800000", "-2^128"}});
}

// --- scale factors -------------------------------------------------------------------------------

TEST(Tcgen05Scale, EveryUe8m0IsAPowerOfTwoOrNan) {
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const Scale s = decode_scale(ScaleType::ue8m0, byte);
    EXPECT_EQ(s.nan, byte == 255);
    if (s.nan) continue;
    EXPECT_EQ(std::ldexp(s.significand, s.exponent - scale_fraction_bits),
              std::ldexp(1.0, static_cast<int>(byte) - 127));
  }
}

TEST(Tcgen05Scale, EveryUe4m3IsTheMagnitudeOfE4m3) {
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const Scale s = decode_scale(ScaleType::ue4m3, byte);
    const int fraction = static_cast<int>(byte % 8);
    const int field = static_cast<int>(byte / 8 % 16);
    EXPECT_EQ(s.nan, byte % 128 == 127);
    if (s.nan) continue;
    const double value =
        field == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, field - 10);
    EXPECT_EQ(std::ldexp(s.significand, s.exponent - scale_fraction_bits), value) << byte;
    if (value != 0) {
      EXPECT_EQ(s.exponent, field == 0 ? -6 : field - 7) << "normalised";
    }
  }
}

// Both operands 1: D is the product of the scale factors, cut to f32.
TEST(Tcgen05Scale, EveryPairOfScalesGivesTheirProduct) {
  for (const DotForm& form : {mxf8_form(Type::e4m3, Type::e4m3), mxf4(), nvf4_16(), nvf4()}) {
    const char* one = form.opcode.kind == Kind::mxf8f6f4 ? "0:38" : "0:2";
    Inputs in = inputs_of(form, {one, one, "00", "00", "00000000", "", ""});
    for (std::uint32_t x = 0; x < 256; ++x) {
      for (std::uint32_t y = 0; y < 256; ++y) {
        in.scales_a[0] = static_cast<std::uint8_t>(x);
        in.scales_b[0] = static_cast<std::uint8_t>(y);
        const std::uint32_t d = dot_of(form, in);
        ASSERT_EQ(d, reference_of(form, in)) << text(form) << " " << x << " " << y;
        const bool is_ue8m0 = form.idesc.scale_type == ScaleType::ue8m0;
        if (!is_ue8m0 || x == 255 || y == 255) continue;
        const int e = static_cast<int>(x + y) - 254;
        const std::uint32_t power = e > 127     ? 0x7f800000u
                                    : e >= -126 ? static_cast<std::uint32_t>(e + 127) << 23
                                    : e >= -149 ? 1u << (e + 149)
                                                : 0;
        ASSERT_EQ(d, power) << text(form) << " " << x << " " << y;
      }
    }
  }
}

// --- single products -----------------------------------------------------------------------------

// All pairs of codes, both signs of everything, C = 0, one product.
TEST(Tcgen05Dot, EqualsTheReferenceForEveryPairOfNarrowOperands) {
  for (const DotForm& form : all_forms()) {
    const Kind kind = form.opcode.kind;
    if (bits(form.idesc.a) > 8 || kind == Kind::i8) continue;
    Inputs in = inputs_of(form, {"", "", "80", "7e", "0000", "", ""});
    for (std::uint32_t a = 0; a < 1u << bits(form.idesc.a); ++a) {
      for (std::uint32_t b = 0; b < 1u << bits(form.idesc.b); ++b) {
        in.a[3] = a;
        in.b[3] = b;
        // Zeros change nothing: the reference is slow enough without them.
        const Inputs alone{{a}, {b}, 0, in.scales_a, in.scales_b};
        const Inputs& same = is_packed_4bit(kind) ? in : alone;
        ASSERT_EQ(dot_of(form, in), reference_of(form, same)) << text(form) << " " << a << " " << b;
      }
    }
  }
}

// All significands as large as they get, of one sign: an adder one bit narrower would wrap.
TEST(Tcgen05Dot, TheLargestSumsOfEveryFormDoNotWrap) {
  const auto below_two = [](Type type) {
    const FloatFormat f = float_format(type);
    const auto bias = static_cast<std::uint32_t>(f.bias);
    return (((bias + 1) << f.fraction_bits) - 1) << f.ignored_low_bits;
  };
  for (const DotForm& form : all_forms()) {
    if (form.opcode.kind == Kind::i8) continue;
    const auto count = static_cast<std::size_t>(products(form.opcode.kind));
    const bool packed = is_packed_4bit(form.opcode.kind);
    const bool is_ue4m3 = form.idesc.scale_type == ScaleType::ue4m3;
    const Bytes scales(4, is_ue4m3 ? 0x3f : 0x7f);
    const std::uint32_t element = packed ? 7 : below_two(form.idesc.a);
    const Inputs in{Words(count, element), Words(count, packed ? 7 : below_two(form.idesc.b)),
                    below_two(form.idesc.d), scales, scales};
    const std::uint32_t d = dot_of(form, in);
    EXPECT_EQ(d, reference_of(form, in)) << text(form);
    const Decoded result = decode_float(form.idesc.d, d);
    EXPECT_GE(result.exponent, packed ? 11 : 4) << text(form);
    EXPECT_FALSE(result.negative) << text(form);
  }
}

}  // namespace
}  // namespace tcq::tcgen05
