// A whole kernel's program in some of its orders: the orders that matter are too many for all of them.
#pragma once

#include <gtest/gtest.h>

#include "oracle/diagnosis/diagnosis.h"
#include "sim/async/explore.h"

namespace tcq {

inline machine::Report explore_some(const machine::Program& program) {
  return machine::explore(program, {.max_executions = 1, .random_executions = 30});
}

// None: nothing was found.
// What is undefined, be it that published kernels rely on it.
inline Fault found_in(const machine::Report& report) {
  if (report.finding) return report.finding->fault;
  for (const machine::Finding& f : report.suspicions)
    if (info(f.fault).kind == FaultKind::Disputed) return f.fault;
  return Fault::None;
}

inline Fault fault_in(const machine::Program& program) {
  const machine::Report report = explore_some(program);
  EXPECT_NE(report.outcome, machine::Outcome::Refused) << oracle::report_text(program, report);
  return found_in(report);
}

}  // namespace tcq
