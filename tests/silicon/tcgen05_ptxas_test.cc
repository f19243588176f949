// `check` against ptxas for tcgen05: the same verdict on thousands of generated statements per
// target, legal ones and illegal ones (how: ptxas.h; which: tcgen05_statements.h). Where the two
// differ, the difference has a name and a reason below.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/isa/fault/fault.h"
#include "tests/silicon/statements.h"
#include "tests/silicon/tcgen05_statements.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

constexpr Target usual = Target::sm_100a;

const Differences kDifferences = {
    {"aligned",
     {Fault::AlignedMissing, "ptxas insists on .aligned for wait and allocation, not for ld and st",
      usual}},
    {"order",
     {Fault::QualifierOrder,
      "the syntax fixes the order and each qualifier once; ptxas takes most orders", usual}},
    {"scale-input-d of i8",
     {Fault::ScaleInputDForm, "ptxas takes any number after a kind::i8", usual}},
    {"enable",
     {Fault::ImmediateEnableD, "ptxas takes any number for the predicate enable-input-d", usual}},
    {"idesc", {Fault::ImmediateIdesc, "ptxas cuts an immediate idesc to 32 bits", usual}},
    {"idesc value",
     {Fault::None,
      "ptxas never reads the instruction descriptor: M, N, types and modifiers are words", usual}},
    {"columns", {Fault::TmemAllocSize, "ptxas takes any multiple of 32 for dealloc", usual}},
    {"address", {Fault::OperandKind, "ptxas looks at the type of few addresses", usual}},
    {"mask",
     {Fault::OperandKind,
      "with scale-input-d ptxas takes a register for a disable-output-lane vector", usual}},
    {"predicate",
     {Fault::OperandKind, "ptxas takes a predicate as the result of ld.red", Target::sm_103a}},
    {"vector", {Fault::OperandKind, "ptxas looks at the type of a vector's first element", usual}}};

class Tcgen05Ptxas : public testing::TestWithParam<Target> {};

TEST_P(Tcgen05Ptxas, AgreesWithCheckOnEveryGeneratedStatement) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  const std::vector<Statement> statements = generate_tcgen05();
  ASSERT_GE(statements.size(), 10'000u);
  expect_agreement(statements, GetParam(), kDifferences);
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
  Generator out;
  for (const Tcgen05Form& any : all_tcgen05_forms()) {
    if (check_form(any, target) != Fault::None) continue;
    if (cta_group_of(full_opcode(any)) == 3 - cta_group) continue;
    std::visit([&](const auto& form) { add_plain(form, out); }, any);
  }
  std::string body = "setp.ne.b32 %p0, %r0, 0;\n";
  for (const Statement& statement : out.statements) {
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
