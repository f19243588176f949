// mma.sync of 8-bit floats, of 4-bit and 1-bit integers, of bytes in m8n8 and of f64, against loops over fragments as PTX's
// text numbers them. Elements are small, so that every order of summation gives the same.
#include <bit>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/alu/alu_kit.h"

namespace tcq::alu {
namespace {

struct Case {
  std::string text;
  int m, k, width;                   // bits of an element of A and B
  std::vector<std::uint32_t> codes;  // elements to draw from
  std::function<int(std::uint32_t, std::uint32_t)> product;
  bool is_float = false;  // D is f32, else s32
};

using Matrix = std::vector<std::vector<std::uint32_t>>;

Matrix drawn(const Case& c, int lines, std::mt19937_64& random) {
  Matrix x(static_cast<std::size_t>(lines),
           std::vector<std::uint32_t>(static_cast<std::size_t>(c.k)));
  for (auto& line : x)
    for (auto& element : line) element = c.codes[random() % c.codes.size()];
  return x;
}

// groupID = lane / 4; a register holds 32 / width neighbours of K, those of four lanes follow each other, then come the
// rows 8 to 15 of A, then the next part of K.
std::vector<Register> registers_of(const Case& c, const Matrix& x) {
  const int lines = static_cast<int>(x.size());
  const int parts = 32 / c.width;
  std::vector<Register> made;
  for (int first = 0; first < c.k; first += 4 * parts)
    for (int group = 0; group < lines; group += 8) {
      Register reg;
      for (int lane = 0; lane < 32; ++lane) {
        std::uint32_t word = 0;
        for (int p = 0; p < parts; ++p)
          word |= x[static_cast<std::size_t>(group + lane / 4)]
                   [static_cast<std::size_t>(first + lane % 4 * parts + p)]
                  << (p * c.width);
        reg.set(static_cast<std::size_t>(lane), word);
      }
      made.push_back(reg);
    }
  return made;
}

void expect_product(const Case& c) {
  std::mt19937_64 random(7);
  const Matrix a = drawn(c, c.m, random);
  const Matrix b = drawn(c, 8, random);
  std::vector<Register> in = registers_of(c, a);
  for (const Register& reg : registers_of(c, b)) in.push_back(reg);
  const int results = c.m / 4;
  const auto word = [&](int x) {
    return c.is_float ? std::bit_cast<std::uint32_t>(static_cast<float>(x))
                      : static_cast<std::uint32_t>(x);
  };
  for (int i = 0; i < results; ++i) {
    Register reg;
    for (int lane = 0; lane < 32; ++lane)
      reg.set(static_cast<std::size_t>(lane), word(lane + 50 * i));
    in.push_back(reg);
  }
  std::vector<Register> out(static_cast<std::size_t>(results));
  std::vector<const void*> sources;
  std::vector<void*> targets;
  for (const Register& r : in) sources.push_back(r.words.data());
  for (Register& r : out) targets.push_back(r.words.data());
  const Operation mma = operation(ptx::read_form(c.text));
  ASSERT_NE(mma.evaluate, nullptr) << c.text;
  mma.evaluate(
      {targets.data(), sources.data(), 0xffffffff, nullptr, results, static_cast<int>(in.size())});
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < results; ++i) {
      const auto row = static_cast<std::size_t>(lane / 4 + 8 * (i / 2));
      const auto col = static_cast<std::size_t>(2 * (lane % 4) + i % 2);
      int want = lane + 50 * i;
      for (std::size_t k = 0; k < static_cast<std::size_t>(c.k); ++k)
        want += c.product(a[row][k], b[col][k]);
      ASSERT_EQ(out[static_cast<std::size_t>(i)].get<std::uint32_t>(static_cast<std::size_t>(lane)),
                word(want))
          << c.text << " lane " << lane << " d" << i;
    }
}

// 0, 1, -1, 2, -2, 4 by their codes.
int e4m3(std::uint32_t code) {
  switch (code) {
    case 0x38: return 1;
    case 0xb8: return -1;
    case 0x40: return 2;
    case 0xc0: return -2;
    case 0x48: return 4;
    default: return 0;
  }
}
int e5m2(std::uint32_t code) {
  switch (code) {
    case 0x3c: return 1;
    case 0xbc: return -1;
    case 0x40: return 2;
    case 0xc0: return -2;
    default: return 0;
  }
}

const std::string sync = "mma.sync.aligned.";

TEST(MmaTypes, EightBitFloats) {
  const std::vector<std::uint32_t> both = {0, 0x40, 0xc0};  // 2 and -2 in both formats
  const auto e4 = [](std::uint32_t x, std::uint32_t y) { return e4m3(x) * e4m3(y); };
  const auto e5 = [](std::uint32_t x, std::uint32_t y) { return e5m2(x) * e5m2(y); };
  const auto mixed = [](std::uint32_t x, std::uint32_t y) { return e4m3(x) * e5m2(y); };
  expect_product({sync + "m16n8k32.row.col.f32.e4m3.e4m3.f32",
                  16,
                  32,
                  8,
                  {0, 0x38, 0xb8, 0x40, 0xc0, 0x48},
                  e4,
                  true});
  expect_product({sync + "m16n8k32.row.col.f32.e5m2.e5m2.f32",
                  16,
                  32,
                  8,
                  {0, 0x3c, 0xbc, 0x40, 0xc0},
                  e5,
                  true});
  expect_product({sync + "m16n8k32.row.col.f32.e4m3.e5m2.f32", 16, 32, 8, both, mixed, true});
  expect_product({sync + "m16n8k16.row.col.f32.e4m3.e4m3.f32", 16, 16, 8, both, e4, true});
}

// A product of ones in place `k` of each row; C is a word of D's type.
std::uint32_t fp8_sum(const std::string& d, std::uint32_t c, const std::vector<std::uint32_t>& a,
                      std::uint32_t b = 0x38) {
  std::vector<Register> in(d == "f16" ? 8 : 10);
  for (int lane = 0; lane < 32; ++lane) {
    const auto at = static_cast<std::size_t>(lane);
    for (std::size_t reg = 0; reg < 6; ++reg) {
      std::uint32_t word = 0;
      for (std::size_t p = 0; p < 4; ++p) {
        const std::size_t k = 16 * (reg < 4 ? reg / 2 : reg - 4) + at % 4 * 4 + p;
        const std::uint32_t code = reg < 4 ? (k < a.size() ? a[k] : 0) : b;
        word |= code << (8 * p);
      }
      in[reg].set(at, word);
    }
    for (std::size_t reg = 6; reg < in.size(); ++reg) in[reg].set(at, d == "f16" ? c | c << 16 : c);
  }
  std::vector<Register> out(in.size() - 6);
  std::vector<const void*> sources;
  std::vector<void*> targets;
  for (const Register& r : in) sources.push_back(r.words.data());
  for (Register& r : out) targets.push_back(r.words.data());
  const std::string form = sync + "m16n8k32.row.col." + d + ".e4m3.e4m3." + d;
  operation(ptx::read_form(form))
      .evaluate({targets.data(), sources.data(), 0xffffffff, nullptr, static_cast<int>(out.size()),
                 static_cast<int>(in.size())});
  return out[0].get<std::uint32_t>(0) & (d == "f16" ? 0xffff : 0xffffffff);
}

// C is added at the end and not cut to wgmma's 13 bits of FP8; of f16 it is rounded a second time.
TEST(MmaTypes, EightBitFloatsAreSumsOfHalves) {
  EXPECT_EQ(fp8_sum("f32", 0x3f800001, {}), 0x3f800001u);
  EXPECT_EQ(fp8_sum("f32", 0x3f8007ff, {0x38}), 0x40000400u);  // 1 + 2047 ulp and 1: ties to even
  // 256 and 2^-9, 18 bits apart: a sum of f16 keeps both in f32.
  EXPECT_EQ(fp8_sum("f32", 0, {0x78, 0x01}), 0x43800040u);
  // In f16 the first half is 2049 (even: 2048), the second adds 1 (2049: 2048), then C = 1 again.
  EXPECT_EQ(fp8_sum("f16", 0, {0x7e, 0x7e, 0, 0, 0x7e, 0x7e, 0, 0, 0x78, 0x38}), 0x6800u);
  EXPECT_EQ(fp8_sum("f32", 0, {0x7f}), 0x7fffffffu);
  EXPECT_EQ(fp8_sum("f32", 0xff800000, {0x38}), 0xff800000u);
}

int nibble(std::uint32_t x) { return x < 8 ? static_cast<int>(x) : static_cast<int>(x) - 16; }

TEST(MmaTypes, FourBitIntegers) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t x = 0; x < 16; ++x) all.push_back(x);
  const auto s4 = [](std::uint32_t x, std::uint32_t y) { return nibble(x) * nibble(y); };
  const auto u4 = [](std::uint32_t x, std::uint32_t y) { return static_cast<int>(x * y); };
  const auto s4u4 = [](std::uint32_t x, std::uint32_t y) {
    return nibble(x) * static_cast<int>(y);
  };
  expect_product({sync + "m16n8k64.row.col.s32.s4.s4.s32", 16, 64, 4, all, s4});
  expect_product({sync + "m16n8k32.row.col.s32.u4.u4.s32", 16, 32, 4, all, u4});
  expect_product({sync + "m8n8k32.row.col.s32.s4.u4.s32", 8, 32, 4, all, s4u4});
}

TEST(MmaTypes, BytesInSmallTiles) {
  const auto s8 = [](std::uint32_t x, std::uint32_t y) {
    return static_cast<std::int8_t>(x) * static_cast<std::int8_t>(y);
  };
  expect_product(
      {sync + "m8n8k16.row.col.s32.s8.s8.s32", 8, 16, 8, {0, 1, 2, 0xff, 0x80, 0x7f}, s8});
}

TEST(MmaTypes, Bits) {
  const auto differ = [](std::uint32_t x, std::uint32_t y) { return static_cast<int>(x ^ y); };
  const auto both = [](std::uint32_t x, std::uint32_t y) { return static_cast<int>(x & y); };
  expect_product({sync + "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 16, 256, 1, {0, 1}, differ});
  expect_product({sync + "m16n8k128.row.col.s32.b1.b1.s32.and.popc", 16, 128, 1, {0, 1}, both});
  expect_product({sync + "m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 8, 128, 1, {0, 1}, differ});
}

// a of lane l is A[l / 4][l % 4], b is B[l % 4][l / 4], c0 and c1 are C[l / 4][2 (l % 4)] and the next.
TEST(MmaTypes, Doubles) {
  Register a;
  Register b;
  std::vector<Register> c(2);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    a.set(lane, 1.0 + static_cast<double>(lane));
    b.set(lane, 2.0 * static_cast<double>(lane) - 7);
    c[0].set(lane, 0.5);
    c[1].set(lane, 0.25);
  }
  const Outcome out = run(sync + "m8n8k4.row.col.f64.f64.f64.f64", {a, b, c[0], c[1]});
  for (std::size_t lane = 0; lane < 32; ++lane)
    for (std::size_t i = 0; i < 2; ++i) {
      double want = i == 0 ? 0.5 : 0.25;
      for (std::size_t k = 0; k < 4; ++k)
        want += a.get<double>(4 * (lane / 4) + k) * b.get<double>(4 * (2 * (lane % 4) + i) + k);
      EXPECT_EQ((i == 0 ? out.first : out.second).get<double>(lane), want) << lane;
    }
}

}  // namespace
}  // namespace tcq::alu
