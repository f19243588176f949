// Data lines of instructions on registers: their sources as people write them, their results in words and decimals.
#include "oracle/sum/scalar_line.h"

#include <gtest/gtest.h>

#include <string>

#include "oracle/answer/answer.h"
#include "sim/alu/forms.h"
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

TEST(ScalarLine, NumbersBehindTheMnemonicAreALine) {
  EXPECT_EQ(text_of("mma rcp.approx.f32 2.0"), "3f000000 = 0.5");
  EXPECT_EQ(text_of("mma wgmma.m64n8k32.f32.e4m3.e4m3 1.0 1.0 1.000244"), "40000000");
  EXPECT_EQ(
      text_of("mma ex2.approx.ftz.f32 1.0", styled(Style::Json)),
      R"({"instruction":"ex2.approx.ftz.f32","results":[{"d":"40000000","type":"f32","decimals":["2"]}]})");
}

TEST(ScalarLine, TheEvidenceNamesTheRecordingAndTheTarget) {
  EXPECT_NE(scalar_evidence("ex2.approx.ftz.f32", Target::sm_90a).find("scalar_approx.tcqv"),
            std::string::npos);
  EXPECT_NE(scalar_evidence("add.f32", Target::sm_90a).find("vectors/scalar.tcqv"),
            std::string::npos);
  EXPECT_NE(scalar_evidence("ex2.approx.ftz.f32", Target::sm_100a)
                .find("on sm_100a as an sm_90 does: its chip was not asked"),
            std::string::npos);
  EXPECT_EQ(scalar_evidence("add.f32", Target::sm_90).find("not asked"), std::string::npos);
}

}  // namespace
}  // namespace tcq::oracle
