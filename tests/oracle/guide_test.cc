// Laws of the guide's beginnings in answers: pages whose title is a question are found by the words of their topic, and
// what explain says of them is what they say.
#include "oracle/explain/guide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

TEST(Guide, EveryPageThatAsksHasABeginningWithoutMarkdown) {
  EXPECT_GE(guide_pages().size(), 14u);
  for (const GuidePage& page : guide_pages()) {
    EXPECT_TRUE(page.question.ends_with('?')) << page.name;
    EXPECT_GE(page.answer.size(), 40u) << page.name;
    for (const char* mark : {"`", "](", "|---"})
      EXPECT_EQ(page.answer.find(mark), std::string::npos) << page.name << ": " << page.answer;
  }
}

TEST(Guide, APageIsReadUpToItsFirstBlock) {
  const Page page = {"guide/a_b.md",
                     "# Why `x`?\n\nBecause of [y](y.md).\nIn two lines.\n\n```\nz\n## "
                     "no\n```\n\nLater.\n## Then\n"};
  const auto guides = read_guide(std::span<const Page>(&page, 1));
  ASSERT_EQ(guides.size(), 1u);
  EXPECT_EQ(guides[0].name, "a_b");
  EXPECT_EQ(guides[0].question, "Why x?");
  EXPECT_EQ(guides[0].answer, "Because of y. In two lines.");
  EXPECT_EQ(guides[0].more, "Later. Then");
  const Page brackets = {
      "guide/d.md", "# What is `D[i][j]` of [d](d.md)?\n\nSee [it](x.md), A[0].\n| B[1] | c |\n"};
  const auto one = read_guide(std::span<const Page>(&brackets, 1));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].question, "What is D[i][j] of d?");
  EXPECT_EQ(one[0].answer, "See it, A[0].");
  EXPECT_EQ(one[0].more, "| B[1] | c |");
  const Page shell = {"guide/e.md",
                      "# How?\n\nSo.\n\n```\n# a comment\n| a pipe\n## two\n```\nBehind.\n"};
  const auto behind = read_guide(std::span<const Page>(&shell, 1));
  ASSERT_EQ(behind.size(), 1u);
  EXPECT_EQ(behind[0].question, "How?");
  EXPECT_EQ(behind[0].answer, "So.");
  EXPECT_EQ(behind[0].more, "Behind.");
  const Page title = {"guide/c.md", "# A title\n\nText.\n"};
  EXPECT_TRUE(read_guide(std::span<const Page>(&title, 1)).empty());
}

TEST(Guide, TopicsThatAreNoFaultFindTheirPage) {
  const std::pair<const char*, const char*> known[] = {
      {"explain batch invariant", "batch_invariance"},
      {"explain split-K changes the bits", "batch_invariance"},
      {"explain two-level accumulation promotion", "fp8_sums"},
      {"explain max_num_imprecise_acc fp8", "fp8_sums"}};
  for (const auto& [question, name] : known) {
    const std::string text = text_of(question);
    EXPECT_TRUE(text.starts_with(std::string(name) + "  guide")) << text;
    EXPECT_NE(text.find("docs/" + std::string(name) + ".md"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tcq::oracle
