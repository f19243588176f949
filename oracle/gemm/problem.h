// What is multiplied: operands from files or drawn from a seed, C and bias, and their shapes agreeing.
//
// A is M x K and B is K x N, D and C are M x N, bias has N elements. Where elements lie is a question of
// majors only: no bit of D depends on it. Drawn operands depend on the seed and on where they are, so that a
// shape's are a part of a larger one's: of `bell` (sim/num/inputs/draw.h) a stream for each row or column, of the
// mixtures that find wrong sums (mixture.h) one tile of K = 64 behind the other. Example: `--generate 64,48,100
// --mixture cancel` draws two tiles, the second one cut.
#pragma once

#include <cstdint>
#include <optional>

#include "oracle/gemm/elements.h"
#include "oracle/gemm/order.h"
#include "oracle/gemm/request.h"

namespace tcq::oracle::gemm {

struct Problem {
  Product product;
  Type out = Type::f32;
  std::int64_t m = 0;
  std::int64_t n = 0;
  EpilogueWords epilogue;
  Matrix a;                    // M x K
  Matrix b;                    // K x N
  std::optional<Matrix> c;     // rows one behind the other
  std::optional<Matrix> bias;  // one row
};

// Throws UsageError.
Problem load_problem(const Request& request);

// A matrix of that name that has to be M x N of `type`, rows one behind the other. Throws UsageError.
Matrix read_output(const Request& request, const std::string& path, Type type, std::int64_t m,
                   std::int64_t n);

// The GEMM of oracle/sum for this order; of `float64` and `fma` its epilogue alone.
Gemm gemm_of(const Problem& problem, const Order& order);

// Data whose first row is this row of the problem.
GemmData data_from(const Problem& problem, std::int64_t row);

}  // namespace tcq::oracle::gemm
