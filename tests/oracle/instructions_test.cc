// Laws of the page of instructions: each instruction of the asynchronous machine has one, each example is what it
// claims to be as the decoder reads it, and describe answers for names, abbreviations and statements alike.
#include "oracle/explain/instructions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "sim/ptx/decode.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

std::string kernel_around(const std::string& statement) {
  return ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .pred %p<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>;\n" +
      statement + "\n}\n";
}

TEST(InstructionPages, EveryOneThatOrdersOrMovesHasOne) {
  const std::vector<std::string_view> families = {
      "wgmma.",   "tcgen05.", "mbarrier.",  "cp.",       "fence", "membar",         "bar.",
      "barrier.", "setmaxnreg", "tensormap.", "st.async", "red.async", "elect.sync", "griddepcontrol"};
  int seen = 0;
  for (const ptx::OpcodeRow& row : ptx::opcode_table()) {
    const bool ours = std::any_of(families.begin(), families.end(), [&](std::string_view family) {
      return row.name.starts_with(family);
    });
    if (!ours) continue;
    ++seen;
    const bool has_one = std::any_of(
        instruction_pages().begin(), instruction_pages().end(), [&](const InstructionPage& page) {
          return std::string_view(page.name).starts_with(row.name == "tcgen05.ld.red" ? "tcgen05.ld"
                                                                                      : row.name);
        });
    EXPECT_TRUE(has_one) << row.name;
  }
  EXPECT_GE(seen, 50);
}

TEST(InstructionPages, ExamplesAreDecodedAsTheInstructionThatTheyExplain) {
  std::set<std::string> names;
  for (const InstructionPage& page : instruction_pages()) {
    EXPECT_TRUE(names.insert(page.name).second) << page.name;
    if (page.example.empty()) continue;
    const std::string text = kernel_around(page.example);
    const ptx::Program program = ptx::load(text);
    ASSERT_GE(program.instructions.size(), 1u) << page.name;
    EXPECT_EQ(program.unknown, 0u) << page.example;
    for (const ptx::Diagnostic& complaint : program.diagnostics)
      ADD_FAILURE() << page.example << ": " << sentence(complaint);
    EXPECT_TRUE(page.name.starts_with(ptx::row_of(program.instructions[0].opcode).name)) << page.name;
    const std::string opcode = page.example.substr(0, page.example.find_first_of(" ;"));
    EXPECT_EQ(instruction_page(opcode), &page) << page.example;
  }
}

TEST(InstructionPages, TheLongestNameCounts) {
  EXPECT_EQ(instruction_page("fence.proxy.async.global")->name, "fence.proxy.async");
  EXPECT_EQ(instruction_page("fence.sc.gpu")->name, "fence");
  EXPECT_EQ(instruction_page("tcgen05.wait::st.sync.aligned")->name, "tcgen05.wait");
  EXPECT_EQ(instruction_page("cp.async.bulk.wait_group.read")->name, "cp.async.bulk.wait_group");
  EXPECT_EQ(instruction_page("fenced"), nullptr);
  EXPECT_EQ(instruction_page("mul.f32"), nullptr);
}

TEST(InstructionPages, AQuestionAboutATargetWithoutTheInstructionIsAnsweredWithNo) {
  Options options;
  options.arch = "sm_120a";
  EXPECT_EQ(ask("describe tcgen05.fence", options).status, Status::No);
  EXPECT_EQ(ask("describe wgmma.fence", options).status, Status::No);
  EXPECT_EQ(ask("describe tensormap.replace", options).status, Status::Yes);
  options.arch = "sm_100";
  EXPECT_EQ(ask("describe setmaxnreg", options).status, Status::No);
  EXPECT_EQ(ask("describe mbarrier.init", options).status, Status::Yes);
  const std::string said =
      text_of("explain Instruction 'tensormap.replace' not supported on .target 'sm_120'");
  EXPECT_NE(said.find("sm_120a, sm_120f"), std::string::npos) << said;
}

TEST(InstructionPages, ABadPageSaysWhere) {
  EXPECT_THROW(read_instructions({"p.md", "# g\n\n## x\n- **Does:** nothing\n"}), BadProse);
  EXPECT_THROW(read_instructions({"p.md",
                                  "# g\n\n## x\n- **Syntax:** x;\n- **Does:** a\n- **Orders:** b\n"
                                  "- **By:** c\n- **Faults:** NoSuchFault\n- **Evidence:** d\n"}),
               BadProse);
}

TEST(DescribeInstruction, NamesAbbreviationsAndStatementsHaveOneAnswer) {
  const Answer name = ask("describe wgmma.wait_group");
  EXPECT_EQ(name.status, Status::Yes);
  EXPECT_NE(name.text.find("async proxy"), 0u);
  EXPECT_EQ(ask("describe wgmma.wait_group.sync.aligned").text, name.text);
  EXPECT_EQ(ask("describe WGMMA.wait_group").text, name.text);
  EXPECT_EQ(ask("describe barrier.cta.sync.aligned").text, ask("describe bar.sync").text);
  EXPECT_EQ(ask("describe cp.async.bulk.tensor.2d").text, ask("describe cp.async.bulk.tensor").text);
}

TEST(DescribeInstruction, AllPagesAnswerInEveryStyle) {
  for (const InstructionPage& page : instruction_pages()) {
    const Answer text = ask("describe " + page.name);
    EXPECT_EQ(text.status, Status::Yes) << page.name << ": " << text.complaint;
    EXPECT_NE(text.text.find(page.orders), std::string::npos) << page.name;
    Question markdown{"describe", {page.name}, {}};
    markdown.options.style = Style::Markdown;
    EXPECT_TRUE(answer(markdown).text.starts_with("# " + page.name)) << page.name;
  }
}

TEST(DescribeInstruction, FormsSayWhatTheyOrder) {
  EXPECT_NE(ask("describe tcgen05.commit.cta_group::1.mbarrier::arrive::one").text.find("earlier mma, cp and shift"),
            std::string::npos);
  EXPECT_NE(ask("describe wgmma.m64n8k16.f32.f16.f16").text.find("WgmmaFenceMissing"), std::string::npos);
}

TEST(DescribeInstruction, WhatIsNoInstructionGetsASentence) {
  const Answer word = ask("describe mbarrier.try_wait.frob");
  EXPECT_EQ(word.status, Status::Usage);
  EXPECT_NE(word.complaint.find("'.frob'"), std::string::npos);
  for (const char* known : {"add.f32", "dp4a", "redux.sync", "multimem.red", "applypriority"})
    EXPECT_EQ(ask(std::string("describe ") + known).status, Status::Unmodelled) << known;
  EXPECT_EQ(ask("describe wgmma.fence row=1").status, Status::Usage);
  EXPECT_EQ(ask("describe frobnicate").status, Status::Usage);
}

}  // namespace
}  // namespace tcq::oracle
