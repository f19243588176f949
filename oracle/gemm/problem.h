// What is multiplied: operands from files or drawn from a seed, C and bias, and their shapes agreeing.
//
// A is M x K and B is K x N, D and C are M x N, bias has N elements; a gated activation makes N / 2 columns of D. Where
// elements lie is a question of majors only: no bit of D depends on it. An array of three dimensions has a matrix for each product of a batch; one of
// two, or with one matrix, serves all of them. Rows of D are counted through the batch: row r is row r % M of entry
// r / M. Example: A 4 x 24 x 200 and B 200 x 40 are four products, D is 4 x 24 x 40.
#pragma once

#include <cstdint>
#include <optional>

#include "oracle/gemm/elements.h"
#include "oracle/gemm/factors.h"
#include "oracle/gemm/order.h"
#include "oracle/gemm/request.h"

namespace tcq::oracle::gemm {

struct Problem {
  Product product;
  Type out = Type::f32;
  bool has_batch = false;  // D has three dimensions
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  EpilogueWords epilogue;
  Matrix a;                    // M x K
  Matrix b;                    // K x N
  std::optional<Matrix> c;     // rows one behind the other
  std::optional<Matrix> bias;  // one row
  std::optional<BothFactors> factors;
  std::optional<FactorMatrices> drawn_factors;

  std::int64_t rows() const { return batch * m; }
  std::int64_t columns() const { return epilogue.columns(n); }  // of D
};

// Throws UsageError.
Problem load_problem(const Request& request);

// A device's D: of the problem's batch, M and N, rows one behind the other. Throws UsageError.
Matrix read_result(const Request& request, const Problem& problem);

// The GEMM of oracle/sum for this order, of the whole batch; of `float64` and `fma` its epilogue alone.
Gemm gemm_of(const Problem& problem, const Order& order);

// Data whose first row is this row of D. Requires: there is one.
GemmData data_from(const Problem& problem, std::int64_t row);

}  // namespace tcq::oracle::gemm
