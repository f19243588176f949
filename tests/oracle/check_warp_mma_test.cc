// Statements of mma.sync and inline assembly with placeholders, as `check` reads them.
// Measured: every verdict here is ptxas 13.0.88's, but for those of placeholders.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "oracle/ptx/check_stream.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

std::vector<std::string> answers_to(const std::vector<std::string>& lines, const char* arch = "") {
  std::vector<std::string> answers;
  Options options;
  options.arch = arch;
  CheckStream stream({"check", {}, options},
                     [&](const Answer& answer) { answers.push_back(answer.text); });
  for (const std::string& line : lines) stream.add_line(line);
  stream.end();
  return answers;
}

std::string verdict(const std::string& statement, const char* arch = "") {
  return answers_to({statement}, arch).at(0);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

TEST(CheckWarpMma, RegistersAndTypesAreCounted) {
  EXPECT_EQ(verdict("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0..%f3}, {%r0..%r3}, "
                    "{%r4,%r5}, {%f0..%f3};"),
            "legal");
  EXPECT_EQ(verdict("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0,%r1}, {%r2}, {%r3}, "
                    "{%r0,%r1};"),
            "legal");
  EXPECT_EQ(verdict("mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32 {%f0..%f7}, {%r0,%r1}, "
                    "{%r2,%r3}, {%f0..%f7};"),
            "legal");
  EXPECT_TRUE(contains(verdict("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0..%f3}, "
                               "{%r0,%r1}, {%r4,%r5}, {%f0..%f3};"),
                       "illegal\tOperandCount"));
  EXPECT_TRUE(contains(verdict("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0..%f3}, "
                               "{%r0..%r3}, {%r4,%r5};"),
                       "got 3, expected 4: D, A, B, C"));
}

TEST(CheckWarpMma, LayoutsAndScaleFactorsThatPtxasRefuses) {
  EXPECT_TRUE(contains(verdict("mma.sync.aligned.m16n8k32.row.row.s32.s8.s8.s32 {%r0..%r3}, "
                               "{%r4..%r7}, {%r8,%r9}, {%r0..%r3};"),
                       "A is .row and B .col"));
  const std::string scaled =
      ".f32.e2m1.e2m1.f32.ue4m3 {%f0..%f3}, {%r0..%r3}, {%r4,%r5}, {%f0..%f3}, %r6, {0,0}, %r7, "
      "{0,0};";
  const std::string begin =
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::";
  EXPECT_EQ(verdict(begin + "4X" + scaled), "legal");
  EXPECT_EQ(verdict(begin + "4X" + scaled, "sm_120a"), "legal");
  EXPECT_TRUE(contains(verdict(begin + "4X" + scaled, "sm_100a"), "exists on sm_120a"));
  EXPECT_TRUE(contains(verdict(begin + "2X" + scaled), "illegal"));
  std::string wrong = scaled;
  wrong.replace(wrong.find("ue4m3"), 5, "ue8m0");
  EXPECT_TRUE(contains(verdict(begin + "4X" + wrong), "illegal"));
  EXPECT_TRUE(contains(verdict("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0..%f3}, "
                               "{%r0..%r3}, {%r4..%r7}, {%f0..%f3}, %r8, 0;"),
                       "unmodelled"));
}

// As CUTLASS writes it: a declaration and setp round the statement, values from template arguments.
TEST(CheckWarpMma, InlineAssemblyIsAnsweredForItsStatementAlone) {
  const std::vector<std::string> block = {"asm volatile(",
                                          "\"{\\n\"",
                                          "\".reg .pred p;\\n\"",
                                          "\"setp.ne.b32 p, %6, 0;\\n\"",
                                          "\"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 \"",
                                          "\"{%0, %1, %2, %3}, %4, %5, p, %7, %8, 0, 1;\\n\"",
                                          "\"}\\n\"",
                                          ": \"+f\"(d0) : \"l\"(a), \"n\"(int32_t(scaleA)));"};
  const std::vector<std::string> answers = answers_to(block);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0], "legal\tif %7 is immediate 1 or -1, %8 is immediate 1 or -1");
  const std::vector<std::string> scaled = {
      "asm volatile(\"{\\n\\t\"", "\".reg .pred p;\\n\\t\"", "\"setp.ne.b32 p, %4, 0;\\n\\t\"",
      "\"tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, {%5, %6, %7, %8}, p, %9; \\n\\t\"",
      "\"}\\n\" : : \"r\"(d), \"l\"(a), \"l\"(b), \"r\"(i), \"r\"(c), \"n\"(ScaleC));"};
  EXPECT_EQ(answers_to(scaled), std::vector<std::string>{"legal\tif %9 is immediate in [0, 15]"});
  EXPECT_EQ(
      answers_to(
          {R"(asm("tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%0}, [%1], %2;" : "=r"(x) : "r"(t), "n"(h));)"}),
      std::vector<std::string>{"legal\tif %2 is immediate"});
  // Nothing else there: what it is is said.
  const std::vector<std::string> other = answers_to({R"(asm("mov.u32 %0, %%laneid;" : "=r"(x));)"});
  ASSERT_EQ(other.size(), 1u);
  EXPECT_TRUE(contains(other[0], "unmodelled\topcode 'mov'"));
  // PTX that is no C++ has an answer for each.
  EXPECT_EQ(answers_to({".reg .pred p;", "wgmma.fence.sync.aligned;"}).size(), 2u);
}

}  // namespace
}  // namespace tcq::oracle
