// One request: operands, D of every order, comparisons, files.
//
// Files that are to be written take their room before anything is computed, and each appears under its
// name when all of it is there.
#pragma once

#include <stdexcept>

#include "oracle/gemm/progress.h"
#include "oracle/gemm/report.h"
#include "oracle/gemm/request.h"

namespace tcq::oracle::gemm {

// A signal came; the sentence says what is there and what is not.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws UsageError, UnmodelledError, FileError, Interrupted. Requires: request.list is empty.
Report run_request(const Request& request, Progress& progress);

// The rows of D that are a shard's: bands as even as can be.
Rows rows_of(const Shard& shard, std::int64_t m);

}  // namespace tcq::oracle::gemm
