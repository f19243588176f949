// Integers, logic and bits against a second formulation: 128-bit numbers, and the bit by bit text of PTX.
#include <algorithm>

#include "tests/alu/alu_kit.h"

namespace tcq::alu {
namespace {

__extension__ typedef __int128 Wide;

constexpr int rounds = 200;

template <class D, class T, class Law>
void expect_law(std::string_view text, int operands, Law law) {
  std::mt19937_64 random(std::hash<std::string_view>()(text));
  for (int i = 0; i < rounds; ++i) {
    const std::vector<Register> in = {draw_register<T>(random), draw_register<T>(random),
                                      draw_register<T>(random)};
    const auto lanes = static_cast<std::uint32_t>(i % 2 == 0 ? ~std::uint64_t{0} : random());
    const Register before = draw_register<D>(random);
    const Outcome after = run(text, {in.begin(), in.begin() + operands}, lanes, {before, {}, 0}, 1);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const D want = (lanes >> lane & 1) == 0
                         ? before.get<D>(lane)
                         : static_cast<D>(law(Wide{in[0].get<T>(lane)}, Wide{in[1].get<T>(lane)},
                                              Wide{in[2].get<T>(lane)}));
      ASSERT_EQ(after.first.get<D>(lane), want) << text << " lane " << lane;
    }
  }
}

// Modulo 2^128: a product of two u64 is more than a signed number holds.
Wide product(Wide x, Wide y) {
  __extension__ typedef unsigned __int128 Modular;
  return static_cast<Wide>(static_cast<Modular>(x) * static_cast<Modular>(y));
}

template <class T>
void expect_sums(const std::string& type) {
  const int width = 8 * sizeof(T);
  expect_law<T, T>("add." + type, 2, [](Wide x, Wide y, Wide) { return x + y; });
  expect_law<T, T>("sub." + type, 2, [](Wide x, Wide y, Wide) { return x - y; });
  expect_law<T, T>("mul.lo." + type, 2, [](Wide x, Wide y, Wide) { return product(x, y); });
  expect_law<T, T>("mad.lo." + type, 3,
                   [](Wide x, Wide y, Wide z) { return static_cast<T>(product(x, y)) + z; });
  expect_law<T, T>("min." + type, 2, [](Wide x, Wide y, Wide) { return std::min(x, y); });
  expect_law<T, T>("max." + type, 2, [](Wide x, Wide y, Wide) { return std::max(x, y); });
  expect_law<T, T>("sad." + type, 3,
                   [](Wide x, Wide y, Wide z) { return z + std::max(x - y, y - x); });
  expect_law<T, T>("div." + type, 2, [](Wide x, Wide y, Wide) { return y == 0 ? -1 : x / y; });
  expect_law<T, T>("rem." + type, 2, [](Wide x, Wide y, Wide) { return y == 0 ? -1 : x % y; });
  if (std::is_signed_v<T> || width < 64)
    expect_law<T, T>("mul.hi." + type, 2,
                     [=](Wide x, Wide y, Wide) { return product(x, y) >> width; });
}

TEST(Integer, SumsAndProductsAreThoseOfWideNumbersCut) {
  expect_sums<std::uint16_t>("u16");
  expect_sums<std::int16_t>("s16");
  expect_sums<std::uint32_t>("u32");
  expect_sums<std::int32_t>("s32");
  expect_sums<std::uint64_t>("u64");
  expect_sums<std::int64_t>("s64");
}

TEST(Integer, WideProductsKeepEveryBit) {
  const auto product = [](Wide x, Wide y, Wide) { return x * y; };
  expect_law<std::uint64_t, std::uint32_t>("mul.wide.u32", 2, product);
  expect_law<std::int64_t, std::int32_t>("mul.wide.s32", 2, product);
  expect_law<std::uint32_t, std::uint16_t>("mul.wide.u16", 2, product);
  expect_law<std::int32_t, std::int16_t>("mul.wide.s16", 2, product);
}

TEST(Integer, SaturatedSumsClamp) {
  const auto clamp = [](Wide x) { return std::clamp(x, Wide{INT32_MIN}, Wide{INT32_MAX}); };
  using S = std::int32_t;
  expect_law<S, S>("add.sat.s32", 2, [&](Wide x, Wide y, Wide) { return clamp(x + y); });
  expect_law<S, S>("sub.sat.s32", 2, [&](Wide x, Wide y, Wide) { return clamp(x - y); });
  expect_law<S, S>("mad.hi.sat.s32", 3,
                   [&](Wide x, Wide y, Wide z) { return clamp((x * y >> 32) + z); });
}

TEST(Integer, CarriesChainToSumsOfTwiceTheWidth) {
  std::mt19937_64 random(7);
  for (int i = 0; i < rounds; ++i) {
    const std::uint64_t x = draw<std::uint64_t>(random);
    const std::uint64_t y = draw<std::uint64_t>(random);
    for (const bool adds : {true, false}) {
      const auto half = [](std::uint64_t word, int shift) {
        return Register::of<std::uint32_t>({static_cast<std::uint32_t>(word >> shift)});
      };
      const Outcome low = run(adds ? "add.cc.u32" : "sub.cc.u32", {half(x, 0), half(y, 0)});
      const Outcome high = run(adds ? "addc.u32" : "subc.u32", {half(x, 32), half(y, 32)},
                               0xffffffff, {{}, {}, low.carry});
      const std::uint64_t want = adds ? x + y : x - y;
      ASSERT_EQ(low.first.get<std::uint32_t>(5), static_cast<std::uint32_t>(want));
      ASSERT_EQ(high.first.get<std::uint32_t>(5), static_cast<std::uint32_t>(want >> 32));
      ASSERT_EQ(high.carry, low.carry) << "without .cc it stays";
    }
  }
}

// A difference carries where it does not borrow, and reads what a sum has left.
TEST(Integer, ABorrowIsACarryThatIsMissing) {
  const auto of = [](std::uint32_t x) { return Register::of<std::uint32_t>({x}); };
  const Outcome equal = run("sub.cc.u32", {of(7), of(7)});
  EXPECT_EQ(equal.carry, ~0U);
  EXPECT_EQ(run("sub.cc.u32", {of(7), of(8)}).carry, 0U);
  EXPECT_EQ(run("addc.u32", {of(1), of(1)}, ~0U, equal).first.words[0], 3U);
  EXPECT_EQ(run("subc.u32", {of(9), of(4)}, ~0U, equal).first.words[0], 5U);
  EXPECT_EQ(run("subc.cc.u32", {of(4), of(4)}).first.words[0], ~0U);
}

TEST(Logic, ShiftsByTheWidthAndMoreLeaveZerosOrTheSign) {
  const auto shift = [](std::string_view text, std::uint32_t x, std::uint32_t by) {
    return run(text, {Register::of<std::uint32_t>({x}), Register::of<std::uint32_t>({by})})
        .first.get<std::uint32_t>(0);
  };
  EXPECT_EQ(shift("shl.b32", 3, 31), 0x80000000);
  EXPECT_EQ(shift("shl.b32", 3, 32), 0u);
  EXPECT_EQ(shift("shr.s32", 0x80000000, 40), 0xffffffff);
  EXPECT_EQ(shift("shr.u32", 0x80000000, 31), 1u);
  EXPECT_EQ(shift("shr.s16", 0x8000, 99), 0xffffu);
  EXPECT_EQ(shift("shl.b16", 0x8001, 1), 2u);
}

TEST(Logic, Lop3ReadsItsTable) {
  const auto of = [](std::uint32_t x) { return Register::of<std::uint32_t>({x}); };
  // Table (a & b) ^ c, made of the columns of a, b, c.
  const std::uint32_t table = (0xf0 & 0xcc) ^ 0xaa;
  const std::uint32_t a = 0x12345678, b = 0xdeadbeef, c = 0x0badf00d;
  const Outcome plain = run("lop3.b32", {of(a), of(b), of(c), of(table)});
  EXPECT_EQ(plain.first.get<std::uint32_t>(3), (a & b) ^ c);
  const Outcome zero = run("lop3.and.b32", {of(a), of(b), of(a & b), of(table), Register::mask(5)});
  EXPECT_EQ(zero.second.words[0], 0u);
  const Outcome other = run("lop3.or.b32", {of(a), of(b), of(c), of(table), Register::mask(5)});
  EXPECT_EQ(other.second.words[0], 0xffffffff);
}

TEST(Bits, FieldsFollowThePseudocode) {
  std::mt19937_64 random(3);
  for (int i = 0; i < rounds; ++i) {
    const auto x = draw_register<std::uint32_t>(random);
    const auto y = draw_register<std::uint32_t>(random);
    const auto position = draw_register<std::uint8_t>(random);
    const auto length = draw_register<std::uint8_t>(random);
    const Outcome u = run("bfe.u32", {x, position, length});
    const Outcome s = run("bfe.s32", {x, position, length});
    const Outcome f = run("bfi.b32", {x, y, position, length});
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const std::uint32_t a = x.words[lane], p = position.words[lane], n = length.words[lane];
      const std::uint32_t sign = n == 0 ? 0 : a >> std::min(p + n - 1, 31u) & 1;
      std::uint32_t unsigned_field = 0, signed_field = 0, inserted = y.words[lane];
      for (std::uint32_t bit = 0; bit < 32; ++bit) {
        const bool inside = bit < n && p + bit <= 31;
        unsigned_field |= (inside ? a >> (p + bit) & 1 : 0) << bit;
        signed_field |= (inside ? a >> (p + bit) & 1 : sign) << bit;
        if (!inside) continue;
        inserted &= ~(1u << (p + bit));
        inserted |= (a >> bit & 1) << (p + bit);
      }
      ASSERT_EQ(u.first.words[lane], unsigned_field) << p << " " << n;
      ASSERT_EQ(s.first.words[lane], signed_field) << p << " " << n;
      ASSERT_EQ(f.first.words[lane], inserted) << p << " " << n;
    }
  }
}

// All 32 bits of a position and of a length count, unlike those of narrower fields. Rows of a recording.
TEST(Bits, WideFieldsDoNotCutTheirPlace) {
  const auto wide = [](std::uint64_t x) { return Register::of<std::uint64_t>({x}); };
  const auto of = [](std::uint32_t x) { return Register::of<std::uint32_t>({x}); };
  const auto get = [](const Outcome& o) { return o.first.get<std::uint64_t>(0); };
  EXPECT_EQ(get(run("bfe.u64", {wide(0x3b13f5a917137806), of(0xd2b38e1e), of(0x1f)})), 0U);
  EXPECT_EQ(get(run("bfe.s64", {wide(0x1fff), of(7), of(0x4000000)})), 0x3fU);
  EXPECT_EQ(get(run("bfe.s64", {wide(0xc2451d21bf174c03), of(0x80000001), of(0x80000000)})),
            ~std::uint64_t{0});
  EXPECT_EQ(run("bfe.u32", {of(0xff00), of(0x108), of(0x104)}).first.words[0], 0xfU);
  EXPECT_EQ(get(run("bfi.b64", {wide(0x24), wide(5), of(0x80000001), of(0x30dd)}, ~0U, {}, 1)), 5U);
}

TEST(Bits, PositionsAndPermutations) {
  const auto of = [](std::uint32_t x) { return Register::of<std::uint32_t>({x}); };
  const auto get = [](const Outcome& o) { return o.first.get<std::uint32_t>(0); };
  EXPECT_EQ(get(run("bfind.u32", {of(0x00010000)})), 16u);
  EXPECT_EQ(get(run("bfind.shiftamt.u32", {of(0x00010000)})), 15u);
  EXPECT_EQ(get(run("bfind.s32", {of(0xffffffff)})), 0xffffffff);
  EXPECT_EQ(get(run("brev.b32", {of(0x80000001)})), 0x80000001);
  EXPECT_EQ(get(run("brev.b32", {of(6)})), 0x60000000u);
  EXPECT_EQ(get(run("fns.b32", {of(0b101100), of(0), of(2)})), 3u);
  EXPECT_EQ(get(run("fns.b32", {of(0b101100), of(5), of(0xfffffffe)})), 3u);
  EXPECT_EQ(get(run("prmt.b32", {of(0x83828180), of(0x87868584), of(0x4c21)})), 0x84ff8281u);
  EXPECT_EQ(get(run("prmt.b32.b4e", {of(0x83828180), of(0x87868584), of(0)})), 0x85868780u);
  EXPECT_EQ(get(run("bmsk.clamp.b32", {of(4), of(8)})), 0xff0u);
  EXPECT_EQ(get(run("szext.clamp.s32", {of(0x8), of(4)})), 0xfffffff8u);
  EXPECT_EQ(get(run("dp4a.s32.s32", {of(0xff020304), of(0x01ff0101), of(10)})), 14u);
}

TEST(Convert, IntegersAreCutExtendedOrClamped) {
  const auto of = [](std::uint32_t x) { return Register::of<std::uint32_t>({x}); };
  EXPECT_EQ(run("cvt.s64.s32", {of(0x80000000)}).first.get<std::uint64_t>(1), 0xffffffff80000000);
  EXPECT_EQ(run("cvt.u64.u32", {of(0x80000000)}).first.get<std::uint64_t>(1), 0x80000000u);
  EXPECT_EQ(run("cvt.s32.s8", {of(0x180)}).first.words[0], 0xffffff80);
  EXPECT_EQ(run("cvt.sat.u8.s32", {of(0xffffffff)}).first.words[0], 0u);
  EXPECT_EQ(run("cvt.sat.s16.s32", {of(40000)}).first.words[0], 0x7fffu);
}

}  // namespace
}  // namespace tcq::alu
