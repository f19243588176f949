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

// One statement of bf16, a piece of it replaced.
std::string changed(const std::string& piece, const std::string& by) {
  std::string statement =
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0..%f3}, {%r0..%r3}, {%r4,%r5}, "
      "{%f4..%f7};";
  return statement.replace(statement.find(piece), piece.size(), by);
}

TEST(CheckWarpMma, EveryWordIsThereInOrderAndNoOther) {
  EXPECT_EQ(verdict(changed("bf16", "bf16")), "legal");
  struct Row {
    const char *piece, *by, *fault;
  };
  for (const Row& row : {Row{".sync", "", "SyncMissing"},
                         {".aligned", "", "AlignedMissing"},
                         {".row.col", "", "QualifierMissing"},
                         {".col", "", "QualifierMissing"},
                         {".bf16.f32", ".bf16", "QualifierMissing"},
                         {".sync.aligned", ".aligned.sync", "QualifierOrder"},
                         {".sync", ".sync.sync", "QualifierOrder"},
                         {".row.col", ".row.col.xor", "QualifierUnknown"},
                         {".row.col", ".row.col.satfinite", "QualifierUnknown"},
                         {".row.col", ".row.col.rn", "QualifierUnknown"},
                         {".row.col", ".row.col.kind::f8f6f4", "QualifierUnknown"},
                         {".row.col", ".ROW.col", "QualifierUnknown"}})
    EXPECT_TRUE(contains(verdict(changed(row.piece, row.by)), std::string("illegal\t") + row.fault))
        << row.piece << " -> " << row.by << ": " << verdict(changed(row.piece, row.by));
}

TEST(CheckWarpMma, WordsThatSomeTypesHave) {
  const std::string bits = " {%r0..%r3}, {%r4..%r7}, {%r8,%r9}, {%r0..%r3};";
  const std::string b1 = "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32";
  EXPECT_EQ(verdict(b1 + ".and.popc" + bits), "legal");
  EXPECT_EQ(verdict(b1 + ".xor.popc" + bits), "legal");
  EXPECT_TRUE(contains(verdict(b1 + bits), ".and or .xor is missing"));
  EXPECT_TRUE(contains(verdict(b1 + ".and" + bits), ".popc is missing"));
  EXPECT_EQ(verdict("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32" + bits), "legal");
  const std::string f64 = ".f64.f64.f64.f64 {%fd0,%fd1}, {%fd2}, {%fd3}, {%fd0,%fd1};";
  for (const char* rounding : {"", ".rn", ".rz", ".rm", ".rp"})
    EXPECT_EQ(verdict("mma.sync.aligned.m8n8k4.row.col" + (rounding + f64)), "legal") << rounding;
  EXPECT_EQ(verdict("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16 {%f0..%f7}, {%r0,%r1}, "
                    "{%r2,%r3}, {%r4..%r7};"),
            "legal");
}

TEST(CheckWarpMma, OperandsAreVectorsOfTheTypesThatTheyHold) {
  const auto is_wrong = [](const std::string& statement) {
    return contains(verdict(statement), "illegal\tOperandKind");
  };
  EXPECT_TRUE(is_wrong(changed("{%r0..%r3}", "{%f8..%f11}")));
  EXPECT_TRUE(is_wrong(changed("{%r0..%r3}", "{%rd0..%rd3}")));
  EXPECT_TRUE(is_wrong(changed("{%f0..%f3}", "{%fd0..%fd3}")));
  EXPECT_TRUE(is_wrong(changed("{%f4..%f7}", "{_,%f5,%f6,%f7}")));
  EXPECT_TRUE(is_wrong(changed("{%f4..%f7}", "{%laneid,%f5,%f6,%f7}")));
  EXPECT_TRUE(is_wrong(changed("{%f4..%f7}", "{0,0,0,0}")));
  EXPECT_TRUE(is_wrong(changed("{%f0..%f3}", "{_,_,_,_}")));
  EXPECT_TRUE(
      is_wrong("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0,%r1}, %r2, {%r3}, "
               "{%r0,%r1};"));
  EXPECT_TRUE(contains(verdict(changed("{%f0..%f3}", "{_,%f1,%f2,%f3}")), "unmodelled\tD is"));
  EXPECT_EQ(verdict(changed("{%f4..%f7}", "{0f00000000,0f00000000,0f3f800000,%f7}")), "legal");
  EXPECT_TRUE(contains(verdict(changed("{%r4,%r5}", "{%r4,7}")), "unmodelled"));
  EXPECT_EQ(verdict("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0,%r1}, {%r2}, {%r3}, "
                    "{0,-1};"),
            "legal");
  EXPECT_EQ(answers_to({".reg .f64 d<4>;",
                        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                        "{d0,d1,d2,d3}, {%r0..%r3}, {%r4,%r5}, {%f4..%f7};"})
                .at(1)
                .substr(0, 19),
            "illegal\tOperandKind");
}

// Selectors: byte-id 0 to 3 for one factor, 0 or 2 for two, 0 for four; thread-id-a 0 or 1, thread-id-b 0 to 3.
TEST(CheckWarpMma, SelectorsAreInTheirRanges) {
  const auto with = [](const std::string& kind, const std::string& a, const std::string& b) {
    return verdict("mma.sync.aligned.m16n8k" + kind + " {%f0..%f3}, {%r0..%r3}, {%r4,%r5}, " +
                   "{%f0..%f3}, %r6, " + a + ", %r7, " + b + ";");
  };
  const std::string one =
      "32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0";
  const std::string two = "64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0";
  const std::string four =
      "64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3";
  for (const std::string& kind : {one, two, four}) {
    EXPECT_EQ(with(kind, "{0,1}", "{0,3}"), "legal");
    EXPECT_EQ(with(kind, "{%rs0,%rs1}", "{0,0}"), "legal");
    EXPECT_TRUE(contains(with(kind, "{0,2}", "{0,0}"), "thread-id-a is 2, expected 0 to 1"));
    EXPECT_TRUE(contains(with(kind, "{0,0}", "{0,4}"), "thread-id-b is 4, expected 0 to 3"));
    EXPECT_TRUE(contains(with(kind, "{4,0}", "{0,0}"), "byte-id-a is 4"));
    EXPECT_TRUE(contains(with(kind, "0", "{0,0}"), "illegal\tOperandKind"));
    EXPECT_TRUE(contains(with(kind, "{%r1,0}", "{0,0}"), "illegal\tOperandKind"));
  }
  EXPECT_EQ(with(one, "{3,0}", "{1,0}"), "legal");
  EXPECT_EQ(with(two, "{2,0}", "{2,0}"), "legal");
  EXPECT_TRUE(contains(with(two, "{1,0}", "{0,0}"), "byte-id-a is 1, expected 0 or 2"));
  EXPECT_TRUE(contains(with(four, "{0,0}", "{2,0}"), "byte-id-b is 2, expected 0"));
  EXPECT_TRUE(contains(
      with("64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue4m3", "{0,0}", "{0,0}"),
      ".scale_vec::4X is missing"));
}

TEST(CheckWarpMma, TargetsThatHaveTheTypes) {
  const auto of = [](const std::string& opcode, const char* arch) {
    return verdict("mma.sync.aligned." + opcode + " {%f0..%f3}, {%r0..%r3}, {%r4,%r5}, {%f0..%f3};",
                   arch);
  };
  const std::string narrow = "m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32";
  const std::string bytes = "m16n8k32.row.col.kind::f8f6f4.f32.e5m2.e4m3.f32";
  for (const char* arch : {"sm_120a", "sm_120f", "sm_121a"}) {
    EXPECT_EQ(of(narrow, arch), "legal");
    EXPECT_EQ(of(bytes, arch), "legal");
  }
  for (const char* arch : {"sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_103a", "sm_110a"})
    EXPECT_TRUE(contains(of(narrow, arch), "types of 6 and 4 bits exists on sm_120a")) << arch;
  EXPECT_TRUE(contains(of(bytes, "sm_90a"), "illegal"));
  EXPECT_TRUE(contains(of(bytes, "sm_100a"), "unmodelled"));
  EXPECT_EQ(of("m16n8k32.row.col.f32.e5m2.e4m3.f32", "sm_100a"), "legal");
  EXPECT_TRUE(
      contains(of("m16n8k32.row.col.f32.e2m1.e4m3.f32", "sm_120a"), ".kind::f8f6f4 is missing"));
  EXPECT_TRUE(contains(verdict("mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32 "
                               "{%f0..%f3}, {%r0,%r1}, {%r2}, {%f0..%f3};"),
                       "no such shape"));
  const std::vector<std::string> file = answers_to({".target sm_75", changed("bf16", "bf16")});
  EXPECT_EQ(file.at(1).substr(0, 42), "unmodelled\ttarget 'sm_75' is not modelled");
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
  EXPECT_EQ(answers_to({R"(asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 ")",
                        R"("{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};\n")",
                        R"(: "=d"(d[0]));)"}),
            std::vector<std::string>{"legal\tif {%0, %1, %2, %3} is .f32 or .b32, {%4, %5} is "
                                     ".b32, {%6} is .b32, {%7, %8, %9, %10} is .f32 or .b32"});
  // Nothing else there: what it is is said.
  const std::vector<std::string> other = answers_to({R"(asm("mov.u32 %0, %%laneid;" : "=r"(x));)"});
  ASSERT_EQ(other.size(), 1u);
  EXPECT_TRUE(contains(other[0], "unmodelled\topcode 'mov'"));
  // PTX that is no C++ has an answer for each.
  EXPECT_EQ(answers_to({".reg .pred p;", "wgmma.fence.sync.aligned;"}).size(), 2u);
}

}  // namespace
}  // namespace tcq::oracle
