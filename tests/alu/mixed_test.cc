// Sums of f32 with halves against the host's wider floats, and conversions with random bits against sums of their words.
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/alu/alu_kit.h"

namespace tcq::alu {
namespace {

using Bits = std::uint32_t;

// ---- mixed precision ----------------------------------------------------------------------------

long double half_of(const std::string& type, Bits word) {
  if (type == "bf16") return std::bit_cast<float>(word << 16);
  const int exponent = static_cast<int>(word >> 10 & 31), fraction = static_cast<int>(word & 0x3ff);
  const long double magnitude = exponent == 0 ? std::ldexp(1.0L * fraction, -24)
                                              : std::ldexp(1.0L * (1024 + fraction), exponent - 25);
  return (word & 0x8000) != 0 ? -magnitude : magnitude;
}

float rounded(long double exact, const std::string& mode) {
  const int directions[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  const std::size_t which = mode == ".rz" ? 1 : mode == ".rm" ? 2 : mode == ".rp" ? 3 : 0;
  std::fesetround(directions[which]);
  const volatile long double wide = exact;
  const volatile float narrow = static_cast<float>(wide);
  std::fesetround(FE_TONEAREST);
  return narrow;
}

// Halves and floats so near each other that the host's 64 bits hold their sums.
TEST(Mixed, SumsTakeHalvesForWhatTheyAre) {
  std::mt19937_64 random(3);
  const auto half = [&](const std::string& type) {
    const Bits sign = random() % 2 != 0 ? 0x8000u : 0;
    const Bits exponent = static_cast<Bits>(random() % 12);
    return sign | (type == "bf16" ? (121 + exponent) << 7 | static_cast<Bits>(random() % 128)
                                  : (9 + exponent) << 10 | static_cast<Bits>(random() % 1024));
  };
  for (const std::string op : {"add", "sub", "fma"})
    for (const std::string mode : {"", ".rn", ".rz", ".rm", ".rp"})
      for (const std::string bound : {"", ".sat"})
        for (const std::string type : {"f16", "bf16"}) {
          if (op == "fma" && mode.empty()) continue;
          const std::string text = op + mode + bound + ".f32." + type;
          for (int round = 0; round < 50; ++round) {
            const Bits x = half(type), y = half(type);
            const float z =
                std::ldexp(static_cast<float>(static_cast<int>(random() % (1 << 24)) - (1 << 23)),
                           static_cast<int>(random() % 20) - 30);
            std::vector<Register> in = {Register::of<Bits>({x})};
            if (op == "fma") in.push_back(Register::of<Bits>({y}));
            in.push_back(Register::of<Bits>({std::bit_cast<Bits>(z)}));
            const long double product = half_of(type, x) * (op == "fma" ? half_of(type, y) : 1);
            float want = rounded(op == "sub" ? product - z : product + z, mode);
            if (!bound.empty()) want = want > 1 ? 1 : want > 0 ? want : 0;
            if (want == 0) continue;  // of which sign, other tests say
            EXPECT_EQ(std::bit_cast<float>(run(text, in, ~0u, {}, 1).first.get<Bits>(11)), want)
                << text << " " << x << " " << y << " " << z;
          }
        }
  EXPECT_EQ(run("add.f32.f16", {Register::of<Bits>({0x7e01}), Register::of<Bits>({0})}, ~0u, {}, 1)
                .first.get<Bits>(0),
            0x7fffffffu);
  for (const char* text : {"add.ftz.f32.f16", "mul.f32.f16", "add.f32.f64", "fma.f32.f16",
                           "fma.sat.f32.bf16", "fma.rn.relu.f32.f16"})
    EXPECT_EQ(operation(ptx::read_form(text)).evaluate, nullptr) << text;
}

// ---- cvt.rs -------------------------------------------------------------------------------------

// From where on no result is subnormal, a conversion is a sum of words, cut.
struct Narrow {
  const char* type;
  int elements, random_bits, cut, bias, fraction;
  Bits largest, infinity;  // 0: none
};
const Narrow narrows[] = {
    {"f16x2", 2, 13, 13, 15, 10, 0x7bff, 0x7c00}, {"bf16x2", 2, 16, 16, 127, 7, 0x7f7f, 0x7f80},
    {"e4m3x4", 4, 16, 20, 7, 3, 0x7e, 0},         {"e5m2x4", 4, 16, 21, 15, 2, 0x7b, 0x7c},
    {"e2m3x4", 4, 16, 20, 1, 3, 0x1f, 0},         {"e3m2x4", 4, 16, 21, 3, 2, 0x1f, 0}};

Bits wanted(const Narrow& n, Bits word, Bits random, bool satfinite, bool relu) {
  const Bits sign = word >> 31, magnitude = word & 0x7fffffff;
  if (relu && sign != 0) return 0;
  const int width = n.elements == 2 ? 16 : n.type[1] == '4' || n.type[1] == '5' ? 8 : 6;
  const Bits sum = ((magnitude + (random << (n.cut - n.random_bits))) >> n.cut) -
                   (static_cast<Bits>(127 - n.bias) << n.fraction);
  const Bits kept = sum <= n.largest ? sum : satfinite ? n.largest : n.infinity;
  return sign << (width - 1) | kept;
}

TEST(Random, BitsThatAreCutOffCarryWithTheRandomOnes) {
  std::mt19937_64 random(4);
  for (const Narrow& n : narrows)
    for (const bool satfinite : {true, false})
      for (const bool relu : {true, false}) {
        const std::string text = std::string("cvt.rs") + (relu ? ".relu" : "") +
                                 (satfinite ? ".satfinite." : ".") + n.type + ".f32";
        const Operation operation = alu::operation(ptx::read_form(text));
        ASSERT_EQ(operation.evaluate != nullptr, satfinite || n.elements == 2) << text;
        if (operation.evaluate == nullptr) continue;
        EXPECT_TRUE(operation.approximate);
        const auto sources = static_cast<std::size_t>(n.elements) + 1;
        EXPECT_TRUE(takes(ptx::read_form(text), 1, sources));
        EXPECT_FALSE(takes(ptx::read_form(text), 1, sources - 1));
        for (int round = 0; round < 400; ++round) {
          std::vector<Register> in;
          const auto bits = static_cast<Bits>(random());
          Bits want = 0;
          for (int e = 0; e < n.elements; ++e) {
            // Exponents from the smallest of the type on, to a little above its largest.
            const Bits exponents = static_cast<Bits>(2 * n.bias + 3);
            const Bits exponent = std::min<Bits>(
                static_cast<Bits>(128 - n.bias) + static_cast<Bits>(random()) % exponents, 254);
            const auto word = static_cast<Bits>(random()) & 0x807fffff;
            in.push_back(Register::of<Bits>({word | exponent << 23}));
            const Bits own = (e < n.elements / 2 ? bits >> 16 : bits) & ((1u << n.random_bits) - 1);
            want =
                want << (32 / n.elements) | wanted(n, word | exponent << 23, own, satfinite, relu);
          }
          in.push_back(Register::of<Bits>({bits}));
          ASSERT_EQ(run(text, in, ~0u, {}, 1).first.get<Bits>(7), want)
              << text << " round " << round;
        }
      }
}

// Half of the smallest f16: the highest random bit decides.
TEST(Random, SubnormalsMeetTheRandomBitsFromAbove) {
  const auto converted = [](Bits word, Bits random) {
    return run("cvt.rs.f16x2.f32",
               {Register::of<Bits>({word}), Register::of<Bits>({0x7fc00000u}),
                Register::of<Bits>({random})},
               ~0u, {}, 1)
        .first.get<Bits>(0);
  };
  EXPECT_EQ(converted(0x33000000, 0x1000u << 16), 0x00017fffu);
  EXPECT_EQ(converted(0x33000000, 0x0fffu << 16), 0x00007fffu);
  EXPECT_EQ(converted(0xb3000000, 0xffffu << 16), 0x80017fffu);
  EXPECT_EQ(converted(0x7f800000, 0), 0x7c007fffu);
}

// Far below the smallest of their type, all random bits together do not reach it.
TEST(Random, WhatIsFarBelowATypeIsZero) {
  for (const char* type : {"e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4"})
    for (const Bits word : {0x0f068000u, 0x00000001u, 0x06800000u, 0x2d7fffffu}) {
      const auto x = Register::of<Bits>({word}), negative = Register::of<Bits>({word | 1u << 31});
      const Bits sign = type[1] == '4' || type[1] == '5' ? 0x80 : 0x20;
      for (const Bits random : {0x80008000u, 0xffffffffu, 0x00000000u})
        EXPECT_EQ(run(std::string("cvt.rs.satfinite.") + type + ".f32",
                      {x, negative, x, negative, Register::of<Bits>({random})}, ~0u, {}, 1)
                      .first.get<Bits>(0),
                  sign << 16 | sign)
            << type << std::hex << " " << word << " " << random;
    }
}

}  // namespace
}  // namespace tcq::alu
