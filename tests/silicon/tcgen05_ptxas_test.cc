// `check` against ptxas for tcgen05: the same verdict on thousands of generated statements per
// target, legal ones and illegal ones (how: ptxas.h; which: tcgen05_statements.h). Where the two
// differ, the difference has a name and a reason below.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/isa/fault/fault.h"
#include "tests/silicon/ptxas.h"
#include "tests/silicon/tcgen05_statements.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

// What ptxas accepts and the manual does not.
struct Difference {
  Fault fault;  // None: any, about the word that the verdict names
  std::string reason;
  Target seen_on = Target::sm_100a;
};
const std::map<std::string, Difference> kDifferences = {
    {"aligned",
     {Fault::AlignedMissing,
      "ptxas insists on .aligned for wait and allocation, not for ld "
      "and st"}},
    {"order",
     {Fault::QualifierOrder,
      "the syntax fixes the order and each qualifier once; ptxas takes "
      "most orders"}},
    {"scale-input-d of i8", {Fault::ScaleInputDForm, "ptxas takes any number after a kind::i8"}},
    {"enable",
     {Fault::ImmediateEnableD, "ptxas takes any number for the predicate enable-input-d"}},
    {"idesc", {Fault::ImmediateIdesc, "ptxas cuts an immediate idesc to 32 bits"}},
    {"idesc value",
     {Fault::None,
      "ptxas never reads the instruction descriptor: M, N, types and modifiers are words"}},
    {"columns", {Fault::TmemAllocSize, "ptxas takes any multiple of 32 for dealloc"}},
    {"address", {Fault::OperandKind, "ptxas looks at the type of few addresses"}},
    {"mask",
     {Fault::OperandKind,
      "with scale-input-d ptxas takes a register for a disable-output-lane "
      "vector"}},
    {"predicate",
     {Fault::OperandKind, "ptxas takes a predicate as the result of ld.red", Target::sm_103a}},
    {"vector", {Fault::OperandKind, "ptxas looks at the type of a vector's first element"}}};

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

bool is_about(const std::string& verdict, const Difference& difference) {
  if (difference.fault == Fault::None) return verdict.find("; idesc is 0x") != std::string::npos;
  return verdict.starts_with(std::string("illegal\t") + info(difference.fault).name + ": ");
}

void compare_one(const Tcgen05Statement& statement, bool accepted, Target target, Tally& tally) {
  const std::string ours = verdict(statement.text, target);
  EXPECT_FALSE(ours.starts_with("unmodelled")) << statement.text << "\n" << ours;
  const auto difference = kDifferences.find(statement.difference);
  if (accepted && difference != kDifferences.end() && is_about(ours, difference->second)) {
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

// ---- Whole kernels ------------------------------------------------------------------------------

// The number in `::N` of an opcode, or 0 for instructions without a group.
int cta_group_of(const std::string& opcode) {
  const std::size_t at = opcode.find(".cta_group::");
  return at == std::string::npos ? 0 : opcode[at + 12] - '0';
}

// Every form that the target has, as far as it belongs to the group.
std::string legal_body(Target target, int cta_group) {
  Tcgen05Generator out;
  for (const Tcgen05Form& any : all_tcgen05_forms()) {
    if (check_form(any, target) != Fault::None) continue;
    if (cta_group_of(full_opcode(any)) == 3 - cta_group) continue;
    std::visit([&](const auto& form) { add_plain(form, out); }, any);
  }
  std::string body = "setp.ne.b32 %p0, %r0, 0;\n";
  for (const Tcgen05Statement& statement : out.statements) {
    EXPECT_EQ(verdict(statement.text, target), "legal") << statement.text;
    body += statement.text + "\n";
  }
  return body + "ret;\n";
}

TEST_P(Tcgen05Ptxas, CompilesEveryLegalForm) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  const Target target = GetParam();
  for (const int cta_group : {1, 2}) {
    if (!tcgen05::has_tcgen05(target)) continue;
    const PtxasRun run = run_ptxas(kernel(legal_body(target, cta_group), target), target);
    EXPECT_EQ(run.status, 0) << (run.lines.empty() ? "" : run.lines[0]);
  }
}

// What no single statement shows: one function has one cta_group.
TEST(Tcgen05PtxasKernel, RefusesTwoCtaGroupsInOneFunction) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  const auto status = [](const std::string& body) {
    return run_ptxas(kernel(body + "ret;\n", Target::sm_100a), Target::sm_100a).status;
  };
  const std::string one = "tcgen05.shift.cta_group::1.down [%r0];\n";
  const std::string two = "tcgen05.cp.cta_group::2.128x256b [%r0], %rd0;\n";
  EXPECT_EQ(status(one), 0);
  EXPECT_EQ(status(two), 0);
  EXPECT_NE(status(one + two), 0);
}

}  // namespace
}  // namespace tcq::oracle
