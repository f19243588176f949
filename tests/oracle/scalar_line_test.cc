// Data lines of instructions on registers: their sources as people write them, their results in words and decimals.
#include "oracle/sum/scalar_line.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "oracle/answer/answer.h"
#include "sim/alu/forms.h"
#include "tests/support/alu_spellings.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

std::string line(const char* opcode, const char* sources) {
  return scalar_line(opcode, sources, {}).text;
}

TEST(ScalarLine, ResultsAreWordsAndDecimals) {
  EXPECT_EQ(line("ex2.approx.ftz.f32", "3f800000"), "40000000 = 2");
  EXPECT_EQ(line("fma.rn.f32", "1.5 2.0 -0.25"), "40300000 = 2.75");
  EXPECT_EQ(line("sub.s32", "+3 -7"), "0000000a = 10");
  EXPECT_EQ(line("sub.s32", "00000003 +7"), "fffffffc = -4");
  EXPECT_EQ(line("min.f64", "1.5 -2.5"), "c004000000000000 = -2.5");
  EXPECT_EQ(line("setp.lt.f32", "1.0 2.0"), "true, false");
  EXPECT_EQ(line("selp.b32", "00000001 00000002 0"), "00000002 = 2");
  EXPECT_EQ(line("rcp.approx.ftz.f32", "nan"), "7fffffff = nan");
}

// The word, two elements, or one for both; the first operand of cvt goes into the high part.
TEST(ScalarLine, PackedTypesHaveBothElements) {
  EXPECT_EQ(line("add.rn.bf16x2", "3f803f80 1.0,-2.0"), "bf804000 = 2 low, -1 high");
  EXPECT_EQ(line("add.f16x2", "1.0,2.0 0.5"), "41003e00 = 1.5 low, 2.5 high");
  EXPECT_EQ(line("cvt.rn.satfinite.e4m3x2.f32", "1000.0 1.0"), "7e38 = 1 low, 448 high");
}

// A borrow is told as such; the table of lop3 is the last word.
TEST(ScalarLine, CarriesAndTablesAreWordsOfTheLine) {
  EXPECT_EQ(line("add.cc.u32", "ffffffff 00000001"), "00000000 = 0, carry 1");
  EXPECT_EQ(line("addc.u32", "ffffffff 00000001 1"), "00000001 = 1");
  EXPECT_EQ(line("sub.cc.u32", "00000000 00000001"), "ffffffff = 4294967295, carry 1");
  EXPECT_EQ(line("lop3.b32", "f0f0f0f0 cccccccc aaaaaaaa 0xe8"), "e8e8e8e8 = 3907578088");
  EXPECT_THROW(line("lop3.b32", "f0f0f0f0 cccccccc aaaaaaaa 256"), UsageError);
}

TEST(ScalarLine, WhatIsNoSourceIsRefused) {
  EXPECT_THROW(line("ex2.approx.ftz.f32", "3f8"), UsageError);
  EXPECT_THROW(line("ex2.approx.ftz.f32", "1.0 2.0"), UsageError);
  EXPECT_THROW(line("selp.b32", "00000001 00000002 2"), UsageError);
  EXPECT_THROW(line("sub.s32", "+99999999999 -7"), UsageError);
}

// Every form of a lane alone, and none that asks other lanes or multiplies matrices.
TEST(ScalarLine, FormsOfALaneAloneAreAnswered) {
  int scalars = 0;
  for (const std::string& spelling : alu::scalar_forms())
    if (is_scalar(spelling.substr(0, spelling.find(' ')))) ++scalars;
  EXPECT_GT(scalars, 5400);
  for (const char* other :
       {"shfl.sync.up.b32", "redux.sync.add.s32", "elect.sync", "activemask.b32", "wgmma.fence",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "ld.global.u32", "nonsense"})
    EXPECT_FALSE(is_scalar(other)) << other;
}

// What the ALU would compute but no chip of sm_90a was asked for: video instructions, whose last source no line has, words
// that no instruction has together, forms of later targets.
TEST(ScalarLine, NothingElseThatReadsAsAFormIsAnswered) {
  std::set<std::string> listed;
  for (const std::string& spelling : alu::scalar_forms())
    listed.insert(spelling.substr(0, spelling.find(' ')));
  std::size_t asked = 0;
  alu::each_alu_spelling([&](const std::string& spelling) {
    if (asked++ % 97 != 0 || !is_scalar(spelling)) return;
    EXPECT_TRUE(listed.contains(ptx::print(ptx::read_form(spelling)))) << spelling;
  });
  for (const char* other :
       {"vadd4.u32.u32.u32", "vadd.u32.u32.u32", "vmad.s32.s32.s32", "vavrg2.s32.s32.s32",
        "add.f32.f16", "fma.rn.f32.f16", "cvt.rn.satfinite.e2m1x2.f32", "cvt.rn.bf16x2.ue8m0x2",
        "cvt.rs.f16x2.f32", "cvt.pack.sat.u8.s32.b32", "add.rn.f32x2", "sin.full.f32", "sqrt.f32",
        "div.rs.s32", "add.rni.s32.u32"}) {
    const Answer reply = ask(std::string("mma ") + other + " 00000001 00000001 00000001");
    EXPECT_EQ(reply.status, Status::Unmodelled) << other << ": " << reply.complaint;
    EXPECT_NE(reply.complaint.find("no chip of sm_90a was asked"), std::string::npos)
        << reply.complaint;
  }
  EXPECT_NE(ask("mma sqrt.f32 2.0").complaint.find("did you mean 'sqrt."), std::string::npos);
}

TEST(ScalarLine, WhatIsKnownAndNotALanesOwnIsNoUnknownMnemonic) {
  for (const char* other :
       {"redux.sync.add.s32", "ld.global.u32", "applypriority.global.L2::evict_normal"})
    EXPECT_EQ(ask(std::string("mma ") + other + " 00000001").status, Status::Unmodelled) << other;
  EXPECT_EQ(ask("mma add.nothing.f32 1.0 1.0").status, Status::Usage);
}

// s32 where a source is, u32 where none is.
TEST(ScalarLine, SumsOfBytesHaveTheSignOfTheirSources) {
  EXPECT_EQ(line("dp4a.s32.s32", "80808080 01010101 00000000"), "fffffe00 = -512");
  EXPECT_EQ(line("dp2a.lo.u32.s32", "00010001 000000ff +0"), "ffffffff = -1");
  EXPECT_EQ(line("dp4a.u32.u32", "00000001 00000001 fffffffe"), "ffffffff = 4294967295");
}

TEST(ScalarLine, NumbersBehindTheMnemonicAreALine) {
  EXPECT_EQ(text_of("mma rcp.approx.f32 2.0"), "3f000000 = 0.5");
  EXPECT_EQ(text_of("mma wgmma.m64n8k32.f32.e4m3.e4m3 1.0 1.0 1.000244"), "40000000");
  EXPECT_EQ(
      text_of("mma ex2.approx.ftz.f32 1.0", styled(Style::Json)),
      R"({"instruction":"ex2.approx.ftz.f32","results":[{"d":"40000000","type":"f32","decimals":["2"]}],"evidence":"measured","reasons":["the chip's approximation, an H200's answers in tests/vectors/scalar_approx.tcqv"]})");
  Options blackwell = styled(Style::Json);
  blackwell.arch = "sm_100a";
  EXPECT_NE(text_of("mma add.f32 1.0 1.0", blackwell).find(R"("evidence":"inferred")"),
            std::string::npos);
}

TEST(ScalarLine, TheEvidenceNamesTheRecordingAndTheTarget) {
  EXPECT_NE(scalar_evidence("ex2.approx.ftz.f32", Target::sm_90a).find("scalar_approx.tcqv"),
            std::string::npos);
  EXPECT_NE(scalar_evidence("add.f32", Target::sm_90a).find("vectors/scalar.tcqv"),
            std::string::npos);
  EXPECT_NE(scalar_evidence("ex2.approx.ftz.f32", Target::sm_100a)
                .find("on sm_100a as an sm_90 does: its chip was not asked"),
            std::string::npos);
  EXPECT_TRUE(scalar_evidence("lop3.b32", Target::sm_90a).ends_with(", with 22 of the 256 tables"));
  EXPECT_NE(ask("mma mov.b128 0 0").complaint.find("has registers of 128 bits"), std::string::npos);
  EXPECT_EQ(scalar_evidence("add.f32", Target::sm_90).find("not asked"), std::string::npos);
}

}  // namespace
}  // namespace tcq::oracle
