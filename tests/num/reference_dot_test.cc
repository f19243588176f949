// Fixes tcq::reference::dot() by worked examples, short enough to check by hand, and by laws that
// hold for every input. Operands read `k:bits` or `first-last:bits` in
// hexadecimal, every other k is zero: {"0:3c00", "0:4000", "00000000", "40000000"} is 1 * 2 + 0 = 2
// in f16 -> f32. Floating-point rows are answers of an sm_90 chip, but for those marked
// "predicted", which the rules imply and no chip was asked; integer rows follow from the
// definition.
#include "tests/support/reference_dot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tcq::reference {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kNanF32 = 0x7fffffff;

const Spec kF32F16 = spec("f32", "f16", "f16");
const Spec kF32Bf16 = spec("f32", "bf16", "bf16");
const Spec kF32Tf32 = spec("f32", "tf32", "tf32");
const Spec kF16F16 = spec("f16", "f16", "f16");
const Spec kF32E4m3 = spec("f32", "e4m3", "e4m3");
const Spec kF32E5m2 = spec("f32", "e5m2", "e5m2");
const Spec kF32E4m3E5m2 = spec("f32", "e4m3", "e5m2");
const Spec kF32E5m2E4m3 = spec("f32", "e5m2", "e4m3");
const Spec kF16E4m3 = spec("f16", "e4m3", "e4m3");
const Spec kF16E5m2 = spec("f16", "e5m2", "e5m2");
const Spec kF16E4m3E5m2 = spec("f16", "e4m3", "e5m2");
const Spec kF16E5m2E4m3 = spec("f16", "e5m2", "e4m3");
const Spec kS8 = spec("s32", "s8", "s8");
const Spec kU8 = spec("s32", "u8", "u8");
const Spec kS8U8 = spec("s32", "s8", "u8");
const Spec kU8S8 = spec("s32", "u8", "s8");
const Spec kB1 = spec("s32", "b1", "b1");

const std::vector<Spec> kFloatSpecs = {kF32F16,  kF32Bf16, kF32Tf32,     kF16F16,
                                       kF32E4m3, kF32E5m2, kF32E4m3E5m2, kF32E5m2E4m3,
                                       kF16E4m3, kF16E5m2, kF16E4m3E5m2, kF16E5m2E4m3};
const std::vector<Spec> kIntegerSpecs = {kS8, kU8, kS8U8, kU8S8, kB1};

std::size_t dense_k(const Spec& types) {
  switch (types.a) {
    case Format::Tf32: return 8;
    case Format::F16:
    case Format::Bf16: return 16;
    case Format::B1: return 256;
    default: return 32;
  }
}

std::uint32_t hex(const std::string& digits) {
  return static_cast<std::uint32_t>(std::stoul(digits, nullptr, 16));
}

// "0-3:3400 5:bc00" -> k words.
Words operands(const std::string& list, std::size_t k) {
  Words words(k, 0);
  std::istringstream items(list);
  for (std::string item; items >> item;) {
    const std::size_t colon = item.find(':');
    const std::string range = item.substr(0, colon);
    const std::size_t dash = range.find('-');
    const std::size_t first = std::stoul(range);
    const std::size_t last = dash == std::string::npos ? first : std::stoul(range.substr(dash + 1));
    for (std::size_t i = first; i <= last; ++i) words.at(i) = hex(item.substr(colon + 1));
  }
  return words;
}

struct Example {
  const char* a;
  const char* b;
  const char* c;
  const char* d;
  const char* why;
};

void expect(const Spec& types, const Example& example, const Options& options = {}) {
  const Words a = operands(example.a, dense_k(types));
  const Words b = operands(example.b, dense_k(types));
  EXPECT_EQ(dot(types, a, b, hex(example.c), options), hex(example.d))
      << "A " << example.a << "  B " << example.b << "  C " << example.c << "\n"
      << example.why;
}

void expect_all(const Spec& types, const std::vector<Example>& examples) {
  for (const Example& example : examples) expect(types, example);
}

// Every bf16 is the upper half of a tf32 word: the same example in the other format.
void expect_bf16_and_tf32(const Example& example, const Options& options = {}) {
  expect(kF32Bf16, example, options);
  const auto widened = [](const char* list) {
    Words words = operands(list, dense_k(kF32Tf32));
    for (std::uint32_t& word : words) word <<= 16;
    return words;
  };
  EXPECT_EQ(dot(kF32Tf32, widened(example.a), widened(example.b), hex(example.c), options),
            hex(example.d))
      << "tf32: A " << example.a << "  B " << example.b << "\n"
      << example.why;
}

// Worked examples.

TEST(ReferenceDot, F16ToF32KeepsTwentyFiveFractionBits) {
  expect_all(
      kF32F16,
      {{"0:5800 1:d800 2:2400", "0:5800 1:5800 2:2800", "00000000", "3a000000", "2^-11 is the LSB"},
       {"0:5800 1:d800 2:2400", "0:5800 1:5800 2:2400", "00000000", "00000000", "2^-12 is lost"},
       {"0:d800 1:2400", "0:5800 1:2800", "46800000", "3a000000", "C sets E, tail kept"},
       {"0:d800 1:2400", "0:5800 1:2400", "46800000", "00000000", "C sets E, tail lost"},
       {"0:5800 1:d800", "0:5800 1:5800", "3a000000", "3a000000", "C is the tail, kept"},
       {"0:f000 1:b800 2:b400 3:b000", "0:6400 1-3:3c00", "4b000000", "bf400000",
        "predicted: 2^23 - 2^23 - 0.5 - 0.25 - 0.125 with LSB 2^-2"}});
}

TEST(ReferenceDot, F16ToF32TruncatesTowardZero) {
  expect_all(kF32F16, {{"0:5800 1:d800 2:a600", "0:5800 1:5800 2:2800", "00000000", "ba000000",
                        "-1.5 LSB -> -1 LSB"},
                       {"0-3:3400", "0-3:3c00", "33c00000", "3f800000", "1 + 0.75 ulp"},
                       {"0-3:3c00", "0-3:3c00", "3f800003", "40a00000", "5 + 0.75 ulp"}});
}

TEST(ReferenceDot, F16ToF32AlignsProductsBySumOfExponents) {
  expect_all(
      kF32F16,
      {{"0:5a00 1:da00", "0:5a00 1:5a00", "3a000000", "3a000000", "192^2 = 2.25 * 2^14: E = 14"},
       {"0:5c80 1:dc80", "0:5800 1:5800", "3a000000", "00000000", "1.125*2^8 * 2^7: E = 15"},
       {"0:0200 1:0200 2:0800", "0:7800 1:f800 2:0c00", "00000000", "00000000",
        "a subnormal aligns at emin: E = 1, tail 2^-25 lost"},
       {"0:0400 1:0000", "0:0c00 1:7800", "00000000", "32800000", "a zero product leaves E"}});
}

TEST(ReferenceDot, F16ToF32NeverWraps) {
  expect(kF32F16, {"0-15:3fff", "0-15:3fff", "3fffe000", "4283df82", "the largest significands"});
}

TEST(ReferenceDot, F16ToF32InfinityAndNan) {
  expect_all(kF32F16, {{"0:7c00", "0:0001", "00000000", "7f800000", "Inf * subnormal"},
                       {"0:7c00", "0:0000", "00000000", "7fffffff", "Inf * 0"},
                       {"0:7c00", "0:bc00", "00000000", "ff800000", "Inf * -1"},
                       {"0:7c00 1:fc00", "0-1:3c00", "00000000", "7fffffff", "Inf - Inf"},
                       {"0:7c00", "0:3c00", "ff800000", "7fffffff", "Inf against C = -Inf"}});
}

TEST(ReferenceDot, Bf16AndTf32AlignNoLowerThanTheFloor) {
  const std::vector<Example> examples = {
      {"0:1a00 1:9800", "0:1a80 1:1800", "00000000", "00000000", "2^-149 - 2^-158: tail kept"},
      {"0:1a00 1:9780", "0:1a80 1:1800", "00000000", "00000001", "2^-149 - 2^-159: tail lost"},
      {"0:1a00 1:9800", "0:1a80 1:1800", "80000000", "00000000", "C = -0, tail kept"},
      {"0:1a00 1:9780", "0:1a80 1:1800", "80000000", "00000001", "C = -0, tail lost"},
      {"0:1a00 1:9980", "0:1a80 1:1a00", "00000001", "00000001", "C: E = -126, 2^-151 kept"},
      {"0:1a00 1:9980", "0:1a80 1:1980", "00000001", "00000002", "C: E = -126, 2^-152 lost"}};
  for (const Example& example : examples) expect_bf16_and_tf32(example);
}

TEST(ReferenceDot, Bf16AndTf32KeepTheFloorWithoutAccumulation) {
  const Options no_accumulate{.accumulate = false};
  expect_bf16_and_tf32({"0:1a00 1:9800", "0:1a80 1:1800", "3f800000", "00000000", "tail kept"},
                       no_accumulate);
  expect_bf16_and_tf32({"0:1a00 1:9780", "0:1a80 1:1800", "3f800000", "00000001", "tail lost"},
                       no_accumulate);
}

TEST(ReferenceDot, Bf16AndTf32IgnoreTheExponentOfAZeroProduct) {
  expect_bf16_and_tf32({"0:1c80 1:0000", "0:1c80 1:7f00", "00000000", "00000200", "0 * 2^127"});
  expect_bf16_and_tf32({"0:3800 1:0000", "0:3800 1:7f00", "00000000", "30800000", "0 * 2^127"});
}

TEST(ReferenceDot, Bf16AndTf32OverflowOnlyAtTheEnd) {
  const std::vector<Example> examples = {
      {"0:7f00 1:ff00 2:7f00", "0:4000 1:4000 2:3f80", "00000000", "7f000000",
       "2^128 - 2^128 + 2^127"},
      {"0-1:3f80", "0-1:7f00", "00000000", "7f800000", "2^128 is Inf although D is truncated"},
      {"0-1:3f40", "0-1:7f00", "7e7fffff", "7f7fffff", "just below 2^128"},
      {"0:7f00", "0:7f00", "ff800000", "ff800000", "2^254 is finite against C = -Inf"},
      {"0:7f00 1:ff00 2:3f80", "0:7f00 1:7f00 2:3f80", "00000000", "00000000", "2^254 - 2^254 + 1"},
      {"0:7f00 1:fe80", "0:7f00 1:7f00", "00000000", "7f800000", "2^254 - 2^253"}};
  for (const Example& example : examples) expect_bf16_and_tf32(example);
}

TEST(ReferenceDot, Bf16AndTf32UnderflowToPlusZero) {
  expect_bf16_and_tf32({"0:9a00", "0:1a00", "00000000", "00000000", "-2^-150"});
  expect_bf16_and_tf32({"0:9500", "0:1500", "80000000", "00000000", "-2^-170, C = -0"});
  expect(kF32Bf16, {"0:9500 1-15:8000", "0:1500 1-15:3f80", "80000000", "00000000",
                    "every term negative, nothing left after alignment"});
}

TEST(ReferenceDot, Tf32DropsThirteenBitsBeforeItClassifies) {
  expect_all(kF32Tf32, {{"0:7f800001", "0:3f800000", "00000000", "7f800000", "Inf, not NaN"},
                        {"0:7f801fff", "0:3f800000", "00000000", "7f800000", "Inf, not NaN"},
                        {"0:7f802000", "0:3f800000", "00000000", "7fffffff", "NaN"},
                        {"0:7f800001", "0:00000000", "00000000", "7fffffff", "Inf * 0"},
                        {"0:00003fff", "0:3f800000", "00000000", "00002000", "subnormal kept"},
                        {"0:00001fff", "0:7f000000", "00000000", "00000000", "nothing left"},
                        {"0:3f801fff", "0:3f800000", "00000000", "3f800000", "cut, not rounded"},
                        {"0:bf801fff", "0:3f800000", "00000000", "bf800000", "cut, not rounded"},
                        {"0:7f7fffff", "0:3f800000", "00000000", "7f7fe000", "the largest"}});
}

TEST(ReferenceDot, F16ToF16RoundsOnceFromTheExactSum) {
  expect_all(kF16F16,
             {{"0-3:3800", "0:3c00 1:3c00 2:1400 3:0002", "0000", "3c01", "1 + half ulp + 2^-24"},
              {"0:3800", "0:5000", "7bff", "7c00", "65504 + 16 -> Inf"},
              {"0:3400", "0:5000", "7bff", "7bff", "65504 + 8 stays"},
              {"0:8400", "0:1000", "0000", "0000", "-2^-25 ties to even: +0"}});
}

TEST(ReferenceDot, F16ToF16KeepsTwentyFiveFractionBits) {
  expect_all(
      kF16F16,
      {{"0:5000 1:d000 2:1c00", "0:5000 1:5000 2:2000", "0000", "0200", "E = 10: 2^-15 kept"},
       {"0:5000 1:d000 2:1c00", "0:5000 1:5000 2:1c00", "0000", "0000", "E = 10: 2^-16 lost"},
       {"0:5200 1:d200", "0:5200 1:5200", "0200", "0200", "2.25 * 2^10: E = 10"},
       {"0:5480 1:d480", "0:5000 1:5000", "0200", "0000", "1.125*2^6 * 2^5: E = 11"}});
}

TEST(ReferenceDot, F16ToF16AlignsNoLowerThanTheFloor) {
  expect_all(kF16F16,
             {{"0:0400 1:0008", "0:1000 1:0001", "0000", "0001", "2^-25 + 2^-45"},
              {"0:0400 1:0004", "0:1000 1:0001", "0000", "0001", "2^-25 + 2^-46, the LSB"},
              {"0:0400 1:0002", "0:1000 1:0001", "0000", "0000", "2^-25 + 2^-47: a tie remains"},
              {"0:0400 1:0001", "0:1000 1:0001", "0000", "0000", "2^-25 + 2^-48: a tie remains"},
              {"0:0400 1:0004", "0:1000 1:0001", "8000", "0001", "predicted: C = -0"},
              {"0:0200 1:0200 2:0600", "0:7800 1:f800 2:1400", "0000", "0001",
               "predicted: a subnormal aligns at emin"}});
}

TEST(ReferenceDot, F8ToF32CutsCToFourteenSignificantBits) {
  const std::vector<Example> examples = {{"", "", "3f800001", "3f800000", "cut"},
                                         {"", "", "3f8003ff", "3f800000", "cut, not rounded"},
                                         {"", "", "3f800400", "3f800400", "kept"},
                                         {"", "", "7f7fffff", "7f7ffc00", "the largest"},
                                         {"", "", "00000200", "00000000", "2^-140 is lost"},
                                         {"", "", "00000400", "00000400", "2^-139 is kept"},
                                         {"", "", "80000200", "00000000", "-2^-140 -> +0"}};
  expect_all(kF32E4m3, examples);
  expect_all(kF32E5m2, examples);
}

TEST(ReferenceDot, F8ToF32KeepsThirteenFractionBits) {
  expect_all(
      kF32E4m3,
      {{"0:38", "0:38", "3f8007ff", "40000000", "8192 + 8193 = 16385, cut to 14 bits"},
       {"0:58 1:d8", "0-1:58", "3f840000", "3f840000", "E = 8: 1 + 2^-5 kept"},
       {"0:58 1:d8", "0-1:58", "3f820000", "3f800000", "E = 8: 1 + 2^-6 cut"},
       {"0:04 1:04 2:08", "0:78 1:f8 2:08", "00000000", "00000000", "subnormal: E = 2, tail lost"},
       {"0:79 1:f9", "0-1:70", "40000000", "00000000", "1.125*2^8 * 2^7: E = 15, C lost"}});
  expect_all(kF32E5m2, {{"0:4c 1:cc", "0-1:4c", "3f840000", "3f840000", "E = 8: 1 + 2^-5 kept"},
                        {"0:4c 1:cc", "0-1:4c", "3f820000", "3f800000", "E = 8: 1 + 2^-6 cut"},
                        {"0:f0 1:b8 2:b4 3:b0", "0:64 1-3:3c", "4b000000", "00000000",
                         "predicted: 2^23 - 2^23 - 0.875 with LSB 2^10"}});
}

TEST(ReferenceDot, F8ToF32MixesItsTwoFormats) {
  expect_all(kF32E4m3E5m2,
             {{"0:58 1:d8 2:20", "0:4c 1:4c 2:34", "00000000", "3d000000", "E = 8: 2^-5 kept"},
              {"0:58 1:d8 2:20", "0:4c 1:4c 2:30", "00000000", "00000000", "E = 8: 2^-6 lost"}});
}

TEST(ReferenceDot, F8ToF32NeverWraps) {
  expect(kF32E4m3, {"0-31:3f", "0-31:3f", "3fffe000", "42e4fc00", "114.49, low ten bits zero"});
  expect(kF32E5m2, {"0-31:3f", "0-31:3f", "3fffe000", "42c7fc00", "99.99, low ten bits zero"});
}

TEST(ReferenceDot, F8ToF16RoundsOnceFromTheExactSum) {
  expect_all(kF16E4m3, {{"0-7:20 8-9:30", "0-7:60 8:10 9:02", "0000", "5001",
                         "32 + half ulp + 2^-9: rounded up"},
                        {"0:30", "0:60", "7bff", "7c00", "65504 + 16 -> Inf"},
                        {"0:28", "0:60", "7bff", "7bff", "65504 + 8 stays"}});
  expect(kF16E5m2, {"0-7:30 8-9:38", "0-7:50 8:28 9:1c", "0000", "5001", "half ulp and a tail"});
}

TEST(ReferenceDot, F8ToF16KeepsThirteenFractionBits) {
  expect_all(kF16E4m3, {{"0:70 1:f0 2:38", "0:70 1:70 2:40", "0000", "4000", "E = 14: 2 kept"},
                        {"0:70 1:f0 2:38", "0:70 1:70 2:38", "0000", "0000", "E = 14: 1 lost"}});
}

TEST(ReferenceDot, E4m3HasOneNanAndNoInfinity) {
  expect_all(kF32E4m3, {{"0:7f", "0:38", "00000000", "7fffffff", "NaN"},
                        {"0:ff", "0:00", "00000000", "7fffffff", "predicted: NaN * 0"},
                        {"0:7e", "0:38", "00000000", "43e00000", "predicted: 448"}});
  expect(kF32E5m2, {"0:7c", "0:01", "00000000", "7f800000", "e5m2 has: Inf * subnormal"});
  expect(kF32E5m2, {"0:7c", "0:00", "00000000", "7fffffff", "e5m2 has: Inf * 0"});
}

TEST(ReferenceDot, WithoutAccumulationCIsIgnoredEvenNan) {
  const Options no_accumulate{.accumulate = false};
  expect(kF32F16, {"0:3c00", "0:3c00", "7f800001", "3f800000", "C = NaN"}, no_accumulate);
  expect(kF16F16, {"0:3c00", "0:3c00", "7c01", "3c00", "C = NaN"}, no_accumulate);
  expect(kF32F16, {"0-15:8000", "0-15:3c00", "80000000", "00000000", "all -0"}, no_accumulate);
  expect(kS8, {"0:ff", "0:02", "00000007", "fffffffe", "-2"}, no_accumulate);
}

TEST(ReferenceDot, NegationFlipsOperandsBeforeEverythingElse) {
  const Options negate_a{.negate_a = true};
  expect(kF32F16, {"0-1:3c00", "0:3c00 1:3800", "41000000", "40d00000", "predicted: 8 - 1.5"},
         negate_a);
  expect(kF32F16, {"0:7e00", "0:3c00", "00000000", "7fffffff", "predicted: NaN"}, negate_a);
  expect(kF32F16, {"", "", "80000000", "00000000", "predicted: -0 -> +0"}, negate_a);
}

TEST(ReferenceDot, IntegersWrapUnlessSatfinite) {
  const Options satfinite{.satfinite = true};
  const Example top = {"0-31:7f", "0-31:7f", "7fffffff", "8007e01f", "wraps"};
  expect(kS8, top);
  expect(kS8, {top.a, top.b, top.c, "7fffffff", "clamps"}, satfinite);
  expect(kU8S8, {"0-31:ff", "0-31:80", "00000000", "fff01000", "32 * 255 * -128"});
  expect(kS8U8, {"0-31:80", "0-31:ff", "00000000", "fff01000", "32 * -128 * 255"});
  expect(kU8, {"0-31:ff", "0-31:ff", "00000000", "001fc020", "32 * 255 * 255"});
  expect(kU8S8, {"0:01", "0:ff", "80000000", "7fffffff", "wraps"});
  expect(kU8S8, {"0:01", "0:ff", "80000000", "80000000", "clamps"}, satfinite);
}

TEST(ReferenceDot, SatfiniteClampsOnceAfterTheWholeSum) {
  const Options satfinite{.satfinite = true};
  expect(kS8, {"0-31:7f", "0-15:7f 16-31:81", "7fffffff", "7fffffff", "predicted: C + 0"},
         satfinite);
  expect(kS8, {"0-31:7f", "0-15:81 16-31:7f", "80000000", "80000000", "predicted: C + 0"},
         satfinite);
}

TEST(ReferenceDot, B1CountsCommonOnes) {
  expect_all(kB1, {{"0-255:1", "0-255:1", "00000000", "00000100", "all"},
                   {"0-255:1", "", "00000005", "00000005", "none"},
                   {"0-99:1", "50-255:1", "ffffffff", "00000031", "50 - 1"},
                   {"0-255:1", "0-255:1", "7fffffff", "800000ff", "wraps"}});
}

// Laws.

std::uint32_t sign_bit(Format format) {
  const internal::FloatFormat layout = internal::float_format(format).value();
  return std::uint32_t{1} << (layout.exponent_bits + layout.fraction_bits + layout.ignored_bits);
}

// A fixed sequence of inputs: uniform bits, zeros of either sign, and values so close to one
// another that truncation and cancellation matter; one time in eight with small exponents only.
class Inputs {
 public:
  std::uint32_t word() { return static_cast<std::uint32_t>(engine_()); }

  std::uint32_t value(Format format) {
    const internal::FloatFormat layout = internal::float_format(format).value();
    const std::uint32_t bits = word();
    const std::uint32_t sign = bits & sign_bit(format);
    const std::uint32_t choice = word() % 64;
    if (choice == 0) return bits & (sign_bit(format) | (sign_bit(format) - 1));
    if (choice < 16) return sign;
    const std::uint32_t base = low_ ? 0 : static_cast<std::uint32_t>(layout.bias) - 4;
    const int position = layout.fraction_bits + layout.ignored_bits;
    const std::uint32_t fraction = bits & ((std::uint32_t{1} << position) - 1);
    return sign | ((base + word() % 8) << position) | fraction;
  }

  Words values(Format format, std::size_t count) {
    Words words(count);
    for (std::uint32_t& w : words) w = value(format);
    return words;
  }

  void next() { low_ = word() % 8 == 0; }

 private:
  std::mt19937 engine_{20240607};
  bool low_ = false;
};

struct Input {
  Words a;
  Words b;
  std::uint32_t c;
};

template <typename Check>
void for_each_input(const Spec& types, const Check& check) {
  Inputs inputs;
  for (int i = 0; i < 400; ++i) {
    inputs.next();
    check(Input{inputs.values(types.a, dense_k(types)), inputs.values(types.b, dense_k(types)),
                inputs.value(types.d)});
  }
}

Words with_flipped_signs(Words words, Format format) {
  for (std::uint32_t& word : words) word ^= sign_bit(format);
  return words;
}

std::uint32_t positive_nan(Format d) { return d == Format::F32 ? kNanF32 : 0x7fff; }

bool is_nan(Format d, std::uint32_t bits) {
  return internal::decode(d, bits).type == internal::Class::Nan;
}

TEST(ReferenceDot, PermutingProductsChangesNothing) {
  for (const Spec& types : kFloatSpecs) {
    std::mt19937 engine(1);
    for_each_input(types, [&](const Input& in) {
      std::vector<std::size_t> order(in.a.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::shuffle(order.begin(), order.end(), engine);
      Input moved = in;
      for (std::size_t k = 0; k < order.size(); ++k) {
        moved.a[k] = in.a[order[k]];
        moved.b[k] = in.b[order[k]];
      }
      EXPECT_EQ(dot(types, in.a, in.b, in.c, {}), dot(types, moved.a, moved.b, moved.c, {}));
    });
  }
}

TEST(ReferenceDot, SwappingAAndBChangesNothing) {
  for (const Spec& types : kFloatSpecs) {
    const Spec swapped{.d = types.d, .a = types.b, .b = types.a};
    for_each_input(types, [&](const Input& in) {
      EXPECT_EQ(dot(types, in.a, in.b, in.c, {}), dot(swapped, in.b, in.a, in.c, {}));
    });
  }
}

TEST(ReferenceDot, NegatingAAndCNegatesDExceptNanAndZero) {
  for (const Spec& types : kFloatSpecs) {
    for_each_input(types, [&](const Input& in) {
      const std::uint32_t d = dot(types, in.a, in.b, in.c, {});
      const std::uint32_t negative_c = in.c ^ sign_bit(types.d);
      const bool keeps_sign = d == 0 || is_nan(types.d, d);
      const std::uint32_t want = keeps_sign ? d : d ^ sign_bit(types.d);
      EXPECT_EQ(dot(types, with_flipped_signs(in.a, types.a), in.b, negative_c, {}), want);
      EXPECT_EQ(dot(types, in.a, in.b, negative_c, {.negate_a = true}), want);
      EXPECT_EQ(dot(types, in.a, in.b, negative_c, {.negate_b = true}), want);
    });
  }
}

TEST(ReferenceDot, NegatingBothOperandsChangesNothing) {
  for (const Spec& types : kFloatSpecs) {
    for_each_input(types, [&](const Input& in) {
      EXPECT_EQ(dot(types, in.a, in.b, in.c, {.negate_a = true, .negate_b = true}),
                dot(types, in.a, in.b, in.c, {}));
    });
  }
}

TEST(ReferenceDot, WithoutAccumulationCIsPlusZero) {
  for (const Spec& types : kFloatSpecs) {
    for_each_input(types, [&](const Input& in) {
      EXPECT_EQ(dot(types, in.a, in.b, in.c, {.accumulate = false}), dot(types, in.a, in.b, 0, {}));
    });
  }
}

TEST(ReferenceDot, ZeroProductsReturnC) {
  for (const Spec& types : kFloatSpecs) {
    const bool cuts_c = types.d == Format::F32 && dense_k(types) == 32;
    const Words zeros(dense_k(types), 0);
    const Words minus_zeros(dense_k(types), sign_bit(types.a));
    for_each_input(types, [&](const Input& in) {
      std::uint32_t want = cuts_c ? in.c & ~0x3ffu : in.c;
      if ((want & ~sign_bit(types.d)) == 0) want = 0;
      if (is_nan(types.d, in.c)) want = positive_nan(types.d);
      EXPECT_EQ(dot(types, zeros, zeros, in.c, {}), want);
      EXPECT_EQ(dot(types, minus_zeros, zeros, in.c, {}), want);
    });
  }
}

TEST(ReferenceDot, AppendingZeroProductsChangesNothing) {
  for (const Spec& types : kFloatSpecs) {
    for_each_input(types, [&](const Input& in) {
      Input longer = in;
      longer.a.insert(longer.a.end(), 7, sign_bit(types.a));
      longer.b.insert(longer.b.end(), 7, sign_bit(types.b) / 2);
      EXPECT_EQ(dot(types, longer.a, longer.b, longer.c, {}), dot(types, in.a, in.b, in.c, {}));
    });
  }
}

TEST(ReferenceDot, F8ToF32ResultsSurviveItsOwnTruncation) {
  const Words zeros(32, 0);
  for (const Spec& types : {kF32E4m3, kF32E5m2, kF32E4m3E5m2, kF32E5m2E4m3}) {
    for_each_input(types, [&](const Input& in) {
      const std::uint32_t d = dot(types, in.a, in.b, in.c, {});
      EXPECT_EQ(dot(types, zeros, zeros, d, {}), d);
    });
  }
}

// One times every value: the decoder against formats that widen by a plain shift.
TEST(ReferenceDot, TimesOneWidensEveryBf16AndE5m2) {
  const auto widens = [](const Spec& types, std::uint32_t one, int shift) {
    for (std::uint32_t x = 0; x < 2 * sign_bit(types.a); ++x) {
      std::uint32_t want = x << shift;
      if (x == sign_bit(types.a)) want = 0;
      if (is_nan(types.d, want)) want = positive_nan(types.d);
      ASSERT_EQ(dot(types, Words{x}, Words{one}, 0, {}), want) << std::hex << x;
    }
  };
  widens(kF32Bf16, 0x3f80, 16);
  widens(kF16E5m2, 0x3c, 8);
}

TEST(ReferenceDot, TimesOneReturnsEveryF16) {
  for (std::uint32_t x = 0; x < 0x10000; ++x) {
    const std::uint32_t want = is_nan(Format::F16, x) ? 0x7fff : x == 0x8000 ? 0 : x;
    ASSERT_EQ(dot(kF16F16, Words{x}, Words{0x3c00}, 0, {}), want) << std::hex << x;
  }
}

TEST(ReferenceDot, IntegersAreExactModulo32Bits) {
  const auto element = [](Format format, std::uint32_t word) -> std::int64_t {
    if (format == Format::B1) return word & 1;
    return format == Format::S8 ? std::int64_t{static_cast<std::int8_t>(word & 0xff)}
                                : std::int64_t{word & 0xff};
  };
  Inputs inputs;
  for (const Spec& types : kIntegerSpecs) {
    for (int i = 0; i < 400; ++i) {
      const std::uint32_t c = (inputs.word() & 0x801fffff) ^ (inputs.word() % 2 ? 0x7fe00000 : 0);
      std::int64_t exact = static_cast<std::int32_t>(c);
      Words a(dense_k(types));
      Words b(dense_k(types));
      for (std::size_t k = 0; k < a.size(); ++k) {
        a[k] = inputs.word();
        b[k] = inputs.word();
        exact += element(types.a, a[k]) * element(types.b, b[k]);
      }
      EXPECT_EQ(dot(types, a, b, c, {}), static_cast<std::uint32_t>(exact));
      if (types.a == Format::B1) continue;
      const std::int64_t clamped = std::clamp<std::int64_t>(exact, INT32_MIN, INT32_MAX);
      EXPECT_EQ(dot(types, a, b, c, {.satfinite = true}), static_cast<std::uint32_t>(clamped));
    }
  }
}

// 2^100 - 2^-300 is 400 ones in a row: both ways the borrow or carry crosses whole limbs.
TEST(ReferenceDot, WideIntegerCarriesAndBorrowsAcrossLimbs) {
  internal::Magnitude value(1, 100);
  const internal::Magnitude tail(1, -300);
  value.subtract(tail);
  EXPECT_EQ(value.top(), 99);
  for (int exponent = -300; exponent < 100; ++exponent) EXPECT_TRUE(value.bit(exponent));
  EXPECT_FALSE(value.bit(-301));
  value.add(tail);
  EXPECT_EQ(value, internal::Magnitude(1, 100));
}

// What the interface refuses.

TEST(ReferenceDot, SpecRejectsUnknownNamesAndCombinations) {
  EXPECT_THROW(spec("f32", "f8", "f8"), std::invalid_argument);
  EXPECT_THROW(spec("f32", "", "f16"), std::invalid_argument);
  EXPECT_THROW(spec("f64", "f16", "f16"), std::invalid_argument);
  EXPECT_THROW(spec("f32", "f16", "bf16"), std::invalid_argument);
  EXPECT_THROW(spec("f16", "bf16", "bf16"), std::invalid_argument);
  EXPECT_THROW(spec("f16", "tf32", "tf32"), std::invalid_argument);
  EXPECT_THROW(spec("f32", "f32", "f32"), std::invalid_argument);
  EXPECT_THROW(spec("s32", "s8", "b1"), std::invalid_argument);
  EXPECT_THROW(spec("f32", "s8", "s8"), std::invalid_argument);
}

TEST(ReferenceDot, DotRejectsUnequalLengthsAndForeignOptions) {
  const Words one(1, 0);
  const Words two(2, 0);
  EXPECT_THROW(dot(kF32F16, one, two, 0, {}), std::invalid_argument);
  EXPECT_THROW(dot(kF32F16, one, one, 0, {.satfinite = true}), std::invalid_argument);
  EXPECT_THROW(dot(kB1, one, one, 0, {.satfinite = true}), std::invalid_argument);
  EXPECT_THROW(dot(kS8, one, one, 0, {.negate_a = true}), std::invalid_argument);
  EXPECT_THROW(dot(kU8, one, one, 0, {.negate_b = true}), std::invalid_argument);
}

}  // namespace
}  // namespace tcq::reference
