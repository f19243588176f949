// Two results of the same GEMM, bit by bit: how many outputs differ, the first and the worst of them.
//
// The worst is the one most representable numbers away; a NaN is further from every number than any
// other, and two NaNs of different payloads are no distance apart, but differ. Example: f32 3f800001
// and 3f800000 are 1 ulp apart, and so are 00000000 and 80000000: 0 ulp, and different bits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oracle/gemm/predict.h"

namespace tcq::oracle::gemm {

struct Difference {
  std::int64_t row = 0;  // of D, counted through the batch
  std::int64_t col = 0;
  std::uint32_t predicted = 0;
  std::uint32_t other = 0;
  std::uint64_t ulps = 0;  // one_is_nan: a NaN and a number
};

inline constexpr std::uint64_t one_is_nan = ~std::uint64_t{0};

struct Comparison {
  std::int64_t outputs = 0;
  std::int64_t differing = 0;
  std::int64_t nan_payloads = 0;  // of those that differ: NaN in both
  std::optional<Difference> first;
  std::optional<Difference> worst;
};

// Distance in representable numbers (of integers: the absolute difference).
std::uint64_t ulps(Type type, std::uint32_t a, std::uint32_t b);

// Rows [rows.first, rows.end) of two results, `predicted` from rows.first on and `other` from row 0
// on, both N wide.
Comparison compare(Type type, const void* predicted, const void* other, Rows rows, std::int64_t n);

// Outputs to ask rivals about: some that differ and some that do not, spread over all of them.
struct Sample {
  std::vector<Difference> differing;
  std::vector<Difference> equal;
};
Sample sample(Type type, const void* predicted, const void* other, Rows rows, std::int64_t n,
              const Comparison& counts);

}  // namespace tcq::oracle::gemm
