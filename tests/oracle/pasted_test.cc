// Laws of pasted statements: a statement of PTX, or the inline assembly around it, answers as its opcode with the
// keys that its operands say; and what is no statement gets a sentence.
#include "oracle/ptx/pasted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "oracle/ptx/mnemonic.h"
#include "sim/isa/wgmma/fragment.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

Answer ask_words(std::string_view verb, std::vector<std::string_view> words) {
  return answer({verb, std::move(words), {}});
}

struct Bits {
  bool registers, minus_a, minus_b, trans_a, trans_b;
};

std::string statement_of(const wgmma::Form& form, const Bits& bits) {
  const int d = wgmma::accumulator_registers(form.d, form.n);
  std::string text = fmt::format("{} {{%r0..%r{}}}, {}, %rd2, ", mnemonic_with_keys({form}), d - 1,
                                 bits.registers ? "{%r90,%r91,%r92,%r93}" : "%rd1");
  if (form.sparse) text += "%r80, 1, ";
  text += "1";
  if (is_float(form.a))
    text += fmt::format(", {}, {}", bits.minus_a ? -1 : 1, bits.minus_b ? -1 : 1);
  if (wgmma::has_major(form.a)) {
    if (!bits.registers) text += fmt::format(", {}", int{bits.trans_a});
    text += fmt::format(", {}", int{bits.trans_b});
  }
  return text + ";";
}

std::string mnemonic_of(wgmma::Form form, const Bits& bits) {
  if (bits.registers) form.a_place = wgmma::Place::Registers;
  if (is_float(form.a)) {
    form.negate_a = bits.minus_a;
    form.negate_b = bits.minus_b;
  }
  if (wgmma::has_major(form.a)) {
    if (bits.trans_a && !bits.registers) form.major_a = Major::MN;
    if (bits.trans_b) form.major_b = Major::MN;
  }
  return mnemonic_with_keys({form, form.sparse ? 1 : 0});
}

TEST(Pasted, OperandsOfWgmmaAreTheKeysThatPeopleWouldType) {
  int compared = 0;
  for (const wgmma::Form& form : all_forms()) {
    if ((form.n != 32 && form.n != 64) || (form.sparse && wgmma::max_selector(form.a) < 1))
      continue;
    for (unsigned mask = 0; mask < 32; ++mask) {
      const Bits bits = {(mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0, (mask & 8) != 0,
                         (mask & 16) != 0};
      const std::string statement = statement_of(form, bits);
      const auto pasted = read_pasted(std::vector<std::string_view>{statement});
      ASSERT_TRUE(pasted) << statement;
      ASSERT_EQ(fmt::format("{}", fmt::join(pasted->words, " ")), mnemonic_of(form, bits))
          << statement;
      EXPECT_EQ(pasted->note, "") << statement;
      ++compared;
    }
  }
  EXPECT_GE(compared, 1000);
}

constexpr std::string_view statement =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 1;";

TEST(Pasted, InlineAssemblyAnswersAsItsPtx) {
  const std::string assembly =
      "asm volatile(\"{\\n\"\n  \".reg .pred p;\\n\"\n  \"setp.ne.b32 p, %6, 0;\\n\"\n"
      "  \"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 \"\n"
      "  \"{%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 1;\\n\" // D, A, B\n  \"}\\n\"\n"
      "  : \"+f\"(d[0]), \"+f\"(d[1]) : \"l\"(A), \"l\"(B));";
  const std::vector<std::string_view> rest = {"B", "row=3", "col=5", "desc=0x4000004000010040"};
  for (const std::string_view pasted : {statement, std::string_view(assembly)}) {
    std::vector<std::string_view> words = {pasted};
    words.insert(words.end(), rest.begin(), rest.end());
    EXPECT_EQ(
        ask_words("where", words).text,
        ask("where wgmma.m64n8k16.f32.bf16.bf16 B major_b=MN row=3 col=5 desc=0x4000004000010040")
            .text);
  }
}

TEST(Pasted, EveryVerbOfMnemonicsReadsIt) {
  const std::string short_form = "wgmma.m64n8k16.f32.bf16.bf16";
  const std::vector<std::pair<std::string, std::string>> verbs = {
      {"where", "D row=9 col=5"},
      {"what", "D thread=6 register=3"},
      {"table", "D"},
      {"equation", "D"},
      {"bytes", "A desc=0x4000004000010040"},
      {"layout", "A rows=64 k=64"},
      {"describe", ""}};
  for (const auto& [verb, rest] : verbs) {
    const Answer expected =
        ask(verb == "describe" ? "describe " + short_form + " major_b=MN"
                               : fmt::format("{} {} {} major_b=MN", verb, short_form, rest));
    const Answer got = ask(fmt::format("{} {} {}", verb, statement, rest));
    EXPECT_EQ(got.status, Status::Yes) << verb << ": " << got.complaint;
    EXPECT_EQ(got.text, expected.text) << verb;
  }
}

// Behind mnemonic=, in one word or in several, with keys behind it; what decode does not take is left out.
TEST(Pasted, DecodeReadsItBehindMnemonic) {
  const std::string word = "0x4000004000010040";
  const std::string plain = " mnemonic=wgmma.m64n8k16.f32.bf16.bf16 major_b=MN";
  for (const std::string& rest : {std::string(" matrix=B"), std::string(" matrix=B rows=8 k=64")}) {
    const Answer expected = ask("decode wgmma.desc " + word + plain + rest);
    EXPECT_EQ(expected.status, Status::Yes) << expected.complaint;
    const std::string pasted = "mnemonic=" + std::string(statement);
    EXPECT_EQ(ask("decode wgmma.desc " + word + " " + pasted + rest).text, expected.text);
    std::vector<std::string_view> words = {"wgmma.desc", word, pasted, "matrix=B"};
    if (rest.find("rows") != rest.npos) words.insert(words.end(), {"rows=8", "k=64"});
    EXPECT_EQ(ask_words("decode", words).text, expected.text);
  }
  EXPECT_EQ(
      ask("encode wgmma.desc start=1024 lbo=16 sbo=1024 swizzle=128B mnemonic=" +
          std::string(statement) + " matrix=B")
          .text,
      ask("encode wgmma.desc start=1024 lbo=16 sbo=1024 swizzle=128B" + plain + " matrix=B").text);
  EXPECT_EQ(ask("decode wgmma.desc " + word + " mnemonic={ret;}").status, Status::Usage);
  const Answer open = ask("decode wgmma.desc " + word +
                          " mnemonic=wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
                          "{%f0..%f3}, %rd1, %rd2, 1, 1, 1, %r1, 1;");
  EXPECT_NE(open.complaint.find("note: the text leaves open"), std::string::npos) << open.complaint;
}

TEST(Pasted, TheSumOfAStatement) {
  const std::vector<std::string_view> words = {
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 0, -1, 1, 0, 1;"};
  EXPECT_EQ(answer_line({"mma", words, {}}, "1.0 2.0 8.0").text, "c0000000");
}

TEST(Pasted, DiffReadsBoth) {
  const std::string a =
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%f0..%f31}, {%r0,%r1,%r2,%r3}, %rd2, 1, "
      "1, 1, 0; A";
  const std::string d =
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%f0..%f31}, %rd1, %rd2, 1, 1, 1, 0, 0; "
      "D";
  EXPECT_EQ(ask_words("diff", {d, a}).text,
            ask("diff wgmma.m64n64k16.f32.f16.f16 D wgmma.m64n64k16.f32.f16.f16 A a=regs").text);
}

TEST(Pasted, AnImmediateInstructionDescriptorSaysTheShape) {
  EXPECT_EQ(
      ask_words("where", {"tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, 0x4100490, p;",
                          "D", "row=40", "col=3"})
          .text,
      ask("where tcgen05.mma.cta_group::1.kind::f16 D m=64 n=64 type_a=bf16 type_b=bf16 row=40 "
          "col=3")
          .text);
}

TEST(Pasted, WhatTheTextLeavesOpenIsSaid) {
  const Answer open = ask_words("where", {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
                                          "{%f0..%f3}, %rd1, %rd2, p, 1, 1, 0, %7;",
                                          "B", "row=3", "col=5", "desc=0x4000004000010040"});
  EXPECT_EQ(open.status, Status::Yes);
  EXPECT_NE(open.complaint.find("imm-trans-b is '%7'"), std::string::npos) << open.complaint;
  const Answer in_register = ask_words(
      "where",
      {"tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r4, p;", "D", "row=3", "col=3"});
  EXPECT_NE(in_register.complaint.find("idesc is '%r4'"), std::string::npos)
      << in_register.complaint;
}

TEST(Pasted, KeysOfTheQuestionCount) {
  const auto pasted =
      read_pasted(std::vector<std::string_view>{statement, "B", "major_b=K", "row=1"});
  ASSERT_TRUE(pasted);
  EXPECT_EQ(fmt::format("{}", fmt::join(pasted->words, " ")),
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 B major_b=K row=1");
}

TEST(Pasted, PlainMnemonicsPass) {
  EXPECT_FALSE(
      read_pasted(std::vector<std::string_view>{"wgmma.m64n8k16.f32.bf16.bf16", "D", "row=1"}));
  EXPECT_FALSE(read_pasted(std::vector<std::string_view>{}));
}

TEST(Pasted, WhatIsNoStatementGetsASentence) {
  for (const std::string_view words :
       {"\"", ";;", "  ", "asm volatile(\"\");", "{", "// nothing here"}) {
    const Answer none = ask_words("where", {words, "D", "row=1", "col=1"});
    EXPECT_EQ(none.status, Status::Usage) << words;
    EXPECT_NE(none.complaint, "") << words;
  }
  const Answer two = ask_words(
      "where",
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 0;\n"
       "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0..%f7}, %rd1, %rd2, 1, 1, 1, 0, 0;",
       "D", "row=1", "col=1"});
  EXPECT_NE(two.complaint.find("several instructions"), std::string::npos) << two.complaint;
}

// A word that is none of a statement's is no operand.
TEST(Pasted, AMnemonicWithAWordBehindItIsAMistake) {
  for (const char* text : {"wgmma.m64n8k16.f32.f16.f16 x", "wgmma.m64n8k16.f32.f16.f16 n=8 x",
                           "tcgen05.mma.cta_group::1.kind::f16 k96=1 x"})
    EXPECT_EQ(answer({"describe", {text}, {}}).status, Status::Usage) << text;
  EXPECT_EQ(answer({"describe", {"wgmma.wait_group.sync.aligned 0"}, {}}).status, Status::Yes);
}

}  // namespace
}  // namespace tcq::oracle
