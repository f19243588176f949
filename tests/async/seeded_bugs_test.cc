// How well diagnoses lead to the bug: programs drawn by pipeline.h, each with every bug that
// seeded_bugs.h knows. TCQ_SEED draws others.
#include "tests/async/seeded_bugs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "oracle/diagnosis/diagnosis.h"
#include "sim/async/explore.h"
#include "tests/async/pipeline.h"
#include "tests/async/some_orders.h"

namespace tcq::seeded {
namespace {

struct Score {
  int bugs = 0;
  int flagged = 0;
  int right = 0;
  int named = 0;
};

unsigned seed() {
  const char* text = std::getenv("TCQ_SEED");
  return text == nullptr ? 1 : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

machine::Report explored(const Program& program) {
  return machine::explore(program, {.max_executions = 20, .random_executions = 6});
}

TEST(SeededBugs, DiagnosesNameTheFaultAndTheLine) {
  std::mt19937 random(seed());
  std::map<std::string, Score> scores;
  Score all;
  const bool verbose = std::getenv("TCQ_VERBOSE") != nullptr;
  for (int n = 0; n < 12; ++n) {
    const PipelineProgram pipeline(draw_pipeline(random));
    const machine::Report right = explored(pipeline.program());
    ASSERT_EQ(right.outcome, machine::Outcome::Right)
        << oracle::report_text(pipeline.program(), right);
    for (const Bug& bug : bugs_of(pipeline.program())) {
      const machine::Report report = explored(bug.program);
      const std::string text = oracle::report_text(bug.program, report);
      const Fault found = found_in(report);
      const bool flagged = found != Fault::None;
      const bool is_right = flagged && (bug.right.empty() || bug.right.contains(found));
      EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 14) << text;  // warps wait alike
      bool named = false;
      for (const std::string& line : bug.named)
        named = named || (flagged && (text + "\n").find(line) != text.npos);
      for (Score* s : {&scores[bug.rule], &all}) {
        ++s->bugs;
        s->flagged += flagged;
        s->right += is_right;
        s->named += named;
      }
      if (verbose && !(is_right && named))
        fmt::print("--- {} at {} ({} {} {})\n{}\n", bug.rule, bug.line, flagged ? "" : "MISSED",
                   is_right ? "" : "WRONG FAULT", named ? "" : "LINE NOT NAMED", text);
    }
  }
  for (const auto& [rule, s] : scores)
    fmt::print("{:<42} {:>4} bugs {:>4} flagged {:>4} right Fault {:>4} line named\n", rule, s.bugs,
               s.flagged, s.right, s.named);
  fmt::print("{:<42} {:>4} bugs {:>4} flagged {:>4} right Fault {:>4} line named\n", "all",
             all.bugs, all.flagged, all.right, all.named);
  // A fence or a barrier of one warp that nothing needs may go; one arrival too few shows in longer
  // loops only.
  for (const auto& [rule, s] : scores) {
    const bool may_be_right = rule.starts_with("proxy fence") || rule == "barrier.sync left out" ||
                              rule == "count one less";
    EXPECT_TRUE(may_be_right || s.flagged == s.bugs) << rule;
  }
  EXPECT_GE(1000 * all.right, 985 * all.flagged);
  EXPECT_GE(1000 * all.named, 985 * all.flagged);
}

}  // namespace
}  // namespace tcq::seeded
