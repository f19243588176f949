// The forms of sim/alu/forms.h are those that ptxas takes for sm_90a among all that the ALU computes, and their kernels
// assemble.
#include <gtest/gtest.h>

#include <set>

#include "cuda/probe/scalar_text_sm90.h"
#include "sim/alu/forms.h"
#include "sim/ptx/roles.h"
#include "tests/silicon/ptxas.h"
#include "tests/support/alu_spellings.h"

namespace tcq::oracle {
namespace {

TEST(ScalarPtxas, EveryKernelAssembles) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  const PtxasRun run = run_ptxas(cuda::scalar_module_text(), Target::sm_90a);
  EXPECT_EQ(run.status, 0) << (run.lines.empty() ? "" : run.lines[0]);
}

std::string register_of(ptx::Type type) {
  if (type == ptx::Type::Pred) return "%p1";
  const int bits = ptx::bits(type);
  return bits == 128 ? "%rq1" : bits == 64 ? "%rd1" : bits == 32 ? "%r1" : "%rs1";
}

std::string statement_of(const std::string& spelling, const alu::ScalarForm& s) {
  std::string text = spelling + " " + register_of(s.out[0]);
  if (s.out.size() > 1) text += "|%p2";
  for (std::size_t i = 0; i < s.in.size(); ++i) {
    if (i == 3 && s.immediate) text += ", 1";
    text += ", " + register_of(s.in[i]);
  }
  if (s.in.size() == 3 && s.immediate) text += ", 1";
  return ".reg .b128 %rq1; " + text + ";";
}

// ptxas names the lines that it takes no word of.
std::set<std::string> taken(const std::vector<std::string>& spellings) {
  constexpr std::size_t chunk = 20000;
  std::set<std::string> found;
  for (std::size_t first = 0; first < spellings.size(); first += chunk) {
    const std::size_t end = std::min(first + chunk, spellings.size());
    std::vector<std::string> statements;
    for (std::size_t i = first; i < end; ++i) {
      const bool is_lop3 = spellings[i].starts_with("lop3");
      const auto form = alu::read_scalar_form(spellings[i] + (is_lop3 ? " 1" : ""));
      statements.push_back("{ " + statement_of(spellings[i], *form) + " }");
    }
    const std::set<std::size_t> wrong = rejected(statements, Target::sm_90a);
    for (std::size_t i = first; i < end; ++i)
      if (!wrong.contains(i - first)) found.insert(spellings[i]);
  }
  return found;
}

TEST(ScalarPtxas, TheListHasWhatItTakesAndNothingElse) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  std::vector<std::string> computed;
  alu::each_alu_spelling([&](const std::string& spelling) {
    const ptx::Form form = ptx::read_form(spelling);
    const alu::Operation operation = alu::operation(form);
    if (form.problem.empty() && operation.evaluate != nullptr && !operation.approximate)
      computed.push_back(spelling);
  });
  EXPECT_GT(computed.size(), 50000u);
  const std::set<std::string> legal = taken(computed);
  std::set<std::string> listed;
  for (const std::string& spelling : alu::scalar_forms())
    listed.insert(spelling.substr(0, spelling.find(' ')));
  for (const std::string& spelling : legal) EXPECT_TRUE(listed.contains(spelling)) << spelling;
  for (const std::string& spelling : listed) EXPECT_TRUE(legal.contains(spelling)) << spelling;
}

}  // namespace
}  // namespace tcq::oracle
