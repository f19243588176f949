// Laws of the pages' form: what a section is made of, and that a page which does not follow it is refused
// with its line, in one sentence. What the pages say is explain_test.cc and errata_test.cc.
#include "oracle/explain/prose.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "oracle/explain/errata.h"
#include "oracle/explain/explain.h"

namespace tcq::oracle {
namespace {

const std::string kTail =
    "**Wrong:**\n```ptx\nbar.sync 0;\n```\n**Right:**\n```ptx\nbar.sync 1;\n\nret;\n```\n";

TEST(Prose, ASectionHasItsFieldsInLinesOfText) {
  const std::string text =
      "# Group\nIntroduction.\n\n## One\n\n**Cause:** the `first`\nof two.\n\n" + kTail +
      "\n# Other\n\n## Two\n- **Claim:** long\n  text\n- **Test:** `A.B`\n";
  const std::vector<Section> found = sections_of({"p.md", text});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].group + "/" + found[0].title + " " + found[0].place, "Group/One p.md:4");
  ASSERT_EQ(found[0].fields.size(), 3u);
  EXPECT_EQ(found[0].fields[0].text, "the first of two.");
  EXPECT_EQ(found[0].fields[2].text, "bar.sync 1;\n\nret;");
  EXPECT_EQ(found[0].fields[2].language, "ptx");
  EXPECT_EQ(found[1].group + "/" + found[1].title, "Other/Two");
  ASSERT_EQ(found[1].fields.size(), 2u);
  EXPECT_EQ(found[1].fields[0].text, "long text");
  EXPECT_EQ(found[1].fields[1].label + " " + found[1].fields[1].text, "Test A.B");
}

template <class Read>
void expect_refused(Read&& read, const std::string& sentence) {
  try {
    read();
    ADD_FAILURE() << "accepted: " << sentence;
  } catch (const BadProse& error) {
    EXPECT_EQ(error.what(), sentence);
  }
}

TEST(Prose, APageThatDoesNotFollowItsFormIsRefusedWithItsLine) {
  const auto expect = [](const std::string& text, const std::string& sentence) {
    const Page page = {"faults/p.md", text};
    expect_refused([&] { read_explanations({&page, 1}); }, "faults/p.md:" + sentence);
  };
  const std::string head = "# G\n## ShapeK\n";
  expect(head + "**Cause:** c.\n" + kTail, "2: ShapeK: expected Fix behind Cause, not Wrong");
  expect(head + "**Fix:** f.\n" + kTail, "2: ShapeK: expected Cause behind ShapeK, not Fix");
  expect(head + "**Cause:** c.\n\n**Fix:** f.\n",
         "2: ShapeK: expected Wrong behind Fix, not the end");
  expect(head + "**Cause:** c.\n\n**Fix:**\n" + kTail, "2: ShapeK: Fix is empty");
  const std::string whole = head + "**Cause:** c.\n\n**Fix:** f.\n" + kTail;
  expect(whole + "**Sen:** x #1\n", "2: ShapeK: there is no place for Sen");
  expect(whole + "and more\n", "16: expected **Label:** in front of the text");
  expect(head + "text\n", "3: expected **Label:** in front of the text");
  expect(head + "**Cause** c.\n", "3: expected **Label:**");
  expect(head + "**Wrong:**\n```ptx\nret;\n", "5: the block does not end");
  expect(head + "**Wrong:**\n```\nret;\n```\n",
         "4: expected a block with its language, behind **Label:**");
  expect("# G\n## ShapK\n" + whole.substr(head.size()),
         "2: ShapK: no row of faults.inc is called 'ShapK'");
  std::string other = whole;
  other.replace(other.rfind("ptx"), 3, "cuda");
  expect(other, "2: ShapeK: Wrong and Right differ in language");
  other.replace(other.rfind("cuda"), 4, "text");
  expect(other, "2: ShapeK: Right is no block of ptx, cuda or shell");
  const Page page = {"faults/p.md", whole};
  EXPECT_EQ(read_explanations({&page, 1}).at(0).explanations.at(0).fault, Fault::ShapeK);
}

TEST(Prose, ErrataAndMessagesAreReadAlike) {
  const Page errata = {"e.md",
                       "# D\n## 1.1\n- **Claim:** c\n- **Correction:** d\n- **Tset:** A.B\n"};
  expect_refused([&] { read_errata(errata); }, "e.md:2: 1.1: there is no place for Tset");
  const Page messages = {"m.md",
                         "# M\n## C1\n- **Effect:** e\n- **Says:** s\n- **Cause:** c\n- **Fix:** f\n"
                         "- **Faults:** ShapeK, None\n- **Source:** s\n"};
  expect_refused([&] { read_ptxas_messages(messages); },
                 "m.md:2: C1: no row of faults.inc is called 'None'");
}

}  // namespace
}  // namespace tcq::oracle
