// One row of statement_rows.h on drawn memory.
//
// The output is memory afterwards: shared memory and registers are written back to it. The simulator: the kernel's text
// through sim/run, as `tcq run` would have it, one execution; a finding there is no prediction. The device:
// cuda/probe/statement_sm90.h.
#pragma once

#include <cstdint>
#include <string>

#include "oracle/recording/case.h"
#include "oracle/recording/fields.h"
#include "oracle/recording/kernel_frame.h"

namespace tcq::oracle {

struct StatementCase {
  static constexpr int first_code = 26;
  static constexpr int kind_count = 1;

  std::string name;  // of a row

  friend bool operator==(const StatementCase&, const StatementCase&) = default;
};

void fields(Fields& io, StatementCase& e);
// The bytes are both CTAs', one after the other.
KernelMemory state(const StatementCase& e, const Inputs& inputs);
Prediction predict(const StatementCase& e, const Inputs& inputs, KernelMemory before);
std::string describe(const StatementCase& e, const Inputs& inputs);
std::string place(const StatementCase& e, const Inputs& inputs, std::size_t at);
Properties properties(const StatementCase& e, const Inputs& inputs);
std::size_t output_bytes(const StatementCase& e, const Inputs& inputs);

}  // namespace tcq::oracle
