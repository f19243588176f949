// Conversions by the order of the codes of a format: a value between two neighbours goes to one of them.
#include <bit>
#include <cmath>

#include "tests/alu/alu_kit.h"

namespace tcq::alu {
namespace {

std::uint32_t convert(std::string_view text, std::uint32_t word) {
  return run(text, {Register::of<std::uint32_t>({word}), Register::of<std::uint32_t>({word})})
      .first.words[0];
}
std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
float value(std::uint32_t x) { return std::bit_cast<float>(x); }

// One more bit than the code, below or above the middle of two neighbours, and their middle.
void expect_neighbours(const std::string& widen, const std::string& type, std::uint32_t largest) {
  const std::string narrow = "." + type + ".f32";
  for (std::uint32_t code = 0; code < largest; ++code) {
    const float low = value(convert(widen, code));
    const float high = value(convert(widen, code + 1));
    ASSERT_LT(low, high) << widen << code;
    const float middle = low + (high - low) / 2;
    ASSERT_EQ(convert("cvt.rn" + narrow, bits(low)), code);
    ASSERT_EQ(convert("cvt.rn" + narrow, bits(middle)), code + code % 2) << "a tie is even";
    ASSERT_EQ(convert("cvt.rn" + narrow, bits(std::nextafter(middle, high))), code + 1);
    ASSERT_EQ(convert("cvt.rn" + narrow, bits(std::nextafter(middle, low))), code);
    ASSERT_EQ(convert("cvt.rz" + narrow, bits(std::nextafter(high, low))), code);
  }
}

TEST(ConvertFloat, HalvesAndBrainsGoToTheirNearestNeighbour) {
  expect_neighbours("cvt.f32.f16", "f16", 0x7bff);
  expect_neighbours("cvt.f32.bf16", "bf16", 0x7f7f);
}

TEST(ConvertFloat, EverySmallFloatSurvivesF16) {
  for (const auto& [type, largest, sign] :
       {std::tuple{"e4m3x2", 0x7eu, 0x80u}, std::tuple{"e5m2x2", 0x7bu, 0x80u},
        std::tuple{"e2m3x2", 0x1fu, 0x20u}, std::tuple{"e3m2x2", 0x1fu, 0x20u}}) {
    const std::string widen = std::string("cvt.rn.f16x2.") + type;
    const std::string narrow = std::string("cvt.rn.satfinite.") + type + ".f32";
    for (std::uint32_t code = 0; code <= largest; ++code) {
      const std::uint32_t wide = convert(widen, code << 8 | code | sign);
      ASSERT_EQ(wide >> 16 | 0x8000, wide & 0xffff) << "the same but for the sign";
      const std::uint32_t single = convert("cvt.f32.f16", wide >> 16);
      ASSERT_EQ(convert(narrow, single), code << 8 | code) << type;
      if (code == largest) {
        ASSERT_EQ(convert(narrow, bits(1e30F)), code << 8 | code) << type;
        continue;
      }
      const float next = value(convert("cvt.f32.f16", convert(widen, code + 1) & 0xffff));
      const float middle = value(single) + (next - value(single)) / 2;
      const std::uint32_t even = code + code % 2;
      ASSERT_EQ(convert(narrow, bits(middle)), even << 8 | even) << type;
      ASSERT_EQ(convert(narrow, bits(std::nextafter(middle, next))), (code + 1) << 8 | (code + 1));
    }
  }
}

TEST(ConvertFloat, FourBitElementsLieSideBySide) {
  const std::uint32_t values[] = {0x0000, 0x3800, 0x3c00, 0x3e00, 0x4000, 0x4200, 0x4400, 0x4600};
  for (std::uint32_t code = 0; code < 8; ++code) {
    const std::uint32_t wide = convert("cvt.rn.f16x2.e2m1x2", code << 4 | (code ^ 8));
    EXPECT_EQ(wide, values[code] << 16 | values[code] | 0x8000);
    const Outcome back = run("cvt.rn.satfinite.e2m1x2.f32",
                             {Register::of<std::uint32_t>({convert("cvt.f32.f16", values[code])}),
                              Register::of<std::uint32_t>({bits(-100.0F)})});
    EXPECT_EQ(back.first.words[0], code << 4 | 0xf);
  }
}

// Of sm_100f, PTX ISA 9.1; an answer says that they are not recorded. Against the nearest of all numbers of the type.
struct Pair {
  const char* type;
  int exponent_bits, fraction_bits, bias, width;
  std::uint32_t largest, nan;
};

double number_of(const Pair& p, std::uint32_t code) {
  const auto fraction = static_cast<int>(code & ((1u << p.fraction_bits) - 1));
  const auto exponent = static_cast<int>(code >> p.fraction_bits);
  return exponent == 0
             ? std::ldexp(fraction, 1 - p.bias - p.fraction_bits)
             : std::ldexp(fraction + (1 << p.fraction_bits), exponent - p.bias - p.fraction_bits);
}

std::uint32_t nearest(const Pair& p, double x, bool relu) {
  if (std::isnan(x)) return p.nan;
  const std::uint32_t sign = std::signbit(x) ? 1u << (p.exponent_bits + p.fraction_bits) : 0;
  if (relu && sign != 0) return 0;
  std::uint32_t code = 0;
  const auto middle = [&] { return (number_of(p, code) + number_of(p, code + 1)) / 2; };
  while (code < p.largest && (std::abs(x) > middle() || (std::abs(x) == middle() && code % 2 != 0)))
    ++code;
  return sign | code;
}

double half_number(std::uint32_t word, bool is_brain) {
  if (is_brain) return value(word << 16);
  const std::uint32_t magnitude = word & 0x7fff;
  const double x = magnitude > 0x7c00    ? NAN
                   : magnitude == 0x7c00 ? INFINITY
                                         : number_of({"f16", 5, 10, 15, 16, 0, 0}, magnitude);
  return (word & 0x8000) != 0 ? -x : x;
}

TEST(ConvertFloat, PairsOfHalvesGoToTheNearestOfTheirType) {
  const Pair pairs[] = {{"e4m3x2", 4, 3, 7, 8, 0x7e, 0x7f},
                        {"e5m2x2", 5, 2, 15, 8, 0x7b, 0x7f},
                        {"e2m1x2", 2, 1, 1, 4, 0x7, 0x7},
                        {"e2m3x2", 2, 3, 1, 8, 0x1f, 0x1f},
                        {"e3m2x2", 3, 2, 3, 8, 0x1f, 0x1f}};
  for (const Pair& p : pairs)
    for (const bool is_brain : {false, true})
      for (const bool relu : {false, true}) {
        const std::string text = std::string("cvt.rn.satfinite.") + (relu ? "relu." : "") + p.type +
                                 (is_brain ? ".bf16x2" : ".f16x2");
        const bool is_of_sm90 = !is_brain && p.type[0] == 'e' && p.exponent_bits >= 4;
        const Operation operation = alu::operation(ptx::read_form(text));
        EXPECT_EQ(operation.approximate, !is_of_sm90) << text;
        EXPECT_EQ(std::string(operation.bound).ends_with("not recorded"), !is_of_sm90) << text;
        for (std::uint32_t first = 0; first < 0x10000; first += 32) {
          Register in;
          const auto low = [&](std::uint32_t lane) { return first + lane; };
          const auto high = [&](std::uint32_t lane) { return (first + lane) * 40503 & 0xffff; };
          for (std::uint32_t lane = 0; lane < 32; ++lane)
            in.set(lane, high(lane) << 16 | low(lane));
          const Outcome out = run(text, {in}, ~0u, {}, 1);
          for (std::uint32_t lane = 0; lane < 32; ++lane)
            ASSERT_EQ(out.first.words[lane], nearest(p, half_number(high(lane), is_brain), relu)
                                                     << p.width |
                                                 nearest(p, half_number(low(lane), is_brain), relu))
                << text << std::hex << " " << in.words[lane];
        }
      }
}

TEST(ConvertFloat, NanInfinityAndOverflow) {
  const std::uint32_t nan = 0x7fc12345, infinity = 0x7f800000;
  EXPECT_EQ(convert("cvt.rn.f16.f32", nan), 0x7fffu);
  EXPECT_EQ(convert("cvt.rn.bf16x2.f32", nan), 0x7fff7fffu);
  EXPECT_EQ(convert("cvt.rn.satfinite.e4m3x2.f32", nan), 0x7f7fu);
  EXPECT_EQ(convert("cvt.rn.satfinite.e2m3x2.f32", nan), 0x1f1fu);
  EXPECT_EQ(convert("cvt.rn.satfinite.e4m3x2.f32", infinity), 0x7e7eu);
  EXPECT_EQ(convert("cvt.rn.f16.f32", bits(65520.0F)), 0x7c00u);
  EXPECT_EQ(convert("cvt.rz.f16.f32", bits(1e9F)), 0x7bffu);
  EXPECT_EQ(convert("cvt.rn.satfinite.f16.f32", infinity), 0x7bffu);
  EXPECT_EQ(convert("cvt.rn.relu.bf16x2.f32", bits(-1.0F)), 0u);
  EXPECT_EQ(convert("cvt.sat.f32.f32", bits(-2.0F)), 0u);
  EXPECT_EQ(convert("cvt.sat.f32.f32", bits(1.5F)), bits(1.0F));
  EXPECT_EQ(convert("cvt.sat.f32.f32", bits(0.75F)), bits(0.75F));
  EXPECT_EQ(convert("cvt.sat.f32.f32", nan), 0u);
  EXPECT_EQ(convert("cvt.sat.f32.f32", 1), 1u);
  EXPECT_EQ(convert("cvt.sat.f32.f32", bits(0.25F)), bits(0.25F));
  EXPECT_EQ(convert("cvt.rp.sat.f16.f32", 1), 1u);
}

std::uint64_t convert_wide(std::string_view text, std::uint64_t x) {
  return run(text, {Register::of<std::uint64_t>({x})}).first.get<std::uint64_t>(0);
}
std::uint64_t widen(std::string_view text, std::uint32_t x) {
  return run(text, {Register::of<std::uint32_t>({x})}).first.get<std::uint64_t>(0);
}

// Rows of a recording.
TEST(ConvertFloat, SomeNaNsKeepTheirBits) {
  EXPECT_EQ(convert("cvt.f32.f32", 0xff800001), 0xff800001u);
  EXPECT_EQ(convert("cvt.ftz.f32.f32", 0xff800001), 0x7fffffffu);
  EXPECT_EQ(convert("cvt.rm.f32.bf16", 0x7f81), 0x7f810000u);
  EXPECT_EQ(convert("cvt.f32.bf16", 0xffc5), 0xffc50000u);
  EXPECT_EQ(convert("cvt.ftz.f32.bf16", 0x7f81), 0x7fffffffu);
  EXPECT_EQ(convert("cvt.f32.f16", 0x7c01), 0x7fffffffu);
  EXPECT_EQ(convert_wide("cvt.f64.f64", 0xfff0000000000001), 0xfff0000000000001u);
  EXPECT_EQ(convert_wide("cvt.rni.f64.f64", 0xfff0000000000001), 0xfff8000000000001u);
  EXPECT_EQ(widen("cvt.f64.f32", 0xff800001), 0xfff8000020000000u);
  EXPECT_EQ(widen("cvt.ftz.f64.f32", 0xff800001), 0x7fffffffe0000000u);
  EXPECT_EQ(widen("cvt.f64.f16", 0x7e05), 0x7ff8140000000000u);
  EXPECT_EQ(convert_wide("cvt.rz.bf16.f64", 0xfff0000000000001) % 0x10000, 0xffc0u);
  EXPECT_EQ(static_cast<std::uint32_t>(convert_wide("cvt.rn.f32.f64", 0x7ff8000000000005)),
            0x7fc00000u);
}

TEST(ConvertFloat, NaNsOfTf32) {
  EXPECT_EQ(convert("cvt.rn.tf32.f32", 0xff800001), 0x7fffe000u);
  EXPECT_EQ(convert("cvt.rz.relu.tf32.f32", 0xff800001), 0x7fffe000u);
  EXPECT_EQ(convert("cvt.rna.tf32.f32", 0x7f800001), 0x7f800000u) << "an infinity";
  EXPECT_EQ(convert("cvt.rna.satfinite.tf32.f32", 0xff800001), 0xff7fe000u);
  EXPECT_EQ(convert("cvt.rna.satfinite.tf32.f32", 0x7fffffff), 0x7fffc000u);
}

TEST(ConvertFloat, FlushingDoesNothingForF16) {
  EXPECT_EQ(convert("cvt.rm.ftz.f16.f32", 0x80000001), 0x8001u);
  EXPECT_EQ(convert("cvt.rp.ftz.bf16.f32", 0x00000001), 0u);
}

TEST(ConvertFloat, Tf32KeepsTenBitsOfFraction) {
  EXPECT_EQ(convert("cvt.rna.tf32.f32", 0x3f801000), 0x3f802000u);
  EXPECT_EQ(convert("cvt.rn.tf32.f32", 0x3f801000), 0x3f800000u);
  EXPECT_EQ(convert("cvt.rna.tf32.f32", 0x3f800fff), 0x3f800000u);
  EXPECT_EQ(convert("cvt.rz.tf32.f32", 0xbf803fff), 0xbf802000u);
}

TEST(ConvertFloat, ScalesAreExponents) {
  const auto both = [](std::uint32_t x) { return x << 8 | x; };
  EXPECT_EQ(convert("cvt.rz.ue8m0x2.f32", bits(1.5F)), both(127));
  EXPECT_EQ(convert("cvt.rp.satfinite.ue8m0x2.f32", bits(1.5F)), both(128));
  EXPECT_EQ(convert("cvt.rp.satfinite.ue8m0x2.f32", bits(2.0F)), both(128));
  EXPECT_EQ(convert("cvt.rp.satfinite.ue8m0x2.f32", 0x7f7fffff), both(0xfe));
  EXPECT_EQ(convert("cvt.rz.ue8m0x2.f32", 0x7fc00000), both(0xff));
  EXPECT_EQ(convert("cvt.rn.bf16x2.ue8m0x2", 0x7f80), 0x3f804000u);
}

TEST(ConvertFloat, IntegersAreRoundedAndClamped) {
  EXPECT_EQ(convert("cvt.rzi.s32.f32", bits(-1.75F)), 0xffffffffu);
  EXPECT_EQ(convert("cvt.rmi.s32.f32", bits(-1.25F)), 0xfffffffeu);
  EXPECT_EQ(convert("cvt.rpi.s32.f32", bits(1.25F)), 2u);
  EXPECT_EQ(convert("cvt.rni.s32.f32", bits(2.5F)), 2u);
  EXPECT_EQ(convert("cvt.rzi.u32.f32", bits(-3.0F)), 0u);
  EXPECT_EQ(convert("cvt.rzi.s32.f32", bits(3e9F)), 0x7fffffffu);
  EXPECT_EQ(convert("cvt.rzi.s32.f32", 0x7fc00000), 0u);
  EXPECT_EQ(convert("cvt.rmi.ftz.f32.f32", bits(-1.5F)), bits(-2.0F));
  EXPECT_EQ(convert("cvt.rmi.ftz.f32.f32", 0x80000001), 0x80000000u);
  EXPECT_EQ(run("cvt.rzi.s64.f32", {Register::of<std::uint32_t>({0x7fc00000})})
                .first.get<std::uint64_t>(0),
            std::uint64_t{1} << 63);
}

TEST(ConvertFloat, IntegersBecomeTheHostsFloats) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 2000; ++i) {
    const auto x = draw<std::uint64_t>(random);
    const Register in = Register::of<std::uint64_t>({x});
    ASSERT_EQ(run("cvt.rn.f32.u64", {in}).first.words[0], bits(static_cast<float>(x)));
    ASSERT_EQ(run("cvt.rn.f32.s64", {in}).first.words[0],
              bits(static_cast<float>(static_cast<std::int64_t>(x))));
    ASSERT_EQ(run("cvt.rn.f64.s64", {in}).first.get<std::uint64_t>(0),
              std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(x))));
    const auto wide = std::bit_cast<double>(x);
    if (wide == wide) {
      ASSERT_EQ(run("cvt.rn.f32.f64", {in}).first.words[0], bits(static_cast<float>(wide)));
    }
  }
}

}  // namespace
}  // namespace tcq::alu
