// Laws of `check`: one PTX statement per line -> legal, illegal or unmodelled, with the Fault's
// name. That ptxas says the same is tests/silicon/ptxas_test.cc.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "oracle/ptx/check_stream.h"
#include "oracle/ptx/mnemonic.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/ptx_operands.h"
#include "sim/isa/wgmma/syntax.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

std::string verdict(const std::string& line, const std::string& arch = "") {
  Question question{"check", {}, {}};
  question.options.arch = arch;
  const Answer reply = answer_line(question, line);
  EXPECT_EQ(reply.complaint, "") << line;
  return reply.text;
}

void expect_legal(const std::string& line) { EXPECT_EQ(verdict(line), "legal") << line; }

// The answer names the Fault and says its sentence; behind that, `specifics`.
void expect_illegal(const std::string& line, Fault fault, const std::string& specifics = "") {
  const FaultInfo about = info(fault);
  const std::string found = verdict(line);
  EXPECT_TRUE(found.starts_with(fmt::format("illegal\t{}: {}", about.name, about.sentence)))
      << line << "\n"
      << found;
  EXPECT_TRUE(found.ends_with(specifics)) << line << "\n" << found;
}

void expect_unmodelled(const std::string& line) {
  EXPECT_TRUE(verdict(line).starts_with("unmodelled\t")) << line << "\n" << verdict(line);
}

const std::string kF16 = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 ";
const std::string kS8 = "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 ";
const std::string kSp = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 ";
const std::string kB1 = "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1";
const std::string kD = "{%f0..%f3}, ";
const std::string kR = "{%r0..%r3}, ";

TEST(Check, StatementsOfTheManualsShapeAreLegal) {
  expect_legal(kF16 + kD + "%rd1, %rd2, 1, 1, 1, 0, 0;");
  expect_legal(kF16 + "{%f0, %f1, %f2, %f3}, %rd1, %rd2, %p1, -1, 1, 1, 0");
  expect_legal("  @%p2 " + kF16 + kD + "%rd1, %rd2, !%p1, 1, 1, 0, 0 ;  // k block 3");
  expect_legal("@!%p2 " + kF16 + kD + "{%r0..%r3}, %rd2, 0, 1, 1, 0;");
  expect_legal(kF16 + "{%f0..%f1, %f7, %f9}, 0x4000004000010040, %rd2, 0x1, 1, 1, 0, 0;");
  expect_legal(kF16 + "{a,b,c,d}, da, db, p, 1, 1, 0, 0; /* named registers */");
  expect_legal(kS8 + kR + "%rd1, %rd2, 1;");
  expect_legal(kSp + kD + "%rd1, %rd2, %r9, 1, %p0, 1, 1, 0, 0;");
  expect_legal(kB1 + ".and.popc " + kR + "%rd1, %rd2, 1;");
  expect_legal(
      "wgmma.mma_async.sync.aligned.m64n256k16.f16.f16.f16 {%r0..%r63}, %rd1, %rd2, 1, 1, 1, "
      "0, 0;");
  expect_legal("wgmma.fence.sync.aligned;");
  expect_legal("wgmma.commit_group.sync.aligned;");
  expect_legal("wgmma.wait_group.sync.aligned 1000;");
}

// Every form with every legal combination of immediates.
TEST(Check, EveryFormIsLegalWithItsOwnOperands) {
  int statements = 0;
  for (wgmma::Form form : all_forms()) {
    for (const auto place : {wgmma::Place::Smem, wgmma::Place::Registers}) {
      form.a_place = place;
      std::string text = wgmma::opcode(form).chars;
      std::string separator = " ";
      for (int i = 0; i < wgmma::operand_count; ++i) {
        const auto operand = static_cast<wgmma::Operand>(i);
        if (!has_operand(form, operand)) continue;
        const std::string prefix = form.d == Type::f32 ? "%f" : "%r";
        const int count = wgmma::accumulator_registers(form.d, form.n);
        switch (operand) {
          case wgmma::Operand::D:
            text += separator + "{" + prefix + "0.." + prefix + std::to_string(count - 1) + "}";
            break;
          case wgmma::Operand::ARegisters: text += ", {%r0..%r3}"; break;
          case wgmma::Operand::ADesc:
          case wgmma::Operand::BDesc: text += ", %rd1"; break;
          case wgmma::Operand::SpMeta: text += ", %r7"; break;
          case wgmma::Operand::SpSelector: text += ", 0"; break;
          default: text += ", 1";
        }
      }
      expect_legal(text + ";");
      ++statements;
    }
  }
  EXPECT_EQ(statements, 1860);
}

TEST(Check, RegisterCountsSayWhatIsExpected) {
  expect_illegal(kF16 + "{%f0..%f2}, %rd1, %rd2, 1, 1, 1, 0, 0;", Fault::RegisterCountD,
                 "; got 3, expected 4");
  expect_illegal(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%f0..%f31}, %rd1, %rd2, 1, 1, "
      "1, 0, 0;",
      Fault::RegisterCountD);
  expect_illegal(kF16 + kD + "{%r0..%r2}, %rd2, 1, 1, 1, 0;", Fault::RegisterCountA);
  expect_illegal(kF16 + "{%f0..%f4294967295}, %rd1, %rd2, 1, 1, 1, 0, 0;", Fault::RegisterCountD);
}

TEST(Check, ShapesAndTypes) {
  const std::string rest = " " + kD + "%rd1, %rd2, 1, 1, 1, 0, 0;";
  const std::string head = "wgmma.mma_async.sync.aligned.";
  expect_illegal(head + "m128n8k16.f32.f16.f16" + rest, Fault::ShapeM64);
  expect_illegal(head + "m64n12k16.f32.f16.f16" + rest, Fault::ShapeN8);
  expect_illegal(head + "m64n264k16.f32.f16.f16" + rest, Fault::ShapeN8);
  expect_illegal(head + "m64n40k32.s32.s8.s8" + rest, Fault::ShapeN16);
  expect_illegal(head + "m64n8k32.f32.f16.f16" + rest, Fault::ShapeK, "; got 32, expected 16");
  expect_illegal(head + "m64n8k16.f32.f16.bf16" + rest, Fault::TypesDoNotExist);
  expect_illegal(head + "m64n8k16.f16.bf16.bf16" + rest, Fault::TypesDoNotExist);
  expect_illegal(head + "m64n8k64.s32.s4.s4" + rest, Fault::QualifierUnknown);
  expect_illegal(head + "m64n08k16.f32.f16.f16" + rest, Fault::QualifierUnknown);
  expect_illegal(head + "m64n99999999999k16.f32.f16.f16" + rest, Fault::QualifierUnknown);
  expect_illegal(head + "f32.f16.f16" + rest, Fault::QualifierMissing);
  expect_illegal(head + "m64n8k16.f32.f16" + rest, Fault::QualifierMissing);
  expect_illegal("wgmma.mma_async.sp.sync.aligned.m64n8k512.s32.b1.b1.and.popc" + rest,
                 Fault::SparseB1);
}

TEST(Check, Qualifiers) {
  const std::string rest = " " + kD + "%rd1, %rd2, 1, 1, 1, 0, 0;";
  expect_illegal("wgmma.mma_async.aligned.m64n8k16.f32.f16.f16" + rest, Fault::SyncMissing);
  expect_illegal("wgmma.mma_async.sync.m64n8k16.f32.f16.f16" + rest, Fault::AlignedMissing);
  expect_illegal("wgmma.mma_async.aligned.sync.m64n8k16.f32.f16.f16" + rest, Fault::QualifierOrder);
  expect_illegal("wgmma.mma_async.sync.aligned.f32.f16.f16.m64n8k16" + rest, Fault::QualifierOrder);
  expect_illegal("wgmma.mma_async.sync.sync.aligned.m64n8k16.f32.f16.f16" + rest,
                 Fault::QualifierOrder);
  expect_illegal("wgmma.mma_async.sync.aligned.m64n8k16.row.col.f32.f16.f16" + rest,
                 Fault::QualifierUnknown);
  expect_illegal("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.satfinite" + rest,
                 Fault::SatfiniteNeedsInt8);
  for (const char* opcode : {"m64n8k32.satfinite.s32.s8.u8", "m64n8k32.s32.s8.u8.satfinite"})
    expect_legal("wgmma.mma_async.sync.aligned." + std::string(opcode) + " " + kR +
                 "%rd1, %rd2, 1;");
  expect_illegal("wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.u8.satfinite " + kR +
                     "%rd1, %rd2, 1;",
                 Fault::QualifierOrder);
  expect_illegal(kB1 + " " + kR + "%rd1, %rd2, 1;", Fault::B1OperationMissing);
  expect_illegal(kB1 + ".and " + kR + "%rd1, %rd2, 1;", Fault::B1OperationMissing);
  expect_illegal(kB1 + ".popc.and " + kR + "%rd1, %rd2, 1;", Fault::QualifierOrder);
  expect_illegal(kB1 + ".xor.popc " + kR + "%rd1, %rd2, 1;", Fault::QualifierUnknown);
  expect_illegal(
      "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8.and.popc " + kR + "%rd1, %rd2, 1;",
      Fault::QualifierUnknown);
}

TEST(Check, OperandsAndImmediates) {
  expect_illegal(kF16 + kD + "%rd1, %rd2, 1, 1, 1, 0;", Fault::OperandCount,
                 "; got 7, expected 8: d, a-desc, b-desc, scale-d, imm-scale-a, imm-scale-b, "
                 "imm-trans-a, imm-trans-b");
  expect_illegal(kF16 + kD + "{%r0..%r3}, %rd2, 1, 1, 1, 0, 0;", Fault::OperandCount);
  expect_illegal(kS8 + kR + "%rd1, %rd2, 1, 1, 1;", Fault::OperandCount);
  expect_illegal(kSp + kD + "%rd1, %rd2, 1, 1, 1, 0, 0;", Fault::OperandCount);
  expect_illegal(kF16 + kD + "%r1, %rd2, 1, 1, 1, 0, 0;", Fault::OperandKind);
  expect_illegal(kF16 + kD + "%rd1, {%r0..%r3}, 1, 1, 1, 0, 0;", Fault::OperandKind);
  expect_illegal(kF16 + "%f0, %rd1, %rd2, 1, 1, 1, 0, 0;", Fault::OperandKind);
  expect_illegal(kS8 + "{%f0..%f3}, %rd1, %rd2, 1;", Fault::OperandKind);
  expect_illegal(kF16 + kD + "{%f0..%f3}, %rd2, 1, 1, 1, 0;", Fault::OperandKind);
  expect_illegal("@%r1 " + kF16 + kD + "%rd1, %rd2, 1, 1, 1, 0, 0;", Fault::OperandKind);
  expect_illegal(kF16 + kD + "%rd1, %rd2, %r1, 1, 1, 0, 0;", Fault::ImmediateScaleD);
  expect_illegal(kF16 + kD + "%rd1, %rd2, 2, 1, 1, 0, 0;", Fault::ImmediateScaleD);
  expect_illegal(kF16 + kD + "%rd1, %rd2, 1, 0, 1, 0, 0;", Fault::ImmediateScale);
  expect_illegal(kF16 + kD + "%rd1, %rd2, 1, 0xffffffff, 1, 0, 0;", Fault::ImmediateScale);
  expect_illegal(kF16 + kD + "%rd1, %rd2, 1, 1, 1, 2, 0;", Fault::ImmediateTranspose);
  expect_illegal(kF16 + kD + "%rd1, %rd2, 1, 1, 1, 0, %p1;", Fault::OperandKind);
  expect_illegal(kSp + kD + "%rd1, %rd2, %r9, 2, 1, 1, 1, 0, 0;", Fault::SelectorOutOfRange);
  expect_illegal(kSp + kD + "%rd1, %rd2, 7, 0, 1, 1, 1, 0, 0;", Fault::OperandKind);
  expect_illegal("wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3 " + kD +
                     "%rd1, %rd2, %r9, 1, 1, 1, 1;",
                 Fault::SelectorOutOfRange);
}

TEST(Check, GroupsAndFences) {
  expect_illegal("wgmma.fence.aligned;", Fault::SyncMissing);
  expect_illegal("wgmma.fence.sync;", Fault::AlignedMissing);
  expect_illegal("wgmma.fence.aligned.sync;", Fault::QualifierOrder);
  expect_illegal("wgmma.fence.sync.aligned 0;", Fault::OperandCount);
  expect_illegal("wgmma.commit_group.sync.aligned.satfinite;", Fault::QualifierUnknown);
  expect_illegal("wgmma.wait_group.sync.aligned;", Fault::OperandCount);
  expect_illegal("wgmma.wait_group.sync.aligned -1;", Fault::ImmediateWaitGroup);
  expect_illegal("wgmma.wait_group.sync.aligned %r0;", Fault::ImmediateWaitGroup);
  expect_illegal("wgmma.wait.sync.aligned 0;", Fault::InstructionUnknown);
  expect_illegal("wgmma;", Fault::InstructionUnknown);
}

TEST(Check, OtherOpcodesAreUnmodelledNotIllegal) {
  for (const char* line :
       {"add.s32 %r0, %r1, %r2;",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c, e, 0;", "", ";",
        "// wgmma", ".reg .b32 %r<8>;", "ret;", "loop: wgmma_like.x;", "}", "{"})
    expect_unmodelled(line);
  expect_unmodelled(kF16 + kD + "%rd1+16, %rd2, 1, 1, 1, 0, 0;");
  expect_unmodelled(kF16 + kD + "%rd1, %rd2, 1, 1, 1, (1), 0;");
}

TEST(Check, TheTargetDecides) {
  const std::string line = "wgmma.fence.sync.aligned;";
  EXPECT_EQ(verdict(line, "h100"), "legal");
  EXPECT_EQ(verdict(line, "sm_90a"), "legal");
  for (const char* arch : {"sm_90", "b200", "sm_100a", "sm_120a"})
    EXPECT_TRUE(verdict(line, arch).starts_with("illegal\tTargetLacksWgmma: ")) << arch;
  EXPECT_TRUE(verdict("add.s32 %r0, %r1, %r2;", "sm_90").starts_with("unmodelled\t"));
}

TEST(Check, MalformedStatementsHaveASentence) {
  for (const std::string& line :
       {kF16 + "{%f0,%f1,%f2,%f3, %rd1, %rd2, 1, 1, 1, 0, 0;", kF16 + "{%f0..%f3}}, %rd1;",
        kF16 + "{{%f0}}, %rd1;", kF16 + "{}, %rd1, %rd2, 1, 1, 1, 0, 0;",
        kF16 + "{%f3..%f0}, %rd1, %rd2, 1, 1, 1, 0, 0;", kF16 + "{%f0..%r3}, %rd1;",
        kF16 + kD + "%rd1,, %rd2;", kF16 + kD + ";" + kF16,
        std::string("@ wgmma.fence.sync.aligned;")})
    expect_illegal(line, Fault::StatementMalformed);
}

TEST(Check, LongLinesAreAnsweredInLinearTime) {
  const std::size_t length = 10 * 1000 * 1000;
  EXPECT_TRUE(verdict(std::string(length, 'x')).starts_with("unmodelled\t"));
  std::string vector = kF16 + "{%f0";
  while (vector.size() < length) vector += ",%f1";
  expect_illegal(vector + "}, %rd1, %rd2, 1, 1, 1, 0, 0;", Fault::RegisterCountD);
  std::string qualifiers = "wgmma.mma_async";
  while (qualifiers.size() < length) qualifiers += ".sync";
  EXPECT_TRUE(verdict(qualifiers).starts_with("illegal\t"));
  EXPECT_LT(verdict(kF16 + std::string(length, '%') + ";").size(), 400u);
}

TEST(Check, JsonNamesTheFault) {
  Question question{"check", {}, styled(Style::Json)};
  EXPECT_EQ(answer_line(question, "wgmma.fence.sync.aligned;").text, R"({"verdict":"legal"})");
  EXPECT_NE(answer_line(question, "wgmma.fence.aligned;")
                .text.find(R"({"verdict":"illegal","fault":"SyncMissing","reason":")"),
            std::string::npos);
}

TEST(Check, StatusIsTheVerdict) {
  const Question question{"check", {}, {}};
  EXPECT_EQ(answer_line(question, "wgmma.fence.sync.aligned;").status, Status::Yes);
  EXPECT_EQ(answer_line(question, "wgmma.fence;").status, Status::No);
  EXPECT_EQ(answer_line(question, "ret;").status, Status::Unmodelled);
}

// ---- Streams ------------------------------------------------------------------------------------

struct Stream {
  std::vector<std::string> answers;
  Status status;
};

Stream stream(const std::vector<std::string>& lines, const std::string& arch = "",
              Style style = Style::Text) {
  Question question{"check", {}, styled(style)};
  question.options.arch = arch;
  Stream result;
  CheckStream check(question, [&](const Answer& a) { result.answers.push_back(a.text); });
  for (const std::string& line : lines) check.add_line(line);
  check.end();
  result.status = check.status();
  return result;
}

using Answers = std::vector<std::string>;

// Wherever a statement may be broken, it is the same statement.
TEST(CheckStream, AStatementMayStandOnAnyLines) {
  const std::vector<std::string> words = {"@",
                                          "!",
                                          "%p1",
                                          "wgmma.mma_async",
                                          ".sync.aligned",
                                          ".m64n8k16.f32",
                                          ".f16.f16",
                                          "{",
                                          "%f0",
                                          ",",
                                          "%f1",
                                          ",",
                                          "%f2",
                                          ",%f3",
                                          "}",
                                          ",",
                                          "%rd1,",
                                          "%rd2",
                                          ", 1",
                                          ", -",
                                          "1, 1",
                                          ",",
                                          "0, 0",
                                          ";"};
  for (std::size_t first = 0; first < words.size(); ++first) {
    for (std::size_t second = first; second < words.size(); ++second) {
      std::vector<std::string> lines(1);
      for (std::size_t i = 0; i < words.size(); ++i) {
        lines.back() += words[i] + " ";
        if (i == first) lines.insert(lines.end(), {"// ; {", ""});
        if (i == second) lines.push_back("/* } */");
      }
      EXPECT_EQ(stream(lines).answers, Answers{"legal"}) << first << " " << second;
      EXPECT_EQ(stream(lines).status, Status::Yes);
    }
  }
}

// Blanks may precede a qualifier, but not divide the name of an instruction.
TEST(Check, BlanksInsideAnOpcode) {
  expect_legal("wgmma.mma_async .sp.sync .aligned.m64n8k32.f32 .f16.f16 " + kD +
               "%rd1, %rd2, %r9, 1, %p0, 1, 1, 0, 0;");
  expect_legal("tcgen05.mma.ws .cta_group::1 .kind::f16 [%r0], %rd1, %rd2, %r3, %p1;");
  expect_legal("tcgen05.mma .sp.cta_group::1.kind::f16 [%r0], %rd1, %rd2, [%r5], %r3, %p1;");
  expect_legal("@ ! %p2 wgmma.fence .sync\t.aligned ;");
  for (const char* line :
       {"wgmma .fence.sync.aligned;", "tcgen05 .wait::ld.sync.aligned;",
        "tcgen05.mma .ws.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r3, %p1;",
        "tcgen05.ld .red.sync.aligned.32x32b.x2.min.f32 {%f0, %f1}, %f2, [%r1];"})
    expect_illegal(line, Fault::InstructionUnknown);
  expect_illegal("wgmma.fence. sync.aligned;", Fault::StatementMalformed);
}

TEST(CheckStream, StatementsMayShareALine) {
  EXPECT_EQ(stream({"wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned;",
                    "{ wgmma.fence.sync.aligned; } L: wgmma.fence.sync.aligned;"})
                .answers,
            (Answers{"legal", "legal", "legal", "legal"}));
}

// Without semicolons a line that begins a statement ends the one before.
TEST(CheckStream, OneStatementPerLineNeedsNoSemicolon) {
  const Stream found =
      stream({"wgmma.fence.sync.aligned", "@%p0 wgmma.fence.sync.aligned",
              kF16 + kD + "%rd1, %rd2, 1, 1, 1, 0, 0", "wgmma.fence.aligned",
              "L: wgmma.commit_group.sync.aligned", "ret", "wgmma.wait_group.sync.aligned 0"});
  ASSERT_EQ(found.answers.size(), 7u);
  for (const std::size_t legal : {0u, 1u, 2u, 4u, 6u}) EXPECT_EQ(found.answers[legal], "legal");
  EXPECT_EQ(found.answers[3], "illegal\tSyncMissing: .sync is mandatory");
  EXPECT_EQ(found.status, Status::No);
}

// A line is named where answers and lines do not go together.
TEST(CheckStream, TheLineIsNamedWhereItIsNeeded) {
  EXPECT_EQ(stream({"wgmma.fence.sync.aligned;", "wgmma.fence.aligned;"}).answers[1],
            "illegal\tSyncMissing: .sync is mandatory");
  EXPECT_EQ(stream({"wgmma.fence.sync.aligned;", "", "wgmma.fence", ".aligned;"}).answers[1],
            "illegal\tSyncMissing: .sync is mandatory; line 3");
  EXPECT_EQ(stream({"", "wgmma.fence.sync.aligned;"}, "", Style::Json).answers[0],
            R"({"verdict":"legal","line":2})");
}

// A build that fails on 1 fails on what is illegal, whatever else is there.
TEST(CheckStream, IllegalWinsOverUnmodelledWhichWinsOverLegal) {
  const std::string legal = "wgmma.fence.sync.aligned;";
  const std::string illegal = "wgmma.fence;";
  EXPECT_EQ(stream({legal}).status, Status::Yes);
  EXPECT_EQ(stream({legal, "ret;"}).status, Status::Unmodelled);
  EXPECT_EQ(stream({"ret;", illegal, "ret;", legal}).status, Status::No);
  EXPECT_EQ(stream({illegal, "add.s32 %r0, %r1, %r2;"}).status, Status::No);
}

TEST(CheckStream, AStreamWithoutAStatementIsNotLegal) {
  for (const std::vector<std::string>& lines :
       std::vector<std::vector<std::string>>{{},
                                             {""},
                                             {"// wgmma.fence.sync.aligned;"},
                                             {"/*", "wgmma.fence.sync.aligned;", "*/"},
                                             {"{", "L:", "}"}}) {
    EXPECT_EQ(stream(lines).answers, Answers{"unmodelled\tthere is no statement"});
    EXPECT_EQ(stream(lines).status, Status::Unmodelled);
  }
}

TEST(CheckStream, WhatIsNoStatementOfTheseFamiliesIsUnmodelledByName) {
  const Stream found = stream({".version 9.0", ".target sm_90a", ".visible .entry f(.param .u64 x)",
                               "{", ".reg .b32 %r<8>;", "ret;", "}"});
  ASSERT_EQ(found.answers.size(), 5u);
  for (const std::string& answer : found.answers)
    EXPECT_TRUE(answer.starts_with("unmodelled\t")) << answer;
  EXPECT_NE(found.answers[0].find("'.version'"), std::string::npos) << found.answers[0];
  EXPECT_NE(found.answers[4].find("'ret'"), std::string::npos) << found.answers[4];
}

// Names are what the text declares, in the block of the statement.
TEST(CheckStream, RegistersAreWhatIsDeclared) {
  const auto last = [](const std::string& declaration, const std::string& statement) {
    return stream({declaration, statement}).answers.back();
  };
  const std::string named = kF16 + "{d0,d1,d2,d3}, %rd1, %rd2, 1, 1, 1, 0, 0;";
  EXPECT_EQ(last(".reg .f32 d<4>;", named), "legal");
  EXPECT_EQ(last(".reg .b32 d0, d1, d2, d3;", named), "legal");
  EXPECT_TRUE(last(".reg .f64 d<4>;", named).starts_with("illegal\tOperandKind"));
  EXPECT_TRUE(last(".reg .s32 d<4>;", named).starts_with("illegal\tOperandKind"));
  EXPECT_EQ(last(".reg .f64 d<3>;", kF16 + "{d3,d4,d5,d6}, %rd1, %rd2, 1, 1, 1, 0, 0;"), "legal");
  EXPECT_EQ(last(".reg .b32 %f<4>;", kF16 + kD + "{%f0..%f3}, %rd2, 1, 1, 1, 0;"), "legal");
  EXPECT_TRUE(last("{ .reg .f64 %f<4>; ", kF16 + kD + "%rd1, %rd2, 1, 1, 1, 0, 0; }")
                  .starts_with("illegal\tOperandKind"));
  EXPECT_EQ(last("{ .reg .f64 %f<4>; }", kF16 + kD + "%rd1, %rd2, 1, 1, 1, 0, 0;"), "legal");
}

TEST(CheckStream, TheTextsTargetIsTaken) {
  const std::string fence = "wgmma.fence.sync.aligned;";
  const auto last = [&](const std::string& target, const std::string& arch = "") {
    return stream({".target " + target, fence}, arch).answers.back();
  };
  EXPECT_EQ(last("sm_90a"), "legal");
  EXPECT_EQ(last("sm_90a, debug"), "legal");
  EXPECT_TRUE(last("sm_90").starts_with("illegal\tTargetLacksWgmma"));
  EXPECT_EQ(last("sm_90", "sm_90a"), "legal") << "--arch is asked";
  EXPECT_TRUE(last("sm_80").starts_with("unmodelled\ttarget 'sm_80'"));
}

// A reader that waits for its answer gets it before the semicolon, which changes nothing.
TEST(CheckStream, APauseAnswersWhatIsLegalAsItStands) {
  Answers answers;
  CheckStream check({"check", {}, {}}, [&](const Answer& a) { answers.push_back(a.text); });
  check.add_line("wgmma.fence.sync.aligned");
  check.pause();
  EXPECT_EQ(answers, Answers{"legal"});
  check.add_line(";");
  check.add_line(kF16 + "{%f0, %f1,");
  check.pause();
  EXPECT_EQ(answers.size(), 1u);
  check.add_line("%f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0");
  check.pause();
  check.end();
  EXPECT_EQ(answers, (Answers{"legal", "legal"}));
  EXPECT_EQ(check.status(), Status::Yes);
}

// 64 bits that wrap, as ptxas reads them.
TEST(Check, ImmediatesHave64Bits) {
  expect_legal(kF16 + kD + "%rd1, %rd2, 1, 18446744073709551615, -1, 0, 0;");
  expect_legal("wgmma.wait_group.sync.aligned 9223372036854775807;");
  for (const char* count : {"9223372036854775808", "18446744073709551615", "0xffffffffffffffff",
                            "99999999999999999999999"})
    expect_illegal("wgmma.wait_group.sync.aligned " + std::string(count) + ";",
                   Fault::ImmediateWaitGroup);
  expect_illegal(kF16 + kD + "%rd1, %rd2, 1, 4294967295, 1, 0, 0;", Fault::ImmediateScale);
  // ptxas computes it; nothing here does.
  for (const char* count : {"7+1", "(8)", "1 << 2", "8-1", "~0"})
    expect_unmodelled("wgmma.wait_group.sync.aligned " + std::string(count) + ";");
}

// ptxas 13.0.88: `_` is a syntax error, "Special register argument not allowed".
TEST(Check, SinksAndSpecialRegistersAreNoOperands) {
  for (const char* none : {"_", "%laneid", "%clock64"}) {
    const std::string name = none;
    expect_illegal(kF16 + kD + "%rd1, " + name + ", %p1, 1, 1, 0, 0;", Fault::OperandKind);
    expect_illegal(kF16 + kD + "%rd1, %rd2, " + name + ", 1, 1, 0, 0;", Fault::ImmediateScaleD);
    expect_illegal("tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r1, " + name + ";",
                   Fault::OperandKind);
    expect_illegal("tcgen05.mma.cta_group::1.kind::f16 [%r0], " + name + ", %rd2, %r1, %p1;",
                   Fault::OperandKind);
    expect_illegal("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [" + name + "];",
                   Fault::OperandKind);
    expect_illegal("@" + name + " wgmma.fence.sync.aligned;", Fault::OperandKind);
  }
  expect_illegal(kF16 + "{%laneid,%f1,%f2,%f3}, %rd1, %rd2, 1, 1, 1, 0, 0;", Fault::OperandKind);
}

TEST(Check, ASinkIsNoAccumulator) {
  expect_illegal(kF16 + "{%f0, %f1, %f2, _}, %rd1, %rd2, 1, 1, 1, 0, 0;", Fault::OperandKind);
  expect_illegal(kF16 + kD + "{%r0, _, %r2, %r3}, %rd2, 1, 1, 1, 0;", Fault::OperandKind);
}

// As it stands in C++: quotes, escapes, pieces of a statement, operands behind the colon.
TEST(CheckStream, InlineAssemblyIsReadAsThePtxThatItQuotes) {
  const auto answers_to = [](std::initializer_list<const char*> lines) {
    Answers answers;
    CheckStream check({"check", {}, {}}, [&](const Answer& a) { answers.push_back(a.text); });
    for (const char* line : lines) check.add_line(line);
    check.end();
    return answers;
  };
  EXPECT_EQ(answers_to({R"(asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");)",
                        "wgmma.commit_group.sync.aligned;"}),
            (Answers{"legal", "legal"}));
  EXPECT_EQ(answers_to({R"(  asm volatile()", R"("{\n")",
                        R"("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 ")",
                        R"("{%0, %1, %2, %3}, %4, %5, 1, 1, -1, 0, 0;\n")", R"("}\n")",
                        R"(  : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]))",
                        R"(  : "l"(a), "l"(b)); // n: 8)"}),
            Answers{"legal"});
  EXPECT_EQ(answers_to({R"("wgmma.fence.sync.aligned;\n\twgmma.commit_group.sync.aligned;\n")"}),
            (Answers{"legal", "legal"}));
  // What is quoted behind the colon is no PTX, and an asm may follow another on its line.
  EXPECT_EQ(answers_to({R"(asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");)",
                        R"(asm volatile("{ wgmma.commit_group.sync.aligned; }\n");)"}),
            (Answers{"legal", "legal"}));
  EXPECT_EQ(answers_to({R"(asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); )"
                        R"(asm("wgmma.commit_group.sync.aligned;" :::); // "x;")"}),
            (Answers{"legal", "legal"}));
  EXPECT_EQ(answers_to({R"(asm("mov.u32 %0, %%laneid;" : "=r"(x));)"}).size(), 1u);
  const Answers counts =
      answers_to({R"(asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(1));)"});
  EXPECT_EQ(counts.at(0), "legal\tif %0 is 0 or more");
  const Answers scales = answers_to(
      {R"("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, %6, %7, 0, 0;")"});
  EXPECT_EQ(scales.at(0), "legal\tif %6 is immediate 1 or -1, %7 is immediate 1 or -1");
}

}  // namespace
}  // namespace tcq::oracle
