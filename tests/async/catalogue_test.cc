// The score of the bug catalogue: every mutant is flagged with its Fault, no original is reported.
#include "tests/async/catalogue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "oracle/diagnosis/diagnosis.h"
#include "sim/async/explore.h"

namespace tcq::catalogue {

namespace {

using machine::explore;
using machine::Outcome;
using machine::Program;
using machine::Report;

class Catalogue : public testing::TestWithParam<Entry> {};

std::string text_of(const Program& program, const Report& report) {
  return oracle::report_text(program, report);
}

bool reports(const Report& report, Fault fault) {
  if (report.finding && report.finding->fault == fault) return true;
  if (report.outcome == Outcome::Refused) return report.refused.fault == fault;
  for (const machine::Finding& f : report.suspicions)
    if (f.fault == fault) return true;
  return false;
}

TEST_P(Catalogue, NothingIsReportedOnTheOriginal) {
  const Program program = GetParam().make(false);
  const Report report = explore(program, {});
  EXPECT_EQ(report.outcome, Outcome::Right) << text_of(program, report);
  EXPECT_TRUE(report.suspicions.empty()) << text_of(program, report);
  EXPECT_TRUE(report.exhaustive);
}

TEST_P(Catalogue, TheMutantIsFlaggedWithItsFault) {
  const Entry& entry = GetParam();
  const Program program = entry.make(true);
  const Report report = explore(program, {});
  const std::string text = text_of(program, report);
  EXPECT_TRUE(reports(report, entry.fault)) << info(entry.fault).name << " expected\n" << text;
  if (info(entry.fault).kind == FaultKind::Disputed) {
    EXPECT_FALSE(report.finding) << text;  // what is relied on ends nothing
  }
  EXPECT_NE(text.find(entry.says), text.npos) << "'" << entry.says << "' not in\n" << text;
}

std::string name_of(const testing::TestParamInfo<Entry>& entry) {
  return std::string(entry.param.row);
}

INSTANTIATE_TEST_SUITE_P(Rows, Catalogue, testing::ValuesIn(all_entries()), name_of);

TEST(CatalogueScore, AtLeastThirtyRowsAndAllDifferent) {
  std::set<std::string_view> rows;
  std::set<std::string_view> mutants;
  for (const Entry& e : all_entries()) {
    rows.insert(e.row);
    mutants.insert(e.mutant);
  }
  EXPECT_GE(rows.size(), 30u);
  EXPECT_EQ(rows.size(), all_entries().size());
  EXPECT_EQ(mutants.size(), all_entries().size());
}

}  // namespace
}  // namespace tcq::catalogue
