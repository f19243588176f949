// Every statement that is probed on Hopper assembles for it.
#include <gtest/gtest.h>

#include "oracle/recording/statement_rows.h"
#include "tests/silicon/ptxas.h"

namespace tcq::oracle {
namespace {

TEST(StatementPtxas, EveryKernelAssembles) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  std::string module;
  int number = 0;
  for (const StatementRow& row : statement_rows()) {
    std::string text = statement_text(row);
    const std::size_t entry = text.find("tcq_probe");
    text.insert(entry + 9, std::to_string(number++));
    module += module.empty() ? text : text.substr(text.find(".visible"));
  }
  const PtxasRun run = run_ptxas(module, Target::sm_90a);
  EXPECT_EQ(run.status, 0) << (run.lines.empty() ? "" : run.lines[0]);
}

}  // namespace
}  // namespace tcq::oracle
