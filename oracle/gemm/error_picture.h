// How far orders of accumulation are from float64, by K: measured on drawn operands, and as a picture.
//
// Example: FP8 on Hopper in one chain keeps 13 bits, so that its line rises with K; promoted every 128 it stays low.
// docs/fp8_sums.md shows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/gemm/predict.h"
#include "oracle/gemm/request.h"

namespace tcq::oracle::gemm {

// The root mean square of the error of D by that of D, for every K of an order.
struct ErrorLine {
  std::string spec;
  std::vector<double> errors;
};

struct ErrorPicture {
  std::string title;
  std::vector<std::int64_t> ks;
  std::vector<ErrorLine> lines;
};

// K = 128, 256, ... up to the request's, which is the last; operands are drawn anew for each. Requires: a request that
// generates. If `pulse` ends it, what is returned is partial.
ErrorPicture errors_by_k(const Request& request, const Pulse& pulse);

// Both axes logarithmic; deterministic.
std::string svg_text(const ErrorPicture& picture);

}  // namespace tcq::oracle::gemm
