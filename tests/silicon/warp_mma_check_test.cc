// `check` against ptxas on statements of the warp's mma that are drawn: none is called legal that ptxas refuses.
//
// Some of what ptxas refuses it refuses behind its first pass (m16n8k16 of types of 4 and 6 bits), so that what the first
// one takes is assembled once more, to the end. TCQ_SEED draws others, TCQ_STATEMENTS more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "oracle/answer/verbs.h"
#include "tests/silicon/ptxas.h"
#include "tests/silicon/warp_mma_statements.h"

namespace tcq::oracle {
namespace {

using Statements = std::vector<std::string>;

struct Refused {
  std::set<std::size_t> statements;
  bool is_whole = false;  // ptxas came to its end
};

// `last`: a line behind the statements; if it is wrong, ptxas stops behind its first pass.
Refused refused_by_one_run(const Statements& statements, Target target, const std::string& last) {
  std::string body;
  for (const std::string& statement : statements) body += statement + "\n";
  const PtxasRun run = run_ptxas(kernel(body + last + "\n", target), target);
  Refused refused{{}, run.status == 0};
  for (const std::string& line : run.lines) {
    const std::size_t at = line.find(", line ");
    if (at == line.npos || line.find("error", at) == line.npos) continue;
    const std::size_t number = std::stoul(line.substr(at + 7)) - kHeaderLines - 1;
    if (number < statements.size()) refused.statements.insert(number);
    if (number == statements.size()) refused.is_whole = true;
  }
  return refused;
}

// By all passes; ptxas 13.0 dies of some statements, which are then looked for by halves.
std::set<std::size_t> refused_at_last(const Statements& statements, Target target,
                                      const std::string& last) {
  if (statements.empty()) return {};
  const Refused refused = refused_by_one_run(statements, target, last);
  const bool is_first_pass = last != "ret;";
  const bool dies =
      is_first_pass ? !refused.is_whole : !refused.is_whole && refused.statements.empty();
  if (dies && statements.size() == 1) return {0};
  std::set<std::size_t> found = refused.statements;
  if (dies) {
    const std::size_t half = statements.size() / 2;
    const auto middle = statements.begin() + static_cast<std::ptrdiff_t>(half);
    found = refused_at_last({statements.begin(), middle}, target, last);
    for (const std::size_t i : refused_at_last({middle, statements.end()}, target, last))
      found.insert(half + i);
    return found;
  }
  if (!is_first_pass && refused.is_whole) return found;
  Statements rest;
  std::vector<std::size_t> of_rest;
  for (std::size_t i = 0; i < statements.size(); ++i)
    if (!found.contains(i)) rest.push_back(statements[i]), of_rest.push_back(i);
  for (const std::size_t i : refused_at_last(rest, target, "ret;")) found.insert(of_rest[i]);
  return found;
}

std::set<std::size_t> rejected_at_last(const Statements& statements, Target target) {
  return refused_at_last(statements, target, "wgmma.fence;");
}

std::string verdict_on(const std::string& statement, Target target) {
  Question question{"check", {}, {}};
  question.options.arch = name(target);
  return check_line(question, statement).text;
}

void expect_agreement_on(const std::vector<DrawnMma>& drawn, Target target) {
  std::vector<std::string> texts;
  for (const DrawnMma& mma : drawn) texts.push_back(mma.text());
  const std::set<std::size_t> wrong = rejected_at_last(texts, target);
  int legal = 0, illegal = 0, stricter = 0, unmodelled = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string ours = verdict_on(texts[i], target);
    const bool accepted = !wrong.contains(i);
    const auto refused_by = [&](Fault fault) {
      return ours.starts_with(std::string("illegal\t") + info(fault).name + ":");
    };
    const bool known = std::any_of(drawn[i].lenient.begin(), drawn[i].lenient.end(), refused_by);
    const bool of_target = ours.find("what it computes is not measured") != ours.npos;
    if (ours.starts_with("unmodelled")) {
      EXPECT_TRUE(drawn[i].may_be_unmodelled || of_target) << texts[i] << "\n" << ours;
      ++unmodelled;
    } else if ((ours == "legal") == accepted) {
      ++(accepted ? legal : illegal);
    } else {
      EXPECT_TRUE(accepted && known)
          << texts[i] << "\nptxas: " << (accepted ? "accepted" : "rejected") << " for "
          << name(target) << "\ncheck: " << ours;
      ++stricter;
    }
  }
  EXPECT_GT(legal, static_cast<int>(texts.size() / 10));
  EXPECT_GT(illegal, static_cast<int>(texts.size() / 10));
  std::printf(
      "%s: statements %zu: both legal %d, both illegal %d, ptxas more lenient %d, "
      "unmodelled %d\n",
      name(target), texts.size(), legal, illegal, stricter, unmodelled);
}

TEST(WarpMmaCheckPtxas, AgreesOnDrawnStatements) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  const char* const seed = std::getenv("TCQ_SEED");
  const char* const count = std::getenv("TCQ_STATEMENTS");
  Random random(seed == nullptr ? 1 : std::strtoull(seed, nullptr, 0));
  const std::vector<MmaForm> forms = mma_forms();
  std::vector<DrawnMma> drawn(count == nullptr ? 600 : std::strtoull(count, nullptr, 0));
  for (DrawnMma& mma : drawn) mma = random_mma(random, forms);
  for (const Target target : {Target::sm_90, Target::sm_90a, Target::sm_100a, Target::sm_110f,
                              Target::sm_120a, Target::sm_121a})
    expect_agreement_on(drawn, target);
}

// Every form of the manual, unchanged, on every target.
TEST(WarpMmaCheckPtxas, AgreesOnEveryFormForEveryTarget) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  Random random(1);
  std::vector<DrawnMma> all;
  for (const MmaForm& form : mma_forms()) all.push_back(oracle::drawn(random, form));
  for (int i = 0; i < target_count; ++i) {
    const auto target = static_cast<Target>(i);
    std::vector<std::string> texts;
    for (const DrawnMma& mma : all) texts.push_back(mma.text());
    const std::set<std::size_t> wrong = rejected_at_last(texts, target);
    for (std::size_t s = 0; s < texts.size(); ++s) {
      const std::string ours = verdict_on(texts[s], target);
      if (ours.find("what it computes is not measured") != ours.npos)
        EXPECT_FALSE(wrong.contains(s)) << texts[s];
      else
        EXPECT_EQ(ours == "legal", !wrong.contains(s)) << texts[s] << "\n" << ours;
    }
  }
}

}  // namespace
}  // namespace tcq::oracle
