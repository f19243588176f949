// The verb tmem: its bar, its ranges, its picture, and what it says about plans that are wrong. Laws
// of the plan itself: tmem_plan_test.cc; words that are no plan: cli_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "oracle/explain/explain.h"
#include "sim/isa/fault/fault.h"
#include "tests/support/ask.h"
#include "tests/support/temporary_folder.h"

namespace tcq::oracle {
namespace {

std::vector<std::string> lines(const std::string& plan) {
  return split(ask("tmem " + plan).text, '\n');
}

TEST(Tmem, TheBarHasOneMarkPerEightColumns) {
  const std::vector<std::string> text = lines("d0=256 d1=128 s=32");
  EXPECT_EQ(text[0], "0       64      128     192     256     320     384     448");
  EXPECT_EQ(text[1], std::string(32, 'A') + std::string(16, 'B') + "CCCC" + std::string(12, '.'));
  EXPECT_EQ(text[2], "A  d0                [0,256)    256 columns");
  EXPECT_EQ(text[5], "free: 96 columns in 1 piece: [416,512)");
  EXPECT_EQ(text[6], "next allocation: at most 32 columns");
  EXPECT_EQ(text[7], "peak: 416 of 512 columns");
  EXPECT_EQ(text.size(), 8u);
}

TEST(Tmem, PartsCountFromTheirAllocation) {
  const std::vector<std::string> text = lines("d=256 s=32 s/a=4 s/b=4 s/c=16+8 d/x=0+128");
  EXPECT_EQ(text[1], std::string(16, 'A') + std::string(16, '-') + "#-D-" + std::string(28, '.'));
  EXPECT_EQ(text[3], "A    /x              [0,128)    128 columns");
  EXPECT_EQ(text[6], "C    /b              [260,264)  4 columns");
  EXPECT_EQ(text[7], "D    /c              [272,280)  8 columns");
}

TEST(Tmem, FreedPiecesAreListedAndTheLargestCounts) {
  const std::vector<std::string> text = lines("a=128 b=128 c=128 d=128 free=a free=c");
  EXPECT_EQ(text[4], "free: 256 columns in 2 pieces: [0,128) [256,384)");
  EXPECT_EQ(text[5], "next allocation: at most 128 columns");
  EXPECT_EQ(text[7], "not freed: b, d: the kernel must free it before it ends");
  EXPECT_EQ(lines("a=512 free=a").back(), "peak: 512 of 512 columns");
  EXPECT_EQ(lines("a=512")[3], "free: nothing");
  EXPECT_EQ(lines("a=512")[4], "next allocation: none fits");
}

TEST(Tmem, EveryFaultIsReportedAndTheFirstIsTheComplaint) {
  const Answer reply = ask("tmem a=64 b=128 c=48 free=z");
  EXPECT_EQ(reply.status, Status::No);
  EXPECT_TRUE(reply.complaint.starts_with("b=128: illegal TmemAllocGrows: ")) << reply.complaint;
  for (const char* part :
       {"\nfault: b=128: illegal TmemAllocGrows", "\nfault: c=48: illegal TmemAllocSize",
        "\nfault: free=z: undefined TmemNotAllocated"})
    EXPECT_NE(reply.text.find(part), std::string::npos) << reply.text;
}

TEST(Tmem, WhatFitsOneAllocationIsSaidToFit) {
  const std::string words = "all=512 all/d=384 all/sfa=4 all/sfb=8";
  EXPECT_EQ(lines("d=384 sfa=4 sfb=8").back(),
            "as parts of one allocation they fit: tcq tmem " + words);
  EXPECT_EQ(ask("tmem " + words).status, Status::Yes);
  EXPECT_EQ(lines("sfa=4 sfb=8").back(),
            "as parts of one allocation they fit: tcq tmem all=32 all/sfa=4 all/sfb=8");
  EXPECT_EQ(lines("a=48 b=16").back(),
            "as parts of one allocation they fit: tcq tmem all=64 all/a=48 all/b=16");
  for (const char* none : {"d=384", "d=384 s=132", "d=384 s=16 free=d", "d=0+384 s=16",
                           "d=128 s=32", "scales=64 acc=128"})
    EXPECT_FALSE(lines(none).back().starts_with("as parts")) << none;
}

TEST(Tmem, JsonNamesEverything) {
  const Answer reply = ask("tmem d=64 d/x=3+5 e=128", styled(Style::Json));
  EXPECT_EQ(reply.status, Status::No);
  for (
      const char* part :
      {R"("allocations":[{"name":"d","start":0,"columns":64,"freed":false,"parts":[{"name":"x","start":3,"columns":5}]}])",
       R"("free":[{"start":64,"columns":448}],"free_columns":448,"largest_free":448,"next_at_most":64,"peak_columns":64)",
       R"("faults":[{"word":"e=128","kind":"illegal","name":"TmemAllocGrows")"})
    EXPECT_NE(reply.text.find(part), std::string::npos) << reply.text;
}

TEST(Tmem, ThePictureHasACellPerEightColumnsAndAllNames) {
  const TemporaryFolder folder;
  Options options;
  options.svg_path = folder.file("plan.svg");
  EXPECT_EQ(ask("tmem acc=256 acc/even=128 scales=32", options).status, Status::Yes);
  std::ifstream in(options.svg_path);
  const std::string svg{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(svg.find("Tensor Memory: acc=256 acc/even=128 scales=32"), std::string::npos);
  std::size_t labels = 0;
  for (std::size_t at = svg.find(">acc/even<"); at != std::string::npos;
       at = svg.find(">acc/even<", at + 1))
    ++labels;
  EXPECT_EQ(labels, 16u);
  EXPECT_NE(svg.find(">scales<"), std::string::npos);
}

// ---- Long plans ---------------------------------------------------------------------------------

std::string repeated(const std::string& words, int times) {
  std::string text = "tmem";
  for (int i = 0; i < times; ++i) text += " " + words;
  return text;
}

// However many words there are: the answer stays short, and its work grows as they do. A plan of
// two million characters is read in the time that a quadratic one needs for some thousand words.
TEST(Tmem, AnAnswerStaysShortAndIsLinearInItsPlan) {
  struct Plan {
    const char* words;
    Status status;
  };
  constexpr int times = 100000;
  constexpr std::size_t longest = 200000;
  for (const Plan& plan : {Plan{"a=32 free=a", Status::Yes}, Plan{"a=32 a/b=8 free=a", Status::Yes},
                           Plan{"free=a a/b=8 free=a", Status::No}, Plan{"a=48 free=a", Status::No},
                           Plan{"a=512 b=32 free=b free=a", Status::No}}) {
    const std::string question = repeated(plan.words, times);
    for (const Style style : {Style::Text, Style::Json}) {
      const auto begin = std::chrono::steady_clock::now();
      const Answer reply = ask(question, styled(style));
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      EXPECT_EQ(reply.status, plan.status) << plan.words << reply.complaint;
      EXPECT_LT(reply.text.size() + reply.complaint.size(), longest) << plan.words;
      EXPECT_LT(took.count(), 30) << plan.words;
    }
  }
}

// Two accumulators of M = 64 may share columns, so that a plan without lanes knows nothing of parts that do.
TEST(Tmem, PartsThatShareColumnsAreNotModelled) {
  const Answer reply = ask("tmem d=128 d/a=0+64 d/b=0+64");
  EXPECT_EQ(reply.status, Status::Unmodelled);
  EXPECT_TRUE(reply.complaint.starts_with("d/b=0+64: not modelled: ")) << reply.complaint;
  EXPECT_NE(ask("tmem d=128 d/a=0+64 d/b=0+64", styled(Style::Json))
                .text.find(R"("kind":"unmodelled","name":"TmemOverlap")"),
            std::string::npos);
  const Answer worse = ask("tmem d=128 d/a=0+64 d/b=0+64 e=48");
  EXPECT_EQ(worse.status, Status::No);
  EXPECT_TRUE(worse.complaint.starts_with("e=48: illegal TmemAllocSize")) << worse.complaint;
  EXPECT_EQ(ask("tmem a=64+64 b=64+64").status, Status::No);
}

TEST(Tmem, WhatWasGivenBeyondTheLastColumnWaitsForNothing) {
  const Answer reply = ask("tmem d=480+64");
  EXPECT_EQ(reply.status, Status::Usage);
  EXPECT_NE(reply.complaint.find("it ends at column 544, beyond the 512"), std::string::npos);
  EXPECT_EQ(ask("tmem d=448+64").status, Status::Yes);
}

TEST(Tmem, WhatIsNotPrintedIsCounted) {
  const Answer reply = ask(repeated("a=48", 1));
  EXPECT_EQ(reply.text.find("more, which are not printed"), std::string::npos);
  std::string question = "tmem";
  for (int i = 0; i < 100; ++i) question += " a" + std::to_string(i) + "=48";
  EXPECT_NE(ask(question).text.find("\nfault: and 36 more, which are not printed"),
            std::string::npos);
  EXPECT_NE(ask(question, styled(Style::Json)).text.find("\"fault_count\":100"), std::string::npos);
  EXPECT_EQ(ask("tmem " + std::string(65, 'a') + "=32").status, Status::Usage);
  EXPECT_EQ(ask("tmem " + std::string(64, 'a') + "=32").status, Status::Yes);
}

TEST(Tmem, ExamplesOfExplainAreWhatTheyClaim) {
  int plans = 0;
  for (const Fault fault : {Fault::TmemAllocSize, Fault::TmemAllocGrows, Fault::TmemAllocBlocks,
                            Fault::TmemOverlap, Fault::TmemNotAllocated}) {
    const Explanation& e = explanation(fault);
    ASSERT_TRUE(e.wrong.starts_with("tcq tmem ") && e.right.starts_with("tcq tmem ")) << e.wrong;
    const Answer wrong = ask(e.wrong.substr(4));
    EXPECT_NE(wrong.complaint.find(info(fault).name), std::string::npos) << wrong.complaint;
    EXPECT_EQ(ask(std::string(e.right.substr(4))).status, Status::Yes) << e.right;
    ++plans;
  }
  EXPECT_EQ(plans, 5);
}

}  // namespace
}  // namespace tcq::oracle
