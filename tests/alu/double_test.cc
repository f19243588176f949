// f64 in directed rounding, by opcode, against the host's rounding modes.
#include <bit>
#include <cfenv>
#include <cmath>
#include <string>

#include "tests/alu/alu_kit.h"

namespace tcq::alu {
namespace {

using Word = std::uint64_t;

struct Way {
  const char* word;
  int mode;
};

TEST(Double, DirectedRoundingIsTheHosts) {
  std::mt19937_64 random(64);
  const auto drawn = [&] {
    const double x = std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52,
                                static_cast<int>(random() % 9));
    return Register::of<Word>({std::bit_cast<Word>(x)});
  };
  for (const Way& way :
       {Way{".rz.f64", FE_TOWARDZERO}, Way{".rm.f64", FE_DOWNWARD}, Way{".rp.f64", FE_UPWARD}})
    for (int i = 0; i < 2000; ++i) {
      const Register in[] = {drawn(), drawn(), drawn()};
      const volatile double x = std::bit_cast<double>(in[0].get<Word>(0));
      const volatile double y = std::bit_cast<double>(in[1].get<Word>(0));
      const volatile double z = std::bit_cast<double>(in[2].get<Word>(0));
      std::fesetround(way.mode);
      const volatile double sum = x + y;
      const volatile double difference = x - y;
      const volatile double product = x * y;
      const volatile double fused = std::fma(x, y, z);
      const volatile double quotient = x / y;
      const volatile double reciprocal = 1 / x;
      const volatile double root = std::sqrt(x);
      std::fesetround(FE_TONEAREST);
      const auto expect = [&](const std::string& op, int operands, double want) {
        const Register found = run(op + way.word, {in, in + operands}, ~0U, {}, 1).first;
        ASSERT_EQ(found.get<Word>(9), std::bit_cast<Word>(want)) << op << way.word;
      };
      expect("add", 2, sum);
      expect("sub", 2, difference);
      expect("mul", 2, product);
      expect("fma", 3, fused);
      expect("div", 2, quotient);
      expect("rcp", 1, reciprocal);
      expect("sqrt", 1, root);
    }
}

TEST(Double, NaNsAreQuietAndKeepTheirPayload) {
  const auto word = [](Word x) { return Register::of<Word>({x}); };
  const auto sum = [&](Word x, Word y) {
    return run("add.rz.f64", {word(x), word(y)}, ~0U, {}, 1).first.get<Word>(3);
  };
  EXPECT_EQ(sum(0x7ff0000000000005, 0xfff8000000000009), 0xfff8000000000009U);
  EXPECT_EQ(sum(0x7ff0000000000005, 0x3ff0000000000000), 0x7ff8000000000005U);
  EXPECT_EQ(sum(0x3ff0000000000000, 0xfff0000000000009), 0xfff8000000000009U);
  EXPECT_EQ(sum(0x7ff0000000000000, 0xfff0000000000000), 0xfff8000000000000U);
  const auto two = [&](const char* text, Word x, Word y) {
    return run(text, {word(x), word(y)}, ~0U, {}, 1).first.get<Word>(3);
  };
  for (const char* text : {"add.f64", "mul.rp.f64", "min.f64", "max.f64"})
    EXPECT_EQ(two(text, 0x7ff8000000000005, 0xfff0000000000001), 0xfff8000000000001U) << text;
  for (const char* text : {"div.rn.f64", "div.rz.f64"})
    EXPECT_EQ(two(text, 0x7ff8000000000005, 0xfff0000000000001), 0x7ff8000000000005U) << text;
  // The second factor's goes before the summand's, and that before the first factor's. A row of a recording.
  const auto fused = [&](const char* text, Word x, Word y, Word z) {
    return run(text, {word(x), word(y), word(z)}, ~0U, {}, 1).first.get<Word>(3);
  };
  for (const char* text : {"fma.rn.f64", "mad.rz.f64"}) {
    EXPECT_EQ(fused(text, 0xfff4000000000001, 0xfff4000000000000, 0x7ff4000000000002),
              0xfffc000000000000U);
    EXPECT_EQ(fused(text, 0xffffffffffffffff, 0x0010000000000001, 0xfff2ea88377c7864),
              0xfffaea88377c7864U);
  }
}

}  // namespace
}  // namespace tcq::alu
