// Laws of reading: what is printed reads back, errors stand where they are, and no text is too damaged.
#include "sim/ptx/reader.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "sim/ptx/printer.h"
#include "tests/ptx/ptx_kit.h"

namespace tcq::ptx {
namespace {

// The first operand of "mov.b32 x, TEXT;".
std::string operand(const std::string& text) {
  const std::string body = kernel("mov.b32 x, " + text + ";");
  const Unit unit = read(body);
  if (!unit.diagnostics.empty()) return sentence(unit.diagnostics[0]);
  const Range items = unit.statements.at(0).items;
  return print(unit, unit.operands[items.first + 1]);
}

std::string first_error(const std::string& text) {
  const Unit unit = read(text);
  return unit.diagnostics.empty() ? "" : sentence(unit.diagnostics[0]);
}

TEST(PtxReader, WhatIsPrintedReadsBack) {
  for (const std::string& name : data_files) {
    const std::string text = text_of_file(name);
    const Unit unit = read(text);
    EXPECT_EQ(complaints(unit.diagnostics), "") << name;
    const std::string printed = print(unit);
    const Unit again = read(printed);
    EXPECT_EQ(complaints(again.diagnostics), "") << name;
    EXPECT_EQ(print(again), printed) << name;
    EXPECT_EQ(again.statements.size(), unit.statements.size()) << name;
    EXPECT_EQ(again.operands.size(), unit.operands.size()) << name;
  }
}

TEST(PtxReader, ConstantsHaveOneValueInEveryForm) {
  EXPECT_EQ(operand("0x1F"), "31");
  EXPECT_EQ(operand("037"), "31");
  EXPECT_EQ(operand("0b11111"), "31");
  EXPECT_EQ(operand("31U"), "31U");
  EXPECT_EQ(operand("-31"), "-31");
  EXPECT_EQ(operand("18446744073709551615"), "18446744073709551615U");
  EXPECT_EQ(operand("0f3f800000"), "0f3F800000");
  EXPECT_EQ(operand("1.5"), "0d3FF8000000000000");
  EXPECT_EQ(operand("-1.5e0"), "0dBFF8000000000000");
  EXPECT_EQ(operand("25e-1"), "0d4004000000000000");
  EXPECT_EQ(operand("1."), "0d3FF0000000000000");
  EXPECT_EQ(operand("25.e-1"), "0d4004000000000000");
  EXPECT_EQ(operand("WARP_SZ"), "32");
}

TEST(PtxReader, ConstantExpressionsAreComputed) {
  EXPECT_EQ(operand("1 + 2 * 3"), "7");
  EXPECT_EQ(operand("(1 + 2) * 3"), "9");
  EXPECT_EQ(operand("10 - 4 - 3"), "3");
  EXPECT_EQ(operand("1 << 4 | 3"), "19");
  EXPECT_EQ(operand("~0 & 0xFF"), "255");
  EXPECT_EQ(operand("-8 >> 1"), "-4");
  EXPECT_EQ(operand("-7 / 2"), "-3");
  EXPECT_EQ(operand("7 % 4"), "3");
  EXPECT_EQ(operand("7 / -1"), "-7");
  EXPECT_EQ(operand("7 % -1"), "0");
  EXPECT_EQ(operand("3 < 4 ? 5 : 6"), "5");
  EXPECT_EQ(operand("1 == 1 && 0 != 1"), "1");
  EXPECT_EQ(operand("(.u64) -1 > 1"), "1");
  EXPECT_EQ(operand("-1 > 1"), "0");
  EXPECT_EQ(operand("1.0 + 0.5"), "0d3FF8000000000000");
  EXPECT_EQ(operand("1 / 0"), "line 6, column 14: a division by zero");
}

TEST(PtxReader, OperandsOfEveryForm) {
  for (const std::string form : {"%r1",
                                 "!%p1",
                                 "_",
                                 "%tid.x",
                                 "smem+16",
                                 "smem-4",
                                 "{%r1, 4, _}",
                                 "[%rd1]",
                                 "[%rd1+16]",
                                 "[%rd1-16]",
                                 "[smem+8]",
                                 "[64]",
                                 "[%rd1, {%r1, 8}]",
                                 "[%rd1, {%r1}, {%rs1, %rs2}]",
                                 "%r1|%p1",
                                 "_|%p1",
                                 "{%f0..%f63}",
                                 "-1",
                                 "-%r1.h0",
                                 "%r1.b3210"})
    EXPECT_EQ(operand(form), form);
  EXPECT_EQ(operand("[%rd1+-16]"), "[%rd1-16]");
  EXPECT_EQ(operand("[%rd1 + 4 + 8]"), "[%rd1+12]");
}

TEST(PtxReader, NumbersThatTouchWhatFollows) {
  EXPECT_EQ(operand("0x1e-3"), "27");
  EXPECT_EQ(operand("0f3F80000"),
            "line 6, column 12: expected a constant of at most 64 bits, got '0f3F80000'");
  EXPECT_EQ(
      operand("99999999999999999999"),
      "line 6, column 12: expected a constant of at most 64 bits, got '99999999999999999999'");
}

TEST(PtxReader, DeclarationsOfEveryKind) {
  const std::string text =
      ".version 8.7\n.target sm_90a, debug\n.address_size 64\n"
      ".extern .func (.param .b32 result) vprintf(.param .b64 a, .param .b64 b);\n"
      ".weak .func quiet()\n.noreturn\n;\n"
      ".extern .shared .align 1024 .b8 smem[];\n"
      ".global .align 4 .b8 text[4] = {112, 116, 120};\n"
      ".global .align 1 .b8 words[] = \"a;b//\\\"c\";\n"
      ".global .u64 table[2] = {f, generic(text)+4};\n"
      ".global .u8 low[2] = {0xFF(text), 0xFF00(text+1)};\n"
      ".const .align 4 .f32 half = 0f3F000000;\n"
      ".global .f32 grid[2][2] = {{1.0, 0f00000000}, {2, 3}};\n"
      ".visible .const .v2 .u32 pair;\n"
      ".visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 64 .b8 map[128])\n"
      ".maxntid 256, 1, 1\n.minnctapersm 1\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{\n"
      ".reg .b128 %q<2>; .reg .pred p, q;\n"
      "L: .branchtargets A, B;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .b64 _);\n"
      ".pragma \"nounroll\";\n"
      ".loc 1 20 3, function_name $L__info_string0, inlined_at 1 7 5\n"
      "A: B: ret;\n}\n";
  const Unit unit = read(text);
  EXPECT_EQ(complaints(unit.diagnostics), "");
  for (const Variable& variable : unit.variables)
    EXPECT_TRUE(unit.names.text(variable.name) != "grid" || variable.elements == 4);
  const std::string printed = print(unit);
  EXPECT_EQ(print(read(printed)), printed);
  for (const std::string part : {".target sm_90a, debug",
                                 ".extern .shared .align 1024 .b8 smem[];",
                                 "text[4] = {112, 116, 120};",
                                 "words[] = \"a;b//\\\"c\";",
                                 "table[2] = {f, generic(text)+4};",
                                 "low[2] = {255(text), 65280(text+1)};",
                                 "half = 0f3F000000;",
                                 "grid[2][2] = {{0d3FF0000000000000, 0f00000000}, {2, 3}};",
                                 ".const .v2 .u32 pair;",
                                 ".param .u64 .ptr .global .align 16 p",
                                 ".param .align 64 .b8 map[128]",
                                 ".maxntid 256, 1, 1",
                                 ".explicitcluster",
                                 ".reg .b128 %q<2>;",
                                 ".reg .pred p, q;",
                                 "L: .branchtargets A, B;",
                                 "proto: .callprototype (.param .b32 _) _ (.param .b64 _);",
                                 ".pragma \"nounroll\";",
                                 ".loc 1 20 3, function_name $L__info_string0, inlined_at 1 7 5",
                                 ".weak .func quiet()\n.noreturn"})
    EXPECT_NE(printed.find(part), std::string::npos) << part << "\n" << printed;
}

TEST(PtxReader, CommentsAndLinesEndAnywhere) {
  const std::string text = kernel("@/*a*/!%p1 // b\n bra\n.uni /* ; } */ L\n; L:");
  const Unit unit = read(text);
  EXPECT_EQ(complaints(unit.diagnostics), "");
  EXPECT_EQ(print(unit, unit.statements[0]), "@!%p1 bra.uni L;");
}

TEST(PtxReader, TheDataOfDebuggersIsPassedOver) {
  const std::string text =
      ".version 9.0\n.target sm_90a\n.section .debug_str\n{\n$L__info_string0:\n.b8 102, 111\n.b8 "
      "111\n.b8 0\n}\n"
      ".section .debug_info { .b32 12; .b64 L+4 .b8 1 }\n.entry k() { ret; }\n";
  const Unit unit = read(text);
  EXPECT_EQ(complaints(unit.diagnostics), "");
  ASSERT_EQ(unit.debug_strings.size(), 1U);
  EXPECT_EQ(unit.names.text(unit.debug_strings[0].text), "foo");
}

// --- errors ----------------------------------------------------------------------------------------

TEST(PtxReader, ErrorsNameTheirPlace) {
  EXPECT_EQ(first_error(kernel("  add.s32 %r1, %r2, ;")),
            "line 6, column 21: expected an operand, got ';'");
  EXPECT_EQ(first_error(kernel("  add.s32 %r1 %r2;")),
            "line 6, column 15: expected ';', got '%r2'");
  EXPECT_EQ(first_error(kernel("ld.b32 %r1, [%rd1;")), "line 6, column 18: expected ']', got ';'");
  EXPECT_EQ(first_error(kernel("mov.b64 %rd1, {%r1, %r2;")),
            "line 6, column 24: expected ',' or '}', got ';'");
  EXPECT_EQ(first_error(kernel("@%p1;")), "line 6, column 5: expected an instruction, got ';'");
  EXPECT_EQ(first_error(kernel(".reg %r1;")),
            "line 6, column 6: expected a type such as .b32, got '%r1'");
  EXPECT_EQ(first_error(kernel(".frob 1;")), "line 6, column 1: expected a statement, got '.frob'");
  EXPECT_EQ(first_error(".version 9\n"),
            "line 1, column 10: expected a version such as 9.0, got '9'");
  EXPECT_EQ(first_error("ret;"),
            "line 1, column 1: expected a directive such as .entry, got 'ret'");
  EXPECT_EQ(first_error(".entry k() { ret;"),
            "line 1, column 18: expected '}', got the end of the text");
  EXPECT_EQ(first_error(kernel("ret; /* no end")),
            "line 6, column 6: expected an instruction, got a comment without an end");
  EXPECT_EQ(first_error(kernel("\x01\xff")),
            "line 6, column 1: expected an instruction, got '\\x01'");
}

TEST(PtxReader, ReadingGoesOnBehindAnError) {
  const std::string text =
      kernel("add.s32 %r1, ;\nmov.b32 %r1 %r2\nmov.b32 %r3, 4;\n{ sub.s32 ,; }\nret;");
  const Unit unit = read(text);
  EXPECT_EQ(complaints(unit.diagnostics),
            "line 6, column 14: expected an operand, got ';'\n"
            "line 7, column 13: expected ';', got '%r2'\n"
            "line 9, column 11: expected an operand, got ','\n");
  std::string kept;
  for (const Statement& statement : unit.statements) kept += print(unit, statement) + " ";
  EXPECT_EQ(kept, "  mov.b32 %r3, 4; {  } ret; ");  // the three keep their places
}

// A directive that is wrong declares nothing, and no instruction is lost with it.
TEST(PtxReader, WrongDirectivesOfAFunctionKeepNoPlace) {
  const std::string text = kernel(".reg .q32 %x;\n.loc 1 two 3\nret;");
  const Unit unit = read(text);
  EXPECT_EQ(unit.diagnostics.size(), 2U) << complaints(unit.diagnostics);
  ASSERT_EQ(unit.statements.size(), 1U);
  EXPECT_EQ(print(unit, unit.statements[0]), "ret;");
  EXPECT_FALSE(unit.is_cut);
}

// Behind a directive without its semicolon, on its line, an instruction may stand: it keeps its place.
TEST(PtxReader, AnInstructionBehindAWrongDirectiveKeepsItsPlace) {
  for (const char* line :
       {".reg .b32 %r<5> mov.b32 %r1, 2;", ".reg .q32 %x mov.b32 %r1, 2;", ".reg .q32 %x ret;",
        ".reg .b32 %x bra away;", ".shared .b32 x @%p1 mov.b32 %r1, 2;"}) {
    const std::string text = kernel(std::string(line) + "\nret;");
    const Unit unit = read(text);
    EXPECT_EQ(unit.diagnostics.size(), 1U) << line << complaints(unit.diagnostics);
    ASSERT_EQ(unit.statements.size(), 2U) << line;
    EXPECT_EQ(unit.statements[0].kind, StatementKind::Malformed) << line;
    EXPECT_EQ(print(unit, unit.statements[1]), "ret;");
  }
}

// The braces of a vector are none of a block.
TEST(PtxReader, AnErrorInAVectorEndsNoBlock) {
  const std::string text = kernel("mov.b64 %rd1, {%r1, , %r2};\nmov.b64 %rd2, {%r1, %r2 ;\nret;");
  const Unit unit = read(text);
  EXPECT_EQ(complaints(unit.diagnostics),
            "line 6, column 21: expected an operand, got ','\n"
            "line 7, column 25: expected ',' or '}', got ';'\n");
  ASSERT_EQ(unit.statements.size(), 3U);
  EXPECT_EQ(unit.statements[1].kind, StatementKind::Malformed);
  EXPECT_EQ(print(unit, unit.statements[2]), "ret;");
}

TEST(PtxReader, BehindAWrongDeclarationComesTheNext) {
  const std::string text =
      ".version 9.0\n.target sm_90a\n.entry a(.param .q32 x)\n{\nret;\nmov.b32 %r1, 2;\n}\n"
      ".global .u32 y;\n}\n.visible .entry b()\n{\nret;\n}\n";
  const Unit unit = read(text);
  EXPECT_EQ(complaints(unit.diagnostics),
            "line 3, column 17: expected a type such as .b32, got '.q32'\n"
            "line 9, column 1: expected a directive such as .entry, got '}'\n");
  ASSERT_EQ(unit.items.size(), 2U);
  EXPECT_EQ(unit.names.text(unit.functions.at(0).name), "b");
}

TEST(PtxReader, AStreamKeepsWhatItCannotUnderstand) {
  const std::string text = "add.s32 %r1 %r2;\nwgmma.fence.sync.aligned;\n{ bra {a; }\nret";
  const Unit unit = read(text, {.loose = true});
  EXPECT_EQ(unit.diagnostics.size(), 2U) << complaints(unit.diagnostics);
  std::string kinds;
  for (const Statement& s : unit.statements)
    kinds += s.kind == StatementKind::Malformed ? "[" + text.substr(s.at, s.end - s.at) + "] "
                                                : print(unit, s) + " ";
  EXPECT_EQ(kinds, "[add.s32 %r1 %r2] wgmma.fence.sync.aligned; { [bra {a] } ret; ");
}

TEST(PtxReader, AtMostAHundredErrorsAreTold) {
  std::string body;
  for (int i = 0; i < 1000; ++i) body += "add.s32 ,;\n";
  const std::string text = kernel(body);
  const Unit unit = read(text);
  EXPECT_EQ(unit.diagnostics.size(), most_diagnostics);
  EXPECT_TRUE(unit.diagnostics.back().message.ends_with("; the rest is not read"));
  EXPECT_TRUE(unit.is_cut);
}

// A text that ends early is told so, or is a shorter text.
TEST(PtxReader, EveryTextMayEndAnywhere) {
  const std::string text = text_of_file("mbarrier_sm90.ptx");
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::string part = text.substr(0, size);
    const Program program = load(part);
    const bool in_body = part.find('{') != part.npos && size + 2 < text.size();
    if (in_body) {
      EXPECT_TRUE(program.unit.is_cut) << size;
      EXPECT_FALSE(program.diagnostics.empty()) << size;
    }
    for (const Diagnostic& one : program.diagnostics) EXPECT_GE(one.message.size(), 10U);
  }
}

TEST(PtxReader, NestingIsBounded) {
  const auto repeated = [](const std::string& part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  };
  EXPECT_EQ(first_error(kernel(repeated("{", 256) + repeated("}", 256))), "");
  EXPECT_EQ(first_error(kernel(repeated("{", 257) + repeated("}", 257))),
            "line 6, column 257: blocks nested deeper than 256");
  EXPECT_NE(first_error(kernel("mov.b32 x, " + repeated("(", 100000) + ";"))
                .find("nested deeper than 64"),
            std::string::npos);
  EXPECT_NE(first_error(kernel("mov.b32 x, " + repeated("-", 100000) + "1;"))
                .find("nested deeper than 64"),
            std::string::npos);
  EXPECT_NE(first_error(".global .u32 x[] = " + repeated("{", 100000) + ";")
                .find("nested deeper than 16"),
            std::string::npos);
}

// Five megabytes of one thing, in seconds and not in hours.
TEST(PtxReader, HostileTextsTakeNoLonger) {
  const auto filled = [](const std::string& part) {
    std::string text;
    while (text.size() < 5'000'000) text += part;
    return text;
  };
  int label = 0;
  std::string ladder;  // every branch goes to the front
  for (; ladder.size() < 5'000'000; ++label)
    ladder += "L" + std::to_string(label) + ": @p bra L" + std::to_string(label / 2) + ";\n";
  for (const std::string& text :
       {kernel(filled("{")), kernel(filled("mov.b32 %r1, %r2;\n")), kernel(filled("/*")),
        filled("\""),
        kernel(".reg .b32 %r<4294967295>;" + filled("{ .reg .b32 %r<9>; add.s32 %r1, %r8, 1; }\n")),
        kernel(".reg .pred p;\n" + ladder), filled(".global .u32 x = {"), filled("a."),
        filled("}")}) {
    const auto begin = std::chrono::steady_clock::now();
    const Program program = load(text);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(taken.count(), 20) << text.substr(0, 120);  // of a loaded machine with sanitizers
  }
}

TEST(PtxReader, NamesMayBeLong) {
  const std::string name(5000, 'x');
  const std::string text =
      ".entry " + name + "() { .reg .b32 " + name + "_r; mov.b32 " + name + "_r, 1; }";
  const Program program = load(text);
  EXPECT_EQ(complaints(program.diagnostics), "");
  EXPECT_EQ(program.unit.names.text(program.functions[0].name), name);
}

TEST(PtxReader, StatementsOfAStreamEndWithTheirLine) {
  const std::string text = "wgmma.fence.sync.aligned\nmov.b32 %r1,\n%r2\n@p\nret; L: bra L";
  const Unit unit = read(text, {.loose = true});
  EXPECT_EQ(complaints(unit.diagnostics), "");
  std::string kept;
  for (const Statement& statement : unit.statements) kept += print(unit, statement) + " ";
  EXPECT_EQ(kept, "wgmma.fence.sync.aligned; mov.b32 %r1, %r2; @p ret; L: bra L; ");
}

}  // namespace
}  // namespace tcq::ptx
