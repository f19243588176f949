// `check` against ptxas for tcgen05: the same verdict on thousands of generated statements per
// target, legal ones and illegal ones (how: ptxas.h; which: tcgen05_statements.h). Where the two
// differ, the difference has a name and a reason below.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/ask.h"
#include "tests/ptxas.h"
#include "tests/tcgen05_statements.h"

namespace tcq::oracle {
namespace {

// What ptxas accepts and the manual does not.
struct Difference {
  std::string fault;
  std::string reason;
  Target seen_on = Target::sm_100a;
};
const std::map<std::string, Difference> kDifferences = {
    {"aligned",
     {"AlignedMissing",
      "ptxas insists on .aligned for wait and allocation, not for ld "
      "and st"}},
    {"order",
     {"QualifierOrder",
      "the syntax fixes the order and each qualifier once; ptxas takes "
      "most orders"}},
    {"scale-input-d of i8", {"ScaleInputDForm", "ptxas takes any number after a kind::i8"}},
    {"enable", {"ImmediateEnableD", "ptxas takes any number for the predicate enable-input-d"}},
    {"idesc", {"ImmediateIdesc", "ptxas cuts an immediate idesc to 32 bits"}},
    {"columns", {"ImmediateColumns", "ptxas takes any multiple of 32 for dealloc"}},
    {"address", {"OperandKind", "ptxas looks at the type of few addresses"}},
    {"mask",
     {"OperandKind",
      "with scale-input-d ptxas takes a register for a disable-output-lane "
      "vector"}},
    {"predicate",
     {"OperandKind", "ptxas takes a predicate as the result of ld.red", Target::sm_103a}},
    {"vector", {"OperandKind", "ptxas looks at the type of a vector's first element"}}};

struct Tally {
  int legal = 0;
  int illegal = 0;
  std::map<std::string, int> differences;
  int sum() const {
    int all = legal + illegal;
    for (const auto& [name, count] : differences) all += count;
    return all;
  }
};

std::string verdict(const std::string& text, Target target) {
  Question question{"check", {}, {}};
  question.options.arch = name(target);
  return answer_line(question, text).text;
}

void compare_one(const Tcgen05Statement& statement, bool accepted, Target target, Tally& tally) {
  const std::string ours = verdict(statement.text, target);
  EXPECT_FALSE(ours.starts_with("unmodelled")) << statement.text << "\n" << ours;
  const auto difference = kDifferences.find(statement.difference);
  if (accepted && difference != kDifferences.end() &&
      ours.starts_with("illegal\t" + difference->second.fault + ": ")) {
    ++tally.differences[statement.difference];
    return;
  }
  EXPECT_EQ(ours == "legal", accepted)
      << name(target) << ": " << statement.text
      << "\nptxas: " << (accepted ? "accepted" : "rejected") << "\ncheck: " << ours
      << "\nmay differ by: " << statement.difference;
  ++(accepted ? tally.legal : tally.illegal);
}

Tally compare(const std::vector<Tcgen05Statement>& statements, Target target) {
  std::vector<std::string> texts;
  for (const Tcgen05Statement& statement : statements) texts.push_back(statement.text);
  const std::set<std::size_t> wrong = rejected(texts, target);
  Tally tally;
  for (std::size_t i = 0; i < statements.size(); ++i)
    compare_one(statements[i], !wrong.contains(i), target, tally);
  return tally;
}

class Tcgen05Ptxas : public testing::TestWithParam<Target> {};

TEST_P(Tcgen05Ptxas, AgreesWithCheckOnEveryGeneratedStatement) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  const std::vector<Tcgen05Statement> statements = generate_tcgen05();
  ASSERT_GE(statements.size(), 10'000u);
  const Target target = GetParam();
  const Tally tally = compare(statements, target);
  EXPECT_EQ(tally.sum(), static_cast<int>(statements.size()));
  for (const auto& [difference, about] : kDifferences) {
    const bool happens = target != about.seen_on || tally.differences.contains(difference);
    EXPECT_TRUE(happens) << "never: " << difference << ": " << about.reason;
  }
  std::printf("%s: statements %zu: both legal %d, both illegal %d", name(target), statements.size(),
              tally.legal, tally.illegal);
  for (const auto& [difference, count] : tally.differences)
    std::printf(", %s %d", difference.c_str(), count);
  std::printf("\n");
}

INSTANTIATE_TEST_SUITE_P(Targets, Tcgen05Ptxas,
                         testing::Values(Target::sm_100a, Target::sm_100f, Target::sm_103a,
                                         Target::sm_103f, Target::sm_110a, Target::sm_110f,
                                         Target::sm_120a, Target::sm_90a),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace tcq::oracle
