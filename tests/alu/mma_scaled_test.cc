// mma.sync of bytes of any float and of packed 4-bit floats, with and without scale factors, against sums of the numbers.
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/num/narrow.h"
#include "tests/alu/alu_kit.h"

namespace tcq::alu {
namespace {

using Bits = std::uint32_t;

struct Small {
  std::string name;
  int exponent_bits, fraction_bits, bias;
};
const Small smalls[] = {
    {"e4m3", 4, 3, 7}, {"e5m2", 5, 2, 15}, {"e3m2", 3, 2, 3}, {"e2m3", 2, 3, 1}, {"e2m1", 2, 1, 1}};

double number_of(const Small& s, Bits code) {
  const int fraction = static_cast<int>(code & ((1u << s.fraction_bits) - 1));
  const int exponent = static_cast<int>(code >> s.fraction_bits & ((1u << s.exponent_bits) - 1));
  const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - s.bias - s.fraction_bits)
                                         : std::ldexp(fraction + (1 << s.fraction_bits),
                                                      exponent - s.bias - s.fraction_bits);
  return (code >> (s.fraction_bits + s.exponent_bits) & 1) != 0 ? -magnitude : magnitude;
}

// One of -3, -2 ... 3 and halves between, all of which every type has.
Bits drawn(const Small& s, std::mt19937_64& random) {
  const double wanted[] = {0, 0.5, 1, 1.5, 2, 3, -0.5, -1, -1.5, -2, -3};
  const double x = wanted[random() % 11];
  for (Bits code = 0;; ++code)
    if (number_of(s, code) == x && !(x == 0 && code != 0)) return code;
}

struct Product {
  std::string kind, scale_vec, scale_type;  // as they are written
  int k, factors, width;
};

struct Tile {
  std::vector<Register> in;
  double want[16][8];
};

// Fragments as PTX numbers them, factors in the lanes that `pair` and `lane` name, noise in the others.
Tile tile_of(const Product& p, const Small& a, const Small& b, bool is_f16, int byte, int pair,
             int lane_of_b, std::mt19937_64& random) {
  Tile t;
  std::vector<std::vector<Bits>> x(16), y(8);
  for (auto& row : x)
    for (int k = 0; k < p.k; ++k) row.push_back(drawn(a, random));
  for (auto& column : y)
    for (int k = 0; k < p.k; ++k) column.push_back(drawn(b, random));
  const int parts = 32 / p.width;
  const auto contained = [&](const Small& s, Bits code) {
    return p.width == 8 && s.name == "e2m1" ? code << 2 : code;
  };
  const auto add = [&](int registers, auto element) {
    for (int reg = 0; reg < registers; ++reg) {
      Register& r = t.in.emplace_back();
      for (std::size_t lane = 0; lane < 32; ++lane) {
        Bits word = 0;
        for (int part = 0; part < parts; ++part)
          word |= element(reg, lane, part) << (p.width * part);
        r.set(lane, word);
      }
    }
  };
  const auto along = [&](std::size_t lane, int part, int step) {
    return static_cast<std::size_t>(static_cast<int>(lane % 4) * parts + part + 4 * parts * step);
  };
  add(4, [&](int reg, std::size_t lane, int part) {
    return contained(a, x[lane / 4 + (reg % 2 != 0 ? 8 : 0)][along(lane, part, reg / 2)]);
  });
  add(2, [&](int reg, std::size_t lane, int part) {
    return contained(b, y[lane / 4][along(lane, part, reg)]);
  });
  for (auto& row : t.want)
    for (double& sum : row) sum = static_cast<int>(random() % 33) - 16;
  for (int reg = 0; reg < (is_f16 ? 2 : 4); ++reg) {
    Register& r = t.in.emplace_back();
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const auto c = [&](int i) {
        const auto f = static_cast<float>(
            t.want[lane / 4 + (i >= 2 ? 8 : 0)][lane % 4 * 2 + static_cast<std::size_t>(i % 2)]);
        return is_f16 ? narrow(Type::f16, std::bit_cast<Bits>(f)) : std::bit_cast<Bits>(f);
      };
      r.set(lane, is_f16 ? c(2 * reg) | c(2 * reg + 1) << 16 : c(reg));
    }
  }
  // Powers of two: 126 to 129 of ue8m0, of ue4m3 the codes of 1/2 to 4.
  const auto factor_code = [&](int e) {
    return p.scale_type == "ue8m0" ? static_cast<Bits>(127 + e) : static_cast<Bits>(7 + e) << 3;
  };
  std::vector<std::vector<int>> of_a(16), of_b(8);
  for (auto* list : {&of_a, &of_b})
    for (auto& line : *list)
      for (int s = 0; s < p.factors; ++s) line.push_back(static_cast<int>(random() % 4) - 1);
  const auto add_factors = [&](auto line_of, int lanes) {
    Register word;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      Bits bits = static_cast<Bits>(random());
      if (const std::vector<int>* line = line_of(lane)) {
        for (int s = 0; s < p.factors; ++s) {
          bits &= ~(0xffu << (8 * (byte + s)));
          bits |= factor_code((*line)[static_cast<std::size_t>(s)]) << (8 * (byte + s));
        }
      }
      word.set(lane, bits);
    }
    t.in.push_back(word);
    t.in.push_back(Register::of<Bits>({static_cast<Bits>(byte)}));
    t.in.push_back(Register::of<Bits>({static_cast<Bits>(lanes)}));
  };
  if (p.factors != 0) {
    add_factors(
        [&](std::size_t lane) {
          const bool counts = static_cast<int>(lane % 4 / 2) == pair;
          return counts ? &of_a[lane / 4 + lane % 2 * 8] : nullptr;
        },
        pair);
    add_factors(
        [&](std::size_t lane) {
          return static_cast<int>(lane % 4) == lane_of_b ? &of_b[lane / 4] : nullptr;
        },
        lane_of_b);
  }
  for (std::size_t row = 0; row < 16; ++row)
    for (std::size_t col = 0; col < 8; ++col)
      for (int k = 0; k < p.k; ++k) {
        const auto at = static_cast<std::size_t>(k);
        double term = number_of(a, x[row][at]) * number_of(b, y[col][at]);
        if (p.factors != 0) {
          const auto s = static_cast<std::size_t>(k * p.factors / p.k);
          term = std::ldexp(term, of_a[row][s] + of_b[col][s]);
        }
        t.want[row][col] += term;
      }
  return t;
}

void expect_product(const Product& p, const Small& a, const Small& b, bool is_f16,
                    std::mt19937_64& random) {
  const std::string d = is_f16 ? "f16" : "f32";
  std::string text = "mma.sync.aligned.m16n8k" + std::to_string(p.k) + ".row.col.kind::" + p.kind;
  if (p.factors != 0) text += ".block_scale" + p.scale_vec;
  text += "." + d + "." + a.name + "." + b.name + "." + d;
  if (p.factors != 0) text += "." + p.scale_type;
  const ptx::Form form = ptx::read_form(text);
  const Operation operation = alu::operation(form);
  ASSERT_NE(operation.evaluate, nullptr) << text;
  EXPECT_TRUE(operation.approximate) << text;
  for (int round = 0; round < 4; ++round) {
    const int byte = p.factors == 1 ? round : p.factors == 2 ? round % 2 * 2 : 0;
    const Tile t = tile_of(p, a, b, is_f16, byte, round % 2, round, random);
    const std::size_t outs = is_f16 ? 2 : 4;
    EXPECT_TRUE(takes(form, outs, t.in.size())) << text;
    EXPECT_FALSE(takes(form, outs, t.in.size() - 1)) << text;
    std::vector<const void*> in;
    for (const Register& r : t.in) in.push_back(r.words.data());
    std::vector<Register> got(outs);
    std::vector<void*> out;
    for (Register& r : got) out.push_back(r.words.data());
    operation.evaluate({out.data(), in.data(), 0xffffffff, nullptr, static_cast<int>(outs),
                        static_cast<int>(in.size())});
    for (std::size_t lane = 0; lane < 32; ++lane)
      for (std::size_t i = 0; i < 4; ++i) {
        const auto want = std::bit_cast<Bits>(
            static_cast<float>(t.want[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2]));
        const Bits found =
            is_f16 ? got[i / 2].get<Bits>(lane) >> (16 * (i % 2)) & 0xffff : got[i].get<Bits>(lane);
        ASSERT_EQ(found, is_f16 ? narrow(Type::f16, want) : want) << text << " lane " << lane;
      }
  }
}

TEST(ScaledMatrix, BytesOfAnyFloatsAreMultiplied) {
  std::mt19937_64 random(21);
  for (const Small& a : smalls)
    for (const Small& b : smalls) {
      for (const bool is_f16 : {false, true})
        expect_product({"f8f6f4", "", "", 32, 0, 8}, a, b, is_f16, random);
      for (const char* words : {"", ".scale_vec::1X"})
        expect_product({"mxf8f6f4", words, "ue8m0", 32, 1, 8}, a, b, false, random);
    }
}

TEST(ScaledMatrix, BlocksHaveTheFactorsOfTheirLanes) {
  std::mt19937_64 random(22);
  const Small& e2m1 = smalls[4];
  for (const char* words : {"", ".scale_vec::2X"})
    expect_product({"mxf4", words, "ue8m0", 64, 2, 4}, e2m1, e2m1, false, random);
  expect_product({"mxf4nvf4", ".scale_vec::2X", "ue8m0", 64, 2, 4}, e2m1, e2m1, false, random);
  expect_product({"mxf4nvf4", ".scale_vec::4X", "ue4m3", 64, 4, 4}, e2m1, e2m1, false, random);
}

// As ptxas has it.
TEST(ScaledMatrix, WhatDoesNotExistHasNoOperation) {
  const std::string start = "mma.sync.aligned.m16n8k64.row.col.kind::";
  for (const char* rest :
       {"mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0",
        "mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3",
        "mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue4m3",
        "mxf4.block_scale.scale_vec::1X.f32.e2m1.e2m1.f32.ue8m0", "mxf4.f32.e2m1.e2m1.f32",
        "mxf4.block_scale.f32.e2m1.e4m3.f32.ue8m0", "f8f6f4.f32.e4m3.e4m3.f32"})
    EXPECT_EQ(operation(ptx::read_form(start + rest)).evaluate, nullptr) << rest;
}

}  // namespace
}  // namespace tcq::alu
