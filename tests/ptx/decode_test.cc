// Laws of decoding: what names mean where they stand, what operands become, where ways meet again.
#include "sim/ptx/decode.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/ptx/loose.h"
#include "sim/ptx/post_dominators.h"
#include "tests/ptx/ptx_kit.h"

namespace tcq::ptx {
namespace {

// A text and its program, which looks into it.
struct Loaded {
  explicit Loaded(const std::string& body) : text(kernel(registers + body)), program(load(text)) {}
  const Instruction& at(std::size_t i) const { return program.instructions.at(i); }
  const Value& value(std::size_t i, std::size_t k) const {
    return program.values.at(at(i).values.first + k);
  }
  std::string_view register_name(const Value& v) const {
    const Register& r = program.registers.at(program.functions[0].registers.first + v.index);
    return program.unit.names.text(r.name);
  }
  std::string text;
  Program program;
};

std::string first_complaint(const std::string& body) {
  const Loaded loaded(body);
  return loaded.program.diagnostics.empty() ? "" : sentence(loaded.program.diagnostics[0]);
}

TEST(PtxDecode, EveryKernelOfOursIsUnderstood) {
  for (const std::string& name : data_files) {
    const std::string text = text_of_file(name);
    const Program program = load(text);
    EXPECT_EQ(complaints(program.diagnostics), "") << name;
    EXPECT_EQ(program.unknown, 0U) << name;
    EXPECT_GT(program.instructions.size(), 50U) << name;
  }
}

TEST(PtxDecode, OperandsHaveRolesTypesAndNumbers) {
  const Loaded p("@!%p1 mad.wide.s32 %rd1, %r2, -4, %rd3;\nld.global.v2.f32 {%f1, _}, [%rd1+16];");
  const Instruction& mad = p.at(0);
  EXPECT_EQ(mad.opcode, Opcode::Mad);
  EXPECT_TRUE(mad.guard_negated);
  EXPECT_EQ(p.program.registers[mad.guard].type, Type::Pred);
  EXPECT_EQ(p.value(0, 0).kind, ValueKind::Register);
  EXPECT_EQ(p.value(0, 0).access, Access::Write);
  EXPECT_EQ(p.value(0, 0).type, Type::S64);
  EXPECT_EQ(p.value(0, 1).access, Access::Read);
  EXPECT_EQ(p.value(0, 1).type, Type::S32);
  EXPECT_EQ(p.value(0, 2).kind, ValueKind::Immediate);
  EXPECT_EQ(p.value(0, 2).value, -4);
  EXPECT_EQ(p.value(0, 3).type, Type::S64);
  EXPECT_EQ(p.register_name(p.value(0, 0)), "%rd1");
  const Value& vector = p.value(1, 0);
  ASSERT_EQ(vector.kind, ValueKind::Vector);
  EXPECT_EQ(vector.value, 2);
  EXPECT_EQ(p.program.values[vector.index].access, Access::Write);
  EXPECT_EQ(p.program.values[vector.index].type, Type::F32);
  EXPECT_EQ(p.program.values[vector.index + 1].kind, ValueKind::Sink);
  EXPECT_EQ(p.value(1, 1).kind, ValueKind::AtRegister);
  EXPECT_EQ(p.value(1, 1).index, p.value(0, 0).index);
  EXPECT_EQ(p.value(1, 1).value, 16);
}

TEST(PtxDecode, ElementsOfAVectorRegisterAreRegisters) {
  const Loaded p(".reg .v2 .f32 mx;\nmov.f32 mx.y, mx.x;\nst.global.v2.f32 [%rd1], mx;");
  EXPECT_EQ(p.value(0, 0).index, p.value(0, 1).index + 1);
  EXPECT_EQ(p.value(0, 0).element, 0);
  ASSERT_EQ(p.value(1, 1).kind, ValueKind::Vector);
  EXPECT_EQ(p.value(1, 1).value, 2);
  const Value& last = p.program.values[p.value(1, 1).index + 1];
  EXPECT_EQ(last.index, p.value(0, 0).index);
  EXPECT_EQ(last.access, Access::Read);
  EXPECT_EQ(last.type, Type::F32);
  EXPECT_NE(first_complaint(".reg .v2 .f32 mx;\nmov.f32 mx.z, mx.x;"), "");
}

TEST(PtxDecode, AddressesPairsAndSpecialRegisters) {
  const Loaded p(
      "mov.u32 %r1, %ctaid.y;\nmov.u32 %r2, s;\nld.param.u32 %r3, [n];\nst.shared.b32 [s+4], %r1;\n"
      "ld.global.b32 %r4, [64];\nelect.sync %r1|%p1, -1;\nelect.sync _|%p1, %r1;\n"
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1, 8}], [%r2];");
  EXPECT_EQ(p.value(0, 1).kind, ValueKind::Special);
  EXPECT_EQ(p.value(0, 1).index, static_cast<Index>(Special::Ctaid));
  EXPECT_EQ(p.value(0, 1).element, 1);
  EXPECT_EQ(p.value(1, 1).kind, ValueKind::Variable);
  EXPECT_EQ(special_of("%envreg31")->number, 31);
  EXPECT_FALSE(special_of("%envreg32"));
  EXPECT_FALSE(special_of("%pm8"));
  EXPECT_EQ(p.value(2, 1).kind, ValueKind::AtVariable);
  EXPECT_EQ(p.program.unit.variables[p.value(2, 1).index].space, Space::Param);
  EXPECT_EQ(p.value(3, 0).value, 4);
  EXPECT_EQ(p.value(4, 1).kind, ValueKind::AtAddress);
  EXPECT_EQ(p.value(4, 1).value, 64);
  ASSERT_EQ(p.value(5, 0).kind, ValueKind::Pair);
  EXPECT_EQ(p.program.values[p.value(5, 0).index + 1].type, Type::Pred);
  EXPECT_EQ(p.program.values[p.value(5, 0).index + 1].access, Access::Write);
  EXPECT_EQ(p.program.values[p.value(6, 0).index].kind, ValueKind::Sink);
  const Value& tensor = p.value(7, 0);
  ASSERT_EQ(tensor.kind, ValueKind::AtTensor);
  EXPECT_EQ(tensor.value, 2);
  EXPECT_EQ(p.program.values[tensor.index].kind, ValueKind::AtRegister);
  ASSERT_EQ(p.program.values[tensor.index + 1].kind, ValueKind::Vector);
  EXPECT_EQ(p.program.values[p.program.values[tensor.index + 1].index + 1].value, 8);
}

TEST(PtxDecode, OptionalOperandsFindTheirPlaces) {
  const Loaded p(
      "mbarrier.arrive.shared::cta.b64 _, [%r1];\nmbarrier.arrive.shared::cta.b64 %rd1, [%r1], 2;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 [%r1], %r2;\nbar.red.popc.u32 %r1, 0, %p1;\n"
      "bar.red.popc.u32 %r1, 0, 64, %p1;\nsetp.eq.s32 %p1, %r1, 0;\n"
      "setp.eq.and.s32 %p1|%p2, %r1, 0, !%p3;");
  EXPECT_EQ(p.program.unknown, 0U) << complaints(p.program.diagnostics);
  EXPECT_EQ(p.value(0, 0).kind, ValueKind::Sink);
  EXPECT_EQ(p.value(0, 1).kind, ValueKind::AtRegister);
  EXPECT_EQ(p.value(2, 0).kind, ValueKind::AtRegister);
  EXPECT_EQ(p.value(3, 2).type, Type::Pred);
  EXPECT_EQ(p.value(4, 3).type, Type::Pred);
  EXPECT_TRUE(p.value(6, 3).negated);
}

TEST(PtxDecode, FloatConstantsHaveTheWidthOfTheirType) {
  const Loaded p("mov.f32 %f1, 1.5;\nmov.f64 %fd1, 0f3FC00000;\nmov.f32 %f1, 0f3FC00000;");
  EXPECT_EQ(p.value(0, 1).value, 0x3FC00000);
  EXPECT_EQ(p.value(1, 1).value, 0x3FF8000000000000);
  EXPECT_EQ(p.value(2, 1).value, 0x3FC00000);
}

// --- names -----------------------------------------------------------------------------------------

TEST(PtxDecode, ABlockHasItsOwnRegisters) {
  const Loaded p(
      "mov.b32 %r1, 0;\n{ .reg .b32 %r<4>; mov.b32 %r1, 1; mov.b32 %r9, 2; { .reg .b64 %r1; "
      "mov.b64 %r1, 3; } "
      "mov.b32 %r1, 4; }\nmov.b32 %r1, 5;");
  EXPECT_EQ(p.program.unknown, 0U) << complaints(p.program.diagnostics);
  EXPECT_NE(p.value(1, 0).index, p.value(0, 0).index);
  EXPECT_NE(p.value(3, 0).index, p.value(1, 0).index);
  EXPECT_EQ(p.value(4, 0).index, p.value(1, 0).index);
  EXPECT_EQ(p.value(5, 0).index, p.value(0, 0).index);
  const Range numbers = p.program.functions[0].registers;
  EXPECT_EQ(p.program.registers[numbers.first + p.value(3, 0).index].type, Type::B64);
}

TEST(PtxDecode, ARangeHidesARegisterOutside) {
  const Loaded p(".reg .b64 x1; { .reg .b32 x<4>; mov.b32 x1, 1; } mov.b64 x1, 1;");
  const Range numbers = p.program.functions[0].registers;
  EXPECT_EQ(p.program.registers[numbers.first + p.value(0, 0).index].type, Type::B32);
  EXPECT_EQ(p.program.registers[numbers.first + p.value(1, 0).index].type, Type::B64);
}

TEST(PtxDecode, RangesEndWhereTheySay) {
  EXPECT_EQ(first_complaint("mov.b32 %r63, 0;"), "");
  EXPECT_EQ(first_complaint("mov.b32 %r64, 0;"),
            "line 7, column 1: 'mov.b32' names '%r64', which is not declared");
  EXPECT_EQ(first_complaint("mov.b32 %r07, 0;"),
            "line 7, column 1: 'mov.b32' names '%r07', which is not declared");
  EXPECT_EQ(first_complaint(".reg .b32 a1<2>; mov.b32 a10, a11;"), "");
  EXPECT_NE(first_complaint(".reg .b32 a1<2>; mov.b32 a10, a12;"), "");
  EXPECT_EQ(first_complaint("{ .reg .b32 t; mov.b32 t, 1; }\nmov.b32 t, 2;"),
            "line 8, column 1: 'mov.b32' names 't', which is not declared");
  EXPECT_EQ(first_complaint(".reg .b32 %r<2>;"),
            "line 7, column 1: '%r' is declared twice in this block");
}

TEST(PtxDecode, LabelsBelongToTheirBlock) {
  const Loaded p(
      "{ W: @%p1 bra D; bra W; D: }\n{ W: @%p1 bra D; bra W; D: }\nbra E; { bra E; }\nE: ret;");
  EXPECT_EQ(p.program.unknown, 0U) << complaints(p.program.diagnostics);
  EXPECT_EQ(p.value(0, 0).index, 2U);
  EXPECT_EQ(p.value(1, 0).index, 0U);
  EXPECT_EQ(p.value(2, 0).index, 4U);
  EXPECT_EQ(p.value(3, 0).index, 2U);
  EXPECT_EQ(p.value(4, 0).index, 6U);
  EXPECT_EQ(p.value(5, 0).index, 6U);
  EXPECT_EQ(first_complaint("{ M: { bra M; } }"), "");
  EXPECT_EQ(first_complaint("{ L: } bra L;"),
            "line 7, column 8: no label 'L' in reach of this branch");
}

TEST(PtxDecode, ABranchNamesALabelAndABranchByTableATable) {
  EXPECT_EQ(first_complaint("L: brx.idx %r1, L;"),
            "line 7, column 4: no table 'L' in reach of this branch");
  EXPECT_EQ(first_complaint("T: .branchtargets A; A: bra T;"),
            "line 7, column 25: no label 'T' in reach of this branch");
}

TEST(PtxDecode, ABranchByATableThatLacksALabelIsUnknown) {
  const Loaded p("T: .branchtargets A, M;\nbrx.idx %r1, T;\nA: ret;");
  EXPECT_EQ(complaints(p.program.diagnostics),
            "line 7, column 22: no label 'M' in reach of this table\n"
            "line 8, column 1: a label of 'T' is not in reach of the table\n");
  EXPECT_EQ(p.program.unknown, 1U);
}

TEST(PtxDecode, TablesAndCalls) {
  const std::string text =
      ".version 9.0\n.target sm_90a\n.extern .func (.param .b32 o) g(.param .b64 a);\n"
      ".func (.param .b32 o) f(.param .b64 a) { ret; }\n.func f2() { ret; }\n"
      ".entry k() { .reg .b32 %r<4>; .reg .b64 %rd<2>; .param .b32 o; .param .b64 a;\n"
      "T: .branchtargets A, B;\nbrx.idx %r1, T;\nA: call.uni (o), f, (a);\n"
      "B: P: .callprototype (.param .b32 _) _ (.param .b64 _);\ncall (o), %rd1, (a), P;\ncall f2;\n"
      "call (o), g, (a);\n}\n";
  const Program p = load(text);
  EXPECT_EQ(complaints(p.diagnostics), "");
  ASSERT_EQ(p.functions.size(), 3U);
  const Index first = p.functions[2].instructions.first;
  const auto value = [&](Index i, Index k) {
    return p.values[p.instructions[first + i].values.first + k];
  };
  ASSERT_EQ(value(0, 1).kind, ValueKind::Table);
  const Range table = p.tables[value(0, 1).index];
  EXPECT_EQ(p.table_targets[table.first], first + 1);
  EXPECT_EQ(p.table_targets[table.first + 1], first + 2);
  EXPECT_EQ(value(1, 0).kind, ValueKind::List);
  EXPECT_EQ(p.values[value(1, 0).index].access, Access::Write);
  ASSERT_EQ(value(1, 1).kind, ValueKind::Function);
  EXPECT_TRUE(p.unit.functions[value(1, 1).index].has_body);
  EXPECT_EQ(p.code_of[value(1, 1).index], 0U);
  EXPECT_EQ(p.symbols.at(p.unit.names.find("g")).kind, ValueKind::Function);
  EXPECT_EQ(value(2, 1).kind, ValueKind::Register);
  EXPECT_EQ(value(2, 3).kind, ValueKind::Prototype);
  EXPECT_EQ(value(3, 0).kind, ValueKind::Function);
  EXPECT_FALSE(p.unit.functions[value(4, 1).index].has_body);
}

TEST(PtxDecode, LocationsKnowWhereTheyWereInlined) {
  const std::string text =
      ".version 9.0\n.target sm_90a\n.entry k() {\n.loc 1 7 5\nret;\n"
      ".loc 2 20 3, function_name $L__info_string0, inlined_at 1 7 5\nret;\n"
      ".loc 3 30 1, function_name $L__info_string1, inlined_at 2 20 3\nret;\n.loc 1 8 1\nret;\n}\n"
      ".section .debug_str {\n$L__info_string0:\n.b8 102\n.b8 0\n$L__info_string1:\n.b8 103\n.b8 "
      "0\n}\n";
  const Program p = load(text);
  const SourceLocation& inner = p.locations[p.instructions[2].location];
  EXPECT_EQ(inner.line, 30U);
  EXPECT_EQ(p.unit.names.text(inner.function), "g");
  const SourceLocation& middle = p.locations[inner.caller];
  EXPECT_EQ(middle.line, 20U);
  EXPECT_EQ(p.unit.names.text(middle.function), "f");
  EXPECT_EQ(p.locations[middle.caller].line, 7U);
  EXPECT_EQ(p.locations[middle.caller].caller, none);
  EXPECT_EQ(p.locations[p.instructions[3].location].caller, none);
}

TEST(PtxDecode, WhatIsUnknownStaysAndTheRestIsDecoded) {
  const Loaded p(
      "frob.b32 %r1, %r2;\nadd.s32 %r1, %r2;\nadd.s32 %r1, [%r2], 4;\nadd.s32 4, %r1, %r2;\n"
      "@%r1 add.s32 %r1, %r2, 4;\nadd.s32 %r1, %r2, 4;");
  EXPECT_EQ(complaints(p.program.diagnostics),
            "line 7, column 1: 'frob.b32' is no opcode that is known\n"
            "line 8, column 1: 'add.s32' has 2 operands: expected a value next\n"
            "line 9, column 1: 'add.s32' has an operand 2 that is not a value\n"
            "line 10, column 1: 'add.s32' has an operand 1 that is not a register\n"
            "line 11, column 1: 'add.s32' has as its guard '%r1', which is no predicate that is "
            "declared\n");
  EXPECT_EQ(p.program.unknown, 5U);
  EXPECT_EQ(p.at(0).opcode, Opcode::Unknown);
  EXPECT_EQ(p.at(5).opcode, Opcode::Add);
}

// --- loose texts -----------------------------------------------------------------------------------

Program load_loosely(std::string_view text) { return load(text, {.loose = true}); }

TEST(PtxDecode, ALooseTextDeclaresWhatItUses) {
  const std::string text =
      "@!%p1 mov.b32 {%f6..%f8, x}, sum;\nadd.s32 %r1, sum, %tid.x;\n{ .reg .b32 sum; mov.b32 sum, "
      "0; }";
  const Program p = load_loosely(text);
  EXPECT_EQ(complaints(p.diagnostics), "");
  ASSERT_EQ(p.instructions.size(), 4U);
  const auto name = [&](Index i) { return p.unit.names.text(p.registers.at(i).name); };
  EXPECT_EQ(name(p.instructions[0].guard), "%p1");
  const Value& vector = p.values.at(p.instructions[0].values.first);
  std::string names;
  for (std::int64_t i = 0; i < vector.value; ++i) {
    const Value& item = p.values.at(vector.index + static_cast<std::size_t>(i));
    EXPECT_EQ(item.access, Access::Write);
    names += std::string(name(item.index)) + " ";
  }
  EXPECT_EQ(names, "%f6 %f7 %f8 x ");
  // One name, one register; what a block declares is another one; a special register stays one.
  const Value& first = p.values.at(p.instructions[0].values.first + 1);
  const Value& second = p.values.at(p.instructions[1].values.first + 1);
  const Value& inner = p.values.at(p.instructions[2].values.first);
  EXPECT_EQ(first.index, second.index);
  EXPECT_NE(first.index, inner.index);
  EXPECT_EQ(name(inner.index), "sum");
  EXPECT_EQ(p.values.at(p.instructions[1].values.first + 2).kind, ValueKind::Special);
}

TEST(PtxDecode, StatementsOutsideOfFunctionsAreOneFunction) {
  const std::string text =
      "bra end;\n.global .b32 word;\nmov.b32 %r1, 0;\n"
      ".func f() { mov.b32 %r1, 1; }\nend: mov.b32 %r2, %r1;";
  const Program p = load_loosely(text);
  EXPECT_EQ(complaints(p.diagnostics), "");
  ASSERT_EQ(p.functions.size(), 2U);
  const Code& whole = p.functions[0];
  EXPECT_EQ(whole.instructions.count, 4U);
  const auto value = [&](Index i, Index k) {
    return p.values.at(p.instructions.at(whole.instructions.first + i).values.first + k);
  };
  EXPECT_EQ(value(0, 0).index, whole.instructions.first + 2);
  EXPECT_EQ(value(1, 0).index, value(2, 1).index);
  EXPECT_EQ(p.unit.lines.at(p.instructions.at(whole.instructions.first + 2).at).line, 5U);
}

TEST(PtxDecode, WhatALooseTextDoesNotSayHasItsPlace) {
  const std::string text =
      "mov.b32 {%r1, %r2;\nmov.b32 %r1, 0;\n  bra nowhere;\nfrobnicate x;\n"
      "mov.b32 {%r0..%r4000}, 0;";
  const Program p = load_loosely(text);
  ASSERT_EQ(p.instructions.size(), 6U);
  EXPECT_EQ(p.unknown, 4U);
  EXPECT_EQ(p.instructions[0].opcode, Opcode::Unknown);
  EXPECT_EQ(p.instructions[1].opcode, Opcode::Mov);
  ASSERT_EQ(p.diagnostics.size(), 4U);
  EXPECT_EQ(p.diagnostics[0].at.line, 1U);  // of reading, and the others of decoding
  EXPECT_EQ(sentence(p.diagnostics[1]).find("line 4, column 1: "), 0U)
      << sentence(p.diagnostics[1]);
  EXPECT_EQ(p.diagnostics[2].at.line, 5U);
  EXPECT_EQ(sentence(p.diagnostics[3]),
            "line 3, column 3: no label 'nowhere' in reach of this branch");
  // Nothing of this is taken where a whole text is asked for.
  EXPECT_EQ(load(text).instructions.size(), 0U);
}

// Names that spans would make are bounded, whatever a text asks for.
TEST(PtxDecode, SpansAreNamedUpToALimit) {
  std::string text;
  for (std::size_t i = 0; i * longest_span <= most_in_spans; ++i)
    text += "mov.b32 {%r0..%r" + std::to_string(longest_span - 1) + "}, 0;\n";
  const Program p = load_loosely(text);
  EXPECT_EQ(p.unknown, 1U);
  EXPECT_EQ(p.registers.size(), longest_span);
}

// --- control flow ----------------------------------------------------------------------------------

TEST(PtxDecode, BlocksAndWhereTheyMeet) {
  const Loaded p(
      "@%p1 bra A; mov.b32 %r1, 1; bra B; A: mov.b32 %r1, 2; B: mov.b32 %r2, %r1; L: @%p2 bra L; "
      "@%p3 ret; trap;");
  const Program& program = p.program;
  EXPECT_EQ(complaints(program.diagnostics), "");
  ASSERT_EQ(program.blocks.size(), 8U);  // the last one is the ret that nobody wrote
  EXPECT_EQ(program.blocks[0].next.count, 2U);
  EXPECT_EQ(program.blocks[0].post_dominator, 3U);
  EXPECT_EQ(program.blocks[1].post_dominator, 3U);
  EXPECT_EQ(program.blocks[2].post_dominator, 3U);
  EXPECT_EQ(program.blocks[3].post_dominator, 4U);
  EXPECT_EQ(program.blocks[4].post_dominator, 5U);
  EXPECT_EQ(program.blocks[5].post_dominator, none);  // it may return here
}

// Else a check that traps would keep the lanes apart for the rest of the kernel.
TEST(PtxDecode, LanesMeetBehindATrap) {
  for (const char* text : {"@%p1 bra A; @%p2 bra B; trap; B: mov.b32 %r1, 2; A: mov.b32 %r2, %r1;",
                           "@%p1 bra A; @%p2 trap; mov.b32 %r1, 2; A: mov.b32 %r2, %r1;"}) {
    const Loaded p(text);
    ASSERT_EQ(complaints(p.program.diagnostics), "");
    const auto& blocks = p.program.blocks;
    EXPECT_EQ(blocks[0].post_dominator, blocks.size() - 1) << text;
  }
}

using Graph = std::vector<std::vector<std::uint32_t>>;

// Whether every way from `from` that ends goes through `by`; `ends` is false if there is none.
bool all_ways_through(const Graph& graph, std::uint32_t from, std::uint32_t by, bool& ends) {
  std::vector<bool> seen(graph.size());
  std::vector<std::uint32_t> stack = {from};
  ends = false;
  while (!stack.empty()) {
    const std::uint32_t node = stack.back();
    stack.pop_back();
    if (node == by || seen[node]) continue;
    seen[node] = true;
    if (graph[node].empty()) ends = true;
    for (const std::uint32_t next : graph[node]) stack.push_back(next);
  }
  return !ends;
}

TEST(PostDominators, AreWhatWaysSay) {
  std::uint64_t state = 15;
  const auto random = [&](std::uint32_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>((state >> 33) % below);
  };
  for (int round = 0; round < 2000; ++round) {
    Graph graph(1 + random(12));
    const auto count = static_cast<std::uint32_t>(graph.size());
    for (auto& next : graph)
      for (std::uint32_t k = random(4); k > 0; --k) next.push_back(random(count));
    const std::vector<std::span<const std::uint32_t>> next(graph.begin(), graph.end());
    const std::vector<std::uint32_t> found = post_dominators(next);
    for (std::uint32_t node = 0; node < count; ++node) {
      bool ends = false;
      all_ways_through(graph, node, no_node, ends);
      // The nearest of those that all ways go through: all others of them lie behind it.
      std::uint32_t expected = no_node;
      bool any_end = false;
      for (std::uint32_t by = 0; ends && by < count; ++by) {
        if (by == node || !all_ways_through(graph, node, by, any_end)) continue;
        if (expected == no_node || all_ways_through(graph, by, expected, any_end)) expected = by;
      }
      EXPECT_EQ(found[node], expected) << "round " << round << " node " << node;
    }
  }
}

}  // namespace
}  // namespace tcq::ptx
