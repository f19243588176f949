// f32 and f64 against the host in each of its rounding modes.
#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>

#include "tests/alu/alu_kit.h"

namespace tcq::alu {
namespace {

constexpr int rounds = 2000;

// Near 1, near the ends of the range, special.
std::uint32_t draw_float(std::mt19937_64& random) {
  const auto word = static_cast<std::uint32_t>(random());
  switch (random() % 8) {
    case 0: return (word & 0x80000000) | (random() % 4 == 0 ? 0x7f800000 : 0);
    case 1: return word & 0x80ffffff;                 // tiny
    case 2: return (word & 0x80ffffff) | 0x7e000000;  // huge
    case 3: return word;
    default: return (word & 0x83ffffff) | 0x3c000000;
  }
}

// By reference to volatile, so that nothing is computed before the mode is set.
using Operand = const volatile float&;
using Law = std::function<float(Operand, Operand, Operand)>;

void expect_as_host(const std::string& text, int mode, const Law& law) {
  std::mt19937_64 random(5);
  for (int i = 0; i < rounds; ++i) {
    std::vector<Register> in(3);
    for (Register& source : in)
      for (auto& word : source.words) word = draw_float(random);
    const Outcome after = run(text, in);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const auto operand = [&](std::size_t which) {
        return std::bit_cast<float>(in[which].words[lane]);
      };
      const volatile float x = operand(0), y = operand(1), z = operand(2);
      std::fesetround(mode);
      const volatile float want = law(x, y, z);
      std::fesetround(FE_TONEAREST);
      const float plain = want;
      const auto bits = plain == plain ? std::bit_cast<std::uint32_t>(plain) : 0x7fffffffu;
      ASSERT_EQ(after.first.words[lane], bits)
          << text << " " << operand(0) << " " << operand(1) << " " << operand(2);
    }
  }
}

TEST(Float, EveryRoundingIsTheHosts) {
  for (const auto& [word, mode] : {std::pair{".rn", FE_TONEAREST}, std::pair{".rz", FE_TOWARDZERO},
                                   std::pair{".rm", FE_DOWNWARD}, std::pair{".rp", FE_UPWARD}}) {
    const std::string end = std::string(word) + ".f32";
    using F = Operand;
    expect_as_host("add" + end, mode, [](F x, F y, F) { return x + y; });
    expect_as_host("sub" + end, mode, [](F x, F y, F) { return x - y; });
    expect_as_host("mul" + end, mode, [](F x, F y, F) { return x * y; });
    expect_as_host("fma" + end, mode, [](F x, F y, F z) { return std::fma(x, y, z); });
    expect_as_host("div" + end, mode, [](F x, F y, F) { return x / y; });
    expect_as_host("rcp" + end, mode, [](F x, F, F) { return 1 / x; });
    expect_as_host("sqrt" + end, mode, [](F x, F, F) { return std::sqrt(x); });
  }
}

std::uint32_t of(std::string_view text, std::uint32_t x, std::uint32_t y) {
  return run(text, {Register::of<std::uint32_t>({x}), Register::of<std::uint32_t>({y})})
      .first.words[0];
}

TEST(Float, SubnormalsAreFlushedWithTheirSign) {
  EXPECT_EQ(of("add.f32", 0x80000001, 0x80000000), 0x80000001u);
  EXPECT_EQ(of("add.ftz.f32", 0x80000001, 0x80000000), 0x80000000u);
  EXPECT_EQ(of("mul.ftz.f32", 0x20000000, 0x9f000000), 0x80000000u) << "the result is flushed";
  EXPECT_EQ(of("min.ftz.f32", 0x80000001, 0), 0x80000000u);
}

// Too small is what stays below the smallest normal number with all its 24 bits. Rows of a recording.
TEST(Float, FlushingLooksAtTheRoundedNumberWithAllItsBits) {
  EXPECT_EQ(of("mul.f32", 0x3f7fffff, 0x00800000), 0x00800000u);
  EXPECT_EQ(of("mul.ftz.f32", 0x3f7fffff, 0x00800000), 0u);
  EXPECT_EQ(of("mul.rm.ftz.f32", 0xbf7fffff, 0x00800000), 0x80000000u);
  EXPECT_EQ(of("div.rp.ftz.f32", 0x40000000, 0x7f000001), 0u);
  const auto fma = [](std::string_view text, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    const auto one = [](std::uint32_t word) { return Register::of<std::uint32_t>({word}); };
    return run(text, {one(x), one(y), one(z)}).first.words[0];
  };
  EXPECT_EQ(fma("fma.rn.ftz.f32", 0xb4000040, 0x0bffff80, 0x80000000), 0x80800000u);
  EXPECT_EQ(fma("fma.rm.ftz.f32", 0x967fffff, 0x96800000, 0x80800000), 0x80800000u);
  EXPECT_EQ(fma("fma.rn.ftz.f16", 0x0400, 0x3bff, 0x8000), 0u);
  EXPECT_EQ(fma("fma.rn.ftz.f16", 0xa2b4, 0x9cc6, 0x8000), 0x0400u);
}

TEST(Float, SaturationClampsToOne) {
  EXPECT_EQ(of("add.sat.f32", 0x3f800000, 0x3f800000), 0x3f800000u);
  EXPECT_EQ(of("add.sat.f32", 0xbf800000, 0), 0u);
  EXPECT_EQ(of("add.sat.f32", 0x7fc00000, 0), 0u);
  EXPECT_EQ(of("mul.sat.f32", 0x3f000000, 0x3f000000), 0x3e800000u);
}

TEST(Float, ExtremesPreferNumbersUnlessTold) {
  const std::uint32_t nan = 0xffc00001, one = 0x3f800000;
  EXPECT_EQ(of("min.f32", nan, one), one);
  EXPECT_EQ(of("max.f32", one, nan), one);
  EXPECT_EQ(of("max.f32", nan, nan), 0x7fffffffu);
  EXPECT_EQ(of("max.NaN.f32", one, nan), 0x7fffffffu);
  EXPECT_EQ(of("min.f32", 0, 0x80000000), 0x80000000u);
  EXPECT_EQ(of("max.f32", 0x80000000, 0), 0u);
  EXPECT_EQ(of("min.xorsign.abs.f32", 0xc0000000, one), 0xbf800000u);
  EXPECT_EQ(of("max.bf16x2", 0x3f80c000, 0xbf80c040), 0x3f80c000u);
  EXPECT_EQ(operation(ptx::read_form("max.relu.f16")).evaluate, nullptr);  // ptxas refuses it
  const auto three = [](std::uint32_t x) { return Register::of<std::uint32_t>({x}); };
  EXPECT_EQ(run("max.f32", {three(one), three(0x40400000), three(0x40000000)}).first.words[0],
            0x40400000u);
}

TEST(Float, SignsAreBits) {
  EXPECT_EQ(of("neg.f32", 0x3f800000, 0), 0xbf800000u);
  EXPECT_EQ(of("abs.bf16x2", 0xbf80c000, 0), 0x3f804000u);
  EXPECT_EQ(of("copysign.f32", 0x80000000, 0x3f800000), 0xbf800000u);
  EXPECT_EQ(of("copysign.f32", 0x80000000, 0x7f800001), 0xff800001u);
  // Not of NaN: those are results as any other.
  EXPECT_EQ(of("neg.f32", 0xff800001, 0), 0x7fffffffu);
  EXPECT_EQ(of("abs.f16x2", 0xfc01bc00, 0), 0x7fff3c00u);
  const auto wide = [](std::string_view text, std::uint64_t x) {
    return run(text, {Register::of<std::uint64_t>({x})}).first.get<std::uint64_t>(0);
  };
  EXPECT_EQ(wide("abs.f64", 0xfff0000000000001), 0xfff8000000000001u);
  EXPECT_EQ(wide("neg.f64", 0x7ff8000000000005), 0x7ff8000000000005u);
}

TEST(Float, PairsAndDoubles) {
  const auto pair = [](std::uint64_t x) { return Register::of<std::uint64_t>({x}); };
  const auto two = pair(0x40000000'3f800000), ones = pair(0x3f800000'3f800000);
  EXPECT_EQ(run("add.rn.f32x2", {two, ones}).first.get<std::uint64_t>(0), 0x40400000'40000000u);
  EXPECT_EQ(run("fma.rn.f32x2", {two, two, ones}).first.get<std::uint64_t>(0),
            0x40a00000'40000000u);
  const auto wide = [&](double x) { return pair(std::bit_cast<std::uint64_t>(x)); };
  EXPECT_EQ(run("fma.rn.f64", {wide(3), wide(5), wide(-1)}).first.get<std::uint64_t>(0),
            std::bit_cast<std::uint64_t>(14.0));
}

// Zeros are normal; subnormals, infinities and NaN are not.
TEST(Testp, ZerosAreNormal) {
  const std::vector<std::uint32_t> singles = {0,          0x80000000, 1,          0x007fffff,
                                              0x00800000, 0x3f800000, 0x7f800000, 0x7fc00000};
  EXPECT_EQ(run("testp.normal.f32", {Register::of(singles)}, 0xff).first.words[0], 0x33U);
  EXPECT_EQ(run("testp.subnormal.f32", {Register::of(singles)}, 0xff).first.words[0], 0x0cU);
  const std::vector<std::uint64_t> doubles = {0, 1, std::uint64_t{1} << 63, std::uint64_t{1} << 52};
  EXPECT_EQ(run("testp.normal.f64", {Register::of(doubles)}, 0xf).first.words[0], 0xdU);
}

}  // namespace
}  // namespace tcq::alu
