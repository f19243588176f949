// Laws of `equation`: the CuTe strings and C expressions that it derives, evaluated by independent
// evaluators, equal the maps of sim/isa; the strings are also those that the literature prints.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/operand.h"
#include "tests/oracle/c_expression.h"
#include "tests/support/ask.h"
#include "tests/support/cute_string.h"

namespace tcq::oracle {
namespace {

const std::string bf16 = "wgmma.m64n128k16.f32.bf16.bf16";

std::string line_of(const std::string& text, const std::string& start) {
  for (const std::string& line : split(text, '\n'))
    if (line.starts_with(start)) return line.substr(start.size());
  return "";
}

const std::string cute_start = "CuTe (thread, value) -> row + 64*col: ";
const std::string cute_k_start = "CuTe (thread, value) -> row + 64*k: ";

TEST(Equation, CuteStringsAreThoseOfTheLayoutPage) {
  const std::vector<std::vector<std::string>> cases = {
      {"wgmma.m64n24k16.f32.bf16.bf16 D", "((4,8,4),(2,2,3)):((128,1,16),(64,8,512))"},
      {"wgmma.m64n8k16.f32.bf16.bf16 D", "((4,8,4),(2,2,1)):((128,1,16),(64,8,512))"},
      {"wgmma.m64n256k16.f16.f16.f16 C", "((4,8,4),(2,2,32)):((128,1,16),(64,8,512))"},
      {"wgmma.m64n8k16.f32.f16.f16 A a=regs", "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))"},
      {"wgmma.m64n8k8.f32.tf32.tf32 A a=regs", "((4,8,4),(2,2)):((64,1,16),(8,256))"},
      {"wgmma.m64n8k32.f32.e4m3.e5m2 A a=regs", "((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))"},
      {"wgmma.m64n8k256.s32.b1.b1 A a=regs", "((4,8,4),(32,2,2)):((2048,1,16),(64,8,8192))"}};
  for (const auto& c : cases)
    EXPECT_EQ(line_of(text_of("equation " + c[0]), cute_start), c[1]) << c[0];
  const std::vector<std::vector<std::string>> logical = {
      {"wgmma.sp.m64n8k16.f32.tf32.tf32 A a=regs", "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))"},
      {"wgmma.sp.m64n8k32.f32.f16.f16 A a=regs", "((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))"},
      {"wgmma.sp.m64n8k64.s32.u8.u8 A a=regs", "((4,8,4),(8,2,2)):((512,1,16),(64,8,2048))"},
      {"wgmma.sp.m64n8k32.f32.f16.f16 E", "((2,2,8,4),(16,2)):((1024,0,1,16),(64,8))"},
      {"wgmma.sp.m64n8k16.f32.tf32.tf32 E", "((2,2,8,4),(8,2)):((512,0,1,16),(64,8))"},
      {"wgmma.sp.m64n8k64.s32.u8.u8 E", "((2,2,8,4),(32)):((8,2048,1,16),(64))"}};
  for (const auto& c : logical)
    EXPECT_EQ(line_of(text_of("equation " + c[0]), cute_k_start), c[1]) << c[0];
}

TEST(Equation, CuteStringsEvaluateToTheMapsForEveryN) {
  for (const Type d : {Type::f32, Type::f16})
    for (int n = 8; n <= 256; n += 8) {
      const std::string mnemonic = "wgmma.m64n" + std::to_string(n) + "k16." + name(d) + ".f16.f16";
      const cute::Layout layout(line_of(text_of("equation " + mnemonic + " D"), cute_start));
      const int parts = parts_per_register(d);
      for (int thread = 0; thread < 128; ++thread)
        for (int value = 0; value < n / 2; ++value) {
          const wgmma::Element e =
              wgmma::accumulator_element(d, {thread, value / parts, value % parts});
          ASSERT_EQ(layout({thread, value}), e.row + 64 * e.col) << mnemonic;
        }
    }
}

int evaluate(const std::string& equation, const std::string& what,
             const std::map<std::string, int>& names) {
  return tests::Evaluator(line_of(equation, what + " = "), names).value();
}

TEST(Equation, ExpressionsEvaluateToTheMapsBothWays) {
  for (const std::string matrix :
       {"wgmma.m64n8k16.f32.f16.f16 D", "wgmma.m64n40k16.f16.f16.f16 D",
        "wgmma.m64n8k16.f32.f16.f16 A a=regs", "wgmma.m64n8k8.f32.tf32.tf32 A a=regs",
        "wgmma.m64n8k32.s32.u8.s8 A a=regs", "wgmma.m64n8k256.s32.b1.b1 A a=regs"}) {
    const std::string equation = text_of("equation " + matrix);
    for (const std::string& row : split(text_of("table " + matrix, styled(Style::Csv)), '\n')) {
      if (row.starts_with("thread")) continue;
      const std::vector<std::string> cells = split(row, ',');
      const std::map<std::string, int> names = {{"thread", std::stoi(cells[0])},
                                                {"reg", std::stoi(cells[1])},
                                                {"part", std::stoi(cells[2])},
                                                {"row", std::stoi(cells[3])},
                                                {"col", std::stoi(cells[4])}};
      for (const std::string what : {"row", "col", "thread", "reg"})
        ASSERT_EQ(evaluate(equation, what, names), names.at(what)) << matrix << ": " << what;
      if (!line_of(equation, "part = ").empty()) {
        ASSERT_EQ(evaluate(equation, "part", names), names.at("part"));
      }
    }
  }
}

TEST(Equation, MetadataExpressionsEvaluateToTheMap) {
  for (const std::string mnemonic :
       {"wgmma.sp.m64n8k32.f32.f16.f16 E selector=1",
        "wgmma.sp.m64n8k16.f32.tf32.tf32 E selector=0", "wgmma.sp.m64n8k64.s32.u8.u8 E"}) {
    const std::string equation = text_of("equation " + mnemonic);
    const int selector = mnemonic.ends_with("1") ? 1 : 0;
    for (const std::string& row : split(text_of("table " + mnemonic, styled(Style::Csv)), '\n')) {
      if (row.starts_with("thread")) continue;
      const std::vector<std::string> cells = split(row, ',');
      const std::map<std::string, int> names = {{"thread", std::stoi(cells[0])},
                                                {"nibble", std::stoi(cells[2])},
                                                {"row", std::stoi(cells[3])},
                                                {"k", std::stoi(cells[4])},
                                                {"selector", selector}};
      for (const std::string what : {"row", "k", "thread", "nibble"})
        ASSERT_EQ(evaluate(equation, what, names), names.at(what)) << mnemonic << ": " << what;
    }
  }
}

TEST(Equation, BytesEvaluateToTheAddressLaw) {
  for (const std::uint64_t word :
       {0x4000004000010040u, 0x800600a000350043u, 0xc000002000400040u, 0x0000000800100041u}) {
    for (const char* keys : {"", " major_a=MN"}) {
      const std::string equation =
          text_of("equation " + bf16 + " A desc=" + std::to_string(word) + keys);
      for (int row = 0; row < 64; ++row)
        for (int col = 0; col < 16; ++col) {
          std::map<std::string, int> names = {{"row", row}, {"col", col}};
          names["x"] = evaluate(equation, "x", names);
          ASSERT_EQ(static_cast<std::uint32_t>(evaluate(equation, "byte", names)),
                    wgmma::element_address(
                        wgmma::decode(word), *keys == 0 ? Major::K : Major::MN, Type::bf16,
                        {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(col)}))
              << equation;
        }
    }
  }
}

}  // namespace
}  // namespace tcq::oracle
