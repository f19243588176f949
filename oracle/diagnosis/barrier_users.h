// Which statements of a program use one mbarrier, and for what: the lines that a diagnosis has to
// show when a phase completes too early, too late or never.
//
// Read off the program's text, not off an execution. Sentences about executions: diagnosis.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/async/finding.h"
#include "sim/async/program.h"

namespace tcq::oracle {

// Statements of one line and one role; the first of them.
struct BarrierUse {
  std::size_t statement = 0;
  std::string line;  // `gemm.cc:40`
  std::string role;
  std::int64_t number = 0;  // init: the count; expect_tx, copies: bytes; waits: the parity
};

struct BarrierUsers {
  std::vector<BarrierUse> inits, expects, arrivals, copies, waits;

  // Of a compiled kernel, whose statements name registers.
  bool unknown() const {
    return inits.empty() && expects.empty() && arrivals.empty() && copies.empty() && waits.empty();
  }
};

// Of the mbarrier at this address in the shared memory of a CTA.
BarrierUsers users_of_barrier(const machine::Program& program, int cta, std::uint32_t address);

// The mbarrier that a statement waits for, arrives on or completes; nothing: -1.
std::int64_t barrier_of(const machine::Statement& statement);

// `full[0]: count 1 from gemm.cc:79; expect_tx at gemm.cc:101 (producer); ...`; empty: unknown().
std::string users_text(const machine::Program& program, int cta, std::uint32_t address);

// `gemm.cc:103 and gemm.cc:104`; "" of none.
std::string lines_text(const std::vector<BarrierUse>& uses);

}  // namespace tcq::oracle
