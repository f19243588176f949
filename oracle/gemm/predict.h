// The bits of D for an order: whole bands of rows, or one output.
//
// Bands grow until one takes about a second, so that whoever waits is told often and can end it. Sums of
// an instruction are oracle/sum's; those of `float64` and `fma` are here, as their names say.
#pragma once

#include <cstdint>
#include <functional>

#include "oracle/gemm/problem.h"

namespace tcq::oracle::gemm {

// Rows [first, end) of D, counted through the batch.
struct Rows {
  std::int64_t first = 0;
  std::int64_t end = 0;

  std::int64_t count() const { return end - first; }
};

// Called with the rows that are done, first with 0; false ends the computation.
using Pulse = std::function<bool(std::int64_t)>;

// Writes rows.count() x N elements of type problem.out, rows one behind the other, those of one product behind
// the one before it; `threads` 0: all
// cores. False if `pulse` ended it: D is then partial.
bool predict(const Problem& problem, const Order& order, Rows rows, int threads, void* d,
             const Pulse& pulse);

// One output: slow.
std::uint32_t predict_one(const Problem& problem, const Order& order, std::int64_t row,
                          std::int64_t col);

// How far rows of D are from the same formula in float64.
GemmErrors errors_of(const Problem& problem, const Order& order, Rows rows, const void* d);

}  // namespace tcq::oracle::gemm
