// f16 and bf16 against exact doubles that cvt rounds, and special values of approximations.
#include <bit>
#include <cmath>

#include "tests/alu/alu_kit.h"

namespace tcq::alu {
namespace {

Register of(std::uint32_t x) { return Register::of<std::uint32_t>({x}); }

Register from_doubles(const std::string& type, const std::array<double, 32>& x) {
  Register wide;
  for (std::size_t lane = 0; lane < 32; ++lane)
    wide.set(lane, std::bit_cast<std::uint64_t>(x[lane]));
  return run("cvt.rn." + type + ".f64", {wide}).first;
}
double value(const std::string& type, std::uint32_t word) {
  return std::bit_cast<float>(run("cvt.f32." + type, {of(word)}).first.words[0]);
}

// Of finite numbers whose exact result a double holds.
void expect_rounded_once(const std::string& type, std::uint32_t fields) {
  std::mt19937_64 random(17);
  int judged = 0;
  for (int i = 0; i < 60; ++i) {
    std::array<Register, 3> in;
    for (Register& source : in)
      for (std::size_t lane = 0; lane < 32; ++lane)
        source.words[lane] = static_cast<std::uint32_t>(random()) % fields | random() % 2 << 15;
    std::array<double, 32> sums, products, fused;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const double x = value(type, in[0].words[lane]), y = value(type, in[1].words[lane]);
      const double z = value(type, in[2].words[lane]);
      sums[lane] = x + y;
      products[lane] = x * y;
      fused[lane] = std::fma(x, y, z);
    }
    const auto compare = [&](const char* name, const std::array<double, 32>& exact, auto is_exact) {
      const Outcome got = run(std::string(name) + type, {in[0], in[1], in[2]});
      const Register want = from_doubles(type, exact);
      for (std::size_t lane = 0; lane < 32; ++lane) {
        if (!is_exact(lane)) continue;
        ASSERT_EQ(got.first.words[lane], want.words[lane]) << name << type;
        ++judged;
      }
    };
    const auto x = [&](std::size_t lane) { return value(type, in[0].words[lane]); };
    const auto y = [&](std::size_t lane) { return value(type, in[1].words[lane]); };
    const auto z = [&](std::size_t lane) { return value(type, in[2].words[lane]); };
    const auto splits = [](double sum, double a, double b) { return sum - a == b && sum - b == a; };
    compare("add.", sums, [&](std::size_t l) { return splits(sums[l], x(l), y(l)); });
    compare("mul.", products, [](std::size_t) { return true; });
    compare("fma.rn.", fused, [&](std::size_t l) { return splits(fused[l], products[l], z(l)); });
  }
  EXPECT_GT(judged, 2000);
}

TEST(Half, ResultsAreRoundedOnce) {
  expect_rounded_once("f16", 0x7c00);
  expect_rounded_once("bf16", 0x7f80);
}

TEST(Half, ATieThatOneBitFarBelowDecides) {
  // 1 + 2^-11 is half-way between neighbours of f16; 2^-24, a subnormal, lies far below.
  EXPECT_EQ(run("fma.rn.f16", {of(0x3c00), of(0x1000), of(0x3c00)}).first.words[0], 0x3c00u);
  // 1024 * (1 + 2^-10) + 2^-1 is a tie of 1025 and 1026; times 1 + 2^-10 again it is above.
  EXPECT_EQ(run("fma.rn.bf16", {of(0x3f80), of(0x3b80), of(0x3f80)}).first.words[0], 0x3f80u);
  EXPECT_EQ(run("fma.rn.bf16", {of(0x3f81), of(0x3b80), of(0x3f80)}).first.words[0], 0x3f81u);
  // A bf16 so small that a double of the sum does not hold it.
  EXPECT_EQ(run("fma.rn.bf16", {of(0x3b80), of(0x3f80), of(0x3f80)}).first.words[0], 0x3f80u);
}

TEST(Half, PairsAreTwoElements) {
  EXPECT_EQ(run("add.f16x2", {of(0x3c004000), of(0x3c00c000)}).first.words[0], 0x40000000u);
  EXPECT_EQ(run("mul.bf16x2", {of(0x3f804000), of(0xc0004000)}).first.words[0], 0xc0004080u);
  EXPECT_EQ(run("fma.rn.relu.f16x2", {of(0x3c00bc00), of(0x3c003c00), of(0)}).first.words[0],
            0x3c000000u);
  EXPECT_EQ(run("sub.f16", {of(0x7c00), of(0x7c00)}).first.words[0], 0x7fffu);
  EXPECT_EQ(run("add.sat.f16", {of(0x3c00), of(0x3c00)}).first.words[0], 0x3c00u);
  EXPECT_EQ(run("mul.ftz.f16", {of(0x03ff), of(0x4000)}).first.words[0], 0u);
}

TEST(Approximate, KeepsSpecialValues) {
  EXPECT_EQ(run("ex2.approx.ftz.f32", {of(0xff800000)}).first.words[0], 0u);
  EXPECT_EQ(run("ex2.approx.ftz.f32", {of(0x40400000)}).first.words[0], 0x41000000u);
  EXPECT_EQ(run("rcp.approx.ftz.f32", {of(0x80000001)}).first.words[0], 0xff800000u);
  EXPECT_EQ(run("lg2.approx.f32", {of(0xbf800000)}).first.words[0], 0x7fffffffu);
  EXPECT_EQ(run("rsqrt.approx.f32", {of(0x40800000)}).first.words[0], 0x3f000000u);
  EXPECT_EQ(run("ex2.approx.ftz.bf16", {of(0xc2fe)}).first.words[0], 0u);  // 2^-127
}

TEST(Approximate, QuotientsByTheLargestNumbersAreZeroOrNaN) {
  const Register large = of(0x7f000000);  // 2^127
  EXPECT_EQ(run("div.approx.f32", {of(0x3f800000), large}).first.words[0], 0u);
  EXPECT_EQ(run("div.approx.f32", {of(0xbf800000), large}).first.words[0], 0x80000000u);
  EXPECT_EQ(run("div.approx.f32", {of(0x7f800000), large}).first.words[0], 0x7fffffffu);
  EXPECT_EQ(run("div.approx.f32", {of(0x3f800000), of(0x7e800000)}).first.words[0],
            0x00800000u);  // 2^-126
  EXPECT_EQ(run("div.full.f32", {large, large}).first.words[0], 0x3f800000u);
}

}  // namespace
}  // namespace tcq::alu
